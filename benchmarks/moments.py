"""Decoupled moments to order 6, and their gradients, beside SciPy.

The unit is ``scipy.stats.kurtosis(X, axis=1)``. What a user would write, ``solve_ivp`` with the projection by ``lstsq``
in its right-hand side, row by row, is timed on a few rows and scaled up. The table shows NumPy and the compiled
loops, which are compiled first, by NUMBA_NUM_THREADS threads. Errors are those of order 5 and 6 against a tolerance of
1e-13.

    python -m benchmarks moments
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.stats
from scipy.integrate import solve_ivp

from symdecouple.numeric.kernels.compile import is_available
from symdecouple.numeric.moments import moment_path_kernel
from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.levels import climb, decoupled_rows, gaussian_moments
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.samples.batch import SampleMatrix

SHAPES = [(2000, 64), (400, 512), (60, 4096), (4, 65536)]
LAWS = {"normal": "standard_normal", "exponential": "standard_exponential"}
GAUSSIAN = gaussian_moments(5)
FEW = 3  # rows by hand
SOME = 16  # rows by NumPy


def by_hand(z: np.ndarray) -> float:
    """Return the sixth decoupled moment of a sample at level 3 as it would be written without us."""
    for k in (4, 5):
        first, target = np.mean(z**k), GAUSSIAN[k - 1]

        def slope(s: float, y: np.ndarray, k: int = k, change: float = target - first) -> np.ndarray:
            below = np.vander(y, k - 1)
            g = y ** (k - 1) - below @ np.linalg.lstsq(below, y ** (k - 1), rcond=None)[0]
            return change * g / (k * np.mean(g * y ** (k - 1)))

        z = solve_ivp(slope, (0, 1), z, method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
    return float(np.mean(z**6))


def seconds(function: Callable[[], Any], repeat: int = 5) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def error(x: np.ndarray, compiled: bool) -> float:
    """Return the largest error of orders 5 and 6, beside 1 or beside the value."""
    exact = climb(x, 6, (1.0, *GAUSSIAN), rtol=1e-13).moments[5:].T
    found = decoupled_rows(SampleMatrix.of(x), 6, GAUSSIAN, compiled=compiled).values[:, 4:]
    return float(np.nanmax(np.abs(found - exact) / np.maximum(1, np.abs(exact))))


def main() -> None:
    rng = np.random.default_rng(1)
    if is_available():
        start = time.process_time()
        moment_path_kernel.warm()
        print(f"compiled, or loaded from the disk, in {time.process_time() - start:.1f}s of processor time")
    heads = (("rows x N", 14), ("law", 12), ("ns of kurt", 11), ("compiled", 9), ("NumPy", 8), ("gradients", 10),
             ("by hand", 9), ("error", 8), ("of NumPy", 9))
    print(" ".join(f"{head:>{width}}" for head, width in heads))
    for rows, n in SHAPES:
        for law, method in LAWS.items():
            x = getattr(rng, method)((rows, n))
            some = x[:SOME]
            z = impose_skewness(x[:FEW], 0.0).values
            kurt = seconds(lambda x=x: scipy.stats.kurtosis(x, axis=1)) / x.size
            numpys = seconds(lambda s=some: decoupled_rows(SampleMatrix.of(s), 6, GAUSSIAN), 3) / some.size
            gradients = seconds(lambda s=some: standardized_gradients(s, 6, (1.0, *GAUSSIAN)), 3) / some.size
            hand = seconds(lambda z=z: [by_hand(row) for row in z], 1) / z.size
            ours, wrong = np.nan, np.nan
            if is_available():
                ours = seconds(lambda x=x: decoupled_rows(SampleMatrix.of(x), 6, GAUSSIAN, compiled=True)) / x.size
                wrong = error(some[:4], True)
            print(f"{rows:>6} x {n:<6}{law:>12} {1e9 * kurt:11.1f} {ours / kurt:8.1f}x {numpys / kurt:7.0f}x "
                  f"{gradients / numpys:9.2f}p {hand / ours:8.0f}x {wrong:8.0e} {error(some[:4], False):9.0e}",
                  flush=True)
    print("compiled and NumPy in units of kurt; gradients in units of NumPy's own pass; by hand in units of compiled")


if __name__ == "__main__":
    main()
