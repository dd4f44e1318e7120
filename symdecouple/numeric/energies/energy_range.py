r"""What one energy can be while others are fixed: two linear programs on the cone of the active frequencies.

With the weights w_j(xi) of the features (Theorem E) and the energies before held at v,

.. math:: \min_p / \max_p \; \sum_\xi p_\xi\, w_k(\xi), \qquad \sum_\xi p_\xi\, w_j(\xi) = v_j \; (j < k), \quad
    p_\xi \ge 0 .

A signal has p > 0 at its active frequencies: it comes to every value between the ends, to the ends in the limit only,
unless they are equal. The programs are solved in their dual form, with k - 1 unknowns; constraints, one a frequency,
are added as they are found to be violated (as in `cone`).
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.cone import dependence_of
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["energy_range"]

_ADDED = 64  # constraints at a time
_VIOLATED = 1e-10  # of the largest weight
_BOX = 1e9  # multipliers beyond it belong to targets that no signal has
_KEPT = 256  # answers for the same weights: refused signals of a batch have the same targets as a rule
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

_KNOWN: WeakKeyDictionary[Columns, dict[Any, tuple[float, float] | None]] = WeakKeyDictionary()


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
    count = k if first is None else first
    key = k, count, held[:count].tobytes(), is_active.tobytes()
    known = _KNOWN.setdefault(columns, {})
    if key not in known:
        if len(known) >= _KEPT:
            known.clear()
        known[key] = _programmed(columns, k, held[:count], is_active)
    return known[key]


def _programmed(columns: Columns, k: int, held: FloatArray, is_active: NDArray[np.bool_]
                ) -> tuple[float, float] | None:
    count = len(held)
    parts = [columns.at(part)[[*range(count), k]][:, is_active[part]] for part in columns.chunks()]
    rows = np.concatenate(parts, axis=1)
    if not rows.shape[1]:
        return (0.0, 0.0) if not np.any(held) else None
    scale = np.abs(rows).max(axis=1)
    scale[scale == 0] = 1
    rows = rows / scale[:, None]
    goal = np.asarray(held, dtype=np.float64) / scale[:-1]
    free = np.zeros(0, dtype=np.bool_)
    if count:
        free = dependence_of(Columns(rows[:-1], (rows.shape[1],)), slice(None)).independent
    rows, goal = rows[[*np.flatnonzero(free), count]], goal[free]
    size = float(np.abs(goal).max(initial=0)) or 1.0
    low, high = (_least(sign * rows[-1], rows[:-1], goal / size) for sign in (1.0, -1.0))
    if low is None or high is None:
        return None
    unit = size * float(scale[-1])
    return low * unit + 0.0, -high * unit + 0.0


def _least(objective: FloatArray, rows: FloatArray, goal: FloatArray) -> float | None:
    """min p.objective; -inf where it has no bound, None where no p has the sums."""
    from scipy.optimize import linprog

    if not len(rows):
        return -np.inf if objective.min() < -_VIOLATED else 0.0
    chosen = np.unique(np.concatenate([rows.argmax(axis=1), rows.argmin(axis=1), [objective.argmin()]]))
    while True:
        solved = linprog(-goal, A_ub=rows[:, chosen].T, b_ub=objective[chosen], bounds=(-_BOX, _BOX), method="highs",
                         options=_PRECISE)
        if solved.x is None:  # the dual has no point: the energy falls without end
            return -np.inf
        above = solved.x @ rows - objective
        above[chosen] = 0
        worst = np.argsort(above)[-_ADDED:]
        worst = worst[above[worst] > _VIOLATED * (1 + float(np.abs(solved.x).max()))]
        if not len(worst):
            is_boundless = float(np.abs(solved.x).max()) > _BOX / 2
            return None if is_boundless else float(solved.x @ goal)
        chosen = np.concatenate([chosen, worst])
