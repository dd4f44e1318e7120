"""What a sample of N values can reach: exact limits of the shape statistics, from N and from ties alone.

Theorem C: along x/(1 - t x) the skewness of a sample with at least three distinct values runs strictly between two
ends. At either end the sample has become two-valued: the ties at the minimum against all others, or the ties at the
maximum against all others. Two values, the upper one with the share p, have the skewness (1-2p)/sqrt(p(1-p)).

Comparisons with these ends are made in rational arithmetic: the end squared is a ratio of integers.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

__all__ = [
    "beyond_end",
    "orthokurtosis_range",
    "saturated_skewness",
    "skewness_interval",
    "skewness_range",
]


def saturated_skewness(ties: int, n_samples: int) -> float:
    """Skewness of two values, the upper one taken `ties` times out of `n_samples`.

    .. math:: (1 - 2p)/\\sqrt{p(1-p)}, \\qquad p = \\mathrm{ties}/N

    Parameters
    ----------
    ties, n_samples : int
        0 < ties < n_samples.

    Returns
    -------
    float
        Within one unit in the last place; exact where the value is a small rational.

    Examples
    --------
    >>> saturated_skewness(1, 5)
    1.5
    """
    return float((n_samples - 2 * ties) / (ties * (n_samples - ties)) ** 0.5)


def skewness_interval(at_low: int, at_high: int, n_samples: int) -> tuple[float, float]:
    """Ends of the open interval of skewness that a sample can be moved to along its own skew flow.

    .. math:: \\Bigl(-\\frac{1-2q}{\\sqrt{q(1-q)}},\\; \\frac{1-2p}{\\sqrt{p(1-p)}}\\Bigr),
        \\qquad q = \\mathrm{at\\_low}/N, \\quad p = \\mathrm{at\\_high}/N

    Parameters
    ----------
    at_low, at_high : int
        How many of the values equal the minimum and the maximum.
    n_samples : int
        N, at least ``at_low + at_high``. With equality the sample is two-valued and both ends are its skewness.

    Examples
    --------
    Half of the values tied at the minimum: zero skewness is the limit, never reached.

    >>> low, high = skewness_interval(2, 1, 4)
    >>> low, round(high, 12)
    (0.0, 1.154700538379)

    Source: Theorem C of the documentation; the paper, sec. Critical Points, for the two-valued ends.
    """
    return 0.0 - saturated_skewness(at_low, n_samples), saturated_skewness(at_high, n_samples)


def skewness_range(n_samples: int) -> tuple[float, float]:
    """Smallest and largest skewness of any N values: -(N-2)/sqrt(N-1) and (N-2)/sqrt(N-1).

    Attained by one value apart from N - 1 equal ones, and by nothing else. N is at least 2.

    Examples
    --------
    >>> skewness_range(5)
    (-1.5, 1.5)
    """
    return skewness_interval(1, 1, n_samples)


def orthokurtosis_range(n_samples: int) -> tuple[float, float]:
    """Smallest and largest orthokurtosis of any N values.

    N/2 is attained at -1, 1 and N - 2 zeros. The lower end is 1 for even N, at two values in equal numbers, which are a
    critical point of the skewness; for odd N it is N/(N-1), at -1 and 1 in equal numbers and one 0. N is at least 2.

    Examples
    --------
    Every three distinct values have 3/2:

    >>> orthokurtosis_range(3), orthokurtosis_range(8)
    ((1.5, 1.5), (1.0, 4.0))
    """
    lowest = n_samples / (n_samples - 1) if n_samples % 2 else 1.0
    return lowest, n_samples / 2


def beyond_end(target: float, ties: int, n_samples: int) -> int:
    """1 where `target` lies beyond the upper end (1-2p)/sqrt(p(1-p)), p = ties/N; 0 at it; -1 inside. Exact.

    A float that is the end rounded to nearest counts as the end, on whichever side of it the rounding fell: no other
    number could be given. For the lower end pass the negative target and the ties at the minimum.

    Examples
    --------
    >>> beyond_end(1.5, 1, 5), beyond_end(1.4999999999999998, 1, 5), beyond_end(1.1547005383792515, 1, 4)
    (0, -1, 0)
    """
    exact, numerator, square = Fraction(target), n_samples - 2 * ties, ties * (n_samples - ties)
    below, above = _neighbours(target)
    if _is_at_least(numerator, square, below) and not _is_at_least(numerator, square, above):
        return 0
    return -1 if _is_at_least(numerator, square, exact) else 1


def _is_at_least(numerator: int, square: int, bound: Fraction) -> bool:
    """numerator/sqrt(square) >= bound, without a root: signed squares keep the order."""
    return numerator * abs(numerator) >= bound * abs(bound) * square


def _neighbours(value: float) -> tuple[Fraction, Fraction]:
    """Halfway to the floats on either side."""
    here = Fraction(value)
    return (here + Fraction(nextafter(value, -inf))) / 2, (here + Fraction(nextafter(value, inf))) / 2
