"""The listings of attention in tiles: typed by hand, unrolled as a reader would, they are what the schedule's claim is about."""

from __future__ import annotations

from pathlib import Path

import cachet_verify
from tests.reduce.test_shadow import command

BLOCK = 8
HEAD = """module (platform = AppleSilicon)
import "cachet:platforms/apple-silicon"
import "cachet:attention"

contraction attend
    (reads q: [f32; 64, 16])
    (reads kt: [f32; 16, 32])
    (reads v: [f32; 32, 16])
    -> out y: [f32; 64, 16] =
  s[i, j] = sum c. q[i, c] * kt[c, j]
  y[i, d] = normalised (reduce[reassoc] Online j. key (s[i, j]) (v[j, d]))

schedule flash of attend on M4Gpu =
  split i by 32, j by 8, c by 16
  grid over i.outer
  compute s at j.outer
  reduce j.inner by (max: halving, sum: order)
  parts [8, 16]
  element [f32; 8, 8]

"""


def spelled_out(pairs: str) -> str:
    """The reference loops with the keys of a block one by one; `pairs` is how their largest score is found."""
    lines = [
        "fn by_hand (reads q: [f32; 64, 16]) (reads kt: [f32; 16, 32]) (reads v: [f32; 32, 16]) -> out y: [f32; 64, 16]\n=",
        *("  for i in 0 .. 64 do", "    for d in 0 .. 16 do", "      var m: f32 = from_bits (4286578688 as u32)"),
        *("      var l: f32 = -0.0", "      var o: f32 = -0.0", "      for gj in 0 .. 4 do"),
    ]
    for key in range(BLOCK):
        lines += [f"        var s_{key}: f32 = -0.0", "        for c in 0 .. 16 do"]
        lines += [f"          s_{key} = fma (load q[i, c]) (load kt[c, gj * 8 + {key}]) s_{key}"]
    weights = " + ".join(f"exp (s_{key} - m2)" for key in range(BLOCK))
    lines += ["        let m2: f32 =", "          max", "            m", f"            {pairs}", "        let alpha: f32 = rescale m m2"]
    lines += ["        l =", "          l * alpha +", f"            (-0.0 + {weights})", "        var mix: f32 = o * alpha"]
    lines += [f"        mix = fma (exp (s_{key} - m2)) (load v[gj * 8 + {key}, d]) mix" for key in range(BLOCK)]
    return "\n".join([*lines, "        o = mix", "        m = m2", "      store y[i, d] = o / l\n"])


HALVES = "(max (max (max s_0 s_4) (max s_2 s_6)) (max (max s_1 s_5) (max s_3 s_7)))"


def verdict(text: str, tmp_path: Path) -> str:
    path = tmp_path / "hand.cachet"
    path.write_text(HEAD + text + "\nproof same = relate flash to by_hand\n")
    report = cachet_verify.check([path], cachet_verify.CheckOptions(only=("same",)))
    (item,) = (item for file in report.files for item in file.items if item.name == "same")
    return item.verdict.value


def test_the_tiles_compute_what_is_spelled_out(tmp_path: Path) -> None:
    assert verdict(spelled_out(HALVES), tmp_path) == "proved"


def test_the_shadow_is_listed_key_by_key(tmp_path: Path) -> None:
    found = command(tmp_path, HEAD, "scheduled", "--shadow", "-", "flash")
    assert f"        let m2: f32 = max m {HALVES}\n" in found.output
    weights = " + ".join(f"exp (s_{key} - m2)" for key in range(BLOCK))
    assert f"        l = l * alpha + (-0.0 + {weights})\n        var mix: f32 = o * alpha\n" in found.output
    mixed = "".join(f"        mix = fma (exp (s_{key} - m2)) (load v[8 * gj{f' + {key}' if key else ''}, d]) mix\n" for key in range(BLOCK))
    assert f"{mixed}        o = mix\n        m = m2\n      store y[i, d] = o / l\n" in found.output
    again = command(tmp_path, 'import "cachet:attention"\n' + found.output, "check")
    assert "flash_shadow: proved (fn)" in again.output


def test_the_claim_has_two_parts_and_names_what_it_trusts(tmp_path: Path) -> None:
    found = command(tmp_path, HEAD, "scheduled", "-", "flash")
    assert found.output.endswith(
        "flash: bits of flash_shadow; reals of attend\n  arithmetic: M4Gpu\n  by: Online: block over reals\n"
        "  trusted: function exp f32: its words stand for the real function (evidence: none)\n  trusted: template simdgroup_mma8 (evidence: none)\n"
    )
    for line in (
        "  grid on M4Gpu gi in 0 .. 2\n      by tile (si, sj) parts [8, 16]\n",
        "      let m2: [f32; 32, 1] = max m (reduce Max f32 over cols by halving do s)\n",
        "      l = l * alpha + (reduce Sum f32 over cols by order do e)\n",
        "      o = o * alpha\n      let w: [f32; 8, 16] = load v[8 * gj .. 8 * gj + 8, 0 .. 16]\n      o = mma e w o\n      m = m2\n",
        "    store yt = o / l\n",
    ):
        assert line in found.output
