"""The plan that arguments declare, applied to labelled samples: decoupled features, or the samples normalized."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.cli.declaration import declared
from symdecouple.cli.exact_numbers import LAWS, named_or_numbers
from symdecouple.cli.moment_rows import moment_columns
from symdecouple.cli.sample_rows import (
    OUT_OF_RANGE,
    Column,
    SampleRow,
    Value,
    Values,
    answers,
    present,
    put,
    sample_rows,
)
from symdecouple.cli.samples import Samples
from symdecouple.cli.waiting import Tell, counted_from
from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.families.moments import raw_moments
from symdecouple.language.precision import at_digits
from symdecouple.language.text import parse_domain, to_text
from symdecouple.numeric.samples.intake import exact

__all__ = ["ACCURACY", "Counted", "NormalizedSample", "normalized_samples", "placed_samples", "plan_columns",
           "plan_rows", "planned"]

_FLOAT_DIGITS = 17  # tell any two float64 apart

ACCURACY = (Column("residual", "residual", has_unit=False), Column("error", "error", has_unit=False))
"""What `plan_rows` tells of a sample besides its values where digits were asked for, as in `Precise`."""


_Normalized: TypeAlias = tuple[list[Value | None], dict[str, Value]]
"""Values of a sample, and its accuracy."""


@dataclass(frozen=True, slots=True)
class NormalizedSample:
    """A sample with its features at their references, or where they were asked to be.

    Attributes
    ----------
    label : str
    values : tuple
        As many as the sample has; None where a value is missing, everywhere if the sample was refused.
    refused : Outcome or None
    accuracy : mapping
        Residual and error, as in `Precise`, where digits were asked for; how far a sample moved that was matched.
    """

    label: str
    values: tuple[Value | None, ...]
    refused: Outcome | None = None
    accuracy: Mapping[str, Value] = field(default_factory=dict)


def planned(arguments: argparse.Namespace, tell: Tell | None = None) -> Plan:
    """The plan of the features, the reference and the path that were named.

    Raises
    ------
    InvalidInput, UnsupportedExpression, NoClosedForm
        Where formulas cannot be read, a parameter has no value, references do not hold together, or the path named
        has no closed form at all.
    """
    if arguments.features:
        features = declared(arguments.features, arguments)
        if features.parameters:
            names = sorted(map(str, features.parameters))
            raise InvalidInput(f"the parameter{'s' * (len(names) > 1)} {', '.join(names)} must have a value, such as "
                               f"--at {names[0]}=1")
    else:
        features = raw_moments(arguments.moments, parse_domain(arguments.domain))
    if arguments.level is not None and arguments.level > len(features):
        raise InvalidInput(f"--level {arguments.level} is above the number of features, {len(features)}")
    reference = named_or_numbers(arguments.reference, LAWS, "0,1,0,3")
    return decouple(features, reference, path=arguments.path, budget=arguments.budget, progress=tell)


def plan_columns(plan: Plan, arguments: argparse.Namespace) -> tuple[Column, ...]:
    """The decoupled features: moments by their own names at the Gaussian reference, others as they were written."""
    if not arguments.features and arguments.reference.strip().lower() in LAWS:
        return moment_columns(arguments.moments)
    texts = [text.strip() for text in arguments.features] if arguments.features else list(map(to_text, plan.features))
    return tuple(Column(text, f"f{k}") for k, text in enumerate(texts, 1))


def plan_rows(plan: Plan, columns: Sequence[Column], samples: Samples, nan_policy: str = "propagate",
              dps: int | None = None, tell: Tell | None = None) -> tuple[SampleRow, ...]:
    """Compute the decoupled features of every sample; further arguments and errors are those of `sample_rows`.

    With `dps` values are text of so many digits, and those of `ACCURACY` are there too.
    """
    names, apply = [column.name for column in columns], Counted(plan.transform, dps, tell, len(samples.labels))

    def compute(rows: NDArray[Any]) -> list[Values]:
        found: list[Values] = [({}, {}) for _ in rows]
        results, outcomes = apply(rows)
        accuracy = _accuracy(results, dps)
        for (values, refused), result, outcome, off in zip(found, results, outcomes, accuracy, strict=True):
            for name, value in zip(names, _values(result, dps), strict=True):
                put(values, refused, name, value, outcome)
            values.update(off)
        return found

    return sample_rows(samples, names, compute, nan_policy)


def normalized_samples(plan: Plan, level: int | None, samples: Samples, nan_policy: str = "propagate",
                       dps: int | None = None, tell: Tell | None = None) -> tuple[NormalizedSample, ...]:
    """Bring features 1..level of every sample to their references; the default level is that of `Plan.normalize`."""

    def normalize(rows: NDArray[Any], **how: Any) -> Any:
        return plan.normalize(rows, level, **how)

    apply = Counted(normalize, dps, tell, len(samples.labels))

    def compute(rows: NDArray[Any]) -> list[_Normalized | Outcome]:
        found: list[_Normalized | Outcome] = []
        results, outcomes = apply(rows)
        for result, outcome, off in zip(results, outcomes, _accuracy(results, dps), strict=True):
            values = list(_values(result, dps))
            lacks = None in values or not outcome.ok
            found.append((OUT_OF_RANGE if outcome.ok else outcome) if lacks else (values, off))
        return found

    return placed_samples(samples, compute, nan_policy)


def placed_samples(samples: Samples, compute: Callable[[NDArray[Any]], Sequence[_Normalized | Outcome]],
                   nan_policy: str) -> tuple[NormalizedSample, ...]:
    """Answer every sample, with missing values where they were."""
    return tuple(_placed(label, vector, answer) for label, vector, answer in
                 zip(samples.labels, samples.vectors, answers(samples, compute, nan_policy), strict=True))


def _placed(label: str, vector: NDArray[Any], answer: _Normalized | Outcome) -> NormalizedSample:
    """Values where they were in the sample, missing ones between them."""
    if isinstance(answer, Outcome):
        return NormalizedSample(label, (None,) * len(vector), answer)
    left = iter(answer[0])
    values = tuple(next(left) if there else None for there in present(vector))
    return NormalizedSample(label, values, accuracy=answer[1])


@dataclass(slots=True)
class Counted:
    """A method of a plan, applied to some of the samples after others, which are counted.

    Numbers that float64 would round together keep all their digits.
    """

    method: Callable[..., Any]
    dps: int | None
    tell: Tell | None
    total: int
    done: int = 0

    def __call__(self, rows: NDArray[Any]) -> Any:
        dps = _FLOAT_DIGITS + max(map(_digits, rows)) if self.dps is None and rows.dtype.kind == "O" else self.dps
        progress = counted_from(self.tell, self.done, self.total)
        self.done += len(rows)
        with np.errstate(all="ignore"):  # what is not finite is refused by name
            return self.method(rows, dps=dps, on_refusal="return", progress=progress)


def _digits(row: NDArray[Any]) -> int:
    """How many digits the numbers of a row have in their largest common unit."""
    numbers = [Fraction(exact(value)) for value in row]
    unit = Fraction(math.gcd(*(v.numerator for v in numbers)), math.lcm(*(v.denominator for v in numbers)))
    largest = max(map(abs, numbers))
    return 1 + int(largest / unit).bit_length() * 31 // 100 if unit else 1


def _accuracy(results: Any, dps: int | None) -> list[dict[str, Value]]:
    """Residual and error of each sample, as far as they are known; two digits of them tell enough."""
    if dps is None:
        return [{} for _ in results]
    each = zip(results.residual, results.error, strict=True)
    return [{column.name: mpmath.nstr(value, 2) for column, value in zip(ACCURACY, pair, strict=True)
             if mpmath.isfinite(value)} for pair in each]


def _values(numbers: Any, dps: int | None) -> Iterator[Value | None]:
    """Floats, or the digits asked for; None where it is no finite number."""
    if dps is None:
        for number in numbers:
            value = float(number)
            yield value + 0.0 if math.isfinite(value) and (value or not number) else None  # else beyond float64
        return
    with at_digits(dps):
        for v in numbers:
            yield mpmath.nstr(v, dps, strip_zeros=False) if mpmath.isfinite(v) else None
