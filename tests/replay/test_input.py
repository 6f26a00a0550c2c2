"""Fillings: of the type's width, the same each time, with the hostile words in some of them."""

from __future__ import annotations

import pytest

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.word import float_of_word, function_of, text_of_word
from cachet_verify.replay.input import ROUNDS, fill


@pytest.mark.parametrize("elem", ELEMENTS)
def test_words_fit_their_type_and_repeat(elem: str) -> None:
    for kind in range(ROUNDS):
        for position in (0, 1):
            words = fill(kind, elem, 40, position)
            assert len(words) == 40
            assert all(0 <= word < 1 << ELEMENTS[elem].width for word in words)
            assert fill(kind, elem, 40, position) == words


@pytest.mark.parametrize("elem", ["f16", "bf16", "f32", "f64"])
def test_floats_of_every_class_occur(elem: str) -> None:
    values = [fill(kind, elem, 60, position) for kind in range(ROUNDS) for position in (0, 1)]
    words = {word for filling in values for word in filling}
    element = ELEMENTS[elem]
    assert {0, element.sign, element.infinity, element.infinity | element.sign, element.nan} <= words
    assert any(0 < word < element.hidden for word in words)
    assert any(abs(float_of_word(word, elem)) > 1e3 for word in words)


def test_the_first_filling_can_be_read_and_the_second_cancels() -> None:
    first = [text_of_word(word, "f32") for word in fill(0, "f32", 3, 0)]
    start = float(first[0])
    assert first == [repr(start), repr(start + 1), repr(start + 2)]
    assert [text_of_word(word, "f32") for word in fill(1, "f32", 4, 0)] == ["100000000.0", "1.0", "-100000000.0", "1.0"]


@pytest.mark.parametrize("elem", ["f16", "bf16", "f32", "f64"])
def test_adding_one_to_the_large_word_changes_nothing(elem: str) -> None:
    large, one, *_ = fill(1, elem, 4, 0)
    assert function_of("add", elem)(large, one) == large
