"""Exact numbers in units far below or above float64: shapes are there, and what no float64 holds is said to be so."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from symdecouple import Mean, decouple, stats, x
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.samples.intake import exact
from tests.stats.oracle import moments, orthokurtosis

BASE = [1, 2, 4, 8, 9]
SHAPE = [moments(BASE, 3)[2], float(orthokurtosis(BASE))]
QUIET: Any = {"on_refusal": "return"}
PLAN, MEAN = decouple(raw_moments(4)), decouple([Mean(x)])
KINDS: dict[str, Any] = {
    "Fraction": lambda v, e: v * Fraction(10) ** e, "Decimal": lambda v, e: v * Decimal(10) ** e,
    "mpf": lambda v, e: mpmath.mpf(v) * mpmath.mpf(10) ** e}


@pytest.mark.parametrize("weights", [None, [0.5] * 5])
@pytest.mark.parametrize(("kind", "exponent"), [("Fraction", -100_000), *(
    (kind, exponent) for kind in KINDS for exponent in (-400, -324, -310, -200, 200, 400))])
def test_shapes_are_there_in_any_unit(kind: str, exponent: int, weights: Any) -> None:
    sample, options = [KINDS[kind](v, exponent) for v in BASE], {**QUIET, "weights": weights}
    mean = Fraction(24, 5) * Fraction(10) ** exponent
    there = Fraction(5, 10**325) < mean < 2**1023
    values, (outcome,) = stats.decoupled_moments(sample, order=4, **options)
    assert values[2:] == pytest.approx(SHAPE, rel=1e-14)
    assert np.isnan(values[1]) and outcome.reason == "out of range"
    assert values[0] == pytest.approx(float(mean), rel=1e-15, abs=0) if there else np.isnan(values[0])
    (first,), (outcome,) = stats.decoupled_moments(sample, order=1, **options)
    assert outcome.ok == there and (first == values[0] or not there)
    assert ("mean" in outcome.detail) is not there
    (first,), (outcome,) = MEAN.transform(sample, **options)
    assert first == values[0] if outcome.ok else outcome.reason == "out of range" and np.isnan(first)
    assert there or not outcome.ok


@pytest.mark.parametrize("sample", [[Fraction(1, 10**400)] * 5, [Fraction(1, 10**400)]])
def test_a_constant_that_is_not_zero_has_no_mean_of_zero(sample: list[Fraction]) -> None:
    for call in (stats.decoupled_moments, PLAN.transform, MEAN.transform):
        values, (outcome,) = call(sample, **QUIET)
        assert np.isnan(values[0]) and not outcome.ok
    assert abs(exact(MEAN.transform(sample, dps=20)[0]) / sample[0] - 1) < Fraction(1, 10**20)


@pytest.mark.parametrize("exponent", [-400, -324, -310])
def test_plans_do_not_compute_with_digits_that_rounding_took(exponent: int) -> None:
    """Differences below the smallest normal number: another shape is none, and more digits have the right one."""
    sample = [v * Fraction(10) ** exponent for v in BASE]
    for call in (PLAN.gradients, lambda s, **k: PLAN.normalize(s, level=3, **k)):
        values, (outcome,) = call(sample, **QUIET)
        assert outcome.reason == "out of range" and np.isnan(np.asarray(values)).all()
    values, outcomes = PLAN.transform([sample, BASE, sample], **QUIET)  # as `stats`, which has them before
    assert values[[0, 2], 2:] == pytest.approx(np.tile(SHAPE, (2, 1)), rel=1e-14)
    assert np.isnan(values[[0, 2], 1]).all() and [o.reason for o in outcomes] == ["out of range", "", "out of range"]
    assert values[1].tolist() == PLAN.transform([*map(Fraction, BASE)]).tolist()
    assert float(PLAN.transform(sample, dps=20)[3]) == pytest.approx(SHAPE[1], rel=1e-15)
    floats = np.ldexp(BASE, -1074)  # these are numbers of float64 themselves
    assert PLAN.transform(floats, **QUIET)[0][3] == pytest.approx(SHAPE[1], rel=1e-14)


def test_matching_does_not_take_the_unit_that_the_kernel_sees() -> None:
    for exponent in (-400, -324, 400):
        sample = [v * Fraction(10) ** exponent for v in BASE]
        for asked in ({"mean": 3}, {"skewness": 0}):
            assert stats.match(sample, **asked, **QUIET)[1][0].reason == "out of range"
        matched = stats.match(sample, mean=0, variance=1)
        assert matched.values == pytest.approx((np.array(BASE) - 4.8) / np.std(BASE), rel=1e-14)
        assert matched.distance == (np.inf if exponent > 0 else pytest.approx(1, rel=1e-14))
