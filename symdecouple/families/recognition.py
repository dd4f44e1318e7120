r"""Which exact family a set of features is: its coordinate and its dimension, or the proof that there is none.

A set of averages is involutive iff the derivatives of what is averaged span a Lie algebra (Theorem A1; N > M), which
the C2 verdict decides with a certificate. Where it is one, the coordinate follows from its structure constants
(`flows.coordinate`). Where it is not, no coordinate exists for the set itself; that of its involutive closure may
(Theorem H): (x, x^3) is no family, and closes to the moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy import Expr, S

from symdecouple.calculus.closure import InvolutiveClosure, involutive_closure
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import BudgetExceeded, InvalidInput, NoClosedForm, UnsupportedExpression
from symdecouple.families.exact import ExactTriple
from symdecouple.flows.coordinate import coordinate_of
from symdecouple.flows.generators import generators
from symdecouple.language.canonical import close, decompose, statistics_of
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filtered import Filtered
from symdecouple.shown import Shown
from symdecouple.verdict import Status, Verdict

__all__ = ["Recognition", "family_of", "recognize"]


@dataclass(frozen=True, slots=True, repr=False)
class Recognition(Shown):
    """What a set of features is.

    Attributes
    ----------
    features : FeatureSet
    triple : ExactTriple or None
        The family, with its coordinate `phi` and its `dimension` 1, 2 or 3.
    verdict : Verdict
        C2 of the features: PROVED where there is a triple; REFUTED, with a sample that shows it, where there is none;
        `verify()` recomputes either.
    reason : str
        One sentence.
    """

    features: FeatureSet
    triple: ExactTriple | None
    verdict: Verdict
    reason: str
    budget: float = field(default=30.0, repr=False, compare=False)

    @property
    def closure(self) -> InvolutiveClosure:
        """The involutive closure of the features (Theorem H); decided when it is asked for."""
        return involutive_closure(self.features, budget=self.budget)

    @property
    def enclosing(self) -> ExactTriple | None:
        """The family that the features close to; their own where they are one, None where there is none.

        Examples
        --------
        >>> from symdecouple.language.mean import Mean
        >>> from symdecouple.language.sample import x
        >>> recognize([Mean(x), Mean(x**3)]).enclosing.phi
        x
        """
        if self.triple is not None:
            return self.triple
        found = self.closure
        return family_of(found.fields, self.features, self.budget) if isinstance(found.rank, int) else None

    def __str__(self) -> str:
        head = "no exact family" if self.triple is None else (
            f"an exact family of dimension {self.triple.dimension}, coordinate {self.triple.phi}")
        return f"{head}: {self.reason}\n{self.verdict}"


def recognize(features: Any, *, budget: float = 30.0) -> Recognition:
    """Return which exact family a set of averages is (Theorem A), or the proof that it is none.

    Parameters
    ----------
    features : FeatureSet, or list of features
        Averages, or functions of as many averages as there are features.
    budget : float
        Seconds for the verdict.

    Returns
    -------
    Recognition

    Raises
    ------
    InvalidInput
        For features of coordinates and black boxes, which are no averages.

    Notes
    -----
    The verdict is about more samples than features, N > M, and about generic values of parameters. Tenths of a second.

    Examples
    --------
    >>> from sympy import cos, sin
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> found = recognize([Mean(x), Mean(sin(x)), Mean(cos(x))])
    >>> found.triple.phi, found.triple.dimension
    (tan(x/2), 3)
    >>> found = recognize([Mean(x), Mean(x**3)])
    >>> found.triple, found.verdict.status.name, found.verdict.verify()
    (None, 'REFUTED', True)
    """
    made = features if isinstance(features, FeatureSet) else FeatureSet(features)
    if made.kind != "mean":
        raise InvalidInput(f"families are of averages, got features of kind {made.kind!r}: give functions of Mean(...)")
    verdict = check_frobenius(made, budget=budget)
    fields = None if verdict.status is Status.REFUTED else _fields(made, budget)
    if fields is not None and len(fields) < len(made):  # they are dependent, and a basis of them is asked about
        verdict = check_frobenius([VectorField(a) for a in fields], budget=budget)
    if verdict.status is Status.REFUTED:
        i, j = verdict.failing_pair or (0, 0)
        return Recognition(made, None, verdict, f"the bracket of the gradients {i} and {j} leaves their span, and a "
                           "family is involutive (Theorem A)", budget)
    if verdict.status is not Status.PROVED:
        return Recognition(made, None, verdict, f"whether the features are involutive is not decided: {verdict.reason}",
                           budget)
    if fields is None:
        return Recognition(made, None, verdict, "involutive, but no set of averages: the gradients are spanned by no "
                           "functions of the sample alone, which Theorem A is about", budget)
    try:
        triple = family_of(fields, made, budget)
    except UnsupportedExpression as error:  # kinks: Lie's theorem is about analytic functions
        return Recognition(made, None, verdict, f"involutive, but no coordinate is looked for: {error}", budget)
    why = ("the gradients span a Lie algebra of functions of the sample (Theorem A)" if triple is not None else
           "involutive, but the coordinate was not found")
    return Recognition(made, triple, verdict, why, budget)


def family_of(fields: Sequence[Any], features: FeatureSet, budget: float = 30.0) -> ExactTriple | None:
    """Return the family that functions of the sample span, expressions or fields; None where it is not found."""
    made = [a if isinstance(a, VectorField) else VectorField(a) for a in fields]
    if len(made) > 3:
        return None
    structure = check_frobenius(made, budget=budget).structure if len(made) > 1 else {}
    if structure is None:
        return None
    found = coordinate_of([a.expr for a in made], structure, features.sample)
    return None if found is None else ExactTriple(found)


def _fields(features: FeatureSet, budget: float) -> list[Expr] | None:
    """Return a basis of the gradients in functions of the sample alone; None where there is none."""
    try:
        return [u.expr for u in generators(features, budget=budget).fields]
    except (NoClosedForm, BudgetExceeded):
        pass
    sample = features.sample
    found = {s for feature in features for s in statistics_of(close(feature.expr, sample))}
    if any(statistics_of(s.psi) or s.psi.has(Filtered) for s in found):
        return None
    basis = _independent([s.psi.diff(sample) for s in sorted(found, key=str)], features)
    return basis if len(basis) <= len(features) else None


def _independent(fields: list[Expr], features: FeatureSet) -> list[Expr]:
    rows = [decompose(a, features.sample) for a in fields]
    keys = list(dict.fromkeys(psi for row in rows for psi in row))
    matrix = sp.Matrix([[row.get(psi, S.Zero) for row in rows] for psi in keys])
    return [fields[k] for k in matrix.rref()[1]]
