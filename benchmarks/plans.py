"""A plan of the first four moments, beside what a user writes: standardize, brentq on the skew flow, row by row.

All in one process, in turn; times are medians. Units: `kurt`, scipy.stats.kurtosis(axis=1) of the same samples.
Gradients are compared with central differences of the hand-written function, which needs 2 N of its calls a row.
`compiled` is the transform with `skewness_kernel`, by NUMBA_NUM_THREADS threads, where numba is installed;
everything else is NumPy.

    python -m benchmarks plans
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.stats
from numpy.typing import NDArray
from scipy.optimize import brentq

from symdecouple import Plan, decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.kernels.compile import is_available
from symdecouple.numeric.moments.skewness_kernel import warm

Array = NDArray[np.float64]
SHAPES = [(2000, 64), (1000, 512), (100, 8192)]
LAWS: dict[str, Callable[[Any, Any], Array]] = {
    "normal": lambda rng, shape: rng.normal(size=shape), "exponential": lambda rng, shape: rng.exponential(size=shape)}
ROWS_BY_HAND = 20
REPEATS = 5


def by_hand(x: Array) -> Array:
    """Mean, variance, skewness and orthokurtosis of one row."""
    z = (x - x.mean()) / x.std()

    def moved(t: float) -> Array:
        y = z / (1 - t * z)
        return np.asarray((y - y.mean()) / y.std())

    inside = 1 - 1e-9
    t = brentq(lambda t: np.mean(moved(t) ** 3), inside / z.min(), inside / z.max(), xtol=1e-15)
    return np.array([x.mean(), x.var(), np.mean(z**3), np.mean(moved(t) ** 4)])


def rows_by_hand(samples: Array) -> Array:
    return np.array([by_hand(row) for row in samples])


def there_and_back(plan: Plan, samples: Array) -> Any:
    return plan.denormalize(plan.normalize(samples), plan.transform(samples))


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without compiled kernels."""

    def run(*args: Any) -> Any:
        with patch.dict(os.environ, NUMBA_DISABLE_JIT="1"):
            return function(*args)

    return run


def main() -> None:
    plan = decouple(raw_moments(4))
    if is_available():
        print(f"kernels compiled, or read from the disk, in {seconds(warm):.1f} s")
    heads = ("transform", "compiled", "normalize", "round trip", "gradients")
    print(f"{'':24}{''.join(f'{head:>11}' for head in heads)}   (kurt)   by hand / ours: "
          "transform, gradients; largest difference")
    for shape in SHAPES:
        for name, law in LAWS.items():
            samples = law(np.random.default_rng(0), shape)
            tasks: dict[str, Callable[[], Any]] = {
                "kurt": partial(scipy.stats.kurtosis, samples, axis=1),
                "transform": partial(in_numpy(plan.transform), samples),
                "compiled": partial(plan.transform, samples),
                "normalize": partial(in_numpy(plan.normalize), samples),
                "round trip": partial(in_numpy(there_and_back), plan, samples),
                "gradients": partial(in_numpy(plan.gradients), samples),
                "hand": partial(rows_by_hand, samples[:ROWS_BY_HAND]),
            }
            runs = [{task: seconds(run) for task, run in tasks.items()} for _ in range(REPEATS)]
            times = {task: median(run[task] for run in runs) for task in tasks}
            hand = times["hand"] / ROWS_BY_HAND * shape[0]
            first = samples[:ROWS_BY_HAND]
            off = np.abs(plan.transform(first) - rows_by_hand(first)).max()
            ratios = "".join(f"{times[head] / times['kurt']:>11.1f}" for head in heads)
            print(f"{name:12}{shape[0]:>6}x{shape[1]:<5}{ratios}{'':12}{hand / times['transform']:7.1f}"
                  f"{2 * shape[1] * hand / times['gradients']:9.0f}{off:12.1e}", flush=True)


if __name__ == "__main__":
    main()
