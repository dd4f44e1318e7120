"""Skewness, kurtosis and orthokurtosis of rows, beside SciPy.

The unit is ``scipy.stats.kurtosis(X, axis=1)``. What a user would write for the orthokurtosis,
``scipy.optimize.brentq`` on the skewness of x/(1 - t x) row by row, is timed on a few rows and scaled up. The compiled
kernel is timed where numba is installed, by NUMBA_NUM_THREADS threads.

    python -m benchmarks shape
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.stats
from scipy.optimize import brentq

from symdecouple import stats
from symdecouple.numeric.kernels.compile import is_available
from symdecouple.numeric.moments.skewness_kernel import compiled_orthokurtosis_rows, warm
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import reduce_rows

SHAPES = [(50000, 64), (3000, 1024), (300, 10000), (30, 65536), (1, 2_000_000)]
LAWS = {"normal": "standard_normal", "exponential": "standard_exponential"}
ROWS_BY_HAND = 30


def by_hand(row: np.ndarray) -> float:
    """Return the orthokurtosis as it would be written without us: a bracketed root of the skewness."""
    x = row - row.mean()
    low, high = 1 / x.min(), 1 / x.max()
    edge = 1e-9 * (high - low)

    def skewness(t: float) -> float:
        return float(scipy.stats.skew(x / (1 - t * x)))

    t = brentq(skewness, low + edge, high - edge, xtol=1e-15 * (high - low))
    return float(scipy.stats.kurtosis(x / (1 - t * x), fisher=False))


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(1)
    if is_available():
        print(f"kernels compiled, or read from the disk, in {seconds(warm):.1f} s")
    heads = f"{'kurt':>9} {'our kurtosis':>13} {'orthokurtosis':>14} {'compiled':>9} {'by hand':>9}"
    print(f"{'rows x N':>16} {'law':>15} {heads}")
    for rows, n in SHAPES:
        for law, method in LAWS.items():
            x = getattr(rng, method)((rows, n))
            few = x[:ROWS_BY_HAND]
            runs: dict[str, list[float]] = {"kurt": [], "ours": [], "ortho": [], "compiled": []}
            for _ in range(5):
                runs["kurt"].append(seconds(lambda x=x: scipy.stats.kurtosis(x, axis=1)))
                runs["ours"].append(seconds(lambda x=x: stats.kurtosis(x, axis=1)))
                runs["ortho"].append(seconds(lambda x=x: reduce_rows("numpy", x, orthokurtosis_rows, axis=1)))
                if is_available():
                    compiled = seconds(lambda x=x: reduce_rows("compiled", x, compiled_orthokurtosis_rows, axis=1))
                    runs["compiled"].append(compiled)
            kurt, ours, ortho, compiled = (median(runs[key] or [np.nan]) for key in runs)
            hand = seconds(lambda few=few: [by_hand(row) for row in few]) * rows / len(few)
            print(f"{rows:>8} x {n:<8}{law:>12} {kurt:8.3f}s {ours / kurt:12.2f}x {ortho / kurt:13.2f}x "
                  f"{compiled / kurt:8.2f}x {hand / ortho:8.0f}x", flush=True)
    print("our kurtosis, orthokurtosis and compiled in units of kurt; by hand in units of our orthokurtosis with NumPy")


if __name__ == "__main__":
    main()
