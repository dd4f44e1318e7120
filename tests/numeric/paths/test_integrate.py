"""Paths against exact solutions; the discrete adjoint."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.paths.integrate import DOP853, End, integrate, pull_back


def oscillator(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
    """y'' = -w^2 y, a frequency a row."""
    w = np.array([1.0, 7.0, 40.0])[which, None]
    return np.concatenate([w * y[:, 1:], -w * y[:, :1]], axis=1)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_rotations(rtol: float) -> None:
    path = integrate(oscillator, np.tile([1.0, 0.0], (3, 1)), rtol=rtol, scale=np.ones(3))
    w = np.array([1.0, 7.0, 40.0])
    error = np.abs(path.values - np.stack([np.cos(w), -np.sin(w)], axis=1)).max(axis=1)
    assert np.all(error < 30 * rtol * path.steps) and np.all(path.ending == End.REACHED)
    assert path.steps[0] < path.steps[1] < path.steps[2]


def test_a_right_hand_side_that_depends_on_s() -> None:
    path = integrate(lambda y, s, which: 9 * (s**8)[:, None] * np.ones_like(y), np.zeros((2, 3)), scale=np.ones(2))
    assert path.values == pytest.approx(np.ones((2, 3)), rel=1e-11)


def test_a_singularity_stalls_its_row_alone_and_is_found_to_eleven_digits() -> None:
    """y' = -1/(2 y) is over at s = y0^2, with y = sqrt(y0^2 - s)."""
    start = np.array([[1.5, 2.0], [0.8, 0.9], [-3.0, 1.01]])
    path = integrate(lambda y, s, which: -0.5 / y, start, scale=np.ones(3))
    assert path.ending.tolist() == [End.REACHED, End.STALLED, End.REACHED]
    assert path.reached[1] == pytest.approx(0.64, rel=1e-11) and path.values[1, 0] < 1e-4
    left = np.sign(start) * np.sqrt(np.abs(start**2 - 1))
    assert path.values[[0, 2]] == pytest.approx(left[[0, 2]], rel=1e-9)


def test_steps_are_capped_and_what_was_reached_is_told() -> None:
    path = integrate(oscillator, np.tile([1.0, 0.0], (3, 1)), max_steps=40)
    assert path.ending.tolist() == [End.REACHED, End.REACHED, End.EXHAUSTED]
    w, s = 40.0, path.reached[2]
    assert 0 < s < 1 and path.values[2] == pytest.approx([np.cos(w * s), -np.sin(w * s)], abs=1e-9)


def test_nothing_that_is_not_a_number_moves_a_row() -> None:
    path = integrate(lambda y, s, which: np.where(which[:, None] == 1, np.nan, -y), np.ones((3, 2)))
    assert path.ending.tolist() == [End.REACHED, End.STALLED, End.REACHED]
    assert path.values[1].tolist() == [1, 1] and path.reached[1] == 0


def test_a_row_gives_the_same_bits_alone_and_in_any_batch() -> None:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(700, 65))

    def slope(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.sin(3 * y) * np.vecdot(y, y)[:, None] / y.shape[1]

    together = integrate(slope, start)
    few = integrate(slope, start[5::97])
    assert np.array_equal(few.values, together.values[5::97]) and np.array_equal(few.steps, together.steps[5::97])


def test_after_step_keeps_rows_on_the_manifold() -> None:
    def back(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
        return y / np.sqrt(np.vecdot(y, y))[:, None]

    path = integrate(oscillator, np.tile([1.0, 0.0], (3, 1)), rtol=1e-5, after_step=back)
    assert np.vecdot(path.values, path.values) == pytest.approx(np.ones(3), rel=4e-16)


def test_a_correction_that_fails_is_a_failed_step() -> None:
    path = integrate(lambda y, s, which: -y, np.ones((2, 2)),
                     after_step=lambda y, s, which: np.where((which[:, None] == 0) & (s[:, None] > 0.5), np.nan, y))
    assert path.ending.tolist() == [End.STALLED, End.REACHED] and path.reached[0] == pytest.approx(0.5, rel=1e-11)


def test_a_row_that_leads_nowhere_ends_there_alone() -> None:
    path = integrate(oscillator, np.tile([1.0, 0.0], (3, 1)), scale=np.ones(3),
                     is_over=lambda y, s, which: (which == 1) & (s > 0.5))
    assert path.ending.tolist() == [End.REACHED, End.OVER, End.REACHED] and 0.5 < path.reached[1] < 1
    w, s = 7.0, path.reached[1]
    assert path.values[1] == pytest.approx([np.cos(w * s), -np.sin(w * s)], abs=1e-9)
    assert np.array_equal(path.values[[0, 2]], integrate(oscillator, np.tile([1.0, 0.0], (3, 1)),
                                                         scale=np.ones(3)).values[[0, 2]])


def test_a_rejected_step_keeps_its_first_slope() -> None:
    calls = []

    def slope(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
        calls.append(len(which))
        return oscillator(y, s, which)

    path = integrate(slope, np.tile([1.0, 0.0], (3, 1)), scale=np.ones(3), first_step=np.ones(3))
    assert path.failed.any() and sum(calls) == 12 * path.steps.sum() + 11 * path.failed.sum()


def test_notes_beside_the_slopes_are_kept_in_the_order_of_the_stages() -> None:
    """Of accepted steps only, and rows that move on without others keep their own."""
    def noted(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
        return np.column_stack([oscillator(y, s, which), s, which, y])

    start = np.array([[1.0, 0.0], [0.0, 1e-3], [0.5, 0.5]])
    plain, path = integrate(oscillator, start, store=True), integrate(noted, start, first_step=np.ones(3), store=True)
    assert path.failed.any() and len(set(path.steps)) > 1
    assert path.values == pytest.approx(plain.values, abs=1e-10)
    for step in path.tape:
        s, which, y = step.notes[:, :, 0], step.notes[:, :, 1], step.notes[:, :, 2:]
        assert np.array_equal(s, step.begin[:, None] + step.size[:, None] * DOP853.nodes)
        assert (which == step.which[:, None]).all() and np.array_equal(y[:, 0], step.values)
    assert all(step.notes.shape[2] == 0 for step in plain.tape)


def test_empty_batches() -> None:
    assert integrate(lambda y, s, which: y, np.empty((0, 4))).values.shape == (0, 4)


COUPLING = np.random.default_rng(1).normal(size=(5, 5))


def coupled(y: np.ndarray, s: np.ndarray, which: np.ndarray) -> np.ndarray:
    return np.tanh(y @ COUPLING.T) * (1 + s[:, None]) * (1 + which[:, None])


def coupled_back(y: np.ndarray, s: np.ndarray, which: np.ndarray, covectors: np.ndarray) -> np.ndarray:
    slope = (1 - np.tanh(y @ COUPLING.T) ** 2) * (1 + s[:, None]) * (1 + which[:, None])
    return (covectors * slope) @ COUPLING


def test_the_adjoint_is_that_of_the_path() -> None:
    rng = np.random.default_rng(2)
    start = rng.normal(size=(3, 5))
    path = integrate(coupled, start, rtol=1e-13, scale=np.ones(3), store=True)
    covectors = rng.normal(size=(2, 3, 5))
    pulled = pull_back(path.tape, coupled, coupled_back, covectors)
    direction, h = rng.normal(size=(3, 5)), 1e-3
    ends = [integrate(coupled, start + i * h * direction, rtol=1e-13, scale=np.ones(3)).values for i in (-2, -1, 1, 2)]
    derivative = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    assert np.sum(pulled * direction, axis=2) == pytest.approx(np.sum(covectors * derivative, axis=2), rel=1e-8)


def test_the_adjoint_of_a_linear_path_is_its_transpose_to_rounding() -> None:
    matrix = COUPLING / 2
    path = integrate(lambda y, s, which: y @ matrix.T, np.eye(5), store=True)
    pulled = pull_back(path.tape, lambda y, s, which: y @ matrix.T, lambda y, s, which, c: c @ matrix, np.eye(5)[None])
    assert np.sum(pulled[0] * np.eye(5), axis=1) == pytest.approx(np.diag(path.values), rel=1e-13)


def test_without_a_step_covectors_stay() -> None:
    covectors = np.ones((1, 2, 3))
    assert np.array_equal(pull_back((), coupled, coupled_back, covectors), covectors)
