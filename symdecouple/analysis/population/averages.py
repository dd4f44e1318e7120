r"""Decoupled features of a law that are no moments: other averages.

Where the levels before a feature have explicit normalizers, the decoupled feature is a closed form in averages of x,

.. math:: \hat f_k = f_k \circ N_{k-1} = F\bigl(\mathrm{Mean}(\varphi_1), \dots\bigr) \;\to\;
    F(\mathrm{E}\,\varphi_1, \dots)

From the first level without one on, narrow paths are followed (`node_paths`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
from mpmath import mpf
from sympy import Dummy, Expr, Float, lambdify, nan

from symdecouple.analysis.population.law import Law
from symdecouple.analysis.population.leaf import Leaf
from symdecouple.analysis.population.node_paths import decoupled_by_nodes
from symdecouple.analysis.population.quadrature import Quadrature, number_of
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, Outcome
from symdecouple.flows.normalizer import modified_feature
from symdecouple.language.mean import Mean, outermost_means
from symdecouple.language.sample import Sample

__all__ = ["of_averages"]


def of_averages(plan: Plan, leaf: Leaf) -> tuple[list[Expr], list[Outcome]]:
    """Return the decoupled features of a law: closed forms as far as they go, then narrow paths; inside `at_digits`."""
    quadrature, law = leaf.quadrature, leaf.law
    values: list[Expr] = []
    outcomes: list[Outcome] = []
    references = [v for v in plan.reference if v is not None]
    for k in range(1, len(plan.features) + 1):
        padded = [*references, *[Float(0)] * (len(plan.features) - len(references))]
        try:
            closed = modified_feature(plan.features, padded, k)
        except NoClosedForm:
            rest, why = decoupled_by_nodes(plan, leaf, k)
            return [*values, *rest], [*outcomes, *why]
        try:
            found = _under(closed, plan.features.sample, quadrature)
            noise = mpf(10) ** (5 - quadrature.digits) * min(1, quadrature.spread * _affine(law, quadrature.work)[1])
            values.append(Float(0).evalf() if abs(found) < noise else Float(mpmath.nstr(found, quadrature.dps + 5),
                                                                    quadrature.dps))
            outcomes.append(Outcome(True))
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
