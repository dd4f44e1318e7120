r"""Decoupled features of distributions: the calculus of plans with expectations instead of means.

.. math:: \hat f_{k+1}(P) = f_{k+1}(N_k\,P), \qquad \mathrm{Mean}(\varphi) \to \mathrm{E}_P\,\varphi

with N_k P the law moved on its leaf to where features 1..k are at their references. Moments of samples move along
Moebius maps, and so does a law: its orthokurtosis exists iff skewness 0 lies on its leaf (`population_leaf`). The
sample values converge to it then. It needs no moment of the law: that of the Pareto law without a mean is 9/5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sympy import Expr, Float, diff, nan

from symdecouple.analysis.population.averages import of_averages
from symdecouple.analysis.population.densities import POLE
from symdecouple.analysis.population.higher import HigherMoments
from symdecouple.analysis.population.law import Law
from symdecouple.analysis.population.leaf import Leaf
from symdecouple.analysis.population.levels import at_skewness, moments_of
from symdecouple.analysis.population.quadrature import Quadrature
from symdecouple.analysis.population.readers import law_of
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, NoClosedForm, Outcome, Refused, UnsupportedExpression
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.precision import at_digits
from symdecouple.shown import Shown

__all__ = ["Population", "population"]

_MOST_DIGITS = 200
_FEWEST = 12  # digits that are computed, if fewer are shown: what decides about limits is compared to so many
_FEWEST_DIGITS = 6  # of densities in float64, before they are refused


@dataclass(frozen=True, slots=True, repr=False)
class Population(Shown):
    """The decoupled features of a law.

    Attributes
    ----------
    law : str
    values : tuple of Expr
        One a feature: exact where that is proved, else a `Float` of `dps` digits; ``nan`` where there is none.
    outcomes : tuple of Outcome
        One a feature: why there is none.
    dps : int
        Digits of what is not exact; at most 11 for densities that are known in float64 only.
    pole : Expr or None
        Where the map to level 3 has its pole; ``oo`` where it is affine.
    skewness_range : tuple of numbers, or None
        Between which the skewness lies on the leaf.
    notes : tuple of str
        What belongs to a refusal: what samples show all the same.
    transform : Expr or None
        S(p) = E 1/(x - p) in `POLE`, where it has a closed form: of uniform, exponential, gamma, beta and Pareto laws,
        and of finitely many places.
    """

    law: str
    values: tuple[Expr, ...]
    outcomes: tuple[Outcome, ...]
    dps: int
    pole: Expr | None = None
    skewness_range: tuple[Any, Any] | None = None
    notes: tuple[str, ...] = ()
    transform: Expr | None = None

    @property
    def equation(self) -> Expr | None:
        """What vanishes at the pole of zero skewness, in closed form: R_3 - 3 R_1 R_2 + 2 R_1^3, R_k = S^(k-1)/(k-1)!.

        Examples
        --------
        >>> import symdecouple as sd
        >>> from scipy import stats
        >>> found = population(sd.decouple(sd.families.raw_moments(4)), stats.beta(3, 2))
        >>> found.equation is not None and abs(found.equation.subs(POLE, found.pole).evalf()) < 1e-12
        True
        """
        if self.transform is None:
            return None
        first = self.transform
        second, third = diff(first, POLE), diff(first, POLE, 2) / 2
        return third - 3 * first * second + 2 * first**3

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.values)

    def __getitem__(self, k: int) -> Expr:
        return self.values[k]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([float(v) for v in self.values], dtype=dtype or float)

    def __str__(self) -> str:
        lines = [f"decoupled features of {self.law}"]
        for k, (value, outcome) in enumerate(zip(self.values, self.outcomes, strict=True), 1):
            lines.append(f"  {k}: {value if outcome.ok else outcome}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def population(plan: Plan, distribution: Any, *, dps: int = 15, on_refusal: Literal["raise", "return"] = "raise"
               ) -> Population:
    r"""Return the decoupled features of a distribution, or refuse with the reason.

    Parameters
    ----------
    plan : Plan
        Of moments, or of other averages; no filters, groups and perturbations: a law has no neighbours. Moments of
        order 5 and above, and averages from the first level on that has no closed form, are followed on nodes to 8
        digits; orders 5 and 6 of symmetric laws have closed forms.
    distribution : frozen scipy.stats law, sympy.stats random variable, or Density
    dps : int
        Digits of what has no closed form; quadrature costs about their square.
    on_refusal : {"raise", "return"}
        Where the last feature does not exist: `Refused`, with the `Population` of the others as ``.partial``, or that
        itself. An infinite moment before the last feature is a value.

    Returns
    -------
    Population

    Raises
    ------
    Refused
        If the law has no such feature: skewness 0 (or what the plan has for it) is not on its leaf, or a moment is
        infinite.
    InvalidInput
        If `distribution` is no law of one number, its mass is not 1, or its density does not integrate; if the plan
        perturbs.
    UnsupportedExpression
        If features have filters, coordinates, groups or no expression.
    NoClosedForm
        If a law is spread over too many whole numbers, or an expectation is not found to the digits that are asked for.

    Examples
    --------
    >>> import symdecouple as sd
    >>> from scipy import stats
    >>> plan = sd.decouple(sd.families.standardized_moments(4))
    >>> population(plan, stats.uniform()).values
    (1/2, 1/12, 0, 9/5)
    >>> population(plan, stats.expon(), dps=30)[3]
    1.98399660474116514100635759749
    >>> population(plan, stats.pareto(1)).values
    (oo, oo, nan, 9/5)
    >>> print(population(plan, stats.skewnorm(4), on_refusal="return").outcomes[3].reason)
    skewness out of reach
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, decouple(features), got {type(plan).__name__}")
    if isinstance(dps, bool) or not isinstance(dps, int) or not 1 <= dps <= _MOST_DIGITS:
        raise InvalidInput(f"dps is a number of digits from 1 to {_MOST_DIGITS}, got {dps!r}")
    if on_refusal not in ("raise", "return"):
        raise InvalidInput(f'on_refusal is "raise" or "return", got {on_refusal!r}')
    if plan.perturbation is not None:
        raise InvalidInput("the plan perturbs refused samples, and a law has no quantisation to hide that in; plan "
                           "without perturb=")
    if any(len(group) > 1 for group in plan.features.groups):
        raise UnsupportedExpression("features of a Group are normalized together, which is done for samples only; plan "
                                    "with one feature after the other")
    if len(plan.features.symbolic) < len(plan.features):
        raise UnsupportedExpression("a feature is a function of arrays, and laws need its expression; write it with "
                                    "Mean")
    if plan.features.coordinates or plan.features.filter_ndim:
        raise UnsupportedExpression("a law is that of one number: features of explicit coordinates or with filters "
                                    "have no value for it; take averages of functions of the sample")
    law = law_of(distribution, dps)
    found = _rounded(_found(plan, law, max(dps, _FEWEST)), dps)
    if on_refusal == "raise" and not found.outcomes[-1].ok:
        last = found.outcomes[-1]
        raise Refused(f"feature {len(found)} of {law.name} is refused: {last.reason} ({last.detail})", found,
                      found.outcomes)
    return found


def _rounded(found: Population, dps: int) -> Population:
    """Give what was computed with more digits than were asked for to these."""
    if dps >= found.dps:
        return found
    values = tuple(v.evalf(dps) if v.has(Float) else v for v in found.values)
    pole = found.pole.evalf(dps) if found.pole is not None and found.pole.has(Float) else found.pole
    return replace(found, values=values, pole=pole, dps=dps)


def _found(plan: Plan, law: Law, dps: int) -> Population:
    moments = plan.choice.moments
    quadrature = Quadrature(law, dps)
    while True:
        with at_digits(quadrature.work):
            try:
                if moments is not None and len(moments) == len(plan.features):
                    return _of_moments(plan, moments, Leaf(quadrature))
                values, outcomes = of_averages(plan, Leaf(quadrature))
                return Population(law.name, tuple(values), tuple(outcomes), quadrature.dps)
            except NoClosedForm:
                if law.is_exact or quadrature.dps <= _FEWEST_DIGITS:
                    raise
        quadrature.dps -= 2  # densities in float64 may be known to fewer digits than that


def _of_moments(plan: Plan, coordinates: MomentCoordinates, leaf: Leaf) -> Population:
    """Moments: each feature in the coordinates (m, s, c_3, c_4), those below it at the references."""
    size, digits = len(plan.features), leaf.quadrature.dps
    references = coordinates.coordinates([v for v in plan.reference[: size - 1] if v is not None])
    own = moments_of(leaf)
    found, outcomes = list(own.values), list(own.outcomes)
    at = None
    if size > 3:
        at = at_skewness(leaf, references[2])
        found.append(at.kurtosis)
        outcomes.append(at.outcome)
        higher = HigherMoments(leaf, at.time, references[2:]) if size > 4 and at.time is not None else None
        for order in range(5, size + 1):
            value, outcome = (nan, at.outcome) if higher is None else higher.moment(order)
            found.append(value)
            outcomes.append(outcome)
    values = []
    for k in range(size):
        rule = dict(zip(coordinates.symbols, [*references[:k], found[k]], strict=False))
        value = coordinates.forward[k].subs(rule) if outcomes[k].ok else found[k]
        values.append(value.evalf(digits) if value.has(Float) else value)
    limits = None if at is None or at.limits is None else tuple(
        own.values[2] if limit.is_reached else limit.exact if limit.exact is not None and leaf.law.is_exact
        else Float(limit.value, min(digits, 15)) for limit in at.limits)
    return Population(leaf.law.name, tuple(values), tuple(outcomes[:size]), digits, at.pole if at else None, limits,
                      at.notes if at else (), leaf.law.transform)
