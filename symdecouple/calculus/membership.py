r"""Membership of brackets in a span, over the field of the statistics (or of the coordinates).

The gradients v_i = p_i w_i and a bracket [w_i, w_j] = sum_k e^k w_k give the structure functions

.. math::

    c_{ij}^k = \frac{p_i p_j}{p_k} e^k + \delta_{jk} \frac{p_i D_{w_i} p_j}{p_j}
               - \delta_{ik} \frac{p_j D_{w_j} p_i}{p_i}

What is returned has been verified: the identity holds for every basis function, as an identity of rational functions.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Expr
from sympy.polys.fields import FracElement

from symdecouple.calculus.frame import Form, combination, difference
from symdecouple.calculus.span import Snapshot, modular_pivots, solve
from symdecouple.language.budget import Budget
from symdecouple.language.gate import factor

__all__ = ["Membership", "expression"]


class Membership:
    """Exact answers about the span of the fields of a frame.

    Attributes
    ----------
    pivots : list of int
        Indices of fields that are independent and span the others, at a random point modulo a prime: independence
        is proved by that, dependence of the rest only by `relation`.
    """

    def __init__(self, frame: Any, budget: Budget, rng: random.Random) -> None:
        self.frame, self.budget = frame, budget
        self.snapshot = Snapshot(frame.coefficients, rng)
        basis = frame.basis(frame.forms)
        self.pivots, _ = modular_pivots(self.snapshot.columns(frame.forms, basis))
        self._brackets: dict[tuple[int, int], Form] = {}

    def bracket(self, i: int, j: int) -> Form:
        """Return [w_i, w_j]."""
        if (i, j) not in self._brackets:
            self._brackets[i, j] = self.frame.bracket(i, j)
        return self._brackets[i, j]

    def excludes(self, target: Form) -> bool:
        """True iff the target is certainly outside the span (a minor that does not vanish)."""
        if not target:
            return False
        forms = [*(self.frame.forms[k] for k in self.pivots), target]
        chosen, _ = modular_pivots(self.snapshot.columns(forms, self.frame.basis(forms)))
        return len(forms) - 1 in chosen

    def partial_weights(self, target: Form) -> list[FracElement] | None:
        """Return the weights of the pivot fields w_k that give the target on as many rows, not on all."""
        if not target:
            return [self.frame.coefficients.field.zero] * len(self.pivots)
        forms = [self.frame.forms[k] for k in self.pivots]
        basis = self.frame.basis([*forms, target])
        return solve(forms, target, self.rows(basis), self.frame.coefficients, self.budget)

    def rows(self, basis: Sequence[Expr]) -> list[Expr]:
        """Return basis functions on which the pivot fields are independent."""
        _, rows = modular_pivots(self.snapshot.columns([self.frame.forms[k] for k in self.pivots], basis))
        return [basis[r] for r in rows]

    def solved_for(self, row: Expr, rows: Sequence[Expr]) -> Form | None:
        """Return the field of the span that is 1 at one of some basis functions, 0 at the others."""
        forms = [self.frame.forms[k] for k in self.pivots]
        weights = solve(forms, {row: self.frame.coefficients.field.one}, rows, self.frame.coefficients, self.budget)
        if weights is None:
            return None
        reduced = {psi: self.frame.coefficients.reduced(c) for psi, c in combination(forms, weights).items()}
        return {psi: c for psi, c in reduced.items() if c != 0}

    def weights(self, target: Form) -> list[FracElement] | None:
        """Return verified weights of the pivot fields w_k that give the target; None if there are none."""
        found = self.partial_weights(target)
        if found is None:
            return None
        forms = [self.frame.forms[k] for k in self.pivots]
        self.budget.check("verifying an identity")
        rest = difference(target, combination(forms, found))
        if any(self.frame.coefficients.reduced(c) != 0 for c in rest.values()):
            return None
        return found

    def structure(self, i: int, j: int) -> tuple[Expr, ...] | None:
        """Return the structure functions of [v_i, v_j] for all fields, zero off the pivots; None outside the span."""
        e = self.weights(self.bracket(i, j))
        return None if e is None else self.of_fields(i, j, dict(zip(self.pivots, e, strict=True)))

    def of_fields(self, i: int, j: int, weights: Mapping[int, FracElement]) -> tuple[Expr, ...]:
        """Return the structure functions of [v_i, v_j], given those of [w_i, w_j]."""
        frame, p = self.frame, self.frame.factors
        out = [frame.coefficients.field.zero] * frame.size
        for k, weight in weights.items():
            out[k] = p[i] * p[j] * weight / p[k]
        out[j] += p[i] * frame.derivative(i, p[j]) / p[j]
        out[i] -= p[j] * frame.derivative(j, p[i]) / p[i]
        return tuple(self.expression(c) for c in out)

    def relation(self, k: int) -> tuple[Expr, ...] | None:
        """Return r with sum_l r_l v_l = 0 and r_k = 1, for a field that is no pivot; None if not proved."""
        weights = self.weights(self.frame.forms[k])
        if weights is None:
            return None
        frame = self.frame
        out = [frame.coefficients.field.zero] * frame.size
        out[k] = frame.coefficients.field.one
        for pivot, weight in zip(self.pivots, weights, strict=True):
            out[pivot] = -weight * frame.factors[k] / frame.factors[pivot]
        return tuple(self.expression(c) for c in out)

    def expression(self, element: FracElement) -> Expr:
        """Return a coefficient as an expression of averages, factored."""
        return expression(self.frame, element)


def expression(frame: Any, element: FracElement) -> Expr:
    """Return a coefficient of a frame as an expression of averages, factored."""
    coefficients = frame.coefficients
    return frame.opened(_as_read(coefficients.uncoded(factor(coefficients.reduced(element).as_expr()))))


def _as_read(expr: Expr) -> Expr:
    """Return an expression in the form that it has when it is read from its text: SymPy multiplies 2*(p - 2) out."""
    return expr.func(*map(_as_read, expr.args)) if expr.args else expr


