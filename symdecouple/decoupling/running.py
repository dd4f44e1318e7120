"""The rows of a batch through a plan, in portions: answers, refusals, residuals, errors, in numbers of either kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, wraps
from typing import Any, Concatenate, TypeAlias, cast, get_args

import mpmath
import numpy as np

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.checkpoint import Checkpoint
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.labels import with_labels
from symdecouple.decoupling.masked import with_missing_masked, without_masked
from symdecouple.decoupling.offsets import middles
from symdecouple.decoupling.precise import Precise
from symdecouple.decoupling.progress import Paced, Progress, told
from symdecouple.decoupling.routes.levels import Levels
from symdecouple.decoupling.routes.route import Answers
from symdecouple.decoupling.weighed import with_weights
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.families.moments import MomentCoordinates
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.moments.out_of_reach import fallen_together
from symdecouple.numeric.moments.ties import unreachable_rows
from symdecouple.numeric.perturbing import Perturbation, RefusedRow, SecondTry
from symdecouple.numeric.samples.batch import SINGLE, NanPolicy, OnRefusal
from symdecouple.numeric.samples.intake import check_choice, fractions_of, is_elsewhere, library_of, plan_elsewhere
from symdecouple.numeric.samples.kinds import GivesRows, P
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import Batch, SampleAxis, widened

__all__ = ["GUARD", "Compute", "Running", "batch_of", "beside_offsets", "leaves_out_masked", "with_exact_means"]

GUARD = 15
_CHUNK = 2**18  # numbers that move together
_OF_DIGITS = "beyond ", "level ", "limit only", "no convergence", "critical point"  # or of what is asked for
_MOST_DIGITS = 800  # a root takes 2 seconds then, and twice the digits eight times as long
_OUT_OF_RANGE = Outcome(False, "out of range", "feature 1 is beyond float64, all others are there; use dps=")
_MERGED = Outcome(False, "out of range", "all entries of the sample come to one number of float64; take another unit, "
                  "or use dps=")

Compute: TypeAlias = Callable[[Levels, Array, Sequence[Any], Array], Answers]


@dataclass(frozen=True, slots=True)
class Running:
    """One call of a plan: its references are floats, with `dps` expressions; rows that are done may have a file.

    With `moments`, samples are brought to their third level.
    """

    levels: Levels
    reference: Sequence[Any]
    application: Application
    dps: int | None
    perturbation: Perturbation | None
    checkpoint: Checkpoint | None = None
    moments: MomentCoordinates | None = None

    def __call__(self, batch: Batch, shape: tuple[int, ...] | None, on_refusal: OnRefusal, compute: Compute,
                 progress: Progress | None) -> Any:
        """Apply `compute` to the rows; what it refuses is NaN, and reported once."""
        residual, error = np.full((2, len(batch.rows)), np.nan, dtype=batch.numbers)
        is_feature = shape is not None and len(shape) == 1
        with nullcontext() if self.dps is None else at_digits(self.dps + GUARD + _hidden_digits(batch.rows)):
            given = self._targets()
            done = set() if self.checkpoint is None else self.checkpoint.restore(batch)
            asked = list(batch.open_rows())
            to_do = np.array([i for i in asked if i not in done], dtype=np.intp)
            cost, n_samples = 1 if self.dps is None else _CHUNK, batch.rows.shape[-1]

            def take(index: Array, among: int) -> None:
                with as_part_of(among * n_samples):
                    residual[index], error[index] = self._portion(batch, index, given, compute, is_feature)
                done.update(map(int, index))

            portions = _portions(to_do, cost, n_samples)
            if progress is None and self.checkpoint is None:
                for whole in portions:
                    take(whole, len(whole))
            else:
                self._told(progress, batch, portions, len(asked), done, take)
            result = batch.result(shape)
        if self.dps:
            with at_digits(self.dps), np.errstate(invalid="ignore"):  # NumPy tells of a NaN in an object array
                rounded = np.frompyfunc(lambda v: +v, 1, 1)(result)
                known = (each.reshape(batch.shape)[()] for each in (residual, error + mpmath.eps))
                result = Precise.of(rounded, self.dps, *known)
        return batch.deliver(result, on_refusal)

    def _told(self, progress: Progress | None, batch: Batch, portions: Iterator[Array], total: int, done: set[int],
              take: Callable[[Array, int], None]) -> None:
        """Take portions cut by the clock; tell, and keep, how many rows are done."""
        with told(progress, batch.name) as tell:
            paced = Paced(tell, total, self.checkpoint is not None)
            for whole in portions:
                for index in paced.cut(whole):
                    take(index, len(whole))
                    is_end = bool(index[-1] == whole[-1])
                    if self.checkpoint is not None and (is_end or paced.is_due()):
                        self.checkpoint.keep(batch, done)
                    paced.tell(len(done), is_end)

    def _portion(self, batch: Batch, index: Array, targets: Sequence[Any], compute: Compute, is_feature: bool
                 ) -> tuple[Array, Array]:
        """Answer some rows, and return their residuals and errors; nothing else of what was computed is left."""
        rows = taken(batch.rows, index)
        found = compute(self.levels, self._numbers(rows), targets, index)
        counted = self._counted(batch, index, targets)
        if self.dps and not counted and any(o.reason.startswith(_OF_DIGITS) for o in found.refusals.values()):
            digits = max(map(_crowded_digits, rows)) + self.dps  # of the only row
            is_quick = self.levels.has_roots and self.levels.is_closed(self.application.size - 1)
            if mpmath.mp.dps < digits <= _MOST_DIGITS and is_quick:
                with at_digits(digits):
                    found = compute(self.levels, self._numbers(rows), self._targets(), index)
        for r, outcome in counted.items():
            found.values[r][0 if batch.name == "normalize" else 3:] = mpmath.nan if self.dps else np.nan
            found.refusals[r] = outcome
        kept = np.full((2, len(index)), np.nan, dtype=batch.numbers)
        kept[0], kept[1] = found.residual, found.error
        batch.put_all(index, found.values)
        again = dict[int, RefusedRow]()
        for r, symptom in found.refusals.items():
            own, row = found.values[r] if is_feature else None, batch.rows[index[r]]
            outcome = self.application.judged(row, symptom, own) if not batch.is_doubled else SINGLE
            if batch.given is not None and r not in counted:
                outcome = fallen_together(batch.given[index[r]], row, outcome)
            if self.perturbation is None or batch.is_doubled:
                batch.refusals[int(index[r])] = outcome
            else:
                again[r] = RefusedRow(row.astype(np.float32) if batch.single else row, outcome, own)
        if again and self.perturbation is not None:
            self._once_more(batch, index, again, partial(compute, self.levels), targets, kept)
        return kept[0], kept[1]

    def _counted(self, batch: Batch, index: Array, targets: Sequence[Any]) -> dict[int, Outcome]:
        """Why rows of exact numbers have no third level of moments: by their ties before they were rounded."""
        exact = batch.rows if self.dps else batch.given
        if self.moments is None or exact is None:
            return {}
        target = self.moments.coordinates(targets[:3])[2]
        which = [r for r, i in enumerate(index.tolist()) if _is_real(target) and (self.dps or i in batch.means)]
        return {which[r]: why for r, why in unreachable_rows(exact[index[which]], target).items()} if which else {}

    def _once_more(self, batch: Batch, index: Array, again: dict[int, RefusedRow], compute: Callable[..., Answers],
                   targets: Sequence[Any], kept: Array) -> None:
        """Try refused rows perturbed, and note what became of them; features that one has itself stay."""
        assert self.perturbation is not None
        second = SecondTry.of(self.perturbation, list(again.values()), batch.grid, batch.whole)
        places = np.array(list(again), dtype=np.intp)
        known = np.full((2, len(second.rows)), np.nan, dtype=kept.dtype)

        def ask(rows: Array, which: Array) -> tuple[Array, dict[int, Outcome]]:
            found = compute(self._numbers(rows), targets, index[places[second.owner[which]]])
            known[0, which], known[1, which] = found.residual, found.error
            are_features = second.refused[0].own is not None
            return found.values, {r: self.application.judged(rows[r], why, found.values[r] if are_features else None)
                                  for r, why in found.refusals.items()}

        for r, tried in zip(again, second.tried(ask), strict=True):
            (batch.notes if tried.outcome.ok else batch.refusals)[int(index[r])] = tried.outcome
            if tried.values is None:
                continue
            batch.put(int(index[r]), tried.values)
            kept[:, r] = known[:, tried.place]

    def _targets(self) -> Sequence[Any]:
        """The references, at the working precision."""
        if not self.dps:
            return self.reference
        return [None if v is None else mpmath.mpmathify(v.evalf(mpmath.mp.dps)) for v in self.reference]

    def _numbers(self, rows: Array) -> Array:
        return as_multiprecision(rows) if self.dps else rows


def leaves_out_masked(method: Callable[Concatenate[Any, Any, P], Any]) -> GivesRows[P]:
    """Let a method of a plan answer samples whose entries count differently: masked, missing, or with weights.

    Masked entries are left out (`without_masked`), NaN by ``nan_policy="omit"`` in the same way, and `weights` say how
    often each one counts (`with_weights`); those that have labels, or groups, get theirs back (`with_labels`). The
    method itself knows none of them. What `on_refusal` is not, is refused.
    """

    @wraps(method)
    def answer(self: Any, samples: Any, *arguments: Any, nan_policy: NanPolicy = "propagate", weights: Any = None,
               **options: Any) -> Any:
        if is_elsewhere(samples, options.get("dim")):
            return plan_elsewhere(method, self, samples, arguments,
                                  {**options, "nan_policy": nan_policy, "weights": weights})
        check_choice("on_refusal", options.get("on_refusal", "warn"), get_args(OnRefusal))
        check_choice("nan_policy", nan_policy, get_args(NanPolicy))
        if library_of(samples) or options.get("groups") is not None:
            counted = {} if nan_policy == "propagate" else {"nan_policy": nan_policy}
            return with_labels(method, self, samples, *arguments, **options, **counted, weights=weights)
        if weights is not None:
            return with_weights(method, self, samples, weights, nan_policy, *arguments, **options)
        if nan_policy != "propagate":
            found = with_missing_masked(method.__name__, samples, nan_policy, options.get("axis", "last"),
                                        self.choice.filter_ndim or 1)
            if found is not samples:
                is_plain = not isinstance(samples, np.ma.MaskedArray)
                return without_masked(method, self, found, *arguments, is_filled=is_plain, **options)
        if np.ma.is_masked(samples):
            return without_masked(method, self, samples, *arguments, **options)
        return method(self, samples, *arguments, **options)

    return cast("GivesRows[P]", answer)


def batch_of(choice: Choice, name: str, samples: Any, axis: SampleAxis, dps: int | None, centred: bool = True) -> Batch:
    """Return samples as the rows of a batch, as the features of a plan need them."""
    if dps is not None and (isinstance(dps, bool) or not isinstance(dps, int) or dps < 1):
        raise InvalidInput(f"dps={dps!r} was given, a positive number of decimal digits is expected")
    batch = Batch.of(name, samples, axis, dps is not None, choice.filter_ndim,
                     centred=lambda grid: centred and (choice.feels_no_shift or (
                         dps is None and choice.feel_no_offset(grid))),
                     interval=None if name == "denormalize" else choice.interval, waves=choice.has_waves)
    if choice.is_of_sets and name == "transform":
        batch.double()
    count = choice.n_coordinates
    if count and batch.rows.shape[-1] != count:
        raise InvalidInput(f"the features are functions of {count} coordinates, the samples have "
                           f"{batch.rows.shape[-1]} numbers")
    return batch


def with_exact_means(compute: Compute, batch: Batch, leading: MomentCoordinates | None, slope: bool = False) -> Compute:
    """Let the first column, the only one that feels a shift, come of the exact means of rows that were centred."""
    if leading is None or not batch.means:
        return compute

    def computed(levels: Levels, rows: Array, refs: Sequence[Any], index: Array) -> Answers:
        found = compute(levels, rows, refs, index)
        for r, i in enumerate(map(int, index)):
            if i in batch.means:
                is_precise = rows.dtype == object
                each = leading.first_at(batch.means[i], mpmath.mp.dps if is_precise else 2 * GUARD)
                value, derivative = map(mpmath.mpmathify if is_precise else float, each)
                found.values[r, 0] = derivative / rows.shape[1] if slope else value
                if not slope and not mpmath.isfinite(value):
                    found.values[r, 0] = np.nan
                    found.refusals.setdefault(r, _OUT_OF_RANGE)
        return found

    return computed


def beside_offsets(compute: Compute, choice: Choice, batch: Batch, are_samples: bool) -> Compute:
    """Compute for rows about 0 where features feel no offset; samples get theirs back, and are refused where entries
    that differ come to one number, as by `stats.match`."""
    feels_none = not choice.feels_no_shift and choice.feel_no_offset(batch.grid)
    if not (feels_none or are_samples):
        return compute

    def computed(levels: Levels, rows: Array, refs: Sequence[Any], index: Array) -> Answers:
        rows = widened(rows)
        middle = middles(rows) if feels_none else np.zeros(1)
        found = compute(levels, rows - middle if middle.any() else rows, refs, index)
        if not are_samples:
            return found
        if feels_none:
            for r, mean in ((r, batch.means[i]) for r, i in enumerate(map(int, index)) if i in batch.means):
                middle[r] += float(mean - sum(map(Fraction, rows[r].tolist())) / rows.shape[1])  # taken off before
            found = replace(found, values=found.values + middle) if middle.any() else found
        if rows.dtype == object:
            return found
        merged = np.flatnonzero(found.values.min(axis=1) == found.values.max(axis=1))
        merged = merged[rows[merged].min(axis=1) < rows[merged].max(axis=1)]
        if not merged.size:
            return found
        found.values[merged] = np.nan
        return replace(found, refusals={**dict.fromkeys(merged.tolist(), _MERGED), **found.refusals})

    return computed


def _hidden_digits(rows: Array) -> int:
    """Digits that an offset takes from what rows have beside it: of largest / spread, where that is the most."""
    most = 0
    for row in rows:
        if values := fractions_of(row):
            most = max(most, _bits(max(map(abs, values))) - _bits(max(values) - min(values)))
    return int(most * 0.302) + 1 if most else 0  # log10(2)


def _crowded_digits(row: Array) -> int:
    """Digits that the entries of a row need to stay apart on their way to a level.

    A skewness may pull the closest ones apart by the square of range / gap, and a third of the digits may go with that.
    """
    values = sorted(set(fractions_of(row) or ()))
    if len(values) < 2:
        return 0
    gap = min(b - a for a, b in itertools.pairwise(values))
    return int(6 * 0.302 * (_bits(values[-1] - values[0]) - _bits(gap) + 1)) + 1


def _is_real(value: Any) -> bool:
    return bool(mpmath.isfinite(value) and mpmath.im(value) == 0)


def _bits(value: Any) -> int:
    return int(value.numerator.bit_length() - value.denominator.bit_length()) if value else 0


def _portions(rows: Array, cost: int, n_samples: int) -> Iterator[Array]:
    """Rows that move together; in high precision (at a higher cost each) one by one."""
    step = max(1, _CHUNK // max(1, n_samples * cost))
    return (rows[i : i + step] for i in range(0, len(rows), step))
