r"""The flow of a field on the line, in closed form: x(t), its domain in t, its derivative, its numbers.

A `Flow` is made of pieces (see `chart`): intervals of initial values on which one formula holds. Between them lie
equilibria at which the field is Lipschitz, where the solution stays, and points at which there is no unique solution
(0 for x' = x^(1/3)), from which nothing starts and at which every solution ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import sympy as sp
from sympy import Expr, Max, Min, Piecewise, S, Symbol, oo

from symdecouple.errors import InvalidInput, NoClosedForm, Outcome, Refused
from symdecouple.flows.chart import Piece, U, X, slope_at
from symdecouple.flows.evaluation import T, compiled, exact_number, float_array, is_sequence, mp_function, to_precision
from symdecouple.flows.projective import decide_sign
from symdecouple.flows.quadrature import zeros_of
from symdecouple.flows.source import source_of
from symdecouple.language.closed_forms import is_solvable, simplify, solutions
from symdecouple.verdict import Check

__all__ = ["Flow"]

_NAMED = 5

Numeric = Any


@dataclass(frozen=True, slots=True, repr=False)
class Flow:
    """The flow of dx/dt = v(x); made by `symdecouple.flows.separable.flow`.

    Attributes
    ----------
    field : VectorField or Expr
        What was integrated.
    time, sample : Symbol
        The symbols t and x (the initial value) in `expr`.
    velocity : Expr
        v in the sample, odd roots written as real ones.
    pieces : tuple of Piece
        The intervals of initial values with their formulas.
    rests : tuple of Expr
        Equilibria between the pieces.
    checks : tuple of Check
        What was verified before the flow was returned.
    """

    field: Any
    time: Symbol
    sample: Symbol
    velocity: Expr
    pieces: tuple[Piece, ...]
    rests: tuple[Expr, ...] = ()
    constants: tuple[tuple[Symbol, Expr], ...] = ()
    checks: tuple[Check, ...] = ()

    # --- symbolic ---------------------------------------------------------------------------------------------

    @property
    def expr(self) -> Expr:
        """x(t) from the initial value, a `Piecewise` where intervals of initial values have different formulas."""
        return self._in_user_symbols([piece.solution(X, T) for piece in self.pieces], X)

    @property
    def derivative(self) -> Expr:
        """The derivative of x(t) by the initial value, v(x(t))/v(x); exp(v'(x) t) at equilibria."""
        return self._in_user_symbols([piece.slope(X, T) for piece in self.pieces], None)

    @property
    def equilibria(self) -> sp.Set:
        """The initial values that stay where they are."""
        sets = [_equilibria_of(piece) for piece in self.pieces]
        return self._named(sp.Union(sp.FiniteSet(*self.rests), *sets))

    @property
    def inverse(self) -> Flow:
        """The flow backwards in time: that of -v."""
        back = tuple(Piece(p.chart, replace(p.motion, w=-p.motion.w)) for p in self.pieces)
        field = -self.field if isinstance(self.field, Expr) else type(self.field)(-self.field.expr)
        return replace(self, field=field, velocity=-self.velocity, pieces=back)

    @property
    def parameters(self) -> tuple[Expr, ...]:
        """The constants that must have values before numbers."""
        return tuple(value for _, value in self.constants)

    def latex(self) -> str:
        """Return the solution as LaTeX, without the dollar signs."""
        return rf"{sp.latex(self.sample)}({sp.latex(self.time)}) = {sp.latex(self.expr)}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        return f"Flow(d{self.sample}/d{self.time} = {self._text_of_field()}, {self.sample}({self.time}) = {self.expr})"

    def _text_of_field(self) -> str:
        return str(getattr(self.field, "expr", self.field))

    def _in_user_symbols(self, formulas: list[Expr], at_rest: Expr | None) -> Expr:
        at_rests = (formulas[0].subs(X, rest) for rest in self.rests)
        if all(formula == formulas[0] for formula in formulas) and not any(v.has(sp.nan, sp.zoo) for v in at_rests):
            return self._named(formulas[0])
        cases = [(f, _condition(piece)) for f, piece in zip(formulas, self.pieces, strict=True)]
        for rest in self.rests:
            still = X if at_rest is not None else sp.exp(slope_at(self.velocity, rest) * T)
            cases.append((still, sp.Eq(X, rest)))
        return self._named(Piecewise(*cases))

    def _named(self, expr: Any) -> Any:
        return expr.xreplace({X: self.sample, T: self.time, **dict(self.constants)})

    # --- domain -----------------------------------------------------------------------------------------------

    def domain(self, x0: Numeric) -> tuple[Expr, Expr]:
        """Return the largest open interval of times (t_min, t_max) on which the solution from x0 exists.

        Examples
        --------
        >>> from symdecouple.flows.separable import flow
        >>> from symdecouple.language.sample import x
        >>> flow(x**2).domain(2), flow(x**2 + 1).domain(0), flow(x**2 - 1).domain(1)
        ((-oo, 1/2), (-pi/2, pi/2), (-oo, oo))
        """
        self._need_numbers()
        x0 = exact_number(x0)
        piece = self._piece(x0)
        return (-oo, oo) if piece is None else _lifetime(piece, x0)

    def times(self, smallest: Symbol, largest: Symbol, between: Expr | None = None) -> tuple[Expr, Expr] | None:
        """Return the open interval of times at which the solutions from all values in a range exist.

        Solutions keep their order, so that the smallest and the largest value decide. None where no formula is known
        (charts that end, constants without values).

        Parameters
        ----------
        smallest, largest : Symbol
        between : Expr, optional
            A number that lies strictly between them.

        Examples
        --------
        >>> from sympy import symbols
        >>> from symdecouple.flows.separable import flow
        >>> from symdecouple.language.sample import x
        >>> a, b = symbols("a b", real=True)
        >>> flow(x**2).times(a, b, between=0)
        (1/a, 1/b)
        >>> flow(1 + x**2).times(a, b)
        (-atan(a) - pi/2, -atan(b) + pi/2)
        """
        found = [_poles(piece) for piece in self.pieces]
        if self.constants or any(poles is None or poles != found[0] for poles in found) or found[0] is None:
            return None
        delta_squared, functions = found[0]
        ends = [_extremes(h, smallest, largest) for h in functions if h != 0]
        if not ends:
            return -oo, oo
        least, most = Min(*(pair[0] for pair in ends)), Max(*(pair[1] for pair in ends))
        apart = len(functions) == 1 and between is not None and next(iter(functions)).xreplace({X: between}) == 0
        is_between = apart and least != most and not least.has(Min)  # then h has both signs
        return _pole_time(least, delta_squared, -1, is_between), _pole_time(most, delta_squared, 1, is_between)

    def _piece(self, x0: Expr) -> Piece | None:
        """Return the piece of an initial value; None at an equilibrium between pieces."""
        if any(decide_sign(x0 - rest) == 0 for rest in self.rests):
            return None
        for piece in self.pieces:
            if piece.contains(x0):
                return piece
        raise Refused(f"no solution of dx/dt = {self._text_of_field()} starts at {x0}: the field is not defined or not "
                      f"Lipschitz there, or no formula was found; initial values lie in {self._ranges()}")

    def _ranges(self) -> str:
        spans = ", ".join(f"({p.chart.low}, {p.chart.high})" + (f" + {p.chart.period}*n" if p.chart.period else "")
                          for p in self.pieces)
        return spans + "".join(f" or {rest}" for rest in self.rests)

    def _need_numbers(self) -> None:
        if self.constants:
            raise InvalidInput(f"the flow has parameters {', '.join(map(str, self.parameters))}: give them values "
                               "before numbers, flow(field, values={...})")

    # --- numbers ----------------------------------------------------------------------------------------------

    def __call__(self, x0: Numeric, t: Numeric, dps: int | None = None) -> Any:
        """Return x(t) from x0: float64 arrays, broadcast; or, with `dps`, numbers of that many digits.

        Parameters
        ----------
        x0, t : number or array
            With `dps` also Fraction, mpmath and exact SymPy numbers. Floats count as the binary numbers they are.
        dps : int, optional
            Digits of the result; guard digits are added until two precisions agree.

        Raises
        ------
        Refused
            If a time is outside the domain of its initial value; `partial` has NaN there.

        Examples
        --------
        >>> from symdecouple.flows.separable import flow
        >>> from symdecouple.language.sample import x
        >>> from fractions import Fraction
        >>> f = flow(x**2)
        >>> f([1, -1, 0], 0.5).tolist()
        [2.0, -0.6666666666666666, 0.0]
        >>> f(1, Fraction(1, 3), dps=30)
        mpf('1.5')
        >>> f([1, 2], 0.75)
        Traceback (most recent call last):
            ...
        symdecouple.errors.Refused: 1 of 2 has no solution at its time: sample (1,), x0 = 2.0, t = 0.75, exists for \
t in (-oo, 1/2); shorten the time, flow.domain(x0) tells how far it goes
        """
        self._need_numbers()
        if dps is not None:
            return self._precise("solution", x0, t, dps)
        return self._floats(x0, t)

    def slope(self, x0: Numeric, t: Numeric, dps: int = 15) -> Any:
        """Return the derivative of x(t) by the initial value, as `derivative`, in numbers of `dps` digits."""
        self._need_numbers()
        return self._precise("slope", x0, t, dps)

    def code(self) -> str:
        """Return NumPy source text that runs alone: ``flow(x, t)`` raises ValueError where there is no solution."""
        self._need_numbers()
        return _text(self.velocity, self.pieces, self.rests)

    def _floats(self, x0: Numeric, t: Numeric) -> Any:
        values, times = float_array(x0, "x0"), float_array(t, "t")
        try:
            out = compiled(self.code())(values, times)
        except NoClosedForm:  # functions that NumPy lacks
            out = np.array(self(values, times, dps=17), dtype=float)
        out = out.astype(np.float32) if getattr(x0, "dtype", None) == np.float32 else out
        lost = np.argwhere(~np.isfinite(np.atleast_1d(out)))
        if lost.size:
            values, times = np.broadcast_arrays(np.atleast_1d(values), np.atleast_1d(times))
            raise self._refusal(values, times, np.atleast_1d(out))
        return out[()]

    def _refusal(self, values: Any, times: Any, out: Any) -> Refused:
        bad = ~np.isfinite(out)
        where = [tuple(int(i) for i in index) for index in np.argwhere(bad)[:_NAMED]]
        named = "; ".join(f"sample {i}, x0 = {values[i]}, t = {times[i]}, {self._why(values[i], times[i])}"
                          for i in where)
        more = f"; and {int(bad.sum()) - len(where)} more" if bad.sum() > len(where) else ""
        outcomes = tuple(Outcome(not b, "outside the domain" if b else "") for b in bad.flat)
        return Refused(f"{int(bad.sum())} of {bad.size} {'has' if bad.sum() == 1 else 'have'} no solution at "
                       f"{'its' if bad.sum() == 1 else 'their'} time: {named}{more}; shorten the time, "
                       "flow.domain(x0) tells how far it goes", np.where(bad, np.nan, out), outcomes)

    def _why(self, value: Any, time: Any) -> str:
        if not (math.isfinite(value) and math.isfinite(time)):
            return "not finite numbers"
        try:
            low, high = self.domain(value)
        except Refused:
            return f"initial values lie in {self._ranges()}"
        inside = decide_sign(exact_number(time) - low) > 0 and decide_sign(high - exact_number(time)) > 0
        return "beyond the range of float64, use dps=" if inside else f"exists for t in ({low}, {high})"

    def _precise(self, what: Literal["solution", "slope"], x0: Numeric, t: Numeric, dps: int) -> Any:
        if isinstance(dps, bool) or not isinstance(dps, int) or dps < 1:
            raise InvalidInput(f"dps is a number of digits, got {dps!r}")
        if is_sequence(x0) or is_sequence(t):
            pairs = np.broadcast(np.asarray(x0, dtype=object), np.asarray(t, dtype=object))
            out = np.empty(pairs.shape, dtype=object)
            out[...] = np.reshape([self._precise(what, a, s, dps) for a, s in pairs], pairs.shape)
            return out
        a, s = exact_number(x0), exact_number(t)
        piece = self._piece(a)
        low, high = (-oo, oo) if piece is None else _lifetime(piece, a)
        if decide_sign(s - low) <= 0 or decide_sign(high - s) <= 0:
            raise Refused(f"the solution of dx/dt = {self._text_of_field()} from x0 = {a} exists for t in "
                          f"({low}, {high}), not at t = {s}")
        if piece is None:
            return to_precision(mp_function(X if what == "solution" else sp.exp(slope_at(self.velocity, a) * T)),
                                a, s, dps)
        return to_precision(_function(piece, what), a, s, dps)


@lru_cache(maxsize=4096)
def _lifetime(piece: Piece, x0: Expr) -> tuple[Expr, Expr]:
    return piece.lifetime(x0)


@lru_cache(maxsize=256)
def _text(velocity: Expr, pieces: tuple[Piece, ...], rests: tuple[Expr, ...]) -> str:
    return source_of(f"dx/dt = {velocity}", pieces, rests)  # no name of the user's occurs: this text is executed


@lru_cache(maxsize=256)
def _function(piece: Piece, what: Literal["solution", "slope"]) -> Callable[[Any, Any], Any]:
    return mp_function(piece.solution(X, T) if what == "solution" else piece.slope(X, T))


def _poles(piece: Piece) -> tuple[Expr, frozenset[Expr]] | None:
    """Return delta^2 and the h(x) for which the solution exists while C - S h > 0; None where ends of a chart count."""
    chart, motion = piece.chart, piece.motion
    if {chart.u_low, chart.u_high} != {oo, -oo}:
        if motion.w.has(U):
            ends = [end for end in (chart.u_low, chart.u_high) if end not in (oo, -oo)]
            at_rest = motion.kind == "linear" and all(motion.w.xreplace({U: end}) == 0 for end in ends)
            return (S.Zero, frozenset()) if at_rest else None
        ends = [end for end in (chart.u_low, chart.u_high) if end not in (oo, -oo)]
        return S.Zero, frozenset(motion.w / (end - chart.to) for end in ends)
    if motion.kind in ("linear", "circle"):
        return S.Zero, frozenset()
    found = [motion.h] if motion.kind == "line" else [motion.shifted_h(-1), motion.shifted_h(1)]
    return motion.delta_squared, frozenset(sp.expand(h.xreplace({U: chart.to})) for h in found)


def _extremes(h: Expr, smallest: Symbol, largest: Symbol) -> tuple[Expr, Expr]:
    """Return the least and the greatest h at the ends, without Min and Max where h is known as monotone."""
    low, high = h.xreplace({X: smallest}), h.xreplace({X: largest})
    slope = h.diff(X).xreplace({X: smallest})
    if slope.is_nonnegative:
        return low, high
    return (high, low) if slope.is_nonpositive else (Min(low, high), Max(low, high))


def _pole_time(h: Expr, delta_squared: Expr, way: int, is_reached: bool) -> Expr:
    """Return the first t with C - S h = 0, forwards or backwards; h > delta there (way 1), h < -delta (way -1)."""
    if decide_sign(delta_squared) < 0:
        omega = sp.sqrt(-delta_squared)
        return (way * sp.pi / 2 - sp.atan(h / omega)) / omega
    delta = sp.sqrt(delta_squared)
    time = 1 / h if delta == 0 else sp.atanh(delta / h) / delta
    reached = h > delta if way > 0 else h < -delta
    if reached == True or (is_reached and delta == 0):  # noqa: E712 (a SymPy Boolean)
        return time
    return way * oo if reached == False else Piecewise((time, reached), (way * oo, True))  # noqa: E712


def _condition(piece: Piece) -> Any:
    inner, _ = piece.reduced(X)
    return sp.And(*([inner > piece.chart.low] * (piece.chart.low != -oo)),
                  *([inner < piece.chart.high] * (piece.chart.high != oo)))


def _equilibria_of(piece: Piece) -> sp.Set:
    chart, w = piece.chart, piece.motion.w
    if w == 0:
        return sp.Interval.open(chart.low, chart.high)
    ends = (chart.u_low, chart.u_high)
    constants = w.free_symbols | chart.low.free_symbols
    if constants - {U}:
        if not is_solvable(w, U):
            return sp.ConditionSet(X, sp.Eq(w.xreplace({U: chart.to}), 0), sp.S.Reals)
        return sp.FiniteSet(*(chart.back.xreplace({U: root}) for root in solutions(w, U)))
    low, high = ends if decide_sign(ends[1] - ends[0]) > 0 else ends[::-1]
    found = zeros_of(w.xreplace({U: X}), low, high)
    if isinstance(found, sp.FiniteSet):
        found = sp.FiniteSet(*(simplify(chart.back.xreplace({U: root})) for root in found))
    elif found is not sp.S.EmptySet and chart.back != U:
        return sp.ImageSet(sp.Lambda(U, chart.back), found)
    if chart.period is None or found is sp.S.EmptySet:
        return found
    n = sp.Dummy("n", integer=True)
    return sp.Union(*(sp.ImageSet(sp.Lambda(n, root + chart.period * n), sp.S.Integers) for root in found))
