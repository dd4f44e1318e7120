"""The precise path against closed forms, an independent computation to 60 digits, and itself with more digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from sympy import Rational, cosh, exp, log, tanh

from symdecouple import FeatureSet, InvalidInput, Mean, sample, x
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.numeric.precision import path as precision
from symdecouple.numeric.precision.path import follow_mp
from tests.numeric.differences import largest
from tests.stats.oracle import TABLE

positive = sample("x", positive=True)
POWERS = CompiledFeatures(FeatureSet([Mean(x**j) for j in range(1, 7)]))
MIXED = CompiledFeatures(FeatureSet([Mean(x), Mean(x**2), Mean(log(cosh(x))), Mean(tanh(x))]))
ROW = [-4, -3, -1, 0, 2, 3]


def standardized(row: list[int]) -> Any:
    y = as_multiprecision(row)
    y = y - y.sum() / len(y)
    return y / mpmath.sqrt((y * y).sum() / len(y))


# --- where it leads ---


def test_first_levels_in_closed_form_to_forty_digits() -> None:
    one = follow_mp(POWERS, ROW, 1, Fraction(1, 3), dps=40)
    two = follow_mp(POWERS, ROW, 2, Rational(101, 7), dps=40)
    assert one.outcome.ok and two.outcome.ok
    with mpmath.workdps(45):
        row = as_multiprecision(ROW)
        assert largest(one.values - row - (Fraction(1, 3) + Rational(1, 2))) < mpmath.mpf(10) ** -38
        mean, second = -mpmath.mpf(1) / 2, mpmath.mpf(39) / 6
        ratio = mpmath.sqrt((mpmath.mpf(101) / 7 - mean**2) / (second - mean**2))
        expected = mean + (row - mean) * ratio
        assert largest(two.values - expected) < mpmath.mpf(10) ** -38
        assert abs(two.reached - mpmath.mpf(101) / 7) < mpmath.mpf(10) ** -38
    assert two.residual < mpmath.mpf(10) ** -39


@pytest.mark.parametrize("case", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_decoupled_moments_against_sixty_digits(case: int) -> None:
    known = TABLE["decoupled_moments"][case]
    with mpmath.workdps(40):
        y = standardized(known["sample"])
        for order, target in ((4, 0), (5, 3), (6, 0)):
            y = follow_mp(POWERS, y, order - 1, target, dps=30).values
            expected, printed = mpmath.mpf(known[f"order{order}"]), len(known[f"order{order}"].strip("-0.")) - 1
            found = (y**order).sum() / len(y)
            assert abs(found - expected) < mpmath.mpf(10) ** (2 - printed) * abs(expected)
            assert printed >= 15


def test_fifteen_digits_are_those_of_thirty() -> None:
    with mpmath.workdps(50):
        start = standardized(ROW)
        found, best = (follow_mp(MIXED, start, 3, Fraction(39, 100), dps) for dps in (15, 30))
        assert found.outcome.ok and best.outcome.ok
        difference = largest(found.values - best.values)
        assert difference < 10 * found.error + mpmath.mpf(10) ** -15
        assert found.error < mpmath.mpf(10) ** -15 and best.error < mpmath.mpf(10) ** -30


def test_beyond_the_range_of_float64() -> None:
    with mpmath.workdps(60):
        tiny = mpmath.mpf(10) ** -400
        moved = follow_mp([Mean(x), Mean(x**2)], [0, tiny, 3 * tiny], 2, 10 * tiny**2, dps=30)
        assert moved.outcome.ok
        ratio = mpmath.sqrt((10 - mpmath.mpf(16) / 9) / (mpmath.mpf(10) / 3 - mpmath.mpf(16) / 9))
        expected = [(mpmath.mpf(4) / 3 + (v - mpmath.mpf(4) / 3) * ratio) for v in (0, 1, 3)]
        assert largest(moved.values / tiny - expected) < mpmath.mpf(10) ** -28


def test_what_is_at_its_target_stays() -> None:
    moved = follow_mp(POWERS, [Fraction(-1, 3), 0, Fraction(1, 3)], 3, 0, dps=25)
    assert moved.steps == 0 and moved.outcome.ok
    with mpmath.workdps(25):
        assert moved.values.tolist() == [-mpmath.mpf(1) / 3, 0, mpmath.mpf(1) / 3]
    with mpmath.workdps(60):  # the thirds are rounded, by one relative error
        assert mpmath.almosteq(moved.error, abs(3 * moved.values[2] - 1), 1e-15) and moved.error > 0
    assert follow_mp(POWERS, [-1, 0, 1], 3, 0, dps=25).error == 0


ROWS = [ROW, [9, -8, 7, 3, 0, -4], [Fraction(1, 7), 90, -80, 3, 11]]


@pytest.mark.parametrize(("row", "dps"), [
    pytest.param(row, dps, id=f"{k}-{dps}", marks=[pytest.mark.slow] if k != place else [])
    for k, row in enumerate(ROWS) for place, dps in enumerate((28, 20, 12))])
def test_the_error_covers_what_is_known_exactly(row: list[Any], dps: int) -> None:
    """A variance is brought to 2 by scaling: the rounding of the values is in the estimate, and most of it."""
    with mpmath.workdps(60):
        y = as_multiprecision(row)
        mean = y.sum() / len(y)
        y = y - mean
        expected = mean + y * mpmath.sqrt(2 * len(y) / (y * y).sum())
        moved = follow_mp(POWERS, row, 2, 2 + mean**2, dps=dps)
        gap = moved.values - expected
        distance = mpmath.sqrt((gap * gap).sum() / len(y) / 2)
        assert 0 < distance < mpmath.mpf("1.01") * moved.error < mpmath.mpf(10) ** (2 - dps)


def test_precision_outside_is_left_alone_and_does_not_matter() -> None:
    before = mpmath.mp.dps
    follow_mp(POWERS, ROW, 2, 9, dps=20)
    assert mpmath.mp.dps == before
    with mpmath.workdps(5):
        coarse = follow_mp(POWERS, ROW, 2, 9, dps=20)
    fine = follow_mp(POWERS, ROW, 2, 9, dps=20)
    assert all(a == b for a, b in zip(coarse.values, fine.values, strict=True))


# --- what cannot be had ---


@pytest.mark.parametrize(
    ("features", "row", "k", "target", "reason", "reached"),
    [
        (POWERS, [0, 0, 0, 0, 1], 3, 5, "critical point", 0.2),
        (POWERS, [7, 7, 7], 2, 1, "critical point", 49),
        (POWERS, [-1, 0, 1], 2, -1, "not attainable", 0),
        ([Mean(positive)], [1, 2, 3], 1, -1, "not attainable", 1),
        ([Mean(log(x))], [1, 2, 3], 1, 0, None, 0),
        ([Mean(log(x))], [-1, 2, 3], 1, 0, "not finite", None),
        ([Mean(exp(1 / x))], [0, 2, 3], 1, 0, "not finite", None),
        ([Mean(x**2) ** Rational(1, 2)], [0, 0, 0], 1, 1, "not finite", None),
    ],
)
def test_refusals(features: Any, row: list[int], k: int, target: int, reason: str | None, reached: Any) -> None:
    moved = follow_mp(features, row, k, target, dps=8)
    assert moved.outcome.ok is (reason is None) and moved.outcome.reason == (reason or "")
    if reached is None:
        assert mpmath.isnan(moved.reached)
    else:
        assert abs(moved.reached - reached) < 1e-6


@pytest.mark.parametrize("exponent", [6, -6])
def test_a_path_that_is_long_beside_its_sample_or_its_end(exponent: int) -> None:
    """The flow of Mean(x**2) is a factor."""
    target = 51 * Fraction(10) ** (2 * exponent)
    moved = follow_mp([Mean(x**2)], [1, 2, 4, 9, 5, 2, 11, 12, 8, 7], 1, target, dps=25)
    assert moved.outcome.ok
    with mpmath.workdps(40):
        factor = mpmath.mpf(10) ** exponent * mpmath.sqrt(mpmath.mpf(51) / mpmath.mpf("50.9"))
        off = [abs(v / (factor * w) - 1) for v, w in zip(moved.values, [1, 2, 4, 9, 5, 2, 11, 12, 8, 7], strict=True)]
    assert max(off) < mpmath.mpf(10) ** -23


def test_what_rounding_takes_of_the_way_is_not_called_out_of_reach() -> None:
    """1e-60 is the value of a sample 1e-30 times as large; 25 digits do not hold what is left beside the way."""
    assert follow_mp([Mean(x**2)], [1, 2, 4, 9], 1, Fraction(1, 10**60), dps=25).outcome.reason == "beyond 40 digits"
    found = follow_mp([Mean(x), Mean(log(x))], [Fraction(v, 10**30) for v in (1, 2, 4)], 1, 1, dps=25)
    assert found.outcome.reason == "beyond 40 digits"


def test_a_path_stops_where_its_steps_are_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean(tanh(x)) is at most 0.39 beside this mean and variance."""
    monkeypatch.setattr(precision, "_MOST_STEPS", 7)
    found = follow_mp([Mean(x), Mean(x**2), Mean(tanh(x))], [-2, -0.5, 1, 2, 0.75], 3, 0.95, dps=10)
    assert found.steps == 7 and found.outcome.reason == "no convergence" and "0.95" in found.outcome.detail


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: follow_mp(POWERS, ROW, 0, 1), "from 1 to 6"),
        (lambda: follow_mp(POWERS, ROW, 1, 1, dps=0), "decimal digits"),
        (lambda: follow_mp(POWERS, [ROW], 1, 1), "one sample vector"),
        (lambda: follow_mp(POWERS, [1, 1j], 1, 1), "real numbers"),
        (lambda: follow_mp(POWERS, ROW, 1, "much"), "real numbers"),
    ],
)
def test_wrong_calls(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()
