r"""The critical points of a decoupled feature: where condition C1 fails, and what is attained there.

On the reference manifold of level k - 1 (features 1..k-1 at their references) feature k is critical where

.. math:: \nabla f_k = \sum_{j < k} \lambda_j \nabla f_j .

For moments every number of a critical sample is a zero of one polynomial of degree k - 1, so that it has at most k - 1
distinct values, and the ties tell what it is (Theorem I). All of them are enumerated, each one solved or excluded by a
proof, and the source's conditions are decided:

* B1: minima and maxima are global, none is only local;
* B2: the samples that flow to saddles are a set of lower dimension.

Averages whose derivatives form a Chebyshev system are treated by their ties too. Everything else is searched
numerically; what is found is real, that it is everything is not proved.
"""

from __future__ import annotations

from sympy import Expr

from symdecouple.analysis.critical.certificate import verdicts_of
from symdecouple.analysis.critical.chebyshev_level import chebyshev_level
from symdecouple.analysis.critical.moment_level import moment_level
from symdecouple.analysis.critical.point import CriticalPoints, sorted_points
from symdecouple.analysis.critical.searched_level import searched_level
from symdecouple.analysis.critical.spectral_level import spectral_level
from symdecouple.analysis.critical.two_values import skewness_for_every_size
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput
from symdecouple.language.feature_set import FeatureSet

__all__ = ["critical_points"]


def critical_points(plan: Plan, level: int, *, n_samples: int | None = None) -> CriticalPoints:
    r"""Return the critical points of decoupled feature `level`, the features before it at the plan's references.

    Parameters
    ----------
    plan : Plan
    level : int
        k, of the feature that is critical, from 1.
    n_samples : int, optional
        N; without it every N at once, for the third of a set of moments; features of coordinates have their own.

    Returns
    -------
    CriticalPoints
        A list of `CriticalPoint` by value, one for all orders of the same sample, with the verdicts `complete`, `b1`
        and `b2`; `plot` draws it.

    Raises
    ------
    InvalidInput
        If there is no such level, or no sample of N values that has the references.
    UnsupportedExpression
        For black boxes, and for functions with kinks.
    BudgetExceeded
        If there are more patterns of ties than are enumerated.

    Notes
    -----
    Of moments the list is complete and proved to be; values without a closed form have 30 digits and a proved error.
    Level 4 takes a tenth of a second for N = 12, level 6 one second.

    Examples
    --------
    >>> import symdecouple as sd
    >>> plan = sd.decouple(sd.families.raw_moments(4))
    >>> print(critical_points(plan, level=4, n_samples=5))
    critical points of decoupled feature 4, N = 5: 4; all of them: PROVED, B1: PROVED, B2: PROVED
      5/4: global minimum, index 0; values -sqrt(5)/2 0 sqrt(5)/2 taken 2 1 2 times
      1.5000000: saddle, index 1; values -1.4142136 -0.43701602 1.1441228 taken 1 2 2 times
      1.5000000: saddle, index 1; values -1.1441228 0.43701602 1.4142136 taken 2 2 1 times
      5/2: global maximum, index 2; values -sqrt(10)/2 0 sqrt(10)/2 taken 1 3 1 times
    >>> critical_points(plan, level=3)[1].value
    (1 - 2*p)/sqrt(p*(1 - p))
    """
    if n_samples is None and isinstance(plan, Plan) and plan.features.coordinates:
        n_samples = len(plan.features.coordinates)
    features, references = _asked(plan, level, n_samples)
    name = plan.names[level - 1]
    if n_samples is None:
        found = moment_level(features, references, 3) if level == 3 else None
        if found is None:
            raise InvalidInput(f"level {level} has no formula for every number of samples; give n_samples=")
        return skewness_for_every_size(found, name)
    moments = moment_level(features, references, n_samples)
    if moments is not None:
        return CriticalPoints(sorted_points(moments.points()), level, n_samples, *verdicts_of(moments), name)
    others = (chebyshev_level(features, references, n_samples) or spectral_level(features, references, n_samples)
              or searched_level(features, references, n_samples))
    return CriticalPoints(sorted_points(others.points()), level, n_samples, *others.verdicts(), name)


def _asked(plan: Plan, level: int, n_samples: int | None) -> tuple[FeatureSet, tuple[Expr | None, ...]]:
    """Return the features up to the level with the references before it, or refuse."""
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, decouple(features), got {type(plan).__name__}")
    size = len(plan.features)
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= size:
        raise InvalidInput(f"level is 1 to {size}, the feature that is critical, got {level!r}")
    if any(level - 1 in group and len(group) > 1 for group in plan.features.groups):
        raise InvalidInput(f"feature {level} is in a group, whose features are not decoupled from each other")
    if n_samples is not None and (isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 2):
        raise InvalidInput(f"n_samples is the number of values of a sample, 2 or more, got {n_samples!r}")
    if plan.features.sample_ndim > 1:
        raise InvalidInput(f"critical points are found for sample vectors, and the filters have "
                           f"{plan.features.sample_ndim} dimensions; give filters of one dimension")
    coordinates = len(plan.features.coordinates)
    if coordinates and n_samples != coordinates:
        raise InvalidInput(f"the features are functions of {coordinates} coordinates, so that n_samples is "
                           f"{coordinates}; got {n_samples!r}")
    references = tuple(plan.reference[:level - 1])
    if n_samples is not None and n_samples < level - 1:
        raise InvalidInput(f"{n_samples} samples have no {level - 1} distinct values, which a critical point of "
                           f"feature {level} has: n_samples={level - 1} or more is needed")
    if None in references:
        raise InvalidInput(f"feature {references.index(None) + 1} has no reference; give the plan {level - 1} of them")
    return FeatureSet(plan.features.features[:level]), references
