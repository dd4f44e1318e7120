"""Samples with exactly given statistics: each sample moved along the flows until its own ones have these values.

Mean and variance are a shift and a factor; the skewness moves along the skew flow (Theorem C), the kurtosis along its
gradient with mean, variance and skewness held, as far as the ties of the sample allow (Theorem J). All of these are
increasing functions of the entry, so that ties and order stay, and with them every rank correlation with other samples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.matched import BEYOND, MatchedRows, matched_rows
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.moments.power_sums import place_and_scale
from symdecouple.numeric.moments.ties import unreachable_row
from symdecouple.numeric.samples.asked import asked_numbers
from symdecouple.numeric.samples.batch import (
    COMPUTED,
    SINGLE,
    Answer,
    Axis,
    FloatArray,
    IntArray,
    NanPolicy,
    OnRefusal,
    RowValues,
    SampleMatrix,
    as_rows,
    fill,
    normalized_axes,
)
from symdecouple.numeric.samples.exact_means import exact_rows
from symdecouple.numeric.samples.intake import (
    Numbers,
    check_choice,
    missing_entries,
    nearest,
    shifted_exactly,
    take_numbers,
)
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import as_floats
from symdecouple.numeric.samples.weights import WeightRows, present_in
from symdecouple.shown import Shown
from symdecouple.stats.columns import asked_correlation, with_correlation
from symdecouple.tables.labelled import keeps_labels
from symdecouple.tables.row_functions import Make, Piece

__all__ = ["Matched", "match"]

_SHOWN = 8  # samples in a printed answer
_TOGETHER = 2**17  # entries that are moved at a time
_TINY = float(np.finfo(np.float64).tiny)  # below, digits are missing


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matched(Shown):
    """Samples with the statistics that were asked for.

    Attributes
    ----------
    values : array
        Of the shape of the input; NaN in refused samples, and where entries are masked, left out or of weight 0.
    statistics : array (..., K)
        What the values have: mean, variance, skewness, kurtosis, and the standardized moments after them that were
        asked for; computed from the values.
    residual : float or array
        The largest distance of a statistic that was asked for from its target, over max(1, abs(target)).
    distance : float or array
        How far each sample moved: the root mean square of the changes of its entries, in its own unit.
    shape_distance : float or array
        The same of the standardized samples, in standard deviations: 0 where only mean and variance changed.
    outcomes : tuple of Outcome
        One a sample, in the order of the flattened batch.
    correlation : array (d, d) or None
        What the values have, where that was asked for.
    """

    values: NDArray[Any]
    statistics: NDArray[Any]
    residual: Any
    distance: Any
    shape_distance: Any
    outcomes: tuple[Outcome, ...]
    correlation: NDArray[Any] | None = None

    @property
    def ok(self) -> np.bool_ | NDArray[np.bool_]:
        """True where a sample has its statistics; of the shape of the batch."""
        flags = np.array([outcome.ok for outcome in self.outcomes], dtype=np.bool_)
        return flags.reshape(np.shape(self.residual))[()]

    def __str__(self) -> str:
        lines = []
        labels = getattr(self.residual, "index", None)
        rows = np.asarray(self.statistics).reshape(-1, self.statistics.shape[-1])
        names = [name.replace("standardized_", "order ") for name in _named(rows.shape[1])]
        for i, outcome in enumerate(self.outcomes[:_SHOWN]):
            label = labels[i] if labels is not None and len(labels) == len(self.outcomes) else f"sample {i}"
            title = f"{label}: " if len(self.outcomes) > 1 else ""
            if not outcome.ok:
                lines.append(f"{title}{outcome}")
                continue
            said = ", ".join(f"{name} {value:.10g}" for name, value in zip(names, rows[i], strict=False))
            moved, shape = np.ravel(self.distance)[i], np.ravel(self.shape_distance)[i]
            lines.append(f"{title}{said}; moved by {moved:.4g}, in shape by {shape:.4g} standard deviations")
        if len(self.outcomes) > _SHOWN:
            refused = sum(not outcome.ok for outcome in self.outcomes)
            lines.append(f"... {len(self.outcomes)} samples, {refused} of them refused")
        return "\n".join(lines)


def _split(found: Matched, options: dict[str, Any]) -> tuple[list[Piece], Make]:
    """The arrays of an answer, for labels."""
    numbers = ("residual", "distance", "shape_distance")
    pieces = [Piece(found.values, axes="entries"), Piece(found.statistics, _named(found.statistics.shape[-1])),
              *(Piece(getattr(found, name), title=name) for name in numbers)]
    fields = ("values", "statistics", *numbers)
    return pieces, lambda parts, outcomes: replace(found, outcomes=outcomes, **dict(zip(fields, parts, strict=True)))


@keeps_labels(split=_split, each=dict.fromkeys(("mean", "variance", "skewness", "kurtosis", "higher")), notes=False)
def match(
    sample: Any,
    *,
    mean: Any = None,
    variance: Any = None,
    skewness: Any = None,
    kurtosis: Any = None,
    higher: Sequence[Any] = (),
    correlation: Any = None,
    axis: Axis = 0,
    nan_policy: NanPolicy = "propagate",
    weights: Any = None,
    groups: Any = None,
    on_refusal: OnRefusal = "warn",
) -> Matched:
    """Move samples until their own mean, variance, skewness and kurtosis have exactly the given values.

    .. math:: \\bar y = m, \\quad \\overline{(y - m)^2} = v, \\quad \\overline{(y - m)^3} = g\\,v^{3/2}, \\quad
        \\overline{(y - m)^4} = \\kappa\\,v^2

    What is not given, below the highest order that is, stays as it is in the sample; orders above it go where the
    flows take them. Ties and the order of the values are kept.

    Parameters
    ----------
    sample : array_like, Series or DataFrame
        Real numbers of any kind. What is returned for labelled samples has their labels, and targets that are a Series
        are aligned with them.
    mean, variance, skewness, kurtosis : float or array_like, optional
        Population statistics (1/N), the kurtosis not in excess. Arrays have the shape of the batch, or broadcast to it.
    higher : sequence of float or array_like
        Standardized moments of order 5, 6, .., each with all before it held.
    correlation : "keep" or array_like (d, d), optional
        The samples are d variables, the columns of a matrix: after all of this their Pearson correlations are those of
        the sample, or these. Values of one variable then do not keep their order. Without it they do, and all rank
        correlations (Spearman, Kendall) are those of the sample, exactly.
    axis, nan_policy, weights, groups, on_refusal
        As in `skewness`. Entries that are masked, left out or of weight 0 are NaN in the result.

    Returns
    -------
    Matched
        With `values`, and how far each sample moved; float64. With ``on_refusal="return"`` ``(matched, outcomes)``.

    Raises
    ------
    InvalidInput
        Nothing is asked for, a target is not a finite number or does not fit the batch; or as in `skewness`.
    Refused
        With ``on_refusal="raise"``: constant samples, for anything but a mean; a skewness outside Theorem C, a kurtosis
        outside Theorem J ("no sample of N values has it", or "not with these ties"), an end of these ranges itself
        ("limit only"), and what is so near to one that float64 does not come there ("near the boundary");
        correlations that these margins do not have, with how far they came.

    Notes
    -----
    Each statistic is within 1e-13 max(1, abs(target)) of its target, or the sample is refused; where the values are
    large beside their standard deviation, rounding them leaves more, which `residual` and the outcome ("rounded") tell.
    The way to the kurtosis is followed to about 1e-8 of a standard deviation. Samples that crowd beyond float64 on
    their way are put between the ends of the range directly: their outcome is ok with the reason "off the path".
    Cost: 0.05 to 0.3 s for 1000 samples of 200 values.

    `scipy.stats` gives samples of a law whose statistics have these values on average; here the sample has them.

    Examples
    --------
    >>> from symdecouple.stats import match
    >>> made = match([1, 2, 3, 5, 8, 13, 21, 34], mean=0, variance=1, skewness=1, kurtosis=3)
    >>> made.values.round(4).tolist()
    [-1.0993, -0.8796, -0.7025, -0.4256, -0.1165, 0.2726, 0.8041, 2.1468]
    >>> (made.statistics.round(12) + 0.0).tolist()
    [0.0, 1.0, 1.0, 3.0]

    Only what is asked for changes; a variance alone is a factor:

    >>> [round(float(v), 12) for v in match([1, 2, 3, 6], variance=14).values]
    [-1.0, 1.0, 3.0, 9.0]

    Eight values without ties have a kurtosis between 2.15203 and 4.37604 beside skewness 1:

    >>> _, (outcome,) = match(range(8), skewness=1, kurtosis=2.1, on_refusal="return")
    >>> print(outcome.detail)
    kurtosis 2.1 was wanted beside skewness 1; no sample of 8 values has it: beside this skewness it stays in \
(2.15203, 4.37604), whatever the ties; with more values it comes down to 2

    Source: Theorems C and J of the documentation; the paper, Algorithm 3, for the flow of the kurtosis.
    """
    check_choice("nan_policy", nan_policy, ("propagate", "omit", "raise"))
    check_choice("on_refusal", on_refusal, ("warn", "raise", "return"))
    if not isinstance(higher, list | tuple) and np.ndim(higher) == 0:
        raise InvalidInput(f"higher={higher!r:.60} was given, a list of standardized moments from order 5 on is "
                           "expected")
    given = take_numbers(sample)
    if given.array.ndim == 0:
        given = Numbers(given.array.reshape(1), None if given.masked is None else given.masked.reshape(1))
    axes = normalized_axes(axis, given.array.shape)
    shape = tuple(n for i, n in enumerate(given.array.shape) if i not in axes)
    asked = _targets({"mean": mean, "variance": variance, "skewness": skewness, "kurtosis": kurtosis,
                      **{f"higher[{k}]": value for k, value in enumerate(higher)}}, shape, correlation is not None)
    n_samples = as_rows(given.array, axes).shape[1]
    with np.errstate(all="ignore"):
        weighed = None if weights is None else WeightRows.of(weights, given.array.shape, axes)
        answer = Answer("match", shape, frames=4, columns=n_samples * (1 if weighed is None else 2) + 2)
        fill(answer, given, axes, partial(_laid_open, width=n_samples), nan_policy, weighed)
        present = _present(given, axes, weighed)
        exact = {}
        for i, own_mean, own_variance in exact_rows(answer, given, axes, weighed):
            place, square = nearest(Fraction(own_mean)), nearest(Fraction(own_variance))
            answer.values[i, -2:], exact[i] = (place, square), as_rows(given.array, axes)[i][present[i]]
            if own_variance and not _TINY <= square < np.inf and (len(asked) < 2 or asked[1] is None):
                answer.refusals[i] = BEYOND
    if len(asked) == 1 and correlation is None:
        _lay_singles(answer, as_rows(given.array, axes), present)
    is_plain = len(given.array.shape) == 2 and len(axes) == 1 and weighed is None and bool(present.all())
    goal = None if correlation is None else asked_correlation(correlation, len(present), is_plain)
    if weighed is None and len(asked) > 2 and asked[2] is not None:
        counted = {i: unreachable_row(row, asked[2][i]) for i, row in exact.items()}
        answer.refusals.update((i, why) for i, why in counted.items() if why is not None)
        exact = {i: row for i, row in exact.items() if i not in answer.refusals}
    done, reached = _matched(answer, present, asked, weights is not None, exact.keys()), None
    for i in exact.keys() & answer.refusals.keys():
        if (shifted := shifted_exactly(exact[i])) is not None:
            answer.refusals[i] = fallen_together(exact[i], shifted[0], answer.refusals[i])
    if correlation is not None:
        done, reached = with_correlation(done, answer.values[:, :n_samples], answer.values[:, -2:], asked, goal)
        answer.refusals.update(done.refusals)
    values = done.values.reshape(*shape, *(given.array.shape[i] for i in sorted(axes)))
    values = np.moveaxis(values, range(len(shape), given.array.ndim), sorted(axes))
    residual, distance, in_shape = (column.reshape(shape)[()] for column in done[2:5])
    outcomes = tuple(answer.refusals.get(i) or done.notes.get(i, COMPUTED) for i in range(len(done.residual)))
    statistics = done.statistics.reshape(*shape, done.statistics.shape[1])
    matched = Matched(values, statistics, residual, distance, in_shape, outcomes, reached)
    return cast(Matched, (matched, outcomes) if on_refusal == "return" else answer.deliver(matched, on_refusal))


def _named(count: int) -> list[str]:
    return ["mean", "variance", "skewness", "kurtosis", *(f"standardized_{k}" for k in range(5, count + 1))][:count]


def _targets(given: dict[str, Any], shape: tuple[int, ...], is_enough: bool) -> list[FloatArray | None]:
    """What is asked of mean, variance, and the orders after them, one number a sample; up to the last one asked for.

    `is_enough` says that something else is asked for.
    """
    found: list[FloatArray | None] = []
    for name, value in given.items():
        if value is None:
            found.append(None)
            continue
        try:
            numbers = asked_numbers(value)
            each = np.broadcast_to(numbers, shape).ravel()
        except (TypeError, ValueError):
            given_as = f"array of shape {np.shape(value)}" if np.ndim(value) else f"{value!r:.60}"
            raise InvalidInput(f"{name}={given_as} was given; a number, or an array that broadcasts to {shape}, one a "
                               "sample, is expected") from None
        if not np.isfinite(numbers).all():
            raise InvalidInput(f"{name}={value!r:.60} was given, finite numbers are expected; leave out what may stay")
        found.append(each)
    while found and found[-1] is None:
        found.pop()
    if not found and not is_enough:
        raise InvalidInput("nothing is asked for: give mean=, variance=, skewness=, kurtosis= or higher=")
    return found


def _laid_open(matrix: SampleMatrix, width: int) -> RowValues:
    """What a kernel sees of each row: values, and shares, with NaN after those that count; then mean and variance."""
    found = np.full((len(matrix.low), width * (1 if matrix.weights is None else 2) + 2), np.nan)
    n = matrix.values.shape[1]
    found[:, :n] = matrix.values
    shares = 1.0 if matrix.weights is None else matrix.weights / matrix.weights.sum(axis=1, keepdims=True)
    found[:, width : width + n] = shares  # without weights, the next line's place
    found[:, -2], found[:, -1], _ = place_and_scale(matrix)
    return RowValues(found)


def _lay_singles(answer: Answer, rows: NDArray[Any], present: NDArray[np.bool_]) -> None:
    """A sample of one value has a mean, as one of equal values, and can be moved to another one."""
    for i in [i for i, outcome in answer.refusals.items() if outcome is SINGLE]:
        if np.isfinite(value := as_floats(rows[i][present[i]])[0]):
            answer.values[i, [0, present.shape[1], -2, -1]] = value, 1, value, 0
            del answer.refusals[i]


def _present(given: Numbers, axes: tuple[int, ...], weighed: WeightRows | None) -> NDArray[np.bool_]:
    """Which entries count: neither NaN nor masked nor of weight 0."""
    present = present_in(given, axes, weighed) & ~missing_entries(as_rows(given.array, axes))
    return present if weighed is None else present & ~np.isnan(weighed.of_rows(np.arange(len(present)))[0])


def _matched(answer: Answer, present: NDArray[np.bool_], asked: Sequence[FloatArray | None], is_weighed: bool,
             exact: Collection[int]) -> MatchedRows:
    """All rows of the answer, those with equally many entries together; the answer learns what is refused.

    Deviations that float64 cannot square are taken from the rows, but not from `exact` ones, which have another unit.
    """
    n_rows, n_samples = present.shape
    statistics, moved = np.full((n_rows, max(4, len(asked))), np.nan), list[tuple[IntArray, FloatArray]]()
    numbers, notes = np.full((3, n_rows), np.nan), dict[int, Outcome]()
    open_rows = np.array([i for i in range(n_rows) if i not in answer.refusals], dtype=np.intp)
    counts = present.sum(axis=1)
    for count in np.unique(counts[open_rows]).tolist():
        group, step = open_rows[counts[open_rows] == count], max(1, _TOGETHER // count)
        for which in (group[i : i + step] for i in range(0, len(group), step)):
            laid = taken(answer.values, which)
            weights = laid[:, n_samples : n_samples + count] if is_weighed else None
            with np.errstate(all="ignore"):
                deviation = np.sqrt(laid[:, -1])
            is_lost = ~((laid[:, -1] > _TINY) & np.isfinite(deviation))
            deviation[is_lost & ~np.isin(which, list(exact))] = np.nan
            wanted = [None if target is None else target[which] for target in asked]
            done = matched_rows(laid[:, :count], wanted, laid[:, -2], deviation, weights)
            moved.append((which, done.values))
            statistics[which] = done.statistics
            numbers[:, which] = done.residual, done.distance, done.shape_distance
            answer.refusals.update((int(which[i]), outcome) for i, outcome in done.refusals.items())
            notes.update((int(which[i]), outcome) for i, outcome in done.notes.items())
    values = np.full(present.shape, np.nan)
    for which, rows in moved:
        for i, row in zip(which.tolist(), rows, strict=True):
            np.place(values[i], present[i], row)
    return MatchedRows(values, statistics, numbers[0], numbers[1], numbers[2], answer.refusals, notes)
