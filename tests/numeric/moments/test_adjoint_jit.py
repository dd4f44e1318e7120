"""The compiled way back against NumPy's, rows it leaves to NumPy, and its functions as plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.moments import adjoint_jit, pullback as moment_pullback
from symdecouple.numeric.moments.adjoint_jit import KERNELS, step_back, step_back_rows, warm
from symdecouple.numeric.moments.gradients import decoupled_gradients, pullback
from symdecouple.numeric.moments.levels import gaussian_moments
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.paths.integrate import Step

GOAL = (1.0, *gaussian_moments(7))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The very functions that are compiled, without numba."""
    monkeypatch.setattr(adjoint_jit, "_kernel", lambda: step_back_rows)
    monkeypatch.setattr(Kernels, "are_wanted", lambda self, n: True)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    if not KERNELS.are_warm():
        warm()  # leaves the mark: no other process compiles again, and no later run
    monkeypatch.setattr(Kernels, "are_wanted", lambda self, n: True)


def assert_agreement(z: np.ndarray, k: int, count: int, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Covectors pulled back by the kernel and by NumPy; rounding grows on the way as that of the path does."""
    followed = follow(z, k, GOAL[k], store=True)
    covectors = np.random.default_rng(k).normal(size=(count, *z.shape))
    found = pullback(followed, covectors)
    monkeypatch.setattr(Kernels, "are_wanted", lambda self, n: False)
    expected = pullback(followed, covectors)
    assert np.array_equal(np.isnan(found), np.isnan(expected)) and np.isfinite(expected).any()
    apart = np.abs(found - expected).max(axis=2) / np.abs(expected).max(axis=2)
    assert np.all((apart <= 1e-13 * followed.growth) | np.isnan(apart))
    return expected


@pytest.mark.parametrize("k", [3, 4, 5])
def test_the_functions_agree_with_numpy_without_numba(k: int, plain: None, monkeypatch: pytest.MonkeyPatch) -> None:
    z = impose_skewness(np.random.default_rng(0).exponential(size=(2, 12)), 0.9 if k == 3 else 0.0).values
    for below in range(4, k):
        z = follow(z, below, GOAL[below]).values
    assert_agreement(z, k, 2, monkeypatch)


@pytest.mark.parametrize("shape", [(60, 16), (3, 1000)], ids=str)
@pytest.mark.parametrize("law", ["standard_normal", "standard_exponential"])
def test_compiled_and_not_agree(
    law: str, shape: tuple[int, int], compiled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = getattr(np.random.default_rng(shape[0]), law)(shape)
    assert_agreement(impose_skewness(x, 0.0).values, 4, 3, monkeypatch)


def test_crowded_rows_are_left_to_numpy(compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(5, 24))
    rows[1] = np.arange(24) % 2 + 1e-4 * rng.random(24)
    rows[3] = np.resize([-1.0, 1.0], 24)
    z = impose_skewness(rows, 0.0).values
    first = follow(z, 4, 3.0, store=True).path.tape[0]
    kept = np.ones((1, len(first.which), 24))
    share, done = step_back(first, 4, np.ones(len(first.which)), kept)
    assert done.tolist() == [i != 1 for i in first.which.tolist()] and not share[0, ~done].any()
    assert np.all(kept[:, ~done] == 1) and np.all(np.any(kept[:, done] != 1, axis=2))
    expected = assert_agreement(z, 4, 1, monkeypatch)
    assert np.isnan(expected[0, 3]).all() and np.isfinite(expected[0, [0, 1, 2, 4]]).all()


def test_gradients_keep_their_laws_and_rows_never_meet(compiled: None) -> None:
    x = np.random.default_rng(2).exponential(size=(40, 200))
    g = decoupled_gradients(x, 6).gradients
    assert np.all(np.abs(g.sum(axis=2))[:, 1:] <= 1e-13 * np.abs(g).sum(axis=2)[:, 1:])
    c = x - x.mean(axis=1, keepdims=True)
    assert np.all(np.abs(np.vecdot(g, c[:, None]))[:, 2:] <= 1e-13 * np.vecdot(np.abs(g), np.abs(c)[:, None])[:, 2:])
    assert np.array_equal(decoupled_gradients(x[3::13], 6).gradients, g[3::13])


def test_which_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count is that of numbers in all steps; a short path of few samples is NumPy's."""
    asked: list[int] = []

    def never(self: Kernels, n_elements: int) -> bool:
        asked.append(n_elements)
        return False

    monkeypatch.setattr(Kernels, "are_wanted", never)
    z = impose_skewness(np.random.default_rng(3).exponential(size=(3, 50)), 0.0).values
    followed = follow(z, 4, 3.0, store=True)
    monkeypatch.setattr(moment_pullback, "step_back", None)
    pullback(followed, np.ones((2, 3, 50)))
    assert asked == [2 * 50 * int(followed.path.steps.sum())]


def test_warming_leaves_the_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # of the mark; numba has read its own already
    assert not KERNELS.are_warm()
    warm()
    assert KERNELS.are_warm() and KERNELS.are_wanted(10**5) and not KERNELS.are_wanted(10**4)


def test_nothing_to_go_back_on() -> None:
    pytest.importorskip("numba")
    empty = Step(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0), np.zeros((0, 5)))
    share, done = step_back(empty, 4, np.zeros(0), np.zeros((2, 0, 5)))
    assert share.shape == (2, 0) and done.shape == (0,)
