r"""Gradients of the normalization along the narrow path to any number of digits.

Level k maps x = y(0) to y(1) along dy/ds = D w, with w the field in the span of v_1, ..., v_k that has <v_j, w> = 0 for
j < k and <v_k, w> = 1, and D = v - f_k(x). Covectors go back by the adjoint equation; with lambda split along and
across the span, lambda_par = sum b_j v_j, and w = sum a_j v_j,

.. math:: \frac{d\lambda}{ds} = -D \sum_j D_{w_j} v_j, \qquad w_j = a_j \lambda_\perp - b_j w

f_1, ..., f_k increase linearly along the path, so that v_1, ..., v_k at y(s) solve this equation themselves. That
leaves only what is across the span at the end, c = c_perp + sum b_j v_j(y(1)), to be carried:

.. math:: \nabla (c \circ N_k)(x) = \lambda(0) + \sum_{j<k} b_j v_j(x), \qquad \lambda(1) = c_\perp

(k itself drops out: f_k is the target everywhere.) Points and covectors are stepped together, backwards between
the stored points of the path, which every part of the way has to meet again: how far it misses them counts as an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.paths.narrow_path_adjoint import through_span
from symdecouple.numeric.paths.projection import Frame
from symdecouple.numeric.precision.collocation import collocated, points_for
from symdecouple.numeric.precision.path import PreciseImposed, Track, size, spread, working_digits

__all__ = ["PrecisePulled", "pullback_mp"]

_MAX_STEPS = 2000  # as of the path itself


@dataclass(frozen=True, slots=True)
class PrecisePulled:
    """Covectors at the start of a path, to many digits.

    Attributes
    ----------
    covectors : object array (N,) or (c, N)
        NaN where the outcome is a refusal.
    error : mpf
        Sum of the estimated errors of all steps: of covectors relative to their sizes, the largest of them, and of the
        sample vector relative to its standard deviation where it comes back. Not the error of the path itself
        (`PreciseImposed.error`), and not how errors grow or shrink on the way.
    outcome : Outcome
    """

    covectors: Array
    error: Any
    outcome: Outcome


def pullback_mp(imposed: PreciseImposed, covectors: Any) -> PrecisePulled:
    """Return gradients by the sample before a level, given those by the sample at it, to as many digits as the path.

    Parameters
    ----------
    imposed : PreciseImposed
        Of `follow_mp` with ``store=True``.
    covectors : array_like (N,) or (c, N)
        Plain gradients at the normalized sample, numbers of any kind. All are carried along one path.

    Returns
    -------
    PrecisePulled
        Rounded to these digits. Refused with "critical point" where feature k has no gradient across those of the
        features before it at the end of the path, "no convergence" where the path cannot be followed back.

    Raises
    ------
    InvalidInput
        If the path was not kept, or shapes do not fit.

    Notes
    -----
    A step costs about as much as one of `follow_mp`, and as much again for each covector and feature.

    Examples
    --------
    The variance after the mean was made 0 has the gradient 2 (x - 3)/3 at (1, 2, 6):

    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.numeric.precision.path import follow_mp
    >>> moved = follow_mp([Mean(x)], [1, 2, 6], 1, 0, dps=40, store=True)
    >>> with mpmath.workdps(40):
    ...     print(mpmath.nstr(pullback_mp(moved, 2*moved.values/3).covectors[0], 40))
    -1.333333333333333333333333333333333333333
    """
    track = imposed.track
    if track is None:
        raise InvalidInput("the path was not kept: follow_mp(..., store=True), for a target that is reached")
    if not hasattr(track.level.features, "curvature"):
        raise InvalidInput("gradients of a normalization need second derivatives: give the features a method curvature")
    with at_digits(working_digits(track.dps)):
        given = as_multiprecision(covectors)
        if given.ndim not in (1, 2) or given.shape[-1:] != track.points[0][1].shape:
            raise InvalidInput(f"covectors of shape {given.shape} were given for a sample vector of "
                               f"{len(track.points[0][1])} values; (N,) or (c, N) is expected")
        try:
            found, error = _Back(track).through(given.reshape(-1, given.shape[-1]))
            outcome = Outcome(True)
        except _Stopped as stopped:
            found, error, outcome = np.full(given.shape, mpmath.nan, dtype=object), mpmath.nan, stopped.outcome
    with at_digits(track.dps):
        return PrecisePulled(np.frompyfunc(lambda v: +v, 1, 1)(found.reshape(given.shape)), +error, outcome)


class _Stopped(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = Outcome(False, reason, detail)


class _Back:
    """One path on the way back; states are the sample vector above its covectors, (1 + c, N)."""

    def __init__(self, track: Track) -> None:
        self.track, self.level = track, track.level
        self.name = self.level.features.names[self.level.k - 1]
        self.tol = mpmath.mpf(10) ** -(track.dps + 2)

    def through(self, covectors: Array) -> tuple[Array, Any]:
        track, error = self.track, mpmath.mpf(0)
        frame = Frame.of(self.level.features.gradients(track.points[-1][1][None], self.level.k))
        if not frame.sound[0, -1]:
            raise _Stopped("critical point", f"{self.name} has no gradient across those of the features before it "
                           "at the end of the path")
        shares, across = frame.split(covectors[:, None])
        state = np.array([track.points[-1][1], *across[:, 0]])
        pairs = list(zip(track.points, track.points[1:], strict=False))
        for (begin, start), (s, y) in reversed(pairs):
            state[0] = y
            state, off = self._between(state, s - begin)
            missed, unit = size(state[0] - start), spread(start)
            error += off + (missed / unit if unit else missed and mpmath.inf)
        first = self.level.features.gradients(track.points[0][1][None], self.level.k)[0]
        return state[1:] + shares[:, 0, :-1] @ first[:-1], error

    def _between(self, state: Array, length: Any) -> tuple[Array, Any]:
        """Go back from one stored point to the one before, in one step where that is right; return it and its error."""
        left = h = length
        error = mpmath.mpf(0)
        for _ in range(_MAX_STEPS):
            units = np.array([spread(state[0]), *(size(row) or mpmath.mpf(1) for row in state[1:])])
            step = collocated(self._slope, state, -h, points_for(self.track.dps), units, self.tol)
            if step.values is not None:
                state, error, left = step.values, error + step.error * self.tol, left - h
                if left == 0:
                    return state, error
            h = min(h * step.factor, left)
        raise _Stopped("no convergence", f"the path of {self.name} cannot be followed back; ask for more digits, or "
                       "perturb the sample: decouple(..., perturb=...)")

    def _slope(self, states: Array) -> Array:
        """Return the derivatives of many states (p, 1 + c, N), of either kind."""
        y, features, k = states[:, 0], self.level.features, self.level.k
        frame = Frame.of(features.gradients(y, k))
        z = np.zeros((len(y), k), dtype=y.dtype)
        rate = self.level.rate(frame.triangle[:, -1, -1], np.zeros(len(y), dtype=np.intp))
        z[:, -1] = np.where(frame.sound[:, -1], rate, np.nan)
        _, pulled, _ = through_span(features, y, frame, z, states[:, 1:].swapaxes(0, 1))
        return np.array([frame.combined(z), *-pulled]).swapaxes(0, 1)
