"""Three estimators of the mutual information of two numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma
from scipy.stats import rankdata

__all__ = ["by_bins", "by_neighbours", "by_whole_numbers"]

FloatArray = NDArray[np.float64]


def by_neighbours(first: FloatArray, second: FloatArray, neighbours: int = 4) -> float:
    r"""Return the estimate of Kraskov, Stoegbauer and Grassberger (2004) on ranks, which no change of scale moves.

    In nats:

    .. math:: I \approx \psi(k) + \psi(N) - \langle \psi(n_1 + 1) + \psi(n_2 + 1) \rangle

    with n_1, n_2 the numbers of points closer than the k-th neighbour in each coordinate.

    Examples
    --------
    A normal pair of correlation .8 has -log(1 - .64)/2 = .511:

    >>> normal = np.random.default_rng(0).standard_normal((2, 4000))
    >>> 0.46 < by_neighbours(normal[0], 0.8 * normal[0] + 0.6 * normal[1]) < 0.56
    True
    """
    places = np.stack([rankdata(one, method="ordinal") / len(one) for one in (first, second)], axis=1)
    reach = np.nextafter(cKDTree(places).query(places, neighbours + 1, p=np.inf)[0][:, -1], 0)
    near = [cKDTree(places[:, k : k + 1]).query_ball_point(places[:, k : k + 1], reach, return_length=True) - 1
            for k in (0, 1)]
    return float(digamma(neighbours) + digamma(len(first)) - np.mean(digamma(near[0] + 1) + digamma(near[1] + 1)))


def by_bins(first: FloatArray, second: FloatArray, bins: int = 10) -> float:
    """Return the mutual information of two numbers cut into bins of equal width, in nats.

    Examples
    --------
    >>> by_bins(np.arange(100.0), np.arange(100.0)).__round__(6)
    2.302585
    """
    return _of_counts(np.histogram2d(first, second, bins)[0])


def by_whole_numbers(first: FloatArray, second: FloatArray) -> float:
    """Return the mutual information of two numbers rounded to whole ones, in bits: it hangs on their scales.

    So does the program of the paper that the source names (Peng, Long and Ding 2005), which takes discrete numbers.

    Examples
    --------
    >>> by_whole_numbers(np.arange(8.0), 0.1 + np.arange(8.0))
    3.0
    >>> by_whole_numbers(np.arange(8.0), np.arange(8.0) / 20)
    0.0
    """
    (rows, places), (columns, others) = (np.unique(np.rint(one), return_inverse=True) for one in (first, second))
    joint = np.zeros((len(rows), len(columns)))
    np.add.at(joint, (places, others), 1)
    return _of_counts(joint) / float(np.log(2))


def _of_counts(joint: FloatArray) -> float:
    joint = joint / joint.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / apart[seen])))
