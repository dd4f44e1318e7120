"""Where a narrow path of the moments leads nowhere: the atoms that a sample falls together to.

A critical point of the k-th moment, the lower ones held, has k - 1 atoms, the roots a_1 < .. < a_(k-1) of p_(k-1). Near
it the difference of two values of one cluster changes by

    d(v - u)/ds = rate (p_(k-1)(v) - p_(k-1)(u)),      rate = D/(k D_(k-1))

so clusters at the roots with rate p' < 0 contract, those at every other root are pulled apart. A path can end there
only if each of the latter is a single value; then it does end there, once the contracting clusters lie where p' keeps
its sign. What is reached follows from the shares of the atoms: k - 1 positions from k - 1 held moments, by Newton's
method.

For the fourth moment on its way up only one such point exists: the least and the largest value apart, all others in the
middle. It is the highest of all, and known before a step is made.
"""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.moments.hankel import orthogonal_basis
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["atoms", "summit"]

_NEAR = 0.2  # of the distance to the next zero of p': within, a cluster counts as caught
_NEWTON = 30
_LOG_RANGE = 40.0  # of the ratio of two distances


def atoms(z: FloatArray, weights: FloatArray | None, goal: FloatArray) -> FloatArray | None:
    """The sample (N,) that the path of z (N,) ends at before it comes to its goal; None where it may go on.

    Parameters
    ----------
    z : array (N,)
        Near mean 0 and variance 1, near the end of its path.
    weights : array (N,) or None
    goal : array (k + 1,)
        Moments at the end of the path, from order 0; all but the last are those of z.

    Examples
    --------
    Two of nine values at either end cannot come apart; the fourth moment ends at 9/4:

    >>> z = np.array([-1.5, -1.5, -0.1, -0.05, 0, 0.05, 0.1, 1.5, 1.5])
    >>> z /= np.sqrt(np.mean(z**2))
    >>> end = atoms(z, None, np.array([1.0, 0, 1, 0, 3]))
    >>> (np.round(end, 12) + 0.0).tolist()
    [-1.5, -1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 1.5]
    >>> atoms(z, None, np.array([1.0, 0, 1, 0, 2.24])) is None
    True
    """
    k = len(goal) - 1
    share = np.full(len(z), 1 / len(z)) if weights is None else weights
    basis, _ = orthogonal_basis(z[None], k, share[None])
    beside = np.sqrt(basis.ratio[1:, 0])
    if not np.isfinite(basis.centre).all() or not (beside > 0).all():
        return None
    roots = np.linalg.eigvalsh(np.diag(basis.centre[:, 0]) + np.diag(beside, 1) + np.diag(beside, -1))
    turns = np.sort(np.roots(np.polyder(np.poly(roots))).real)
    rising = float(share @ z**k) < goal[k]
    contracts = (np.arange(k - 1)[::-1] % 2 == 1) == rising
    which = np.searchsorted(turns, z)
    for j in range(k - 1):
        cluster = z[(which == j) & (share > 0)]
        reach = _NEAR * np.min(np.abs(turns[max(j - 1, 0) : j + 1] - roots[j]))
        if not len(cluster) or not np.all(np.abs(cluster - roots[j]) <= reach):
            return None
        if not contracts[j] and not np.all(cluster == cluster[0]):
            return None
    masses: FloatArray = np.bincount(which, weights=share, minlength=k - 1).astype(np.float64)
    ends = _positions(roots, masses, goal[1:k])
    reached = float(masses @ ends**k)
    if not np.all(np.abs(ends - roots) <= _NEAR * np.min(np.diff(roots))) or (reached < goal[k]) != rising:
        return None
    caught: FloatArray = ends[which]
    return caught


def summit(z: FloatArray, weights: FloatArray | None, goal: FloatArray) -> FloatArray | None:
    """The sample (N,) of the highest fourth moment beside the held ones, if that is below goal[4]; known beforehand.

    Every path that raises it leads there: the least and the largest value are pulled out, all others are one atom. The
    distances to it are found by bisection.

    Examples
    --------
    >>> z = np.array([-2.0, -2, -1, 0, 0.5, 0.5, 1, 1, 2])
    >>> top = summit((z - z.mean()) / z.std(), None, np.array([1.0, 0, 1, 0, 9]))
    >>> sorted(np.unique(top, return_counts=True)[1].tolist())
    [1, 2, 6]
    """
    share = np.full(len(z), 1 / len(z)) if weights is None else weights
    values = z[share > 0]
    low, high = values.min(), values.max()
    which = np.where(z <= low, 0, np.where(z < high, 1, 2))
    masses: FloatArray = np.bincount(which, weights=share, minlength=3).astype(np.float64)
    most = float(z @ (share * z**3))
    if len(goal) != 5 or not masses[1] > 0 or not most < goal[4]:
        return None

    def placed(log_ratio: float) -> FloatArray:
        at = np.array([-np.exp(log_ratio), 0.0, 1.0])
        at -= masses @ at
        centred: FloatArray = at / np.sqrt(masses @ at**2)
        return centred

    near, far = -_LOG_RANGE, _LOG_RANGE  # the lower atom moves out, the skewness falls
    while far - near > 1e-13 * _LOG_RANGE:
        middle = (near + far) / 2
        near, far = (middle, far) if masses @ placed(middle) ** 3 > goal[3] else (near, middle)
    ends = _positions(placed(near), masses, goal[1:4])
    if not masses @ ends**4 < goal[4] or not np.all(np.diff(ends) > 0):
        return None
    top: FloatArray = ends[which]
    return top


def _positions(roots: FloatArray, masses: FloatArray, held: FloatArray) -> FloatArray:
    """Positions of atoms with these masses and moments 1, 2, .., by Newton's method; NaN where there are none near."""
    order = np.arange(1, len(held) + 1)[:, None]
    at, before = roots, np.inf
    for _ in range(_NEWTON):
        try:
            step = np.linalg.solve(order * masses * at ** (order - 1), held - (masses * at**order).sum(axis=1))
        except np.linalg.LinAlgError:  # two of them met, or one has no mass
            break
        at = at + step
        size = float(np.abs(step).max())
        if not size > 1e-15 or (size >= before and size < 1e-12):
            return at
        before = size
    return np.full_like(at, np.nan)
