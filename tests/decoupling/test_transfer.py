"""Transfer of features: what is taken over, what is kept, what is refused."""

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from symdecouple import FeatureSet, InvalidInput, Mean, decouple, x
from symdecouple.decoupling.colour_channels import OPPONENT
from symdecouple.decoupling.transfer import transfer
from symdecouple.families import filter_moments, raw_moments, second_order_moments, standardized_moments, tils


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2.0, size=shape)


@pytest.mark.parametrize("order", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_features_are_those_of_the_target_and_the_kernel_is_kept(order: int) -> None:
    plan = decouple(raw_moments(order))
    source, target = noise(40), np.random.default_rng(1).normal(size=30) ** 3
    done = plan.transfer(source, target)
    there, wanted = (plan.transform(sample, dps=20).astype(float) for sample in (done.values, target))
    assert there == pytest.approx(wanted, rel=1e-12)  # in digits to spare: float64 tells each to 1e-9 only
    assert plan.normalize(done.values, order) == pytest.approx(plan.normalize(source, order), abs=1e-10)
    assert done.feature_gap.max() < 1e-10 and done.kernel_gap < 1e-10


def test_batches_and_one_target_for_all() -> None:
    plan = decouple(raw_moments(3))
    sources, targets = noise(4, 60), noise(4, 30, seed=2)
    each = plan.transfer(sources, targets)
    for k in range(4):
        assert each.values[k] == pytest.approx(plan.transfer(sources[k], targets[k]).values, rel=1e-12)
    assert plan.transfer(sources, targets[0]).wanted.shape == (4, 3)
    with pytest.raises(InvalidInput, match="one target, or one each"):
        plan.transfer(sources, targets[:3])


def test_colours_in_both_spaces() -> None:
    plan = decouple(standardized_moments(2))
    source, target = noise(6, 5, 3), noise(4, 4, 3, seed=3) + 2
    flat = plan.transfer(source.reshape(-1, 3), target.reshape(-1, 3), channel_axis=-1)
    for c in range(3):
        by_hand = plan.transfer(source[..., c].ravel(), target[..., c].ravel()).values
        assert flat.values[:, c] == pytest.approx(by_hand, rel=1e-13)
    opponent = plan.transfer(source.reshape(-1, 3), target.reshape(-1, 3), channel_axis=-1, colour="opponent")
    rotated, wanted = opponent.values @ OPPONENT.T, target.reshape(-1, 3) @ OPPONENT.T
    assert rotated.mean(axis=0) == pytest.approx(wanted.mean(axis=0), rel=1e-12, abs=1e-13)
    assert rotated.std(axis=0) == pytest.approx(wanted.std(axis=0), rel=1e-12)
    assert pytest.approx(np.eye(3), abs=1e-15) == OPPONENT @ OPPONENT.T


@pytest.mark.parametrize("arguments, match", [
    ({"colour": "lab"}, "one of 'channels', 'opponent'"),
    ({"colour": "opponent"}, "needs channel_axis"),
    ({"channel_axis": 0, "axis": (0, 1)}, "names the axis of channels"),
    ({"on_refusal": "ignore"}, "one of 'warn', 'raise', 'return'"),
    ({"progress": "bar"}, "True, for a bar"),
    ({"channel_axis": 5}, "channels along axis 5"),
    ({"channel_axis": 0, "colour": "opponent"}, "three channels"),
    ({"channel_axis": "rgb"}, "number of an axis"),
    ({"channel_axis": 0, "axis": 5}, r"array of shape \(2, 9\)"),
], ids=["space", "no channels", "axis", "refusal", "progress", "no such axis", "two channels", "words",
        "no such sample axis"])
def test_arguments_that_do_not_fit(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        transfer(decouple(raw_moments(2)), noise(2, 9), noise(2, 9), **arguments)


def test_values_within_a_range_are_counted() -> None:
    done = decouple(raw_moments(2)).transfer([0.0, 1, 2, 3], [0.0, 255.0])
    limited, outside = done.within(0, 255)
    assert outside == int(((done.values < 0) | (done.values > 255)).sum()) > 0
    assert limited.min() >= 0 and limited.max() <= 255
    with pytest.raises(InvalidInput, match="low < high"):
        done.within(1, 1)


ROWS = np.array([[0.0, 1, 2], [0, 1, 2]]), np.array([[0.0, 1, 2], [100, 101, 102]])
MEAN_AND_VARIANCE = decouple(raw_moments(2))


@pytest.mark.parametrize("axis, by_rows", [("last", False), (None, False), ((0, 1), False), (1, True), (-2, True)])
def test_a_channel_is_one_sample_unless_axes_are_named(axis: Any, by_rows: bool) -> None:
    source, target = (np.stack([rows] * 3, axis=-1) for rows in ROWS)
    done = MEAN_AND_VARIANCE.transfer(source, target, channel_axis=-1, axis=axis)
    spread = np.sqrt(2500 + 2 / 3) / np.sqrt(2 / 3)  # standard deviations of the two, by hand
    wanted = ROWS[1] if by_rows else 51 + spread * (ROWS[0] - 1)
    np.testing.assert_allclose(done.values, np.stack([wanted] * 3, axis=-1), rtol=1e-12, atol=1e-12)


def test_one_colour_image_for_a_batch_of_them() -> None:
    sources, target = noise(2, 4, 5, 3), noise(3, 6, 3, seed=1)
    done = MEAN_AND_VARIANCE.transfer(sources, target, channel_axis=-1, axis=(-3, -2))
    for source, values in zip(sources, done.values, strict=True):
        alone = MEAN_AND_VARIANCE.transfer(source, target, channel_axis=-1)
        np.testing.assert_allclose(values, alone.values, rtol=1e-12)
    assert done.kernel_gap.shape == (3, 2)


def test_none_is_the_whole_array() -> None:
    image = noise(3, 4)
    for name in ("transform", "normalize", "gradients"):
        method = getattr(MEAN_AND_VARIANCE, name)
        found, flat = method(image, axis=None), method(image.ravel())
        np.testing.assert_array_equal(found.reshape(flat.shape), flat)
    done = MEAN_AND_VARIANCE.denormalize(MEAN_AND_VARIANCE.normalize(image, axis=None), [5.0, 2.0], axis=None)
    assert done.shape == (3, 4) and done.mean() == pytest.approx(5) and done.var() == pytest.approx(2)
    whole = MEAN_AND_VARIANCE.transfer(image, noise(5, seed=1), axis=None)
    assert whole.kernel_gap.shape == () and whole.values.shape == (3, 4)


def test_filters_of_one_dimension_ask_which_axis_of_a_channel() -> None:
    plan = decouple(FeatureSet([Mean(x), *second_order_moments(tils(1))]))
    with pytest.raises(InvalidInput, match=r"a channel has 2 axes.*axis=\(1,\) for instance"):
        plan.transfer(noise(4, 9, 3), noise(4, 9, 3), channel_axis=2)
    done = plan.transfer(noise(4, 9, 3), noise(4, 9, 3, seed=1), channel_axis=2, axis=(1,))
    assert done.values.shape == (4, 9, 3) and done.kernel_gap.shape == (3, 4)


def test_progress_counts_the_five_steps() -> None:
    told: list[tuple[int, int]] = []
    MEAN_AND_VARIANCE.transfer(noise(2, 9), noise(9), progress=lambda *n: told.append(n))
    assert told == [(2 * k, 10) for k in range(1, 6)]


# --- signals and images ---


def texture(size: int, seed: int, width: float) -> np.ndarray:
    """Smooth noise, skewed, with mean 0 and variance 1."""
    noise_ = gaussian_filter(np.random.default_rng(seed).normal(size=(size, size)), width, mode="wrap")
    skewed = np.exp(0.4 * (noise_ - noise_.mean()) / noise_.std())
    return np.asarray((skewed - skewed.mean()) / skewed.std())


BANK, BANDS = second_order_moments(tils()), second_order_moments(tils(low=False))
IMAGES = {
    "energies": [Mean(x), *BANK],
    "variance and energies": [Mean(x), Mean(x**2), *BANDS],
    "energies and moments": [Mean(x), *BANK, Mean(x**3), Mean(x**4)],
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_take_over_features_and_keep_their_kernel(name: str) -> None:
    plan = decouple(FeatureSet(IMAGES[name]))
    source, target = texture(24, 1, 0.6), 1.1 * texture(20, 2, 0.8) + 0.1
    done = plan.transfer(source, target)
    assert plan.transform(done.values) == pytest.approx(plan.transform(target), rel=1e-10, abs=1e-10)
    kernels = [plan.normalize(image, len(plan.features)) for image in (done.values, source)]
    assert kernels[0] == pytest.approx(kernels[1], abs=1e-10)
    if name == "energies":  # energies of the target itself at the last level: by the definition of a band
        at = plan.normalize(done.values, 9)
        assert (tils().apply(at)[:8] ** 2).mean(axis=(1, 2)) == pytest.approx(np.ones(8), rel=1e-12)


@pytest.mark.parametrize("orders", [(2, 3), pytest.param((2, 3, 4), marks=pytest.mark.slow)], ids=str)
def test_features_along_the_narrow_path_are_met_as_well(orders: tuple[int, ...]) -> None:
    """Their values alone are known to 1e-9: a transfer measures them in the steps of normalization."""
    plan = decouple(filter_moments(tils(), list(orders)))
    source, target = ((each - each.mean()) / each.std() for each in (texture(16, 1, 0.6), texture(16, 2, 0.7)))
    done = plan.transfer(source, target)
    assert done.feature_gap.max() < 1e-12 and done.kernel_gap < 1e-11


def test_white_noise_is_a_reference_for_units_of_hundreds() -> None:
    """Bands that the levels in between press to nothing come back: no signal is made of them."""
    plan = decouple(FeatureSet(IMAGES["energies"]))
    source, target = 60 + 40 * texture(24, 1, 0.6), 60 + 40 * texture(24, 2, 0.8)
    done = plan.transfer(source, target)
    assert done.feature_gap.max() < 1e-12 and done.kernel_gap < 1e-12
    ratio = np.fft.rfft2(done.values) / np.fft.rfft2(source)  # phases are kept, and gains are combinations of bands
    assert np.abs(np.angle(ratio[np.abs(np.fft.rfft2(source)) > 1])).max() < 1e-9
    white = np.zeros((24, 24))
    white[0, 0] = 1
    squared = np.abs(np.fft.rfft2(tils().apply(white))) ** 2
    columns = squared.reshape(9, -1)[:, 1:]
    logs = np.log(np.abs(ratio)).ravel()[1:]
    fit = np.linalg.lstsq(columns.T, logs, rcond=None)[0] @ columns
    np.testing.assert_allclose(fit, logs, atol=1e-9)


def test_a_target_that_lacks_a_level_costs_its_own_sources_only() -> None:
    plan = decouple(raw_moments(4))
    sources = np.random.default_rng(0).normal(size=(2, 8))
    targets = [[0.0, 0, 0, 0, 0, 0, 0, 1], [1, 2, 3, 5, 8, 13, 21, 40]]
    found, outcomes = plan.transfer(sources, targets, on_refusal="return")
    assert [o.reason for o in outcomes] == ["two-valued", ""] and outcomes[0].detail.startswith("the target: ")
    assert np.isnan(found.values[0]).all()
    np.testing.assert_allclose(plan.transform(found.values[1]), plan.transform(targets[1]), rtol=1e-8)
    _, outcomes = plan.transfer(sources, targets[0], on_refusal="return")  # one target for all
    assert [o.reason for o in outcomes] == ["two-valued", "two-valued"]
