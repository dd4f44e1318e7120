"""Moments in exact arithmetic, the orthokurtosis by bisection with mpmath, its table: nothing of the package."""

import itertools
import json
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp

TABLE = json.loads((Path(__file__).parents[1] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))


def as_fractions(sample: Iterable[Any]) -> list[Fraction]:
    """The exact values of floats or integers."""
    return [Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value)) for value in sample]


def central_moments(sample: Iterable[Any], order: int, weights: Iterable[Any] | None = None
                    ) -> tuple[Fraction, list[Fraction]]:
    """The mean, and the central moments of orders 0 to `order`; as whole numbers of one unit, which is fast."""
    values = as_fractions(sample)
    heavy = [Fraction(1)] * len(values) if weights is None else as_fractions(weights)
    units = [math.lcm(*(v.denominator for v in part)) for part in (values, heavy)]
    whole, counts = ([int(v * unit) for v in part] for part, unit in zip((values, heavy), units, strict=True))
    total, middle = sum(counts), sum(map(int.__mul__, whole, counts))
    gaps = [total * v - middle for v in whole]
    return Fraction(middle, total * units[0]), [
        Fraction(sum(c * g**k for c, g in zip(counts, gaps, strict=True)), total * (total * units[0]) ** k)
        for k in range(order + 1)]


def moments(sample: Iterable[Any], order: int, weights: Iterable[Any] | None = None) -> list[float]:
    """Mean, variance and standardized moments; only the root of their squares is rounded."""
    mean, central = central_moments(sample, order, weights)
    return [float(mean), float(central[2]), *(
        math.sqrt(c**2 / central[2] ** k) * (1 if c > 0 else -1) for k, c in enumerate(central[3:], 3))]


def _digits_needed(values: list[Fraction], dps: int) -> int:
    """dps and as many more as separate the range from the smallest gap: the root lies that close to a pole."""
    ordered = sorted(set(values))
    ratio = (ordered[-1] - ordered[0]) / min(b - a for a, b in itertools.pairwise(ordered))
    return 2 * dps + 2 * len(str(int(ratio)))


def means(weights: Iterable[Any] | None) -> Callable[[list[Any]], Any]:
    """The mean, by shares of the weights in the digits of mpmath."""
    if weights is None:
        return lambda values: mp.fsum(values) / len(values)
    heavy = as_fractions(weights)
    shares = [mp.mpf(s.numerator) / s.denominator for s in (w / sum(heavy) for w in heavy)]
    return lambda values: mp.fdot(values, shares)


def at_skewness(sample: Iterable[Any], target: float = 0, dps: int = 50, weights: Iterable[Any] | None = None
                ) -> tuple[list[Any], list[Any]]:
    """Standardized z = x/(1 - t x), x centred, t in (1/min, 1/max) with this skewness; and dz/dx at a fixed map.

    t is halved until `dps` digits stand, and as many more are carried along.
    """
    values, weights = as_fractions(sample), None if weights is None else as_fractions(weights)
    middle = central_moments(values, 0, weights)[0]
    with mp.workdps(_digits_needed(values, dps)):
        x = [mp.mpf((v - middle).numerator) / (v - middle).denominator for v in values]
        mean = means(weights)

        def moved(t: Any) -> list[Any]:
            z = [v / (1 - t * v) for v in x]
            centre = mean(z)
            return [v - centre for v in z]

        low, high = 1 / min(x), 1 / max(x)
        for _ in range(int(mp.mp.prec)):
            t = (low + high) / 2
            z = moved(t)
            wanted = target * mp.sqrt(mean([v**2 for v in z])) ** 3 if target else 0
            low, high = (t, high) if mean([v**3 for v in z]) < wanted else (low, t)
        z = moved(t)
        deviation = mp.sqrt(mean([v**2 for v in z]))
        return [v / deviation for v in z], [1 / (1 - t * v) ** 2 / deviation for v in x]


def orthokurtosis(sample: Iterable[Any], dps: int = 50, weights: Iterable[Any] | None = None) -> Any:
    """The fourth moment at no skewness."""
    values, weights = as_fractions(sample), None if weights is None else as_fractions(weights)
    z, _ = at_skewness(values, 0, dps, weights)
    with mp.workdps(_digits_needed(values, dps)):
        return means(weights)([v**4 for v in z])
