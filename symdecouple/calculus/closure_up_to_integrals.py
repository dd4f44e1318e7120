r"""A closure that is everything but for the mean, or the mean and the variance, which are constant along it.

.. math::

    \langle v_i, w_j\rangle = 0, \qquad [w_j, v_i] \in \mathrm{span}(v_1, \dots, v_M), \qquad
    \overline{S \cup \{w_1, \dots, w_k\}} = \text{everything} \;\Rightarrow\; \mathrm{rank}\,\bar S = N - k

with the shift w = 1 and the scalings w = x - m or w = x: up to factors N times the gradients of mean m, variance, and
second moment. By the brackets (Jacobi) the sum of the closure and of the span of the w_j is involutive, hence
everything, so that the rank is N - k at least. By the inner products these averages are constant along all v_i, so
along the closure: N - k at most.

So skewness and kurtosis: every feature that is decoupled from both is a function of mean and variance.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sympy import Expr, S

from symdecouple.calculus.audit import identity_checks
from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.cell import read_subject
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.closure_claims import Everything, Flag, read_closure
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frame import recent_frame
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.sample_chart import chart_of
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import decompose
from symdecouple.language.mean import Mean
from symdecouple.verdict import Check, Status

__all__ = ["EverythingElse", "read_everything_else", "shifts_and_scalings", "with_fields"]

Row = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class EverythingElse(Claim):
    """The closure has rank N - k for every N: with k fields of shift or scaling it is everything.

    Attributes
    ----------
    flag : Flag
        Of the subject, as far as it was followed.
    added : tuple of Expr
        1, x - Mean(x), x, or the first with another.
    whole : Everything
        Of the subject with these fields.
    structure : mapping
        (j, i) to the weights c with [w_j, v_i] = sum_k c^k v_k.
    """

    flag: Flag
    added: tuple[Expr, ...]
    whole: Everything
    structure: Mapping[tuple[int, int], Row] = field(hash=False)
    kind: ClassVar[str] = "everything else"
    answers: ClassVar[tuple[str, Status]] = ("closure", Status.PROVED)
    n_samples: ClassVar[None] = None
    n0: ClassVar[None] = None
    nonvanishing: ClassVar[tuple[Expr, ...]] = ()

    @property
    def corank(self) -> int:
        """How many functions are constant along the closure."""
        return len(self.added)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        sample, size = self.subject.sample, len(self.subject)
        yield Check("shift or scaling", self.added in _choices(sample))
        yield Check("everything is about the set with these", self.whole.subject == with_fields(
            self.subject, self.added))
        pairs = [(j, i) for j in range(1, len(self.added) + 1) for i in range(1, size + 1)]
        yield Check("every bracket has its structure functions", sorted(self.structure) == pairs
                    and all(len(row) == size for row in self.structure.values()))
        one = VectorField(S.One).in_sample(sample)  # -1 + (1 + <v_i, w_j>) = 0 is an identity of constant fields
        products = [Mean(w * as_field(item).expr) for w in self.added for item in self.subject.framed]
        relations = [(None, (S.NegativeOne, 1 + product)) for product in products]
        yield from identity_checks(Subject((one, one)), relations, None, rng, clock)
        zeros = (S.Zero,) * len(self.added)
        brackets = [((size + j, i), (*row, *zeros)) for (j, i), row in self.structure.items()]
        if len(self.added) == 2:  # [x, 1] = -1, [x - m, 1] = 0
            brackets.append(((size + 2, size + 1), (*zeros[:1] * size, S.Zero if self.added[1].has(Mean) else
                                                    S.NegativeOne, S.Zero)))
        yield from identity_checks(self.whole.subject, brackets, None, rng, clock)
        yield from self.flag.checks(self.subject, None, rng, clock)
        yield from self.whole._checks(rng, clock)

    @property
    def growth_is_proved(self) -> bool:
        """True iff the growth vector, as far as it goes, is proved."""
        return self.flag.missing <= 1

    def reason(self, n_samples: Size | None) -> str:
        constant = " and ".join("the mean" if w == 1 else "the variance" if w.has(Mean) else "the second moment"
                                for w in self.added)
        beside = " and ".join("the shift" if w == 1 else "the scaling" for w in self.added)
        are = "is" if len(self.added) == 1 else "are"
        return (f"{constant} {are} constant along the fields, and with {beside} the closure is everything: "
                f"{self.whole.reason(None)}")

    def summary(self) -> tuple[str, ...]:
        return (*self.flag.summary(), *self.whole.summary())

    def latex(self) -> str:
        return rf"\operatorname{{rank}} = N - {self.corank}:\quad {self.whole.latex()}"

    def to_dict(self) -> dict[str, Any]:
        written = self.subject.written
        return self._head() | {"flag": self.flag.to_dict(), "added": [written(w) for w in self.added],
                               "whole": self.whole.to_dict(), "n_samples": None,
                               "structure": {f"{j},{i}": [written(c) for c in row]
                                             for (j, i), row in self.structure.items()}}


def read_everything_else(data: Mapping[str, Any]) -> EverythingElse:
    """Read a certificate from the data that its `to_dict` wrote."""
    subject, whole = read_subject(data["subject"]), read_closure(data["whole"])
    if not isinstance(whole, Everything):
        raise InvalidInput(f"the closure with more fields is everything, got a certificate {whole.kind!r}")
    structure = {}
    for key, row in data["structure"].items():
        j, i = map(int, key.split(","))
        structure[j, i] = tuple(map(subject.read, row))
    return EverythingElse(subject, Flag.from_dict(data["flag"]), tuple(map(subject.read, data["added"])), whole,
                          structure)


def with_fields(subject: Subject, added: Sequence[Expr]) -> Subject:
    """Return the fields of a subject and some functions of the sample alone."""
    sample = subject.sample
    return Subject((*map(as_field, subject.framed), *(VectorField(w).in_sample(sample) for w in added)))


def shifts_and_scalings(subject: Subject, clock: Budget,
                        rng: random.Random) -> tuple[tuple[Expr, ...], dict[tuple[int, int], Row]]:
    """Return those of 1, x - m, x that all fields are orthogonal to and that map the span to itself; their brackets."""
    chosen: list[Expr] = []
    structure: dict[tuple[int, int], Row] = {}
    for w in (S.One, subject.sample - Mean(subject.sample), subject.sample):
        if (*chosen, w) in _choices(subject.sample) and _is_orthogonal(subject, w):
            rows = _brackets(subject, w, clock, rng)
            if rows is not None:
                chosen.append(w)
                structure |= {(len(chosen), i): row for i, row in enumerate(rows, 1)}
    return tuple(chosen), structure


def _choices(sample: Expr) -> list[tuple[Expr, ...]]:
    centred = sample - Mean(sample)
    return [(S.One,), (centred,), (sample,), (S.One, centred), (S.One, sample)]


def _brackets(subject: Subject, w: Expr, clock: Budget, rng: random.Random) -> list[Row] | None:
    """Return the brackets of a field with those of the subject by these, where they are combinations of them."""
    size = len(subject)
    member = Membership(recent_frame(with_fields(subject, [w]).items, clock), clock, rng)
    if size not in member.pivots:  # it is one of them already
        return None
    member.pivots = [k for k in member.pivots if k < size]
    rows = [member.structure(size, i) for i in range(size)]
    known = [row[:size] for row in rows if row is not None and row[size] == 0]
    return known if len(known) == size else None


def _is_orthogonal(subject: Subject, w: Expr) -> bool:
    fields = [as_field(item).expr for item in subject.framed]
    chart = chart_of([*fields, w], subject.sample)
    values = [c for v in fields for c in decompose(chart.close(Mean(w * v)), chart.sample).values()]
    coefficients = CoefficientField(values)
    return all(map(coefficients.vanishes, values))
