"""Arrays of mpmath numbers and what they know of themselves; gradients of plans in many digits, along both ways."""

import copy
import pickle

import mpmath
import numpy as np
import pytest
from sympy import Rational

from symdecouple import FeatureSet, Mean, decouple, x
from symdecouple.decoupling.precise import Precise
from symdecouple.decoupling.routes import narrow as narrow_route
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.numeric.precision import path_adjoint as precision_adjoint
from tests.numeric.paths.nested import MIXED

POINTS = [-2.0, -0.5, 1.0, 2.0, 0.75]


def test_reductions_are_numbers() -> None:
    with mpmath.workdps(30):
        array = Precise.of([mpmath.mpf(1) / 3, mpmath.mpf(2)], 30, mpmath.mpf(0), mpmath.mpf(10) ** -30)
        for one in (array.sum(), array @ array, array[0], np.max(array), abs(array).max()):
            assert isinstance(one, mpmath.mpf)
        assert isinstance(array + 1, Precise) and (array + 1).dps == 30
        assert array[:1].residual == 0 and array[:1].error == mpmath.mpf(10) ** -30


def test_digits_residuals_and_errors_go_to_other_processes() -> None:
    found = decouple(raw_moments(3)).transform([[1, 2, 3, 5, 8, 13], [-1, 0, 2, 4, 4, 6]], dps=40)
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), pickle.loads(pickle.dumps(found[1]))):
        rows = found if other.ndim == 2 else found[1]
        assert isinstance(other, Precise) and other.dps == 40 and other.tolist() == rows.tolist()
        assert list(other.residual) == list(found.residual) and list(other.error) == list(found.error)


def test_residuals_come_with_every_row() -> None:
    with mpmath.workdps(40):
        samples = [[1, 2, 3, 5, 8, 13], [-1, 0, 2, 4, 4, 6]]
        found = decouple(raw_moments(4)).normalize(samples, dps=40)
        assert found.shape == (2, 6) and found.residual.shape == (2,)
        for row, residual in zip(found, found.residual, strict=True):
            assert residual < mpmath.mpf(10) ** -40
            reached = [sum(v**k for v in row) / 6 for k in (1, 2, 3)]
            assert max(abs(a - b) for a, b in zip(reached, (0, 1, 0), strict=True)) < mpmath.mpf(10) ** -38


def test_errors_come_with_every_row_and_are_not_below_rounding() -> None:
    samples = [[1, 2, 3, 5, 8, 13], [-1, 0, 2, 4, 4, 6]]
    plan = decouple(raw_moments(3))
    for found in (plan.transform(samples, dps=30), plan.normalize(samples, 2, dps=30), plan.gradients(samples, dps=30)):
        assert found.error.shape == (2,)
        assert all(mpmath.mpf(10) ** -31 < e < mpmath.mpf(10) ** -29 for e in found.error)
    one = plan.denormalize([-mpmath.sqrt(2), 0, 0, mpmath.sqrt(2)], [2, 5, 0], 2, dps=30)
    assert mpmath.mpf(10) ** -31 < one.error < mpmath.mpf(10) ** -29


@pytest.mark.parametrize("order", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_gradients_along_both_ways_to_28_digits(order: int) -> None:
    closed, narrow = (decouple(raw_moments(order), path=path) for path in ("auto", "narrow"))
    assert closed.choice.is_closed(order - 1) and not narrow.choice.is_closed(1)
    sample = [-2, -1, 0, 1, 2, 4]
    one, other = closed.gradients(sample, dps=30), narrow.gradients(sample, dps=30)
    with mpmath.workdps(40):
        for a, b in zip(one, other, strict=True):
            assert max(abs(a - b)) < mpmath.mpf(10) ** -28 * max(abs(a))
    assert one.error < mpmath.mpf(10) ** -29 and other.error < mpmath.mpf(10) ** -29


def test_refused_rows_are_nan_and_the_others_are_there() -> None:
    plan = decouple(raw_moments(4), path="narrow")
    rows = [[3, 3, 3, 3, 3], [1, 2, 3, 5, 8]]
    found, outcomes = plan.gradients(rows, dps=12, on_refusal="return")
    assert [o.ok for o in outcomes] == [False, True] and outcomes[0].reason == "zero variance"
    assert all(mpmath.isnan(v) for v in found[0, 2:].flat)
    np.testing.assert_allclose(plan.gradients(rows[1]), found[1].astype(float), atol=1e-9)


def test_what_counting_ties_refuses_is_refused_without_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kurtosis 3 at no skewness needs more than six values: the same reason as in float64, and no path is begun."""
    plan = decouple(raw_moments(5))
    samples = [[-3, -2, -1, 1, 2, 4], [0, 0, 0, 1, 1, 1]]
    _, expected = plan.transform(np.array(samples, dtype=float), on_refusal="return")
    monkeypatch.setattr(narrow_route, "follow_mp", None)
    _, found = plan.transform(samples, dps=30, on_refusal="return")
    assert [o.reason for o in found] == [o.reason for o in expected] == ["moment not attainable", "two-valued"]


@pytest.mark.parametrize(("wanted", "reason"), [
    ([0, 1, 0, 7], "kurtosis out of reach"), ([0, 1, 0, 0.9], "kurtosis out of reach"),
    ([0, 1, 1.5, 3.2], "kurtosis out of reach"), ([0, 1, 5, 30], "skewness out of reach"),
    ([0, 0, 0, 0], "level 2 not attainable"), ([0, -1, 0, 3], "level 2 not attainable"), ([0, 1, 0, 5.9], "")])
@pytest.mark.parametrize("features", [raw_moments(4), standardized_moments(4)])
def test_values_that_no_sample_has_are_refused_by_one_reason(features: FeatureSet, wanted: list[float], reason: str
                                                              ) -> None:
    """Of twelve values: kurtosis in (1, 6) without skewness, above 1 + skewness^2, and no skewness beyond 10/11^.5."""
    sample, plan = [-5, -4, -2, -1, 0, 1, 3, 4, 6, 7, 9, 13], decouple(features)
    for dps in (None, 20):
        values, (outcome,) = plan.match(sample, wanted, dps=dps, on_refusal="return")
        assert outcome.reason == reason
        assert all(mpmath.isfinite(v) == outcome.ok for v in values)


def test_a_skewness_beyond_float64_is_refused() -> None:
    for path, sign in (("auto", 1), ("parallel", -1)):
        plan = decouple(raw_moments(3), path=path)
        _, (outcome,) = plan.match([1, 2, 3, 5, 8], [0, mpmath.mpf("1e-300"), sign], dps=20, on_refusal="return")
        assert outcome.reason == "skewness out of reach"


def test_a_root_that_the_first_step_meets_exactly() -> None:
    """3e-31 below a reference: the first step leaves no gap, and nearer to its begin none has another sign."""
    plan = decouple([Mean(x**2 + x**4), Mean(x)], [4, 0])
    with mpmath.workdps(40):
        sample = [mpmath.mpf(v) for v in (
            "-0.92939816656852290993586172870951068", "-0.21491785999854619466453441884133381",
            "0.43665134408032707013790327705641382", "0.67226814609049961800993330406563284",
            "1.925656854061557971120406239653714")]
        found = plan.transform(sample, dps=40)
        assert abs(found[1] - mpmath.fsum(sample) / 5) < 1e-30


def test_a_path_that_cannot_be_followed_back_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = decouple(MIXED, [0, 1, Rational(2, 5), 0], path="narrow")
    monkeypatch.setattr(precision_adjoint, "_MAX_STEPS", 0)
    gradients, (outcome,) = plan.gradients(POINTS, dps=8, on_refusal="return")
    assert outcome.reason == "no convergence" and "followed back" in outcome.detail
    assert all(mpmath.isnan(v) for v in gradients[3])
