r"""The cells of a set with kinks: where its signs are constant, and which parts of the line a sample has numbers in.

Constant thresholds split the line into parts; a cell says which parts the sample has numbers in. Where a threshold
depends on averages, as in abs(x - Mean(x)), and where the sign is one of averages, as in abs(Mean(x)), cells are found
by drawing samples, and excluded where Mean(u) = 0 keeps u from having one sign. The first cell is the generic one: all
parts have numbers in them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

from sympy import Expr, Integer, expand

from symdecouple.calculus.cell import Cell, arguments_of, patterns_at, shaped
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.segments import points_in, pure_arguments, segments
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.canonical import canonical
from symdecouple.language.kinks import Side, in_sides
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, rational_points

__all__ = ["Cells", "cells_of"]

SEED = 4711
MAX_ARGUMENTS = 10
MAX_PARTS = 4
"""With more parts of the line than these only the cell with all of them, and those with one each, are decided."""
MAX_CELLS, MAX_OBSERVED = 24, 6
DRAWS, SIZE = 60, 24


class Cells(NamedTuple):
    """The cells that were found, the generic one first, and whether there are certainly no others."""

    cells: tuple[Cell, ...]
    complete: bool


def cells_of(subject: Subject) -> Cells:
    """Return the cells of a subject, always the same ones.

    Raises
    ------
    UnsupportedExpression
        If there are too many signs, or the zeros of their arguments are not isolated.
    """
    return _cells(subject.items)


@lru_cache(maxsize=64)
def _cells(items: tuple[Any, ...]) -> Cells:
    subject = Subject(items)
    sample = None if subject.coordinates else subject.sample
    arguments = arguments_of(_written(subject), sample)
    if len(arguments) > MAX_ARGUMENTS:
        raise UnsupportedExpression(f"{len(arguments)} signs occur, and up to {MAX_ARGUMENTS} are decided cell by cell")
    if not arguments:
        return Cells((Cell((), ((),), sample),), True)
    rng = random.Random(SEED)
    if sample is None:
        return _in_coordinates(subject, arguments, rng)
    return _of_averages(subject, arguments, sample, rng)


def _written(subject: Subject) -> list[Expr]:
    return [in_sides(e) for item in subject.items
            for e in (item.components if isinstance(item, VectorField) else (item.expr,))]


def _in_coordinates(subject: Subject, arguments: tuple[Expr, ...], rng: random.Random) -> Cells:
    found = []
    for signs in product((1, -1), repeat=len(arguments)):
        cell = Cell(arguments, (signs,), None)
        if _exists(cell, subject, rng):
            found.append(cell)
        if len(found) == MAX_CELLS:
            break
    if not found:
        raise UnsupportedExpression("no point off the kinks was found")
    return Cells(tuple(found), len(found) == 2 ** len(arguments))


def _of_averages(subject: Subject, arguments: tuple[Expr, ...], sample: Sample, rng: random.Random) -> Cells:
    moving = [k for k, u in enumerate(arguments) if u.has(sample)]
    fixed = [k for k in range(len(arguments)) if k not in moving]
    alone = not fixed and len(pure_arguments(arguments, sample)) == len(arguments)
    if alone:
        rows = list(dict.fromkeys(s.pattern for s in segments(arguments, sample)))
        parts = _alike(subject, arguments, rows, sample)
        cells = [Cell(arguments, tuple(row for part in chosen for row in part), sample,
                      tuple(k for k, part in enumerate(chosen) for _ in part)) for chosen in _subsets(parts)]
        return Cells(tuple(cells[:MAX_CELLS]), len(parts) <= MAX_PARTS)
    observed = _observed(subject, arguments, sample, rng)
    if len(moving) > 1:  # what was not met with may exist or not
        return Cells(tuple(Cell(arguments, rows, sample) for rows in observed[:MAX_OBSERVED]), False)
    found, missing = [], False
    both = any(canonical(Mean(arguments[k]), sample) == 0 for k in moving)
    for chosen, signs in product(_subsets([(1,), (-1,)][: 1 + len(moving)]), product((1, -1), repeat=len(fixed))):
        if both and len(chosen) == 1:
            continue  # the average of u is 0: u has both signs
        cell = Cell(arguments, tuple(_merged(row if moving else (), signs, moving, fixed) for row in chosen), sample)
        if set(cell.patterns) in map(set, observed) or _exists(cell, subject, rng):
            found.append(cell)
        else:
            missing = True
    if not found:
        raise UnsupportedExpression("no sample off the kinks was found")
    return Cells(tuple(found[:MAX_CELLS]), not missing and len(found) <= MAX_CELLS)


def _alike(subject: Subject, arguments: tuple[Expr, ...], rows: Sequence[tuple[int, ...]],
           sample: Sample) -> list[list[tuple[int, ...]]]:
    """Return the patterns, those together on which all functions of the sample are the same."""
    bodies = {mean.opened(sample) for e in _written(subject) for mean in e.atoms(Mean)}
    bodies |= {e for e in _written(subject) if e.has(sample)}
    found: dict[tuple[Expr, ...], list[tuple[int, ...]]] = {}
    for row in rows:
        rule = {Side(u): Integer(c) for u, c in zip(arguments, row, strict=True)}
        found.setdefault(tuple(expand(_flat(body, rule)) for body in sorted(bodies, key=str)), []).append(row)
    return list(found.values())


def _flat(expr: Expr, rule: dict[Expr, Expr]) -> Expr:
    """Replace signs, not those inside averages."""
    if expr in rule:
        return rule[expr]
    return expr if isinstance(expr, Mean) or not expr.args else expr.func(*(_flat(arg, rule) for arg in expr.args))


def _merged(row: Sequence[int], signs: Sequence[int], moving: Sequence[int], fixed: Sequence[int]) -> tuple[int, ...]:
    at = dict(zip((*moving, *fixed), (*row, *signs), strict=True))
    return tuple(at[k] for k in range(len(at)))


def _subsets(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    sizes = range(len(rows), 0, -1) if len(rows) <= MAX_PARTS else (len(rows), 1)
    for size in sizes:
        yield from combinations(rows, size)


def _observed(subject: Subject, arguments: tuple[Expr, ...], sample: Sample,
              rng: random.Random) -> list[tuple[tuple[int, ...], ...]]:
    """Return the sets of patterns that random samples have, the largest first."""
    found: dict[frozenset[tuple[int, ...]], int] = {}
    for k in range(DRAWS):
        size = SIZE if k % 2 else 6
        points = points_in(segments((), sample), size, rng, 3 * size, shaped(3 * size, rng, k // 2))
        parameters = {s: rational_points(s, 1, rng, size=7)[0] for s in subject.symbols}
        patterns = patterns_at(arguments, points, parameters, sample) if len(points) > 1 else None
        if patterns is not None:
            key = frozenset(patterns)
            found[key] = found.get(key, 0) + 1
    if not found:
        raise UnsupportedExpression("no sample off the kinks was found")
    ordered = sorted(found, key=lambda key: (-len(key), -found[key], sorted(key)))
    return [tuple(sorted(key, reverse=True)) for key in ordered]


def _exists(cell: Cell, subject: Subject, rng: random.Random) -> bool:
    least = cell.size
    sizes = [len(subject.coordinates)] if subject.coordinates else [max(least, 4), max(2, least), 2 * least + 6]
    try:
        return any(next(cell.draws(subject, size, rng, None), None) is not None for size in sizes)
    except InvalidInput:
        return False
