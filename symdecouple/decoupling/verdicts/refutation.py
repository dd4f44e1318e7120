r"""C2 of modified sets that have no formulas: refuted at a sample, by a minor that certainly does not vanish.

Gradients and brackets of the modified features are known at samples that are at their references (`at_references`):
exactly where all is rational, else enclosed. The (M+1)-minor of the gradients and one bracket then shows that the span
is not involutive for samples of that size. All of this is a calculus of averages: the same sample repeated m times
refutes for m N, unless filters occur. Nothing is proved involutive here.

Where the features before a level are involutive all paths to it lead along the same leaf, in the frequency domain too;
`verify` proves these involutive anew.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice, product
from math import prod
from typing import Any, ClassVar

import numpy as np
from sympy import Symbol, oo

from symdecouple.calculus.certificates import Independence, NonInvolution
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Point
from symdecouple.calculus.kernels import sizes_beyond
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.witness import Witness, draws, independent_at
from symdecouple.decoupling.verdicts.at_references import sample_at
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.errors import SymdecoupleError
from symdecouple.flows.steps import TIME, Step
from symdecouple.language.budget import Budget
from symdecouple.numeric.features.expressions import Compiled
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "ModifiedIndependence", "ModifiedNonInvolution", "decide_modified"]

SEED = 20261  # any, but always the same
TRIES = 3  # samples of a kind: what holds at one holds at almost all
TIMES: tuple[dict[Symbol, Fraction], ...] = {}, {TIME: Fraction(1, 8)}
"""For which a sample is moved back: a first feature may be special at its reference, as odd ones are at 0."""
DIGITS = (30, 90)  # of enclosures
LARGEST_SYMMETRIC = 9  # of the integers in symmetric samples: 126 choices of four or five
ROUNDS = 100  # of the search for references
_SMALL = 1e-6  # squares of what they are missed by, from where an enclosure finds them
_FINEST = 10**6  # denominators of what it finds

Grid = tuple[int, ...]


def decide_modified(subject: ModifiedSubject, steps: Sequence[Step], *, budget: float = 30.0) -> Verdict:
    """Try to refute C2 of the modified features at samples of a few sizes, and to prove their C1 on the way.

    The features before each level are known to be involutive; formulas of `steps` bring simple samples there. REFUTED
    for the size of the witness, or UNDECIDED; `independence` is PROVED for one size, or UNDECIDED.
    """
    start, clock, texts, c1, c2 = time.perf_counter(), Budget(budget), subject.texts(), None, None
    reason = "no sample was found that reaches all levels"
    try:
        with clock.running("looking for a sample at which a bracket leaves the span"):
            for looked, (fields, point, sample) in enumerate(_looks(subject, steps), 1):
                reason = (f"no bracket was seen to leave the span at {looked} samples, and membership has no proof "
                          "here behind a level that is a root")
                c1 = c1 or _witness(fields, None, point, sample)
                found = (_witness(fields, pair, point, sample) for pair in combinations(fields, 2))
                c2 = next(filter(None, found), None)
                if c2 is not None:
                    break
    except SymdecoupleError as error:
        reason = str(error)
    proof = None if c1 is None else ModifiedIndependence(subject, c1, None, _size(c1))
    failing = None if c2 is None else ModifiedNonInvolution(subject, c2.pair or (0, 0), c2, None, _size(c2))
    independence = Verdict("C1", Status.PROVED if proof else Status.UNDECIDED, texts, certificate=proof, reason=reason)
    return Verdict("C2", Status.REFUTED if failing else Status.UNDECIDED, texts, certificate=failing, reason=reason,
                   independence=independence, seconds=time.perf_counter() - start)


def _looks(subject: ModifiedSubject, steps: Sequence[Step]) -> Iterator[tuple[dict[int, Any], Point, list[Fraction]]]:
    """Yield the fields of the features at samples that reach all levels, and from which point these were found."""
    count = len(subject)  # frequencies outnumber the features, where there are filters
    sizes = sizes_beyond(subject, 2 * count + 1) if subject.is_filtered else (count + 1, count + 2)
    for size, times in product(sizes, TIMES if steps else TIMES[:1]):
        grid = size if isinstance(size, tuple) else (size,)
        drawn = (sample for sample, _ in draws(subject, prod(grid), random.Random(SEED), TRIES))
        near = ((sample, DIGITS) for sample in (_brought(subject, each, grid) for each in drawn) if sample)
        exact = ((sample, (None, *DIGITS)) for sample in _rational_candidates(subject, steps, grid))
        for sample, tried in chain(islice(exact, TRIES), near):
            for digits in tried:
                point = Point(sample, times, World(digits), (), grid)
                try:
                    yield subject.fields_at(range(1, count + 1), point), point, sample
                except Irrational:
                    continue
                except (OutsideDomain, ZeroDivisionError):
                    pass
                break


def _rational_candidates(subject: ModifiedSubject, steps: Sequence[Step], grid: Grid) -> Iterator[list[Fraction]]:
    """Yield rational samples that are at their references: symmetric ones, odd features are at zero there already."""
    size, sample = prod(grid), subject.sample
    formulas = [step.formula for step in steps[: len(subject.values)] if step.formula is not None]
    largest = LARGEST_SYMMETRIC if sample.interval == (-oo, oo) and not subject.is_filtered else 0
    for half in combinations(range(1, largest + 1), size // 2):
        numbers = [Fraction(sign * v) for v in half for sign in (-1, 1)] + [Fraction(0)] * (size % 2)
        with suppress(Irrational, OutsideDomain, ZeroDivisionError):
            if formulas:
                numbers = list(map(Fraction, ValuesAt(numbers, grid, World()).everywhere(formulas[-1])))
            sample_at(subject.held, subject.values, Point(numbers, {}, World(), (), grid), sample)
            yield numbers


def _brought(subject: ModifiedSubject, drawn: Sequence[Fraction], grid: Grid) -> list[Fraction] | None:
    """Return a rational sample near to one that is at its references, from any; None where none is found."""
    from scipy.optimize import least_squares

    held, wanted = subject.held, np.array(list(map(float, subject.values)))
    values, slopes = (Compiled(exprs, subject.sample).on(grid) for exprs in (
        [f.expr for f in held], [f.gradient.expr for f in held]))
    start = np.array(list(map(float, drawn)))
    try:
        with np.errstate(all="ignore"):
            found = least_squares(
                lambda y: np.ravel(values(y[None])) - wanted,
                start, lambda y: np.array([np.broadcast_to(v, (1, len(y)))[0] for v in slopes(y[None])]) / len(y),
                xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=ROUNDS)
    except ValueError:  # not in the domain
        return None
    return [Fraction(v).limit_denominator(_FINEST) for v in found.x.tolist()] if found.cost < _SMALL else None


def _witness(fields: Mapping[int, Any], pair: tuple[int, int] | None, point: Point, sample: Sequence[Fraction]
             ) -> Witness | None:
    seen = independent_at(fields, tuple(fields), pair, point)
    times = tuple((symbol.name, value) for symbol, value in point.parameters.items())
    return None if seen is None else Witness(tuple(sample), times, tuple(fields), pair, *seen, point.world.digits,
                                             grid=point.shape if len(point.shape) > 1 else ())


def _size(witness: Witness) -> Any:
    return witness.grid or len(witness.sample)


@dataclass(frozen=True, slots=True)
class ModifiedIndependence(Independence):
    """A sample at which the gradients of modified features are independent, for its size (C1)."""

    subject: ModifiedSubject
    kind: ClassVar[str] = "modified independence"
    takes_levels: ClassVar[bool] = True

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield from self.subject.checks(clock)
        yield from Independence._checks(self, rng, clock)


@dataclass(frozen=True, slots=True)
class ModifiedNonInvolution(NonInvolution):
    """A sample at which a bracket of modified gradients leaves their span, for its size (C2 violated)."""

    subject: ModifiedSubject
    kind: ClassVar[str] = "modified non-involution"
    takes_levels: ClassVar[bool] = True

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield from self.subject.checks(clock)
        yield from NonInvolution._checks(self, rng, clock)

    def summary(self) -> tuple[str, ...]:
        moved = ", moved back for t" * bool(self.witness.parameters)
        beside = [] if self.witness.digits is None else [f"at the sample beside x that is at its references{moved}"]
        return (*NonInvolution.summary(self), *beside)


def _read_size(data: Any) -> Any:
    return tuple(map(int, data)) if isinstance(data, list) else int(data)


def _read_non_involution(data: Mapping[str, Any]) -> ModifiedNonInvolution:
    i, j = map(int, data["pair"])
    return ModifiedNonInvolution(ModifiedSubject.from_dict(data["subject"]), (i, j), Witness.from_dict(data["witness"]),
                                 None, _read_size(data["n_samples"]))


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    ModifiedIndependence.kind: lambda data: ModifiedIndependence(
        ModifiedSubject.from_dict(data["subject"]), Witness.from_dict(data["witness"]), None,
        _read_size(data["n_samples"])),
    ModifiedNonInvolution.kind: _read_non_involution}
