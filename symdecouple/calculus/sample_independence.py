r"""Condition C1 at one given sample: are the gradients linearly independent there?

Generically independent gradients may be dependent at a special sample: moments where the sample has few values,
energies where its spectrum has few active frequencies. Over the rationals the rank is found exactly, with a minor and
with relations; irrational gradients are enclosed by intervals, which can prove independence but not dependence.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.sample_claims import DependenceAt, IndependenceAt, fitting, most_independent, outside
from symdecouple.calculus.sample_rank import exact_rank
from symdecouple.calculus.sample_values import exact_sample, fields_at
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.witness import DIGITS, minor_of
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.precision import at_digits
from symdecouple.verdict import Status, Verdict

__all__ = ["independence_at"]

QUESTION = "C1 at a sample"

Sample = tuple[Fraction, ...]


def independence_at(subject: Subject, at: Any, n_samples: Size | None, budget: float) -> Verdict:
    """Return the verdict on C1 at a sample: see `check_independence`."""
    start, clock = time.perf_counter(), Budget(budget)
    sample, shape = exact_sample(at)
    size = shape if len(shape) > 1 else shape[0]
    _check(subject, sample, shape, size, n_samples)
    try:
        with clock.running("evaluating the gradients"):
            answer = _decide(subject, sample, shape, clock)
    except (OutsideDomain, ZeroDivisionError):
        answer = {"status": Status.UNDECIDED, "reason": f"a {subject.noun[:-1]} has no value at this sample"}
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}
    return Verdict(QUESTION, subject=subject.texts(), noun=subject.noun, n_samples=size,
                   redecide=partial(_again, subject, at, budget),
                   seconds=time.perf_counter() - start, **answer)


def _check(subject: Subject, sample: Sample, shape: tuple[int, ...], size: Size, n_samples: Size | None) -> None:
    if n_samples is not None and n_samples != size:
        raise InvalidInput(f"the sample at= has size {size}, and n_samples={n_samples} was given")
    if not fitting(subject, shape):
        wanted = (f"{len(subject.coordinates)} coordinates" if subject.coordinates
                  else f"filters in {subject.ndim} dimension{'s' * (subject.ndim > 1)}")
        raise InvalidInput(f"the features have {wanted}, and the sample at= has shape {shape}")
    if (number := outside(subject, sample)) is not None:
        low, high = subject.sample.interval
        raise InvalidInput(f"the domain of the sample is ({low}, {high}), and {number} in at= is not in it")


def _decide(subject: Subject, sample: Sample, shape: tuple[int, ...], clock: Budget) -> dict[str, Any]:
    fields: list[list[Any]] = []
    for digits in DIGITS:
        clock.check("the gradients at the sample")
        world = World(digits)
        try:
            fields, _ = fields_at(subject, sample, shape, world)
        except Irrational:
            continue
        if digits is None:
            return _by_rank(subject, sample, shape, fields)
        if len(subject) <= len(sample) and (rows := _enclosed(fields, world)) is not None:
            return _answer(Status.PROVED, IndependenceAt(subject, sample, shape, rows, digits))
    most = most_independent(subject, sample)
    if len(subject) > most:
        return _answer(Status.REFUTED, DependenceAt(subject, sample, shape, (), (), ()))
    if not fields:
        return {"status": Status.UNDECIDED,
                "reason": f"a {subject.noun[:-1]} is neither rational at this sample nor enclosed by intervals"}
    return {"status": Status.UNDECIDED, "evidence": _smallest(fields, DIGITS[-1]),
            "reason": f"the {subject.noun} are not rational at this sample, and no minor was enclosed away from zero"}


def _by_rank(subject: Subject, sample: Sample, shape: tuple[int, ...], fields: list[list[Any]]) -> dict[str, Any]:
    found = exact_rank(fields)
    rows, columns = (tuple(k + 1 for k in numbers) for numbers in (found.rows, found.columns))
    if not found.relations:
        return _answer(Status.PROVED, IndependenceAt(subject, sample, shape, rows))
    return _answer(Status.REFUTED, DependenceAt(subject, sample, shape, columns, rows, found.relations))


def _answer(status: Status, certificate: IndependenceAt | DependenceAt) -> dict[str, Any]:
    return {"status": status, "certificate": certificate, "evidence": certificate.evidence()}


def _enclosed(fields: list[list[Any]], world: World) -> tuple[int, ...] | None:
    """Return rows, counted from 1, of a minor whose enclosure excludes zero; None if the best rows have none."""
    work = [[mpmath.mpf(v.mid._mpi_[0]) for v in field] for field in fields]
    rows: list[int] = []
    with at_digits(world.digits or 15):
        for k in range(len(work)):
            for row, done in zip(rows, work[:k], strict=True):
                factor = work[k][row] / done[row]
                work[k] = [a - factor * b for a, b in zip(work[k], done, strict=True)]
            sizes = {r: abs(v) for r, v in enumerate(work[k]) if r not in rows}
            best = max(sizes, key=sizes.__getitem__)
            if sizes[best] == 0 or not mpmath.isfinite(sizes[best]):
                return None
            rows.append(best)
    ordered = sorted(rows)
    return tuple(r + 1 for r in ordered) if minor_of(fields, ordered, world).excludes_zero() else None


def _smallest(fields: list[list[Any]], digits: int | None) -> tuple[str, ...]:
    """Describe how far the gradients, each with length 1, are from being dependent."""
    with at_digits(digits or 15):
        columns = [mpmath.matrix([mpmath.mpf(v.mid._mpi_[0]) for v in field]) for field in fields]
        lengths = [mpmath.norm(column) for column in columns]
        if not all(mpmath.isfinite(length) and length > 0 for length in lengths):
            return ("a gradient vanishes or overflows",)
        unit = np.array([[float(v / length) for v in column] for column, length in zip(columns, lengths, strict=True)])
    singular = np.linalg.svd(unit, compute_uv=False)
    return (f"the smallest singular value of the gradients, each of length 1, is {singular[-1]:.2g} in floating point",)


def _again(subject: Subject, at: Sequence[Any], budget: float, values: Mapping[Any, Any]) -> Verdict:
    return independence_at(subject.bind(values), at, None, budget)
