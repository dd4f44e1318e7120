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
from symdecouple import InvalidInput, Mean, Reference, analysis, stats
from symdecouple.families.moments import raw_moments

FEATURES = raw_moments(3)
PLAN, POSITIVE = sd.decouple(FEATURES), sd.sample("x", positive=True)
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


TAKES: dict[str, Any] = {  # numbers in their order
    "a sample of references": Reference.of, "references": lambda given: sd.decouple(FEATURES, given),
    "references of stats": lambda given: stats.decoupled_moments(SAMPLE, 4, reference=given),
    "an enclosure": lambda given: analysis.enclose(PLAN, given),
}


@pytest.mark.parametrize("name", TAKES)
def test_what_is_masked_or_without_an_order_is_not_taken(name: str) -> None:
    """Of a mask, 0 was taken; of a dict and a table, the labels."""
    hidden = ma.masked_array([0, 1, 2**60 + 1], mask=[0, 0, 1])
    for bad in ({0: 1, 1: 2, 5: 3}, {0, 1, 5}, hidden, [0.0, 1, ma.masked], np.array(3.0), 3.0, object(), None, "012"):
        with pytest.raises(InvalidInput):
            TAKES[name](bad)
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([[1.0, 7, 9], [1, 2, 8]])
    if name == "a sample of references":
        assert TAKES[name](table) == TAKES[name](table.to_numpy())
    else:
        with pytest.raises(InvalidInput):
            TAKES[name](table)
        assert repr(TAKES[name](pd.Series([0, 1, 0.5]))) == repr(TAKES[name]([0, 1, 0.5]))


def test_a_masked_correlation_is_none() -> None:
    hidden = ma.masked_array([[1, 0.5], [0.5, 1]], mask=[[0, 1], [1, 0]])
    with pytest.raises(InvalidInput, match="correlation"):
        stats.match(np.outer(SAMPLE, [1.0, 2]) + np.eye(5, 2), mean=0, correlation=hidden)


def test_numbers_of_expressions_beyond_float64() -> None:
    """They were 0, or an error of Fractions."""
    for exponent in (-400, 400):
        feature = sd.Feature(sp.Float(f"1e{exponent}") * Mean(sd.x))
        assert feature.expr == sp.Rational(10) ** exponent * Mean(sd.x)
    with pytest.raises(InvalidInput, match="no such feature"):
        sd.decouple(FEATURES, {0: 1, 1: 1, 2: 1})


@digits
@pytest.mark.parametrize("power", [5, 9, 30])
def test_exponentials_of_exponentials_of_large_numbers(power: int, dps: Any) -> None:
    """Each takes a millisecond; of 10**6, mpmath took a memory of gigabytes, called by the reason of a refusal too."""
    plan = sd.decouple([Mean(sd.x), Mean(sp.exp(sp.exp(sd.x)))], [0, 6])
    values, (outcome,) = plan.transform([1, 2, 10**power], dps=dps, **QUIET)
    assert outcome.reason == "not finite" and values[0] == pytest.approx(10**power / 3 + 1)


@pytest.mark.parametrize("sample", [[0.1] * 6, [2**60 + k * k for k in range(6)], [1e6 + k * k for k in range(12)]])
def test_motions_that_grow_beyond_all_digits_end(sample: Any) -> None:
    """x^(e^t) at the first step of Newton's method from entries that are all alike."""
    plan = sd.decouple(sd.families.exact_triple(sp.log(POSITIVE)).features, [1.5, 1.6, 2])
    _, (outcome,) = plan.transform(sample, dps=20, **QUIET)
    assert outcome.ok == (sample[0] == 1e6)


def test_refused_gradients_of_energies_warn_of_nothing_else(recwarn: pytest.WarningsRecorder) -> None:
    plan = sd.decouple(sd.families.second_order_moments(sd.families.tils(1)))
    _, (outcome,) = plan.gradients(1e-310 * np.random.default_rng(0).normal(size=12), **QUIET)
    assert not outcome.ok and not recwarn.list


@pytest.mark.parametrize("bad", [[Decimal("sNaN"), 1, 2], [10**400, 1, 2], [sp.I, 1, 2], {1: 2}, [None, 1, 2],
                                 ma.masked_array([1, 2, 3], mask=[0, 0, 1])])
def test_covariances_of_odd_samples_are_refused_by_us(bad: Any) -> None:
    for covariance in (analysis.local_covariance, analysis.gradient_covariance):
        with pytest.raises(InvalidInput):
            covariance(PLAN, bad)
    assert analysis.gradient_covariance(PLAN, np.empty((0, 5))).shape == (0, 3, 3)
