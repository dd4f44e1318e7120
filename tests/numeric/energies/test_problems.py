"""Solutions beside the boundary of the cone are told from limits without a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple.numeric.energies import problems as energy_problems
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.tilting import Tilted
from tests.numeric.energies.energy_banks import SQUARE, cone_membership


def moved(columns: np.ndarray, power: np.ndarray, want: np.ndarray, residual: float) -> float:
    values, matrix = columns @ power, (columns * power) @ columns.T
    found = Tilted(0 * values[None], np.zeros(1), power.sum()[None], values[None], values[None], matrix[None],
                   np.array([residual]), np.ones(1, dtype=np.bool_))
    bands = Columns(columns, (columns.shape[1],))
    return float(energy_problems._shaken(found, (want > 0)[None], bands)[0])


@pytest.mark.parametrize("residual", [0.0, 1e-11])
def test_what_rounding_moves_is_bounded_by_the_inverse(residual: float) -> None:
    """Against numpy's inverse, with some features that are not imposed; and steps for errors of that size are below."""
    rng = np.random.default_rng(3)
    for m, n in [(1, 9), (4, 30), (5, 30)]:
        columns, power = rng.random((m, n)), rng.random(n) ** 6
        want = np.ones(m)
        want[1 : m - 2] = 0
        here = want > 0
        matrix = np.linalg.inv((columns[here] * power) @ columns[here].T)
        values, largest = columns[here] @ power, columns.max(axis=1)[here]
        bound = moved(columns, power, want, residual)
        assert bound == pytest.approx(max(residual, 1e-12) * largest @ np.abs(matrix) @ values, rel=1e-6)
        errors = max(residual, 1e-12) * values * rng.uniform(-1, 1, (50, here.sum()))
        assert np.abs(errors @ matrix @ columns[here]).max() <= bound


def test_weights_that_go_to_zero_are_no_solution() -> None:
    """Power e^-t everywhere but at one vertex of the cone: however small they are."""
    rng = np.random.default_rng(5)
    columns = rng.random((3, 40))
    vertex = int((rng.normal(size=3) @ columns / np.linalg.norm(columns, axis=0)).argmax())
    for rest in (1e-15, 1e-17, 1e-20):
        power = np.full(40, rest)
        power[vertex] = 1
        assert moved(columns, power, np.ones(3), 0.0) > 20 * energy_problems._SURE
    assert moved(columns, np.full(40, 1e-3) + np.eye(40)[vertex], np.ones(3), 0.0) < 1e-3 * energy_problems._SURE


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9, 1e-11, 1e-13, 1e-16])
def test_targets_beside_the_boundary_are_reached_and_those_beyond_are_outside(small: float) -> None:
    """Two features with one frequency each and a common one: every positive value can be had, and no negative one."""
    pair = Energies(Bands([[4.0, 2, 0], [0, 2, 4]], (4,)))
    row = np.array([[1.0, 2, 4, 3.5]])
    level = pair.normalize(row, [8.0, small])
    assert not level.refusals
    rounding = 64 * np.finfo(float).eps * np.sqrt(8 * small)  # of an amplitude beside one of sqrt(8)
    np.testing.assert_allclose(pair.values(level.values)[0], [8.0, small], rtol=1e-14, atol=rounding)
    assert pair.normalize(row, [8.0, 0.0]).refusals[0].reason == "on the boundary of the cone"
    if small > 1e-12:  # what the linear program resolves
        refused = pair.normalize(row, [8.0, -8 * small]).refusals[0]
        assert refused.reason == "outside the cone" and "no signal of this shape" in refused.detail
        assert cone_membership(SQUARE, np.array([1 + small, 0, 1])).where == "outside"


def test_wide_solutions_ask_no_linear_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """White noise with the low half of its power lifted by e^60: a.w spans as much, and is sure."""
    rng, n = np.random.default_rng(1), 64
    c = np.cos(2 * np.pi * np.arange(n // 2 + 1) / n)
    bank = np.array([1 + c, (1 + c) ** 2, 1 - c])
    noise = rng.normal(size=n)
    row = np.fft.irfft(np.fft.rfft(noise) * np.exp(15 * c), n)
    energies = Energies(Bands(bank, (n,)))
    targets = energies.values(noise[None])[0]
    monkeypatch.setattr(energy_problems, "cone_membership_of", None)
    level = energies.normalize(row[None], targets)
    assert not level.refusals
    assert float(np.ptp(level.parameters[0] @ energies.bands.columns)) > 50
    np.testing.assert_allclose(energies.values(level.values)[0], targets, rtol=1e-11)


@pytest.mark.parametrize("n_silent", [0, 1, 2])
def test_images_without_their_mean_ask_once_a_bank_what_depends(n_silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at all active frequencies of each image took longer than all nine levels."""
    asked, found = list[bool](), energy_problems.dependence_of

    def counted(columns: Columns, is_active: NDArray[np.bool_] | slice) -> object:
        asked.append(isinstance(is_active, slice))
        return found(columns, is_active)

    monkeypatch.setattr(energy_problems, "dependence_of", counted)
    rng = np.random.default_rng(4)
    power = rng.random((5, 9)) + 0.1
    power[:, :n_silent] = 0
    rows = np.fft.irfft(np.sqrt(power) * np.exp(1j * np.pi * rng.integers(0, 2, (5, 9))), n=16)
    energies = Energies(Bands(rng.random((3, 9)), (16,)))
    assert energies.decouple(rows, np.ones(3)).values.shape == (5, 3)
    assert asked == ([True] if n_silent < 2 else [False] * 5)
