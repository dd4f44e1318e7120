"""Axes that make many samples of one or two values are asked about; those that were named are taken."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdecouple import RefusalWarning, decouple, stats
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.samples.matrix import doubtful_axes

SOUND = np.random.default_rng(0).normal(size=(16000, 2))
TWO, FIVE = decouple(raw_moments(2)), decouple(raw_moments(5))


@pytest.mark.parametrize("shape, axes, meant", [
    ((16000, 2), (1,), "16000 samples of 2 values: did you mean axis=0?"),
    ((300, 1), (1,), "300 samples of 1 value: did you mean axis=0?"),
    ((2, 7), (0,), "7 samples of 2 values: did you mean axis=1?"),
    ((4, 5, 1), (2,), "20 samples of 1 value: did you mean axis=(0, 1)?"), ((16000, 3), (1,), ""), ((2, 2), (1,), ""),
    ((1, 2), (1,), ""), ((5,), (0,), ""), ((0, 1), (1,), ""), ((7, 0), (1,), ""),
])
def test_what_is_asked(shape: tuple[int, ...], axes: tuple[int, ...], meant: str) -> None:
    assert doubtful_axes(shape, axes) == meant


@pytest.mark.parametrize("call", [
    lambda: TWO.transform(SOUND), lambda: TWO.normalize(SOUND), lambda: TWO.gradients(SOUND),
    lambda: TWO.transfer(SOUND[:200], SOUND[0]), lambda: TWO.transform(SOUND[:200, :1]),
])
def test_answers_come_with_the_question(call: Callable[[], Any]) -> None:
    with pytest.warns(UserWarning, match=r"samples? of [12] values?: did you mean axis=0\?"):
        call()


@pytest.mark.parametrize("call", [
    lambda: FIVE.transform(SOUND[:50]), lambda: FIVE.transform(np.arange(9.0)[:, None]),
    lambda: TWO.normalize(np.arange(9.0)[:, None]),
])
def test_refusals_come_with_the_question(call: Callable[[], Any]) -> None:
    with pytest.warns(RefusalWarning, match=r"did you mean axis=0\?"):
        call()


def test_functions_of_arrays_ask_the_other_way_round() -> None:
    with pytest.warns(RefusalWarning, match=r"9 samples of 1 value: did you mean axis=1\?"):
        stats.skewness(np.arange(9.0)[None])


def test_axes_that_were_named_are_taken() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TWO.transform(SOUND, axis=-1).shape == (16000, 2) and TWO.transform(SOUND, axis=0).shape == (2, 2)
        assert TWO.transform(SOUND[:50]).shape == (50, 2)  # a few pairs are pairs
        TWO.transform(SOUND, on_refusal="return")
        TWO.transform(np.random.default_rng(0).normal(size=(500, 3)))
