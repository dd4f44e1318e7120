"""The kernel, compiled or as Python runs it, against sums by their definition, the search in NumPy, and mpmath."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from symdecouple.numeric.energies import problems as energy_problems, tilting_kernel
from symdecouple.numeric.energies.eigenvalues import Columns, Lines
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.gradients import DecoupledEnergies
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.tilting import tilt
from symdecouple.numeric.kernels import compile as jit
from tests.numeric.energies.energy_banks import kernels, responses
from tests.numeric.energies.test_tilting import FAR, WIDE, far_apart, wide_apart

needs_numba = pytest.mark.skipif(not jit.is_available(), reason="numba is not installed")
SIGNAL = [np.array([1.0, 1, 1]), np.array([1.0, 0, -1]), np.array([1.0, -2, 1])]


@pytest.fixture(params=["as Python", pytest.param("compiled", marks=needs_numba)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled" and not tilting_kernel.KERNELS.are_warm():
        tilting_kernel.warm()  # leaves the mark: no other process compiles again, and no later run
    if request.param == "as Python":
        monkeypatch.setattr(tilting_kernel, "_kernel", lambda: tilting_kernel.levels_solved)
    return str(request.param)


def by_both(monkeypatch: pytest.MonkeyPatch, function: Callable[[], DecoupledEnergies]) -> list[DecoupledEnergies]:
    """In NumPy, and by the kernel, which says nothing where numbers overflow."""
    found = []
    for answer in (False, True):
        monkeypatch.setattr(energy_problems, "answers", lambda bands, answer=answer: answer)
        with np.errstate(all="ignore"):
            found.append(function())
    return found


def steep(shape: tuple[int, ...], orders: float) -> np.ndarray:
    """Noise whose amplitudes span so many orders of magnitude, smoothly."""
    waves = [np.cos(2 * np.pi * np.fft.fftfreq(n)) for n in shape[:-1]]
    waves.append(np.cos(2 * np.pi * np.fft.rfftfreq(shape[-1])))
    gain = sum(np.ix_(*waves))
    gain = np.exp(orders * np.log(10) * gain / np.ptp(gain))
    noise = np.random.default_rng(3).normal(size=shape)
    picture = np.fft.irfftn(np.fft.rfftn(noise) * gain, s=shape, axes=tuple(range(len(shape))))
    return np.asarray(picture / picture.std()).reshape(1, -1)


def test_exponentials_against_mpmath() -> None:
    x = np.concatenate([-np.logspace(-17, np.log10(707), 150), [0.0, 3.0, 299.0, 708.0, -708.0]])
    line, floats = x.copy(), np.empty(len(x))
    tilting_kernel._tilt(line, np.full(len(x), 0.75), floats.view(np.int64), floats)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(0.75) * mpmath.exp(mpmath.mpf(float(t))) for t in x]
        apart = [abs(mpmath.mpf(float(a)) / b - 1) for a, b in zip(line, exact, strict=True)]
    assert max(apart) < 3 * 2.0**-52


@pytest.mark.parametrize("ranks", [(6, 2), (2, 3), (3, 3), (1, 7), None], ids=str)
@pytest.mark.parametrize("size", [0.1, 9.0, 400.0, 3000.0])
def test_sums_are_those_of_their_definition(ranks: tuple[int, int] | None, size: float,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Banks of products of lines, few and many, and one without such a form; exponents with and without a unit."""
    rng, shape = np.random.default_rng(5), (5, 4)
    bank = rng.random((4, *shape))
    if ranks:
        outer, inner = (rng.random((count, length)) for count, length in zip(ranks, shape, strict=True))
        bank = np.array([3 * np.outer(a, b) for a in outer for b in inner])
    bands = Columns(Lines.of_sheets(bank) or bank, shape)
    m = len(bands)
    power, a, out = rng.random(bands.count), 3 * rng.normal(size=m), np.empty(2 + m + m * m)
    power[::3] = 0
    a *= size / np.abs(a @ bands.columns).max()
    monkeypatch.setattr(tilting_kernel, "_BLOCK", 8)
    search = tilting_kernel._search(bands.tables, power[None], 0.0)
    tilting_kernel._sums(a, power, search, out)
    along = a @ bands.columns
    tilted = power * np.exp(np.where(power > 0, along - out[0], 0))
    assert out[0] == (pytest.approx(along[power > 0].max(), rel=1e-13) if size > 300 else 0)
    np.testing.assert_allclose(out[1], tilted.sum(), rtol=1e-12)
    np.testing.assert_allclose(out[2 : 2 + m], bands.columns @ tilted, rtol=1e-12)
    np.testing.assert_allclose(out[2 + m :].reshape(m, m), (bands.columns * tilted) @ bands.columns.T, rtol=1e-12)
    longest = np.abs(along[power > 0]).max()
    monkeypatch.setattr(tilting_kernel, "_NEAR", 0.0)
    assert tilting_kernel._reach(a, power, search) == pytest.approx(longest, rel=1e-13)
    monkeypatch.setattr(tilting_kernel, "_NEAR", 1e9)
    assert tilting_kernel._reach(a, power, search) >= longest


BANKS = {"separable": ((160, 150), kernels()[:6]), "small": ((64, 64), kernels()), "signal": ((120,), SIGNAL),
         "not separable": ((20, 21), [*kernels()[:4], kernels()[4] + 0.5 * kernels()[0]]), "short": ((40,), SIGNAL),
         "volume": ((6, 5, 8), [kernel[None] for kernel in kernels()[:6]])}


@pytest.mark.parametrize(("kind", "is_smooth", "way"), [("short", False, "as Python"), ("signal", True, "as Python"), *(
    pytest.param(kind, n % 2 == 0, "compiled", marks=needs_numba) for n, kind in enumerate(BANKS))], indirect=["way"])
def test_levels_agree_with_numpy(kind: str, is_smooth: bool, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, taps = BANKS[kind]
    energies = Energies(Bands(responses(taps, shape), shape))
    rows = steep(shape, 5.0) if is_smooth else np.random.default_rng(4).normal(size=(2, int(np.prod(shape))))
    targets = np.ones(len(taps))
    with_numpy, by_kernel = by_both(monkeypatch, lambda: energies.decouple(rows, targets))
    assert not with_numpy.refusals and not by_kernel.refusals
    np.testing.assert_allclose(by_kernel.values, with_numpy.values, rtol=1e-12)
    np.testing.assert_allclose(by_kernel.coefficients, with_numpy.coefficients, rtol=1e-12, atol=1e-12)
    assert (by_kernel.residual < 2e-14).all()
    level = energies.normalize(rows, targets)
    np.testing.assert_allclose(energies.values(level.values), np.ones((len(rows), len(taps))), rtol=1e-12)


@pytest.mark.parametrize("mean", [False, True])
def test_rows_that_are_not_ordinary(mean: bool, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without power at all or at some frequencies, far from the targets, in units near the ends of float64."""
    shape, taps = ((20, 26), kernels()[:5]) if way == "compiled" else ((41,), SIGNAL)
    energies = Energies(Bands(responses(taps, shape), shape), mean)
    rows = np.random.default_rng(7).normal(size=(9, energies.bands.grid.size)) + 0.2
    targets = np.tile([0.2] * mean + [1.0] * len(taps), (9, 1))
    rows[1] = 0
    rows[2] = np.cos(2 * np.pi * 3 * np.arange(rows.shape[1]) / shape[-1])
    rows[3] = 0
    rows[3, 0] = 3.0
    rows[4] *= 1e-157  # squares with few digits
    targets[5, mean] = 1e-9  # far, and yet a solution
    targets[6, mean : mean + 2] = [1e-9, 1e9]
    targets[7, mean + 1] = -1.0
    with_numpy, by_kernel = by_both(monkeypatch, lambda: energies.decouple(rows, targets))
    reasons = [{r: o.reason for r, o in found.refusals.items()} for found in (with_numpy, by_kernel)]
    for some in reasons:  # within 1e-18 of the boundary: solved to rounding, or a limit
        assert some.pop(6) in ("outside the cone", "on the boundary of the cone")
    assert reasons[0] == reasons[1] and {1, 2, 7} <= set(reasons[0])
    assert np.isfinite(by_kernel.values[[0, 3, 8]]).all()
    others = np.arange(9) != 6
    np.testing.assert_allclose(by_kernel.values[others], with_numpy.values[others], rtol=1e-9, atol=1e-300)
    monkeypatch.setattr(tilting_kernel, "_TOGETHER", 1)
    with np.errstate(all="ignore"):
        one_by_one = energies.decouple(rows, targets)
    for name in ("values", "parameters", "coefficients", "residual"):
        np.testing.assert_array_equal(getattr(one_by_one, name), getattr(by_kernel, name))


def test_signed_and_small_problems_stay_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.Kernels, "are_warm", lambda self: True)

    def wanted(bank: np.ndarray) -> bool:
        return tilting_kernel.answers(Columns(bank, (bank.shape[1],)))

    assert wanted(np.ones((2, 4000)))
    assert not wanted(np.ones((2, 3999)))
    assert not wanted(-np.ones((2, 10**5)))
    assert not wanted(np.ones((20, 10**4)))


def test_far_units_end_where_rounding_ends_them(way: str) -> None:
    """As `tilting`, which mpmath tells right."""
    for seed, log_scale in FAR:
        some, bank, shares = far_apart(seed, log_scale)
        with np.errstate(all="ignore"):
            found, wanted = tilting_kernel.tilt_levels(some, 150), tilt(some, 150)
        assert found.converged[0] and wanted.converged[0]
        goal = bank @ shares
        reached = [shares * bank * np.exp(each.parameters[0, 0] * bank - log_scale) / goal for each in (found, wanted)]
        np.testing.assert_allclose(*reached, atol=1e-9)


@pytest.mark.parametrize("seed", WIDE)
def test_weights_that_are_far_apart_are_found_soon(way: str, seed: int) -> None:
    found, wanted = tilting_kernel.tilt_levels(wide_apart(seed), 100), tilt(wide_apart(seed), 100)
    assert found.converged[0] and found.residual[0] < 1e-13
    sums = [each.values * np.exp(each.shift) for each in (found, wanted)]
    np.testing.assert_allclose(*sums, rtol=1e-11)
