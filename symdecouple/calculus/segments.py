r"""The parts into which constant thresholds split the line.

The arguments of signs that are functions of the sample alone, without averages and parameters, have zeros that can be
isolated where they are rational functions of x, or of one exponential. Between two neighbouring zeros all signs are
constant; one rational point tells them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

from sympy import Dummy, Expr, Integer, Poly, Rational, exp, expand, fraction, log, oo, real_roots, together
from sympy.polys.polyerrors import PolynomialError

from symdecouple.errors import UnsupportedExpression
from symdecouple.language.kinks import Side, in_signs
from symdecouple.language.mean import Mean
from symdecouple.language.radicands import within_bounds
from symdecouple.language.sample import Sample

__all__ = ["Segment", "joined", "points_in", "pure_arguments", "segments"]

MAX_SEGMENTS = 64


@dataclass(frozen=True, slots=True)
class Segment:
    """An open interval between neighbouring thresholds, and the signs of the pure arguments there."""

    low: Expr
    high: Expr
    pattern: tuple[int, ...]

    def text(self, name: str) -> str:
        """Return the interval in words."""
        if self.low == -oo and self.high == oo:
            return f"all {name}"
        if self.low == -oo:
            return f"{name} < {self.high}"
        return f"{name} > {self.low}" if self.high == oo else f"{self.low} < {name} < {self.high}"


@lru_cache(maxsize=256)
def pure_arguments(arguments: tuple[Expr, ...], sample: Sample) -> tuple[Expr, ...]:
    """Return the arguments that are functions of the sample alone, with zeros that are isolated here."""
    pure: list[Expr] = []
    for u in arguments:
        if u.free_symbols != {sample} or u.has(Mean) or any(s.args[0] not in pure for s in u.atoms(Side)):
            continue
        try:
            _zeros(u, sample)
        except UnsupportedExpression:
            continue
        pure.append(u)
    return tuple(pure)


@lru_cache(maxsize=256)
def segments(arguments: tuple[Expr, ...], sample: Sample) -> tuple[Segment, ...]:
    """Return the parts of the domain, in order, with the signs of the pure arguments.

    Raises
    ------
    UnsupportedExpression
        If the zeros of an argument are not isolated here, or there are too many.
    """
    pure = pure_arguments(arguments, sample)
    start, end = sample.interval
    cuts: set[Expr] = set()
    for u in pure:
        cuts |= _zeros(u, sample)
    ends = [start, *sorted((c for c in cuts if start < c < end), key=lambda c: c.evalf(40)), end]
    if len(ends) > MAX_SEGMENTS:
        raise UnsupportedExpression(f"the kinks split the line into more than {MAX_SEGMENTS} parts")
    found: list[Segment] = []
    for left, right in pairwise(ends):
        pattern = _pattern(pure, sample, _between(left, right))
        low = found.pop().low if found and found[-1].pattern == pattern else left
        found.append(Segment(low, right, pattern))
    return tuple(found)


def joined(places: Sequence[Segment]) -> list[Segment]:
    """Return intervals with those that only a threshold keeps apart as one."""
    out: list[Segment] = []
    for place in places:
        low = out.pop().low if out and out[-1].high == place.low else place.low
        out.append(Segment(low, place.high, place.pattern))
    return out


def points_in(places: Sequence[Segment], count: int, rng: random.Random, size: int,
              shape: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))) -> list[Fraction]:
    """Return distinct random rational points in some parts, fewer where these are hard to find.

    `shape` moves and shrinks them: around a place of the line, or towards the finite end of a half line.
    """
    size = max(size, 4 * count)
    found: dict[Fraction, None] = {}
    for _ in range(8 * count):
        if len(found) < count:
            found[_point(rng.choice(places), rng, size, shape)] = None
    return list(found)


def _point(segment: Segment, rng: random.Random, size: int, shape: tuple[Fraction, Fraction]) -> Fraction:
    low, high = (_inner(segment.low, segment.high), _inner(segment.high, segment.low))
    if low is None and high is None:
        return shape[0] + shape[1] * Fraction(rng.randint(-size, size), rng.choice((1, 1, 2, 3)))
    step = shape[1] * Fraction(rng.randint(1, size), rng.choice((1, 2, 3)))
    if high is None and low is not None:
        return low + step
    if low is None and high is not None:
        return high - step
    assert low is not None and high is not None
    return low + (high - low) * Fraction(rng.randint(1, size), size + 1)


def _inner(end: Expr, other: Expr) -> Fraction | None:
    """Return an end of an interval, or a rational just inside it."""
    if end in (oo, -oo):
        return None
    if end.is_Rational:
        return Fraction(int(end.p), int(end.q))
    width = Rational(1, 1000) if other in (oo, -oo) else abs(other - end) / 1000
    inside = end + width if (other - end).is_positive else end - width
    return _near(inside)


def _near(value: Expr) -> Fraction:
    return Fraction(str(value.evalf(30)))


def _between(left: Expr, right: Expr) -> Rational:
    """Return a rational strictly between two numbers."""
    if left == -oo and right == oo:
        return Rational(1, 7)
    if left == -oo:
        return _floor(right) - 1
    if right == oo:
        return -_floor(-left) + 1
    middle = _near((left + right) / 2)
    return Rational(middle.numerator, middle.denominator)


def _floor(value: Expr) -> Any:
    return value.floor() if hasattr(value, "floor") and value.is_Rational else Integer(int(value.evalf(20) // 1)) - 1


def _pattern(pure: Sequence[Expr], sample: Sample, at: Rational) -> tuple[int, ...]:
    signs = []
    for u in pure:
        value = in_signs(u).xreplace({sample: at})
        known = 1 if value.is_positive else -1 if value.is_negative else 0
        if not known:
            number = value.evalf(30)
            known = (number > 0) - (number < 0) if number.is_comparable and abs(number) > Rational(1, 10**20) else 0
        if not known:
            raise UnsupportedExpression(f"the sign of {in_signs(u)} at {sample} = {at} is not known")
        signs.append(int(known))
    return tuple(signs)


def _zeros(u: Expr, sample: Sample) -> set[Expr]:
    """Return what may be zeros or poles of an argument: those of all its forms as the inner signs vary."""
    inner = sorted(u.atoms(Side), key=str)
    found: set[Expr] = set()
    for signs in product((1, -1), repeat=len(inner)):
        smooth = u.xreplace(dict(zip(inner, map(Integer, signs), strict=True)))
        found |= _real_zeros(smooth, sample)
    return found


@lru_cache(maxsize=256)
def _real_zeros(u: Expr, sample: Sample) -> frozenset[Expr]:
    t, scale = Dummy("t", real=True), None
    if u.has(exp):
        rates = {e.args[0] / sample for e in u.atoms(exp) if e.has(sample)}
        smallest = min(rates, key=lambda r: abs(r.evalf()), default=None)
        if smallest is None or any(not (r / smallest).is_Integer for r in rates):
            raise _unknown(u)
        scale = smallest
        form = u.replace(lambda e: isinstance(e, exp) and e.has(sample), lambda e: t ** (e.args[0] / (sample * scale)))
    else:
        form = u.xreplace({sample: t})
    if form.has(sample):
        raise _unknown(u)
    out: set[Expr] = set()
    for part in fraction(together(expand(form))):
        try:
            poly = Poly(part, t)
        except PolynomialError as error:
            raise _unknown(u) from error
        if poly.gens != (t,) or not (poly.domain.is_QQ or poly.domain.is_ZZ) or not within_bounds(poly):
            raise _unknown(u)
        if poly.degree() > 0:
            out |= set(real_roots(poly, multiple=True))
    if scale is None:
        return frozenset(out)
    return frozenset(log(root) / scale for root in out if root.is_positive)


def _unknown(u: Expr) -> UnsupportedExpression:
    return UnsupportedExpression(f"the zeros of {u} are not isolated here: kinks at zeros of polynomials, of rational "
                                 "functions and of sums of exponentials are decided")
