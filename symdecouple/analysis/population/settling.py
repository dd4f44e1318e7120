r"""What samples of a law show that has no orthokurtosis: it drifts with their number, or seems to settle.

A sample of N values reaches about the quantiles 1/N and 1 - 1/N. The law cut off there has a bounded hull and, as a
rule, a root with its pole beyond one cut. As long as next to no mass lies beyond that pole, more samples change little:
they settle, up to samples of one over that mass. All of it is told to three digits, and computed in float64 on nodes
of a quadrature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatLaw", "told_of_samples"]

FloatArray: TypeAlias = NDArray[np.float64]

_COUNTS = (10**2, 10**4, 10**6)
_SETTLED = 0.01  # of the orthokurtosis, from ten thousand values to a million
_RARE = 1e-12  # mass beyond the pole, below which samples of any number in use do not feel it
_FARTHEST = 60.0  # of the places on the line of t: e^60 is beyond float64


class FloatLaw(NamedTuple):
    """Nodes of a law with weights, about a centre, and the ends of its hull, infinite ones included."""

    places: FloatArray
    weights: FloatArray
    low: float
    high: float

    def time(self, place: float) -> float:
        """t at a number of the line: minus and plus infinity are the ends."""
        low, high = (1 / e if np.isfinite(e) else 0.0 for e in (self.low, self.high))
        return float(low + (high - low) / (1 + np.exp(-place)))

    def shape(self, time: float) -> tuple[float, float]:
        """Skewness and kurtosis of x/(1 - t x)."""
        with np.errstate(all="ignore"):
            z = self.places / (1 - time * self.places)
            z = z - self.weights @ z
            square = z * z
            variance = self.weights @ square
            return (float(self.weights @ (z * square) / variance**1.5), float(self.weights @ square**2 / variance**2))

    def root(self, target: float) -> float | None:
        """The place on the line where the skewness is the target; None where float64 sees none."""
        a, b = -_FARTHEST, _FARTHEST
        for _ in range(60):
            middle = (a + b) / 2
            value = self.shape(self.time(middle))[0] - target
            if np.isnan(value):
                return None
            a, b = (a, middle) if value > 0 else (middle, b)
        return None if _FARTHEST - abs(a) < 1 else (a + b) / 2

    def cut(self, count: int) -> FloatLaw | None:
        """The law between its quantiles 1/count and 1 - 1/count."""
        below = np.cumsum(self.weights)
        inside = (below >= 1 / count) & (below <= 1 - 1 / count)
        if inside.sum() < 10:
            return None
        places, weights = self.places[inside], self.weights[inside].copy()
        weights[[0, -1]] /= 2  # a trapezoid ends there
        return FloatLaw(places, weights / weights.sum(), float(places[0]), float(places[-1]))


def told_of_samples(law: FloatLaw, target: float, place: float, scale: float, mass_beyond: Callable[[float], float]
                    ) -> tuple[str, ...]:
    """Return a sentence on what samples show of a law that has no root itself, X = place + scale Y; () if nothing."""
    found: list[tuple[int, float, float]] = []
    for count in _COUNTS:
        cut = law.cut(count)
        at = None if cut is None else cut.root(target)
        if cut is not None and at is not None:
            time = cut.time(at)
            found.append((count, cut.shape(time)[1], 1 / time if time else np.inf))
    if len(found) < 2:
        return ()
    _, value, pole = found[-1]
    beyond = mass_beyond(pole) if np.isfinite(pole) else 0.0
    if abs(value - found[-2][1]) < _SETTLED * value and beyond < _RARE:
        return (f"samples seem to settle at {value:.3g} all the same: a mass below about {_power(beyond)} of the law "
                f"lies beyond the pole of their root, near {place + scale * pole:.3g}",)
    shown: Any = ", ".join(f"{value:.2g} for N = {count:.0e}" for count, value, _ in found)
    return (f"samples drift: cut off where N values end, the law has {shown}",)


def _power(mass: float) -> str:
    """The next power of ten."""
    return f"1e{int(np.ceil(np.log10(mass)))}" if mass else "1e-300"
