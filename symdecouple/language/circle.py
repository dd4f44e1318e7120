r"""Rational functions of the waves of one angle, in a basis.

With c = cos(theta), s = sin(theta), s^2 = 1 - c^2, a denominator P + s Q is made rational by P - s Q, and

.. math:: R(\sin\theta, \cos\theta) = A(c) + s\,B(c), \qquad
    A, B = \sum_k a_k c^k + \sum_{q, j} \sum_{i < \deg q} b_{qji}\, \frac{c^i}{q(c)^j}

The functions c^k, s c^k, c^i/q^j, s c^i/q^j (q monic, irreducible) are linearly independent over constants: where a
combination A + s B vanishes, theta to -theta shows that A and B do, and partial fractions are unique. They are
written as waves cos(k theta), sin(k theta), as such waves over q^j, and, by an invertible change of basis,

.. math:: \frac{1}{c^n}, \frac{s}{c^n} \to \tan^k\theta, \frac{\tan^k\theta}{\cos\theta}, \qquad
    \frac{1}{(1 \pm c)^j}, \frac{s}{(1 \pm c)^j} \to \cot^k\theta, \frac{\cot^k\theta}{\sin\theta}.

One denominator D = p + u c + v s stays as it is, with the functions 1/D^j and s/D^j (c/D^j where u = 0).
A pole is written in one way only if all functions have the same theta: 1/cos(2x) is 1/(2 cos^2 x - 1). `Angles` are
the common measures of the angles in a set, and write denominators and functions in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import NamedTuple

from sympy import (
    Add,
    Dummy,
    Expr,
    Mul,
    Poly,
    Pow,
    Rational,
    S,
    chebyshevt,
    chebyshevu,
    cos,
    fraction,
    sin,
)
from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import check
from symdecouple.language.gate import cancel, expand, together
from symdecouple.language.mean import Mean
from symdecouple.language.partial_fractions import partial_fractions
from symdecouple.language.sample import Sample
from symdecouple.language.waves import (
    WAVES,
    common_measure,
    of_sine_and_cosine,
    of_sum,
    split_phase,
    wave_form,
    wave_quotient,
)

__all__ = ["Angles", "angle_of", "circle_form"]

MULTIPLE = 16  # of the base angle: beyond, functions stay as they are
DEGREE = 64  # of all numerators and denominators, in c and s
C, SINE = Dummy("c", real=True), Dummy("s", real=True)

LINE = Dummy("d", real=True)

Pair = tuple[Poly, Poly]


class Halves(NamedTuple):
    """A(c) and B(c) of A + s B in partial fractions, and functions of c and s that are added."""

    even: dict[Expr, Expr]
    odd: dict[Expr, Expr]
    poles: dict[Expr, Expr]


def angle_of(wave: Expr, sample: Sample) -> tuple[Rational, Expr, Expr]:
    """Return (k, t, phase) with angle k t + phase, t without rational factor and sign, phase constant."""
    phase, moving = expand(wave.args[0]).as_independent(sample, as_Add=True)
    k, t = moving.primitive()
    return (-k, -t, phase) if t.could_extract_minus_sign() else (k, t, phase)


def circle_form(factors: Iterable[Expr], sample: Sample) -> tuple[list[dict[Expr, Expr]], list[Expr]]:
    """Return quotients of waves, one form for each angle, and the factors that are none.

    Products of sines and cosines without a quotient of the same angle are among the rest.
    """
    groups: dict[Expr, list[Expr]] = {}
    rest: list[Expr] = []
    for factor in factors:
        t = _angle_within(factor, sample)
        if t is None:
            rest.append(factor)
        else:
            groups.setdefault(t, []).append(factor)
    forms = []
    for t, members in groups.items():
        form = None if all(map(_is_product, members)) else _form(members, t, sample)
        if form is None:
            rest += members
        else:
            forms.append(form)
    return forms, rest


def _angle_within(factor: Expr, sample: Sample) -> Expr | None:
    """Return t if the factor is a rational function of waves whose angles are multiples of t, and phases."""
    waves = [w for w in factor.atoms(*WAVES) if w.has(sample)]
    if not waves or not factor.as_base_exp()[1].is_Integer:
        return None
    if factor.xreplace(dict.fromkeys(waves, C)).has(sample) or not _is_rational(factor):
        return None
    found = {angle_of(w, sample)[1] for w in waves}
    return found.pop() if len(found) == 1 else None


def _is_rational(expr: Expr) -> bool:
    """True iff waves enter by sums, products and whole powers."""
    if isinstance(expr, WAVES) or not expr.atoms(*WAVES):
        return True
    if isinstance(expr, (Add, Mul)):
        return all(map(_is_rational, expr.args))
    return bool(expr.is_Pow and expr.exp.is_Integer) and _is_rational(expr.base)


def _is_product(factor: Expr) -> bool:
    base, exponent = factor.as_base_exp()
    return isinstance(base, (sin, cos)) and exponent > 0


def _form(members: list[Expr], t: Expr, sample: Sample) -> dict[Expr, Expr] | None:
    """Return the form of a product; None where phases differ, or where it is too large."""
    angles = {w: angle_of(w, sample) for factor in members for w in factor.atoms(*WAVES) if w.has(sample)}
    unit = common_measure(k for k, _, _ in angles.values())
    multiples = {w: (int(k / unit), phase) for w, (k, _, phase) in angles.items()}
    if max(abs(k) for k, _ in multiples.values()) > MULTIPLE:
        return None
    shifts = {expand(phase / k) for factor in members if not _is_product(factor)
              for w, (k, phase) in multiples.items() if factor.has(w)}
    if len(shifts) != 1:
        return None
    shift = shifts.pop()
    coded = {w: _in_sine_and_cosine(w, k, expand(phase - k * shift)) for w, (k, phase) in multiples.items()}
    try:
        halves = _halves([factor.xreplace(coded) for factor in members])
    except (BasePolynomialError, ZeroDivisionError, NotImplementedError):
        return None
    except BudgetExceeded:
        check()  # too large is no matter, late is
        return None
    if halves is None:
        return None
    out: dict[Expr, Expr] = {}
    theta = unit * t + shift
    for odd, half in enumerate((halves.even, halves.odd)):
        for psi, a in half.items():
            for new, b in _written(psi, odd, theta, sample).items():
                out[new] = out.get(new, S.Zero) + a * b
    for psi, a in halves.poles.items():
        out[psi.xreplace({C: cos(theta), SINE: sin(theta)})] = a
    return {psi: c for psi, c in out.items() if c != 0}


def _in_sine_and_cosine(wave: Expr, k: int, phase: Expr) -> Expr:
    """Return a wave of the angle k theta + phase as a rational function of c and s."""
    cosine = chebyshevt(abs(k), C)
    sine = SINE * chebyshevu(abs(k) - 1, C) * (1 if k > 0 else -1)
    if phase != 0:
        sine, cosine = of_sum(sine, cosine, sin(phase), cos(phase))
    return of_sine_and_cosine(type(wave), sine, cosine)


def _halves(factors: list[Expr]) -> Halves | None:
    """Return the parts of a product in partial fractions; None where it is too large."""
    above, below, degree = [], [], 0
    for factor in factors:
        base, exponent = factor.as_base_exp()
        top, bottom = (_pair(part) for part in fraction(together(base)))
        power = abs(int(exponent))
        degree += power * sum(max(p.degree(), q.degree() + 1, 0) for p, q in (top, bottom))
        above.append((top if exponent > 0 else bottom, power))
        below.append((bottom if exponent > 0 else top, power))
    if degree > DEGREE:
        return None
    numerator = (Poly(1, C), Poly(0, C))
    for pair, power in above:
        for _ in range(power):
            numerator = _times(numerator, pair)
    below = [(pair, power) for pair, power in below if not _is_constant(pair)]
    if len(below) == 1 and _is_line(below[0][0]):
        return _turned(numerator, *below[0])
    if len(below) == 1 and below[0][0][1].is_zero and below[0][0][0].degree() == 1:
        (root, _), power = below[0]
        lead = root.LC() ** power
        even, odd = (_digits(half, root.monic(), power, lead) for half in numerator)
        return Halves(even, odd, {})
    denominator: Expr = S.One
    for pair, power in below:
        conjugate, norm = _inverse(pair)
        for _ in range(power):
            numerator = _times(numerator, conjugate)
        denominator *= norm**power
    return _split(numerator, denominator)


def _split(numerator: Pair, denominator: Expr) -> Halves:
    a, b = ({} if half.is_zero else partial_fractions(half.as_expr() / denominator, C) for half in numerator)
    return Halves(a, b, {})


def _is_constant(pair: Pair) -> bool:
    return bool(pair[0].is_ground and pair[1].is_zero and pair[0].as_expr() == 1)


def _is_line(pair: Pair) -> bool:
    """True for p + u c + v s with v not 0, except where it has its double zero at c = 0."""
    p, q = pair
    if p.degree() > 1 or q.degree() != 0 or p.is_zero:
        return False
    return p.degree() == 1 or expand(p.as_expr() ** 2 - q.as_expr() ** 2) != 0


def _turned(numerator: Pair, pair: Pair, power: int) -> Halves:
    """Return the parts of N/D^power, D = p + u c + v s, in the functions 1/D^j and w/D^j.

    w is s, or c where u is 0: no rational function of D, which is even about another angle. With u = 1,
    c = D - p - v s and (1 + v^2) s^2 = 1 - (D - p)^2 + 2 v (D - p) s write N as a(D) + w b(D).
    """
    u, p = (pair[0].coeff_monomial(C**k) for k in (1, 0))
    v = pair[1].as_expr()
    lead = u if u != 0 else v
    p, v = cancel(p / lead), cancel(v / lead)
    top = (numerator[0].as_expr() + SINE * numerator[1].as_expr()) / lead**power
    if u != 0:
        w, line = SINE, p + C + v * SINE
        square = (1 - (LINE - p) ** 2 + 2 * v * (LINE - p) * SINE) / (1 + v**2)
        top = top.xreplace({C: LINE - p - v * SINE})
    else:
        w, line = C, p + SINE
        square = 1 - (LINE - p) ** 2
        top = top.xreplace({SINE: LINE - p})
    rest = Poly(expand(top), w).rem(Poly(expand(w**2 - square), w))
    poles: dict[tuple[Expr, int], Expr] = {}
    whole: Expr = S.Zero
    for odd in (0, 1):
        for (k,), a in Poly(rest.coeff_monomial(w**odd), LINE).terms():
            if k >= power:
                whole += a * w**odd * line ** (k - power)
            elif a != 0:
                poles[w**odd, power - k] = cancel(a)
    return _split(_pair(expand(whole)), S.One)._replace(poles={w * line**-j: a for (w, j), a in poles.items()})


def _digits(half: Poly, q: Poly, power: int, lead: Expr) -> dict[Expr, Expr]:
    """Return the partial fractions of half/(lead q^power), q = c + constant: the digits to the base q."""
    out: dict[Expr, Expr] = {}
    for j in range(power, 0, -1):
        half, digit = half.div(q)
        if not digit.is_zero:
            out[q.as_expr() ** -j] = digit.as_expr() / lead
    return out | {C**k: a / lead for (k,), a in half.terms() if a != 0}


def _pair(expr: Expr) -> Pair:
    """Return P, Q of a polynomial P(c) + s Q(c)."""
    halves = [S.Zero, S.Zero]
    for (k,), coefficient in Poly(expr, SINE).terms():
        halves[k % 2] += coefficient * (1 - C**2) ** (k // 2)
    return Poly(halves[0], C), Poly(halves[1], C)


def _times(left: Pair, right: Pair) -> Pair:
    (p, q), (u, v) = left, right
    return p * u + q * v * Poly(1 - C**2, C), p * v + q * u


def _inverse(pair: Pair) -> tuple[Pair, Expr]:
    """Return a pair and a polynomial of c whose quotient is 1/(P + s Q)."""
    p, q = pair
    one, zero = Poly(1, C), Poly(0, C)
    if q.is_zero:
        if p.is_zero:
            raise ZeroDivisionError
        return (one, zero), p.as_expr()
    if p.is_zero:
        return (zero, one), (1 - C**2) * q.as_expr()
    common = p.gcd(q)
    if common.degree() > 0:
        p, q = p.quo(common), q.quo(common)
    norm = p * p - q * q * Poly(1 - C**2, C)
    return (p, -q), norm.as_expr() * (common.as_expr() if common.degree() > 0 else 1)


def _written(psi: Expr, odd: int, theta: Expr, sample: Sample) -> dict[Expr, Expr]:
    """Return s^odd psi(c), psi one function of the basis, in waves, tangents and cotangents of theta."""
    power, pole, order = 0, S.One, 0
    for factor in Mul.make_args(psi):
        base, exponent = factor.as_base_exp()
        if base == C:
            power = int(exponent)
        elif base != 1:
            pole, order = base, -int(exponent)
    if power < 0:
        return _terms(wave_quotient(theta, odd, power))
    if order and expand(pole - C) in (1, -1):
        sign = int(expand(pole - C))  # 1/(c + e)^j = e^j (1 - e c)^j/s^(2j)
        terms = (sign**order * comb(order, m) * (-sign) ** m * wave_quotient(theta, odd - 2 * order, m)
                 for m in range(order + 1))
        return _terms(Add(*terms))
    waves = wave_form([sin(theta)] * odd + [cos(theta)] * power)
    if order:
        below = pole.xreplace({C: cos(theta)}) ** -order
        return {wave * below: c for wave, c in waves.items()}
    split = ((split_phase(wave, sample) if wave != 1 else wave, c) for wave, c in waves.items())
    return _terms(Add(*(c * wave for wave, c in split)), sample)


def _terms(expr: Expr, sample: Sample | None = None) -> dict[Expr, Expr]:
    out: dict[Expr, Expr] = {}
    for term in Add.make_args(expand(expr)):
        c, psi = term.as_coeff_Mul() if sample is None else term.as_independent(sample, as_Add=False)
        out[psi] = out.get(psi, S.Zero) + c
    return out


class Angles:
    """The common measures of the angles in some expressions, each k t + phase a multiple of a unit of its t."""

    def __init__(self, exprs: Iterable[Expr], sample: Sample) -> None:
        self.sample = sample
        found: dict[Expr, set[Rational]] = {}
        self._is_quotient = False
        for expr in exprs:
            self._collect(expr, found, inside=False)
        self.units = {t: common_measure(ks) for t, ks in found.items() if len(ks) > 1}

    def _collect(self, expr: Expr, found: dict[Expr, set[Rational]], inside: bool) -> None:
        if isinstance(expr, Mean):
            self._collect(expr.opened(self.sample), found, inside=False)
        elif isinstance(expr, WAVES) and expr.has(self.sample):
            k, t, _ = angle_of(expr, self.sample)
            found.setdefault(t, set()).add(abs(k))
            self._is_quotient |= inside or not isinstance(expr, (sin, cos))
        else:
            for arg in expr.args:
                self._collect(arg, found, inside or not _keeps_polynomials(expr))

    def applied(self, expr: Expr, inside: bool = False) -> Expr:
        """Return an expression whose waves in denominators and in functions have the unit as their angle."""
        if not self.units or not self._is_quotient or not expr.args:
            return expr
        if isinstance(expr, Mean):
            return Mean(self.applied(expr.opened(self.sample)))
        if isinstance(expr, WAVES):
            return self._in_unit(expr) if expr.has(self.sample) and (
                inside or not isinstance(expr, (sin, cos))) else expr
        inside = inside or not _keeps_polynomials(expr)
        return expr.func(*(self.applied(arg, inside) for arg in expr.args))

    def _in_unit(self, wave: Expr) -> Expr:
        k, t, phase = angle_of(wave, self.sample)
        unit = self.units.get(t, abs(k))
        multiple = int(k / unit)
        if abs(multiple) == 1 or abs(multiple) > MULTIPLE:
            return wave
        theta = unit * t + expand(phase / multiple)
        coded = _in_sine_and_cosine(wave, multiple, S.Zero)
        return coded.xreplace({C: cos(theta), SINE: sin(theta)})


def _keeps_polynomials(expr: Expr) -> bool:
    return isinstance(expr, (Add, Mul)) or bool(isinstance(expr, Pow) and expr.exp.is_Integer and expr.exp > 0)
