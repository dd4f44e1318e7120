r"""Generators of a distribution that do not depend on the sample: what can be integrated in closed form.

The gradients v_1, ..., v_k have coefficients that are statistics. Their span may nevertheless be spanned by fields
u_1, ..., u_k of the sample alone, level by level:

.. math::

    \mathrm{span}(v_1, \ldots, v_k) = \mathrm{span}(u_1(x), \ldots, u_k(x)), \qquad
    v_k = c_k u_k + \sum_{j<k} a_j u_j

(mean, variance, skewness have u = 1, x, x^2). Then each u_k moves every sample by the same rule, dx/dt = u_k(x), whose
flow is a quadrature, and the leaf of a sample is its orbit under these flows. Reduction modulo the earlier generators
decides it: the remainder, divided by its leading coefficient, is free of statistics iff such a u_k exists.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from sympy import Add

from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frame import Form, Frame, combination, difference, recent_frame
from symdecouple.calculus.span import Snapshot, modular_pivots, solve
from symdecouple.calculus.subject import Subject
from symdecouple.errors import NoClosedForm, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import statistics_of

__all__ = ["Generators", "generators"]


@dataclass(frozen=True, slots=True)
class Generators:
    """Fields of the sample alone that span the gradients, level by level.

    Attributes
    ----------
    fields : tuple of VectorField
        u_1, ..., u_M.
    """

    fields: tuple[VectorField, ...]

    def __len__(self) -> int:
        return len(self.fields)


def generators(features: Any, *, budget: float = 30.0) -> Generators:
    """Return fields of the sample alone with the same nested spans as the gradients.

    Parameters
    ----------
    features : FeatureSet or list of VectorField

    Returns
    -------
    Generators

    Raises
    ------
    NoClosedForm
        If the span of the first k gradients needs coefficients that change with the sample; the field is named.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.statistics import variance, skewness
    >>> generators([Mean(x), variance(), skewness()]).fields
    (VectorField(1), VectorField(x), VectorField(x**2))
    """
    subject = Subject.of(features)
    clock = Budget(budget)
    try:
        with clock.running("looking for generators"):
            frame = recent_frame(subject.items, clock, declared=True)
            forms: list[Form] = []
            for k in range(len(subject)):
                forms.append(_remainder(frame, forms, k, clock, subject))
            return Generators(tuple(_field(frame, form) for form in forms))
    except UnsupportedExpression as error:
        raise NoClosedForm(f"no flow in closed form: {error}") from error


def _remainder(frame: Frame, earlier: list[Form], k: int, clock: Budget, subject: Subject) -> Form:
    """Return the k-th field modulo the earlier generators, with leading coefficient 1."""
    form = frame.forms[k]
    if earlier:
        basis = frame.basis([*earlier, form])
        snapshot = Snapshot(frame.coefficients, random.Random(k))
        _, rows = modular_pivots(snapshot.columns(earlier, basis))
        weights = solve(earlier, form, [basis[r] for r in rows], frame.coefficients, clock)
        if weights is None:
            raise NoClosedForm(f"the generators before feature {k + 1} became dependent")
        form = difference(form, combination(earlier, weights))
        form = {psi: r for psi, c in form.items() if (r := frame.coefficients.reduced(c)) != 0}
    if not form:
        raise NoClosedForm(f"the gradient of feature {k + 1}, {subject.items[k]}, is a combination of those before it")
    lead = form[frame.basis([form])[-1]]
    form = {psi: frame.coefficients.reduced(c / lead) for psi, c in form.items()}
    moving = {s for psi, c in form.items() for s in statistics_of(psi) | statistics_of(frame.coefficients.decode(c))}
    if moving:
        names = ", ".join(sorted(str(s.mean) for s in moving))
        raise NoClosedForm(f"the gradient of feature {k + 1}, {subject.items[k]}, has no flow in closed form: modulo "
                           f"the features before it, its coefficients change along the flow (they depend on {names}); "
                           "normalize along the narrow path instead")
    return form


def _field(frame: Frame, form: Form) -> VectorField:
    return VectorField(Add(*(frame.coefficients.decode(c) * psi for psi, c in form.items())))
