r"""Counter-examples to B1: an extremum that is local only, and a sample that is more extreme, both proved to exist.

For averages of exponential polynomials a critical sample with d distinct values t_i solves

.. math:: M'(t_i) = 0, \quad M = m_k - \sum_{j<k} \lambda_j m_j, \qquad \sum_i \tfrac{n_i}N\, m_j(t_i) = r_j

in t and the multipliers. The inequality of Krawczyk proves a solution in a box; if M'' > 0 on the box at every value,
the Hessian of the multiplier function is positive definite, and the sample is a strict local minimum (M'' < 0: a
maximum). A second box with a lower value on all of it refutes that the minimum is global.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from numpy.typing import NDArray
from sympy import Expr

from symdecouple.analysis.critical.chebyshev import AveragedFunctions, averaged_functions, slope
from symdecouple.analysis.critical.claims import AtReferences
from symdecouple.analysis.critical.interval_newton import BITS, at, end, exact, floats_of, middle, number
from symdecouple.calculus.subject import Size
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status

__all__ = ["READERS", "CriticalBox", "LocalExtremum", "critical_box"]

RADIUS = Fraction(1, 2**40)
_STEPS = 12

FloatArray = NDArray[np.float64]


class CriticalBox(NamedTuple):
    """Values with their ties and multipliers, within `RADIUS` of which a critical sample lies."""

    ties: tuple[int, ...]
    values: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]


class _Checked(NamedTuple):
    """What is proved on a box: whether it has a solution, the signs of M'' (0 where not known), and its values."""

    is_solved: bool
    signs: tuple[int, ...]
    low: Fraction
    high: Fraction


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

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        systems = list(averaged_functions(FeatureSet(self.subject.items)))
        yield Check("averages of exponential polynomials", bool(systems) and self.has_references)
        yield Check("so many samples", sum(self.local.ties) == sum(self.other.ties) == self.n_samples)
        local, other = (_checked(systems[0], self.references, box) for box in (self.local, self.other))
        yield Check("both samples exist", local.is_solved and other.is_solved)
        sign = local.signs[0]
        yield Check("the first is a strict extremum", sign != 0 and set(local.signs) == {sign}, str(local.signs))
        yield Check("the second is more extreme", other.high < local.low if sign > 0 else other.low > local.high,
                    f"{float(other.low):.6g} against {float(local.low):.6g}")

    def reason(self, n_samples: Size | None) -> str:
        return "a strict local extremum has a value that another sample at the references exceeds"

    def summary(self) -> tuple[str, ...]:
        return self.at_references, *(f"{name}: " + ", ".join(f"{float(v):.10g} ({n} times)" for n, v in zip(
            box.ties, box.values, strict=True)) for name, box in (("local only", self.local), ("beyond", self.other)))

    def latex(self) -> str:
        return r"f_k(y) \text{ is a local extremum only}"

    def to_dict(self) -> dict[str, Any]:
        return AtReferences.to_dict(self) | {"local": _to_dict(self.local), "other": _to_dict(self.other)}


def critical_box(features: FeatureSet, references: Sequence[Expr], ties: tuple[int, ...], values: Sequence[float]
                 ) -> CriticalBox | None:
    """Return the box at a critical sample that is known in floats; None where no proof comes out."""
    system = next(averaged_functions(features), None)
    if system is None:
        return None
    t = np.log(np.array(values)) if system.is_logarithmic else np.array(values, dtype=float)
    slopes = np.array([floats_of(slope(f), t) for f in system.functions])
    multipliers = np.linalg.lstsq(slopes[:-1].T, slopes[-1], rcond=None)[0]
    box = CriticalBox(ties, tuple(map(Fraction, t.tolist())), tuple(map(Fraction, multipliers.tolist())))
    for _ in range(_STEPS):
        inverse = _inverse(system, box)
        if inverse is None:
            return None
        step = _applied(inverse, _equations(_context(), system, references, box, Fraction(0)))
        moved = [Fraction(round((v - middle(s)) * 2**BITS), 2**BITS)
                 for v, s in zip((*box.values, *box.multipliers), step, strict=True)]
        box = CriticalBox(ties, tuple(moved[:len(ties)]), tuple(moved[len(ties):]))
    return box if _checked(system, references, box).is_solved else None


def _checked(system: AveragedFunctions, references: Sequence[Expr], box: CriticalBox) -> _Checked:
    ctx, inverse, count = _context(), _inverse(system, box), len(box.ties)
    if inverse is None:
        return _Checked(False, (0,) * count, Fraction(0), Fraction(0))
    defect = _equations(ctx, system, references, box, Fraction(0))
    jacobian = _jacobian(ctx, system, box, RADIUS)
    around, is_solved = ctx.mpf([-1, 1]) * exact(ctx, RADIUS), True
    for i, row in enumerate(inverse):
        image = -sum((c * d for c, d in zip(row, defect, strict=True)), ctx.mpf(0))
        for j in range(len(defect)):
            product = sum((c * line[j] for c, line in zip(row, jacobian, strict=True)), ctx.mpf(0))
            image += (int(i == j) - product) * around
        is_solved &= bool(end(image.a) > -RADIUS and end(image.b) < RADIUS)
    is_solved &= all(b - a > 2 * RADIUS for a, b in pairwise(box.values))
    signs = tuple(int(end(jacobian[i][i].a) > 0) - int(end(jacobian[i][i].b) < 0) for i in range(count))
    total = sum((number_of * at(ctx, system.functions[-1], exact(ctx, v) + around)
                 for number_of, v in zip(box.ties, box.values, strict=True)), ctx.mpf(0)) / sum(box.ties)
    return _Checked(is_solved, signs, end(total.a), end(total.b))


def _context() -> Any:
    ctx = MPIntervalContext()
    ctx.prec = BITS
    return ctx


def _wide(ctx: Any, values: Sequence[Fraction], radius: Fraction) -> list[Any]:
    return [exact(ctx, v) + ctx.mpf([-1, 1]) * exact(ctx, radius) for v in values]


def _equations(ctx: Any, system: AveragedFunctions, references: Sequence[Expr], box: CriticalBox, radius: Fraction
               ) -> list[Any]:
    t, multipliers = _wide(ctx, box.values, radius), _wide(ctx, box.multipliers, radius)
    slopes = [slope(f) for f in system.functions]
    first = [at(ctx, slopes[-1], v) - sum((c * at(ctx, s, v) for c, s in zip(multipliers, slopes, strict=False)),
                                          ctx.mpf(0)) for v in t]
    total = sum(box.ties)
    return first + [sum((n * at(ctx, f, v) for n, v in zip(box.ties, t, strict=True)), ctx.mpf(0)) / total
                    - number(ctx, r) for f, r in zip(system.functions, references, strict=False)]


def _jacobian(ctx: Any, system: AveragedFunctions, box: CriticalBox, radius: Fraction) -> list[list[Any]]:
    t, multipliers = _wide(ctx, box.values, radius), _wide(ctx, box.multipliers, radius)
    slopes, total, count = [slope(f) for f in system.functions], sum(box.ties), len(box.ties)
    rows = []
    for i, v in enumerate(t):
        bend = at(ctx, slope(slopes[-1]), v) - sum((c * at(ctx, slope(s), v) for c, s in zip(
            multipliers, slopes, strict=False)), ctx.mpf(0))
        rows.append([bend if j == i else ctx.mpf(0) for j in range(count)] + [-at(ctx, s, v) for s in slopes[:-1]])
    for s in slopes[:-1]:
        rows.append([n * at(ctx, s, v) / total for n, v in zip(box.ties, t, strict=True)]
                    + [ctx.mpf(0)] * len(multipliers))
    return rows


def _inverse(system: AveragedFunctions, box: CriticalBox) -> list[list[Any]] | None:
    ctx = _context()
    matrix = np.array([[float(middle(e)) for e in row] for row in _jacobian(ctx, system, box, Fraction(0))])
    try:
        found = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    return [[ctx.mpf(float(c)) for c in row] for row in found] if np.isfinite(found).all() else None


def _applied(matrix: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    return [sum((c * v for c, v in zip(row, vector, strict=True)), 0 * vector[0]) for row in matrix]


def _to_dict(box: CriticalBox) -> dict[str, Any]:
    return {"ties": list(box.ties), "values": list(map(str, box.values)),
            "multipliers": list(map(str, box.multipliers))}


def _from_dict(data: Mapping[str, Any]) -> CriticalBox:
    return CriticalBox(tuple(map(int, data["ties"])), tuple(map(Fraction, data["values"])),
                       tuple(map(Fraction, data["multipliers"])))


READERS = {LocalExtremum.kind: lambda data: LocalExtremum(
    *AtReferences.read(data), _from_dict(data["local"]), _from_dict(data["other"]))}
