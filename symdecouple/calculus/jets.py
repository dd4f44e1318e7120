r"""Exact second-order jets: features and fields in N explicit coordinates, at rational samples.

A jet carries a value, a gradient and a Hessian (in N coordinates, sparse) through the sum, product and chain rules.
Over the rationals it is exact; where a value is irrational, interval arithmetic takes over and encloses it. This is the
second route by which certificates are checked: it knows nothing of statistics, basis functions or canonical forms.

A function whose value is irrational but whose derivatives are rational (a logarithm, an arctangent) keeps an unknown
value; only if something multiplies it is the interval route needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from sympy import Expr, Heaviside, Max, Min, Piecewise, Symbol, atan2, polygamma, sign, sympify
from sympy.core.function import AppliedUndef
from sympy.core.relational import Eq, Ge, Gt, Ne, Relational

from symdecouple.calculus.elementary import (
    LARGEST,
    RULES,
    Irrational,
    OutsideDomain,
    World,
    exact_root,
    limit,
    positive,
)
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.gamma_functions import polygamma_name
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.budget import check
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.mean import Mean

__all__ = ["Jet", "Point", "bracket_at", "field_at"]


class Jet:
    """Value, gradient and Hessian (upper triangle) of a function of N coordinates; a value of None is not known."""

    __slots__ = ("grad", "hess", "value")

    def __init__(self, value: Any, grad: dict[int, Any] | None = None,
                 hess: dict[tuple[int, int], Any] | None = None) -> None:
        self.value = value
        self.grad = grad or {}
        self.hess = hess or {}

    def __add__(self, other: Jet) -> Jet:
        value = None if self.value is None or other.value is None else self.value + other.value
        return Jet(value, _plus(self.grad, other.grad), _plus(self.hess, other.hess))

    def scaled(self, factor: Any) -> Jet:
        check()
        return Jet(None if self.value is None else self.value * factor,
                   {k: v * factor for k, v in self.grad.items()}, {k: v * factor for k, v in self.hess.items()})

    def __mul__(self, other: Jet) -> Jet:
        for constant, jet in ((self, other), (other, self)):
            if not constant.grad and not constant.hess and constant.value is not None:
                return jet.scaled(constant.value)
        if self.value is None or other.value is None:
            raise Irrational
        hess = _plus({k: v * other.value for k, v in self.hess.items()},
                     {k: v * self.value for k, v in other.hess.items()})
        for i, a in self.grad.items():
            check()
            for j, b in other.grad.items():
                key = (i, j) if i <= j else (j, i)
                term = a * b if i != j else 2 * a * b
                hess[key] = hess[key] + term if key in hess else term
        grad = _plus({k: v * other.value for k, v in self.grad.items()},
                     {k: v * self.value for k, v in other.grad.items()})
        return Jet(self.value * other.value, grad, hess)

    def composed(self, value: Any, first: Any, second: Any) -> Jet:
        """Chain rule: this jet through a function with these derivatives at its value."""
        hess = {k: v * first for k, v in self.hess.items()}
        items = list(self.grad.items())
        for n, (i, a) in enumerate(items):
            check()
            for j, b in items[n:]:
                key = (i, j) if i <= j else (j, i)
                hess[key] = hess[key] + second * a * b if key in hess else second * a * b
        return Jet(value, {k: v * first for k, v in self.grad.items()}, hess)


class Point:
    """A sample vector and parameter values, at which expressions are evaluated as jets.

    Parameters
    ----------
    sample : sequence of Fraction, (N,)
    parameters : mapping
        Symbol to Fraction.
    world : World
    coordinates : sequence of Symbol, optional
        What the coordinates are called in expressions of the second kind.
    shape : tuple of int, optional
        Of the grid that the samples are on, in C order, for filters in several dimensions; default (N,).
    """

    def __init__(self, sample: Sequence[Fraction], parameters: Mapping[Symbol, Fraction], world: World,
                 coordinates: Sequence[Symbol] = (), shape: tuple[int, ...] | None = None) -> None:
        self.world = world
        self.size = len(sample)
        self.shape = (self.size,) if shape is None else tuple(shape)
        if prod(self.shape) != self.size:
            raise InvalidInput(f"{self.size} samples are no grid of shape {self.shape}")
        self._one = world.number(Fraction(1))
        self._jets = [Jet(world.number(v), {n: self._one}) for n, v in enumerate(sample)]
        self.parameters = parameters
        self._constants = {s: Jet(world.number(v)) for s, v in parameters.items()}
        self._constants |= dict(zip(coordinates, self._jets, strict=False))
        self._means: dict[Expr, Jet] = {}

    def moved(self, jets: Sequence[Jet], constants: Mapping[Symbol, Jet] | None = None) -> Point:
        """Return the point whose coordinates are given functions of the coordinates of this one.

        Parameters
        ----------
        jets : sequence of Jet, (N,)
        constants : mapping
            Values of parameters, which may be functions of the coordinates too.
        """
        other = Point((), {}, self.world)
        other.size, other._jets, other._constants = len(jets), list(jets), dict(constants or {})
        other.shape = self.shape if len(jets) == self.size else (len(jets),)
        return other

    @property
    def jets(self) -> tuple[Jet, ...]:
        """The coordinates as jets."""
        return tuple(self._jets)

    def jet(self, expr: Expr, symbol: Symbol | None = None, index: int = 0) -> Jet:
        """Return the jet of an expression; the free sample, if any, is the coordinate of this index."""
        if expr == symbol:
            return self._jets[index]
        if expr.is_Rational:
            return Jet(self.world.number(Fraction(int(expr.p), int(expr.q))))
        if expr in self._constants:
            return self._constants[expr]
        if isinstance(expr, Mean):
            return self._mean(expr)
        if isinstance(expr, Filtered):
            parts = (self.jet(expr.argument, symbol, k) * self.jet(tap)
                     for k, tap in expr.filter.rows(self.shape)[index].items())
            return sum(parts, Jet(self.world.number(Fraction(0))))
        if isinstance(expr, Unit):
            return Jet(self._one)
        if expr.is_Add:
            return sum((self.jet(arg, symbol, index) for arg in expr.args), Jet(self.world.number(Fraction(0))))
        if expr.is_Mul:
            out = Jet(self._one)
            for arg in expr.args:
                out = out * self.jet(arg, symbol, index)
            return out
        if expr.is_Pow:
            return self._power(self.jet(expr.base, symbol, index), expr.exp, symbol, index)
        if isinstance(expr, (Max, Min)):
            return self._extreme(expr, symbol, index)
        if isinstance(expr, Heaviside):
            expr = (1 + sign(expr.args[0])) / 2
            return self.jet(expr, symbol, index)
        if isinstance(expr, Piecewise):
            return self._piecewise(expr, symbol, index)
        if expr.is_number and not expr.args:
            return Jet(self.world.function(str(expr))(None))
        if isinstance(expr, atan2):
            return self._angle(*(self.jet(arg, symbol, index) for arg in expr.args))
        if isinstance(expr, polygamma) and expr.args[0].is_Integer:
            return self._apply(polygamma_name(int(expr.args[0])), self.jet(expr.args[1], symbol, index))
        if len(expr.args) == 1 and not isinstance(expr, (AppliedUndef, Symbol)):
            return self._apply(expr.func.__name__, self.jet(expr.args[0], symbol, index))
        raise UnsupportedExpression(f"{expr} cannot be evaluated at a sample; bind it first, features.bind({{...}})")

    def _mean(self, mean: Mean) -> Jet:
        if mean not in self._means:
            total = Jet(self.world.number(Fraction(0)))
            for n in range(self.size):
                total = total + self.jet(mean.body, mean.bound, n)
            self._means[mean] = total.scaled(self.world.number(Fraction(1, self.size)))
        return self._means[mean]

    def _extreme(self, expr: Expr, symbol: Symbol | None, index: int) -> Jet:
        """Choose the largest or the smallest argument; where two may be equal there is none."""
        which = 1 if isinstance(expr, Max) else -1
        jets = [self.jet(arg, symbol, index) for arg in expr.args]
        for jet in jets:
            if all(self._above(jet, other) == which for other in jets if other is not jet):
                return jet
        raise OutsideDomain

    def _above(self, left: Jet, right: Jet) -> int:
        """Return the sign of the difference of two values, 0 where they are equal or may be."""
        if left.value is None or right.value is None:
            raise Irrational
        ends = _ends(left.value - right.value)
        return 1 if ends[0] > 0 else -1 if ends[-1] < 0 else 0

    def _piecewise(self, expr: Expr, symbol: Symbol | None, index: int) -> Jet:
        """Choose the piece at the coordinate; at a kink, or where an enclosure reaches over one, there is none."""
        for piece, condition in expr.args:
            edges = {edge: self._edge(edge, symbol, index) for edge in condition.atoms(Relational)}
            holds = condition.xreplace(edges)
            if holds == True:  # noqa: E712 (a SymPy Boolean)
                return self.jet(piece, symbol, index)
            if holds != False:  # noqa: E712
                raise UnsupportedExpression(f"the condition {condition} is no combination of comparisons")
        raise OutsideDomain

    def _edge(self, edge: Relational, symbol: Symbol | None, index: int) -> Any:
        side = self._above(self.jet(edge.lhs, symbol, index), self.jet(edge.rhs, symbol, index))
        if side == 0:
            raise OutsideDomain
        if isinstance(edge, (Eq, Ne)):
            return sympify(isinstance(edge, Ne))
        return sympify((side > 0) == isinstance(edge, (Gt, Ge)))

    def _angle(self, y: Jet, x: Jet) -> Jet:
        """Return atan2: its value, and the jet of the small angle by which (x, y) turns from where it is."""
        if y.value is None or x.value is None:
            raise Irrational
        along = self._integer_power(x.scaled(x.value) + y.scaled(y.value), -1)
        turned = (y.scaled(x.value) + x.scaled(-y.value)) * along
        value = self.world.angle(y.value, x.value)
        if not turned.grad:
            return Jet(value)
        turned = self._apply("atan", turned)
        return Jet(value, turned.grad, turned.hess)

    def _power(self, base: Jet, exponent: Expr, symbol: Symbol | None, index: int) -> Jet:
        if exponent.is_Integer:
            return self._integer_power(base, int(exponent))
        if exponent.is_Rational:
            root = self._apply("sqrt", base) if exponent.q == 2 else self._root(base, int(exponent.q))
            return self._integer_power(root, int(exponent.p))
        raised = self.jet(exponent, symbol, index)
        if (whole := _whole(raised)) is not None:
            return self._integer_power(base, whole)
        return self._apply("exp", self._apply("log", base) * raised)

    def _integer_power(self, base: Jet, n: int) -> Jet:
        if base.value is None:
            raise Irrational
        if n < 0 and self.world.is_zero(base.value):
            raise OutsideDomain
        v, one = base.value, self._one
        limit(v, n)
        check()
        first = n * v ** (n - 1) if n not in (0, 1) else one * n
        second = n * (n - 1) * v ** (n - 2) if n not in (0, 1, 2) else one * (n * (n - 1))
        return base.composed(v**n if n else one, first, second)

    def _root(self, base: Jet, q: int) -> Jet:
        if base.value is None:
            raise Irrational
        if self.world.iv is None:
            value = exact_root(base.value, q)
        else:
            value = self.world.iv.exp(self.world.iv.log(positive(base.value)) / q)
        first = value / (q * base.value)
        return base.composed(value, first, first * (1 - q) / (q * base.value))

    def _apply(self, name: str, jet: Jet) -> Jet:
        if jet.value is None:
            raise Irrational
        if not jet.grad and not jet.hess:
            return Jet(self.world.function(name)(jet.value))
        rule = RULES.get(name)
        if rule is None:
            raise UnsupportedExpression(f"{name} has no exact or interval evaluation here")
        try:
            value, first, second = rule(jet.value, self.world.function, self._one)
        except ZeroDivisionError as error:
            raise OutsideDomain from error
        return jet.composed(value, first, second)


def field_at(item: Any, point: Point) -> tuple[list[Any], list[dict[int, Any]]]:
    """Return the components of a field (N grad f of a feature) and its Jacobian, row by row, at a point."""
    n = point.size
    if isinstance(item, Feature):
        jet, factor, zero = point.jet(item.expr), 1 if item.coordinates else n, point.world.number(Fraction(0))
        rows: list[dict[int, Any]] = [{} for _ in range(n)]
        for (i, j), v in jet.hess.items():
            rows[i][j] = rows[j][i] = v * factor
        return [jet.grad.get(k, zero) * factor for k in range(n)], rows
    field: VectorField = item
    if field.coordinates:
        jets = [point.jet(c) for c in field.components]
    else:
        jets = [point.jet(field.expr, field.sample, k) for k in range(n)]
    if any(jet.value is None for jet in jets):
        raise Irrational
    return [jet.value for jet in jets], [jet.grad for jet in jets]


def bracket_at(u: tuple[list[Any], list[dict[int, Any]]], v: tuple[list[Any], list[dict[int, Any]]],
               point: Point) -> list[Any]:
    """Return [u, v] = (Dv) u - (Du) v from components and Jacobians at a point."""
    zero = point.world.number(Fraction(0))
    out = []
    for row_u, row_v in zip(u[1], v[1], strict=True):
        check()
        total = zero
        for k, slope in row_v.items():
            total = total + slope * u[0][k]
        for k, slope in row_u.items():
            total = total - slope * v[0][k]
        out.append(total)
    return out


def _whole(exponent: Jet) -> int | None:
    """Return the exponent where it is a whole number, which raises negative numbers too; None for others."""
    if exponent.grad or exponent.hess or exponent.value is None:
        return None
    low, high = _ends(exponent.value)[0], _ends(exponent.value)[-1]
    return int(low) if low == high and low.denominator == 1 else None


def _ends(value: Any) -> tuple[Fraction, ...]:
    """Return a rational, or both ends of an enclosure."""
    if isinstance(value, Fraction):
        return (value,)
    if value is None:
        raise Irrational
    ends = []
    for negative, mantissa, exponent, _ in value._mpi_:
        if (mantissa == 0 and exponent != 0) or abs(exponent) > LARGEST:  # infinity, or nearly
            raise OutsideDomain
        ends.append((-1) ** negative * Fraction(int(mantissa)) * Fraction(2) ** exponent)
    return tuple(ends)


def _plus(left: dict[Any, Any], right: dict[Any, Any]) -> dict[Any, Any]:
    check()
    out = dict(left)
    for key, value in right.items():
        out[key] = out[key] + value if key in out else value
    return out
