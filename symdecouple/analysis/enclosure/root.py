r"""The Moebius root of a sample, proved by interval Newton, and what follows from it.

With x centred exactly, z = x/(1 - t x) has dz/dt = z^2, so that its skewness g and kurtosis k obey

.. math:: \frac{dg}{dt} = 3 s\,(k - g^2 - 1)

For a box T around t_0, the Newton image t_0 - (g(t_0) - c)/g'(T) inside T proves one root in T. There is no other one
on the leaf: the skewness increases (Theorem C).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import mpmath

from symdecouple.analysis.enclosure.numbers import Numbers
from symdecouple.calculus.elementary import World
from symdecouple.calculus.span import determinant
from symdecouple.language.precision import at_bits

__all__ = ["Moved", "approximate_root", "cosines_at", "gram_determinant", "is_away", "is_proved", "moved_by",
           "spare_bits"]

Number: TypeAlias = Any

_STEPS = 200
_SPARE = 2**17  # most bits that are added for values next to each other
_REACH = 50  # of u, in which e^u is the ratio of the ways to both poles


class Moved(NamedTuple):
    """A sample moved by t: its entries standardized, their slopes up to a factor, and moments about the mean."""

    entries: list[Number]
    slopes: list[Number]
    deviation: Number
    skewness: Number
    kurtosis: Number

    def coordinates(self, numbers: Numbers, count: int) -> list[Number]:
        """Standard deviation and standardized moments up to an order."""
        found = [self.deviation, self.skewness, self.kurtosis]
        powers = [v * v * v * v for v in self.entries]
        for _ in range(5, count + 1):
            powers = [p * v for p, v in zip(powers, self.entries, strict=True)]
            found.append(sum(powers) * numbers.number(Fraction(1, len(powers))))
        return found[: count - 1]


def moved_by(numbers: Numbers, centred: Sequence[Fraction], time: Number) -> Moved:
    """Return the sample x/(1 - t x) standardized."""
    one, share = numbers.number(Fraction(1)), numbers.number(Fraction(1, len(centred)))
    exact = [numbers.number(v) for v in centred]
    slopes = [one / (one - time * v) for v in exact]
    z = [v * s for v, s in zip(exact, slopes, strict=True)]
    mean = sum(z) * share
    offsets = [v - mean for v in z]
    squares = [v * v for v in offsets]
    variance = sum(squares) * share
    deviation = numbers.root(variance)
    third = sum(v * q for v, q in zip(offsets, squares, strict=True)) * share
    fourth = sum(q * q for q in squares) * share
    return Moved([v / deviation for v in offsets], [s * s for s in slopes], deviation,
                 third / (variance * deviation), fourth / (variance * variance))


def approximate_root(centred: Sequence[Fraction], target: Number, bits: int, spare: int) -> tuple[Fraction, Fraction]:
    """Return t near the root, and how far the next pole is from it, to about so many bits.

    Newton's method where it stays between bounds, bisection where not, in u with t = (low + high e^u)/(1 + e^u): that
    is as fine next to a pole as elsewhere. With `spare` bits more for numbers that nearly cancel there.
    """
    low, high = 1 / min(centred), 1 / max(centred)
    with at_bits(bits + spare):
        exact = [mpmath.mpf(v.numerator) / v.denominator for v in centred]
        left, right, goal = (mpmath.mpf(v.numerator) / v.denominator for v in (low, high, target))
        b = mpmath.mpf(spare + _REACH)
        a, u = -b, mpmath.mpf(0)
        for _ in range(_STEPS):
            t = (left + right * mpmath.exp(u)) / (1 + mpmath.exp(u))
            value, slope = _skewness_and_slope(exact, t)
            a, b = (a, u) if value > goal else (u, b)
            step = (value - goal) / slope * (right - left) / ((t - left) * (right - t))
            u = u - step if a <= u - step <= b else (a + b) / 2
            if abs(step) < mpmath.mpf(2) ** (12 - bits) or b - a < mpmath.mpf(2) ** -bits:
                break
        t = (left + right * mpmath.exp(u)) / (1 + mpmath.exp(u))
        found = Fraction(*map(int, mpmath.libmp.to_rational(t._mpf_)))
    return found, min(found - low, high - found)


def _skewness_and_slope(exact: Sequence[Number], time: Number) -> tuple[Number, Number]:
    z = [v / (1 - time * v) for v in exact]
    size = len(z)
    mean = mpmath.fsum(z) / size
    offsets = [v - mean for v in z]
    variance = mpmath.fsum(v**2 for v in offsets) / size
    deviation = mpmath.sqrt(variance)
    skewness = mpmath.fsum(v**3 for v in offsets) / size / (variance * deviation)
    kurtosis = mpmath.fsum(v**4 for v in offsets) / size / variance**2
    return skewness, 3 * deviation * (kurtosis - skewness**2 - 1)


def spare_bits(values: Sequence[Fraction], room: Fraction) -> int:
    """Bits that are lost between values next to each other in a wide sample, and next to a skewness out of reach."""
    places = sorted(set(values))
    ratio = (places[-1] - places[0]) / min(b - a for a, b in pairwise(places)) / room
    lost = 3 * (ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1)
    return min(max(lost, 0), _SPARE)


def is_proved(numbers: Numbers, centred: Sequence[Fraction], target: Number, root: Fraction, radius: Fraction) -> bool:
    """Return True iff interval Newton proves exactly one root within the radius, and no pole comes near.

    The target is an enclosure: there is one root for each number in it.
    """
    low, high = 1 / min(centred), 1 / max(centred)
    if not (low < root - radius and root + radius < high):
        return False
    at, over = (moved_by(numbers, centred, t) for t in (numbers.number(root), numbers.around(root, radius)))
    one = numbers.number(Fraction(1))
    slope = 3 * over.deviation * (over.kurtosis - over.skewness * over.skewness - one)
    ends = numbers.ends(slope)
    if ends is None or not ends[0] > 0:
        return False
    step = numbers.ends((at.skewness - target) / slope)
    return step is not None and max(map(abs, step)) < radius


def cosines_at(numbers: Numbers, centred: Sequence[Fraction], moved: Moved | None, count: int
               ) -> dict[tuple[int, int], Number]:
    """Return enclosures of the cosines between gradients of decoupled moments 1..count at the sample, by their orders.

    They are 1, x, w^2 - g w - 1 with w standardized, and DPhi pi_3(z) with the monic cubic pi_3 that is orthogonal to
    1, z, z^2 (Theorem F). A gradient that may be 0, as at critical points, has none.
    """
    one, share = numbers.number(Fraction(1)), numbers.number(Fraction(1, len(centred)))
    here = moved_by(numbers, centred, numbers.number(Fraction(0)))
    gradients = [[one] * len(centred), here.entries, [w * w - here.skewness * w - one for w in here.entries]]
    if moved is not None:
        g, kappa = moved.skewness, moved.kurtosis
        fifth = sum(z * z * z * z * z for z in moved.entries) * share
        ratio = (fifth - kappa * g - g) / (kappa - g * g - one)
        cubic = [z * z * z - ratio * (z * z - g * z - one) - kappa * z - g for z in moved.entries]
        gradients.append([s * c for s, c in zip(moved.slopes, cubic, strict=True)])
    squares = [sum(v * v for v in each) for each in gradients[:count]]
    sizes = {i: numbers.root(square) for i, square in enumerate(squares) if is_away(numbers, square)}
    return {(i + 1, j + 1): sum(a * b for a, b in zip(gradients[i], gradients[j], strict=True)) / (sizes[i] * sizes[j])
            for i in sizes for j in sizes if j < i}


def gram_determinant(centred: Sequence[Fraction], size: int) -> Fraction:
    """The Gram determinant of 1, z, ..., z^(size - 1), z of variance 1, exactly: a Hankel determinant of moments."""
    count = len(centred)
    moments = [sum((v**k for v in centred), Fraction(0)) / count for k in range(2 * size - 1)]
    hankel = determinant([[moments[i + j] for j in range(size)] for i in range(size)], World())
    return Fraction(hankel / moments[2] ** (size * (size - 1) // 2))


def is_away(numbers: Numbers, value: Number) -> bool:
    """True iff an enclosure does not contain 0."""
    ends = numbers.ends(value)
    return ends is not None and (ends[0] > 0 or ends[1] < 0)
