"""The narrow path in batches, beside what a user writes: SciPy's DOP853 on the projected gradient, row by row.

Both are run to about the same accuracy; the largest distance of the two normalized samples is printed with the times.
Times are medians; those of the rival are measured on a few rows and scaled up. Ratios above 1 are in our favour.

    python -m benchmarks narrow_path
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from sympy import cosh, log, tanh

from symdecouple import Mean, x
from symdecouple.numeric.paths.narrow_path import Imposed, NarrowPath
from symdecouple.numeric.paths.narrow_path_adjoint import pullback
from symdecouple.numeric.precision.path import follow_mp

Array = NDArray[np.float64]
ROWS_BY_HAND = 5
SHAPES = [(1, 64), (100, 64), (1000, 64), (100, 1024), (10, 16384)]

POWERS = [Mean(x**j) for j in range(1, 7)]
MIXED = [Mean(x), Mean(x**2), Mean(log(cosh(x))), Mean(tanh(x))]


def powers(y: Array) -> tuple[list[Any], list[Array]]:
    return [np.mean(y**j) for j in range(1, 7)], [j * y ** (j - 1) for j in range(1, 7)]


def mixed(y: Array) -> tuple[list[Any], list[Array]]:
    values = [np.mean(y), np.mean(y**2), np.mean(np.log(np.cosh(y))), np.mean(np.tanh(y))]
    return values, [np.ones_like(y), 2 * y, np.tanh(y), 1 / np.cosh(y) ** 2]


CASES: list[tuple[str, list[Any], Callable[[Array], tuple[list[Any], list[Array]]], list[float], list[str]]] = [
    ("powers 1..6", POWERS, powers, [0, 1, 0, 3, 0], ["normal", "gamma"]),
    ("x, x^2, log cosh, tanh", MIXED, mixed, [0, 1, 0.3745], ["normal"]),
]


def by_hand(function: Callable[[Array], tuple[list[Any], list[Array]]], y: Array, targets: list[float]) -> Array:
    """The narrow path as it would be written without us; gradients are given, which is already a help."""
    for k, target in enumerate(targets):
        distance = target - function(y)[0][k]

        def slope(_: float, y: Array, k: int = k, distance: float = distance) -> Array:
            gradients = function(y)[1]
            basis, own = np.array(gradients[:k]).reshape(k, len(y)).T, gradients[k]
            across = own - basis @ np.linalg.lstsq(basis, own, rcond=None)[0]
            return np.asarray(distance * across / np.mean(across * own))

        y = solve_ivp(slope, (0, 1), y, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return y


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def draw(law: str, shape: tuple[int, int]) -> Array:
    rng = np.random.default_rng(1)
    return rng.normal(size=shape) if law == "normal" else rng.gamma(1.0, size=shape)


def levels_of(path: NarrowPath, rows: Array, targets: list[float], store: bool = False) -> list[Imposed]:
    levels: list[Imposed] = []
    for k, target in enumerate(targets):
        start = levels[-1].values if levels else rows
        levels.append(path.follow(start, k + 1, target, held=targets[:k], store=store))
    return levels


def gradients_of(path: NarrowPath, rows: Array, targets: list[float]) -> Array:
    """Those of all decoupled features, (M, R, N)."""
    levels = levels_of(path, rows, targets, store=True)
    carried = np.empty((0, *rows.shape))
    for j in reversed(range(len(targets) + 1)):
        y = levels[j - 1].values if j else rows
        carried = np.concatenate([path.features.gradients(y, j + 1)[None, :, j] / y.shape[1], carried])
        carried = pullback(levels[j - 1], carried) if j else carried
    return carried


def in_float64() -> None:
    print(f"{'features':24}{'law':8}{'rows x N':>14}{'ours':>10}{'by hand':>10}{'ratio':>8}"
          f"{'gradients':>11}{'residual':>10}{'distance':>10}")
    for label, features, function, targets, laws in CASES:
        path = NarrowPath(features, rtol=1e-13)
        gradients_of(path, draw("normal", (1, 64)), targets)  # compiles
        for law in laws:
            for shape in SHAPES:
                rows = draw(law, shape)
                runs = [seconds(lambda path=path, rows=rows, t=targets: levels_of(path, rows, t)) for _ in range(3)]
                ours, levels = median(run[0] for run in runs), runs[0][1]
                few = rows[:ROWS_BY_HAND]
                hand, others = seconds(lambda few=few, f=function, t=targets: [by_hand(f, row, t) for row in few])
                hand *= len(rows) / len(few)
                backwards, _ = seconds(lambda path=path, rows=rows, t=targets: gradients_of(path, rows, t))
                apart = np.nanmax(np.abs(levels[-1].values[: len(few)] - np.array(others)))
                residual = max(np.nanmax(level.residual) for level in levels)
                print(f"{label:24}{law:8}{shape[0]:>6} x {shape[1]:<5}{ours:9.3f}s{hand:9.3f}s{hand / ours:7.1f}x"
                      f"{backwards / ours:10.1f}x{residual:10.1e}{apart:10.1e}", flush=True)


def in_many_digits() -> None:
    row: Any = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233]
    print(f"\n{'x..x^6, N = 12':24}{'digits':>8}{'level':>7}{'seconds':>9}{'steps':>7}{'error':>10}")
    for digits in (15, 30):
        y = row
        for k, target in enumerate((0, 1, 0, 3, 0), 1):
            spent, moved = seconds(lambda y=y, k=k, target=target, d=digits: follow_mp(POWERS, y, k, target, d))
            y = moved.values
            print(f"{'':24}{digits:8}{k:7}{spent:9.2f}{moved.steps:7}"
                  f"{mpmath.nstr(moved.error, 2):>10}", flush=True)


def main() -> None:
    in_float64()
    in_many_digits()


if __name__ == "__main__":
    main()
