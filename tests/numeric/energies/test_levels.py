"""All levels in one compiled call against level by level: ordinary signals, and others beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple.numeric.energies import (
    jit as energy_jit,
    power_loops,
    problems as energy_problems,
    spectrum,
    tilt_loops,
)
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.energies.gradients import DecoupledEnergies, decoupled_energies, level_by_level
from symdecouple.numeric.energies.levels import levels_solved
from symdecouple.numeric.energies.loops import WIDE_TILT
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.packing import _leaves, packed, unpacked
from symdecouple.numeric.energies.problems import EnergyProblems
from symdecouple.numeric.energies.spectrum import Bands, Spectrum
from symdecouple.numeric.kernels import compile as jit
from tests.numeric.energies.energy_banks import kernels, responses

Array = NDArray[np.float64]
AS_PYTHON = levels_solved, power_loops.powers_of, tilt_loops.tilted_transform
needs_numba = pytest.mark.skipif(not jit.is_available(), reason="numba is not installed")
SIGNAL = [np.array([1.0, 1, 1]), np.array([1.0, 0, -1]), np.array([1.0, -2, 1])]


@pytest.fixture(params=["as Python", pytest.param("compiled", marks=needs_numba)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Compiled loops say nothing where numbers overflow."""
    for module in (energy_problems, spectrum):
        monkeypatch.setattr(module, "are_wanted", lambda bands: True)
    if request.param == "as Python":
        monkeypatch.setattr(energy_jit, "_kernels", lambda: AS_PYTHON)
        with np.errstate(all="ignore"):
            yield request.param
    else:
        yield request.param


def energies_of(way: str, mean: bool) -> Energies:
    """A bank that has nodes where it is compiled, and one for short signals."""
    shape, taps = ((52, 60), kernels()) if way == "compiled" else ((41,), SIGNAL)
    return Energies(Bands(responses(taps, shape), shape), mean)


def task_of(energies: Energies, rows: Array, targets: Array) -> EnergyProblems:
    return EnergyProblems(Spectrum.of(energies.bands, rows, energies.mean),
                          np.broadcast_to(targets, (len(rows), targets.shape[-1])).copy(), energies.mean)


def agree(found: DecoupledEnergies, task: EnergyProblems, rtol: float = 1e-14) -> None:
    """With what `level_by_level` finds: numbers to rounding, refusals to the letter."""
    parts, refusals = level_by_level(task, np.arange(len(task.goals)))
    if task.mean:
        assert task.spectrum.means is not None
        parts[0][:, 0] = task.spectrum.means
    sizes = (1.0, 10.0, 1.0, 1.0)
    named = (found.values, found.parameters, found.coefficients, found.residual)
    for one, other, size in zip(named, parts, sizes, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * size if one is not found.values else 0)
    assert found.refusals == refusals


def signals(energies: Energies, count: int) -> Array:
    return np.random.default_rng(7).normal(size=(count, energies.bands.grid.size)) + 0.2


def all_done(task: EnergyProblems) -> list[bool]:
    soon = task.at_once()
    assert soon is not None
    done = np.isfinite(soon.residual)
    assert soon.done == np.count_nonzero(done)
    return [bool(one) for one in done]


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("unit", [1.0, 1e-60, 1e60], ids=str)
def test_ordinary_signals(way: str, mean: bool, unit: float) -> None:
    """Logarithms of squares of far units have a rounding of their own."""
    energies = energies_of(way, mean)
    rows = signals(energies, 3) * unit
    squares = np.array([1.0, 0.7, 0.9, 1.2, 0.8, 1.1, 0.9, 1.0, 1.0][: len(energies.bands)]) * unit**2
    task = task_of(energies, rows, np.concatenate([np.full(int(mean), 0.2 * unit), squares]))
    assert all_done(task) == [True] * 3
    found = decoupled_energies(task)
    agree(found, task, 2e-14 if unit == 1 else 5e-13)
    level = energies.normalize(rows, task.goals, energies.size - 1, keep=False)
    np.testing.assert_allclose(found.values[:, -1], energies.values(level.values)[:, -1], rtol=1e-12)


@pytest.mark.parametrize("mean", [False, True])
def test_others_beside_them(way: str, mean: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without power at all or at some frequencies, far from the targets, with numbers that float64 does not have."""
    energies = energies_of(way, mean)
    rows = signals(energies, 10)
    targets = np.tile([0.2] * mean + [1.0] * len(energies.bands), (10, 1))
    rows[1] = 0
    rows[2] = np.cos(2 * np.pi * 3 * np.arange(rows.shape[1]) / energies.bands.grid.shape[-1])
    rows[3] = 0
    rows[3, 0] = 3.0
    rows[4] *= 1e-157  # squares with few digits
    rows[5] *= 1e157 if way == "as Python" else 1.0  # much is asked about these by linear programs
    targets[6, mean] = 1e-9  # steep, and yet a solution
    targets[7, mean : mean + 2] = [1e-9, 1e9]
    targets[8, mean + 1] = -1.0
    task = task_of(energies, rows, targets)
    done = all_done(task)
    assert [done[i] for i in (0, 1, 2, 4, 7, 8, 9)] == [True, False, False, False, False, False, True]
    assert done[5] == (way == "compiled")
    found = decoupled_energies(task)
    agree(found, task)
    assert {1, 2, 7, 8} <= set(found.refusals)
    assert np.isfinite(found.values[[0, 3, 9]]).all()
    for i in (0, 2, 8, 9):
        alone = decoupled_energies(task_of(energies, rows[i : i + 1], targets[i : i + 1]))
        for name in ("values", "parameters", "coefficients", "residual"):
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(found, name)[i])
        assert alone.refusals == ({0: found.refusals[i]} if i in found.refusals else {})
    first = task.at_once()
    monkeypatch.setattr(energy_jit, "_TOGETHER", 1)
    one_by_one = task.at_once()
    assert first is not None
    assert one_by_one is not None
    for part, other in zip(first[:-1], one_by_one[:-1], strict=True):
        np.testing.assert_array_equal(part[done], other[done])


def test_a_wide_tilt_may_be_sure(way: str) -> None:
    """Power over twenty orders of magnitude: targets of white noise need such a tilt, and it is far from a limit."""
    energies = energies_of(way, False)
    grid = energies.bands.grid
    waves = [np.cos(2 * np.pi * np.fft.fftfreq(n)) for n in grid.shape[:-1]]
    waves.append(np.cos(2 * np.pi * np.fft.rfftfreq(grid.shape[-1])))
    steep = sum(np.ix_(*waves))
    steep = steep / np.ptp(steep)
    noise = np.random.default_rng(5).normal(size=grid.shape)
    rows = np.array([np.fft.irfftn(np.fft.rfftn(noise) * np.exp(range_ * steep), s=grid.shape,
                                   axes=range(len(grid.shape))).ravel()
                     for range_ in (1.0, 12.0, 25.0 if way == "compiled" else 30.0)])
    rows /= rows.std(axis=1, keepdims=True)
    task = task_of(energies, rows, np.ones(len(energies.bands)))
    parts, refusals = level_by_level(task, np.arange(3))
    assert not refusals
    bounds = np.abs(parts[1]) @ energies.bands.largest
    spreads = np.ptp(parts[1] @ energies.bands.columns, axis=2)
    assert spreads[1].max() < WIDE_TILT < spreads[2].max()
    assert bounds[1].max() > WIDE_TILT or way != "compiled"
    assert all_done(task) == [True, True, True]
    agree(decoupled_energies(task), task, 1e-12)


def test_dependent_features_are_asked_about_one_by_one(way: str) -> None:
    energies = energies_of(way, False)
    bank = energies.bands.columns.reshape(-1, *energies.bands.lattice)
    some = Bands(responses(SIGNAL, (41,)), (41,)).columns
    twice = Energies(Bands(np.concatenate([some, some[:1] + some[1:2]]), (41,)))
    assert bank.shape[0] == len(energies.bands)
    rows = np.random.default_rng(8).normal(size=(2, 41))
    task = task_of(twice, rows, np.array([1.0, 2.0, 1.5, 3.0]))
    assert task.at_once() is None
    agree(decoupled_energies(task), task)


def test_targets_of_no_more_than_the_features_that_are_imposed(way: str) -> None:
    energies = energies_of(way, True)
    rows, targets = signals(energies, 2), np.array([0.1, *np.ones(len(energies.bands))])
    whole, short = (decoupled_energies(task_of(energies, rows, some)) for some in (targets, targets[:-1]))
    assert (whole.values == short.values).all()
    assert (whole.gradient(energies.size) == short.gradient(energies.size)).all()


def test_the_way_of_counting_does_not_matter(way: str) -> None:
    """Which signals have power everywhere: counted by compiled loops, or looked up."""
    energies = energies_of(way, True)
    rows = signals(energies, 3)
    rows[1] = 1.0
    task = task_of(energies, rows, np.array([0.2, *np.ones(len(energies.bands))]))
    assert task.spectrum.silent is not None
    assert (task.spectrum.silent == (task.spectrum.shares == 0).sum(axis=1)).all()
    assert task.spectrum.silent.tolist() == [1, energies.bands.count, 1]
    other = replace(task, spectrum=replace(task.spectrum, silent=None))
    assert other.at_once() is None
    assert [other.dependence(r).is_free for r in range(3)] == [task.dependence(r).is_free for r in range(3)]
    agree(decoupled_energies(other), task, 2e-14)


@pytest.mark.parametrize("lacking", [[0, 1, 2], [1], [0, 2]], ids=str)
def test_a_level_of_some_signals(way: str, lacking: list[int]) -> None:
    """One problem of each signal that is not refused; none where all are."""
    energies = energies_of(way, False)
    rows, targets = signals(energies, 3), np.linspace(0.9, 1.1, len(energies.bands))
    rows[lacking] = 0
    level = energies.normalize(rows, targets)
    assert sorted(level.refusals) == lacking
    good = [r for r in range(3) if r not in lacking]
    assert np.isnan(level.values[lacking]).all()
    np.testing.assert_allclose(energies.values(level.values[good]), np.tile(targets, (len(good), 1)), rtol=1e-12)


@pytest.mark.parametrize("is_compiled", [False, pytest.param(True, marks=needs_numba)])
def test_powers_of_transforms(is_compiled: bool) -> None:
    """Against their definition; what has no power, or powers beyond float64, has a sum of 0."""
    bands = Bands(responses(kernels(), (8, 6)), (8, 6))
    rng = np.random.default_rng(2)
    transforms = rng.normal(size=(4, 8, 4)) + 1j * rng.normal(size=(4, 8, 4))
    transforms[1, 3, 1] *= 9
    transforms[1, :, 2] *= 1e-9
    transforms[2] = 0
    twice = np.array([1, 2, 2, 1])
    power = bands.fold(np.abs(transforms) ** 2 * twice)
    assert power[0].argmax() // 4 != power[1].argmax() // 4
    for count, rounding in ((2, 1e-15), (4, 1e-30)):
        out, log_power = np.empty((count, 5, 4)), np.empty(count)
        silent = np.empty(count, dtype=np.intp)
        powers_of = energy_jit._kernels()[1] if is_compiled else power_loops.powers_of
        given = np.ascontiguousarray(transforms[:count]).view(np.float64)
        if count == 4:
            given[3, 0, 0] = 1e200
        with np.errstate(over="ignore"):
            least, most = powers_of(given, bands.groups_of, 6, 1.5, np.empty(0), rounding, out,
                                    out.view(np.int64), log_power, silent)
        kept = np.where(power[:count] > rounding * power[:count].max(axis=1, keepdims=True), power[:count], 0)
        total = kept.sum(axis=1)
        np.testing.assert_allclose(log_power[:2], np.log(total[:2]) + 1.5, rtol=1e-14)
        np.testing.assert_allclose(out.reshape(count, -1)[:2], kept[:2] / total[:2, None], rtol=1e-13)
        assert silent[:2].tolist() == (kept[:2] == 0).sum(axis=1).tolist()
        assert (silent[1] > 0) == (count == 2)
        assert most == pytest.approx(total[:2].max(), rel=1e-14)
        if count == 4:
            assert least == 0
            assert (log_power[2:] == -np.inf).all()
            assert (silent[2:] == 20).all()
        else:
            assert least == pytest.approx(total.min(), rel=1e-14)


def test_tools_in_one_room() -> None:
    """All leaves come back, each where a line of the cache begins; memory that was shared still is."""
    for shape, taps in (((52, 60), kernels()), ((41,), SIGNAL), ((2, 2), None)):
        bands = Columns(np.array([[1.0, 0.5, 0, 2], [0, 1, 1, 1]]), shape) if taps is None else Bands(
            responses(taps, shape), shape)
        tools = energy_jit._new_tools(bands)[1]
        kit = packed(tools)
        back = unpacked(*kit)
        leaves, others = list(_leaves(tools)), list(_leaves(back))
        assert len(leaves) == len(others) == len(kit.layout)
        for k, (one, other) in enumerate(zip(leaves, others, strict=True)):
            assert np.shape(one) == np.shape(other)
            if k not in range(42, 52):  # not room, where there may be anything
                np.testing.assert_array_equal(one, other)
            if np.size(other) and np.ndim(other):
                assert other.ctypes.data % 64 == 0
        assert type(back) is type(tools)
        back.work[2][0] = 1.0
        assert back.work[3][0] == 1023 << 52
        assert not np.shares_memory(back.small, tools.small)
