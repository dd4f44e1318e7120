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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from typing import Any, ClassVar

from sympy import oo

from symdecouple.calculus.certificates import Independence, NonInvolution
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Jet, Point
from symdecouple.calculus.witness import Witness, draws, independent_at
from symdecouple.decoupling.verdicts.implicit import Column, ModifiedPoint
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.errors import SymdecoupleError
from symdecouple.flows.steps import Step
from symdecouple.language.budget import Budget
from symdecouple.verdict import Status, Verdict

__all__ = ["READERS", "ModifiedIndependence", "ModifiedNonInvolution", "decide_modified"]

SEED = 20261  # any, but always the same
TRIES = 6  # samples of a kind: what holds at one holds at almost all
DIGITS = (None, 30, 90)  # exact numbers first, then enclosures
LARGEST_SYMMETRIC = 9  # of the integers in symmetric samples: 126 choices of four or five

def decide_modified(subject: ModifiedSubject, steps: Sequence[Step], *, budget: float = 30.0) -> Verdict:
    """Try to refute C2 of the modified features at samples of a few sizes, and to prove their C1 on the way.

    REFUTED for the size of the witness, or UNDECIDED; `independence` is PROVED for one size, or UNDECIDED.
    """
    start, clock, texts, c1, c2 = time.perf_counter(), Budget(budget), subject.texts(), None, None
    reason = "no sample was found that reaches all levels"
    try:
        with clock.running("looking for a sample at which a bracket leaves the span"):
            for looked, (fields, point, sample) in enumerate(_looks(subject, steps), 1):
                reason = (f"no bracket was seen to leave the span at {looked} samples, and membership has no proof "
                          "here behind a level that is a root")
                c1 = c1 or _witness(fields, None, point, sample)
                pairs = reversed(list(combinations(fields, 2)))
                c2 = next(filter(None, (_witness(fields, pair, point, sample) for pair in pairs)), None)
                if c2 is not None:
                    break
    except SymdecoupleError as error:
        reason = str(error)
    proof = None if c1 is None else ModifiedIndependence(subject, c1, None, len(c1.sample))
    failing = None if c2 is None else ModifiedNonInvolution(subject, c2.pair or (0, 0), c2, None, len(c2.sample))
    independence = Verdict("C1", Status.PROVED if proof else Status.UNDECIDED, texts, certificate=proof, reason=reason)
    return Verdict("C2", Status.REFUTED if failing else Status.UNDECIDED, texts, certificate=failing, reason=reason,
                   independence=independence, seconds=time.perf_counter() - start)


def _looks(subject: ModifiedSubject, steps: Sequence[Step]
           ) -> Iterator[tuple[dict[int, Column], Point, Sequence[Fraction]]]:
    """Yield samples that reach all levels, the fields of the features there, and the point that they are taken at."""
    for n in (len(subject) + 1, len(subject) + 2):
        drawn = (sample for sample, _ in draws(subject, n, random.Random(SEED), TRIES))
        for sample in chain(islice(_rational_candidates(subject, steps, n), TRIES), drawn):
            for digits in DIGITS:
                point = Point(sample, {}, World(digits))
                try:
                    yield subject.fields_at(range(1, len(subject) + 1), point, steps), point, sample
                except Irrational:
                    continue
                except OutsideDomain:
                    pass
                break


def _rational_candidates(subject: ModifiedSubject, steps: Sequence[Step], n: int) -> Iterator[Sequence[Fraction]]:
    """Yield small symmetric samples at which all levels are rational; odd features are at zero there already."""
    largest = LARGEST_SYMMETRIC if subject.sample.interval == (-oo, oo) else 0
    for half in combinations(range(1, largest + 1), n // 2):
        sample = [Fraction(sign * v) for v in half for sign in (-1, 1)] + [Fraction(0)] * (n % 2)
        fixed = Point((), {}, World()).moved([Jet(v) for v in sample])
        with suppress(Irrational, OutsideDomain):
            ModifiedPoint(fixed, steps, subject.values, subject.sample).at_level(max(subject.starts))
            yield sample


def _witness(fields: Mapping[int, Column], pair: tuple[int, int] | None, point: Point, sample: Sequence[Fraction]
             ) -> Witness | None:
    seen = independent_at(fields, tuple(fields), pair, point)
    return None if seen is None else Witness(tuple(sample), (), tuple(fields), pair, *seen, point.world.digits)


@dataclass(frozen=True, slots=True)
class ModifiedIndependence(Independence):
    """A sample at which the gradients of modified features are independent, for its size (C1)."""

    kind: ClassVar[str] = "modified independence"
    takes_levels: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ModifiedNonInvolution(NonInvolution):
    """A sample at which a bracket of modified gradients leaves their span, for its size (C2 violated)."""

    kind: ClassVar[str] = "modified non-involution"
    takes_levels: ClassVar[bool] = True


def _read_non_involution(data: Mapping[str, Any]) -> ModifiedNonInvolution:
    i, j = map(int, data["pair"])
    return ModifiedNonInvolution(ModifiedSubject.from_dict(data["subject"]), (i, j), Witness.from_dict(data["witness"]),
                                 None, int(data["n_samples"]))


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    ModifiedIndependence.kind: lambda data: ModifiedIndependence(
        ModifiedSubject.from_dict(data["subject"]), Witness.from_dict(data["witness"]), None, int(data["n_samples"])),
    ModifiedNonInvolution.kind: _read_non_involution}
