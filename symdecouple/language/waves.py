"""Sines, cosines and tangents in one basis: products as sums, phases split off, no quotient but the tangent.

    cos a cos b = (cos(a - b) + cos(a + b))/2,   1/cos^2 = 1 + tan^2,   sin(c + a) = sin c cos a + cos c sin a
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm

from sympy import Expr, Mul, Rational, S, cos, cot, csc, expand, sec, sin, tan

from symdecouple.language.sample import Sample

__all__ = ["WAVES", "common_measure", "of_sine_and_cosine", "of_sum", "split_phase", "wave_form", "wave_quotient",
           "with_tangents"]

_EXPONENTS = {sin: (1, 0), cos: (0, 1), tan: (1, -1), cot: (-1, 1), sec: (0, -1), csc: (-1, 0)}
WAVES = tuple(_EXPONENTS)


def common_measure(numbers: Iterable[Rational]) -> Rational:
    """Return the largest rational of which all are whole multiples."""
    found = list(numbers)
    below = lcm(*(int(k.q) for k in found))
    return Rational(gcd(*(int(k * below) for k in found)), below)


def of_sine_and_cosine(wave: type[Expr], sine: Expr, cosine: Expr) -> Expr:
    """Return a wave of the angle that has this sine and this cosine.

    Examples
    --------
    >>> from sympy.abc import s, c
    >>> of_sine_and_cosine(tan, s, c), of_sine_and_cosine(sec, s, c)
    (s/c, 1/c)
    """
    above, below = _EXPONENTS[wave]
    return sine**above * cosine**below


def of_sum(sine: Expr, cosine: Expr, other_sine: Expr, other_cosine: Expr) -> tuple[Expr, Expr]:
    """Return sine and cosine of the sum of two angles."""
    return sine * other_cosine + cosine * other_sine, cosine * other_cosine - sine * other_sine


def wave_form(waves: list[Expr]) -> dict[Expr, Expr]:
    """Write a product of sines and cosines as a sum of single ones (product to sum)."""
    total: dict[Expr, Expr] = {S.One: S.One}
    for factor in waves:
        theta = factor.args[0]
        step: dict[Expr, Expr] = {}
        for wave, c in total.items():
            for new, a in _wave_product(wave, factor, theta):
                step[new] = step.get(new, S.Zero) + c * a
        total = {wave: c for wave, c in step.items() if c != 0}
    return total


def _wave_product(wave: Expr, factor: Expr, theta: Expr) -> list[tuple[Expr, Expr]]:
    half = Rational(1, 2)
    if wave == 1:
        return [(factor, S.One)]
    phi = wave.args[0]
    low, high = expand(phi - theta), expand(phi + theta)
    if isinstance(wave, cos) == isinstance(factor, cos):
        sign = 1 if isinstance(wave, cos) else -1
        terms = [half * cos(low), sign * half * cos(high)]
    elif isinstance(wave, sin):
        terms = [half * sin(low), half * sin(high)]
    else:
        terms = [-half * sin(low), half * sin(high)]
    return [(t.as_coeff_Mul()[1], t.as_coeff_Mul()[0]) for t in terms if t != 0]


def split_phase(wave: Expr, sample: Sample) -> Expr:
    phase, moving = expand(wave.args[0]).as_independent(sample, as_Add=True)
    if phase == 0:
        return wave.func(moving)
    return of_sum(sin(phase), cos(phase), sin(moving), cos(moving))[0 if isinstance(wave, sin) else 1]


def with_tangents(expr: Expr, sample: Sample) -> Expr:
    """Write quotients of waves of one moving phase through powers of its tangent (or cotangent).

    A product sin^s cos^c stays where s and c are positive; sin^s/cos^n becomes tan^k, times 1/cos where n - s is odd.
    """
    powers: dict[Expr, list[int]] = {}
    others = []
    for factor in Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if type(base) in _EXPONENTS and base.has(sample) and exponent.is_Integer:
            entry = powers.setdefault(base.args[0], [0, 0])
            for k in (0, 1):
                entry[k] += int(exponent) * _EXPONENTS[type(base)][k]
        else:
            others.append(factor)
    if not powers:
        return expr
    return Mul(*others, *(wave_quotient(theta, *entry) for theta, entry in powers.items()))


def wave_quotient(theta: Expr, s: int, c: int) -> Expr:
    """Return sin^s cos^c, through tangents or cotangents where one of the exponents is negative."""
    if c < 0 <= s:
        return _quotient(sin(theta), cos(theta), tan(theta), s, -c)
    if s < 0 <= c:
        return _quotient(cos(theta), sin(theta), cot(theta), c, -s)
    return sin(theta) ** s * cos(theta) ** c


def _quotient(top: Expr, bottom: Expr, ratio: Expr, s: int, n: int) -> Expr:
    """Return top^s/bottom^n, n > 0, with top^2 + bottom^2 = 1 and ratio = top/bottom."""
    if s <= n:
        return ratio**s * (1 + ratio**2) ** ((n - s) // 2) / bottom ** ((n - s) % 2)
    rest = _quotient(top, bottom, ratio, s - 2, n - 2) if n > 2 else top ** (s - 2) * bottom ** (2 - n)
    return _quotient(top, bottom, ratio, s - 2, n) - rest
