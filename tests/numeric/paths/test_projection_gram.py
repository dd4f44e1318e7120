"""Projection by inner products against Gram-Schmidt, least squares, and its own refusals."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from symdecouple.numeric.paths.projection_gram import last_direction, least_move

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.paths import projection_gram as gram
from symdecouple.numeric.paths.narrow_path import Frame


@pytest.fixture(autouse=True, params=["numpy", "compiled"], scope="module")
def kind(request):
    if request.param == "compiled" and not jit.is_available():
        pytest.skip("numba is not installed")
    kept = gram._compiled
    if request.param == "compiled":
        gram.warm()
    gram._compiled = lambda _: gram._kernels() if request.param == "compiled" else None
    yield request.param
    gram._compiled = kept


def fields(seed: int, rows: int = 3, count: int = 8, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, count, n)) * 10.0 ** rng.uniform(-30, 30, size=(rows, count, 1))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_direction_is_that_of_gram_schmidt(seed: int) -> None:
    given_fields = fields(seed)
    direction, size, sure = last_direction(given_fields)
    frame = Frame.of(given_fields)
    assert sure.all()
    assert size == pytest.approx(frame.triangle[:, -1, -1], rel=1e-12)
    assert direction == pytest.approx(frame.basis[-1], abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_move_is_that_of_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given_fields = rng.normal(size=(2, 7, 40))
    gaps = rng.normal(size=(2, 7))
    moves, sure = least_move(given_fields, gaps)
    assert sure.all()
    for r in range(2):
        expected = np.linalg.lstsq(given_fields[r] / 40, gaps[r], rcond=None)[0]
        assert moves[r] == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("count", [2, 4, 5, 7, 11, 13])
def test_any_number_of_fields(count: int) -> None:
    """Blocks of four and what is left of them: against Gram-Schmidt and least squares."""
    given_fields = fields(count, 2, count, 61)
    direction, size, sure = last_direction(given_fields)
    frame = Frame.of(given_fields)
    assert sure.all() and size == pytest.approx(frame.triangle[:, -1, -1], rel=1e-12)
    assert direction == pytest.approx(frame.basis[-1], abs=1e-11)
    scaled = given_fields / np.linalg.norm(given_fields, axis=2, keepdims=True)
    gaps = np.random.default_rng(count).normal(size=(2, count))
    moves, sure = least_move(scaled, gaps)
    assert sure.all()
    for r in range(2):
        expected = np.linalg.lstsq(scaled[r] / 61, gaps[r], rcond=None)[0]
        assert moves[r] == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())


def test_orthogonality_survives_nearly_dependent_fields() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=(1, 6, 200))
    first[0, 5] = first[0, 4] + 1e-4 * rng.normal(size=200)
    direction, _, sure = last_direction(first)
    assert sure.all()
    lengths = np.linalg.norm(first[0, :5], axis=1)
    assert np.abs(first[0, :5] @ direction[0] / lengths).max() < 1e-10


def test_dependent_and_infinite_fields_are_not_sure_and_leave_the_others_alone() -> None:
    three = fields(1)
    alone = last_direction(three[1:2])
    three[0, 7] = three[0, 3]
    three[2, 2, 5] = np.nan
    direction, size, sure = last_direction(three)
    assert sure.tolist() == [False, True, False]
    assert (direction[1] == alone[0][0]).all() and size[1] == alone[1][0]
    assert least_move(three, np.ones((3, 8)))[1].tolist() == [False, True, False]
    assert least_move(np.zeros((1, 2, 5)), np.ones((1, 2)))[1].tolist() == [False]


def test_one_projection_is_enough_where_nothing_cancels(kind: str) -> None:
    """Orthogonal to twelve digits, whether there were two or one: fields from independent to nearly dependent."""
    rng = np.random.default_rng(3)
    for share in (1.0, 0.3, 0.1, 0.03, 1e-2):
        first = rng.normal(size=(1, 12, 400))
        first[0, 1:] = first[0, :1] + share * first[0, 1:]
        direction, size, sure = last_direction(first)
        lengths = np.linalg.norm(first[0, :-1], axis=1)
        assert sure.all() and np.abs(first[0, :-1] @ direction[0] / lengths).max() / np.sqrt(400) < 1e-12
        assert size[0] == pytest.approx(Frame.of(first).triangle[0, -1, -1], rel=1e-11)
