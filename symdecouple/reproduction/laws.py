"""Vectors of the source's three laws, whose shape is to be found: generalized normal, gamma, powers of normal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.reproduction.setup import Part, Setup, random_numbers
from symdecouple.stats.moments import decoupled_moments, standardized_moments

__all__ = ["drawn", "moments_of"]

FloatArray = NDArray[np.float64]


def moments_of(setup: Setup, law: str, size: int, vectors: int, k: int = 0) -> Part:
    """Return classical and decoupled moments of order 3 to 6 of the data set of number k, and the `targets`.

    Vectors without decoupled moments are left out.
    """
    return setup.part(f"moments-{law}-{size}", _moments, setup.seed, law, size, vectors, k)


def drawn(seed: int, law: str, size: int, vectors: int, k: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return sample vectors, (vectors, size), and what is to be predicted: the shape or its exponent."""
    random = random_numbers(seed, "regression", law, size, k)
    if law == "GND":
        shape = random.uniform(1, 6, vectors)
        return np.abs(random.standard_normal((vectors, size))) ** shape[:, None], shape
    exponent = random.uniform(-3, 3, vectors)
    shape = 2.0**exponent
    if law == "GMD":
        return random.gamma(shape[:, None], size=(vectors, size)), exponent
    signs = random.choice([-1.0, 1.0], size=(vectors, size))
    return signs * random.gamma(1 / shape[:, None], size=(vectors, size)) ** (1 / shape[:, None]), exponent


def _moments(seed: int, law: str, size: int, vectors: int, k: int) -> dict[str, Any]:
    samples, targets = drawn(seed, law, size, vectors, k)
    original, _ = standardized_moments(samples, axis=1, on_refusal="return")
    decoupled, _ = decoupled_moments(samples, axis=1, on_refusal="return")
    fine = np.isfinite(original).all(axis=1) & np.isfinite(decoupled).all(axis=1)
    return {"MSM": original[fine, 2:], "DF": decoupled[fine, 2:], "targets": targets[fine]}
