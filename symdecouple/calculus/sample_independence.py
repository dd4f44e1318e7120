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

from symdecouple.calculus.convolution_frame import degree
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.sample_claims import DependenceAt, IndependenceAt, fitting, most_independent, outside
from symdecouple.calculus.sample_rank import exact_rank
from symdecouple.calculus.sample_values import exact_sample, fields_at
from symdecouple.calculus.subject import Size, Subject
from symdecouple.calculus.witness import DIGITS, minor_of
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.feature import Feature
from symdecouple.language.mean import Mean
from symdecouple.verdict import Status, Verdict

__all__ = ["independence_at"]

QUESTION = "C1 at a sample"
ACTIVE = 1e-9  # of the largest amplitude: shown as evidence only
SHOWN = 6

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
        answer = {"status": Status.UNDECIDED, "reason": "a gradient has no value at this sample"}
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}
    return Verdict(QUESTION, subject=subject.texts(), n_samples=size, redecide=partial(_again, subject, at, budget),
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
            return _independent(IndependenceAt(subject, sample, shape, rows, digits))
    most = most_independent(subject, sample)
    if len(subject) > most:
        what = "coordinates" if most == len(sample) else f"value{'s' * (most > 1)} that the sample takes"
        return {"status": Status.REFUTED, "certificate": DependenceAt(subject, sample, shape, (), (), ()),
                "reason": f"{len(subject)} gradients are functions of {most} {what}"}
    if not fields:
        return {"status": Status.UNDECIDED,
                "reason": "a gradient is neither rational at this sample nor enclosed by intervals"}
    return {"status": Status.UNDECIDED, "evidence": _smallest(fields, DIGITS[-1]),
            "reason": "the gradients are not rational at this sample, and no minor was enclosed away from zero"}


def _by_rank(subject: Subject, sample: Sample, shape: tuple[int, ...], fields: list[list[Any]]) -> dict[str, Any]:
    found = exact_rank(fields)
    rows, columns = (tuple(k + 1 for k in numbers) for numbers in (found.rows, found.columns))
    if not found.relations:
        return _independent(IndependenceAt(subject, sample, shape, rows))
    spectrum = _spectrum(subject, sample, shape)
    first = next(k for k in range(1, len(subject) + 1) if k not in columns)
    vanishes = sum(c != 0 for c in found.relations[0]) == 1
    help_ = ""
    if spectrum:
        help_ = "; where few frequencies are active the spectral perturbation of the sample helps"
    elif (values := most_independent(subject, sample)) < len(subject):
        help_ = (f"; the sample has {values} distinct value{'s' * (values > 1)}, and the ramp perturbation makes all "
                 "values distinct")
    return {"status": Status.REFUTED, "evidence": spectrum,
            "certificate": DependenceAt(subject, sample, shape, columns, rows, found.relations),
            "reason": f"the gradients have rank {len(columns)} of {len(subject)} at this sample: gradient {first} "
            + ("vanishes there" if vanishes else "is a combination of the others there") + help_}


def _independent(certificate: IndependenceAt) -> dict[str, Any]:
    return {"status": Status.PROVED, "certificate": certificate,
            "reason": f"a {len(certificate.subject)}-minor of the gradients at this sample is not zero"}


def _enclosed(fields: list[list[Any]], world: World) -> tuple[int, ...] | None:
    """Return rows, counted from 1, of a minor whose enclosure excludes zero; None if the best rows have none."""
    work = [[mpmath.mpf(v.mid._mpi_[0]) for v in field] for field in fields]
    rows: list[int] = []
    with mpmath.workdps(world.digits or 15):
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
    with mpmath.workdps(digits or 15):
        columns = [mpmath.matrix([mpmath.mpf(v.mid._mpi_[0]) for v in field]) for field in fields]
        lengths = [mpmath.norm(column) for column in columns]
        if not all(mpmath.isfinite(length) and length > 0 for length in lengths):
            return ("a gradient vanishes or overflows",)
        unit = np.array([[float(v / length) for v in column] for column, length in zip(columns, lengths, strict=True)])
    singular = np.linalg.svd(unit, compute_uv=False)
    return (f"the smallest singular value of the gradients, each of length 1, is {singular[-1]:.2g} in floating point",)


def _spectrum(subject: Subject, sample: Sample, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Describe which frequencies are active, where that is what decides: circular features of degree 2."""
    exprs = [item.expr for item in subject.items if isinstance(item, Feature) and item.kind == "mean"]
    if len(exprs) < len(subject) or not subject.is_filtered or not subject.is_circular or not all(
            degree(mean.body) <= 2 for expr in exprs for mean in expr.atoms(Mean)):
        return ()
    largest = max(map(abs, sample))
    amplitudes = np.abs(np.fft.fftn(np.reshape([float(v / largest) if largest else 0.0 for v in sample], shape)))
    active = [tuple(map(int, k)) for k in np.argwhere(amplitudes > ACTIVE * max(amplitudes.max(), 1e-300))]
    kept = [k for k in active if k <= tuple(-i % n for i, n in zip(k, shape, strict=True))]
    shown = ", ".join(str(k[0] if len(k) == 1 else k) for k in kept[:SHOWN]) + ", ..." * (len(kept) > SHOWN)
    return (f"{len(kept)} active frequenc{'y' if len(kept) == 1 else 'ies'} of the sample up to sign, in floating "
            f"point: {shown or 'none'}",)


def _again(subject: Subject, at: Sequence[Any], budget: float, values: Mapping[Any, Any]) -> Verdict:
    return independence_at(subject.bind(values), at, None, budget)
