"""Projections by Gram-Schmidt against least squares."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from symdecouple.numeric.paths.projection import Frame, last_direction, least_move


def fields(seed: int, rows: int = 3, count: int = 8, n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, count, n)) * 10.0 ** rng.uniform(-30, 30, size=(rows, count, 1))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 6, 13]))
def test_the_direction_and_the_move_are_those_of_least_squares(seed: int, count: int) -> None:
    given_fields = fields(seed, 2, count)
    scaled = given_fields / np.linalg.norm(given_fields, axis=2, keepdims=True)
    direction, size, sound = last_direction(given_fields)
    gaps = np.random.default_rng(seed).normal(size=(2, count))
    moves = least_move(scaled, gaps)
    for r, rows in enumerate(scaled):
        across = rows[-1] - np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=None)[0] @ rows[:-1]
        length = np.linalg.norm(across)
        assert sound[r] and size[r] == pytest.approx(length * np.sqrt((given_fields[r, -1] ** 2).mean()), rel=1e-12)
        assert direction[r] == pytest.approx(across * np.sqrt(300) / length, abs=1e-11)
        expected = np.linalg.lstsq(rows / 300, gaps[r], rcond=None)[0]
        assert moves[r] == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("share", [1.0, 0.3, 1e-2, 1e-4])
def test_orthogonality_survives_nearly_dependent_fields(share: float) -> None:
    first = np.random.default_rng(3).normal(size=(1, 12, 400))
    first[0, 1:] = first[0, :1] + share * first[0, 1:]
    direction, size, sound = last_direction(first)
    lengths = np.linalg.norm(first[0, :-1], axis=1)
    assert sound.all() and np.abs(first[0, :-1] @ direction[0] / lengths).max() / 20 < 1e-12
    assert size[0] == pytest.approx(Frame.of(first).triangle[0, -1, -1], rel=1e-12 / share)


def hard(n: int, count: int) -> np.ndarray:
    """Independent, nearly dependent, dependent, of zeros, and not finite."""
    found = np.random.default_rng(n).normal(size=(5, count, n))
    if count > 2:
        found[1, 2] = found[1, 0] + 1e-9 * found[1, 2]
        found[2, 2] = 3 * found[2, 0] - found[2, 1]
    found[3, count // 2] = 0
    found[4, -1, 0] = np.nan
    return found


@pytest.mark.parametrize("n", [3, 65, 300])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_a_row_has_the_same_bits_in_any_company(n: int, count: int) -> None:
    rows, gaps = hard(n, count), np.ones((5, count))
    with np.errstate(all="ignore"):
        together, moves, frame = last_direction(rows), least_move(rows, gaps), Frame.of(rows)
        for r in range(len(rows)):
            kept = rows[r : r + 1].copy()
            alone, own = last_direction(kept), Frame.of(kept)
            for one, every in zip(alone, together, strict=True):
                np.testing.assert_array_equal(one[0], every[r])
            np.testing.assert_array_equal(own.triangle[0], frame.triangle[r])
            np.testing.assert_array_equal(least_move(kept, gaps[r : r + 1])[0], moves[r])
            np.testing.assert_array_equal(kept, rows[r : r + 1])
    assert frame.sound[0].sum() == min(count, n)
    assert not frame.sound[3, count // 2] and not together[2][4] and not together[0][4].any()
    if count > 3:
        assert together[2].tolist() == [n > 3, n > 3, n > 3, n > 3, False]


def test_the_last_of_dependent_gradients_has_no_direction() -> None:
    three = fields(1)
    three[0, 7] = three[0, 3]
    direction, size, sound = last_direction(three)
    assert sound.tolist() == [False, True, True] and size[0] == 1 and not direction[0].any()
