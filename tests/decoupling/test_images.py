"""Nine filter energies of images through a plan: against the narrow path and shifts, and images with empty bands."""

from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple import InvalidInput, Perturbation
from symdecouple.families import second_order_moments, tils
from tests.traced import peak

BANK = tils()
FEATURES = second_order_moments(BANK)
PLAN = sd.decouple(FEATURES)
KERNELS = {"l": np.array([1, 1, 1]) / 3**0.5, "m": np.array([-1, 0, 1]) / 2**0.5, "h": np.array([-1, 2, -1]) / 6**0.5}
HIGH, WIDE = 32, 64
ROWS, COLUMNS = np.indices((HIGH, WIDE))
GREY = np.random.default_rng(0).integers(0, 256, (HIGH, WIDE))


def energies(image: np.ndarray) -> np.ndarray:
    """Mean squares of circular convolutions by shifts."""
    found = []
    for name in BANK.names:
        y = np.asarray(image, dtype=float)
        for axis, letter in enumerate(name):
            y = sum((t * np.roll(y, lag, axis) for lag, t in zip((-1, 0, 1), KERNELS[letter], strict=True)), 0 * y)
        found.append(np.mean(y**2))
    return np.array(found)


def test_narrow_path_and_convex_newton_agree() -> None:
    rng = np.random.default_rng(1)
    smooth = np.cumsum(rng.standard_normal((9, 9)), axis=1)
    images = np.array([rng.exponential(size=(9, 9)) - 1, smooth - smooth.mean()])
    plan, narrow = (sd.decouple(list(FEATURES)[:5], path=path) for path in ("auto", "narrow"))
    np.testing.assert_allclose(plan.transform(images), narrow.transform(images), rtol=1e-9)
    np.testing.assert_allclose(plan.normalize(images), narrow.normalize(images), rtol=0, atol=1e-9)
    found, wanted = plan.gradients(images[0]), narrow.gradients(images[0])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("image", [
    pytest.param(np.random.default_rng(2).standard_normal((33, 47)), id="33x47"),
    pytest.param(GREY.astype(np.uint8), id="uint8"), pytest.param((257 * GREY).astype(np.uint16), id="uint16"),
    pytest.param((ROWS == 3) & (COLUMNS == 5), id="delta"),
    pytest.param(255 * (COLUMNS // 16 % 2 ^ ROWS // 16 % 2), id="square waves both ways")])
def test_images_that_have_all_levels(image: np.ndarray) -> None:
    image = image.astype(int) if image.dtype == bool else image
    values = PLAN.transform(image)
    assert np.isfinite(values).all()
    for level in range(9):
        at = energies(PLAN.normalize(image, level))
        np.testing.assert_allclose(at[:level], 1, rtol=0, atol=1e-10)
        np.testing.assert_allclose(values[level], at[level], rtol=1e-9, atol=1e-12)


def test_a_value_at_the_end_of_its_range_leads_nowhere() -> None:
    """Energy 4 beside energy 1 can be no more than the largest ratio of their squared responses.

    At 16 bits it is that up to rounding: the number does not tell any more which image it came from.
    """
    values = PLAN.transform(257 * GREY)
    padded = np.zeros((2, HIGH, WIDE))
    for band, rows in enumerate("lm"):
        padded[band, :3, :3] = np.outer(KERNELS[rows], KERNELS["l"])
    low, high = np.abs(np.fft.fft2(padded)) ** 2
    assert values[3] == pytest.approx((high / low)[low > 1e-20].max(), rel=1e-12)
    back, (outcome,) = PLAN.denormalize(PLAN.normalize(257 * GREY), values, on_refusal="return")
    assert outcome.reason == "on the boundary of the cone" and "level 4" in outcome.detail and np.isnan(back).all()


EMPTY = {"constant": (np.full((HIGH, WIDE), 7), 2), "checkerboard": ((ROWS + COLUMNS) % 2, 2),
         "square wave": (255 * (COLUMNS // 16 % 2), 4), "ramp": (COLUMNS, 4), "slope": (COLUMNS + 3 * ROWS, 5)}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_bands_are_refused_by_name_and_perturbed(name: str) -> None:
    image, level = EMPTY[name]
    values, (outcome,) = PLAN.transform(image, on_refusal="return")
    assert outcome.reason == ("zero variance" if name == "constant" else "too few active frequencies")
    assert f"level {level}:" in outcome.detail and f"feature {level} " in outcome.detail
    assert 'the spectral perturbation makes every frequency active: decouple(..., perturb="spectral")' in outcome.detail
    assert np.isfinite(values[:level]).all() and np.isnan(values[level:]).all()
    below = PLAN.normalize(image, level - 1)
    np.testing.assert_allclose(energies(below)[: level - 1], 1, rtol=0, atol=1e-10)
    assert np.isnan(PLAN.normalize(image, level, on_refusal="return")[0]).all()
    gradients, (same,) = PLAN.gradients(image, on_refusal="return")
    assert same == outcome and np.isfinite(gradients[:level]).all() and np.isnan(gradients[level:]).all()

    found, (done,) = sd.decouple(FEATURES, perturb="spectral").transform(image, on_refusal="return")
    assert done.ok and done.reason == "perturbed" and "hidden" in done.detail
    np.testing.assert_allclose(found[0], values[0], rtol=0.1)
    assert np.isfinite(found).all()


def test_a_constant_in_floating_point_needs_a_step() -> None:
    flat = np.full((HIGH, WIDE), 0.1)
    _, (outcome,) = sd.decouple(FEATURES, perturb="spectral").transform(flat, on_refusal="return")
    assert not outcome.ok and "give step=" in outcome.detail
    plan = sd.decouple(FEATURES, perturb=Perturbation("spectral", step=2.0**-8))
    values, (outcome,) = plan.transform(flat, on_refusal="return")
    assert outcome.reason == "perturbed" and np.isfinite(values).all()


@pytest.mark.parametrize("shape", [(1, 64), (64, 1), (2, 64)], ids=lambda s: "x".join(map(str, s)))
def test_a_shape_without_a_band_is_told(shape: tuple[int, int]) -> None:
    """[-1, 0, 1] vanishes on one or two samples: no perturbation helps, the feature must go."""
    image = np.random.default_rng(3).standard_normal(shape)
    missing = 4 if shape[0] < 3 else 2
    plan = sd.decouple(FEATURES, perturb=Perturbation("spectral", step=0.01))
    values, (outcome,) = plan.transform(image, on_refusal="return")
    assert not outcome.ok and f"leave feature {missing} out" in outcome.detail
    assert np.isfinite(values[: missing - 1]).all() and abs(values[missing - 1]) < 1e-25
    kept = [h for h, name in zip(BANK, BANK.names, strict=True) if "m" not in name[0 if shape[0] < 3 else 1]]
    if shape == (2, 64):
        assert np.isfinite(sd.decouple(second_order_moments(kept)).transform(image)).all()


@pytest.mark.parametrize("factor", [1e160, 1e-165])
def test_an_energy_beyond_float64_is_refused(factor: float) -> None:
    image = np.random.default_rng(7).standard_normal((16, 16)) * factor
    values, (outcome,) = PLAN.transform(image, on_refusal="return")
    assert outcome.reason == "out of range" and outcome.detail.startswith(FEATURES[0].name)
    assert np.isnan(values[0]) and np.isfinite(values[1:]).all()
    first = PLAN.gradients(image, on_refusal="return")[0][0]
    plain = PLAN.gradients(image / factor)[0]
    np.testing.assert_allclose(first / factor, plain, rtol=0, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize(("image", "axis", "message"), [
    (np.ones(16), None, r"grids of 2 dimensions, got an array of shape \(16,\)"), (3.0, None, "one number"),
    (np.ones((4, 4, 4)), 0, r"axis=0 was given; the filters have 2 dimension"),
    (np.ones((4, 4)), (0, 2), "use -2 to 1"),
    (np.ones((4, 4)) + 1j, None, "complex")], ids=["1-D", "number", "axis", "no axis", "complex"])
def test_what_is_no_image(image: object, axis: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        PLAN.transform(image, axis=axis)


@pytest.mark.slow
def test_a_signal_of_four_million_samples() -> None:
    """The weights are three halves of it once; a call takes up to eight times the input, mostly transforms."""
    signal = np.random.default_rng(11).standard_normal(2**22)
    plan = sd.decouple(second_order_moments(tils(1)))
    values = plan.transform(signal)
    np.testing.assert_allclose(values, 1, rtol=0.01)
    assert peak(lambda: plan.transform(signal)) < 6 * signal.nbytes
    assert peak(lambda: plan.normalize(signal)) < 8 * signal.nbytes
    back = plan.denormalize(plan.normalize(signal), values)
    np.testing.assert_allclose(back, signal, rtol=0, atol=1e-11)
