"""The orthokurtosis from its definition, by bisection with mpmath: shares nothing with the package."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath as mp


def as_fractions(sample: Iterable[Any]) -> list[Fraction]:
    """The exact values of floats or integers."""
    return [Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value)) for value in sample]


def standardized_moment(values: list[Any], order: int) -> Any:
    mean = mp.fsum(values) / len(values)
    central = [value - mean for value in values]
    variance = mp.fsum(c**2 for c in central) / len(values)
    return mp.fsum(c**order for c in central) / len(values) / mp.sqrt(variance) ** order


def _digits_needed(values: list[Fraction], dps: int) -> int:
    """dps and as many more as separate the range from the smallest gap: the root lies that close to a pole."""
    ordered = sorted(set(values))
    ratio = (ordered[-1] - ordered[0]) / min(b - a for a, b in itertools.pairwise(ordered))
    return 2 * dps + 2 * len(str(int(ratio)))


def zero_skewness_time(sample: Iterable[Any], dps: int = 50) -> Any:
    """t in (1/min, 1/max) with skewness(x/(1 - t x)) = 0, x centred; halving until `dps` digits stand."""
    values = as_fractions(sample)
    with mp.workdps(_digits_needed(values, dps)):
        mean = sum(values) / len(values)
        x = [mp.mpf((v - mean).numerator) / (v - mean).denominator for v in values]
        low, high = 1 / min(x), 1 / max(x)
        for _ in range(int(mp.mp.prec)):
            t = (low + high) / 2
            if _third_moment([v / (1 - t * v) for v in x]) < 0:
                low = t
            else:
                high = t
        return (low + high) / 2


def _third_moment(values: list[Any]) -> Any:
    mean = mp.fsum(values) / len(values)
    return mp.fsum((value - mean) ** 3 for value in values)


def orthokurtosis(sample: Iterable[Any], dps: int = 50) -> Any:
    """Kurtosis of x/(1 - t x) at that t."""
    values = as_fractions(sample)
    t = zero_skewness_time(values, dps)
    with mp.workdps(_digits_needed(values, dps)):
        mean = sum(values) / len(values)
        x = [mp.mpf((v - mean).numerator) / (v - mean).denominator for v in values]
        return +standardized_moment([v / (1 - t * v) for v in x], 4)
