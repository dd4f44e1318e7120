r"""Counter-examples to B1: an extremum that is local only, and a sample that is more extreme, both proved to exist.

Both are boxes of `interval_newton`, of which the first proves a strict local minimum. A second box with a lower value
on all of it refutes that the minimum is global.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from symdecouple.analysis.critical.chebyshev import averaged_functions
from symdecouple.analysis.critical.claims import AtReferences
from symdecouple.analysis.critical.interval_newton import CriticalBox, proved_on
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status

__all__ = ["RADIUS", "READERS", "LocalExtremum"]

RADIUS = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True)
class LocalExtremum(AtReferences):
    """B1 is wrong: `local` is a strict local extremum, and `other` is more extreme.

    Attributes
    ----------
    local, other : CriticalBox
    """

    local: CriticalBox
    other: CriticalBox
    kind: ClassVar[str] = "critical points: a local extremum"
    answers: ClassVar[tuple[str, Status]] = ("B1", Status.REFUTED)
    because = "a strict local extremum has a value that another sample at the references exceeds"
    formula = r"f_k(y) \text{ is a local extremum only}"

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        systems = list(averaged_functions(FeatureSet(self.subject.items)))
        yield Check("averages of exponential polynomials", bool(systems) and self.has_references)
        yield Check("so many samples", sum(self.local.ties) == sum(self.other.ties) == self.n_samples)
        local, other = (proved_on(systems[0], self.references, box, RADIUS) for box in (self.local, self.other))
        yield Check("both samples exist", local.is_solved and other.is_solved)
        sign = local.signs[0]
        yield Check("the first is a strict extremum", sign != 0 and set(local.signs) == {sign}, str(local.signs))
        yield Check("the second is more extreme", other.high < local.low if sign > 0 else other.low > local.high,
                    f"{float(other.low):.6g} against {float(local.low):.6g}")

    def summary(self) -> tuple[str, ...]:
        return self.at_references, *(f"{name}: " + ", ".join(f"{float(v):.10g} ({n} times)" for n, v in zip(
            box.ties, box.values, strict=True)) for name, box in (("local only", self.local), ("beyond", self.other)))

    def to_dict(self) -> dict[str, Any]:
        return AtReferences.to_dict(self) | {"local": _to_dict(self.local), "other": _to_dict(self.other)}


def _to_dict(box: CriticalBox) -> dict[str, Any]:
    return {"ties": list(box.ties), "values": list(map(str, box.values)),
            "multipliers": list(map(str, box.multipliers))}


def _from_dict(data: Mapping[str, Any]) -> CriticalBox:
    return CriticalBox(tuple(map(int, data["ties"])), tuple(map(Fraction, data["values"])),
                       tuple(map(Fraction, data["multipliers"])))


READERS = {LocalExtremum.kind: lambda data: LocalExtremum(
    *AtReferences.read(data), _from_dict(data["local"]), _from_dict(data["other"]))}
