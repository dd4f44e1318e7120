"""Feature sets as functions of arrays, one sample vector a row: what the narrow path moves along.

`Features` says what is asked of them; `CompiledFeatures` gives it for features of averages, from their expressions.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symdecouple.calculus.gradient import gradient
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.expressions import Compiled, average
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["CompiledFeatures", "Features"]

Array = NDArray[Any]


class Features(Protocol):
    """Features as functions of arrays, one sample vector a row.

    `values` and `gradients` return NaN, without a warning, where a feature is not defined. A row must give the same
    bits beside any other rows. `curvature` is needed for the gradients of a normalization only.
    """

    names: tuple[str, ...]

    def __len__(self) -> int:
        """Return M, the number of features."""

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the features of rows (R, N), of shape (R, M)."""

    def gradients(self, rows: FloatArray, count: int) -> FloatArray:
        """Return v = N grad f of the first `count` features, of shape (R, count, N)."""

    def curvature(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum over j of N Hess f_j w_j, of shape (..., R, N), for weights (..., R, count, N)."""


class CompiledFeatures:
    """The values, gradient fields and second derivatives of a feature set, on arrays.

    Parameters
    ----------
    features : FeatureSet
        Of averages, with all parameters bound.

    Notes
    -----
    Sample vectors with a number outside the open interval of the sample have NaN for everything.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> features = CompiledFeatures(FeatureSet([Mean(x), Mean(x**2)]))
    >>> rows = np.array([[1.0, 2.0, 6.0]])
    >>> features.values(rows).tolist()
    [[3.0, 13.666666666666666]]
    >>> features.gradients(rows).tolist()
    [[[1.0, 1.0, 1.0], [2.0, 4.0, 12.0]]]
    """

    def __init__(self, features: FeatureSet) -> None:
        if features.coordinates:
            raise UnsupportedExpression("functions of explicit coordinates are not compiled to arrays here")
        self.names = tuple(map(str, features))
        self._sample = features.sample
        self._values = Compiled([f.expr for f in features], self._sample)
        self._fields = [gradient(f).in_sample(self._sample).expr for f in features]
        self._gradients: dict[int, Compiled] = {}
        self._grid: tuple[int, ...] | None = None
        self._low, self._high = (float(end) for end in self._sample.interval)
        self._is_everywhere = np.isinf([self._low, self._high]).all()

    def __len__(self) -> int:
        return len(self.names)

    def on(self, grid: tuple[int, ...] | None) -> CompiledFeatures:
        """Return the same for samples on a grid, as in `Compiled.on`."""
        other = copy.copy(self)
        other._values, other._grid = self._values.on(grid), grid
        return other

    def values(self, rows: Array) -> Array:
        """Return the features of sample vectors (..., N), of shape (..., M)."""
        return self._inside(rows, np.concatenate(self._values(rows), axis=-1), 1)

    def gradients(self, rows: Array, count: int | None = None) -> Array:
        """Return v = N grad f of the first `count` features (default all), of shape (..., count, N)."""
        count = len(self) if count is None else count
        fields = self._compiled(count)(rows)
        stacked = np.empty((len(fields), *rows.shape), dtype=rows.dtype)  # each field in one piece of memory
        for place, field in zip(stacked, fields, strict=True):
            place[...] = field
        return self._inside(rows, stacked.swapaxes(0, 1) if rows.ndim == 2 else np.moveaxis(stacked, 0, -2), 2)

    def curvature(self, rows: Array, weights: Array) -> Array:
        r"""Return :math:`\sum_j D_{w_j} v_j`, N times the Hessian of f_j applied to w_j, summed over leading features.

        Parameters
        ----------
        rows : array (..., N)
        weights : array (..., count, N)
            Further leading axes as in `Compiled.pullback`.

        Returns
        -------
        array (..., N)
        """
        compiled = self._compiled(weights.shape[-2])
        # A Hessian is symmetric: the pullback of the weights is the derivative along them, summed in one sweep.
        parts = [weights[..., j, :] for j in range(len(compiled))]
        return compiled.pullback(rows, [part if pointwise else average(part, part.shape)
                                        for part, pointwise in zip(parts, compiled.pointwise, strict=True)])

    def _compiled(self, count: int) -> Compiled:
        if count not in self._gradients:
            self._gradients[count] = Compiled(self._fields[:count], self._sample)
        return self._gradients[count].on(self._grid)

    def _inside(self, rows: Array, found: Array, n_axes: int) -> Array:
        if self._is_everywhere:
            return found
        inside = ((rows > self._low) & (rows < self._high)).all(axis=-1)
        return np.where(inside.reshape(*inside.shape, *[1] * n_axes), found, np.nan)
