"""Level after level along the narrow path, and the gradients of the features decoupled on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import cosh, log, tanh

from symdecouple import Mean, sample, x
from symdecouple.numeric.paths.narrow_path import Imposed, NarrowPath
from symdecouple.numeric.paths.narrow_path_adjoint import pullback

positive = sample("x", positive=True)
POWERS = [Mean(x**j) for j in range(1, 7)]
EVEN_FIRST = [Mean(x), Mean(x**2), Mean(x**4), Mean(x**3)]
MIXED = [Mean(x), Mean(x**2), Mean(log(cosh(x))), Mean(tanh(x))]


def drawn(features: list[Any], n_rows: int = 5, n: int = 24) -> np.ndarray:
    """Positive numbers where the first feature is one of logarithms."""
    rng = np.random.default_rng(11)
    return rng.lognormal(0, 0.5, size=(n_rows, n)) if features[0].has(log) else rng.normal(size=(n_rows, n))


def levels_of(path: NarrowPath, rows: Any, targets: Any, store: bool = False) -> list[Imposed]:
    """Features 1, 2, ... at their targets, (K,) or (R, K); what one level refuses, those after it refuse."""
    wanted = np.asarray(targets, dtype=np.float64)
    levels: list[Imposed] = []
    for k in range(wanted.shape[-1]):
        start = levels[-1].values if levels else rows
        levels.append(path.follow(start, k + 1, wanted[..., k], held=wanted[..., :k], store=store))
        levels[-1].refusals.update(levels[k - 1].refusals)
    return levels


def decoupled_gradients(path: NarrowPath, rows: Any, targets: Any) -> tuple[np.ndarray, list[Imposed]]:
    """Plain gradients (R, M, N) of f_j at the sample normalized to level j - 1, NaN from a refused level on."""
    levels = levels_of(path, rows, targets, store=True)
    points = [np.ascontiguousarray(rows, dtype=np.float64), *(level.values for level in levels)]
    with np.errstate(all="ignore"):
        each = [path.features.gradients(y, j + 1)[:, j] / y.shape[1] for j, y in enumerate(points)]
    for own, y in zip(each, points, strict=True):
        own[~np.isfinite(y).all(axis=1)] = np.nan
    carried = each[-1][None]
    for level, own in zip(reversed(levels), reversed(each[:-1]), strict=True):
        carried = np.concatenate([own[None], pullback(level, carried)])
    return np.ascontiguousarray(carried.swapaxes(0, 1)), levels


class FirstOrder:
    """The mean: values and gradients, and nothing of second order."""

    names = ("Mean(x)",)

    def __len__(self) -> int:
        return 1

    def values(self, rows: Any) -> Any:
        return rows.mean(axis=1)[:, None]

    def gradients(self, rows: Any, count: int) -> Any:
        return 0 * rows[:, None] + 1
