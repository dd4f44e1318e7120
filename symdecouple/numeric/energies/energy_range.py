r"""What one energy can be while others are fixed: two linear programs on the cone of the active frequencies.

With the weights w_j(xi) of the features (Theorem E) and the energies before held at v,

.. math:: \min_p / \max_p \; \sum_\xi p_\xi\, w_k(\xi), \qquad \sum_\xi p_\xi\, w_j(\xi) = v_j \; (j < k), \quad
    p_\xi \ge 0 .

A signal has p > 0 at its active frequencies: it comes to every value between the ends, to the ends in the limit only,
unless they are equal. The programs are solved in their dual form, with k - 1 unknowns x; constraints, one a frequency,
are those of a cone: x.w <= w_k is (x, -1).(w, w_k) <= 0 (`cone.highest`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.cone import dependence_of, highest, some, units_of
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["energy_range"]

_BOX = 1e9  # multipliers beyond it belong to targets that no signal has


def energy_range(
    columns: Columns, k: int, held: FloatArray, is_active: NDArray[np.bool_], first: int | None = None
) -> tuple[float, float] | None:
    """Return the least and the largest feature k, counted from 0, beside held features; None where these cannot be.

    Parameters
    ----------
    columns : Columns
        Weights of the features at the frequencies.
    k : int
    held : array (first,)
        Values of features 0..first - 1; of those that depend on others at these frequencies, the first ones count.
    is_active : bool array (n,)
    first : int, optional
        Default k.

    Examples
    --------
    Two energies with the weights (4, 2, 0) and (0, 2, 4): their sum is 4 times the power.

    >>> pair = Columns(np.array([[4.0, 2, 0], [0, 2, 4]]), (3,))
    >>> energy_range(pair, 1, np.array([8.0]), np.array([True, True, False]))
    (0.0, 8.0)
    >>> energy_range(pair, 1, np.array([8.0]), np.array([True, True, True]))
    (0.0, inf)
    """
    return _programmed(columns, k, tuple(held[: k if first is None else first].tolist()), is_active.tobytes())


@lru_cache(maxsize=32)  # refused signals of a batch have the same targets as a rule: their cone takes a quarter of it
def _programmed(columns: Columns, k: int, values: tuple[float, ...], active: bytes) -> tuple[float, float] | None:
    held, is_active = np.array(values, dtype=np.float64), np.frombuffer(active, dtype=np.bool_)
    if not is_active.any():
        return (0.0, 0.0) if not np.any(held) else None
    free = dependence_of(columns, is_active).independent[: len(held)]
    wanted = np.append(np.flatnonzero(free), k)
    scale, units = units_of(some(columns, wanted, is_active), len(wanted))
    goal = np.append(held[free] / scale[:-1], 0)
    size = float(np.abs(goal).max()) or 1.0
    ends, limits = [], np.array([[-_BOX, _BOX]] * len(goal))
    for sign in (1.0, -1.0):
        limits[-1] = -sign
        x = highest(units, goal / size, limits, np.zeros(0))
        if np.abs(x).max() > 0.999 * _BOX:
            return None
        ends.append(-np.inf if np.isnan(x).any() else float(x @ goal) * float(scale[-1]))
    return ends[0] + 0.0, -ends[1] + 0.0
