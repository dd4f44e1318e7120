"""Refused samples, tried once more with a perturbation that their quantisation hides."""

import warnings

import mpmath
import numpy as np
import pytest

from symdecouple import FilterBank, InvalidInput, Perturbation, PerturbedWarning, RefusalWarning, Refused, decouple
from symdecouple.families import raw_moments, second_order_moments
from symdecouple.numeric.perturbation import ramp_perturbation

TIED = [0.0, 0, 0, 0, 1, 2]
FINE = [1.0, 2, 4, 7, 3, 9]
MOMENTS = decouple(raw_moments(4), perturb="ramp")
BANK = FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]], names="lmh")
MOSTLY_ZEROS = np.where(np.arange(100) < 62, 0, np.random.default_rng(3).integers(1, 9, size=100))


@pytest.mark.parametrize("sample", [TIED, [0, 0, 0, 1] * 4, MOSTLY_ZEROS], ids=["tied", "two-valued", "zeros"])
def test_ties_are_cured_by_the_ramp(sample: list[float]) -> None:
    _, (before,) = decouple(raw_moments(4)).normalize(sample, on_refusal="return")
    values, (outcome,) = MOMENTS.normalize(sample, on_refusal="return")
    assert not before.ok
    assert outcome.ok and outcome.reason == "perturbed" and before.reason in outcome.detail
    np.testing.assert_allclose([np.mean(values**k) for k in (1, 2, 3)], [0, 1, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("dps", [None, pytest.param(30, marks=pytest.mark.slow)])  # 30 digits: in the tests of levels
@pytest.mark.parametrize("sample", [[0] * 6 + [1, 2, 3], [0] * 9, [1, 2, 3, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1] * 4],
                         ids=["sorted", "constant", "unsorted", "two values"])
def test_features_that_the_sample_has_stay_its_own(sample: list[int], dps: int | None) -> None:
    plain = decouple(raw_moments(4)).transform(sample, dps=dps, on_refusal="return")[0]
    values, (outcome,) = MOMENTS.transform(sample, dps=dps, on_refusal="return")
    lacking = np.array([v != v for v in plain])
    assert lacking.any() and all(a == b for a, b in zip(values[~lacking], plain[~lacking], strict=True))
    perturbed = decouple(raw_moments(4)).transform(ramp_perturbation(np.array(sample)).values, dps=dps)
    assert all(a == b for a, b in zip(values[lacking], perturbed[lacking], strict=True))
    assert outcome.ok and outcome.reason == "perturbed"


def test_the_outcome_says_how_far_apart_other_perturbations_are() -> None:
    """Variance 10/9 and skewness of six zeros, 1, 2, 3; the fourth level depends on the kind, and that is said."""
    found = {}
    for kind in ("ramp", "spectral", "ramp and spectral"):
        plan = decouple(raw_moments(4), perturb=kind)
        values, (outcome,) = plan.transform([0] * 6 + [1, 2, 3], on_refusal="return")
        np.testing.assert_allclose(values[:3], [2 / 3, 10 / 9, 4 / 10**0.5], rtol=1e-14)
        found[kind] = values[3]
        low, high = map(float, outcome.detail.rsplit("feature 4 is ", 1)[1].split(" to "))
        assert low <= values[3] + 1e-5 and values[3] - 1e-5 <= high and high - low > 0.3
        assert "over 5 perturbations" in outcome.detail
    assert min(found.values()) >= low - 1e-5 and max(found.values()) <= high + 1e-5


def test_both_perturbations_serve_moments_and_energies() -> None:
    both = Perturbation("ramp and spectral", seed=4)
    for plan, sample in ((decouple(raw_moments(4), perturb=both), TIED),
                         (decouple(second_order_moments(BANK), perturb=both), [4, 4, 4, 4, 4, 4, 4, 4])):
        values, (outcome,) = plan.transform(sample, on_refusal="return")
        assert outcome.reason == "perturbed" and "ramp and spectral" in outcome.detail
        assert np.isfinite(values).all()


def test_only_refused_rows_are_touched() -> None:
    rows = np.array([FINE, TIED, [2.0, 3, 5, 8, 1, 1], [0.0, 1, 0, 1, 0, 0]])
    plain, before = decouple(raw_moments(4)).transform(rows, on_refusal="return")
    values, after = MOMENTS.transform(rows, on_refusal="return")
    fine = [r for r, outcome in enumerate(before) if outcome.ok]
    assert fine == [0, 2]
    np.testing.assert_array_equal(values[fine], plain[fine])
    assert [outcome.reason for outcome in after] == ["", "perturbed", "", "perturbed"]
    assert np.isfinite(values).all()
    alone = MOMENTS.transform(rows[1], on_refusal="return")[0]
    np.testing.assert_array_equal(values[1], alone)


def test_warnings_tell_of_both() -> None:
    rows = np.array([FINE, TIED, [5.0] * 6])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = MOMENTS.transform(rows)
    assert [w.category for w in caught] == [RefusalWarning, PerturbedWarning]
    assert "1 of 3 samples refused, at 2" in str(caught[0].message)
    assert "1 of 3 samples perturbed, at 1" in str(caught[1].message)
    assert "without it: no zero-skew point" in str(caught[1].message)
    assert all(w.filename == __file__ for w in caught)
    assert np.isfinite(values[:2]).all() and np.isnan(values[2, -1])


def test_raising_is_for_what_stays_refused() -> None:
    with pytest.warns(PerturbedWarning):
        MOMENTS.transform(TIED, on_refusal="raise")
    with pytest.raises(Refused) as caught:
        MOMENTS.transform([TIED, [5.0] * 6], on_refusal="raise")
    assert [outcome.reason for outcome in caught.value.outcomes] == ["perturbed", "zero variance"]
    assert np.isfinite(caught.value.partial[0]).all()


@pytest.mark.parametrize("kind", ["ramp", "spectral", "ramp and spectral"])
def test_one_entry_is_not_perturbed(kind: str) -> None:
    values, (outcome,) = decouple(raw_moments(4), perturb=kind).transform([4.0], on_refusal="return")
    assert outcome.reason == "one sample" and values[:2].tolist() == [4, 0]


def test_nan_and_infinite_samples_are_never_perturbed() -> None:
    rows = np.array([[np.nan, 1, 2, 3, 4, 5], [np.inf, 1, 2, 3, 4, 5]])
    _, before = decouple(raw_moments(4)).transform(rows, on_refusal="return")
    values, after = MOMENTS.transform(rows, on_refusal="return")
    assert before == after
    assert np.isnan(values).all()


def test_a_refusal_that_stays_keeps_its_reason_and_tells_both() -> None:
    plan = decouple([*raw_moments(3)], [0, 1, 5], perturb="ramp")
    _, (before,) = decouple([*raw_moments(3)], [0, 1, 5]).normalize(FINE, 3, on_refusal="return")
    values, (outcome,) = plan.normalize(FINE, 3, on_refusal="return")
    assert not outcome.ok and outcome.reason == before.reason
    assert outcome.detail.startswith(before.detail) and "; perturbed: " in outcome.detail
    assert np.isnan(values).all()


def test_a_refused_perturbed_row_keeps_the_levels_that_it_has() -> None:
    plan = decouple(raw_moments(4), [0, 1, 5, 40], perturb="ramp")
    plain, (before,) = decouple(raw_moments(4), [0, 1, 5, 40]).transform(FINE, on_refusal="return")
    values, (outcome,) = plan.transform(FINE, on_refusal="return")
    assert not outcome.ok and not before.ok
    np.testing.assert_array_equal(values, plain)
    assert np.isfinite(values[:3]).all()


def test_gradients_are_those_at_the_perturbed_sample() -> None:
    gradients, (outcome,) = MOMENTS.gradients(TIED, on_refusal="return")
    assert outcome.reason == "perturbed"
    perturbed = ramp_perturbation(np.array(TIED)).values
    np.testing.assert_array_equal(gradients, decouple(raw_moments(4)).gradients(perturbed))


def test_many_digits() -> None:
    values, (outcome,) = MOMENTS.transform([0, 0, 0, 0, 1, 2], dps=30, on_refusal="return")
    assert outcome.reason == "perturbed"
    assert values.residual < mpmath.mpf(10) ** -29


def test_a_step_of_the_users_own() -> None:
    plan = decouple(raw_moments(4), perturb=Perturbation("ramp", step=1e-3))
    values, (outcome,) = plan.transform([5.0] * 8, on_refusal="return")
    assert outcome.reason == "perturbed" and "quantisation step 0.001" in outcome.detail
    moved, _ = plan.perturbation.of(np.full(8, 5.0), (8,), False)
    assert values[:2].tolist() == [5, 0] and 0 < abs(moved - 5).max() < 5e-4


def test_explanations_mention_it() -> None:
    assert "refused samples are tried once more with the ramp perturbation" in str(MOMENTS.explain())
    assert "ramp perturbation" in MOMENTS.explain().html()
    assert "perturb" not in str(decouple(raw_moments(4)).explain())


@pytest.mark.parametrize(("make", "wrong"), [
    *((lambda given=given: Perturbation(*given), wrong) for given, wrong in (
        (("noise",), "perturb='noise'"), (("ramp", 0.0), "step=0.0"), (("ramp", float("nan")), "step=nan"),
        (("ramp", None, -1), "seed=-1"), (("ramp", None, True), "seed=True"), (("ramp", None, 0.5), "seed=0.5"))),
    *((lambda given=given: decouple(raw_moments(4), perturb=given), "perturb=") for given in (True, 3, ["ramp"]))])
def test_what_is_no_perturbation(make, wrong: str) -> None:
    with pytest.raises(InvalidInput, match=wrong):
        make()
