r"""Feature sets with black boxes as functions of arrays, and the narrow path on them.

Symbolic features among them stay compiled; each black box is asked by its `Oracle`. A gradient by differences is known
up to an error e, and so is what is left of it beside the gradients before: below 8 e nothing is, and the sample is a
critical point; where e is above 4e-9 of what is left, there is no direction to go along, and the row is refused.

Before a path begins, every black box is asked twice at every sample, and its gradient is compared with differences.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.black_box import HIDDEN, RESOLVED, Oracle
from symdecouple.numeric.features.coordinates import compiled_features
from symdecouple.numeric.paths.narrow_path import Frame, Imposed, Level, NarrowPath
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["BlackBoxFeatures", "BlackBoxPath", "path_of"]

_RTOL_OF_GRADIENTS, _RTOL_OF_DIFFERENCES = 1e-12, 2.0**-33  # differences have no more digits themselves
_AHEAD = 2.0 ** -np.arange(36, 11, -8)  # parts of the way at which the reason of a stop is looked for


class BlackBoxFeatures:
    """The values, gradient fields and second derivatives of a set with black boxes, on arrays.

    Parameters
    ----------
    features : FeatureSet
        Averages, or functions of coordinates, with all parameters bound, and black boxes.

    Examples
    --------
    >>> from symdecouple.language.feature import Feature
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> features = BlackBoxFeatures(FeatureSet([Mean(x), Feature.from_callable(np.prod, name="product")]))
    >>> features.values(np.array([[1.0, 2.0, 6.0]])).tolist()
    [[3.0, 12.0]]
    >>> features.gradients(np.array([[1.0, 2.0, 6.0]])).round(9).tolist()  # 3 times (12, 6, 2)
    [[[1.0, 1.0, 1.0], [36.0, 18.0, 6.0]]]
    """

    def __init__(self, features: FeatureSet) -> None:
        self.names, boxes = tuple(map(str, features)), [f.black_box for f in features]
        self.oracles = {j: Oracle(box) for j, box in enumerate(boxes) if box is not None}
        self.symbolic = [j for j, box in enumerate(boxes) if box is None]
        expressions = [features[j] for j in self.symbolic]
        self.compiled: Any = compiled_features(FeatureSet(expressions)) if expressions else None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def has_gradients(self) -> bool:
        """True iff every black box came with its gradient."""
        return all(oracle.box.gradient is not None for oracle in self.oracles.values())

    def first(self, count: int) -> BlackBoxFeatures:
        """Return the first features alone."""
        other = copy.copy(self)
        other.names, other.symbolic = self.names[:count], [j for j in self.symbolic if j < count]
        other.oracles = {j: oracle for j, oracle in self.oracles.items() if j < count}
        return other

    def on(self, grid: tuple[int, ...]) -> BlackBoxFeatures:
        """Return the same for samples on a grid; black boxes take them flattened."""
        other = copy.copy(self)
        if hasattr(self.compiled, "on"):
            other.compiled = self.compiled.on(grid)
        return other

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N), of shape (R, M)."""
        found = np.empty((len(rows), len(self)))
        if self.symbolic:
            found[:, self.symbolic] = self.compiled.values(rows)[:, : len(self.symbolic)]
        for j, oracle in self.oracles.items():
            found[:, j] = oracle.values(rows)
        return found

    def gradients(self, rows: FloatArray, count: int | None = None) -> FloatArray:
        """Return v = N grad f of the first `count` features (default all), (R, count, N)."""
        first, n = self.first(len(self) if count is None else count), rows.shape[1]
        found, errors = np.empty((len(rows), len(first), n)), np.zeros((len(rows), len(first)))
        if first.symbolic:
            found[:, first.symbolic] = self.compiled.gradients(rows, len(first.symbolic))
        for j, oracle in first.oracles.items():
            plain, errors[:, j] = oracle.gradients(rows)
            found[:, j] = n * plain
        _leave_out_hidden(found, errors)
        return found

    def curvature(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum over j of N Hess f_j w_j, (..., R, N), for weights (..., R, count, N)."""
        first, total = self.first(weights.shape[-2]), np.zeros((*weights.shape[:-2], weights.shape[-1]))
        if first.symbolic:
            total += self.compiled.curvature(rows, weights[..., first.symbolic, :])
        for j, oracle in first.oracles.items():
            for lead in np.ndindex(total.shape[:-2]):
                total[lead] += rows.shape[1] * oracle.curvature(rows, weights[lead][:, j])
        return total

    def refusals(self, rows: FloatArray) -> dict[int, Outcome]:
        """Return what is wrong with the black boxes at finite rows."""
        found: dict[int, Outcome] = {}
        for oracle in self.oracles.values():
            found = oracle.gradient_refusals(rows) | oracle.refusals(rows, oracle.values(rows)) | found
        return found

    def trouble(self, rows: FloatArray) -> str:
        """Return what is wrong at the first of some rows at which anything is; nothing if all is well."""
        return next(filter(None, (oracle.trouble(rows) for oracle in self.oracles.values())), "")


def _leave_out_hidden(gradients: FloatArray, errors: FloatArray) -> None:
    """Take what errors hide out of gradients (R, k, N), in place: the rest beside those before, or all of it."""
    for j in range(gradients.shape[1]):
        rows = np.flatnonzero((errors[:, j] > 0) & np.isfinite(gradients[:, : j + 1]).all(axis=(1, 2)))
        if not len(rows):
            continue
        frame = Frame.of(gradients[rows, : j + 1])
        left = np.where(frame.sound[:, j], frame.triangle[:, j, j], 0)
        error = errors[rows, j] * np.sqrt((gradients[rows, j] ** 2).mean(axis=1))
        hidden = left <= HIDDEN * error
        gradients[rows[hidden], j] -= left[hidden, None] * frame.basis[j, hidden]
        gradients[rows[~hidden & (error > RESOLVED * left)], j] = np.nan


class BlackBoxPath(NarrowPath):
    """Nested normalization along the narrow path, of a set with black boxes.

    Parameters
    ----------
    features : FeatureSet, or list of features
    rtol : float, optional
        Local error of a step, as in `NarrowPath`; default 1e-12, and 1.2e-10 where a gradient comes from differences.
    max_steps : int

    Notes
    -----
    Refusals in addition to those of `NarrowPath`: "callable failed" (it raised, returned what is no number, changed its
    answer, or its gradient contradicts its values), "gradient not resolved".
    """

    features: BlackBoxFeatures

    def __init__(self, features: Any, *, rtol: float | None = None, max_steps: int = 2000) -> None:
        made = BlackBoxFeatures(features if isinstance(features, FeatureSet) else FeatureSet(features))
        default = _RTOL_OF_GRADIENTS if made.has_gradients else _RTOL_OF_DIFFERENCES
        super().__init__(made, rtol=default if rtol is None else rtol, max_steps=max_steps)

    def follow(self, rows: Any, k: int, targets: Any, *, held: Any = None, store: bool = False,
               step_length: FloatArray | None = None) -> Imposed:
        """As in `NarrowPath`; rows at which a black box fails are refused before they move."""
        given, wanted, kept = self._checked(rows, k, targets, held)
        first = copy.copy(self)  # features after the k-th are not asked
        first.features = self.features.first(k)
        refused = first.features.refusals(given)
        given = given.copy()
        given[list(refused)] = np.nan
        imposed = NarrowPath.follow(first, given, k, wanted, held=kept, store=store)
        imposed.refusals.update(refused)
        return imposed

    def _outcome(self, reason: str, level: Level, i: int, reached: float, end: FloatArray) -> Outcome:
        said = super()._outcome(reason, level, i, reached, end)
        if reason == "not finite" and np.isfinite(level.start[i]).all() and np.isfinite(level.begin[i]).all():
            return Outcome(False, "gradient not resolved", "what is left of the gradient of "
                           f"{level.features.names[-1]} beside those before it is below the accuracy of differences; "
                           "give gradient=")
        if reason in ("not attainable", "no convergence"):
            slope = level.slope(end[None], np.ones(1), np.array([i]))
            if why := self.features.trouble(end + np.concatenate([0 * slope, _AHEAD[:, None] * slope])):
                return replace(said, detail=f"{said.detail}; there {why}")
        return said


def path_of(features: FeatureSet) -> NarrowPath:
    """Return the narrow path of a set of either kind."""
    return BlackBoxPath(features) if features.kind == "black box" else NarrowPath(features)
