r"""Functions with kinks in one normal form, through signs whose derivative is 0.

.. math::

    |u| = u\,\sigma(u), \qquad \max(a, b) = \tfrac12\,(a + b + (a - b)\,\sigma(a - b)), \qquad
    [\,u > 0\,] = \tfrac12\,(1 + \sigma(u)), \qquad \sigma' = 0, \quad \sigma^2 = 1, \quad
    \sigma(uv) = \sigma(u)\sigma(v)

`Side` is sigma: the sign of its argument, off the zeros of the argument. All that is derived from the normal form holds
away from the kinks. Where the signs of several functions split the line into parts, `Within` is the indicator of one
part: products of two are 0, their sum is 1, their derivatives vanish.

SymPy's own derivative of a sign is an impulse, which is not zero anywhere that can be computed with; so signs are
replaced before anything is differentiated (`in_sides`) and put back where a result is shown (`in_signs`).
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

from sympy import (
    Abs,
    And,
    Basic,
    Expr,
    Function,
    Heaviside,
    Max,
    Min,
    Mul,
    Not,
    Or,
    Piecewise,
    Poly,
    Pow,
    S,
    exp,
    factor_list,
    factor_terms,
    false,
    sign,
    true,
)
from sympy.core.relational import Eq, Ge, Gt, Le, Lt, Ne
from sympy.polys.polyerrors import PolynomialError

from symdecouple.errors import UnsupportedExpression
from symdecouple.language.disguise import ENDLESS, KINKS, unmasked
from symdecouple.language.radicands import within_bounds

__all__ = ["Side", "Within", "has_kinks", "in_sides", "in_signs"]

class Side(Function):
    """The sign of an expression off its zeros: a locally constant function, 1 or -1."""

    is_real = True
    is_zero = False
    is_finite = True

    @classmethod
    def eval(cls, u: Expr) -> Expr | None:
        if u.is_zero:
            return S.Zero
        if u.is_extended_positive or _is_positive(u):
            return S.One
        if u.is_extended_negative:
            return S.NegativeOne
        if isinstance(u, Side):
            return u
        normal = _split(u)
        return None if normal == [u] else Mul(*map(cls._of_factor, normal))

    @classmethod
    def _of_factor(cls, u: Expr) -> Expr:
        """Return the sign of what cannot be split any more."""
        if u.is_number or u.is_extended_positive or u.is_extended_negative or isinstance(u, Side) or u.is_Mul:
            return cls(u)
        return Function.__new__(cls, u, evaluate=False)

    def fdiff(self, argindex: int = 1) -> Expr:
        return S.Zero

    def _eval_power(self, exponent: Expr) -> Expr | None:
        if exponent.is_Integer:
            return S.One if exponent.is_even else self
        return None

    def _eval_Abs(self) -> Expr:
        return S.One


class Within(Function):
    """The indicator of one part of the line: of the part `index` (from 0) of `size` parts, at a sample."""

    nargs = 3
    is_real = True
    is_finite = True

    def fdiff(self, argindex: int = 1) -> Expr:
        return S.Zero

    def _eval_power(self, exponent: Expr) -> Expr | None:
        return self if exponent.is_positive else None


def has_kinks(expr: Basic) -> bool:
    """True iff a function with kinks, or with jumps, occurs, in disguise or not."""
    return bool(expr.has(*KINKS, *ENDLESS)) or (isinstance(expr, Expr) and unmasked(expr) != expr)


@lru_cache(maxsize=4096)
def in_sides(expr: Expr) -> Expr:
    """Return the expression with all that has kinks written through `Side`.

    Raises
    ------
    UnsupportedExpression
        For functions with infinitely many pieces, and for pieces that are no functions everywhere.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> in_sides(Abs(2*x)), in_sides(Max(x, 0))
    (2*x*Side(x), x*Side(x)/2 + x/2)
    """
    expr = unmasked(expr)
    if not expr.has(*KINKS, *ENDLESS):
        return expr
    if isinstance(expr, ENDLESS):
        raise UnsupportedExpression(f"{expr} has no finite number of smooth pieces: floor, ceiling, Mod and impulses "
                                    "are not decided; write the pieces in use with Piecewise")
    if isinstance(expr, Piecewise):
        return _pieces(expr)
    args = [in_sides(arg) for arg in expr.args]
    if isinstance(expr, Abs):
        return args[0] * Side(args[0])
    if isinstance(expr, sign):
        return Side(args[0])
    if isinstance(expr, Heaviside):
        return (1 + Side(args[0])) / 2
    if isinstance(expr, (Max, Min)):
        which = 1 if isinstance(expr, Max) else -1
        return reduce(lambda a, b: (a + b + which * (a - b) * Side(a - b)) / 2, sorted(args, key=str))
    return expr.func(*args)


def in_signs(expr: Expr) -> Expr:
    """Return the expression with `Side` as SymPy's sign, and u sign(u) as an absolute value.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> in_signs(x**3*Side(x))
    x**2*Abs(x)
    """
    if not expr.has(Side):
        return expr
    if isinstance(expr, Side):
        return sign(in_signs(expr.args[0]))
    if isinstance(expr, Mul):
        return _absolute(expr)
    return expr.func(*map(in_signs, expr.args))


def _absolute(product: Mul) -> Expr:
    powers = dict(factor.as_base_exp() for factor in product.args if not isinstance(factor, Side))
    out: list[Expr] = []
    for side in (factor for factor in product.args if isinstance(factor, Side)):
        u = side.args[0]
        q = powers.get(u)
        if q is not None and q.is_Integer and q.is_odd and q > 0:
            powers[u] = q - 1
            out.append(Abs(in_signs(u)))
        else:
            out.append(in_signs(side))
    return Mul(*out, *(Pow(in_signs(base), q) for base, q in powers.items()))


def _is_positive(u: Expr) -> bool:
    """True for exponentials, and for even roots wherever they are real and not 0."""
    if isinstance(u, exp):
        return True
    return bool(u.is_Pow and u.exp.is_Rational and u.exp.q % 2 == 0)


def _split(u: Expr) -> list[Expr]:
    """Return expressions the product of whose signs is the sign of u; [u] where u is in normal form."""
    u_ = factor_terms(u) if u.is_Add else u
    out: list[Expr] = []
    for factor in Mul.make_args(u_):
        base, q = factor.as_base_exp()
        if _is_positive(factor) or (q.is_Integer and q.is_even):
            continue
        if q.is_Integer or (q.is_Rational and q.q % 2 == 1):
            out += _of_sum(base) if base.is_Add else [base]
        else:
            out.append(factor)
    return out or [S.One]


def _of_sum(u: Expr) -> list[Expr]:
    """Factor a polynomial within bounds; the leading coefficient of what is left is positive."""
    try:
        poly = None if u.has(Side) else Poly(u)
    except PolynomialError:
        poly = None
    factors: list[tuple[Expr, Any]] = [(u, 1)]
    out: list[Expr] = []
    if poly is not None and poly.domain.is_QQ | poly.domain.is_ZZ and within_bounds(poly):
        constant, factors = factor_list(u)
        out = [S.NegativeOne] if constant.is_negative else []
    for factor, multiplicity in factors:
        if multiplicity % 2 == 0:
            continue
        base = factor_terms(factor.as_expr()).primitive()[1] if factor.is_Add else factor
        if base.could_extract_minus_sign():
            out += [S.NegativeOne, -base]
        else:
            out.append(base)
    return out or [S.One]


def _pieces(expr: Piecewise) -> Expr:
    if expr.args[-1][1] != True:  # noqa: E712 (a SymPy Boolean)
        raise UnsupportedExpression(f"{expr} has no value where none of its conditions holds: add a last piece, "
                                    "(value, True)")
    total, rest = S.Zero, S.One
    for value, condition in expr.args:
        holds = _indicator(condition)
        total, rest = total + rest * holds * in_sides(value), rest * (1 - holds)
    return total


def _indicator(condition: Any) -> Expr:
    if condition in (True, False, true, false):
        return S.One if condition == True else S.Zero  # noqa: E712
    if isinstance(condition, (Gt, Ge, Lt, Le)):
        above = condition.lhs - condition.rhs if isinstance(condition, (Gt, Ge)) else condition.rhs - condition.lhs
        return (1 + Side(in_sides(above))) / 2
    if isinstance(condition, (Eq, Ne)):  # off the kinks
        return S.Zero if isinstance(condition, Eq) else S.One
    if isinstance(condition, And):
        return Mul(*map(_indicator, condition.args))
    if isinstance(condition, Or):
        return 1 - Mul(*(1 - _indicator(arg) for arg in condition.args))
    if isinstance(condition, Not):
        return 1 - _indicator(condition.args[0])
    raise UnsupportedExpression(f"the condition {condition} is no combination of comparisons")

