r"""Constraints A(q, t) q' + b(q, t) = 0: do they restrict the coordinates, or the velocities only?

.. math::

    \omega_i = \sum_k A_{ik}\, dq_k + b_i\, dt, \qquad D = \ker\{\omega_1, \dots, \omega_m\}, \qquad
    \text{hidden} = n + 1 - \mathrm{rank}\,\bar D

m independent constraints have a kernel of rank n + 1 - m in the space of (q, t) (without t: n - m). Functions h(q, t)
that stay constant in every motion are those that are constant along the kernel, so along its closure: as many
independent ones as its rank leaves (Theorem M). All m constraints are holonomic iff the kernel is involutive; otherwise
fewer hide in the set, and none where the closure is everything.

The time counts: y' - t x' = 0 is nonholonomic, though for each frozen t it is y - t x = const. Constraints that imply
dt = 0 contradict each other. Counts are those at generic points, and for generic values of parameters.
"""

from __future__ import annotations

import random
import time as clocks
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from sympy import Expr, Symbol, latex

from symdecouple.calculus.audit import minor_check
from symdecouple.calculus.cell import read_subject
from symdecouple.calculus.certificates import NonInvolution, certificate_from_dict
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.closure import involutive_closure
from symdecouple.calculus.closure_claims import Closed, Everything, read_closure
from symdecouple.calculus.field import rows_of
from symdecouple.calculus.forms import OneForm, without_zero_forms
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.specialization import specialized
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.witness import Witness, find_witness
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.flows.constancy import gradients_of, is_constant_along
from symdecouple.flows.first_integrals import first_integrals
from symdecouple.language.budget import Budget
from symdecouple.language.mean import exact
from symdecouple.verdict import Check, ExceptionalValues, Status, Verdict

__all__ = ["Holonomy", "holonomic"]

HOLONOMIC = "holonomic"
SHARES = (0.3, 0.3)
"""Of the budget, for the closure and for a bracket that refutes; the rest is for the functions."""


@dataclass(frozen=True, slots=True)
class Holonomy(Claim):
    """The closure of the kernel of the constraints, and functions that are constant along it.

    There is no closure where the kernel is 0: nothing moves, and every coordinate is constant.
    """

    closure: Closed | None
    functions: tuple[Expr, ...]
    minor: Witness | None
    refutation: NonInvolution | None
    time: Symbol | None
    kind: ClassVar[str] = "holonomy"

    @property
    def answers(self) -> tuple[str, Status]:  # type: ignore[override]
        """The question and its answer: PROVED iff as many constraints hide in the set as are independent in it."""
        return HOLONOMIC, Status.PROVED if self.hidden == self.rank else Status.REFUTED

    @property
    def n_samples(self) -> int:
        """The number of coordinates, the time among them."""
        return len(self.subject.coordinates)

    @property
    def rank(self) -> int:
        """How many of the constraints are independent."""
        return self.n_samples - (len(self.subject) if self.closure else 0)

    @property
    def hidden(self) -> int:
        """How many independent functions of the coordinates (and the time) stay constant in every motion."""
        return self.n_samples - (len(self.closure.flag.fields) if self.closure else 0)

    @property
    def pair(self) -> tuple[int, int] | None:
        """Two fields of the kernel whose bracket leaves it."""
        return self.refutation.pair if self.refutation else None

    @property
    def witness(self) -> Witness | None:
        """A point at which it does."""
        return self.refutation.witness if self.refutation else None

    def describes(self, texts: Sequence[str], n_samples: Size | None) -> bool:
        return tuple(texts) == tuple(map(str, self.subject.forms))

    def _checks(self, rng: Any, clock: Budget) -> Iterable[Check]:
        given, is_rigid = self.subject.items, _is_rigid(self.subject)
        yield Check("the closure is that of the kernel", bool(self.subject.forms) and (
            is_rigid if self.closure is None else not is_rigid and self.closure.subject == self.subject))
        if self.closure is not None:
            yield from self.closure._checks(rng, clock)
        if self.time is not None:
            moving = [field for field in given if field.components[-1] != 0]
            yield Check("the constraints are consistent", self.subject.coordinates[-1] == self.time and bool(moving))
        if self.refutation is not None:
            yield Check("the bracket is one of the kernel", self.refutation.subject == self.subject)
            yield from self.refutation._checks(rng, clock)
        for h in self.functions:
            yield Check(f"{h} is constant", is_constant_along(self.subject, h))
        if self.functions:
            yield Check("the functions have a minor", self.minor is not None)
            assert self.minor is not None  # a check that fails ends the audit
            yield minor_check(gradients_of(self.functions, self.subject), self.minor,
                              range(1, len(self.functions) + 1), None, self.n_samples, clock)
        yield Check("no more functions than hide", len(self.functions) <= self.hidden)

    def decided_again(self, about: Subject, seconds: float) -> Verdict:
        """Decide the constraints anew, at values of parameters."""
        return _decide(about, self.time, seconds, look_for_exceptions=about.items == self.subject.items)

    def reason(self, n_samples: Size | None) -> str:
        many, said = len(self.subject.forms), ""
        if self.rank < many:
            said = f"{self.rank} of the {many} constraints are independent; "
        if self.hidden == self.rank:
            return said + ("every constraint is holonomic: the kernel is involutive" if self.closure
                           else "every constraint is holonomic: nothing moves")
        i, j = self.pair or (0, 0)
        hidden = {0: "no holonomic constraint hides in the set", 1: "one holonomic constraint hides in the set"}
        return (f"{said}[v{i}, v{j}] leaves the kernel, and "
                + hidden.get(self.hidden, f"{self.hidden} holonomic constraints hide in the set"))

    def summary(self) -> tuple[str, ...]:
        lines = [f"v{k} = {item.body}" for k, item in enumerate(self.subject.items, 1)]
        if self.refutation is not None:
            lines.append(f"witness: {self.refutation.witness.text(self.subject)}")
        lines += [f"constant: {h}" for h in self.functions]
        missing = self.hidden - len(self.functions)
        return (*lines, *([f"{missing} more functions exist that were not found"] if missing else []))

    def latex(self) -> str:
        return r",\ ".join([rf"\text{{hidden}} = {self.hidden}", *map(latex, self.functions)])

    def to_dict(self) -> dict[str, Any]:
        written = self.subject.written
        return self._head() | {
            "closure": self.closure.to_dict() if self.closure else None,
            "functions": [written(h) for h in self.functions],
            "minor": self.minor.to_dict() if self.minor else None, "time": self.time is not None,
            "refutation": self.refutation.to_dict() if self.refutation else None, "n_samples": self.n_samples}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Holonomy:
        """Read what `to_dict` wrote."""
        subject = read_subject(data["subject"])
        closure = read_closure(data["closure"]) if data["closure"] else None
        refutation = certificate_from_dict(data["refutation"]) if data["refutation"] else None
        if not isinstance(closure, Closed | None) or not isinstance(refutation, NonInvolution | None):
            raise InvalidInput("a verdict on constraints rests on a closure and on a bracket that leaves the kernel")
        return cls(subject, closure, tuple(map(subject.read, data["functions"])),
                   Witness.from_dict(data["minor"]) if data["minor"] else None, refutation,
                   subject.coordinates[-1] if data["time"] else None)


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    Holonomy.kind: Holonomy.from_dict, Closed.kind: read_closure, Everything.kind: read_closure}


def holonomic(A: Any, b: Any, coordinates: Iterable[Symbol], time: Symbol | None = None, *,
              budget: float = 10.0) -> Verdict:
    """Decide whether constraints A(q, t) q' + b(q, t) = 0 are holonomic, or how many holonomic ones hide in the set.

    Parameters
    ----------
    A : Matrix, array_like of Expr, (M, N)
        One row for each constraint, one column for each coordinate.
    b : Matrix, array_like of Expr, (M,), or None
        None where the constraints have no such term.
    coordinates : sequence of Symbol, (N,)
    time : Symbol, optional
        Needed where `b` is not zero or A contains the time.
    budget : float
        Seconds; functions that are not found by then are missing.

    Returns
    -------
    Verdict
        PROVED: every constraint is holonomic. REFUTED: not all of them; `failing_pair` and `witness` are a bracket of
        the kernel that leaves it. In both cases `hidden` is the number of independent functions of coordinates and time
        that stay constant, and `functions` are those that were found.

    Raises
    ------
    InvalidInput
        For constraints that contradict each other, that are zero, or whose sizes do not match.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y, z, w, t = symbols("x y z w t")
    >>> holonomic([[y, x]], None, [x, y]).functions
    (x*y,)
    >>> holonomic([[-t, 1]], [0], [x, y], t).status.name
    'REFUTED'
    >>> two = holonomic([[-z, 1, 0, 0], [-y, -x, 0, 1]], None, [x, y, z, w])
    >>> two.status.name, two.hidden, two.functions
    ('REFUTED', 1, (w - x*y,))
    """
    forms, clock = _forms(A, b, tuple(coordinates), time), Budget(budget)
    try:
        with clock.running("the kernel of the constraints"):
            subject = Subject.of_forms(forms)
    except BudgetExceeded as error:
        return Verdict(HOLONOMIC, Status.UNDECIDED, tuple(map(str, forms)), len(forms[0].coordinates),
                       reason=str(error), noun="fields")
    return _decide(subject, time, clock.remaining)


def _forms(A: Any, b: Any, coordinates: tuple[Symbol, ...], time: Symbol | None) -> list[OneForm]:
    rows = [[exact(a, "A") for a in row] for row in rows_of(A)]
    if not rows or any(len(row) != len(coordinates) for row in rows):
        raise InvalidInput(f"A has a row for each constraint and a column for each of the coordinates {coordinates}, "
                           f"got rows of lengths {[len(row) for row in rows]}")
    if time is not None and time in coordinates:
        raise InvalidInput(f"the time {time} is not one of the coordinates {coordinates}: leave it out of them")
    last = [exact(a, "b") for a in _column(b, len(rows))]
    if len(last) != len(rows):
        raise InvalidInput(f"b has one entry for each of {len(rows)} constraints, got {len(last)}")
    if time is None and any(a != 0 for a in last):
        raise InvalidInput(f"b = {last} drives the constraints in time: give its symbol, "
                           "holonomic(A, b, coordinates, time)")
    for k, (row, a) in enumerate(zip(rows, last, strict=True), 1):
        if all(c == 0 for c in row):
            raise InvalidInput(f"constraint {k} is 0 = 0, and constrains nothing: leave it out" if a == 0 else
                               f"constraint {k} is {a} = 0, which contradicts itself: it contains no velocity")
    if time is None:
        return [OneForm(row, coordinates) for row in rows]
    return [OneForm([*row, a], (*coordinates, time)) for row, a in zip(rows, last, strict=True)]


def _column(b: Any, size: int) -> list[Any]:
    if b is None or (not hasattr(b, "__len__") and b == 0):
        return [0] * size
    if hasattr(b, "tolist"):
        b = b.tolist()
    if not isinstance(b, (list, tuple)):
        raise InvalidInput(f"b is a column with one entry for each of {size} constraints, or None; got {b!r}")
    flat = [a for entry in b for a in (entry if isinstance(entry, (list, tuple)) else [entry])]
    return flat


def _decide(subject: Subject, time: Symbol | None, budget: float, look_for_exceptions: bool = True) -> Verdict:
    start, clock = clocks.perf_counter(), Budget(budget)
    if time is not None and all(field.components[-1] == 0 for field in subject.items):
        generic = f", for generic values of {', '.join(map(str, subject.symbols))}" if subject.symbols else ""
        raise InvalidInput(f"the constraints contradict each other{generic}: together they say that d{time} = 0, as "
                           "x' = 0 and x' = 1 do")
    texts = tuple(map(str, subject.forms))
    told: dict[str, Any] = {"n_samples": len(subject.coordinates), "noun": subject.noun,
                            "parameters": tuple(map(str, subject.symbols)),
                            "redecide": partial(_again, subject, time, budget)}
    c2 = check_frobenius(subject, budget=clock.remaining * SHARES[1])
    if _is_rigid(subject):
        functions = subject.coordinates
        minor = find_witness(gradients_of(functions, subject), range(1, len(functions) + 1), None, len(functions),
                             random.Random(), clock)
        certificate, candidates = Holonomy(subject, None, functions, minor, None, time), c2.exceptions
    else:
        closure = involutive_closure(subject, budget=clock.remaining * SHARES[0])
        refutation = c2.certificate if len(closure.growth) > 1 else None
        if not isinstance(closure.certificate, Closed) or not isinstance(refutation, NonInvolution | None):
            return Verdict(HOLONOMIC, Status.UNDECIDED, texts, seconds=clocks.perf_counter() - start,
                           reason=closure.reason if closure.rank is None else c2.reason, **told)
        found = first_integrals(closure, budget=clock.remaining)
        certificate = Holonomy(subject, closure.certificate, found.functions, found.witness, refutation, time)
        candidates = (*c2.exceptions, *(ExceptionalValues(at) for at, _ in closure.exceptions))
    exceptions: tuple[ExceptionalValues, ...] = ()
    if look_for_exceptions and subject.symbols:
        exceptions = _exceptions(certificate, candidates, clock)
    return Verdict(HOLONOMIC, certificate.answers[1], texts, certificate=certificate, exceptions=exceptions,
                   not_searched=c2.not_searched if look_for_exceptions else "",
                   seconds=clocks.perf_counter() - start, **told)


def _is_rigid(subject: Subject) -> bool:
    """True where the kernel is 0."""
    return subject.items == (subject.zero_field,)


def _exceptions(certificate: Holonomy, candidates: Iterable[ExceptionalValues],
                clock: Budget) -> tuple[ExceptionalValues, ...]:
    """Return the values of parameters at which another number of constraints is independent or hides."""
    out: list[ExceptionalValues] = []
    for record in candidates:
        if any(dict(record) == dict(known) for known in out):
            continue
        try:
            special = certificate.decided_again(specialized(certificate.subject, dict(record)), clock.remaining)
        except (InvalidInput, UnsupportedExpression) as error:
            out.append(ExceptionalValues(record.at, (), str(error)))
            continue
        proof = special.certificate
        before = (certificate.rank, certificate.hidden)
        if proof is None or (getattr(proof, "rank", None), getattr(proof, "hidden", None)) != before:
            out.append(ExceptionalValues(record.at, ((HOLONOMIC, special.status),)))
    return tuple(out)


def _again(subject: Subject, time: Symbol | None, budget: float, values: Mapping[Any, Any]) -> Verdict:
    forms = without_zero_forms(subject.forms, values)
    return _decide(Subject.of_forms(forms, subject.coordinates), time, budget)
