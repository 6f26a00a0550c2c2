"""Accounts against numbers worked out by hand."""

from __future__ import annotations

import cachet_verify
from cachet_verify.traffic.quantity import spell
from cachet_verify.traffic.show import as_text
from tests.traffic.kernels import FILE, account, numbers, shown

PACKED = """\
packed
  operations
    loop  host  x 1
      writes c 4 * M * N
    loop  host  x ceil (K / 16) * ceil (N / 8)
      reads b 512; writes packB 512
    loop  host  x ceil (K / 16) * ceil (M / 16) * ceil (N / 8)
      reads a 1024; writes packA 1024
    loop  host  x ceil (K / 16) * ceil (M / 16) * ceil (N / 8)
      reads c 512, packA_L2 1024, packB_L1 2048; writes c 512; work fma 2048
"""


def test_a_packed_kernel_prints_one_operation_at_a_time() -> None:
    assert as_text(account("packed")) == PACKED


def test_two_32_by_32_matrices_take_16_packs() -> None:
    # two blocks of depth, four of columns, two of rows
    packs = account("packed", M=32, N=32, K=32).operations[2]
    assert shown(packs.moved) == {"reads a": "1024", "writes packA": "1024"}
    assert packs.count.value == 2 * 4 * 2


def test_columns_outside_repack_half_a_megabyte_1024_times_and_rows_outside_8_times() -> None:
    at = {"M": 1024, "N": 1024, "K": 1024}
    outside, inside = account("larger", **at).operations[2], account("rows_first", **at).operations[1]
    for packs in (outside, inside):
        assert shown(packs.moved) == {"reads a": str(512 * 256 * 4), "writes packA": str(512 * 256 * 4)}
    assert outside.count.value == 4 * 2 * 128
    assert inside.count.value == 4 * 2


def test_rows_outside_move_the_factor_of_the_columns_to_b() -> None:
    columns = [spell(run.count) for run in account("larger").operations]
    rows = [spell(run.count) for run in account("rows_first").operations]
    assert columns[1:3] == ["ceil (K / 256) * ceil (N / 8)", "ceil (K / 256) * ceil (M / 512) * ceil (N / 8)"]
    assert rows[1:3] == ["ceil (K / 256) * ceil (M / 512)", "ceil (K / 256) * ceil (M / 512) * ceil (N / 8)"]
    assert shown(account("rows_first").operations[1].moved)["reads a"] == str(512 * 256 * 4)
    assert shown(account("rows_first").operations[2].moved)["reads b"] == str(256 * 8 * 4)


def test_swapped_loads_and_stores_the_total_at_every_step() -> None:
    zeroed, summed = account("swapped").operations
    assert shown(zeroed.moved) == {"writes c": "4 * M * N"}
    every = "4 * K * M * N"
    assert shown(summed.moved) == {"reads a": every, "reads b": every, "reads c": every, "writes c": every, "work fma": "K * M * N"}


def test_tower_moves_what_its_own_blocks_do() -> None:
    # 16 x 8 outputs and 16 steps: each step loads two words, each output one total for the 16
    zeroed, product = account("tower").operations
    assert spell(product.count) == "ceil (K / 16) * ceil (M / 16) * ceil (N / 8)"
    steps, outputs = 8 * 16 * 8 * 16, 8 * 16 * 8
    assert shown(product.moved) == {
        "reads a": str(steps), "reads b": str(steps), "reads c": str(outputs), "writes c": str(outputs), "work fma": "2048",
    }  # fmt: skip
    assert shown(zeroed.moved) == {"writes c": "8 * M * N"}


def test_an_opaque_element_has_as_many_bytes_as_its_type() -> None:
    zeroed, product = account("generic", M=16).operations
    assert shown(zeroed.moved) == {"writes c": "16 * N * sizeof S.Value"}
    assert spell(product.count) == "ceil (K / 16) * ceil (N / 8)"
    assert shown(product.moved)["reads c"] == "128 * sizeof S.Value"
    assert shown(product.moved)["work S.mul_add"] == "2048"


def test_matvec_reads_the_vector_once_for_each_row() -> None:
    _, product = account("rows").operations
    assert spell(product.count) == "ceil (K / 8) * ceil (M / 4)"
    assert shown(product.moved) == {"reads a": "128", "reads x": "128", "reads y": "16", "writes y": "16", "work fma": "32"}


def test_convolution_reads_a_word_for_each_tap() -> None:
    _, taps = account("taps", N=10, R=3).operations
    assert shown(taps.moved) == {"reads w": "120", "reads x": "120", "reads y": "120", "writes y": "120", "work fma": "30"}


def test_a_block_in_registers_takes_64_loads_where_independent_outputs_take_256() -> None:
    # one 4 by 4 block of outputs of an 8 by 8 product: 16 outputs, 8 steps
    word = 4
    independent = numbers(account("swapped", True, M=4, N=4, K=8).total)
    blocked = numbers(account("tile", True, M=4, N=4, K=8).total)
    assert (independent["reads", "a"] + independent["reads", "b"]) // word == 16 * (8 + 8) == 256
    assert (blocked["reads", "a"] + blocked["reads", "b"]) // word == 8 * (4 + 4) == 64
    assert independent["work", "fma"] == blocked["work", "fma"] == 16 * 8
    whole = numbers(account("tile", True, M=8, N=8, K=8).total)
    assert (whole["reads", "a"] + whole["reads", "b"]) // word == 4 * 64


def test_exact_blocks_are_counted_by_whole_quotients() -> None:
    _, product = account("whole_blocks").operations
    assert spell(product.count) == "floor (M / 4) * floor (N / 8)"
    assert shown(product.moved)["reads a"] == "128 * K"


def test_totals_started_in_the_first_block_are_not_read_there() -> None:
    # K = 12 is three blocks: two of them go on with the totals in c
    (product,) = account("first_block", M=2, N=3, K=12).operations
    assert shown(product.moved)["reads c"] == str(4 * 2 * 3 * 2)
    assert "reads c" not in shown(account("first_block", M=2, N=3, K=4).total)


def test_ragged_blocks_are_exact_on_request_and_full_otherwise() -> None:
    # 17 steps, 9 columns, 33 rows: 2 x 2 x 3 blocks
    at = {"M": 33, "N": 9, "K": 17}
    full, exact = numbers(account("packed", **at).total), numbers(account("packed", True, **at).total)
    assert full["writes", "packA"] == 12 * 1024
    assert exact["writes", "packA"] == 4 * 33 * 17 * 2
    assert exact["writes", "packB"] == 4 * 17 * 9
    assert exact["writes", "c"] == 4 * 33 * 9 * (2 + 1)
    # the vectors have all eight lanes in the last column too
    assert exact["work", "fma"] == 17 * 33 * 16


def test_groups_that_do_not_divide_their_block_are_exact_inside_a_full_one() -> None:
    # 5 rows in groups of 2, 2 and 1: three reads of a row of b's block, and five of a's, not six
    product = account("uneven").operations[-1]
    assert shown(product.moved)["reads packB_L1"] == str(4 * 3 * 4 * 3)
    assert shown(product.moved)["reads packA_L2"] == str(4 * 5 * 4)


def test_a_triangle_is_half_a_square_and_its_diagonal() -> None:
    assert numbers(account("triangle", True, N=7).total)["work", "add"] == 7 * 8 // 2


def test_guarded_parts_come_to_the_whole() -> None:
    (copy,) = account("guarded").operations
    assert shown(copy.moved) == {"reads x": "4 * N", "writes y": "4 * N"}


def test_a_call_is_accounted_for_where_it_stands() -> None:
    first, second = account("both", N=8).operations
    assert (first.kind, second.kind) == ("grid", "loop")
    assert shown(first.moved) == {"reads x": str(4 * 7), "writes y": str(4 * 8)}
    assert shown(second.moved) == {"reads y": str(4 * 8), "writes z": str(4 * 8)}


def test_without_rows_b_is_packed_for_nothing() -> None:
    # its loop stands outside of that over the rows
    assert numbers(account("packed", True, M=0, N=5, K=5).total) == {("reads", "b"): 4 * 5 * 5, ("writes", "packB"): 4 * 5 * 5}
    assert numbers(account("packed", True, M=5, N=0, K=5).total) == {}
    assert numbers(account("packed", M=3, N=5, K=0).total) == {("writes", "c"): 4 * 3 * 5}


def test_the_package_offers_the_account() -> None:
    found = cachet_verify.account(FILE, "packed", at="M=16,N=8,K=16")
    assert numbers(found.total)["work", "fma"] == 2048
    assert callable(cachet_verify.account)
