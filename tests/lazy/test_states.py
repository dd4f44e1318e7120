"""Mergeable states: exact against Fractions, whatever the chunks, their order, and where the numbers lie."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdecouple.errors import InvalidInput, RefusalWarning, Refused
from symdecouple.lazy import MomentState, MomentSummary
from tests.stats.oracle import central_moments, moments

RNG = np.random.default_rng(7)
VECTORS: dict[str, Any] = {
    "exponential": RNG.exponential(size=900),
    "float32": RNG.gumbel(size=900).astype(np.float32),
    "offset 1e8": 1e8 + RNG.gamma(2, size=900),
    "two far clusters": np.concatenate([RNG.normal(size=20), 1e8 + RNG.normal(size=880)]),
    "small unit": RNG.exponential(size=900) * 1e-120,
    "large unit": RNG.exponential(size=900) * 1e120,
    "heavy tails": RNG.standard_cauchy(size=900),
    "8 bits": RNG.integers(0, 256, size=900).astype(np.uint8),
    "beyond 2**53": 2**62 + RNG.integers(0, 1000, size=900),
    "unsigned beyond 2**63": np.uint64(2**63) + RNG.integers(0, 1000, size=900).astype(np.uint64),
}


def state_of(chunks: Any, order: int = 6, **options: Any) -> MomentState:
    state = MomentState(order, **options)
    for chunk in chunks:
        state.update(chunk)
    return state


@pytest.mark.parametrize("name", VECTORS)
def test_moments_are_those_of_exact_arithmetic(name: str) -> None:
    """Within (k + 12) 2^-53 Mean|z|^k, in one chunk, in many, in empty ones, and in chunks of one."""
    values = VECTORS[name]
    expected = moments(values.tolist(), 6)
    mean = sum(map(Fraction, values.tolist())) / len(values)
    z = np.array([float(v - mean) for v in map(Fraction, values.tolist())]) / math.sqrt(expected[1])
    bounds = [2.0**-52 * abs(expected[0]), 14 * 2.0**-53 * expected[1],
              *((k + 12) * 2.0**-53 * np.mean(np.abs(z) ** k) for k in range(3, 7))]
    found = None
    for cuts in ([], [450], [1, 2, 2, 3, 700], range(0, 900, 37)):
        summary = state_of(np.split(values, list(cuts))).finalize()
        assert (np.abs(np.array(summary.moments) - expected) <= bounds).all(), (name, cuts)
        assert (summary.count, summary.low, summary.high) == (900, values.min(), values.max())
        found = found or summary
        assert np.allclose(summary.moments, found.moments, rtol=0, atol=2 * np.array(bounds))


def test_neither_order_nor_tree_of_merging_changes_a_bit() -> None:
    parts = [state_of([chunk]) for chunk in np.array_split(VECTORS["two far clusters"], 13)]
    one = sum(parts[1:], parts[0]).finalize()
    assert sum(parts[-2::-1], parts[-1]).finalize() == one
    assert sum(parts).finalize() == one
    pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)] + [parts[-1]]
    assert sum(pairs[1:], pairs[0]).finalize() == one
    assert [part.count for part in parts] == [len(c) for c in np.array_split(np.zeros(900), 13)]  # none was changed


def test_what_is_shifted_or_scaled_keeps_its_shape_to_the_bit() -> None:
    values = RNG.integers(-50, 50, size=500).astype(np.float64)
    chunks = np.array_split(values, 9)
    shape = state_of(chunks).finalize().moments[2:]
    for change in (lambda c: c + 1e8, lambda c: c * 2.0**-600, lambda c: c * 2.0**600):
        assert state_of([change(c) for c in chunks]).finalize("return")[0].moments[2:] == shape
    far = state_of([c.astype(np.int64) + 2**60 for c in chunks]).finalize()
    assert far.moments[2:] == pytest.approx(shape, rel=1e-14, abs=1e-14)


def test_a_state_travels_and_is_copied() -> None:
    state = state_of(np.array_split(VECTORS["exponential"], 4))
    other = pickle.loads(pickle.dumps(state))
    assert other.finalize() == state.finalize()
    other.update([5.0])
    assert other.count == state.count + 1 and state.copy().finalize() == state.finalize()
    big = state.copy()
    for _ in range(60):  # 900 * 2**60 numbers: counts are whole numbers of any size
        big.merge(big.copy())
    assert big.count == 900 * 2**60 and big.finalize().moments == pytest.approx(state.finalize().moments, rel=1e-15)


@pytest.mark.parametrize(
    ("chunks", "policy", "moments", "reason"),
    [
        ([], "propagate", [None] * 4, "no samples"),
        ([[], [3]], "propagate", [3, 0, None, None], "one sample"),
        ([[3, 3], [3]], "propagate", [3, 0, None, None], "zero variance"),
        ([[1, math.nan], [3]], "propagate", [None] * 4, "nan in the input"),
        ([[1, math.nan], [3]], "omit", [2, 1, 0, 1], ""),
        ([[math.nan], [math.nan]], "omit", [None] * 4, "no samples"),
        ([[1, math.inf], [3]], "omit", [None] * 4, "infinite value"),
        ([np.ma.masked_array([1, 9, 3], [0, 1, 0])], "propagate", [2, 1, 0, 1], ""),
        ([[1.7e308], [-1.7e308]], "propagate", [0, None, 0, 1], "out of range"),
        ([[1e-200], [-1e-200]], "propagate", [0, None, 0, 1], "out of range"),
        ([Fraction(1, 3), Fraction(1, 3) + 2], "propagate", [4 / 3, 1, 0, 1], ""),
        ([[-2**63, 2**63 - 1], [2]], "propagate", [1 / 3, 2.0**127 / 3, 0, 1.5], ""),
        ([[-2**63], [2**63 - 1]], "propagate", [-0.5, 2.0**126, 0, 1], ""),
    ],
)
def test_odd_chunks(chunks: Any, policy: Any, moments: list[float | None], reason: str) -> None:
    summary, outcomes = state_of(chunks, 4, nan_policy=policy).finalize("return")
    assert isinstance(summary, MomentSummary) and outcomes == ((summary.outcome,) if not reason else outcomes)
    assert summary.outcome.reason == reason
    for found, expected in zip(summary.moments, moments, strict=True):
        assert math.isnan(found) if expected is None else found == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_a_state_says_what_it_has_seen() -> None:
    assert repr(MomentState()) == "MomentState(order=4): 0 numbers"
    state = state_of([[1.0, 2.5], [math.nan]], 4)
    assert repr(state) == "MomentState(order=4): 2 numbers from 1 to 2.5, 1 missing"
    assert repr(state_of([[Fraction(1, 3), Fraction(10) ** 20]], 4)).endswith("from 0.3333333333 to 1e+20")


def test_without_an_answer_there_is_a_signal() -> None:
    state = state_of([[3.0, 3.0]])
    with pytest.warns(RefusalWarning, match="zero variance"):
        state.finalize()
    with pytest.raises(Refused, match="zero variance"):
        state.finalize("raise")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MomentState(1), "order=1 was given"),
        (lambda: MomentState(True), "order=True"),
        (lambda: MomentState(nan_policy="drop"), "nan_policy='drop'"),
        (lambda: MomentState().update(["a"]), "text"),
        (lambda: MomentState().update([1j]), "complex"),
        (lambda: MomentState().update([[1, 2], [3]]), "rectangular"),
        (lambda: MomentState().merge([1.0]), "update\\(\\) takes chunks"),
        (lambda: MomentState(4).merge(MomentState(5)), "must be alike"),
        (lambda: MomentState().exact_mean(), "no mean"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()


def test_a_chunk_that_is_refused_leaves_the_state() -> None:
    state = state_of([[1.0, 2, 4]], nan_policy="raise")
    before = state.finalize()
    with pytest.raises(InvalidInput, match="1 of 2 numbers of a chunk are NaN"):
        state.update([1.0, math.nan])
    assert state.finalize() == before


TEN = Fraction(10)
BEYOND = {
    "far apart": [10**400, 1, 2, 5, 3], "all large": [10**400 + 10**390 * k for k in (1, 3, 4, 9)],
    "large offset": [10**400 + k for k in (1, 3, 4, 9, 10)], "small": [k / TEN**400 for k in (0, 1, 3, 7)],
    "small differences": [1 + k / TEN**400 for k in (1, 3, 4, 9, 10)],
    "extended": np.array([1, 2, 5, 3], dtype=np.longdouble) * np.longdouble("1e4000"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_numbers_beyond_float64_have_their_shape_and_what_float64_lacks_is_said(name: str) -> None:
    values = [v if isinstance(v, int | Fraction) else Fraction(*map(int, v.as_integer_ratio())) for v in BEYOND[name]]
    mean, central = central_moments(values, 4)
    has_mean, has_variance = abs(mean) < 10**308, 1 / TEN**307 < central[2] < TEN**308
    skewness = (1 if central[3] > 0 else -1) * math.sqrt(central[3] ** 2 / central[2] ** 3)
    for chunks in ([BEYOND[name]], [[v] for v in BEYOND[name]], [BEYOND[name][:2], BEYOND[name][2:]]):
        with np.errstate(all="raise"):
            found, (outcome,) = state_of(chunks, 4).finalize("return")
        assert found.skewness == pytest.approx(skewness, rel=1e-13)
        assert found.kurtosis == pytest.approx(float(central[4] / central[2] ** 2), rel=1e-13)
        assert [math.isnan(v) for v in found.moments[:2]] == [not has_mean, not has_variance]
        assert (outcome.reason == "out of range") == (not (has_mean and has_variance))
        assert "inf" not in str(found)


@pytest.mark.parametrize("value", [1e-238, 5e-324, 1e300, Fraction(1, 3), 2**70 + 1])
def test_equal_numbers_keep_their_mean(value: Any) -> None:
    for chunks in ([[value]] * 3, [[value, value], [value]]):
        found, _ = state_of(chunks).finalize("return")
        assert found.moments[:2] == (float(value), 0.0)
    found, _ = state_of([[value]] * 1000 + [[0], [1]]).finalize("return")
    assert found.mean == pytest.approx(float((1000 * Fraction(value) + 1) / 1002), rel=1e-15)
