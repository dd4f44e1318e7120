r"""Tilts that the search from zero does not find soon, by continuation from equal weights to those of the signal.

The problem of `tilting` with the weights p^t in the place of p,

.. math:: \sum_\xi w\, p^t\, e^{a \cdot w} = v\, e^{t s},

is easy at t = 0: all active frequencies count alike; at t = 1 a thousand steps from zero may lead nowhere. It has a
solution at each t if it has one at t = 1, as the cone of the active frequencies is the same, and a(t) is smooth, nearly
a line where p spans many orders of magnitude.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symdecouple.numeric.energies.tilting import Problems, Tilted, tilt
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["tilt_by_continuation"]

_FIRST, _MORE, _LAST = 80, 12, 40  # iterations at t = 0, on the way, and at t = 1
_FOLLOWED = 1e-2  # the residual of a point on the way
_REACHED = 1e-13  # the residual of a solution, though steps along features that hardly differ may go on
_FIRST_STEP, _SHORTEST = 0.25, 1e-6  # of t; the one that is given up


def tilt_by_continuation(problems: Problems, given: FloatArray | None = None) -> Tilted:
    """Solve problems, each by itself; where no minimum is found, `converged` is False.

    Parameters
    ----------
    problems : Problems
    given : array (Q, M), optional
        Parameters, of which those of features that are not wanted stay.
    """
    fixed = np.zeros(problems.targets.shape) if given is None else np.where(problems.wanted, 0, given)
    with np.errstate(over="ignore", invalid="ignore"):  # of targets without a solution
        return Tilted.joined([_followed(problems.take([q]), fixed[q]) for q in range(len(problems))])


def _followed(problem: Problems, fixed: FloatArray) -> Tilted:
    shares = problem.shares[problem.owner]
    logs = np.log(np.where(shares > 0, shares, 1))
    wanted = problem.wanted[0]

    def solved(t: float, a: FloatArray, most: int) -> Tilted:
        eased = replace(problem, shares=np.where(shares > 0, np.exp(t * logs), 0), owner=np.zeros(1, dtype=np.intp),
                        log_scale=t * problem.log_scale)
        return tilt(eased, most, np.where(wanted, a, t * fixed)[None])

    def is_solved(found: Tilted) -> bool:
        return bool(found.converged[0] or found.residual[0] <= _REACHED)

    found = solved(0.0, np.zeros(len(wanted)), _FIRST)
    t, step, a = 0.0, _FIRST_STEP, found.parameters[0]
    slope = np.zeros(len(wanted))
    while t < 1 and found.residual[0] < _FOLLOWED and step > _SHORTEST:
        ahead = min(1.0, t + step)
        there = solved(ahead, a + slope * (ahead - t), _LAST if ahead == 1 else _MORE)
        if there.residual[0] < _FOLLOWED:
            slope = (there.parameters[0] - a) / (ahead - t)
            found, a, t, step = there, there.parameters[0], ahead, 2 * step
        else:
            step /= 4
    while t == 1 and not is_solved(found):  # steps that have become short go on at full length
        further = solved(1.0, found.parameters[0], _LAST)
        if not further.residual[0] < found.residual[0]:
            break
        found = further
    found.converged[:] = t == 1 and is_solved(found)
    return found
