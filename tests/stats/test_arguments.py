"""What all statistics take alike, one table: axes, missing entries, kinds of numbers, weights; and how they refuse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import sympy

from symdecouple import stats
from symdecouple.errors import InvalidInput, RefusalWarning, Refused

SAMPLE = np.array([1, 2, 3, 5, 8, 13, 9, 20, 11, 4, 6, 16])
BLOCK = np.random.default_rng(5).gamma(4, size=(4, 12, 3))
WEIGHTS = np.resize([1, 2, 3], 12)


class Statistic(NamedTuple):
    """A function, the parts of its answer, whether it takes weights, and what it says of equal values."""

    of: Callable[..., Any]
    parts: Callable[[Any], Any] = lambda found: found if isinstance(found, tuple) else (found,)
    is_weighed: bool = True
    feels_place: bool = False
    equal: str = "zero variance"


def estimates(found: Any) -> Any:
    return found.estimate, found.covariance


def matched(found: Any) -> Any:
    return found.statistics, found.distance


MATCH = partial(stats.match, mean=1, variance=2, skewness=0.2, kurtosis=2.6)
TABLE = {
    "skewness": Statistic(stats.skewness), "kurtosis": Statistic(stats.kurtosis),
    "orthokurtosis": Statistic(stats.orthokurtosis),
    "standardized": Statistic(stats.standardized_moments, feels_place=True),
    "blest": Statistic(stats.blest, feels_place=True),
    "decoupled": Statistic(partial(stats.decoupled_moments, order=5), feels_place=True),
    "skewness range": Statistic(stats.skewness_range), "kurtosis range": Statistic(stats.kurtosis_range),
    "orthokurtosis range": Statistic(stats.orthokurtosis_range),
    "estimates": Statistic(partial(stats.estimate_moments, order=5), estimates, feels_place=True),
    "orthokurtosis test": Statistic(stats.orthokurtosis_test, is_weighed=False),
    "normality test": Statistic(stats.normality_test, is_weighed=False),
    "match": Statistic(MATCH, matched, feels_place=True),
    "log shape": Statistic(stats.log_shape, feels_place=True),
    "circular shape": Statistic(stats.circular_shape, feels_place=True, equal="one direction"),
}
each = pytest.mark.parametrize("name", TABLE)
weighed = pytest.mark.parametrize("name", [name for name, one in TABLE.items() if one.is_weighed])


def asked(name: str, a: Any, **options: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in TABLE[name].parts(TABLE[name].of(a, **options))]


def same(found: Any, expected: Any, bound: float = 0.0) -> None:
    """To the last bit, or within a bound in units of 1 + |value|."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound)


@each
def test_any_axes(name: str) -> None:
    one = asked(name, BLOCK[2, :, 1])
    found = asked(name, BLOCK, axis=1)
    same([part[2, 1] for part in found], one)
    assert all(part.shape == (4, 3, *alone.shape) for part, alone in zip(found, one, strict=True))
    same([part[2, 1] for part in asked(name, BLOCK.transpose(1, 0, 2), axis=0)], one)
    same([part[1] for part in asked(name, BLOCK, axis=(0, 1))], asked(name, BLOCK[..., 1].ravel()))
    same(asked(name, BLOCK, axis=None), asked(name, BLOCK.ravel()))
    assert [part.shape[0] for part in asked(name, np.empty((0, 9)), axis=1)] == [0] * len(one)
    if name not in ("estimates", "match", "orthokurtosis test", "normality test"):
        assert [part.shape[:3] for part in asked(name, BLOCK, axis=1, keepdims=True)] == [(4, 1, 3)] * len(one)


@each
def test_missing_and_masked_entries(name: str) -> None:
    """Handed on without a warning, left out, or an error; a masked one is left out. Rows beside it do not feel it."""
    rows = BLOCK[:, :, 0].copy()
    rows[1, [2, 7]] = np.nan
    left, fine = asked(name, np.delete(rows[1], [2, 7])), asked(name, BLOCK[[0, 2, 3], :, 0], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handed_on = asked(name, rows, axis=1)
    assert all(np.isnan(part[1]).any() for part in handed_on)
    for found in (handed_on, asked(name, rows, axis=1, nan_policy="omit"),
                  asked(name, np.ma.masked_invalid(rows), axis=1)):
        same([part[[0, 2, 3]] for part in found], fine)
        if found is not handed_on:
            same([part[1] for part in found], left)
    with pytest.raises(InvalidInput, match="hold NaN"):
        asked(name, rows, axis=1, nan_policy="raise")
    gone = np.array([*map(Fraction, SAMPLE.tolist()), float("nan")], dtype=object)
    same(asked(name, gone, nan_policy="omit"), asked(name, SAMPLE), 1e-10)


KINDS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f8", ">f8", ">i4", "g"]


@each
def test_numbers_of_any_kind(name: str) -> None:
    """Integers do not wrap, exact ones of any library are taken; of single precision the answer is in it too."""
    expected = asked(name, SAMPLE.astype(float))
    for kind in KINDS:
        same(asked(name, SAMPLE.astype(kind)), expected, 1e-10)
    for number in (Fraction, Decimal, mpmath.mpf, sympy.Integer, sympy.Float):
        rows = np.array([[number(int(v)) for v in SAMPLE]] * 2, dtype=object)
        for part, alone in zip(asked(name, rows, axis=1), expected, strict=True):
            same(part, [alone, alone], 1e-9)
    single = asked(name, SAMPLE.astype("f4"))
    same(single, expected, 1e-5)
    assert name in ("estimates", "match") or {part.dtype for part in single} == {np.dtype("f4")}


@pytest.mark.parametrize("name", [name for name, one in TABLE.items() if not one.feels_place])
def test_exact_numbers_are_centred_before_they_are_rounded(name: str) -> None:
    expected = asked(name, SAMPLE)
    with mpmath.workdps(60):
        near = [mpmath.mpf(10) ** 40 + int(v) for v in SAMPLE]
    roots = [sympy.sqrt(2) * int(v) + sympy.Integer(10) ** 30 for v in SAMPLE]
    for far in (roots, SAMPLE + 2**53, SAMPLE + 2**62, SAMPLE.astype("u8") + np.uint64(2**64 - 30),
                [10**200 + int(v) for v in SAMPLE], [10**200 * int(v) for v in SAMPLE], near):
        same(asked(name, far), expected, 1e-9)


@weighed
def test_weights(name: str) -> None:
    """Whole ones are repetitions, also in exact numbers; equal ones are none; what weighs nothing is not there."""
    found, counted = asked(name, SAMPLE, weights=WEIGHTS), name == "estimates"  # its errors count the values
    repeated = asked(name, np.repeat(SAMPLE, WEIGHTS))
    same(found[: 1 if counted else None], repeated[: 1 if counted else None], 1e-9)
    for number in (Fraction, Decimal, int):
        exact = np.array([number(int(w)) / (7 if number is Fraction else 1) for w in WEIGHTS], dtype=object)
        same(asked(name, SAMPLE, weights=exact), found, 1e-9)
    for weight in (1, 0.3, 7e200):
        same(asked(name, SAMPLE, weights=np.full(12, weight)), asked(name, SAMPLE), 1e-9)
    for entries, weights in (("f4", "f8"), ("f8", "f4")):  # the precision of the answer is that of the entries
        answered = asked(name, SAMPLE.astype(entries), weights=WEIGHTS.astype(weights))
        same(answered, found, 1e-5)
        assert name in ("estimates", "match") or {part.dtype for part in answered} == {np.dtype(entries)}
    for value in (1e300, -1e300, np.nan, np.inf):
        more = np.insert(SAMPLE.astype(float), 4, value)
        same(asked(name, more, weights=np.insert(WEIGHTS, 4, 0), nan_policy="raise"),
             asked(name, SAMPLE.astype(float), weights=WEIGHTS))


@each
def test_refused_samples_warn_raise_or_return(name: str) -> None:
    """One warning, at the caller; what was computed is handed over."""
    rows, equal = np.array([SAMPLE, np.full(12, 7), SAMPLE, np.full(12, 5)]), TABLE[name].equal
    alone = asked(name, SAMPLE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = TABLE[name].of(rows, axis=1)
    (warning,) = caught
    assert warning.category is RefusalWarning and warning.filename == __file__
    assert "2 of 4 samples refused, at 1, 3, the first: " + equal in str(warning.message)
    with pytest.raises(Refused, match=equal) as refused:
        TABLE[name].of(rows, axis=1, on_refusal="raise")
    returned, outcomes = TABLE[name].of(rows, axis=1, on_refusal="return")
    assert [outcome.reason for outcome in outcomes] == ["", equal, "", equal]
    partial_ = refused.value.partial
    if isinstance(found, tuple):
        partial_ = tuple(np.moveaxis(partial_, -1, 0))
    for answer in (found, partial_, returned):
        parts = TABLE[name].parts(answer)
        same([part[0] for part in parts], alone)
        assert all(np.isnan(part[1]).any() for part in parts)


@each
@pytest.mark.parametrize(("a", "options", "said"), [
    *((a, {}, "real numbers are expected") for a in (
        [True, False, True], ["1", "2", "3"], [1j, 2, 3], [None, 1, 2], [sympy.Symbol("a"), 1])),
    (SAMPLE, {"nan_policy": "drop"}, "omit"), (SAMPLE, {"on_refusal": "ignore"}, "return"),
    (SAMPLE, {"axis": 3}, "axis=3"),
], ids=str)
def test_what_is_no_sample_and_no_argument(name: str, a: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        TABLE[name].of(a, **options)


@weighed
@pytest.mark.parametrize("given", [[True] * 12, ["1"] * 12, [1j] * 12, [[1], [2, 3]]], ids=["bool", "text", "complex",
                                                                                           "ragged"])
def test_weights_that_are_no_numbers(name: str, given: Any) -> None:
    with pytest.raises(InvalidInput, match="weights: "):
        TABLE[name].of(SAMPLE, weights=given)
