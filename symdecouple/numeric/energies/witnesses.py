"""Frequencies that witness the independence of features: few of them answer for all.

Features that are independent at M frequencies are so at all active ones, if these M are among them. A signal without
power somewhere, as one whose mean is zero, needs no more than a look at M shares.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.samples.batch import IntArray

__all__ = ["witnesses"]

_SETS = 3  # with no frequency in common
_LOOKED_AT = 2**12  # frequencies
_CLEAR = 1e-6  # the last pivot over the first one


def witnesses(columns: Columns) -> IntArray:
    """Return frequencies at which M features are clearly independent: rows (K, M), K up to 3, none if there are none.

    They are the pivots of eigenvalues over their largest. Frequency zero is none of them, as a signal with mean zero
    has no power there. Of many frequencies 4096 are looked at, the same ones each time.

    Examples
    --------
    >>> witnesses(Columns(np.array([[4.0, 2, 0, 1], [0, 2, 4, 1]]), (4,))).tolist()
    [[2, 1]]
    """
    m, count, inner = len(columns), columns.count, columns.lines.inner.shape[1]
    places = np.arange(1, count, dtype=np.intp)
    if len(places) > _LOOKED_AT:
        places = np.sort(np.random.default_rng(0).choice(places, _LOOKED_AT, replace=False))
    lines, found = columns.lines, list[IntArray]()
    values = lines.outer[lines.places[0][:, None], places // inner] * lines.inner[lines.places[1][:, None],
                                                                                  places % inner]
    values *= (lines.scales / np.where(columns.largest > 0, columns.largest, 1))[:, None]
    while len(found) < _SETS and len(places) >= m > 0:
        triangle, order = scipy.linalg.qr(values, mode="r", pivoting=True)
        if not abs(triangle[m - 1, m - 1]) > _CLEAR * abs(triangle[0, 0]):
            break
        found.append(places[order[:m]])
        places, values = np.delete(places, order[:m]), np.delete(values, order[:m], axis=1)
    return np.array(found, dtype=np.intp).reshape(-1, m)
