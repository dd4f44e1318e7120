r"""The involutive closure: the smallest involutive distribution that contains some fields (Theorem H).

.. math:: \bar S(x) = \{X(x) : X \in \mathrm{Lie}(v_1, \dots, v_M)\}, \qquad r = \mathrm{rank}\,\bar S

A function is constant along all fields iff it is constant along their closure, and near points of constant rank there
are exactly N - r independent ones. Brackets are added step by step (`bracket_growth`) until they bring nothing new.

In coordinates that ends, at the latest with N fields. In the sample, for every N at once, it ends for the averages of
Lie's theorem (rank 3 at most), and for all others of functions that are analytic it never does: four independent
functions of the sample alone in the closure prove that its rank is N (`closure_claims.Everything`). Where neither is
found within the budget the answer is UNDECIDED, and the growth vector as far as it was found is given.

Ranks, growth and N - r are those at generic points, of parameters too. Not covered: filters for every N at once, and
functions with kinks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Symbol

from symdecouple.calculus.certificates import Dependence
from symdecouple.calculus.closure_claims import Closed, Everything
from symdecouple.calculus.closure_search import ClosureSearch
from symdecouple.calculus.closure_up_to_integrals import EverythingElse
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.independence import check_size
from symdecouple.calculus.point_growth import PointGrowth, point_growth
from symdecouple.calculus.specialization import specialized
from symdecouple.calculus.subject import Size, Subject, count, forms_of
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.shown import Shown
from symdecouple.verdict import Check, Status

__all__ = ["InvolutiveClosure", "involutive_closure"]

N = Symbol("N")
PATIENCE = 5.0
"""Seconds for the closure at one exceptional value of the parameters."""


@dataclass(frozen=True, slots=True, repr=False)
class InvolutiveClosure(Shown):
    """The closure of some fields, as far as it was found.

    Attributes
    ----------
    fields : tuple of VectorField
        A basis at generic points where the status is PROVED and the rank a number: the given fields without those that
        depend on others, then brackets up to functions and up to earlier fields. Else the fields found so far.
    rank : int, Symbol N, Expr, or None
        N where the closure is everything for every number of samples, N - 1 or N - 2 where it is but for mean and
        second moment; None where it is not known.
    growth : tuple of int
        The growth vector, dimensions of the spans of brackets of one, at most two, ... of the fields.
    certificate : Claim or None
        Present iff the status is PROVED; `verify()` recomputes it.
    status : Status
        PROVED or UNDECIDED.
    reason : str
    subject : Subject
        The fields, features or forms that were given.
    n_samples : int, tuple of int or None
        The size that it is about; None for every size.
    exceptions : tuple of (mapping, rank)
        Values of parameters that were found to have another rank, None where that is not decided.
    """

    fields: tuple[VectorField, ...]
    rank: Any
    growth: tuple[int, ...]
    certificate: Any
    status: Status
    reason: str
    subject: Subject = field(repr=False)
    n_samples: Size | None = None
    exceptions: tuple[tuple[Mapping[Any, Any], Any], ...] = field(default=(), hash=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def n0(self) -> int | None:
        """The size from which on the rank is that of generic samples, where every size was asked for."""
        return getattr(self.certificate, "n0", None)

    @property
    def is_everything(self) -> bool:
        """True iff it is proved that the closure is everything: what is constant along the fields is constant."""
        return self.rank is not None and self.rank in (N, None if self.n_samples is None else count(self.n_samples))

    @property
    def is_involutive(self) -> bool | None:
        """True iff the given fields are involutive already; None where it is not known."""
        if len(self.growth) > 1:
            return False
        if self.rank is None or not isinstance(self.certificate, (Everything, EverythingElse)):
            return None if self.rank is None else True
        return self.n_samples is not None and self.rank == self.growth[0]

    def at(self, values: Mapping[Any, Any], budget: float = 30.0) -> InvolutiveClosure:
        """Return the closure with parameters bound to values, which may have another rank.

        Examples
        --------
        >>> from sympy import symbols
        >>> from symdecouple import Mean, involutive_closure, x
        >>> a = symbols("a")
        >>> closure = involutive_closure([Mean(x), Mean(x**3) + a*Mean(x**4)])
        >>> closure.rank, closure.at({a: 0}).rank, closure.exceptions
        (N, 3, (({a: 0}, 3),))
        """
        size = None if self.subject.coordinates else self.n_samples
        return involutive_closure(specialized(self.subject, values), n_samples=size, budget=budget)

    def growth_at(self, point: Any, budget: float = 10.0) -> PointGrowth:
        """Return the growth vector at one point, and the rank there: the dimension of the orbit, for analytic fields.

        Parameters
        ----------
        point : mapping or sequence
            Coordinate to value, or one value for each; of averages a sample.
        budget : float
            Seconds.

        Raises
        ------
        InvalidInput
            Where a field is not defined at the point, or parameters have no values.
        UnsupportedExpression
            Where a component is not rational there.

        Examples
        --------
        >>> from sympy import symbols
        >>> from symdecouple import VectorField, involutive_closure
        >>> p, q, r = symbols("p q r")
        >>> martinet = VectorField.columns([[1, 0], [0, 1], [0, p**2/2]], [p, q, r])
        >>> closure = involutive_closure(martinet)
        >>> closure.growth, closure.growth_at([0, 0, 0]).growth
        ((2, 3), (2, 2, 3))
        """
        explicit = self.subject
        clock, about = Budget(budget), self
        if not explicit.coordinates:
            explicit = explicit.at(len(point))
            about = involutive_closure(explicit, budget=budget)
        if not isinstance(about.certificate, Closed):
            raise UnsupportedExpression(f"the closure is not known, and so is its rank at a point: {about.reason}")
        with clock.running("the growth at a point"):
            return point_growth(explicit, point, about.fields, about.certificate.nonvanishing,
                                about.certificate.flag.missing == 0, clock)

    def audit(self, budget: float = 20.0) -> tuple[Check, ...]:
        """Recompute every claim of the certificate, in so many seconds; one check that failed where there is none."""
        if self.certificate is None:
            return (Check("certificate", False, f"{self.status.name}, so there is nothing to verify: {self.reason}"),)
        flag = getattr(self.certificate, "flag", None)  # None: one field, which vanishes identically
        told = (self.growth, self.fields) == (((0,), ()) if flag is None else (flag.growth, flag.fields.items))
        return (Check("says what its certificate says", told and self.rank == _rank(self.certificate, self.n_samples)),
                *self.certificate.audit(budget))

    def verify(self, budget: float = 20.0) -> bool:
        """Return True iff the closure is proved and every claim was recomputed; see `audit`.

        Examples
        --------
        >>> from symdecouple import Mean, involutive_closure, x
        >>> involutive_closure([Mean(x), Mean(x**3)]).verify()
        True
        """
        return all(check.passed for check in self.audit(budget))

    def __str__(self) -> str:
        size = self.n_samples
        where = (f"for N = {size}" if size is not None else "for every N" if self.n0 is None
                 else f"for every N >= {self.n0}")
        parameters = ", ".join(map(str, self.subject.symbols))
        generic = f", for generic values of {parameters}" if parameters else ""
        rank = "rank not known" if self.rank is None else f"rank {self.rank}"
        lines = [f"involutive closure: {rank}, {self.status.name} {where}{generic}"]
        lines += [f"  {k}  {text if len(text) <= 100 else text[:97] + '...'}"
                  for k, text in enumerate((f.body for f in self.fields), 1)]
        lines.append(f"  growth vector ({', '.join(map(str, self.growth))}"
                     + (", ...)" if not isinstance(self.certificate, Closed) else ")"))
        lines.append(f"  why: {self.reason}")
        for values, other in self.exceptions:
            lines.append(f"  except at {', '.join(f'{k} = {v}' for k, v in values.items())}: there the rank is "
                         + ("not known" if other is None else str(other)))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the closure as JSON-ready data."""
        return {"status": self.status.name, "rank": None if self.rank is None else str(self.rank),
                "growth": list(self.growth), "fields": [f.body for f in self.fields], "reason": self.reason,
                "n_samples": self.n_samples, "n0": self.n0, "subject": list(self.subject.texts()),
                "certificate": None if self.certificate is None else self.certificate.to_dict()}


def involutive_closure(fields: Any, *, n_samples: Size | None = None, budget: float = 30.0) -> InvolutiveClosure:
    """Return the smallest involutive distribution that contains fields, gradients, or the kernel of 1-forms.

    Parameters
    ----------
    fields : FeatureSet, list of VectorField, or list of OneForm
        In coordinates, or in the sample for every number of samples at once.
    n_samples : int or tuple of int, optional
        For this sample size; default: for every size. Filters need one.
    budget : float
        Seconds; past them the status is UNDECIDED.

    Returns
    -------
    InvolutiveClosure
        With `rank`, `growth`, `fields`, and a `certificate` where it is proved.

    Raises
    ------
    InvalidInput
        For a sample size below 2 or one that contradicts the coordinates, and for black boxes.
    BudgetExceeded
        Where the kernel of 1-forms is not found in time.

    Notes
    -----
    A robot of six coordinates takes less than a second, averages some tenths of a second. Everything is generic: for
    ranks at one point, which may be smaller, see `InvolutiveClosure.growth_at`.

    Examples
    --------
    >>> from sympy import cos, sin, symbols
    >>> from symdecouple import Mean, VectorField, x
    >>> involutive_closure([Mean(x), Mean(x**3)]).rank
    3
    >>> involutive_closure([Mean(sin(x)), Mean(cos(x))]).fields
    (VectorField(cos(x)), VectorField(-sin(x)), VectorField(-1))
    >>> involutive_closure([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)]).rank
    N
    >>> p, q, theta = symbols("p q theta")
    >>> car = [VectorField([cos(theta), sin(theta), 0], [p, q, theta]), VectorField([0, 0, 1], [p, q, theta])]
    >>> involutive_closure(car).growth
    (2, 3)
    """
    start, clock = time.perf_counter(), Budget(budget)
    if forms_of(fields):
        with clock.running("the kernel of forms"):
            fields = Subject.of(fields)
    subject = Subject.of(fields)
    if any(item.kind == "black box" for item in subject.items):
        raise InvalidInput("a black box has no expression that brackets are taken of: give features with expressions")
    size = check_size(subject, n_samples)
    found = ClosureSearch(subject, size)
    try:
        with clock.running("the involutive closure"), sympy_failures("the involutive closure"):
            if subject.has_kinks:
                raise UnsupportedExpression("a function with kinks occurs, and brackets differ from cell to cell: give "
                                            "what it is on the samples in use, x for abs(x) where x > 0")
            if subject.functions:
                names = ", ".join(map(str, subject.functions))
                raise UnsupportedExpression(f"{names} is undefined: bind it, features.bind({{...}}), to decide")
            found.search(clock)
    except (BudgetExceeded, UnsupportedExpression) as error:
        found.reason = str(error)
    return _answer(found, clock, start)


def _answer(found: ClosureSearch, clock: Budget, start: float) -> InvolutiveClosure:
    """Return what was found as the answer."""
    growing, proof = found.growing, found.certificate
    fields = () if growing is None else tuple(growing.fields)
    growth = () if growing is None else growing.growth
    if isinstance(proof, Closed):
        fields, growth = proof.flag.fields.items, proof.flag.growth
    subject, size = found.subject, found.size
    if proof is None:
        return InvolutiveClosure(fields, None, growth, None, Status.UNDECIDED, found.reason, subject, size,
                                 seconds=time.perf_counter() - start)
    if isinstance(proof, Dependence):
        growth = (0,)
    rank = _rank(proof, size)
    exceptions = tuple(_exceptions(found, rank, clock))
    return InvolutiveClosure(fields, rank, growth, proof, Status.PROVED, proof.reason(size), subject, size, exceptions,
                             time.perf_counter() - start)


def _rank(proof: Any, size: Size | None) -> Any:
    """Return the rank that a certificate proves, for one size or for every one."""
    if isinstance(proof, (Everything, EverythingElse)):
        return (N if size is None else count(size)) - proof.corank
    flag = getattr(proof, "flag", None)  # None: one field, which vanishes identically
    return 0 if flag is None else len(flag.fields)


def _exceptions(found: ClosureSearch, rank: Any, clock: Budget) -> Iterator[tuple[Mapping[Any, Any], Any]]:
    """Yield the values of parameters at which what is independent in general is not, and the rank is another."""
    size = None if found.subject.coordinates else found.size
    for record in found.candidates:
        try:
            special = specialized(found.subject, dict(record))
        except (UnsupportedExpression, InvalidInput):
            continue
        other = involutive_closure(special, budget=min(PATIENCE, clock.remaining), n_samples=size).rank
        if other != rank:
            yield dict(record), other
