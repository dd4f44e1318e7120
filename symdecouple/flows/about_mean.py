r"""Moments about the mean that they are brought to: no digits are lost where that mean is far above the deviation.

Where feature 1 is the mean and is brought to c, the others are read off y = x - c, whose mean is 0:

.. math:: f_k(y + c) = a_k + g_k(y), \qquad g_k(y) = v_k - a_k

with exact a_k. What was found for y is what is wanted for x, less c. So Mean(x**2) = c**2 + 1 asks for Mean(y**2) = 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Dummy, Expr, S, expand, oo

from symdecouple.flows.steps import composed
from symdecouple.language.canonical import canonical
from symdecouple.language.closed_forms import solutions
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean

__all__ = ["about_mean"]


def about_mean(features: FeatureSet, values: Sequence[Expr]) -> tuple[FeatureSet, tuple[Expr, ...]] | None:
    """Return the g_k and their values; None where feature 1 is not the mean, c is 0, or others are no moments.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> about_mean(FeatureSet([Mean(x), Mean(x**2)]), [S(10)**17, S(10)**34 + 1])
    (FeatureSet([Mean(x), Mean(x**2)]), (0, 1))
    """
    sample, c = features.sample, values[0]
    if features[0].expr != Mean(sample) or not c.is_number or c == 0 or sample.interval != (-oo, oo):
        return None
    if any(len(group) > 1 for group in features.groups):
        return None
    known: dict[Expr, Expr] = {Mean(sample): S.Zero}
    exprs, wanted = [Mean(sample)], [S.Zero]
    for k, (feature, value) in enumerate(zip(list(features)[1:], values[1:], strict=True), 2):
        moved = expand(canonical(composed(feature.expr, sample + c, sample), sample).xreplace(known))
        constant, rest = moved.as_coeff_Add()
        if rest.atoms(Mean) != {Mean(sample**k)}:
            return None
        moment = Dummy(positive=True) if k % 2 == 0 else Dummy(real=True)
        found = solutions(rest.xreplace({Mean(sample**k): moment}) - (value - constant), moment)
        if len(found) != 1 or not found[0].is_real:
            return None
        exprs.append(rest)
        wanted.append(value - constant)
        known[Mean(sample**k)] = found[0]
    return FeatureSet(exprs), tuple(wanted)
