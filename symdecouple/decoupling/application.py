"""Decoupled features and their gradients, of the rows of a batch.

Each function returns an answer a row, how exactly it is known, and the rows that were refused; those are NaN from the
level on that they lack.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

import mpmath
import numpy as np
from sympy import Expr, Function, Pow
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from symdecouple.decoupling.motions.motion import is_finite
from symdecouple.decoupling.offsets import about_middles, feels_no_offset, middles
from symdecouple.decoupling.routes.route import Answers, AtLevel, Levels, rows_left
from symdecouple.errors import Outcome
from symdecouple.families.moments import recognize_moments
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.black_box import Oracle
from symdecouple.numeric.features.coordinates import compiled_feature
from symdecouple.numeric.features.expressions import Array, Compiled, as_multiprecision
from symdecouple.numeric.moments.power_sums import ZERO_VARIANCE
from symdecouple.numeric.samples.matrix import row_scales, taken
from symdecouple.numeric.samples.vectors import ROUNDED, WAVES

__all__ = ["Application"]

_OF_RANGE = ("not finite", "critical point", "level 1 not attainable", "pole")
_TINY = float(np.finfo(np.float64).tiny)  # below, digits are missing
_FAR = 60  # powers of two: of larger units, and the inverse, powers on the way may leave float64 from the 17th on
_DIGITS = 30  # that decide then
_NO_GRADIENT = "critical point", "it, or a feature before it, has no gradient to go along at this sample"
_TOO_FAR = "is beyond float64; change the unit, or use dps="
_OF_EQUAL_VALUES = ("critical point", "too few active frequencies", "no convergence", "not attainable", "not unique")

OnRows: TypeAlias = Callable[[Array], list[Array]]


class Application:
    """A feature set applied to sample vectors at their levels."""

    def __init__(self, features: FeatureSet) -> None:
        self.features, self.size = features, len(features)
        self._has_filters = features.filter_ndim is not None
        self.spans = [(group[0], group[-1] + 1) for group in features.groups]
        self.is_single = len(self.spans) == self.size  # every feature is a level of its own
        self._moments = len(recognize_moments(features, 1) or ())
        self._oracles = {j: Oracle(f.black_box) for j, f in enumerate(features) if f.black_box is not None}
        symbolic = {j: f for j, f in enumerate(features) if j not in self._oracles}
        self.is_bounded = 0 in symbolic and _has_domain(symbolic[0].expr)
        self.waves = {j for j, f in symbolic.items() if f.expr.has(TrigonometricFunction)}
        compiled = {j: compiled_feature(f) for j, f in symbolic.items()}
        self._values = {j: values for j, (values, _) in compiled.items()}
        self._gradients = {j: gradient for j, (_, gradient) in compiled.items()}
        self._shape: tuple[int, ...] = ()  # of the grid, where there are filters

    def on(self, grid: tuple[int, ...]) -> Application:
        """Return the same for samples on a grid, as filters need it."""
        if not self._has_filters:
            return self
        other = copy.copy(self)
        other._shape = grid
        other._values, other._gradients = ({j: f.on(grid) if isinstance(f, Compiled) else f for j, f in each.items()}
                                           for each in (self._values, self._gradients))
        return other

    def values(self, x: Array) -> Array:
        """Return the features of one sample vector, (M,)."""
        return np.asarray(self.own(x[None], self.size)[0])

    def own(self, rows: Array, count: int, is_rounded: bool = False) -> Array:
        """Return the first features of rows as they are, (R, count), NaN where there is none, or float64 cannot hold
        it; or what it is rounded to, 0 where it is too small."""
        out = np.empty((len(rows), count), dtype=np.result_type(rows, np.float64))
        for j in range(count):
            if is_rounded and rows.dtype != object and j not in self._oracles:
                out[:, j] = _asked(*self._near(self._values, j, rows))[:, 0]
            else:
                out[:, j], _ = self._value(j, rows, False)
        if out.dtype == object:
            out[~_finite(out)] = mpmath.nan
        return out

    def covectors(self, x: Array, which: Sequence[int]) -> Array:
        """Return the gradients of some features with expressions at one sample vector, (len(which), N)."""
        return np.concatenate([np.broadcast_to(_evaluated(*self._near(self._gradients, j, x[None])), (1, len(x)))
                               for j in which])

    def decoupled(self, levels: Levels, rows: Array, references: Sequence[Any], is_fine: bool = False) -> Answers:
        """Return the decoupled features, (R, M); one beyond float64 is NaN and leaves the others.

        `is_fine` takes the small steps of samples that are asked for themselves, as in `Route.advance`.
        """
        first = levels.route.values(rows, references, is_fine) if self.is_single and not levels.interval else None
        found, spans = self._begun(first, rows)
        out, wrong = found.values, dict[int, Outcome]()
        for j in range(spans[0][0] if spans else self.size):
            out[~np.isfinite(out[:, j]), j] = np.nan
            _tell(wrong, self._beyond(set(np.flatnonzero(np.isnan(out[:, j]))) - found.refusals.keys(), j))
        reached = levels.at(rows, [start for start, _ in spans], references, is_fine=is_fine) if spans else ()
        for at, (start, end) in zip(reached, spans, strict=True):
            fine = _seen(found, at)
            for j in range(start, end):
                out[fine, j], bad = self._value(j, taken(at.values, fine), start > 0)
                out[fine[list(bad)], j] = np.nan
                _tell(wrong, {int(fine[r]): outcome for r, outcome in bad.items()})
        found.refusals.update(wrong)
        return found

    def gradients(self, levels: Levels, rows: Array, references: Sequence[Any]) -> Answers:
        """Return the gradients of the decoupled features, (R, M, N)."""
        first = levels.route.gradients(rows, references) if self.is_single and not levels.interval else None
        found, spans = self._begun(first, rows, rows.shape[1])
        reached = list(levels.at(rows, [start for start, _ in spans], references, keep=True)) if spans else []
        out, refusals, wrong = found.values, found.refusals, dict[int, dict[int, Outcome]]()
        for at, (start, end) in zip(reached, spans, strict=True):
            fine = rows_left(len(rows), at.refusals)
            for j in range(start, end):
                out[fine, j], bad = self._covectors(j, taken(at.values, fine), start > 0)
                wrong[j] = {int(fine[r]): outcome for r, outcome in bad.items()}
        with np.errstate(all="ignore"):
            lost = _carry(reached, spans, out)
        leading = spans[0][0] if spans else self.size
        ways: list[AtLevel | None] = [None, *reached]
        for level, (start, end) in zip(ways, [(0, leading), *spans], strict=True):
            why, way = ("out of range", f"its gradient {_TOO_FAR}") if level is None else _NO_GRADIENT, level
            if level is not None:
                _seen(found, level)
            while way is not None:  # what stopped on the way back first comes first
                _tell(refusals, way.refusals)
                way = way.before
            for j in range(start, end):
                if j >= leading:
                    out[[*refusals, *wrong[j]], j] = np.nan
                none = np.flatnonzero(~_finite(out[:, j]).all(axis=1))
                out[none, j] = np.nan
                _tell(refusals, {**self._wrong(none, j, *why), **wrong.get(j, {})})
        if found.known is not None:
            found.known[1] += lost
        return found

    def _begun(self, first: Answers | None, rows: Array, *more: int) -> tuple[Answers, list[tuple[int, int]]]:
        """Return room for what features have, (R, M, *more), with leading ones in it; and the spans of all others."""
        count = 0 if first is None else first.values.shape[1]
        spans = [span for span in self.spans if span[0] >= count]
        known = np.zeros((2, len(rows)), dtype=object) if rows.dtype == object else None
        if first is not None and not spans:
            return Answers(first.values, dict(first.refusals), known), spans
        out = np.full((len(rows), self.size, *more), np.nan, dtype=np.result_type(rows, np.float64))
        if first is not None:
            out[:, :count] = first.values
        return Answers(out, {} if first is None else dict(first.refusals), known), spans

    def undefined(self, own: Array) -> dict[int, Outcome]:
        """Refuse rows of which a feature, of those (R, k) as they are, has no value."""
        found: dict[int, Outcome] = {}
        for j in range(own.shape[1]):
            _tell(found, self._beyond(np.flatnonzero(~_finite(own[:, j])), j, own.dtype == object))
        return found

    def judged(self, rows: Array, found: Answers, is_feature: bool) -> dict[int, Outcome]:
        """Return why samples are refused, by the cause where ways of different kinds see different symptoms."""
        return {r: self._judged(rows[r], why, found.values[r] if is_feature else None)
                for r, why in found.refusals.items()}

    def _judged(self, row: Array, outcome: Outcome, own: Array | None) -> Outcome:
        is_later = outcome.reason.startswith("level ") and not outcome.reason.startswith("level 1 ")
        is_equal = not self.features.coordinates and bool((row == row[0]).all())
        if is_equal and (outcome.reason in _OF_EQUAL_VALUES or is_later):
            return replace(ZERO_VARIANCE, detail=f"all values are equal; {outcome.detail}")
        if row.dtype != object and outcome.reason in _OF_RANGE:
            asked = [(j, "value", f) for j, f in self._values.items() if own is None or own[j] != own[j]]
            asked += [(j, "gradient", f) for j, f in self._gradients.items() if j == 0]  # others are moved before
            for j, what, function in asked:
                if _runs_out(function, row):
                    return Outcome(False, "out of range", f"{self.features[j].name}: its {what} {_TOO_FAR}")
        return outcome

    def _value(self, j: int, rows: Array, is_moved: bool) -> tuple[Array, dict[int, Outcome]]:
        """Return feature j of rows, (R,), and what is wrong with it; rows that were moved to a level are rounded."""
        if j in self._oracles:
            values = self._oracles[j].values(rows)
            return values, self._oracles[j].refusals(rows, values)
        values = _evaluated(*self._near(self._values, j, rows))[:, 0]
        bad = self._beyond(np.flatnonzero(~_finite(values)), j, values.dtype == object)
        if is_moved and j in self.waves and rows.dtype != object:
            lost = np.flatnonzero(np.maximum(-rows.min(axis=1), rows.max(axis=1)) > WAVES)
            bad |= self._wrong(lost, j, ROUNDED.reason, ROUNDED.detail)
        return values, bad

    def _covectors(self, j: int, rows: Array, is_moved: bool) -> tuple[Array, dict[int, Outcome]]:
        """Return the gradient of feature j at rows, (R, N), and what is wrong with it."""
        if j in self._oracles:
            oracle = self._oracles[j]
            wrong = oracle.gradient_refusals(rows) | oracle.refusals(rows, oracle.values(rows))
            return oracle.gradients(rows)[0], wrong
        function, near = self._near(self._gradients, j, rows)
        found = np.broadcast_to(_evaluated(function, near), rows.shape) / rows.shape[1]
        beyond = [r for r in np.flatnonzero(~_finite(found).all(axis=1)) if rows.dtype != object and _runs_out(
            function, near[r])]
        # outside the domain of a feature a formula of its gradient may give numbers still
        value_of, beside = self._near(self._values, j, rows)
        outside = {r: why for r, why in self._value(j, rows, is_moved)[1].items()
                   if rows.dtype == object or not _runs_out(value_of, beside[r])}
        wrong = self._wrong(beyond, j, "out of range", f"its gradient {_TOO_FAR}")
        return found, wrong | outside | self._too_far_off(j, rows)

    def _too_far_off(self, j: int, rows: Array) -> dict[int, Outcome]:
        """Refuse features of rows so far from 0 that what is left of a gradient lost two thirds of its digits."""
        if rows.dtype == object or j == 0 or feels_no_offset(self.features[j], self._shape or rows.shape[1:]):
            return {}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            lost = (np.abs(rows.mean(axis=1)) / row_scales(rows)) ** (j if j < self._moments else 1) > WAVES
        return self._wrong(np.flatnonzero(lost), j, ROUNDED.reason, "its gradient is lost in rounding, as the mean "
                           'that samples are brought to is far above the deviation; use dps=, or path="auto"')

    def _near(self, functions: dict[int, Any], j: int, rows: Array) -> tuple[OnRows, Array]:
        """Return the value, or the gradient, of feature j, and rows: those far from 0 are about 0 where it feels no
        offset, and where powers of this cancel it takes them by distances from their middles."""
        function, middle, feature = functions[j], middles(rows), self.features[j]
        if not middle.any() or feature.coordinates:
            return function, rows
        if feels_no_offset(feature, self._shape or rows.shape[1:]):
            return function, rows - middle
        expr = feature.expr if functions is self._values else feature.gradient.expr
        return about_middles(expr, feature.sample) or function, rows

    def _beyond(self, rows: Iterable[Any], j: int, is_precise: bool = False) -> dict[int, Outcome]:
        help_ = "samples in its domain" if is_precise else "dps= for values beyond float64"
        return self._wrong(rows, j, "not finite", f"its value is not a finite number; use {help_}, or other features")

    def _wrong(self, rows: Iterable[Any], j: int, reason: str, detail: str) -> dict[int, Outcome]:
        return {int(r): Outcome(False, reason, f"{self.features[j].name}: {detail}") for r in rows}


def _has_domain(expr: Expr) -> bool:
    """Tell whether samples may be outside the domain of a feature: logarithms, roots and the like, of its means too."""
    means = expr.atoms(Mean)
    roots = {p.base for p in expr.atoms(Pow) if not p.exp.is_Integer}
    if any(f.has(Mean) for f in expr.atoms(Function)) or any(not mean.is_nonnegative for mean in roots & means):
        return True
    parts = [(mean.args[0], {mean.args[1]}) for mean in means] or [(expr, expr.free_symbols)]
    return any(part.free_symbols & samples and not (isinstance(part, Pow) and part.exp.is_Integer and part.exp > 0)
               for body, samples in parts for part in body.atoms(Function, Pow))


def _carry(levels: Sequence[AtLevel], spans: Sequence[tuple[int, int]], out: Array) -> Array:
    """Carry gradients at their levels, (R, M, N), back to the samples, in place; what shares a path goes together.

    The answer is the sum of the errors of all ways back, (R,).
    """
    lost, last = np.zeros(len(out), dtype=out.dtype), 0  # the feature after those on the way
    for n, (start, end) in reversed(list(enumerate(spans))):
        at: AtLevel | None
        at, before, last = levels[n], levels[n - 1] if n else None, last or end
        on_the_way = np.ascontiguousarray(out[:, start:last].swapaxes(0, 1))
        while at is not None and at is not before and at.back is not None:
            on_the_way, more = at.back(on_the_way)
            at, lost = at.before, lost + more
        out[:, start:last] = on_the_way.swapaxes(0, 1)
        last = 0 if at is None else last  # at the samples themselves
    return lost


def _evaluated(compiled: OnRows, rows: Array) -> Array:
    """Evaluate at rows; in more digits where numbers on the way are beyond float64, or one divides by what it takes for
    zero and has a number after it, as 1/Mean(1/x). NaN for what is 0 or nearly so because it is too small."""
    undivided = _asked(compiled, rows, divide="raise")
    found: Array = _asked(compiled, rows) if undivided is None else undivided
    if rows.dtype == object:
        return found
    largest = np.maximum(np.maximum(-rows.min(axis=1), rows.max(axis=1)), _TINY)
    some = (np.abs(np.log2(largest)) > _FAR) | (np.abs(found) < _TINY).all(axis=1)
    if undivided is None:
        fine = np.isfinite(found).all(axis=1)
        some |= fine & (_asked(compiled, rows[fine], divide="raise") is None)
    exact = {r: values for r in np.flatnonzero(some) if (values := _in_digits(compiled, rows[r])) is not None}
    found = found.copy() if exact else found
    for r, values in exact.items():
        floats = np.array([float(v) if is_finite(v) else np.nan for v in values])
        is_lost = np.isnan(floats).any() or ((np.abs(floats) < _TINY).all() and any(values))
        found[r] = np.nan if is_lost else floats
    return found


def _asked(compiled: OnRows, rows: Array, **raised: Any) -> Any:
    """Values, or gradients, of rows; None where numbers on the way leave float64 in a way that is to be raised."""
    with suppress(FloatingPointError), np.errstate(**{"all": "ignore", **raised}):
        return compiled(rows)[0]


def _in_digits(compiled: OnRows, row: Array) -> Any:
    """A value, or a gradient, of a sample where numbers on the way are beyond float64, in more digits; None elsewhere.
    """
    if _asked(compiled, row[None], over="raise", under="raise", divide="raise") is not None:
        return None
    with at_digits(_DIGITS):
        return _asked(compiled, as_multiprecision(row[None]))[0]


def _runs_out(compiled: OnRows, row: Array) -> bool:
    """True where a value, or a gradient, is what over- or underflow on the way leave of it, on all of the domain."""
    found = _asked(compiled, row[None])
    if np.isfinite(found).all() and (np.abs(found) >= _TINY).any():
        return False
    precise = _in_digits(compiled, row)
    return precise is not None and bool(_finite(precise).all())


def _seen(found: Answers, at: Answers) -> Array:
    """Take a level in: what it refuses, and the worst that is known of all others; return these."""
    _tell(found.refusals, at.refusals)
    which = rows_left(len(at.values), found.refusals)
    if found.known is not None and at.known is not None:
        found.known[:, which] = np.maximum(found.known[:, which], at.known[:, which])
    return which


def _tell(refusals: dict[int, Outcome], more: dict[int, Outcome]) -> None:
    """Refuse more rows; what was told first of one stays."""
    refusals.update((r, outcome) for r, outcome in more.items() if r not in refusals)


def _finite(values: Array) -> Array:
    test = np.isfinite if values.dtype != object else np.frompyfunc(is_finite, 1, 1)
    with np.errstate(invalid="ignore"):  # NumPy tells of a NaN in an object array
        return np.asarray(test(values), dtype=np.bool_)
