"""Samples of no entries, numbers that are none, masked targets: on every road a refusal or `InvalidInput`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numpy import ma

import symdecouple as sd
from symdecouple import InvalidInput, Mean, stats
from symdecouple.families.moments import raw_moments

PLAN, POSITIVE = sd.decouple(raw_moments(3)), sd.sample("x", positive=True)
SAMPLE = [1.0, 2, 5, 9, 4]
QUIET: Any = {"on_refusal": "return"}
digits = pytest.mark.parametrize("dps", [None, 20])


@digits
def test_no_entries_are_no_samples(dps: Any) -> None:
    """With `dps=` the deviation of no numbers was asked for."""
    for values, outcomes in (
            PLAN.normalize([], dps=dps, **QUIET), PLAN.normalize(np.empty((2, 0)), dps=dps, **QUIET),
            PLAN.match(np.empty((2, 0)), [0, 1, 0], dps=dps, **QUIET),
            PLAN.denormalize([], [0, 1, 0], dps=dps, **QUIET), PLAN.gradients([], dps=dps, **QUIET)):
        assert values.size == 0 and {o.reason for o in outcomes} == {"no samples"}


@digits
@pytest.mark.parametrize("bad", [object(), None, {1}, sp.I, sp.Symbol("q"), "1"])
def test_targets_that_are_no_numbers_are_invalid_input(bad: Any, dps: Any) -> None:
    for call in (PLAN.match, PLAN.denormalize):
        with pytest.raises(InvalidInput, match="values="):
            call(SAMPLE, [bad, 1, 0], dps=dps)


@digits
@pytest.mark.parametrize("bad", [Decimal("sNaN"), Decimal("NaN"), sp.nan, ma.masked])
def test_targets_that_are_missing_or_masked_are_refused(bad: Any, dps: Any) -> None:
    """What lies under a mask is no target: it may be any number."""
    asked = ma.masked_array([0, 1, 0.2], mask=[0, 0, 1]) if bad is ma.masked else [bad, 1, 0]
    for call in (PLAN.match, PLAN.denormalize):
        _, (outcome,) = call(PLAN.normalize(SAMPLE, 2), asked, dps=dps, **QUIET)
        assert outcome.reason == "no target"


@pytest.mark.parametrize("bad", [ma.masked, 10**400, -(10**400), Decimal("sNaN")])
def test_statistics_are_matched_to_finite_numbers_only(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="finite numbers"):
        stats.match(SAMPLE, mean=bad)
    _, (outcome,) = stats.match([10**400], mean=1, **QUIET)
    assert outcome.reason == "one sample"
    with pytest.raises(InvalidInput, match="n_samples="):
        stats.estimate_moments(SAMPLE, n_samples=10**400)


@digits
@pytest.mark.parametrize(("bad", "reason"), [
    (Decimal("NaN"), "nan in the input"), (Decimal("sNaN"), "nan in the input"), (sp.nan, "nan in the input"),
    (sp.oo, "infinite value"), (-(10**400), "outside the domain"), (Fraction(-1, 10**400), "outside the domain"),
    (None, ""), (sp.zoo, ""), (sp.I, ""), (sp.Symbol("q"), "")])
def test_numbers_of_any_library_in_an_interval(bad: Any, reason: str, dps: Any) -> None:
    """The tag is that of the number, with digits and without, and no comparison of another library is heard."""
    plan = sd.decouple([Mean(sp.log(POSITIVE)), Mean(POSITIVE)], [0, 1.6])
    sample = np.array([bad, Fraction(1), 2, 3], dtype=object)
    if not reason:
        with pytest.raises(InvalidInput, match="real numbers are expected"):
            plan.transform(sample, dps=dps)
        return
    _, (outcome,) = plan.transform(sample, dps=dps, **QUIET)
    assert outcome.reason == reason


def test_a_transfer_takes_what_other_methods_take() -> None:
    """A picture without channels is not looked at before it is taken."""
    for given in ([[1, 2], [3]], [ma.masked, 1.0, 2, 5], [True, 1.5, 2, 7]):
        for ends in ((given, SAMPLE), (SAMPLE, given)):
            with pytest.raises(InvalidInput):
                PLAN.transfer(*ends)
    with pytest.raises(InvalidInput, match="rectangular"):
        PLAN.transfer([[1, 2], [3]], [[1, 2], [3, 4]], channel_axis=0)


@pytest.mark.parametrize("labels", [[Decimal("sNaN"), 1, 2, 3, 4], [[1], [2, 3]]])
def test_what_cannot_be_labels(labels: Any) -> None:
    with pytest.raises(InvalidInput, match="groups="):
        stats.skewness(SAMPLE, groups=labels)
