"""The compiled search for tilts against sums and searches in NumPy, and against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple.numeric.energies import (
    jit as energy_jit,
    power_loops,
    problems as energy_problems,
    spectrum,
    sums as energy_sums,
    tilt_loops,
)
from symdecouple.numeric.energies.eigenvalues import Columns, Lines
from symdecouple.numeric.energies.gradients import DecoupledEnergies
from symdecouple.numeric.energies.levels import levels_solved
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.spectrum import Bands, Spectrum
from symdecouple.numeric.energies.workspace import scratch
from symdecouple.numeric.kernels import compile as jit
from tests.numeric.energies.energy_banks import kernels, pictures, responses

Array = NDArray[np.float64]
AS_PYTHON = levels_solved, power_loops.powers_of, tilt_loops.tilted_transform
needs_numba = pytest.mark.skipif(not jit.is_available(), reason="numba is not installed")


def smooth(shape: tuple[int, ...]) -> Array:
    """A low-pass picture: its power spans ten orders of magnitude."""
    waves = [np.cos(2 * np.pi * np.fft.fftfreq(n)) for n in shape[:-1]]
    waves.append(np.cos(2 * np.pi * np.fft.rfftfreq(shape[-1])))
    gain = np.exp(6 * sum(np.ix_(*waves)))
    noise = np.random.default_rng(3).normal(size=shape)
    picture = np.fft.irfftn(np.fft.rfftn(noise) * gain / gain.max(), s=shape, axes=tuple(range(len(shape))))
    return np.asarray(picture / picture.std()).reshape(1, -1)


def by_both(monkeypatch: pytest.MonkeyPatch, function: Callable[[], DecoupledEnergies]
            ) -> list[DecoupledEnergies]:
    found = []
    for answer in (False, True):
        for module in (energy_problems, spectrum):
            monkeypatch.setattr(module, "are_wanted", lambda bands, answer=answer: answer)
        found.append(function())
    return found


def test_exponentials_against_mpmath() -> None:
    x = np.concatenate([-np.logspace(-17, np.log10(707), 150), [0.0, 3.0, -800.0]])
    line, bits = x + 2.5, np.empty(len(x))
    weight = np.full(len(x), 0.75)
    energy_sums.tilt_line(line, weight, 2.5, bits.view(np.int64), bits)
    shifted = (x + 2.5) - 2.5
    with mpmath.workdps(40):
        exact = [mpmath.mpf(0.75) * mpmath.exp(mpmath.mpf(float(t))) for t in np.clip(shifted, -708, 708)]
        apart = [abs(mpmath.mpf(float(a)) / b - 1) for a, b in zip(line, exact, strict=True)]
    assert max(apart) < 2 * 2.0**-52


@pytest.mark.parametrize(("shape", "part", "block"), [((2, 3), 256, 1024), ((5, 4), 4, 8), ((5, 4), 3, 3)], ids=str)
@pytest.mark.parametrize("ranks", [(6, 2), (2, 3), (3, 3), (3, 2), None], ids=str)
@pytest.mark.parametrize("size", [0.1, 9.0, 400.0])
def test_sums_are_those_of_their_definition(shape: tuple[int, int], part: int, block: int,
                                            ranks: tuple[int, int] | None, size: float,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Banks of products of lines, three outer or inner ones and other numbers of them, one without; not compiled.

    The largest exponent needs no powers of two, or no unit, or both.
    """
    rng = np.random.default_rng(5)
    outer, inner = (rng.random((count, length)) for count, length in zip(ranks or (2, 1), shape, strict=True))
    bank = np.array([3 * np.outer(a, b).ravel() for a in outer for b in inner]) if ranks else rng.random((4, *shape))
    bands = Columns(bank.reshape(len(bank), -1), shape)
    assert (len(bands.lines.outer), len(bands.lines.inner)) == (ranks or (1, 4))
    np.testing.assert_allclose(bands.columns, bank.reshape(len(bank), -1), rtol=1e-14)
    m, n = bands.columns.shape
    power = rng.random((n,))
    a = 3 * rng.normal(size=(m,))
    power[::3] = 0
    out, whole = np.empty((2, 2 + m + m * m))
    monkeypatch.setattr(energy_sums, "PART", part)  # rows that are longer than a part, and more than are taken together
    monkeypatch.setattr(energy_sums, "BLOCK", block)
    kept = np.full(bands.count, np.nan)
    a *= size / np.abs(a @ bands.columns).max()
    needed, work = m - len(bands.lines.inner), scratch(*(ranks or (1, 4)), shape[0])  # none, where there is one row
    is_kept = energy_sums.all_sums(a, power, bands.lines, bands.largest, needed, work, kept, out)
    part_of = out[2 + m :].reshape(m, m)
    energy_sums.all_sums(a, power, bands.lines, bands.largest, m, work, kept, whole)
    np.testing.assert_array_equal(part_of[:needed, :needed], whole[2 + m :].reshape(m, m)[:needed, :needed])
    assert not part_of[needed:].any()
    assert not part_of[:, needed:].any()
    out = whole
    tilted = power * np.exp(a @ bands.columns - out[0])
    assert is_kept == (size < 100)
    assert out[0] == (0 if is_kept else pytest.approx((a @ bands.columns)[power > 0].max(), rel=1e-14))
    if is_kept:
        np.testing.assert_allclose(kept, tilted, rtol=1e-14)
    np.testing.assert_allclose(out[1], tilted.sum(), rtol=1e-13)
    np.testing.assert_allclose(out[2 : 2 + m], bands.columns @ tilted, rtol=1e-13)
    np.testing.assert_allclose(out[2 + m :].reshape(m, m), (bands.columns * tilted) @ bands.columns.T, rtol=1e-13)


@pytest.mark.parametrize("shape", [(5, 4), (1, 7), (24, 24)], ids=str)
def test_what_exceeds_a_bound_somewhere_is_longer(shape: tuple[int, int]) -> None:
    """Never where a.w stays below, always where its largest entry is at an end; without weights there is nothing."""
    rng = np.random.default_rng(8)
    outer, inner = rng.random((2, shape[0])), np.sort(rng.random((3, shape[1])))
    bands = Columns(np.array([np.outer(a, b).ravel() for a in np.sort(outer) for b in inner]), shape)
    seen = set()
    for _ in range(40):
        a, power = rng.normal(size=(len(bands),)), rng.integers(0, 2, bands.count).astype(float)
        longest = float(np.abs(a @ bands.columns)[power > 0].max())
        found = [energy_sums.exceeds(a, bound, power, bands.lines) for bound in (longest / 2, longest * (1 + 1e-12))]
        assert not found[1]
        seen.add(found[0])
    assert True in seen
    positive, everywhere = np.ones(len(bands)), np.ones(bands.count)
    top = float((positive @ bands.columns).max())
    assert energy_sums.exceeds(positive, top * (1 - 1e-12), everywhere, bands.lines)
    assert not energy_sums.exceeds(positive, 0.0, 0 * everywhere, bands.lines)


def test_lines_of_responses_by_transforms() -> None:
    bands = Bands(responses(kernels(), (14, 20)), (14, 20))
    assert bands.lines.outer.shape == (3, 8)
    assert bands.lines.inner.shape == (3, 11)
    exact = np.cos(2 * np.pi * np.arange(8) / 14)
    low = (1 + 2 * exact) ** 2 / 9  # |1 + 2 cos|^2 over its largest
    np.testing.assert_allclose(bands.lines.outer[0], low, atol=1e-14)
    plain = Lines.of(np.array([[1.0, 0, 0, 1]]), (2, 2))
    assert plain.outer.shape == (1, 1)


@needs_numba
@pytest.mark.parametrize("kind", ["separable", "not separable", "small", "signal", "volume"])
@pytest.mark.parametrize("is_smooth", [False, True])
def test_levels_agree_with_numpy(kind: str, is_smooth: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = {"signal": (301,), "volume": (6, 5, 8), "small": (64, 64), "separable": (160, 150)}.get(
        kind, (20, 21))
    taps = kernels()[:6]
    if kind == "not separable":
        taps = [*taps[:4], taps[4] + 0.5 * taps[0]]
    if kind == "signal":
        taps = [np.array([1.0, 1, 1]), np.array([1.0, 0, -1]), np.array([1.0, -2, 1])]
    if kind == "volume":
        taps = [kernel[None] for kernel in taps]
    energies = Energies(Bands(responses(taps, shape), shape))
    rows = smooth(shape) if is_smooth else np.random.default_rng(4).normal(size=(2, int(np.prod(shape))))
    targets = np.ones(len(taps))
    with_numpy, compiled = by_both(monkeypatch, lambda: energies.decouple(rows, targets))
    assert not with_numpy.refusals
    assert not compiled.refusals
    np.testing.assert_allclose(compiled.values, with_numpy.values, rtol=1e-13)
    np.testing.assert_allclose(compiled.coefficients, with_numpy.coefficients, rtol=1e-13, atol=1e-13)
    size = np.abs(with_numpy.gram()).max()
    np.testing.assert_allclose(compiled.gram(), with_numpy.gram(), atol=1e-13 * size)
    level = energies.normalize(rows, targets)
    np.testing.assert_allclose(energies.values(level.values), np.ones((len(rows), len(taps))), rtol=2e-13)


@pytest.mark.parametrize("shape", [(40,), (100,)], ids=str)
@pytest.mark.parametrize("is_smooth", [False, True])
def test_the_search_as_python_runs_it(shape: tuple[int, ...], is_smooth: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops that are compiled, not compiled: on all frequencies, and on nodes first."""
    monkeypatch.setattr(energy_jit, "_kernels", lambda: AS_PYTHON)
    taps = [np.array([1.0, 1, 1]), np.array([1.0, 0, -1]), np.array([1.0, -2, 1])]
    energies = Energies(Bands(responses(taps, shape), shape))
    assert (energies.bands.nodes is None) == (shape == (40,))
    rows = smooth(shape) if is_smooth else np.random.default_rng(4).normal(size=(2, *shape))
    with_numpy, by_loops = by_both(monkeypatch, lambda: energies.decouple(rows, np.ones(3)))
    np.testing.assert_allclose(by_loops.values, with_numpy.values, rtol=1e-13)
    np.testing.assert_allclose(by_loops.coefficients, with_numpy.coefficients, rtol=1e-13, atol=1e-13)


@needs_numba
@pytest.mark.parametrize("power", [-300, -120, 120, 300, 1000])
@pytest.mark.parametrize("centred", [False, True])
def test_shares_have_no_unit(power: int, centred: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled, of signals whose squares are ordinary numbers and of others: a power of two changes no bit."""
    monkeypatch.setattr(spectrum, "are_wanted", lambda bands: True)
    bands = Bands(responses(kernels(), (64, 64)), (64, 64))
    rows = np.random.default_rng(9).normal(size=(2, 64 * 64)) + 3 * centred
    one, other = Spectrum.of(bands, rows, centred), Spectrum.of(bands, np.ldexp(rows, power), centred)
    assert (one.shares == other.shares).all()
    assert (one.exponents == 0).all() and (other.exponents != 0).all() == (abs(power) > 128)
    np.testing.assert_allclose(other.log_power - one.log_power, 2 * power * np.log(2), rtol=1e-14)
    both = Spectrum.of(bands, np.concatenate([rows[:1], np.ldexp(rows[1:], power)]), centred)
    assert (both.shares == one.shares).all()
    assert both.silent is not None
    assert both.silent.tolist() == [centred, centred]
    if centred:
        assert both.means is not None
        assert one.means is not None
        np.testing.assert_array_equal(both.means, np.ldexp(one.means, [0, power]))
        np.testing.assert_allclose(one.means, [math.fsum(row) / len(row) for row in rows], rtol=1e-15)


@needs_numba
def test_refusals_agree_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images that lack frequencies and targets outside the cone, beside images that do not."""
    images = np.stack([p.ravel() for p in pictures().values()])
    energies = Energies(Bands(responses(kernels(), (32, 32)), (32, 32)))
    targets = np.ones((len(images), 9))
    targets[-1, 1] = 50.0
    with_numpy, compiled = by_both(monkeypatch, lambda: energies.decouple(images, targets))
    assert {r: o.reason for r, o in compiled.refusals.items()} == {r: o.reason for r, o in with_numpy.refusals.items()}
    np.testing.assert_allclose(compiled.values, with_numpy.values, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("is_compiled", [False, pytest.param(True, marks=needs_numba)])
@pytest.mark.parametrize("shape", [(12, 12), (90, 81), (23, 7), (300,)], ids=str)
def test_a_row_has_the_same_bits_beside_others(shape: tuple[int, ...], is_compiled: bool,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (energy_problems, spectrum):
        monkeypatch.setattr(module, "are_wanted", lambda bands: is_compiled)
    taps = kernels() if len(shape) == 2 else [np.array([1.0, 1, 1]), np.array([1.0, 0, -1])]
    energies = Energies(Bands(responses(taps, shape), shape), mean=True)
    rows = np.random.default_rng(6).normal(size=(11, int(np.prod(shape)))) + 0.1
    targets = np.array([0.2, *np.ones(len(taps))])
    together, alone = energies.decouple(rows, targets), energies.decouple(rows[4:5], targets)
    assert (together.values[4] == alone.values[0]).all()
    assert (together.gradients()[4] == alone.gradients()[0]).all()
    assert (together.gram()[4] == alone.gram()[0]).all()
    levels = [energies.normalize(some, targets) for some in (rows, rows[4:5])]
    assert (levels[0].values[4] == levels[1].values[0]).all()
    back = [level.pullback(some) for level, some in zip(levels, (rows**2, rows[4:5] ** 2), strict=True)]
    assert (back[0][4] == back[1][0]).all()
    assert (energies.values(rows)[4] == energies.values(rows[4:5])[0]).all()


def test_signed_and_small_problems_stay_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.Kernels, "are_warm", lambda self: True)

    def wanted(bank: Array) -> bool:
        return energy_jit.are_wanted(Columns(bank, (bank.shape[1],)))

    assert wanted(np.ones((2, 4000)))
    assert not wanted(np.ones((2, 3999)))
    assert not wanted(-np.ones((2, 10**5)))
    assert not wanted(np.ones((25, 10**5)))
