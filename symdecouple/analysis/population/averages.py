r"""Decoupled features of a law beyond the leaf of three moments: other averages, and moments of order 5 and above.

Where the levels before a feature have explicit normalizers, the decoupled feature is a closed form in averages of x,

.. math:: \hat f_k = f_k \circ N_{k-1} = F\bigl(\mathrm{Mean}(\varphi_1), \dots\bigr) \;\to\;
    F(\mathrm{E}\,\varphi_1, \dots)

Moments of order 5 and above go on along narrow paths from level 3. A law that is bounded there is a sample of weighted
nodes to the paths, and the answer is that of two sets of nodes that agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from sympy import Dummy, Expr, Float, lambdify, nan

from symdecouple.analysis.population.law import Law
from symdecouple.analysis.population.leaf import Leaf
from symdecouple.analysis.population.quadrature import Quadrature, number_of
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, Outcome
from symdecouple.flows.normalizer import modified_feature
from symdecouple.language.mean import Mean, outermost_means
from symdecouple.language.sample import Sample
from symdecouple.numeric.moments.levels import standardized_rows
from symdecouple.numeric.samples.matrix import SampleMatrix

__all__ = ["higher_moment", "of_averages"]

_DIGITS = 8  # of what two sets of nodes agree on


def of_averages(plan: Plan, quadrature: Quadrature) -> tuple[list[Expr], list[Outcome]]:
    """Return the decoupled features of a law by their closed forms; call it inside `at_digits`.

    Raises
    ------
    NoClosedForm
        If a level before the last feature is not explicit.
    """
    values, outcomes, fine = [], [], Outcome(True)
    references = [v for v in plan.reference if v is not None]
    for k in range(1, len(plan.features) + 1):
        padded = [*references, *[Float(0)] * (len(plan.features) - len(references))]
        closed = modified_feature(plan.features, padded, k)
        try:
            found = _under(closed, plan.features.sample, quadrature)
            values.append(Float(mpmath.nstr(found, quadrature.dps + 5), quadrature.dps))
            outcomes.append(fine)
        except (NoClosedForm, InvalidInput) as error:
            values.append(nan)
            outcomes.append(Outcome(False, "no expectation", str(error)))
    return values, outcomes


def _under(expr: Expr, sample: Sample, quadrature: Quadrature) -> Any:
    """Replace every average by an expectation, innermost first, and return the number."""
    inner = outermost_means(expr)
    known = {mean: _expectation(mean, sample, quadrature) for mean in inner}
    symbols = {mean: Dummy(real=True) for mean in inner}
    function = lambdify(list(symbols.values()), expr.xreplace(symbols), "mpmath")
    return function(*known.values())


def _expectation(mean: Mean, sample: Sample, quadrature: Quadrature) -> Any:
    body, law = mean.opened(sample), quadrature.law
    inner = outermost_means(body)
    values = [_under(each, sample, quadrature) for each in inner]
    point, symbols = Dummy(real=True), [Dummy(real=True) for _ in inner]
    function = lambdify([point, *symbols], body.xreplace(dict(zip(inner, symbols, strict=True))).xreplace(
        {sample: point}), "mpmath")
    place, scale = _affine(law, quadrature.work)
    _check_order(function, values, quadrature, mean)
    try:
        (found,) = quadrature.expect(lambda y: (function(place + scale * y, *values),))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise InvalidInput(f"the expectation of {mean.args[0]} under {law.name} is not finite ({error})") from error
    if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
        raise InvalidInput(f"the expectation of {mean.args[0]} under {law.name} is not a finite real number")
    return found


def _check_order(function: Any, values: Sequence[Any], quadrature: Quadrature, mean: Mean) -> None:
    """Refuse functions that grow faster than the tail of the law falls: their sums settle on nothing."""
    place, scale = _affine(quadrature.law, quadrature.work)
    for panel in quadrature.panels:
        for end, sign in ((panel.low, -1), (panel.high, 1)):
            if not mpmath.isinf(end):
                continue
            sizes = []
            for power in (quadrature.digits // 3, quadrature.digits // 3 + 1):
                y = sign * mpf(10) ** power
                density = panel.density(y)
                sizes.append(abs(function(place + scale * y, *values)) * density * abs(y) if density else mpf(0))
            if sizes[0] > 0 and sizes[1] >= sizes[0] * (1 - mpf(10) ** -6):
                raise InvalidInput(f"the expectation of {mean.args[0]} under {quadrature.law.name} is infinite")


def _affine(law: Law, digits: int) -> tuple[Any, Any]:
    return number_of(law.loc, digits), number_of(law.scale, digits)


# --- moments above level 3 ----------------------------------------------------------------------------------------


def higher_moment(leaf: Leaf, time: Any, order: int, goal: Sequence[float]) -> tuple[Expr, Outcome]:
    """Return the standardized decoupled moment of an order of 5 or more, of the law at level 3 by the map of `time`.

    `goal` are the standardized reference moments 3..order - 1.
    """
    if any(mpmath.isinf(end) for end in leaf.ends) and time == 0:
        own = _standardized(leaf.law, order)
        if own is not None and all(abs(float(own[k - 3]) - goal[k - 3]) < 1e-15 for k in range(3, order)):
            return own[order - 3], Outcome(True)
        return nan, Outcome(False, "unbounded at level 3", f"order {order}: the law is unbounded at level 3, and paths "
                            "of moments above it are followed for bounded laws only")
    found = []
    for law in (leaf.floats_to(6), leaf.floats_to(7)):
        y = law.places / (1 - float(time) * law.places)
        matrix = SampleMatrix.weighted(y[None], law.weights[None].copy())
        values, refusals = standardized_rows(matrix, order, (1.0, 0.0, 1.0, *goal)[:order])
        if refusals:
            outcome = refusals[0]
            return nan, Outcome(False, outcome.reason, f"order {order}: {outcome.detail}")
        found.append(float(values[0, order - 1]))
    if not np.isfinite(found).all() or abs(found[1] - found[0]) > 10.0**-_DIGITS * (1 + abs(found[1])):
        return nan, Outcome(False, "not settled", f"order {order}: nodes of the law give {found[0]:.10g} and "
                            f"{found[1]:.10g}")
    return Float(repr(found[1]), _DIGITS), Outcome(True)


def _standardized(law: Law, order: int) -> list[Expr] | None:
    """Exact standardized moments 3..order of a law that is symmetric about 0, the only ones that get here."""
    raw = [law.exact_moment(k) for k in range(1, order + 1)]
    known = [m for m in raw if m is not None]
    if len(known) < order or known[0] != 0:
        return None
    return [known[k - 1] / known[1] ** (Float(k) / 2 if k % 2 and known[k - 1] != 0 else k // 2)
            for k in range(3, order + 1)]
