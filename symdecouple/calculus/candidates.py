"""Candidates for exceptional parameters: solutions of all conditions under which a generic answer may change."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from sympy import Expr, Function, Pow, Rational, S, Symbol, cos, exp, log, sin

from symdecouple.calculus.coincidences import coinciding_arguments, coinciding_functions
from symdecouple.calculus.common_zeros import Values, common_zeros
from symdecouple.calculus.convolution_frame import frames
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frame import Frame, recent_frame
from symdecouple.calculus.left_out import LARGE_MINORS, OUT_OF_TIME, only_at
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.minor_conditions import coefficient_conditions, minor_conditions
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.language.mean import Mean

__all__ = ["Candidates", "in_order", "is_possible"]

USUAL = (S.Zero, S.One, S.NegativeOne, Rational(2), Rational(1, 2))
"""Values that are looked at in any case where conditions could not be solved."""
SHOWN = 60
"""Characters of a condition that is shown."""


class Candidates:
    """Values to decide again, guesses where conditions were not solved, and what was left out in looking for them."""

    def __init__(self, subject: Subject, certificate: Any, n_samples: Size | None, budget: Budget) -> None:
        self.subject, self.symbols, self.budget = subject, subject.symbols, budget
        self.values: list[Values] = []
        self.guesses: list[Values] = []
        self.left_out: list[str] = []
        self._pair: tuple[int, int] | None = getattr(certificate, "pair", None)
        try:
            if (frame := self._frame()) is None:
                return
            gains = list(_gains(frame, self._pair is not None))
            if self.symbols:
                self._search(frame)
            self.values = [*gains, *sorted(self.values, key=len)]  # what is on a curve comes after it
        except UnsupportedExpression:
            self.left_out.append("the brackets were not written in independent functions")
            self.guesses = list(_usual(self.symbols))
        except BudgetExceeded:
            self.left_out.append(OUT_OF_TIME)
        if self.symbols and subject.kind == "mean" and n_samples is not None and not subject.is_filtered:
            self.left_out.append(only_at(n_samples))

    def _frame(self) -> Any:
        if self.subject.kind == "coordinates":
            return CoordinateFrame(self.subject, self.budget)
        if not self.subject.is_filtered:
            return recent_frame(self.subject.items, self.budget)
        known = frames(self.subject, None, self.budget)
        frame = next(known, None)
        if frame is not None and not frame.words.composites:
            frame = [frame, *known][-1]  # filters as sums of shifts, unless functions of such sums make it long
        return frame

    def _search(self, frame: Any) -> None:
        rng = random.Random(1)
        member = Membership(frame, self.budget, rng)
        pair = None if self._pair is None else (self._pair[0] - 1, self._pair[1] - 1)
        try:
            for conditions in minor_conditions(member, pair, self.symbols, rng, self.budget):
                self._solve(conditions)
        except BudgetExceeded:
            self.budget.check("looking for exceptional parameters")
            self.left_out.append(LARGE_MINORS)
        for conditions in [*coefficient_conditions(frame, self.symbols), *self._of_declarations()]:
            self._solve(conditions)
        forms = [*frame.forms, *([member.bracket(*pair)] if pair else [])]
        for conditions in self._of_functions(frame, forms):
            self._solve(conditions)
        if self.left_out:
            self.guesses = [values for values in _usual(self.symbols) if values not in self.values]

    def _of_declarations(self) -> Iterator[list[Expr]]:
        """Yield what is divided by, or is in a logarithm, in the features as they are written."""
        known = set(self.symbols)
        for item in self.subject.items:
            for expr in item.components if isinstance(item, VectorField) else (item.expr,):
                yield from ([e.base] for e in expr.atoms(Pow) if e.exp.is_negative and len(
                    e.base.free_symbols) > 0 and e.base.free_symbols <= known and not e.base.atoms(Mean))
                for node in expr.atoms(Function):
                    if node.free_symbols and node.free_symbols <= known and not node.atoms(Mean):
                        if isinstance(node, log):
                            yield [node.args[0]]
                        elif not isinstance(node, (exp, sin, cos)):
                            self.left_out.append(f"where {node} is not defined")

    def _of_functions(self, frame: Any, forms: Sequence[Any]) -> Iterator[list[Expr]]:
        named = [*frame.coefficients.functions.values(), *(r for r, _ in frame.coefficients.roots.values())]
        mixed = [e for e in named if e.has(*self.symbols) and e.free_symbols - set(self.symbols)]
        if mixed:
            self.left_out.append(f"functions and roots in the coefficients contain {_names(self.symbols)}")
            nodes = {e for f in named for e in f.atoms(Function, exp)}
            yield from coinciding_arguments(nodes, self.symbols, self.budget)
        if isinstance(frame, Frame):
            functions = [*frame.basis(forms), *frame.averaged(forms)]
            conditions, reasons = coinciding_functions(functions, frame.sample, self.symbols, self.budget)
            self.left_out += reasons if self.subject.is_smooth else [*reasons, "functions have kinks"]
            yield from conditions
        elif self.subject.is_filtered:
            self.left_out.append("outputs of filters may have relations at special values")
            exponents = sorted({S.Zero, *frame.words.composites.exponents}, key=str)
            yield from ([p - q] for k, p in enumerate(exponents) for q in exponents[k + 1 :] if (p - q).has(
                *self.symbols))

    def _solve(self, conditions: Sequence[Expr]) -> None:
        zeros = common_zeros(conditions, self.symbols, self.budget)
        if not zeros.is_complete:
            self.left_out.append("a condition was not solved" + next(
                (f", {c} = 0" for c in conditions if len(str(c)) < SHOWN), ""))
        self._take(sorted(zeros.values, key=lambda values: (len(values), *(
            float(v) if v.is_number and v.is_real else inf for v in values.values()), str(values))))

    def _take(self, found: Iterable[Values]) -> None:
        for values in map(in_order, found):
            if is_possible(values) and values not in self.values:
                self.values.append(values)


def is_possible(values: Values) -> bool:
    """Values are real, and do not contradict what a parameter is known to be (positive, an integer)."""
    for key, value in values.items():
        if value.is_real is False or value.has(S.NaN, S.ComplexInfinity):
            return False
        for name, known in getattr(key, "_assumptions_orig", {}).items():
            if getattr(value, f"is_{name}", None) is (not known):
                return False
    return True


def in_order(values: Values) -> Values:
    """Return values with the parameters in the order of their names."""
    return dict(sorted(values.items(), key=str))


def _usual(symbols: Sequence[Symbol]) -> Iterator[Values]:
    for k, s in enumerate(symbols):
        for value in (*USUAL, *symbols[k + 1 :], *(-t for t in symbols[k + 1 :])):
            if is_possible({s: value}):
                yield {s: value}


def _gains(frame: Any, is_outside: bool) -> Iterator[Mapping[Any, Expr]]:
    """Yield the gains at frequency 0 of named filters that an answer may depend on, each 0, and all of them 0.

    What keeps a bracket outside may be a gain. A bracket inside stays inside unless the fields themselves change.
    """
    coefficients = frame.coefficients
    exprs = list(coefficients.functions.values()) if is_outside else [
        coefficients.decode(c) for form, p in zip(frame.forms, frame.factors, strict=True) for c in (*form.values(), p)]
    gains = sorted(set().union(*(e.atoms(DcGain) for e in exprs)), key=str)
    yield from ({gain: S.Zero} for gain in gains)
    if len(gains) > 1:
        yield dict.fromkeys(gains, S.Zero)


def _names(symbols: Iterable[Any]) -> str:
    return ", ".join(map(str, symbols))
