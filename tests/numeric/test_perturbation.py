"""Perturbations: distinct values, active frequencies, the least change, and nothing that rounding shows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.optimize import minimize

from symdecouple.errors import InvalidInput, Refused
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.perturbation import (
    Perturbed,
    both_perturbations,
    quantisation_step,
    ramp_perturbation,
    spectral_perturbation,
)
from tests.numeric.energies.energy_banks import kernels, pictures, responses

RNG = np.random.default_rng(9)
ARRAYS = {
    "row": RNG.integers(0, 3, 50),
    "image": RNG.integers(0, 256, (33, 47)).astype(np.uint8),
    "volume": RNG.integers(-2, 3, (5, 6, 7)),
    "one row of pixels": RNG.integers(0, 65536, (1, 40)).astype(np.uint16),
    "constant": np.full((8, 9), 3),
    "floats": RNG.integers(0, 2**16, (16, 16)) / 65535,
}
by_array = pytest.mark.parametrize("name", list(ARRAYS))


@by_array
@pytest.mark.parametrize("perturbed", [ramp_perturbation, both_perturbations], ids=["ramp", "both"])
def test_all_values_are_distinct_and_keep_their_order(name: str, perturbed: object) -> None:
    given = ARRAYS[name]
    found = perturbed(given, seed=3)  # type: ignore[operator]
    flat, before = found.values.ravel(), given.ravel().astype(float)
    assert len(set(flat.tolist())) == flat.size
    order = np.argsort(flat)
    assert (np.diff(before[order]) >= 0).all()
    assert np.abs(found.values - given).max() == found.size < found.step / 2
    assert found.hidden
    np.testing.assert_array_equal(np.rint((found.values - given) / found.step), 0)
    np.testing.assert_array_equal(perturbed(given, seed=3).values, found.values)  # type: ignore[operator]
    if given.ndim > 1 and given.shape[0] > 1:  # a row has no slope to choose
        assert (perturbed(given, seed=4).values != found.values).any()  # type: ignore[operator]


@pytest.mark.parametrize("sample", [
    [0] * 6 + [1, 2, 3], [0] * 8, [1, 2, 2, 2, 3, 9], np.arange(12).reshape(3, 4) // 3,
    np.sort(RNG.poisson(0.5, 101)), np.sort(RNG.integers(0, 4, 1000))[::-1],
], ids=lambda sample: f"{np.size(sample)} values")
def test_the_ramp_has_all_levels_and_does_not_follow_the_values(sample: Any) -> None:
    """N equidistant levels with mean 0; those that rise with a sorted signal would have a covariance of 1/4 or more."""
    signal = np.array(sample)
    size, changes = signal.size, []
    for seed in range(8):
        change = (ramp_perturbation(signal, seed=seed).values - signal).ravel()
        np.testing.assert_allclose(np.sort(change) * size, np.arange(size) - (size - 1) / 2, atol=1e-10)
        changes.append(change)
        largest = np.diff(np.sort(signal.ravel())).max(initial=0)
        assert abs(np.mean(change * (signal.ravel() - signal.mean()))) <= largest / size
    assert len({tuple(change) for change in changes}) > 1


def test_levels_too_fine_for_float64() -> None:
    with pytest.raises(Refused, match="too fine for float64"):
        ramp_perturbation(np.full(100, 2**52), step=1.0)


# --- frequencies ---


@pytest.mark.parametrize("shape", [(9,), (10,), (6, 8), (5, 7), (3, 4, 5), (1, 6)], ids=str)
def test_every_frequency_is_active_and_the_signal_stays_real(shape: tuple[int, ...]) -> None:
    signal = np.round(3 * RNG.normal(size=shape))
    whole = np.fft.fftn(signal)
    threshold = 1.01 * float(np.median(np.abs(whole)))
    found = spectral_perturbation(signal, threshold, seed=2)
    after = np.fft.fftn(found.values)
    assert (np.abs(after) >= threshold * (1 - 1e-12)).all()
    small = np.abs(whole) < threshold
    np.testing.assert_allclose(after[~small], whole[~small], atol=1e-12)
    np.testing.assert_allclose(np.abs(after[small]), threshold, rtol=1e-12)
    known = small & (np.abs(whole) > 1e-9)
    np.testing.assert_allclose(np.angle(after[known] / whole[known]), 0, atol=1e-9)


def test_no_smaller_change_does_it() -> None:
    """SciPy's constrained minimizer, started elsewhere, ends at the same change."""
    signal = np.array([1.0, 2, 0.5, 1, 3, 1])
    threshold = 2.5
    found = spectral_perturbation(signal, threshold)

    def margin(change: np.ndarray) -> np.ndarray:
        return np.abs(np.fft.rfft(signal + change)) ** 2 - threshold**2

    best = min(
        (minimize(lambda e: e @ e, start, constraints={"type": "ineq", "fun": margin}, method="SLSQP",
                  options={"ftol": 1e-14, "maxiter": 500}) for start in RNG.normal(size=(20, 6))),
        key=lambda m: m.fun if (margin(m.x) > -1e-6).all() else np.inf,
    )
    np.testing.assert_allclose(found.values - signal, best.x, atol=1e-5)


def test_support_alone_is_lifted() -> None:
    signal = np.full((6, 8), 5)
    support = np.zeros((6, 5), dtype=bool)
    support[1:3, 1:3] = True
    after = np.fft.rfft2(spectral_perturbation(signal, 0.5, support=support).values)
    np.testing.assert_allclose(np.abs(after[support]), 0.5, rtol=1e-12)
    off = after[~support]
    assert off[0] == pytest.approx(240)
    np.testing.assert_allclose(off[1:], 0, atol=1e-13)


@by_array
def test_the_threshold_is_the_largest_that_is_hidden(name: str) -> None:
    given = ARRAYS[name]
    found = spectral_perturbation(given, seed=1)
    assert found.hidden
    assert found.threshold > 0
    step = found.step
    offset = given.ravel()[0]
    np.testing.assert_allclose(np.rint((found.values - offset) / step) * step + offset, given, atol=1e-9 * step)
    more = spectral_perturbation(given, found.threshold * (1 + 1e-5), step=step, seed=1)
    assert more.size >= step / 2 > found.size
    assert (np.abs(np.fft.fftn(found.values)) >= found.threshold * (1 - 1e-9)).all()


@pytest.mark.parametrize("name", list(pictures(16)))
def test_after_it_every_level_exists(name: str) -> None:
    """What the refusals of `energies` promise."""
    energies = Energies(Bands(responses(kernels(), (16, 16)), (16, 16)))
    for perturbed in (spectral_perturbation, both_perturbations):
        found = perturbed(pictures(16)[name], step=1 / 255)
        row = found.values.reshape(1, -1)
        level = energies.normalize(row, np.ones(9))
        assert not level.refusals
        np.testing.assert_allclose(energies.values(level.values), 1, rtol=1e-11)
        assert not energies.decouple(row, np.ones(9)).refusals


# --- steps ---


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.1, 1 / 255, 1 / 65535, 2.0**-12, 3e7]),
       st.sampled_from([0.0, 1.0, -1000 / 3]), st.integers(2, 200))
@example(seed=3, step=1 / 65535, offset=-1000 / 3, count=3)  # 469 and 3160 steps: Euclid's algorithm in floats is lost
@settings(max_examples=80, deadline=None)
def test_steps_are_found(seed: int, step: float, offset: float, count: int) -> None:
    """The greatest common divisor of the differences, by integers."""
    levels = np.random.default_rng(seed).integers(0, 5000, count)
    if len(set(levels.tolist())) < 2:
        return
    divisor = int(np.gcd.reduce(levels - levels[0]))
    assert quantisation_step(offset + levels * step) == pytest.approx(divisor * step, rel=1e-8)


def test_float32_has_a_step_of_its_own() -> None:
    image = (RNG.integers(0, 256, (20, 20)) / 255).astype(np.float32)
    assert quantisation_step(image) == pytest.approx(1 / 255, rel=1e-5)


def test_steps_at_the_ends_of_float64() -> None:
    """Whole numbers have the step 1, wherever they are; beyond float64 there is no ramp, and nothing warns."""
    assert quantisation_step([2**60 + 1, 2**60 + 2]) == quantisation_step([[True, False], [False, False]]) == 1
    assert quantisation_step([Fraction(1, 3), Fraction(2, 3), Fraction(5, 3)]) == pytest.approx(1 / 3, rel=1e-15)
    with np.errstate(all="raise"):
        assert quantisation_step([5e-324, 1e-323, 0]) == 5e-324
        for values, said in (([-1.7e308, 1.7e308], "no common step"), ([-1.7e308, 1.7e308, 0.0], "beyond float64")):
            with pytest.raises(Refused, match=said):
                ramp_perturbation(values)


@pytest.mark.parametrize("samples", [RNG.normal(size=100), np.full(5, 0.3), RNG.random(10)], ids=["noise", "constant",
                                                                                                "few"])
def test_no_step(samples: np.ndarray) -> None:
    with pytest.raises(Refused, match="give step=") as error:
        quantisation_step(samples)
    assert error.value.outcomes[0].reason == "no quantisation step"


@pytest.mark.parametrize(
    ("samples", "options", "said"),
    [
        ([1.0, np.nan], {}, "nan or infinite"),
        ([], {}, "one signal"),
        ([1j, 2], {}, "real numbers"),
        (np.ma.masked_array([1.0, 2, 5], [0, 1, 0]), {}, "masked entries"),
        ([[1, 2], [3]], {}, "rectangular"),
        ([2**60, 2**60 + 1, 2**60 + 5], {"step": 1.0}, "one number of float64"),
        ([Fraction(10**17 + k, 10) for k in (1, 2, 9)], {"step": 0.1}, "one number of float64"),
        ([10**400, 1], {"step": 1.0}, "beyond float64"),
        ([1, 2], {"step": 0}, "positive"),
        ([1, 2], {"step": np.nan}, "positive"),
        ([1, 2], {"threshold": -1.0}, "positive"),
        ([1, 2], {"support": [True]}, "bool"),
        ([1, 2], {"support": [False, False]}, "no frequency"),
    ],
    ids=["nan", "empty", "complex", "masked", "ragged", "large integers", "fractions", "beyond", "zero step",
         "nan step", "threshold", "support", "no support"],
)
def test_calls_that_make_no_sense(samples: list[float], options: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        spectral_perturbation(samples, **options)  # type: ignore[arg-type]


def test_text() -> None:
    assert str(ramp_perturbation(np.array([1, 1, 2, 2]))) == (
        "ramp perturbation of size 0.375, seed 0, quantisation step 1, hidden by it")


@pytest.mark.parametrize("made", [spectral_perturbation, both_perturbations])
@pytest.mark.parametrize("values", [[0.0, 0, 0, 1, 5], [0.0] * 5], ids=["tied", "constant"])
def test_units_do_not_count_until_float64_ends(made: Callable[..., Perturbed], values: list[float]) -> None:
    """The threshold is found by bisection between numbers whose product would underflow."""
    sample = np.array(values)
    expected = made(sample, step=1.0)
    for unit in (2.0**-700, 2.0**-500, 2.0**600):
        found = made(sample * unit, step=unit)
        assert found.hidden and abs(found.threshold / unit / expected.threshold - 1) < 1e-5
    for unit in (5e-324, 1e-300, 1e306):
        with pytest.raises(Refused, match=r"take other units|too fine"):
            made(sample * unit, step=unit)
