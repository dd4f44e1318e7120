"""What every function of arrays in `stats` owes to axes, missing entries, weights, types and refusals: one row each."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from symdecouple import InvalidInput, Refused, stats
from tests.warned import one_refusal

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "skewness": stats.skewness, "kurtosis": stats.kurtosis, "orthokurtosis": stats.orthokurtosis,
    "log_shape": stats.log_shape, "circular_shape": stats.circular_shape, "skewness_range": stats.skewness_range,
    "kurtosis_range": stats.kurtosis_range, "orthokurtosis_range": stats.orthokurtosis_range,
    "standardized_moments": partial(stats.standardized_moments, order=5), "blest": partial(stats.blest, order=5),
    "decoupled_moments": partial(stats.decoupled_moments, order=4), "estimate_moments": stats.estimate_moments,
    "orthokurtosis_test": stats.orthokurtosis_test, "normality_test": stats.normality_test,
    "match": partial(stats.match, mean=2, skewness=0.2, kurtosis=2.6),
}
BLOCK = np.random.default_rng(9).gamma(3, size=(10, 9, 11))
ROW, WEIGHTS = BLOCK[:, 2, 1], np.array([1, 2, 1, 3, 1, 1, 2, 1, 2, 1])


def those(option: str) -> Any:
    return pytest.mark.parametrize("name", [
        name for name, function in FUNCTIONS.items() if option in inspect.signature(function).parameters])


every, weighed = those("axis"), those("weights")


def parts(found: Any) -> list[Any]:
    """Arrays whose first axes are those of the batch."""
    if isinstance(found, stats.MomentEstimates):
        return [found.estimate, found.covariance, found.n_samples]
    if isinstance(found, stats.Matched):
        return [found.statistics, found.distance]
    return list(found) if isinstance(found, tuple) else [found]


def ask(name: str, a: Any, **options: Any) -> tuple[list[Any], list[str]]:
    found, outcomes = FUNCTIONS[name](a, on_refusal="return", **options)
    return [np.asarray(part) for part in parts(found)], [outcome.reason for outcome in outcomes]


def equal(found: list[Any], expected: list[Any], *place: int) -> bool:
    """To the last bit."""
    return all(np.array_equal(a[place], b, equal_nan=True) for a, b in zip(found, expected, strict=True))


@every
def test_axes(name: str) -> None:
    assert equal(ask(name, BLOCK)[0], ask(name, ROW)[0], 2, 1)
    assert equal(ask(name, BLOCK, axis=-1)[0], ask(name, BLOCK[3, 4])[0], 3, 4)
    assert equal(ask(name, BLOCK, axis=(0, 1))[0], ask(name, BLOCK[:, :, 5].ravel())[0], 5)
    assert equal(ask(name, BLOCK, axis=None)[0], ask(name, BLOCK.ravel())[0])
    assert all(part.shape[:1] == (0,) for part in ask(name, np.empty((0, 9)), axis=1)[0])


@those("keepdims")
def test_kept_axes(name: str) -> None:
    for part, kept in zip(ask(name, BLOCK, axis=1)[0], ask(name, BLOCK, axis=1, keepdims=True)[0], strict=True):
        assert np.array_equal(kept, part[:, None]) and part.shape[:2] == (10, 11)


@every
def test_missing_entries(name: str) -> None:
    """Handed on without a word, left out, hidden by a mask, or said."""
    holed = BLOCK.copy()
    holed[3, 2, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handed_on = parts(FUNCTIONS[name](holed))
    assert all(np.isnan(np.asarray(part)[2, 1]).all() for part in handed_on[:2])
    assert equal(handed_on, ask(name, BLOCK[:, 4, 2])[0], 4, 2) and "nan in the input" in ask(name, holed)[1]
    omitted, masked = ask(name, holed, nan_policy="omit"), ask(name, np.ma.masked_invalid(holed))
    assert equal(omitted[0], masked[0]) and omitted[1] == masked[1] == ["" for _ in omitted[1]]
    assert equal(omitted[0], ask(name, np.delete(ROW, 3))[0], 2, 1)
    with pytest.raises(InvalidInput, match="NaN"):
        FUNCTIONS[name](holed, nan_policy="raise")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("estimate_moments", "match")])
def test_single_precision_is_widened_and_stays(name: str) -> None:
    narrow = BLOCK.astype(np.float32)
    for found, wide in zip(ask(name, narrow)[0], ask(name, narrow.astype(float))[0], strict=True):
        assert found.dtype == np.float32 and np.array_equal(found, wide.astype(np.float32))


@every
def test_a_refused_sample_is_refused_alone_in_one_warning_or_error(name: str) -> None:
    rows = np.stack([ROW, np.full(10, 7.0), BLOCK[:, 4, 2]])
    values, reasons = ask(name, rows, axis=1)
    assert [reason == "" for reason in reasons] == [True, False, True]
    with one_refusal(f"{name}: 1 of 3 samples refused, at 1: {reasons[1]}", __file__):
        warned = FUNCTIONS[name](rows, axis=1)
    with pytest.raises(Refused, match=reasons[1]) as caught:
        FUNCTIONS[name](rows, axis=1, on_refusal="raise")
    partial = caught.value.partial
    whole = np.moveaxis(partial, -1, 0) if isinstance(partial, np.ndarray) and len(values) > 1 else parts(partial)
    assert equal(values, ask(name, ROW)[0], 0) and any(np.isnan(part[1]).any() for part in values)
    assert equal(parts(warned), values) and equal(list(whole), values)


@pytest.mark.parametrize(("given", "said"), [
    ([True, False, True], "real numbers are expected"), (["1", "2", "3"], "real numbers are expected"),
    ([1j, 2, 3], "real numbers are expected"), ([None, 1, 2], "real numbers are expected"),
    ([[1, 2], [3]], "rectangular"), ([1.0, np.ma.masked, 5.0], "masks")])
@every
def test_what_is_no_sample(name: str, given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        FUNCTIONS[name](given)


# --- weights ----------------------------------------------------------------------------------------------------------


@weighed
def test_entries_without_weight_are_not_there(name: str) -> None:
    for value in (1e300, -1e300, np.nan, np.inf):
        sample, weights = np.insert(ROW, 4, value), np.insert(WEIGHTS, 4, 0)
        found, expected = (ask(name, row, weights=heavy, nan_policy="raise")[0] for row, heavy in (
            (sample, weights), (ROW, WEIGHTS)))
        assert equal(found, expected) or (name == "log_shape" and found[0] == pytest.approx(expected[0], rel=1e-14))


@weighed
def test_whole_weights_are_repetitions_and_ratios_alone_matter(name: str) -> None:
    """Of estimates of errors, the estimates."""
    repeated, plain = ask(name, np.repeat(ROW, WEIGHTS)), ask(name, ROW)
    for weights, (expected, reasons) in (
            (WEIGHTS, repeated), (7e200 * WEIGHTS, repeated), ([Fraction(w, 7) for w in WEIGHTS.tolist()], repeated),
            (np.full(10, 0.3), plain), (np.full(10, 7e200), plain)):
        found, said = ask(name, ROW, weights=weights)
        bound = 1e-14 if name == "circular_shape" else 1e-13
        assert found[0] == pytest.approx(expected[0], rel=bound) and said == reasons


@weighed
def test_a_missing_weight_is_a_missing_entry(name: str) -> None:
    holed, weights = ROW.copy(), WEIGHTS.astype(float)
    holed[1], weights[4], holed[7], weights[7] = (np.nan,) * 4
    left = np.delete(np.arange(10), [1, 4, 7])
    omitted = ask(name, holed, weights=weights, nan_policy="omit")
    assert equal(omitted[0], ask(name, ROW[left], weights=WEIGHTS[left])[0])
    assert equal(omitted[0], ask(name, np.ma.masked_invalid(holed), weights=np.ma.masked_invalid(weights))[0])
    assert ask(name, [ROW, ROW], axis=1, weights=[weights, WEIGHTS])[1] == ["nan in the input", ""]
    for entries, some in ((holed, WEIGHTS), (ROW, weights)):
        with pytest.raises(InvalidInput, match="hold NaN"):
            FUNCTIONS[name](entries, weights=some, nan_policy="raise")
    for bad, reason in ((-1, "negative weight"), (np.inf, "infinite weight")):
        assert ask(name, ROW, weights=np.where(np.arange(10) == 3, bad, WEIGHTS))[1] == [reason]


@pytest.mark.parametrize(("given", "said"), [
    (WEIGHTS[:3], r"give the shape \(10,\) of the sample"), (np.ones((2, 10)), r"give the shape \(10,\) of the sample"),
    ([True] * 10, "weights: "), (["1"] * 10, "weights: "), ([1j] * 10, "weights: "), ([[1], [2, 3]], "weights: ")])
@weighed
def test_what_is_no_weight(name: str, given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        FUNCTIONS[name](ROW, weights=given)
