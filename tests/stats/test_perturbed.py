"""Refused samples tried once more with a perturbation: the option `perturb` of `decoupled_moments`."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdecouple import InvalidInput, Perturbation, PerturbedWarning, RefusalWarning, decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.perturbation import both_perturbations, ramp_perturbation, spectral_perturbation
from symdecouple.stats import decoupled_moments

TIED = np.repeat([0, 1, 5, 9], [14, 3, 2, 1])  # most at one end: no zero skewness
FINE = np.arange(20) ** 2
ROWS = np.vstack([TIED, FINE])


def on_return(*arguments: Any, **options: Any) -> Any:
    return decoupled_moments(*arguments, on_refusal="return", **options)


@pytest.mark.parametrize("order", [4, 6])
def test_orders_that_a_sample_has_stay_its_own(order: int) -> None:
    plain, (before, fine) = on_return(ROWS, order, axis=1)
    values, (after, same) = on_return(ROWS, order, axis=1, perturb="ramp")
    assert (before.ok, after.ok, after.reason, fine, same) == (False, True, "perturbed", same, fine)
    np.testing.assert_array_equal(values[:, :3], plain[:, :3])
    np.testing.assert_array_equal(values[1], plain[1])
    np.testing.assert_array_equal(values[0, 3:], decoupled_moments(ramp_perturbation(TIED).values, order)[3:])
    assert f"without it: {before.reason}" in after.detail and "quantisation step 1, hidden by it" in after.detail


@pytest.mark.parametrize(("perturb", "made"), [
    ("ramp", ramp_perturbation), ("spectral", spectral_perturbation), ("ramp and spectral", both_perturbations)])
def test_kinds(perturb: Any, made: Any) -> None:
    values = on_return(TIED, 4, perturb=perturb)[0]
    np.testing.assert_array_equal(values[3], decoupled_moments(made(TIED).values, 4)[3])


@pytest.mark.parametrize("kind", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("perturb", ["ramp", Perturbation("ramp", step=0.25, seed=2)])
def test_plans_give_the_same(perturb: Any, kind: str) -> None:
    rows = ROWS.astype(np.uint8).astype(kind)
    values, outcomes = on_return(rows, 5, axis=1, perturb=perturb)
    expected, said = decouple(raw_moments(5), perturb=perturb).transform(rows, on_refusal="return")
    np.testing.assert_allclose(values, expected, rtol=1e-6 if kind == "float32" else 1e-12)
    assert outcomes[0].reason == said[0].reason == "perturbed"
    assert outcomes[0].detail.split(" size ")[0] == said[0].detail.split(" size ")[0]


def test_tenths_in_float32_are_seen_as_tenths() -> None:
    """In float64 the same numbers have no common step above 1e-8."""
    outcome = on_return((TIED / 10).astype(np.float32), 4, perturb="ramp")[1][0]
    assert "quantisation step 0.1, hidden" in outcome.detail


def test_a_batch_of_any_shape() -> None:
    alone = on_return(TIED, 4, perturb="ramp")[0]
    cube = np.stack([ROWS.reshape(2, 4, 5)] * 3)
    values = on_return(cube, 4, axis=(2, 3), perturb="ramp")[0]
    assert values.shape == (3, 2, 4)
    np.testing.assert_array_equal(values[:, 0], np.tile(alone, (3, 1)))
    np.testing.assert_array_equal(on_return(ROWS.T, 4, axis=0, perturb="ramp")[0][0], alone)
    assert on_return(cube, 4, axis=(2, 3), keepdims=True, perturb="ramp")[0].shape == (3, 2, 1, 1, 4)


@pytest.mark.parametrize("given", [
    np.append(TIED.astype(float), [np.nan, np.nan]), np.ma.masked_array(np.append(TIED, 7), [0] * 20 + [1]),
    [Fraction(int(v)) for v in TIED], TIED.astype(object), TIED.astype(np.int64) + 2**60],
    ids=["nan", "masked", "fractions", "objects", "large"])
def test_what_counts_of_a_sample_is_perturbed(given: Any) -> None:
    values, outcomes = on_return(given, 4, nan_policy="omit", perturb=Perturbation("ramp", step=1.0))
    np.testing.assert_allclose(values[1:], on_return(TIED, 4, perturb="ramp")[0][1:], rtol=1e-12)
    assert outcomes[0].reason == "perturbed"


@pytest.mark.parametrize(("given", "reason"), [
    ([np.nan, 1, 2, 3], "nan in the input"), ([np.inf, 1, 2, 3], "infinite value"), ([3.0], "one sample"),
    ([2.0, 2, 2, 2, 2, 2], "zero variance"), (TIED * np.pi * 1e6 + np.exp(np.arange(20) % 2), "")])
def test_what_cannot_be_perturbed_keeps_its_reason(given: Any, reason: str) -> None:
    before, after = on_return(given, 4)[1][0], on_return(given, 4, perturb="ramp")[1][0]
    assert after.ok == before.ok and after.reason == before.reason == reason
    if reason == "zero variance":
        assert "perturbed: no perturbation" in after.detail and "step=" in after.detail


def test_constant_whole_numbers_have_a_step() -> None:
    values, (outcome,) = on_return([5] * 9, 4, perturb="ramp")
    assert outcome.reason == "perturbed" and values[:2].tolist() == [5, 0] and np.isfinite(values).all()


def test_a_range_that_float_lacks_is_said_beside() -> None:
    values, (outcome,) = on_return(TIED * 1e-180, 4, perturb=Perturbation("ramp", step=1e-180))
    assert outcome.reason == "out of range" and np.isnan(values[1]) and np.isfinite(values[[0, 2, 3]]).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["ramp", "spectral", "ramp and spectral"])
@pytest.mark.parametrize("scale", [1, 1e-150, 1e-290, 1e-300, 3e-310, 1e300, 5e307])
@pytest.mark.parametrize("tied", [[0] * 6 + [1, 2, 3], [0] * 4 + [1], [-1.5] * 6 + [1.5] * 2 + [1]])
def test_at_the_ends_of_float_plans_give_the_same(kind: Any, scale: float, tied: list[float]) -> None:
    """The variance alone is lost there, and a ramp gives the fourth order, which feels no unit."""
    row = np.array(tied) * scale
    values, (outcome,) = on_return(row, 4, perturb=kind)
    found, (told,) = decouple(raw_moments(4), perturb=kind).transform(row, on_refusal="return")
    np.testing.assert_allclose(found, values, rtol=1e-12, equal_nan=True)
    assert (told.ok, told.reason) == (outcome.ok, outcome.reason)
    if kind == "ramp" and scale != 3e-310:  # there the sample itself is rounded
        assert values[3] == pytest.approx(on_return(tied, 4, perturb=kind)[0][3], rel=1e-12)
        assert np.isnan(values[1]) == (scale not in (1, 1e-150))


def test_warnings_tell_of_both() -> None:
    rows = np.vstack([ROWS, np.full(20, np.pi)])
    with pytest.warns(PerturbedWarning, match="decoupled_moments: 1 of 3 samples perturbed, at 0") as caught, \
            pytest.warns(RefusalWarning, match="1 of 3 samples refused, at 2"):
        decoupled_moments(rows, 4, axis=1, perturb="ramp")
    assert all(w.filename == __file__ for w in caught)


@pytest.mark.parametrize(("options", "said"), [
    ({"perturb": "noise"}, "perturb='noise'"), ({"perturb": True}, "perturb=True"),
    ({"perturb": "ramp", "weights": np.ones(20)}, "perturb= is for samples without weights")])
def test_what_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        decoupled_moments(TIED, 4, **options)


def test_patches_of_eight_bits() -> None:
    """Clipped noise: a tenth of the values are 0 or 255, and ties everywhere; all patches have an answer."""
    noise = np.random.default_rng(5).normal(20, 18, size=(24, 64))
    patches = np.clip(np.rint(noise), 0, 255).astype(np.uint8)
    patches[:6, :40] = 0
    before, after = (on_return(patches, 4, axis=1, **o) for o in ({}, {"perturb": "ramp"}))
    refused = [i for i, outcome in enumerate(before[1]) if not outcome.ok]
    assert refused == list(range(6))
    assert all(outcome.ok for outcome in after[1]) and np.isfinite(after[0]).all()


# --- samples that float64 alone cannot answer ---

CROWDED = [102, 102, 99, 106, 98, 93, 104, 109, 95, 100, 97, 98, 100, 94, 99, 93, 97, 94, 95, 92, 106, 102, 91, 97, 97,
           97, 93, 104, 98, 102, 103, 107, 91, 109, 106, 103, 112, 101, 104, 96, 106, 101, 98, 110, 99, 100, 99, 96,
           103, 104]  # rounding would grow by 1e10 up to the seventh moment
IN_MANY_DIGITS = 91.994661652  # its eighth, perturbed by the ramp: the path of the plan with dps=16, see below


def test_rounding_does_not_count_beside_a_perturbation() -> None:
    before = on_return(CROWDED, 8)[1][0]
    values, (outcome,) = on_return(CROWDED, 8, perturb="ramp")
    assert before.reason == "beyond float64" and outcome.reason == "perturbed"
    assert abs(values[7] - IN_MANY_DIGITS) < 1e-4  # 1e10 roundings are 1e-6; of other perturbations, it is 0.3 away
    low, high = map(float, outcome.detail.rsplit("feature 8 is ", 1)[1].split(" to "))
    assert low - 1e-3 <= values[7] <= high + 1e-3 and 0.1 < high - low < 2
    plan = decouple(raw_moments(8), perturb="ramp")
    assert abs(plan.transform(CROWDED, on_refusal="return")[0][7] - IN_MANY_DIGITS) < 1e-4


def test_rounding_counts_beside_a_change_that_is_no_larger_than_it_gets() -> None:
    """A change of a deviation over 1e10 is no more than the errors of a path."""
    outcome = on_return(CROWDED, 8, perturb=Perturbation("ramp", step=1e-9))[1][0]
    assert outcome.reason == "beyond float64" and "; perturbed: beyond float64, " in outcome.detail


@pytest.mark.slow
def test_the_number_in_many_digits() -> None:
    found = decouple(raw_moments(8)).transform(ramp_perturbation(CROWDED).values, dps=16)
    assert abs(float(found[7]) - IN_MANY_DIGITS) < 1e-8
