r"""The narrow path: one feature brought to its target while those before it stay, for any features, in batches.

With v_j = N grad f_j, <u, v> = Mean(u v) and g_k the part of v_k orthogonal to v_1, ..., v_{k-1}, level k follows

.. math:: \frac{dy}{ds} = (v - f_k(y_0)) \, \frac{g_k}{\langle g_k, v_k \rangle}, \qquad s \in [0, 1]

from y_0. Along it f_1, ..., f_{k-1} stay where they are and f_k is linear in s, so that s = 1 is the target v. A
Gauss-Newton correction, of least norm, puts all k features back to these values after every step (Algorithm 3).

What is moved is anything that satisfies `Features`: values and gradients in arrays; second derivatives where gradients
of the normalization are wanted (`paths.narrow_path_adjoint`). Rows never meet: each has its own steps, end and reason.

Far targets are reached in legs, between which tolerances are set anew to the spread of the sample.
Refusals: "not finite" (a feature at the start), "critical point" (no projected gradient there), "not attainable" (the
path ends before the target, the value reached is told), "no convergence".
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.coordinates import compiled_features
from symdecouple.numeric.features.features import Features
from symdecouple.numeric.kernels.parallel import each
from symdecouple.numeric.paths.integrate import End, Step, integrate
from symdecouple.numeric.paths.projection import Frame, direction_at, move_at
from symdecouple.numeric.paths.runge_kutta import STEP_LENGTH, Start, starts
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import row_scales

__all__ = ["Frame", "Imposed", "Level", "NarrowPath", "Part"]

EPS = float(np.finfo(np.float64).eps)
Corrections: TypeAlias = list[tuple[IntArray, FloatArray]]  # places, and the values before

_CHUNK = 2**14  # numbers that move together, as in runge_kutta
_TOGETHER = 2**16  # numbers of gradients that do: rows with many of them have nothing to share
_EVEN = float(np.log(8))  # of log f: on a longer way nearly all steps would be spent where f is small
_LEG = float(np.log(64))  # the longest leg; the whole range of float64 has some 350
_MOST_CORRECTIONS = 10  # each doubles the digits; the last ones find that nothing improves
_ROUNDINGS = 64.0  # of the largest entry of a row: no smaller error of a step is asked for
_ROUNDING = EPS / 8  # of a value and its change by a standard deviation: nearer to it no correction is tried


@dataclass(frozen=True, slots=True)
class Level:
    """Level k of some rows: where they began, with which features (k - 1 of them as held), and where f_k goes.

    It goes evenly in s, or in `log(f_k)` where it keeps its sign and grows or shrinks by no more than a factor 8.
    """

    features: Features
    k: int
    held: FloatArray | None
    start: FloatArray
    begin: FloatArray
    targets: FloatArray
    is_log: bool = False

    @classmethod
    def of(cls, features: Features, k: int, held: FloatArray | None, start: FloatArray, targets: FloatArray,
           is_log: bool = False) -> Level:
        """Return the level of rows that begin at `start`."""
        begin = features.values(start)[:, :k]
        if held is not None:
            begin = np.concatenate([np.where(np.isfinite(begin[:, :-1]), held, np.nan), begin[:, -1:]], axis=1)
        return cls(features, k, held, start, begin, targets, is_log)

    def slope(self, y: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """Return dy/ds, NaN where the projected gradient vanishes."""
        direction, size, sound = direction_at(self.features, y, self.k)
        return np.asarray(np.where(sound, self.rate(size, which, s), np.nan)[:, None] * direction)

    def rate(self, size: FloatArray, which: IntArray, s: Any = 0) -> FloatArray:
        """Return df_k/ds over what it grows by."""
        begin, way = self.begin[which, -1], (self.targets - self.begin[:, -1])[which]
        if self.is_log:
            factor = self.targets[which] / begin
            way = np.where(np.abs(np.log(factor)) < _EVEN, begin * np.log(factor) * factor**s, way)
        return np.asarray(way.astype(size.dtype, copy=False) / size)

    def wanted(self, s: FloatArray, which: IntArray) -> FloatArray:
        """Return the values of the first k features at s, (r, k)."""
        values, target = self.begin[which], self.targets[which]
        values[:, -1] = np.where(s == 1, target, values[:, -1] + s * (target - values[:, -1]))
        return values

    def goals(self) -> FloatArray:
        """Return the values of the first k features at the end, (R, k)."""
        values = self.begin.copy()
        values[:, -1] = self.targets
        return values

    def corrected(self, y: FloatArray, s: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return y after one Gauss-Newton step to the wanted values, and the sizes of the gradients there (r, k)."""
        move, sizes = move_at(self.features, y, self.wanted(s, which))
        return y + move, sizes


@dataclass(frozen=True, slots=True)
class Part:
    """One leg of some rows (places in the batch): its steps, and the corrections at its end, those of length 0 of rows
    that were at the target from the beginning. `paths.narrow_path_adjoint` goes back along it."""

    rows: IntArray
    level: Level
    tape: tuple[Step, ...]
    corrections: Corrections


@dataclass(frozen=True, slots=True)
class Imposed:
    """Sample vectors with feature k at its target.

    Attributes
    ----------
    values : array (R, N), NaN in refused rows
    reached : array (R,), the value of feature k that was reached, in refused rows too
    residual : array (R,)
        Largest distance of the first k features from where they should be, relative to abs(value) plus what the feature
        changes by when the sample moves by its standard deviation.
    refusals : dict of row: Outcome
    steps : array (R,), accepted and rejected together; 0 where feature k was at its target
    step_length : array (R,), standard deviations that the next step of DOP853 would go
    parts : tuple of Part, empty unless stored
    """

    k: int
    values: FloatArray
    reached: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome]
    steps: IntArray
    step_length: FloatArray
    parts: tuple[Part, ...] = ()


class NarrowPath:
    """Nested normalization along the narrow path.

    Parameters
    ----------
    features : FeatureSet, list of features, or Features
        In order. Symbolic features are compiled here; anything else must satisfy the protocol `Features`.
    rtol : float
        Local error of a step, relative to the standard deviation of the sample vector.
    max_steps : int
        Of a row in one leg, rejected ones included.
    threads : int
        How many parts of a batch move at once. It pays for long rows, of features whose loops are compiled.
    learns : bool
        Whether the first step is as long as the level before tells, of the Runge-Kutta pair that takes fewest slopes,
        and the way is even in log f where f keeps its sign: forty-five moments of a texture take a tenth fewer slopes.

    Notes
    -----
    Features are exact to rounding whatever `rtol` is, by the correction; `rtol` decides how accurately the point on
    their level set is found. A step costs 13 times k gradients and O(k^2 N); rows share the overhead of Python.

    Examples
    --------
    The second moment of (1, 2, 6) becomes 20 at its mean of 3, and the third one 126 + 6 (33/14)^(3/2) with it:

    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> path = NarrowPath([Mean(x), Mean(x**2), Mean(x**3)])
    >>> moved = path.follow(np.array([[1.0, 2.0, 6.0]]), 2, 20.0)
    >>> path.features.values(moved.values).round(12).tolist()
    [[3.0, 20.0, 147.713513681227]]
    """

    def __init__(self, features: Any, *, rtol: float = 1e-12, max_steps: int = 2000, threads: int = 1,
                 learns: bool = False) -> None:
        if not hasattr(features, "gradients"):
            features = compiled_features(features if isinstance(features, FeatureSet) else FeatureSet(features))
        self.features: Features = features
        self.rtol, self.max_steps, self.threads, self.roundings = rtol, max_steps, threads, _ROUNDINGS
        self.learns = learns

    def on(self, grid: tuple[int, ...]) -> NarrowPath:
        """Return the path of samples on a grid, for features with filters of several dimensions."""
        other = copy.copy(self)
        other.features = self.features.on(grid)  # type: ignore[attr-defined]
        return other

    def within(self, rtol: float, roundings: float = _ROUNDINGS) -> NarrowPath:
        """Return the path in steps of another tolerance, which is no less than some roundings of the largest entry."""
        other = copy.copy(self)
        other.rtol, other.roundings, other.learns = rtol, roundings, False
        return other

    def follow(self, rows: Any, k: int, targets: Any, *, held: Any = None, store: bool = False,
               step_length: FloatArray | None = None) -> Imposed:
        """Bring feature k of every row to its target; features 1 to k-1 stay at the values they have.

        Rows whose feature is at its target up to rounding come back bit by bit.

        Parameters
        ----------
        rows : array_like (R, N)
        k : int, from 1 to M
        targets : array_like (R,) or number
        held : array_like (k - 1,) or (R, k - 1), optional
            What features 1 to k-1 are at up to rounding, and are brought to exactly. It matters where the scale
            shrinks: the mean of a sample of size 1e30 is zero up to 1e14 only.
        store : bool, keep the path for gradients
        step_length : array (R,), optional, that of the level before
        """
        given, wanted, kept = self._checked(rows, k, targets, held)
        reached, residual = np.full((2, len(given)), np.nan)
        out = Imposed(k, np.full_like(given, np.nan), reached, residual, {}, np.zeros(len(given), dtype=np.intp),
                      np.full(len(given), STEP_LENGTH) if step_length is None else step_length.copy())
        size = max(1, min(_CHUNK // given.shape[1], _TOGETHER // (k * given.shape[1]), -(-len(given) // self.threads)))

        def follow(at: IntArray) -> list[Part]:
            with np.errstate(all="ignore"):  # what is not finite is refused
                held = None if kept is None else kept[at]
                level = Level.of(self.features, k, held, given[at], wanted[at], self.learns and not store)
                return self._follow(level, at, out, store)

        some = [np.arange(i, min(i + size, len(given))) for i in range(0, len(given), size)]
        parts = [part for found in each(follow, some, self.threads) for part in found]
        return replace(out, parts=tuple(parts) if store else ())

    def _checked(self, rows: Any, k: int, targets: Any, held: Any) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        given = np.ascontiguousarray(rows, dtype=np.float64)
        if given.ndim != 2 or given.shape[-1] == 0:
            raise InvalidInput(f"rows of shape (R, N) are expected, got an array of shape {given.shape}")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(self.features):
            raise InvalidInput(f"k={k!r} was given, a feature from 1 to {len(self.features)} is expected")
        try:
            wanted = np.broadcast_to(np.asarray(targets, dtype=np.float64), len(given)).copy()
            kept = None if held is None else np.broadcast_to(np.asarray(held, np.float64), (len(given), k - 1)).copy()
        except ValueError as error:
            raise InvalidInput(f"{len(given)} rows take one target each and {k - 1} held values, got the shapes "
                               f"{np.shape(targets)} and {np.shape(held)}") from error
        return given, wanted, kept

    def _follow(self, level: Level, places: IntArray, out: Imposed, store: bool) -> list[Part]:
        """Move some rows and write down what became of them."""
        start, targets, begin = level.start, level.targets, level.begin[:, -1]
        gradients = self.features.gradients(start, out.k)
        finite = np.isfinite(level.begin).all(axis=1) & np.isfinite(gradients).all(axis=(1, 2)) & np.isfinite(targets)
        rounding = 2 * EPS * (np.abs(targets) + np.abs(gradients[:, -1] * start).mean(axis=1))
        there = finite & (np.abs(targets - begin) <= rounding)
        direction, size, sound = direction_at(self.features, start, out.k, gradients if finite.all() else
                                              np.where(finite[:, None, None], gradients, 0))
        critical = finite & ~there & ~sound
        sizes = _sizes(gradients)
        spread, goals = row_scales(start), level.goals()
        out.residual[places] = _gap(goals, level.begin, np.abs(goals) + sizes * spread[:, None])
        out.reached[places] = begin
        ends, ending = start.copy(), np.where(finite & ~there & ~critical, int(End.REACHED), int(End.STALLED))
        stops, legs = _stops(begin, targets, sizes[:, -1] * spread)
        parts = [Part(places, level, (), [(np.flatnonzero(there), start[there])])]
        for leg, stop in enumerate(stops):
            going = np.flatnonzero((ending == End.REACHED) & (legs > leg))
            if not len(going):
                continue
            part = Part(places, replace(level, targets=stop) if leg == 0 else
                        Level.of(self.features, out.k, level.held, ends.copy(), stop), (), [])
            if leg or store or not self.learns:
                begins = [Start(going)]
            else:
                way = np.abs(part.level.rate(size[going], going)) / spread[going]
                begins = starts(going, way, out.step_length[places[going]], self.rtol)
            for one in begins:
                at = one.going
                slopes = None if leg else part.level.rate(size[at], at)[:, None] * direction[at]
                parts.append(self._leg(part, one, slopes, (sizes, ends, ending), out, store))
        fine = there | (ending == End.REACHED)
        out.values[places[fine]] = ends[fine]
        for i in np.flatnonzero(~fine):
            reason = ("not finite" if not finite[i] else "critical point" if critical[i] else
                      "not attainable" if ending[i] == End.STALLED else "no convergence")
            out.refusals[int(places[i])] = self._outcome(reason, level, int(i), out.reached[places[i]], ends[i])
        return parts

    def _leg(self, part: Part, begin: Start, slopes: FloatArray | None, state: tuple[FloatArray, FloatArray, IntArray],
             out: Imposed, store: bool) -> Part:
        """Bring rows to their next stops; the state is the sizes of the last gradients, the ends, and the endings."""
        sizes, ends, ending = state
        level, going, is_all = part.level, begin.going, len(begin.going) == len(ends)

        def corrected(y: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
            at = which if is_all else going[which]
            moved, sizes[at] = level.corrected(y, s, at)
            return moved

        start = ends if is_all else ends[going]
        path = integrate(
            lambda y, s, which: level.slope(y, s, which if is_all else going[which]), start, rtol=self.rtol,
            scale=np.maximum(row_scales(start), self.roundings * EPS / self.rtol * np.abs(start).max(axis=1)),
            first_step=begin.steps, first_slopes=slopes,
            after_step=None if self.learns else corrected, max_steps=self.max_steps,
            store=store, pair=begin.pair,
        )
        at = part.rows[going]
        out.step_length[at] = begin.learned(out.step_length[at], path.next_step, self.rtol)
        ends[going], ending[going] = path.values, path.ending
        corrections, gap, values = self._finish(level, ends, sizes, going, path.ending == End.REACHED)
        ending[going[(path.ending == End.REACHED) & ~(gap <= EPS**0.5)]] = End.EXHAUSTED
        out.residual[at], out.reached[at] = gap, values[:, -1]
        out.steps[at] += path.steps + path.failed
        tape = tuple(replace(step, which=going[step.which]) for step in path.tape)
        return replace(part, tape=tape, corrections=corrections)

    def _finish(self, level: Level, ends: FloatArray, sizes: FloatArray, going: IntArray, reached: NDArray[np.bool_]
                ) -> tuple[Corrections, FloatArray, FloatArray]:
        """Correct the rows of `ends` that are there as long as that helps; return how, residuals, and values."""
        made = []
        there, goals = ends[going], level.goals()[going]
        values = self.features.values(there)[:, : level.k]
        units = np.abs(goals) + sizes[going] * row_scales(there)[:, None]
        gap, left = _gap(goals, values, units), np.flatnonzero(reached)
        for _ in range(_MOST_CORRECTIONS):
            left = left[gap[left] > (EPS if self.learns else _ROUNDING)]  # one correction of the end is within EPS
            if not len(left):
                break
            trial, _ = level.corrected(ends[going[left]], np.ones(len(left)), going[left])
            found = self.features.values(trial)[:, : level.k]
            new = _gap(goals[left], found, units[left])
            helps, goes_on = new < gap[left], new < gap[left] / 8  # less is the luck of rounding
            better = left[helps]
            made.append((going[better], ends[going[better]]))
            ends[going[better]], gap[better], values[better] = trial[helps], new[helps], found[helps]
            left = left[goes_on]
        return made, gap, values

    def _outcome(self, reason: str, level: Level, i: int, reached: float, end: FloatArray) -> Outcome:
        name, target, begin = self.features.names[level.k - 1], level.targets[i], level.begin[i]
        if reason == "not finite":
            names = [n for n, value in zip(self.features.names, begin, strict=False) if not np.isfinite(value)]
            what = ("the sample" if not np.isfinite(level.start[i]).all() else
                    f"the target {target}" if not np.isfinite(target) else ", ".join(names) or "a gradient")
            return Outcome(False, reason, f"{what} is not finite; is the sample in the domain of the features?")
        if reason == "critical point":
            return Outcome(False, reason, f"{name} is {reached:.6g} and does not move at fixed values of the features "
                           f"before it, {target:.6g} was asked for; perturb the sample: decouple(..., perturb=...)")
        if reason == "no convergence":
            return Outcome(False, reason, f"{name} came to {reached:.6g}, {target:.6g} was asked for; raise max_steps")
        gradients = self.features.gradients(end[None], level.k)
        vanishes = Frame.of(gradients).triangle[0, -1, -1] <= 1e-3 * np.sqrt((gradients[0, -1] ** 2).mean())
        why = ("a critical point of it at fixed values of the features before it" if vanishes else
               "where it becomes singular or leaves the domain of the features")
        return Outcome(False, reason, f"{name} came to {reached:.6g}, {why}; {target:.6g} was asked for; ask for a "
                       'value that is attained, or perturb ties: decouple(..., perturb="ramp")')


def _sizes(gradients: FloatArray) -> FloatArray:
    """Return the root mean squares of gradients (R, k, N)."""
    return np.asarray(np.sqrt(np.vecdot(gradients, gradients) / gradients.shape[-1]))


def _gap(goals: FloatArray, values: FloatArray, units: FloatArray) -> FloatArray:
    """Return the largest distance of the first features (R, k) from where they should be, in units of theirs."""
    gap = np.abs(goals - values)
    return np.asarray(np.where(gap > 0, gap / units, gap).max(axis=1))


def _stops(begin: FloatArray, targets: FloatArray, unit: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the ends of the legs, (legs, R), and how many each row has: even in log f towards 0, else in asinh f."""
    shrinks = (begin * targets > 0) & (np.abs(targets) < np.abs(begin))
    first, last = (np.where(shrinks, np.log(np.abs(f)), np.arcsinh(f / unit)) for f in (begin, targets))
    length = np.abs(last - first) / _LEG
    legs = np.where(np.isfinite(length), np.maximum(np.ceil(length), 1), 1).astype(np.intp)
    share = np.minimum(np.arange(1, legs.max(initial=1) + 1)[:, None] / legs, 1)
    way = first + share * (last - first)
    stops = np.where(shrinks, np.copysign(np.exp(way), begin), unit * np.sinh(way))
    return np.where(share == 1, targets, stops), legs
