"""A long sample moved in place: where its entries come on their own paths, by arrays and by loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdecouple import decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.moments import long_jit, moment_path_kernel
from symdecouple.numeric.moments.levels import gaussian_moments
from symdecouple.numeric.moments.long_jit import Compiled
from symdecouple.numeric.moments.long_level import advance
from symdecouple.numeric.moments.long_means import ByNumPy, Means
from symdecouple.numeric.moments.long_series import Climb
from symdecouple.numeric.moments.moment_path import SHARP, follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from tests.traced import peak

GOAL = np.array((1.0, *gaussian_moments(5)))
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: -rng.exponential(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "lognormal": lambda rng, n: np.exp(0.7 * rng.normal(size=n)),
    "two clusters": lambda rng, n: np.arange(n) % 2 + 0.1 * rng.normal(size=n),
    "of 256 values": lambda rng, n: np.floor(np.clip(rng.gamma(4, 20, size=n), 0, 255)),
}


@pytest.fixture(params=["NumPy", "compiled"])
def means(request: Any) -> Means:
    if request.param == "NumPy":
        return ByNumPy()
    pytest.importorskip("numba")
    for module in (moment_path_kernel, long_jit):
        if not module.KERNELS.are_warm():
            module.warm()
    return Compiled()


def at_level_3(x: np.ndarray) -> np.ndarray:
    return impose_skewness(x[None], 0.0).values[0]


def followed(z: np.ndarray, levels: range, rtol: float) -> np.ndarray:
    rows = z[None]
    for k in levels:
        rows = follow(rows, k, GOAL[k], held=GOAL[1:k], rtol=rtol).values
    return rows[0]


@pytest.mark.parametrize("law", LAWS)
def test_entries_are_no_farther_from_their_ends_than_on_paths_of_their_own(law: str, means: Means) -> None:
    """The ends are those of steps ten times finer than the finest that samples take."""
    z = at_level_3(LAWS[law](np.random.default_rng(3), 6000))
    ends = followed(z, range(4, 6), SHARP / 10)
    usual = np.abs(followed(z, range(4, 6), SHARP) - ends).max()
    moved = z.copy()
    residual = advance(moved, Climb(4, GOAL, means, is_fine=True))
    assert residual is not None and residual <= 2e-14
    assert np.abs(moved - ends).max() <= 2 * usual + 1e-14 * np.abs(z).max()
    for k in range(1, 6):
        assert math.fsum(moved**k) / 6000 == pytest.approx(GOAL[k], abs=1e-14 * np.mean(np.abs(moved) ** k))
    assert (np.diff(moved[np.argsort(z)]) >= -1e-14).all()


def test_in_thirty_digits(means: Means) -> None:
    """Each of a dozen values four hundred times: the same law, whose paths are known in many digits."""
    x = np.array([0.1, 0.7, 1.3, 1.9, 2.2, 2.6, 3.1, 3.7, 4.9, 6.0, 8.5, 12.0])
    exact = np.array(decouple(raw_moments(6)).normalize(x, 5, dps=30), dtype=float)
    moved = at_level_3(np.tile(x, 400))
    assert advance(moved, Climb(4, GOAL, means, is_fine=True)) is not None
    assert np.abs(moved - np.tile(exact, 400)).max() <= 1e-13 and len(np.unique(moved)) == 12


@pytest.mark.parametrize("k", [4, 5])
def test_one_level_there_and_back(k: int, means: Means) -> None:
    z = followed(at_level_3(np.random.default_rng(4).gamma(3.0, size=5000)), range(4, k), SHARP)
    there, back = z.copy(), GOAL[: k + 1].copy()
    back[k] = np.mean(z**k)
    assert advance(there, Climb(k, GOAL[: k + 1], means, is_fine=True)) is not None
    assert np.abs(there - z).max() > 0.05
    assert advance(there, Climb(k, back, means, is_fine=True)) is not None
    assert np.abs(there - z).max() <= 5e-13


def test_a_path_without_an_end_is_left(means: Means) -> None:
    """38 % zeros have no level 5; nor have four values a fourth moment beside three that are held."""
    rng = np.random.default_rng(5)
    x = np.where(rng.uniform(size=4000) < 0.38, 0, 1 + np.abs(rng.normal(size=4000)))
    assert advance(at_level_3(x), Climb(4, GOAL, means, is_fine=True)) is None
    assert advance(at_level_3(np.tile([0.0, 1, 2, 2.5], 1000)), Climb(4, GOAL[:5], means, is_fine=True)) is None


@pytest.mark.parametrize("law", ["normal", "of 256 values"])
def test_room(law: str, means: Means) -> None:
    z = at_level_3(LAWS[law](np.random.default_rng(6), 2**19))
    advance(z[: 2**16].copy(), Climb(4, GOAL, means, is_fine=True))
    found: list[object] = []
    assert peak(lambda: found.append(advance(z, Climb(4, GOAL, means, is_fine=True)))) < 1.5 * z.nbytes
    assert found[0] is not None
