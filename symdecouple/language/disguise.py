r"""Kinks in disguise: radicands with square factors, and inverse functions that fold.

.. math::

    \sqrt{f^2 g} = |f| \sqrt g, \qquad \arccos' u = -u'/\sqrt{1 - u^2}, \qquad \arctan(\tan x) \ne x

A radicand is a polynomial, or a quotient of polynomials, in *generators*: samples, averages and parameters, one
exponential for commensurable rates, the tangent of half the common angle of sines and cosines (whose value at infinity
counts as a factor, the cosine), roots and whatever else occurs. Square-free factorization finds f. A factor that cannot
change sign is none. acos and asin of u are analytic where 1 - u^2 has no square factor; the arc tangent of a function
with periodic poles jumps.

`is_analytic` is the criterion behind claims for all sample sizes: True only if every function in a set is known to be
one analytic function on the samples that it is defined at, though these may come in several pieces. Roots of
square-free radicands are (their branches are conjugate) unless the radicands of a set are dependent modulo squares.
What is too large to be factored is not known to be analytic.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

from sympy import (
    Abs,
    DiracDelta,
    Expr,
    Heaviside,
    Max,
    Min,
    Mod,
    Mul,
    Piecewise,
    Pow,
    Rational,
    S,
    acos,
    acosh,
    acot,
    asin,
    atan,
    ceiling,
    cos,
    cot,
    csc,
    expand,
    floor,
    frac,
    fraction,
    gcd as polynomial_gcd,
    sec,
    sign,
    tan,
    together,
)

from symdecouple.language.mean import Mean
from symdecouple.language.radicands import Factor, factored, nodes
from symdecouple.language.waves import WAVES

__all__ = ["ENDLESS", "KINKS", "folds", "is_analytic", "unmasked"]

KINKS = (Abs, sign, Max, Min, Piecewise, Heaviside)
"""What has a normal form through signs."""
ENDLESS = (floor, ceiling, frac, Mod, DiracDelta)
"""What has infinitely many pieces, or no values."""

_RADICANDS = {asin: lambda u: 1 - u**2, acos: lambda u: 1 - u**2, acosh: lambda u: u**2 - 1}


@lru_cache(maxsize=2048)
def unmasked(expr: Expr) -> Expr:
    """Return the expression with absolute values taken out of roots.

    Examples
    --------
    >>> from sympy import sqrt
    >>> from symdecouple.language.sample import x
    >>> unmasked(sqrt(x**2 - 2*x + 1)), unmasked(sqrt(x**4 + 2*x**2 + 1))
    (Abs(x - 1), sqrt(x**4 + 2*x**2 + 1))
    """
    if not expr.args or not any(node.is_Pow and not node.exp.is_Integer for node in nodes(expr)):
        return expr
    args = [unmasked(arg) if isinstance(arg, Expr) else arg for arg in expr.args]
    expr = expr.func(*args) if tuple(args) != expr.args else expr
    if not _is_root(expr):
        return expr
    found = _squares(expr)
    if not found:
        return expr
    p, q = expr.exp.p, expr.exp.q
    size = Mul(*(Pow(Abs(f.base), Rational(2 * _half(f.multiplicity) * p, q)) for f in found))
    rest = _without(expr.base, found)
    return size * Pow(rest, expr.exp)


def folds(expr: Expr) -> tuple[Expr, ...]:
    """Return the functions in an expression that are not smooth and do not look it, inverse functions that fold.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> folds(acos(cos(x)) + asin(x))
    (acos(cos(x)),)
    """
    return tuple(sorted({node for node in nodes(expr) if _is_fold(node)}, key=str))


def is_analytic(exprs: Iterable[Expr]) -> bool:
    """True iff the functions are known to be analytic, each one function on all samples that it is defined at."""
    parities: list[frozenset[Expr]] = []
    seen: set[Expr] = set()
    for node in (node for expr in exprs for node in nodes(expr)):
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, (*KINKS, *ENDLESS)) or _is_fold(node):
            return False
        if isinstance(node, (atan, acot)) and _may_jump(node):
            return False
        if not (_is_root(node) or type(node) in _RADICANDS):
            continue
        radicand = node.base if node.is_Pow else _RADICANDS[type(node)](node.args[0])
        if _plain(radicand):
            factors: tuple[Factor, ...] | None = (Factor(radicand, 1, bool(radicand.is_positive)),)
        else:
            factors = _factors(radicand)
        if factors is None or (node.is_Pow and _squares(node)):
            return False
        odd = frozenset(f.base for f in factors if f.multiplicity % 2 and not f.definite)
        if odd and odd not in parities:
            parities.append(odd)
    return _independent(parities)


def _independent(parities: list[frozenset[Expr]]) -> bool:
    """True iff no product of some of the radicands is a square, certainly."""
    bases = sorted(set().union(*parities), key=str)
    if any(not polynomial_gcd(f, g).is_number for f, g in combinations(bases, 2)):
        return False
    basis: list[frozenset[Expr]] = []
    for parity in parities:
        row = parity
        for other in basis:
            row = row ^ other if min(other, key=str) in row else row
        if not row:
            return False
        basis.append(row)
    return True


def _is_root(node: Expr) -> bool:
    return bool(node.is_Pow and node.exp.is_Rational and not node.exp.is_Integer and not node.base.is_number)


def _plain(base: Expr) -> bool:
    return bool(base.is_Symbol or isinstance(base, Mean))


def _squares(root: Expr) -> tuple[Factor, ...]:
    """Return the factors that leave a root as absolute values with a kink."""
    if _plain(root.base):
        return ()
    factors = _factors(root.base) or ()
    p, q = int(root.exp.p), int(root.exp.q)
    out = []
    for f in factors:
        twice = _half(f.multiplicity)
        if f.definite or _is_variance(f.base) or twice == 0 or (2 * twice * p) % (2 * q) == 0:
            continue
        others = any(not g.definite and g.multiplicity % 2 for g in factors if g is not f)
        if f.multiplicity % 2 and (q % 2 or not others):
            continue  # the radicand has the sign of f
        out.append(f)
    return tuple(out)


def _is_variance(expr: Expr) -> bool:
    """True for a multiple of Mean(f^2) - Mean(f)^2, which is nowhere below 0."""
    for mean in (node for node in nodes(expr) if isinstance(node, Mean)):
        factor = expand(expr).coeff(mean, 2)
        variance = mean.func(mean.args[0] ** 2, *mean.args[1:]) - mean**2
        if factor.is_number and factor != 0 and expand(expr + factor * variance) == 0:
            return True
    return False


def _half(multiplicity: int) -> int:
    """Return half a multiplicity, rounded towards 0: 1/f has no square."""
    return int(multiplicity / 2)


def _without(base: Expr, found: tuple[Factor, ...]) -> Expr:
    gone = {f.base: 2 * _half(f.multiplicity) for f in found}
    constant, factors = factored(base) or (S.One, ())
    return constant * Mul(*(Pow(f.base, f.multiplicity - gone.get(f.base, 0)) for f in factors))


def _is_fold(node: Expr) -> bool:
    if type(node) in _RADICANDS:
        if _plain(node.args[0]):
            return False
        factors = _factors(_RADICANDS[type(node)](node.args[0]))
        return factors is not None and any(not f.definite and f.multiplicity % 2 == 0 for f in factors)
    if isinstance(node, (atan, acot)):
        u = node.args[0]
        poles = fraction(together(u.rewrite(cos) if u.has(*WAVES) else u))[1 if isinstance(node, atan) else 0]
        return bool(u.has(tan, cot, sec, csc) or (poles.has(*WAVES) and not _is_definite(poles)))
    return False


def _may_jump(node: Expr) -> bool:
    """True unless what an arc tangent is taken of has no poles (an arc cotangent: no zeros) on its domain."""
    u = node.args[0]
    at = fraction(together(u))[1 if isinstance(node, atan) else 0]
    return not (at.is_number or _is_definite(at))


def _is_definite(expr: Expr) -> bool:
    if expr.is_positive or expr.is_negative:
        return True
    factors = _factors(expr)
    return factors is not None and all(f.definite for f in factors)


def _factors(radicand: Expr) -> tuple[Factor, ...] | None:
    """Return the factors of a radicand; None where it is not known."""
    found = factored(radicand)
    return None if found is None else found[1]
