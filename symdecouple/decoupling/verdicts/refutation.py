r"""C2 of modified sets behind an implicit level: refuted at a sample, by a minor that certainly does not vanish.

The jets of the modified features (see `implicit`) give their gradients, the brackets, and the (M+1)-minor of the
gradients and one bracket at a rational sample: exact where all is rational, else an interval that excludes zero. So the
span is not involutive for samples of that size. All of this is a calculus of averages: the same sample repeated m times
refutes for m N, unless filters occur. Nothing is proved involutive here.

`verify` makes flows and steps anew from the features and their references, checks that they impose the references, and
takes the other route to the derivatives of the roots.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from typing import Any, ClassVar

from sympy import oo

from symdecouple.calculus.audit import minor_check, size_check
from symdecouple.calculus.certificates import Claim
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Jet, Point, bracket_at
from symdecouple.calculus.span import independent_rows
from symdecouple.calculus.subject import Size
from symdecouple.calculus.witness import Minor, Witness, draws, minor_of
from symdecouple.decoupling.verdicts.implicit import Column, ModifiedPoint
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TIME, Step, make_steps
from symdecouple.language.budget import Budget
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "ModifiedIndependence", "ModifiedNonInvolution", "ModifiedWitness", "decide_modified"]

SEED = 20261  # any, but always the same
TRIES = 6  # samples of a kind: what holds at one holds at almost all
DIGITS = (None, 30, 90)  # exact numbers first, then enclosures
LARGEST_SYMMETRIC = 9  # of the integers in symmetric samples: 126 choices of four or five
SECONDS_TO_VERIFY = 120.0  # four times the budget in which the proof was found


def decide_modified(subject: ModifiedSubject, steps: Sequence[Step], *, budget: float = 30.0) -> Verdict:
    """Try to refute C2 of the modified features at samples of a few sizes, and to prove their C1 on the way.

    REFUTED for the size of the witness, or UNDECIDED; `independence` is PROVED for one size, or UNDECIDED.
    """
    start, looked, reason = time.perf_counter(), 0, "no sample was found that reaches all levels"
    clock, c1, c2 = Budget(budget), None, None
    try:
        with clock.running("looking for a sample at which a bracket leaves the span"):
            for columns, point, sample in _looks(subject, steps, clock):
                looked += 1
                c1 = c1 or _witness(columns, None, point, sample)
                pairs = reversed(list(combinations(range(1, len(columns) + 1), 2)))
                c2 = next(filter(None, (_witness(columns, pair, point, sample) for pair in pairs)), None)
                if c2 is not None:
                    break
        if looked:
            reason = (f"no bracket was seen to leave the span at {looked} samples, and membership has no proof "
                      "here behind a level that is a root")
    except SymdecoupleError as error:
        reason = str(error)
    independence = Verdict("C1", Status.UNDECIDED, subject.texts(), reason=reason)
    if c1 is not None:
        independence = Verdict("C1", Status.PROVED, subject.texts(), certificate=ModifiedIndependence(
            subject, c1, len(c1.sample)))
    found: dict[str, Any] = {"status": Status.UNDECIDED, "reason": reason}
    if c2 is not None:
        found = {"status": Status.REFUTED, "certificate": ModifiedNonInvolution(subject, c2, len(c2.sample))}
    return Verdict("C2", subject=subject.texts(), independence=independence, seconds=time.perf_counter() - start,
                   **found)


def _looks(subject: ModifiedSubject, steps: Sequence[Step], clock: Budget
           ) -> Iterator[tuple[list[Column], Point, Sequence[Fraction]]]:
    """Yield samples that reach all levels, the fields of the features there, and the point that they are taken at."""
    for n in (len(subject) + 1, len(subject) + 2):
        drawn = (sample for sample, _ in draws(subject, n, random.Random(SEED), TRIES))
        for sample in chain(islice(_rational_candidates(subject, steps, n, clock), TRIES), drawn):
            for digits in DIGITS:
                point = Point(sample, {}, World(digits))
                try:
                    columns = _columns(subject, steps, point, clock, by_newton=False)
                except Irrational:
                    continue
                except (OutsideDomain, ZeroDivisionError):
                    break
                yield columns, point, sample
                break


def _rational_candidates(subject: ModifiedSubject, steps: Sequence[Step], n: int, clock: Budget) -> Iterator[Any]:
    """Yield small symmetric samples at which all levels are rational; odd features are at zero there already."""
    if subject.sample.interval != (-oo, oo):
        return
    for half in combinations(range(1, LARGEST_SYMMETRIC + 1), n // 2):
        sample = [Fraction(sign * v) for v in half for sign in (-1, 1)] + [Fraction(0)] * (n % 2)
        fixed = Point((), {}, World()).moved([Jet(v) for v in sample])
        try:
            ModifiedPoint(fixed, steps, subject.values, subject.sample, clock).at_level(max(subject.starts))
        except (Irrational, OutsideDomain, ZeroDivisionError):
            continue
        yield sample


def _columns(subject: ModifiedSubject, steps: Sequence[Step], point: Point, clock: Budget,
             by_newton: bool) -> list[Column]:
    modified = ModifiedPoint(point, steps, subject.values, subject.sample, clock, by_newton)
    return [modified.column(feature, k) for feature, k in zip(subject.items, subject.starts, strict=True)]


def _witness(fields: Sequence[Column], pair: tuple[int, int] | None, point: Point, sample: Sequence[Fraction]
             ) -> Witness | None:
    vectors, world = _vectors(fields, pair, point), point.world
    rows = independent_rows(vectors, world)
    if rows is None or not (minor := minor_of(vectors, rows, world)).excludes_zero():
        return None
    columns = tuple(range(1, len(fields) + 1))
    return ModifiedWitness(tuple(sample), (), columns, pair, tuple(r + 1 for r in rows), minor, world.digits)


def _vectors(fields: Sequence[Column], pair: tuple[int, int] | None, point: Point) -> list[list[Any]]:
    """The gradients, and the bracket of a pair, counted from 1."""
    vectors = [vector for vector, _ in fields]
    return [*vectors, bracket_at(fields[pair[0] - 1], fields[pair[1] - 1], point)] if pair else vectors


# --- certificates -----------------------------------------------------------------------------------------------


class ModifiedWitness(Witness):
    """A sample and a minor of modified gradients that is not zero there."""

    __slots__ = ()

    def recomputed(self, subject: ModifiedSubject,  # type: ignore[override] # of these only
                   world: World | None = None) -> Minor:
        """Evaluate the minor anew: flows from the features, derivatives of roots by iteration."""
        point = Point(self.sample, {}, World(self.digits) if world is None else world)
        columns = _columns(subject, _steps_anew(subject), point, Budget(SECONDS_TO_VERIFY), by_newton=True)
        return minor_of(_vectors(columns, self.pair, point), [r - 1 for r in self.rows], point.world)


def _references_check(subject: ModifiedSubject, witness: Witness) -> Check:
    """Check that at each level the features before it are at their references."""
    world, clock = World(witness.digits), Budget(SECONDS_TO_VERIFY)
    levels = sorted(set(subject.starts))
    fixed = Point((), {}, world).moved([Jet(world.number(v)) for v in witness.sample])
    modified = ModifiedPoint(fixed, _steps_anew(subject), subject.values, subject.sample, clock)
    try:
        for level in levels:
            at = modified.at_level(level)
            for feature, value in zip(subject.items[:level], subject.values, strict=False):
                gap = (at.jet(feature.expr) + at.jet(value).scaled(-1)).value
                if gap is None or not world.is_zero(gap):
                    return Check("references", False, f"{feature} is not {value} at level {level}")
    except (Irrational, OutsideDomain) as error:
        return Check("references", False, f"level {level} is not reached: {type(error).__name__}")
    return Check("references", True, f"imposed at levels {', '.join(map(str, levels))}")


def _steps_anew(subject: ModifiedSubject) -> list[Step]:
    level = max(subject.starts)
    features = list(subject.items)[:level]
    flows = [flow(u, time=TIME, sample=subject.sample).expr for u in generators(features).fields] if level else []
    return make_steps(features, flows, list(subject.values), subject.sample)


@dataclass(frozen=True, slots=True)
class ModifiedIndependence(Claim):
    """A sample at which the gradients of modified features are independent, for its size (C1)."""

    subject: ModifiedSubject
    witness: Witness
    n_samples: int
    kind: ClassVar[str] = "modified independence"
    answers: ClassVar[tuple[str, Status]] = ("C1", Status.PROVED)

    @property
    def pair(self) -> tuple[int, int] | None:
        """No bracket is in question."""
        return None

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        yield _references_check(self.subject, self.witness)
        yield minor_check(self.subject, self.witness, range(1, len(self.subject) + 1), self.pair, self.n_samples, clock)

    def reason(self, n_samples: Size | None) -> str:
        return f"a {len(self.subject)}-minor is not zero"

    def summary(self) -> tuple[str, ...]:
        return (f"witness: {self.witness}",)

    def latex(self) -> str:
        return rf"\det \approx {float(self.witness.minor.low):.6g} \neq 0"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"witness": self.witness.to_dict(), "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class ModifiedNonInvolution(ModifiedIndependence):
    """A sample at which a bracket of modified gradients leaves their span, for its size (C2 violated)."""

    kind: ClassVar[str] = "modified non-involution"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.REFUTED)

    @property
    def pair(self) -> tuple[int, int]:
        """The pair, counted from 1."""
        if self.witness.pair is None or not self.witness.pair[0] < self.witness.pair[1] <= len(self.subject):
            raise InvalidInput(f"a bracket is of a pair i < j of {len(self.subject)} features, got {self.witness.pair}")
        return self.witness.pair

    def reason(self, n_samples: Size | None) -> str:
        i, j = self.pair
        return f"[v{i}, v{j}] is not in the span of the gradients, claimed for N = {self.n_samples} only"

    def summary(self) -> tuple[str, ...]:
        i, j = self.pair
        return (f"[v{i}, v{j}] leaves the span", f"witness: {self.witness}")


def _reader(kind: type[ModifiedIndependence]) -> Callable[[Mapping[str, Any]], Any]:
    return lambda data: kind(ModifiedSubject.from_dict(data["subject"]), ModifiedWitness.from_dict(data["witness"]),
                             int(data["n_samples"]))


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    kind.kind: _reader(kind) for kind in (ModifiedIndependence, ModifiedNonInvolution)}
