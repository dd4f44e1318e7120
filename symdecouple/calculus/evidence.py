"""Numeric evidence for what could not be decided: how far brackets are from the span at a few samples.

This is what one would look at by hand: least squares at random rational samples, with 30 digits. It is shown with an
UNDECIDED verdict and never turned into another one.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import mpmath

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Point, bracket_at, field_at
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.calculus.witness import draws
from symdecouple.errors import SymdecoupleError
from symdecouple.language.budget import Budget, check
from symdecouple.language.precision import at_digits

__all__ = ["numeric_evidence"]

SECONDS = 0.7  # beyond the budget: an answer comes within a second of it
SAMPLES = 2
LARGEST = 12


def numeric_evidence(subject: Subject, n_samples: Size | None, rng: random.Random) -> tuple[str, ...]:
    """Return one line per sample: the bracket that is farthest from the span there, relative to its own size."""
    if subject.functions or subject.filters or (n_samples is None and subject.ndim > 1):
        return ()
    size, shape = count(n_samples or max(len(subject) + 2, 5)), n_samples if isinstance(n_samples, tuple) else None
    if size > max(LARGEST, len(subject) + 2):
        return ()
    lines: list[str] = []
    try:
        with Budget(SECONDS).running("numeric evidence"):
            for sample, parameters in draws(subject, size, rng, 4 * SAMPLES):
                point = Point(sample, parameters, World(30), subject.coordinates, shape)
                if (line := _line(subject, point)) is not None:
                    lines.append(line)
                if len(lines) == SAMPLES:
                    break
    except SymdecoupleError:
        pass
    return tuple(lines)


def _line(subject: Subject, point: Point) -> str | None:
    try:
        fields = [field_at(item, point) for item in subject.items]
        columns = [[_middle(v) for v in vector] for vector, _ in fields]
        worst, where = mpmath.mpf(0), ""
        for i, j in combinations(range(len(fields)), 2):
            bracket = bracket_at(fields[i], fields[j], point)
            if all(point.world.is_zero(v) for v in bracket):
                continue
            if (distance := _distance(columns, [_middle(v) for v in bracket])) >= worst:
                worst, where = distance, f"[v{i + 1}, v{j + 1}]"
    except (Irrational, OutsideDomain, ZeroDivisionError, ValueError):
        return None
    if worst < mpmath.mpf(10) ** -15:
        return (f"at a random sample of size {point.size} every bracket is in the span, to "
                f"{mpmath.nstr(worst, 2)} of its length")
    return (f"at a random sample of size {point.size} {where} is {mpmath.nstr(worst, 2)} of its length away "
            "from the span")


def _distance(columns: list[list[Any]], bracket: list[Any]) -> Any:
    """Return the distance of a vector from the span of some others, over its length (modified Gram-Schmidt, twice)."""
    with at_digits(30):
        length = mpmath.norm(bracket)
        if length == 0:
            return mpmath.mpf(0)
        basis: list[Any] = []
        for column in [*columns, bracket]:
            rest, before = mpmath.matrix(column), mpmath.norm(column)
            for q in basis * 2:
                check()
                rest -= q * (q.T * rest)[0]
            if column is bracket:
                return mpmath.norm(rest) / length
            if mpmath.norm(rest) > mpmath.mpf(10) ** -20 * before:
                basis.append(rest / mpmath.norm(rest))
    return mpmath.mpf(0)


def _middle(value: Any) -> Any:
    return mpmath.mpf(value.mid._mpi_[0])
