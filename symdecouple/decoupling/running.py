"""The rows of a batch through a plan, in portions: answers, refusals, residuals, errors, in numbers of either kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from os import PathLike
from typing import Any, Concatenate, TypeAlias, cast, get_args

import mpmath
import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.counted import AXES, as_statistics, with_weights, without_masked
from symdecouple.decoupling.motions.motion import is_finite
from symdecouple.decoupling.offsets import middles
from symdecouple.decoupling.precise import Precise
from symdecouple.decoupling.progress import Checkpoint, Portioned, Progress, reported
from symdecouple.decoupling.routes.route import Answers, Levels
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.moments.ties import unreachable_rows
from symdecouple.numeric.perturbing import Perturbation, RefusedRow, tried_again
from symdecouple.numeric.precision.path import spread
from symdecouple.numeric.samples.batch import SINGLE, NanPolicy, OnRefusal
from symdecouple.numeric.samples.intake import (
    check_choice,
    fractions_of,
    is_elsewhere,
    library_of,
    nearest,
    plan_elsewhere,
)
from symdecouple.numeric.samples.kinds import GivesRows, P
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import WAVES, Batch, SampleAxis, narrowed, widened
from symdecouple.tables.labelled import answer
from symdecouple.tables.row_functions import Form, Make, Piece

__all__ = ["GUARD", "Compute", "Running", "answered", "batch_of", "is_turned", "leaves_out_masked"]

GUARD = 15  # digits beyond those asked for, which the levels of a plan may lose
_CHUNK = 2**18  # numbers that move together; rows of mpmath numbers move alone
_OF_DIGITS = "beyond ", "level ", "limit only", "no convergence", "critical point", "pole"  # or of what is asked for
_WIDE = 256  # deviations at level 1: two digits are lost beside a mean of a wider sample
_MOST_DIGITS = 800  # a root takes 2 seconds then, and twice the digits eight times as long
_TURNED = 0.25  # of the range
_MOST_BITS = 2048  # of exponentials: the exponents of float64, up and down
_OUT_OF_RANGE = Outcome(False, "out of range", "feature 1 is beyond float64, all others are there; use dps=")

Compute: TypeAlias = Callable[[Levels, Array, Sequence[Any], Array], Answers]


class Running:
    """One call of a plan: `compute` is asked about the rows of a batch, which become features, or samples again.

    The shape of an answer is None where it is a sample; `level` is the last one on the way, None for that of features.
    """

    def __init__(self, plan: Any, batch: Batch, shape: tuple[int, ...] | None, dps: int | None, compute: Compute,
                 level: int | None) -> None:
        self.choice: Choice = plan.choice
        self.perturbation: Perturbation | None = plan.perturbation
        self.application: Application = plan._application.on(batch.grid)
        self.batch, self.shape, self.dps, self.compute = batch, shape, dps, compute
        self.is_feature = shape is not None and len(shape) == 1
        self.levels = self.choice.levels(level, dps is not None, batch.grid)
        self.is_bounded = batch.name == "normalize" and bool(level) and self.application.is_bounded
        has_third = any(start == 3 for start, _ in self.application.spans) if level is None else level > 2
        self.has_third = has_third and batch.name in ("transform", "normalize", "gradients")

    def __call__(self, on_refusal: OnRefusal, progress: Progress | None, kept: Checkpoint | None) -> Any:
        """Answer the rows that are not kept yet; what is refused is NaN, and reported once."""
        batch, n_samples = self.batch, self.batch.rows.shape[-1]
        known = np.full((2, len(batch.rows)), np.nan, dtype=batch.numbers)  # residuals and errors
        digits = nullcontext() if self.dps is None else at_digits(
            self.dps + GUARD + _hidden_digits(batch.rows, self.choice) + self.choice.hidden_digits)
        telling = nullcontext() if progress is None else reported(progress, batch.name)
        with np.errstate(under="ignore"), digits, telling as tell:
            targets, done = self._targets(), np.zeros(len(batch.rows), dtype=np.bool_)
            if kept is not None:
                done[kept.restore(batch)] = True
            asked = np.array(list(batch.open_rows()), dtype=np.intp)
            to_do, is_whole = asked[~done[asked]], tell is None and kept is None  # nobody waits for portions
            portioned = None if is_whole else Portioned(tell, len(asked), kept is not None)
            step = max(1, _CHUNK // max(1, n_samples)) if self.dps is None else 1
            for whole in (to_do[i : i + step] for i in range(0, len(to_do), step)):
                for index in [whole] if portioned is None else portioned.cut(whole):
                    with as_part_of(len(whole) * n_samples):
                        found = self._portion(index, targets)
                    if found is not None:
                        known[:, index] = found
                    if portioned is None:
                        continue
                    done[index], is_end = True, bool(index[-1] == whole[-1])
                    if kept is not None and (is_end or portioned.is_due()):
                        kept.keep(batch, done)
                    portioned.tell(int(done.sum()), is_end)
            self._as_statistics()
            result = batch.result(self.shape)
        if self.dps:
            with at_digits(self.dps), np.errstate(invalid="ignore"):  # NumPy tells of a NaN in an object array
                rounded = +result
                known[1] += [mpmath.eps * _offset(v) for v in batch.values] if self.shape is None else mpmath.eps
                result = Precise.of(rounded, self.dps, *(each.reshape(batch.shape)[()] for each in known))
        is_told = on_refusal == "return" or batch.refusals or batch.notes or batch.hint
        return batch.deliver(result, on_refusal) if is_told else result

    def _as_statistics(self) -> None:
        """Ask `stats` for moments of exact numbers that float64 rounds too much: it sees them before they are rounded.
        """
        batch, exact, route = self.batch, self.batch.unrounded, None
        which = np.array(sorted(batch.means.keys() & batch.refusals.keys()), dtype=np.intp)
        if which.size and exact is not None and batch.name == "transform" and not self.dps and not self.perturbation:
            route = self.choice.all_at_once
        if route is None or exact is None:
            return
        values, outcomes = as_statistics(self.choice, route, exact[which], (1,), "return")
        batch.put_all(which, values)
        for i, outcome in zip(which.tolist(), outcomes, strict=True):
            batch.refusals.pop(i)
            batch.refusals |= {} if outcome.ok else {i: outcome}

    def _portion(self, index: Array, targets: Sequence[Any]) -> Array | None:
        """Answer some rows, and return how exactly they are known; nothing else of what was computed is left."""
        batch, rows = self.batch, taken(self.batch.rows, index)
        found, counted = self._found(rows, targets, index), self._counted(index, targets)
        if self.dps and not counted and any(o.reason.startswith(_OF_DIGITS) for o in found.refusals.values()):
            digits = min(max(map(_crowded_digits, rows)) + self.dps, _MOST_DIGITS)  # of the only row
            if mpmath.mp.dps < digits and self.choice.path in ("auto", "relaxed") and self.levels.is_closed(
                    self.application.size - 1):  # by roots or formulas, at any precision
                with at_digits(digits):
                    found = self._found(rows, self._targets(), index)
        for r, outcome in counted.items():
            found.values[r][0 if self.shape is None else 3:] = mpmath.nan if self.dps else np.nan
            found.refusals[r] = outcome
        self._put(index, found.values)
        if found.refusals and self.shape is None:  # in the memory of the batch
            batch.values[index[list(found.refusals)]] = mpmath.nan if self.dps else np.nan
        again = dict[int, RefusedRow]()
        for r, why in self.application.judged(rows, found, self.is_feature).items():
            own, row, exact = found.values[r] if self.is_feature else None, rows[r], batch.unrounded
            given = row if exact is None or r in counted else exact[index[r]]
            outcome = SINGLE if batch.is_doubled else fallen_together(given, row, why)
            if self.perturbation is None or batch.is_doubled:
                batch.refusals[int(index[r])] = outcome
            else:
                again[r] = RefusedRow(row.astype(np.float32) if batch.single else row, outcome, own)
        if again and self.perturbation is not None:
            self._once_more(self.perturbation, index, again, targets, found.known)
        return found.known

    def _put(self, index: Array, values: Array) -> None:
        """Keep the answers of some rows, in the type of the samples."""
        if self.batch.single and not self.dps:
            values, lost = narrowed(values, None if self.shape is None else self.batch.rows[index])
            for r, outcome in lost.items():
                self.batch.refusals.setdefault(int(index[r]), outcome)
        self.batch.put_all(index, values)

    def _counted(self, index: Array, targets: Sequence[Any]) -> dict[int, Outcome]:
        """Why rows of exact numbers have no third level of moments: by their ties before they were rounded."""
        exact, moments = self.batch.rows if self.dps else self.batch.unrounded, self.choice.moments
        if not self.has_third or exact is None or moments is None or len(moments) < 3:
            return {}
        target = moments.coordinates(targets[:3])[2]
        which = [r for r, i in enumerate(index.tolist()) if is_finite(target) and (self.dps or i in self.batch.means)]
        return {which[r]: why for r, why in unreachable_rows(exact[index[which]], target).items()} if which else {}

    def _once_more(self, perturbation: Perturbation, index: Array, again: dict[int, RefusedRow],
                   targets: Sequence[Any], kept: Array | None) -> None:
        """Try refused rows perturbed, and note what became of them; features that one has itself stay."""
        places, refused, batch = np.array(list(again), dtype=np.intp), list(again.values()), self.batch

        def ask(rows: Array, owner: Array) -> tuple[Array, Any, dict[int, Outcome]]:
            found = self._found(rows, targets, index[places[owner]])
            return found.values, rows[:, :0] if found.known is None else found.known.T, self.application.judged(
                rows, found, self.is_feature)

        for r, tried in zip(again, tried_again(perturbation, refused, batch.grid, batch.whole, ask), strict=True):
            (batch.notes if tried.outcome.ok else batch.refusals)[int(index[r])] = tried.outcome
            if tried.values is not None:
                self._put(index[[r]], tried.values[None])
                if kept is not None:
                    kept[:, r] = tried.beside

    def _found(self, rows: Array, targets: Sequence[Any], index: Array) -> Answers:
        """Compute for rows about 0 where features feel no offset, and put right what only the numbers given tell."""
        feels_none = not self.choice.feels_no_shift and self.choice.feel_no_offset(self.batch.grid)
        rows = as_multiprecision(rows) if self.dps else widened(rows) if feels_none else rows
        middle = middles(rows) if feels_none else np.zeros(1)
        for scaled in self.choice.spread if feels_none and self.choice.floats[0] is not None else ():
            unit = scaled.coordinates.coordinates([0.0, self.choice.floats[0]])[1]
            is_wide = (rows.max(axis=1) - rows.min(axis=1) > _WIDE * unit)[:, None]  # level 1 would leave the mean
            middle = np.where(is_wide, rows.sum(axis=1, keepdims=True) / rows.shape[1], middle)
        found = self.compute(self.levels, rows - middle if middle.any() else rows, targets, index)
        known = self.batch.means
        means = {r: known[i] for r, i in enumerate(index.tolist()) if i in known} if known else {}
        if self.shape is None:
            if self.is_bounded:
                own = self.application.own(rows, 1)  # closed forms cross the ends of its domain
                bad = {r: why for r, why in self.application.undefined(own).items() if r not in means}
                found.refusals.update(bad | found.refusals)
                found.values[list(bad)] = np.nan
            for r, mean in means.items() if feels_none else ():
                middle[r] += nearest(mean - sum(map(Fraction, rows[r].tolist())) / rows.shape[1])  # taken off before
            with np.errstate(invalid="ignore"):  # of a NaN in an object array, again
                found = replace(found, values=found.values + middle) if middle.any() else found
            given = rows if self.batch.unrounded is None else self.batch.unrounded[index]
            return _without_merged(rows, found, self.dps, self.choice.is_of_sets, given)
        if (leading := self.choice.leading) is None:
            return found
        is_slope = len(self.shape) > 1
        for r, mean in means.items():  # the first column is the only one that feels a shift
            each = leading.first_at(mean, mpmath.mp.dps if self.dps else 2 * GUARD)
            value, derivative = map(mpmath.mpmathify if self.dps else float, each)
            found.values[r, 0] = derivative / rows.shape[1] if is_slope else value
            if not is_slope and not (mpmath.isfinite(value) and (value or not each[0])):
                found.values[r, 0] = np.nan
                found.refusals.setdefault(r, _OUT_OF_RANGE)
        return found

    def _targets(self) -> Sequence[Any]:
        """The references, at the working precision."""
        if not self.dps:
            return self.choice.floats
        return [None if v is None else mpmath.mpmathify(v.evalf(mpmath.mp.dps)) for v in self.choice.values]


def answered(plan: Any, batch: Batch, shape: tuple[int, ...] | None, dps: int | None, on_refusal: OnRefusal,
             compute: Compute, level: int | None, progress: Progress | None, *,
             checkpoint: str | PathLike[str] | None = None) -> NDArray[Any] | Any:
    """Answer the rows of a batch by a plan, at the levels up to one, or, for features, at all."""
    kept = None if checkpoint is None else Checkpoint.of(checkpoint, [
        *plan.features, plan._order, *plan.reference, plan.path, plan.perturbation, batch.means], batch)
    return Running(plan, batch, shape, dps, compute, level)(on_refusal, progress, kept)


def leaves_out_masked(method: Callable[Concatenate[Any, Any, P], Any]) -> GivesRows[P]:
    """Let a method of a plan answer samples whose entries count differently: masked, missing, or with weights.

    Masked entries are left out, NaN by ``nan_policy="omit"`` in the same way, and `weights` say how often each one
    counts (`counted`); those that have labels, or groups, get theirs back. The method itself knows none of them. What
    `on_refusal` is not, is refused.
    """

    @wraps(method)
    def answering(self: Any, samples: Any, *arguments: Any, nan_policy: NanPolicy = "propagate", weights: Any = None,
                  **options: Any) -> Any:
        if is_elsewhere(samples, options.get("dim")):
            return plan_elsewhere(method, self, samples, arguments,
                                  {**options, "nan_policy": nan_policy, "weights": weights})
        check_choice("on_refusal", options.get("on_refusal", "warn"), get_args(OnRefusal))
        check_choice("nan_policy", nan_policy, get_args(NanPolicy))
        if library_of(samples) or options.get("groups") is not None:
            return _with_labels(method.__name__, self, samples, *arguments, **options, nan_policy=nan_policy,
                                weights=weights)
        if weights is not None:
            return with_weights(method, self, samples, weights, nan_policy, *arguments, **options)
        if nan_policy != "propagate" or np.ma.is_masked(samples):
            return without_masked(method, self, samples, nan_policy, *arguments, **options)
        return method(self, samples, *arguments, **options)

    return cast("GivesRows[P]", answering)


def _with_labels(name: str, plan: Any, samples: Any, *given: Any, **options: Any) -> Any:
    """Answer a Series or a DataFrame in the same: columns are named by features, what has its shape keeps its labels.

    The samples of a DataFrame are its rows unless `axis=0` says that they are its columns, as for arrays.
    """
    own, axes = plan.features.names if name == "match" else plan.names, AXES.get(name, "entries")

    def split(found: Any, _: dict[str, Any]) -> tuple[list[Piece], Make]:
        return [Piece(found, None if axes == "entries" else own, axes)], lambda parts, _: parts[0]

    each = {"values": own} if name in ("denormalize", "match") else {}
    form = Form(split, each, plan.choice.filter_ndim or 1)
    with reported(options.pop("progress", None), name) as tell:
        return answer(form, name, getattr(plan, name), samples, *given, progress=tell, **options)


def batch_of(choice: Choice, name: str, samples: Any, axis: SampleAxis, dps: int | None, centred: bool = True,
             level: int = 0) -> Batch:
    """Return samples as the rows of a batch, as the features of a plan need them, or only their form at a level."""
    if dps is not None and (isinstance(dps, bool) or not isinstance(dps, int) or dps < 1):
        raise InvalidInput(f"dps={dps!r} was given, a positive number of decimal digits is expected")
    batch = Batch.of(name, samples, axis, dps is not None, choice.filter_ndim,
                     centred=lambda grid: centred and (choice.feels_no_shift or (
                         dps is None and choice.feel_no_offset(grid)) or choice.takes_offset(level)),
                     interval=None if name == "denormalize" else choice.interval, waves=choice.has_waves,
                     differences=lambda grid: choice.feel_differences(grid) or level > 1)
    if choice.is_of_sets and name == "transform":
        batch.double()
    count = choice.n_coordinates
    if count and batch.rows.shape[-1] != count:
        raise InvalidInput(f"the features are functions of {count} coordinates, the samples have "
                           f"{batch.rows.shape[-1]} numbers")
    return batch


def _without_merged(rows: Array, found: Answers, dps: int | None, is_of_sets: bool, given: Array) -> Answers:
    """Refuse samples whose entries differ and come to one number, as `stats.match` does, but for what is rounding."""
    with at_digits(dps) if dps else nullcontext(), np.errstate(invalid="ignore", over="ignore"):
        values = +found.values if dps else found.values
        low, high = values.min(axis=1), values.max(axis=1)
        is_one = low == high
        for r in np.flatnonzero((high - low <= np.maximum(-low, high) / WAVES) & ~is_one) if is_of_sets else ():
            is_one[r] = is_turned(rows[r], values[r])
    merged = [r for r in np.flatnonzero(is_one).tolist() if given[r].min() < given[r].max()]
    if not merged:
        return found
    why = Outcome(False, "out of range", "all entries of the sample come to one number of " + (
        f"{dps} digits; use more of them" if dps else "float64; take another unit, or use dps="))
    return replace(found, refusals={**dict.fromkeys(merged, why), **found.refusals})


def is_turned(row: Array, moved: Array) -> bool:
    """Tell whether numbers of a set, (N,), went back in their order, which no motion does, by what rounding made of
    them: more than a third of their digits, or most of what they vary by."""
    ordered = moved[np.argsort(row, kind="stable")]
    back, size = (np.maximum.accumulate(ordered) - ordered).max(), np.abs(ordered).max()
    return bool(back > min(size / WAVES, _TURNED * (ordered.max() - ordered.min())))


def _offset(row: Array) -> Any:
    """The mean of a sample over its standard deviation, at least 1: what the last digit of its entries is worth."""
    deviation = row.size and spread(row.ravel())
    return max(1, abs(mpmath.fsum(row.flat) / row.size / deviation)) if deviation else 1


def _hidden_digits(rows: Array, choice: Choice) -> int:
    """Digits that an offset takes from what rows have beside it, of largest / spread, where that is the most; and those
    before the point, which waves and exponentials feel, and which levels of exponentials are apart."""
    most = 0
    for values in filter(None, map(fractions_of, rows)):
        largest, spread = _bits(max(map(abs, values))), _bits(max(values) - min(values))
        unit = spread if choice.feels_no_shift else largest
        whole = max(0, unit)
        is_felt = choice.is_growing and 0 < whole < _MOST_BITS.bit_length()  # more than they are is of no use to others
        apart = min(5 << whole, _MOST_BITS) if is_felt else 0  # a third may go: 3 / log(2)
        lifted = abs(unit) if choice.energies else 0  # so far from 1, power that an energy hardly sees is far from it
        most = max(most, max(0, largest - spread) + choice.reach * whole + apart + lifted)
    return int(most * 0.302) + 1 if most else 0  # log10(2)


def _crowded_digits(row: Array) -> int:
    """Digits that the entries of a row need to stay apart on their way to a level.

    A skewness may pull the closest ones apart by the square of range / gap, and a third of the digits may go with that;
    so it may with those of a small unit, where a flow goes to infinity.
    """
    values = sorted(set(fractions_of(row) or ()))
    if len(values) < 2:
        return 0
    gap = min(b - a for a, b in itertools.pairwise(values))
    spread = _bits(values[-1] - values[0])
    return int(0.302 * (6 * (spread - _bits(gap) + 1) + 3 * max(0, -spread))) + 1


def _bits(value: Any) -> int:
    return int(value.numerator.bit_length() - value.denominator.bit_length()) if value else 0
