r"""The leaf of a law under its first three moments, and where the skewness has a wanted value: Theorem C for laws.

A law P with three places or more and the hull [A, B] moves, up to shift and scale, along

.. math:: z_t = \frac{x - c}{1 - t\,(x - c)}, \qquad \frac1{A - c} < t < \frac1{B - c}

with its pole c + 1/t off the hull. At an infinite end the bound is t = 0, the law itself, and belongs to the leaf where
its moments exist; with both ends infinite nothing else does. The skewness increases in t, as

.. math:: \frac{d\gamma}{dt} = 3 s\, \mathrm{E}\,(w^2 - \gamma w - 1)^2 > 0, \qquad w = (z_t - m)/s .

Its lower limit, at A, is that of -1/(x - A): -(1 - 2q)/sqrt(q(1 - q)) for an atom q at A; minus infinity without an
atom if E abs(x - A)^-3 is infinite; else finite, and not reached. At an infinite end read the third moment of x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import mpmath
import numpy as np
import sympy as sp
from mpmath import mpf
from sympy import Expr

from symdecouple.analysis.population.quadrature import Quadrature, number_of, value_at
from symdecouple.analysis.population.settling import FloatLaw
from symdecouple.errors import NoClosedForm

__all__ = ["Leaf", "Limit", "Shape", "tail_of", "zero_from"]

Number: TypeAlias = Any

_LOG = mpf(10) ** -6  # exponents nearer to a whole number than this are that number
_FLOAT_LOG = mpf("0.02")  # the same of densities in float64 near a finite end
_FLOAT_POWERS = (1, 3)  # of ten: how near; nearer, 1 + cos(y) is rounding
_STEEP = 1000  # of an exponent: no power


class Shape(NamedTuple):
    """Skewness and kurtosis of z_t."""

    skewness: Number
    kurtosis: Number


@dataclass(frozen=True, slots=True)
class Limit:
    """What the skewness tends to at one end of the leaf.

    Attributes
    ----------
    value : number of mpmath
        Infinite, or finite.
    exact : Expr or None
        Where it is that of an atom.
    is_reached : bool
        True at an infinite end where the law itself has this skewness.
    reason : str
    """

    value: Number
    exact: Expr | None
    is_reached: bool
    reason: str


class Leaf:
    """The leaf of one law; call its methods inside `at_digits(quadrature.work)`."""

    def __init__(self, quadrature: Quadrature) -> None:
        self.quadrature, self.law = quadrature, quadrature.law
        low, high = (number_of(e, quadrature.work) for e in (self.law.low, self.law.high))
        self.ends = low, high

    @property
    def centre(self) -> Number:
        """A place inside."""
        return self.quadrature.middle

    @property
    def times(self) -> tuple[Number, Number]:
        """The ends of t."""
        low, high = (mpf(0) if mpmath.isinf(e) else 1 / (e - self.centre) for e in self.ends)
        return low, high

    def time(self, place: Number) -> Number:
        """Return t at a number of the line: minus and plus infinity are the ends."""
        low, high = self.times
        return low + (high - low) / (1 + mpmath.exp(-place))

    def shape(self, time: Number) -> Shape:
        """Return skewness and kurtosis of z_t."""
        return self._shape(lambda x: (x - self.centre) / (1 - time * (x - self.centre)))

    def _shape(self, moved: Callable[[Number], Number], order: int = 4) -> Shape:
        def powers(x: Number) -> list[Number]:
            z = moved(x)
            square = z * z
            return [z, square, z * square, square * square][:order]

        one, two, three, *four = self.quadrature.expect(powers)
        variance = two - one**2
        third = three - 3 * one * two + 2 * one**3
        fourth = four[0] - 4 * one * three + 6 * one**2 * two - 3 * one**4 if four else mpmath.inf
        return Shape(third / mpmath.sqrt(variance) ** 3, fourth / variance**2)

    def highest_order(self) -> int:
        """Return up to which whole order the moments of the law exist; 99 for all."""
        tails = [tail_of(self.quadrature, end, self.ends) for end in self.ends if mpmath.isinf(end)]
        return next((k - 1 for k in range(1, 100) if not all(tail is None or tail.has(k) for tail in tails)), 99)

    def itself(self) -> Shape:
        """Return the shape of a law that has a third moment."""
        return self._shape(lambda x: x - self.centre, 4 if self.highest_order() >= 4 else 3)

    def mean(self) -> Number:
        """Return the mean of a law that has one."""
        exact = self.law.exact_moment(1)
        return number_of(exact, self.quadrature.work) if exact is not None else (
            self.centre + self.quadrature.expect(lambda x: [x - self.centre])[0])

    def skewness(self) -> Number:
        """Return the skewness of a law that has a third moment."""
        raw = self.law.exact_moments(3)
        return self._shape(lambda x: x - self.centre, 3).skewness if raw is None else self._skewness_of(raw)

    def _skewness_of(self, raw: Sequence[Expr]) -> Number:
        one, two, three = (number_of(m, 2 * self.quadrature.work) for m in raw)
        return (three - 3 * one * two + 2 * one**3) / (two - one**2) ** mpf(1.5)

    def limit(self, upper: bool) -> Limit:
        """Return what the skewness tends to at the upper end of the leaf or at the lower one, and why."""
        end, sign = self.ends[upper], 1 if upper else -1
        place, name = (self.law.high if upper else self.law.low), "right" if upper else "left"
        if mpmath.isinf(end):
            if self.highest_order() < 3:
                return Limit(sign * mpmath.inf, None, False, f"unbounded to the {name} with an infinite third moment")
            try:
                skewness = self.skewness()
            except NoClosedForm:  # its moments lie too far out to be computed
                skewness = mpmath.nan
            return Limit(skewness, None, True, f"unbounded to the {name}: the end of the leaf is the law itself")
        shown = self.law.loc + self.law.scale * place
        if (q := self.law.atom_at(place)) != 0:
            exact = sign * (1 - 2 * q) / sp.sqrt(q * (1 - q))
            return Limit(number_of(exact, self.quadrature.work), exact, False, f"an atom of {q} at {shown}")
        tail = tail_of(self.quadrature, end, self.ends)
        if tail is not None and not tail.has(3):
            return Limit(sign * mpmath.inf, None, False, f"no atom at {shown}, and E|x - A|^-3 is infinite")
        why = "E|x - A|^-3 is finite" if tail is not None else (
            "the density vanishes in float64 near it; a support is the smallest interval that holds the law")
        return Limit(self._finite_limit(place, end), None, False, f"no atom at {shown}, and {why}")

    def _finite_limit(self, place: Expr, end: Number) -> Number:
        """The skewness of -1/(x - end); nan where its moments lie too far out to be computed."""
        if (raw := self.law.exact_moments(3, place) if place == 0 else None) is not None:
            return -self._skewness_of(raw)
        try:
            return self._shape(lambda x: -1 / (x - end), 3).skewness
        except NoClosedForm:
            return mpmath.nan

    def mass_beyond(self, pole: float) -> float:
        """Return the mass farther from the centre than a place in `floats_to`, to a few digits however small it is."""
        sign, start = (1 if pole > 0 else -1), self.centre + pole
        atoms = mpmath.fsum(q for v, q in self.quadrature.atoms if sign * (v - start) > 0)

        def density(distance: Number) -> Number:
            return self.quadrature.density(start + sign * distance)

        near = self.quadrature.spread / 1000
        here, there = density(mpf(0)), density(near)
        if not here > 0:
            return float(atoms)
        length = near / mpmath.log(here / there) if here > there > 0 else self.quadrature.spread
        lengths = mpmath.quad(lambda v: density(length * v) / here, [0, 1, 4, 16], maxdegree=3)
        return float(atoms + here * length * lengths)

    def floats_to(self, last: int | None = None) -> FloatLaw:
        """Return the law in float64, about its centre, with steps of the quadrature down to 2^(1-last)."""
        nodes = [(float(x - self.centre), float(w)) for x, w in self.quadrature.nodes(last)]
        places, weights = (np.array(column) for column in zip(*nodes, strict=True))
        low, high = (float(e - self.centre) for e in self.ends)
        return FloatLaw(places, weights / weights.sum(), low, high)

    def root(self, target: Number, digits: int) -> Number | None:
        """Return the place on the line of `time` where the skewness is `target`, to so many digits; None if none is.

        From the root in float64 outward, until poles are as near to the ends as the digits of the quadrature tell.
        """
        reach = (digits + 6) * mpmath.log(10)

        start = self.floats_to().root(float(target))
        here, step = (mpf(0), mpf(1)) if start is None else (mpf(start), mpf(10) ** -9)
        return zero_from(lambda place: self.shape(self.time(place)).skewness - target, here, step, 8, reach, digits)


def zero_from(function: Callable[[Number], Number], start: Number, step: Number, factor: int, reach: Number, digits: int
              ) -> Number | None:
    """The zero of an increasing function, to so many digits, by growing steps up to a reach; None if none is there.

    Then secants, that of Illinois where one end stays.
    """
    b, fb = start, function(start)
    a, fa, step = b, fb, -step if fb > 0 else step
    while fb * fa > 0:
        if abs(b) >= reach:
            return None
        a, fa, b = b, fb, max(min(b + step, reach), -reach)
        fb, step = function(b), step * factor
    tolerance = mpf(10) ** -digits
    if fa == 0 or fb == 0:
        return a if fa == 0 else b
    while abs(b - a) > tolerance * (1 + abs(b)):
        c = b - fb * (b - a) / (fb - fa)
        fc = function(c)
        if fc == 0 or abs(c - b) <= tolerance * (1 + abs(b)) / 4:
            return c
        if fc * fb < 0:
            a, fa = b, fb
        else:
            fa /= 2
        b, fb = c, fc
    return b


class Tail(NamedTuple):
    """How a law falls at an end: E abs(x)^k is finite for k < exponent, and for k = exponent iff `is_finite_there`; at
    a finite end E abs(x - end)^-k."""

    exponent: Number
    is_finite_there: bool = False

    def has(self, order: int) -> bool:
        """Return whether the expectation of this order is finite."""
        return bool(order < self.exponent or (order == self.exponent and self.is_finite_there))


def tail_of(quadrature: Quadrature, end: Number, hull: tuple[Number, Number]) -> Tail | None:
    """Return how a law falls at an end of its hull; None where its density vanishes there in float64.

    With L = log of the distance, y f falls like y^-a L^-b where its slope over L is -(a + b/L): a and b are read off
    two distances. Slopes that grow with L are those of an exponential or a lognormal law: a is infinite.
    """
    law = quadrature.law
    if not law.pieces:
        return Tail(mpmath.inf)  # whole numbers were read only as far as their masses fall fast
    piece, outward = (law.pieces[-1], 1) if end == hull[1] else (law.pieces[0], -1)
    is_far = mpmath.isinf(end)
    unit = mpf(1) if law.standard else abs(quadrature.tail_place(outward > 0) - (quadrature.middle if is_far else end))
    is_told = law.is_exact or is_far or end == 0
    powers = (quadrature.digits // 3, 2 * (quadrature.digits // 3)) if is_told else _FLOAT_POWERS

    def size(power: int) -> Number | None:
        distance = unit * mpf(10) ** (power if is_far else -power)
        value = value_at(piece.density, outward * distance if is_far else end - outward * distance)
        if not mpmath.isfinite(value):
            return mpf("-inf")
        return mpmath.log(value * distance) if value > 0 else None

    slopes = []
    for power in powers:
        near, far = size(power), size(power + 1)
        if near is None or far is None:
            return Tail(mpmath.inf) if law.is_exact or is_far else None
        slopes.append((near - far) / mpmath.log(10))
    first, second = slopes
    if not mpmath.isfinite(second) or second - first > (1 + abs(first)) / 4 or second > _STEEP:
        return Tail(mpmath.inf)
    length = [(p + mpf(1) / 2) * mpmath.log(10) for p in powers]
    rate = (first - second) / (1 / length[0] - 1 / length[1])
    exponent = second - rate / length[1]
    whole = mpmath.nint(exponent)
    if abs(exponent - whole) > (_LOG + abs(first - second) / 8 if law.is_exact or is_far else _FLOAT_LOG):
        return Tail(exponent)
    return Tail(whole, bool(rate > 1 + _LOG) and law.is_exact)
