"""Laws that rows are drawn from, mild and steep, rounded, far from zero, and small: for the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "steep": lambda rng, shape: np.exp(5 * rng.normal(size=shape)),
    "gamma": lambda rng, shape: rng.gamma(0.02, size=shape),
    "rounded": lambda rng, shape: np.round(rng.normal(size=shape)),
    "offset": lambda rng, shape: 1e8 + rng.exponential(size=shape),
    "small": lambda rng, shape: 1e-150 * rng.standard_t(3, size=shape),
}
