r"""The invariants of angles as features, with their gradients: what is decoupled from Mean(cos) and Mean(sin).

The two averages fail C2, and close to the Moebius group of the disc (Theorem L). The third average of its triple, the
mean angle, is no function on the circle; the tail and the odd part are (`stats.circular_shape`).
"""

from __future__ import annotations

import numpy as np

from symdecouple.language.feature import Feature
from symdecouple.numeric.barycentre import circular_shape_gradients, circular_shape_rows
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["circular_features"]


def circular_features() -> tuple[Feature, Feature]:
    """Return tail and odd part of angles as features: decoupled from Mean(cos(x)) and Mean(sin(x)), exactly.

    NaN where one value modulo 2 pi has a share of 1/2 or more.

    Examples
    --------
    >>> from sympy import cos, sin
    >>> from symdecouple import Mean, decouple, x
    >>> from symdecouple.language.feature_set import Group
    >>> from symdecouple.stats import circular_shape
    >>> plan = decouple([Group(Mean(cos(x)), Mean(sin(x))), *circular_features()], reference=[0, 0, 0.3])
    >>> angles = [-2.9, -1, 0.3, 0.8, 2.8, 2.0]
    >>> bool(abs(plan.transform(angles)[2] - circular_shape(angles).tail) < 1e-9)
    True
    """
    return (Feature.from_callable(_tail, _tail_gradient, "circular tail", vectorized=True),
            Feature.from_callable(_odd, _odd_gradient, "circular odd part", vectorized=True))


def _tail(rows: FloatArray) -> FloatArray:
    return circular_shape_rows(SampleMatrix.of(rows)).values[:, 0]


def _odd(rows: FloatArray) -> FloatArray:
    return circular_shape_rows(SampleMatrix.of(rows)).values[:, 1]


def _tail_gradient(rows: FloatArray) -> FloatArray:
    return np.asarray(circular_shape_gradients(rows)[:, 0])


def _odd_gradient(rows: FloatArray) -> FloatArray:
    return np.asarray(circular_shape_gradients(rows)[:, 1])
