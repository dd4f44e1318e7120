r"""Certificates of an involutive closure: which brackets make it, and why it ends, or never does.

========================  =====================================================================================
`Closed`                  [v_i, w_j] = sum_k c^k w_k for the given v_i and all w_j, each w_k a bracket; independent
`Everything`              four independent functions of the sample alone, analytic, are in the closure
========================  =====================================================================================

The second rests on Lie's theorem: a Lie algebra of analytic fields on a line has dimension 3 at most, or infinite
dimension. Functions a of the sample alone are fields (a(x_1), ..., a(x_N)), whose brackets a b' - b a' are such fields
again; four that are independent therefore generate infinitely many, and N of these are independent at generic samples.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

from sympy import Expr, S, latex

from symdecouple.calculus.audit import identity_checks, size_check
from symdecouple.calculus.bracket import as_field
from symdecouple.calculus.bracket_growth import Pair
from symdecouple.calculus.cell import read_subject
from symdecouple.calculus.certificates import Independence, certificate_from_dict, denominators
from symdecouple.calculus.claims import Claim, combination, combination_latex
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.mean import Mean
from symdecouple.verdict import Check, Status

__all__ = ["Closed", "Everything", "Flag", "read_closure"]


@dataclass(frozen=True, slots=True)
class Flag:
    """Fields, of which the first ones are given and each other one is a bracket of a given one with one before it.

    Attributes
    ----------
    fields : Subject
    starts : tuple of int
        The given items that the first fields are, counted from 1.
    parents : mapping
        k to (i, j): field k is [v_i, w_j], up to a function and up to earlier fields.
    structure : mapping
        (i, j) to the weights c with [v_i, w_j] = sum_k c^k w_k.
    relations : mapping
        The other given items through the first ones, as weights of all items that add up to 0.
    missing : int
        Of the last so many steps `structure` has no brackets but those that are fields. With none missing the span is
        involutive; the growth vector is proved with one, and with two where the last step leads to everything.
    """

    fields: Subject
    starts: tuple[int, ...]
    parents: Mapping[int, Pair] = field(hash=False)
    structure: Mapping[Pair, tuple[Expr, ...]] = field(hash=False)
    relations: Mapping[int, tuple[Expr, ...]] = field(hash=False)
    missing: int = 0

    @property
    def depths(self) -> tuple[int, ...]:
        """Of how many given fields each field is made."""
        out = [1] * len(self.starts)
        for k in range(len(out) + 1, len(self.fields) + 1):
            out.append(out[self.parents[k][1] - 1] + 1)
        return tuple(out)

    @property
    def growth(self) -> tuple[int, ...]:
        """The dimensions of D^1, D^2, ..."""
        depths = self.depths
        return tuple(sum(d <= depth for d in depths) for depth in range(1, max(depths, default=0) + 1))

    def checks(self, subject: Subject, n_samples: Size | None, rng: random.Random,
               clock: Budget) -> Iterator[Check]:
        """Check that each field is in the closure of the subject, and what is said of the other brackets."""
        size, first = len(self.fields), len(self.starts)
        given = [as_field(subject.framed[k - 1]) for k in self.starts if 0 < k <= len(subject)]
        yield Check("the first fields are the given ones", len(given) == first and not self.fields.has_levels and
                    given == list(self.fields.items[:first]) and
                    sorted({*self.starts, *self.relations}) == list(range(1, len(subject) + 1)))
        for k, relation in self.relations.items():
            yield Check(f"field {k} through the others", len(relation) == len(subject) and all(
                c == (1 if n == k else 0) for n, c in enumerate(relation, 1) if n not in self.starts))
            yield from identity_checks(subject, [(None, relation)], n_samples, rng, clock)
        yield Check("each other field is a bracket of earlier ones", list(self.parents) == list(
            range(first + 1, size + 1)) and all(0 < i <= first and i < j < k for k, (i, j) in self.parents.items()))
        depths = self.depths
        yield Check("fields of few brackets come first", all(a <= b for a, b in pairwise(depths)))
        pairs = {(i, j) for i in range(1, first + 1) for j in range(i + 1, size + 1)
                 if depths[j - 1] <= max(depths) - self.missing}
        yield Check("every bracket has its structure functions", set(self.structure) == pairs | set(
            self.parents.values()) and all(len(row) == size for row in self.structure.values()), f"{len(pairs)} pairs")
        yield Check("brackets are made of earlier fields and the next ones", all(
            c == 0 for (_, j), row in self.structure.items() for k, c in enumerate(row)
            if depths[k] > depths[j - 1] + 1))
        for k, pair in self.parents.items():
            row = self.structure[pair]
            yield Check(f"field {k} is part of its bracket", all(c == 0 for c in row[k:]) and not CoefficientField(
                [row[k - 1]]).vanishes(row[k - 1]) if not row[k - 1].has(Mean) else row[k - 1] != 0)
        yield from identity_checks(self.fields, list(self.structure.items()), n_samples, rng, clock)

    def summary(self) -> tuple[str, ...]:
        """Return one line for each bracket that is a field."""
        return tuple(f"v{k} = {self.fields.items[k - 1].body}, of [v{i}, v{j}]"
                     for k, (i, j) in self.parents.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the flag as JSON-ready data."""
        return {"fields": self.fields.to_dict(), "starts": list(self.starts),
                "parents": {str(k): list(pair) for k, pair in self.parents.items()},
                "structure": {f"{i},{j}": [self.fields.written(c) for c in row]
                              for (i, j), row in self.structure.items()},
                "relations": {str(k): [self.fields.written(c) for c in row] for k, row in self.relations.items()},
                "missing": self.missing}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Flag:
        """Read what `to_dict` wrote."""
        fields = read_subject(data["fields"])
        return cls(fields, tuple(map(int, data["starts"])),
                   {int(k): _pair(pair) for k, pair in data["parents"].items()},
                   {_pair(key.split(",")): tuple(map(fields.read, row)) for key, row in data["structure"].items()},
                   {int(k): tuple(map(fields.read, row)) for k, row in data["relations"].items()}, int(data["missing"]))


@dataclass(frozen=True, slots=True)
class Closed(Claim):
    """The fields of the flag are independent, and a basis of the closure."""

    flag: Flag
    independence: Independence
    n_samples: Size | None
    kind: ClassVar[str] = "closure"
    answers: ClassVar[tuple[str, Status]] = ("closure", Status.PROVED)

    @property
    def is_full(self) -> bool:
        """True iff there are as many fields as coordinates."""
        return self.n_samples is not None and len(self.flag.fields) == count(self.n_samples)

    @property
    def n0(self) -> int | None:
        """The sample size from which on the rank is that of generic samples."""
        return self.independence.n0

    @property
    def nonvanishing(self) -> tuple[Expr, ...]:
        """What the structure functions divide by: where none vanishes the fields span the closure at each point."""
        return denominators(c for row in self.flag.structure.values() for c in row)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        yield Check("no bracket is missing", self.is_full or self.flag.missing == 0, f"{self.flag.missing} steps")
        about = (self.flag.fields, self.subject) if len(self.flag.fields) == len(self.subject) else (self.flag.fields,)
        yield Check("independence is about the fields", self.independence.subject in about
                    and self.independence.n_samples == self.n_samples)
        yield from self.independence._checks(rng, clock)
        yield from self.flag.checks(self.subject, self.n_samples, rng, clock)

    @property
    def growth_is_proved(self) -> bool:
        """True iff the growth vector is proved; else its numbers are lower bounds, all but certain to be exact."""
        return self.flag.missing <= 2 * self.is_full

    def reason(self, n_samples: Size | None) -> str:
        rank, growth = len(self.flag.fields), self.flag.growth
        how = f"growth vector ({', '.join(map(str, growth))})" if len(growth) > 1 else "the span is involutive"
        doubt = "" if self.growth_is_proved else ", of which only the last number is proved"
        return f"rank {rank}, {how}{doubt}" + (", everything" if self.is_full else "")

    def summary(self) -> tuple[str, ...]:
        return (*self.flag.summary(), *(f"valid where {d} != 0" for d in self.nonvanishing))

    def latex(self) -> str:
        rows = [rf"[v_{{{i}}}, v_{{{j}}}] = {combination_latex(row)}" for (i, j), row in self.flag.structure.items()]
        return r",\ ".join(rows) or r"\text{one field}"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"flag": self.flag.to_dict(), "independence": self.independence.to_dict(),
                               "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class Everything(Claim):
    """Four functions of the sample alone are in the closure, independent and analytic: its rank is N for every N."""

    flag: Flag
    functions: tuple[Expr, ...]
    weights: tuple[tuple[Expr, ...], ...]
    independence: Independence
    n_samples: Size | None = None
    kind: ClassVar[str] = "everything"
    answers: ClassVar[tuple[str, Status]] = ("closure", Status.PROVED)
    n0: ClassVar[None] = None
    nonvanishing: ClassVar[tuple[Expr, ...]] = ()
    corank: ClassVar[int] = 0

    @property
    def growth_is_proved(self) -> bool:
        """True iff the growth vector, as far as it goes, is proved."""
        return self.flag.missing <= 1

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield Check("four functions", len(self.functions) == len(self.weights) == 4 and self.n_samples is None)
        yield Check("functions of the sample alone", not any(a.has(Mean) for a in self.functions))
        fields = tuple(VectorField(a) for a in self.functions)
        about = Subject(fields)
        yield Check("analytic", about.is_smooth and about.kind == "mean" and not about.is_filtered)
        yield Check("independence is about the functions", self.independence.subject == about
                    and self.independence.n_samples is None)
        yield from self.independence._checks(rng, clock)
        yield from self.flag.checks(self.subject, None, rng, clock)
        both = Subject((*self.flag.fields.items, *fields))
        relations = [(None, (*row, *(S.NegativeOne if k == n else S.Zero for n in range(4))))
                     for k, row in enumerate(self.weights)]
        yield from identity_checks(both, relations, None, rng, clock)

    def reason(self, n_samples: Size | None) -> str:
        shown = ", ".join(map(str, self.functions))
        return ("four independent analytic functions of the sample, " + shown + ", are in the closure, and generate a "
                "Lie algebra of infinite dimension (Lie): the rank is N at generic samples, for every N")

    def summary(self) -> tuple[str, ...]:
        return (*self.flag.summary(), *(f"{a} = {combination(row)}"
                                        for a, row in zip(self.functions, self.weights, strict=True)))

    def latex(self) -> str:
        return r"\operatorname{rank} = N:\quad " + r",\ ".join(map(latex, self.functions))

    def to_dict(self) -> dict[str, Any]:
        written = self.flag.fields.written
        return self._head() | {"flag": self.flag.to_dict(), "functions": [written(a) for a in self.functions],
                               "weights": [[written(c) for c in row] for row in self.weights],
                               "independence": self.independence.to_dict(), "n_samples": None}


def read_closure(data: Mapping[str, Any]) -> Closed | Everything:
    """Read a certificate of a closure from the data that its `to_dict` wrote."""
    subject, flag = read_subject(data["subject"]), Flag.from_dict(data["flag"])
    independence = certificate_from_dict(data["independence"])
    if not isinstance(independence, Independence):
        raise InvalidInput(f"a closure rests on independent fields, got a certificate {independence.kind!r}")
    if data["certificate"] == Closed.kind:
        size = data["n_samples"]
        return Closed(subject, flag, independence, tuple(size) if isinstance(size, list) else size)
    read = flag.fields.read
    return Everything(subject, flag, tuple(map(read, data["functions"])),
                      tuple(tuple(map(read, row)) for row in data["weights"]), independence)


def _pair(numbers: Iterable[Any]) -> Pair:
    i, j = numbers
    return int(i), int(j)
