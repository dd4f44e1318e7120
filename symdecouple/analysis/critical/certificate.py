r"""What proves statements about the critical points of moments, and how each claim in it is recomputed.

The evidence is the same for three questions: for every pattern of ties a box in which exactly one sample at the
references lies, or the wall that excludes one (see `pattern_solutions`). From it follow

* that the critical points are all there: each pattern of up to k - 1 values is settled;
* B1: one pattern at most is a minimum and one a maximum, and the values of all others lie strictly between;
* B2: at every other point two chains have opposite signs, so that only samples with ties flow to it (Theorem I).

An audit recomputes boxes and walls in rational numbers, and kinds from the signs of second derivatives at the values
themselves, over all sets of groups, instead of counting alternations.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any, ClassVar

from sympy import latex

from symdecouple.analysis.critical.claims import AtReferences, Reader, found_numerically, proved
from symdecouple.analysis.critical.moment_level import MomentLevel, Solution, unsolved_level
from symdecouple.analysis.critical.pattern_solutions import PatternSolutions, Settled
from symdecouple.analysis.critical.tie_patterns import Kind, Ties, index_of, kind_of, merged, patterns, sign_of
from symdecouple.analysis.critical.value_boxes import ValueBox
from symdecouple.calculus.subject import Size, Subject
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "AllCriticalPoints", "GlobalExtrema", "ThinBasins", "verdicts_of"]


@dataclass(frozen=True, slots=True)
class AllCriticalPoints(AtReferences):
    """Every critical point of the last feature is a solution of one of these patterns.

    Attributes
    ----------
    settled : mapping of ties to Settled
    """

    settled: Mapping[Ties, Settled] = field(hash=False)
    kind: ClassVar[str] = "critical points: all"
    answers: ClassVar[tuple[str, Status]] = ("all critical points", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        level = unsolved_level(FeatureSet(self.subject.items), self.references, self.n_samples)
        yield Check("moments and their references", level is not None and self.has_references)
        assert level is not None
        anew = PatternSolutions(level.targets, dict(self.settled))
        for ties, answer in self.settled.items():
            clock.check("recomputing a pattern of ties")
            if not _holds(ties, answer, anew, level):
                yield Check(f"pattern {ties}", False, answer.how)
                return
        wanted = [ties for count in range(1, level.level) for ties in patterns(self.n_samples, count)]
        yield Check("every pattern of ties", set(wanted) <= set(self.settled), f"{len(wanted)} patterns")
        found = tuple(_critical(wanted, anew, level.level))
        kinds = [_kind_from_signs(solution.box, level.level) for solution in found]
        yield Check("kinds, from the signs of second derivatives", kinds == [s.kind for s in found],
                    f"{len(found)} critical points")
        yield from self._conclusion(found, level.level)

    def _conclusion(self, found: Sequence[Solution], level: int) -> Iterator[Check]:
        yield Check("there are critical points", bool(found), f"{len(found)}")

    def reason(self, n_samples: Size | None) -> str:
        return self.because or (f"each of {len(self.settled)} patterns of ties has one sample at the references, or "
                                "none, by a proof")

    def summary(self) -> tuple[str, ...]:
        boxes = sum(answer.how == "box" for answer in self.settled.values())
        return (f"{self.at_references}: {boxes} boxes with exactly one solution, {len(self.settled) - boxes} patterns "
                "excluded",)

    def latex(self) -> str:
        size = latex(len(self.subject) - 1)
        return rf"\sum_i \tfrac{{n_i}}{{N}} z_i^j = c_j,\ j \le {size},\ N = {self.n_samples}"

    def to_dict(self) -> dict[str, Any]:
        rows = [{"ties": list(ties), "how": answer.how, "place": answer.place,
                 "box": None if answer.box is None else _box_to_dict(answer.box)}
                for ties, answer in self.settled.items()]
        return AtReferences.to_dict(self) | {"settled": rows}


@dataclass(frozen=True, slots=True)
class GlobalExtrema(AllCriticalPoints):
    """B1: an extremum on the reference manifold is a global one."""

    kind: ClassVar[str] = "critical points: extrema"
    answers: ClassVar[tuple[str, Status]] = ("B1", Status.PROVED)
    because = "one pattern of ties is a minimum and one a maximum, and all other critical values lie between"

    def _conclusion(self, found: Sequence[Solution], level: int) -> Iterator[Check]:
        if {solution.kind for solution in found} == {"isolated"}:
            yield Check("one sample at the references, up to its order", len(found) == 1)
            return
        low, high = ([s for s in found if s.kind == kind] for kind in ("minimum", "maximum"))
        yield Check("one minimum and one maximum; of the variance no maximum",
                    (len(low), len(high)) == (1, int(level > 2)), f"{len(low)} and {len(high)}")
        if level == 2:
            return
        below, above = low[0].box.moment(level)[1], high[0].box.moment(level)[0]
        others = [s.box.moment(level) for s in found if s.kind not in ("minimum", "maximum")]
        yield Check("all other values lie between", below < above and all(
            below < a and b < above for a, b in others), f"{len(others)} saddles")


@dataclass(frozen=True, slots=True)
class ThinBasins(AllCriticalPoints):
    """B2: the samples that flow to critical points that are no extrema have ties: a set of lower dimension."""

    kind: ClassVar[str] = "critical points: basins"
    answers: ClassVar[tuple[str, Status]] = ("B2", Status.PROVED)
    because = "no saddle is degenerate, and only samples with ties flow to one"

    def _conclusion(self, found: Sequence[Solution], level: int) -> Iterator[Check]:
        saddles = [s for s in found if s.kind == "saddle"]
        yield Check("both signs at every saddle", all(len(_signs(s.box, level)) == 2 for s in saddles),
                    f"{len(saddles)} saddles")


def verdicts_of(level: MomentLevel) -> tuple[Verdict, Verdict, Verdict]:
    """Return what is proved: that all critical points are found, B1, and B2."""
    subject, open_ = Subject(level.features.features), level.found[1]
    if open_:
        why = f"{len(open_)} patterns of ties are not settled, {open_[0]} for one: references too close to a limit"
        b1, b2 = (Verdict(q, Status.UNDECIDED, subject.texts(), level.n_samples, reason=why) for q in ("B1", "B2"))
        return found_numerically(subject.texts(), level.n_samples, why), b1, b2
    proofs = (kind(subject, level.references, level.n_samples, dict(level.solutions.found))
              for kind in (AllCriticalPoints, GlobalExtrema, ThinBasins))
    complete, b1, b2 = proved(proofs, level.n_samples)
    return complete, b1, b2


def _holds(ties: Ties, answer: Settled, anew: PatternSolutions, level: MomentLevel) -> bool:
    """Recompute what settles a pattern from its own box, or from those of patterns with a value less."""
    count, total = len(ties), sum(ties)
    if total != level.n_samples or min(ties) < 1:
        return False
    if answer.how == "box":
        return answer.box is not None and answer.box.ties == ties and answer.box.is_proved(level.targets.intervals())
    if answer.how == "no wall":
        return count > 2 and all((wall := anew.found.get(merged(ties, place))) is not None and wall.box is None
                                 and wall.how != "open" for place in range(count - 1))
    wall = anew.found.get(merged(ties, answer.place)) if 0 <= answer.place < count - 1 else None
    if wall is None or wall.box is None:
        return False
    relation = anew.relation(wall.box, count)
    if answer.how == "on a wall":
        return relation == 0 and answer.box == wall.box
    return answer.how == "beyond a wall" and answer.box is None and relation == sign_of(answer.place, count - 1)


def _critical(wanted: Iterable[Ties], anew: PatternSolutions, level: int) -> Iterator[Solution]:
    for ties in wanted:
        answer = anew.found[ties]
        if answer.how == "box" and answer.box is not None and all(
                anew.relation(answer.box, order) == 0 for order in range(len(ties) + 1, level)):
            yield Solution(answer.box, kind_of(ties, level), index_of(ties, level))


def _signs(box: ValueBox, level: int) -> set[int]:
    """Return the signs that the feature's second-order change takes on the tangent cone of the reference manifold.

    With P the polynomial of the values, s_i P'(z_i) > 0 is how much group i spreads. Each set of e + 1 groups has one
    direction up to its length, s_i = 1/prod(z_i - z_l), along which the moments before stay; the feature changes by
    +-1 along it, if it or its opposite spreads all of its groups.
    """
    spreading = [place for place, n in enumerate(box.ties) if n > 1]
    z, found = box.values, set()
    for chosen in combinations(spreading, level - len(box.ties)):
        spreads = [prod((z[i] - z[j] for j in (*range(len(z)), *chosen) if j != i), start=Fraction(1)) for i in chosen]
        signs = {(s > 0) - (s < 0) for s in spreads}
        if len(signs) == 1:
            found |= signs
    return found


def _kind_from_signs(box: ValueBox, level: int) -> Kind:
    signs = _signs(box, level)
    if len(signs) == 2:
        return "saddle"
    return "isolated" if not signs else "minimum" if signs == {1} else "maximum"


def _box_to_dict(box: ValueBox) -> dict[str, Any]:
    return {"ties": list(box.ties), "values": list(map(str, box.values)), "radius": str(box.radius)}


def _box_from_dict(data: Mapping[str, Any]) -> ValueBox:
    return ValueBox(tuple(map(int, data["ties"])), tuple(map(Fraction, data["values"])), Fraction(data["radius"]))


def _read(kind: type[AllCriticalPoints]) -> Reader:
    return lambda data: kind(*AtReferences.read(data), {tuple(map(int, row["ties"])): Settled(
        None if row["box"] is None else _box_from_dict(row["box"]), row["how"], int(row["place"]))
        for row in data["settled"]})


READERS = {kind.kind: _read(kind) for kind in (AllCriticalPoints, GlobalExtrema, ThinBasins)}
