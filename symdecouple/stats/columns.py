"""Variables with given statistics *and* a given matrix of correlations: the option `correlation` of `match`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.correlated import correlated, correlations
from symdecouple.numeric.moments.matched import MatchedRows, distance_of, statistics_of
from symdecouple.numeric.moments.power_sums import standardized_entries
from symdecouple.numeric.samples.asked import asked_numbers
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["asked_correlation", "with_correlation"]

_SYMMETRIC = 1e-12  # rounding of a matrix that was computed
_SEMIDEFINITE = 1e-12  # of the number of variables


def asked_correlation(correlation: Any, n_variables: int, is_plain: bool) -> FloatArray | None:
    """Return the matrix that was asked for, (d, d); None for that of the sample.

    `is_plain` says that the samples are the columns, or rows, of a matrix without weights and missing values.
    """
    if not is_plain:
        raise InvalidInput("correlation= is for the variables of a matrix, (n, d) with axis=0 or (d, n) with axis=1, "
                           "without weights and missing values")
    if isinstance(correlation, str):
        if correlation != "keep":
            raise InvalidInput(f"correlation={correlation!r} was given, 'keep' or a matrix is expected")
        return None
    try:
        matrix = asked_numbers(correlation)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (n_variables, n_variables) or not np.isfinite(matrix).all():
        raise InvalidInput(f"correlation of shape {np.shape(correlation)} was given; 'keep', or a matrix of shape "
                           f"{(n_variables, n_variables)} is expected")
    if np.abs(matrix - matrix.T).max() > _SYMMETRIC or np.abs(np.diag(matrix) - 1).max() > _SYMMETRIC:
        raise InvalidInput("correlation: a symmetric matrix with ones on its diagonal is expected")
    if (least := float(np.linalg.eigvalsh(matrix)[0])) < -_SEMIDEFINITE * n_variables:
        raise InvalidInput(f"correlation: the matrix has the eigenvalue {least:.6g}, and a matrix of correlations has "
                           "none below 0")
    return matrix


def with_correlation(
    done: MatchedRows, rows: FloatArray, place: FloatArray, asked: Sequence[FloatArray | None],
    wanted: FloatArray | None,
) -> tuple[MatchedRows, FloatArray]:
    """Return variables (d, n) that have their statistics already, moved to correlations, and these.

    `rows` are the variables that were given, of any place and unit, `place` (d, 2) their means and variances, and
    `wanted` None is their own matrix. What has no answer is refused for all of them.
    """
    nothing = np.full((len(rows), len(rows)), np.nan)
    if done.refusals:
        first = min(done.refusals)
        why = Outcome(False, "no correlation", f"variable {first} is refused, and with it the matrix of correlations")
        return _all_refused(done, why), nothing
    z, before = standardized_entries(done.values)[0], standardized_entries(rows)[0]
    goal = correlations(before) if wanted is None else wanted
    moments = [np.array([0.0, 1.0, *(done.statistics[j, k] if (target := asked[k]) is None else target[j]
                                     for k in range(2, len(asked)))]) for j in range(len(rows))]
    made = correlated(z, moments, goal)
    if made.share < 1:
        reached = correlations(made.values)
        i, j = np.unravel_index(int(np.abs(reached - goal).argmax()), goal.shape)
        why = Outcome(False, "correlation out of reach", f"beside these statistics, {made.share:.1%} of the way to the "
                      f"correlations can be gone: {reached[i, j]:.6g} between variables {i} and {j}, "
                      f"{goal[i, j]:.6g} was wanted")
        return _all_refused(done, why), reached
    mean, deviation = done.statistics[:, 0], np.sqrt(done.statistics[:, 1])
    for k, target in enumerate(asked[:2]):
        if target is not None:
            mean, deviation = (target, deviation) if k == 0 else (mean, np.sqrt(target))
    values = mean[:, None] + deviation[:, None] * made.values
    unit, ones = np.sqrt(place[:, 1]), np.ones(len(rows))
    statistics, residual = statistics_of(values, done.statistics.shape[1], None), np.zeros(len(rows))
    for k, target in enumerate(asked):
        if target is not None:
            residual = np.maximum(residual, np.abs(statistics[:, k] - target) / np.maximum(1, np.abs(target)))
    moved = distance_of(mean - place[:, 0], deviation, made.values, unit, before, None)
    in_shape = distance_of(0 * mean, ones, made.values, ones, before, None)
    return MatchedRows(values, statistics, residual, moved, in_shape, {}, done.notes), correlations(values)


def _all_refused(done: MatchedRows, why: Outcome) -> MatchedRows:
    nothing = np.full(len(done.values), np.nan)
    refusals = {i: done.refusals.get(i, why) for i in range(len(done.values))}
    return MatchedRows(np.full_like(done.values, np.nan), np.full_like(done.statistics, np.nan), nothing, nothing,
                       nothing, refusals, {})
