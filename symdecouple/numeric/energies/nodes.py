r"""Few nodes in the place of many frequencies, where eigenvalues are polynomials in the cosine along each axis.

Filters with few taps have such eigenvalues, of a low degree d. A sum over frequencies of P g, with g smooth in
c = cos(omega), is a sum over Chebyshev nodes,

.. math:: \sum_i P_i\, g(c_i) = \sum_j \Bigl(\sum_i L_j(c_i) P_i\Bigr) g(c_j),

L_j the Lagrange polynomials: exact for polynomials of degrees below the number of nodes, so for w w' h^p with
d (2 + p) below it, h = a.w. Of exp(h) the powers from `order` on are missed, which is nothing where h is small.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.fft

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.energies.columns import Lines

__all__ = ["Nodes", "mirrored", "nodes_of"]

_EACH = 24  # nodes of an axis; axes with no more frequencies stay as they are
_TAIL = 1e-14  # of a line, over the largest: what no polynomial of low degree gives
_LEAST = 4  # order
_MIRRORED = 1024  # frequencies of an axis, at most: a block of `energies.sums`
_ROUNDING = 1e-12  # of a map


class Nodes(NamedTuple):
    """Maps to the nodes of two axes, and the features there.

    Attributes
    ----------
    outer : array (I, S), inner : array (J, n)
        L_j at the frequencies, perhaps `mirrored`.
    lines : Lines
        The features at the nodes.
    order : int
        The first power of h that is missed.
    between : float
        The largest abs(h) between the nodes is at most that at the nodes times this: 1/cos(pi d/2n) for each axis
        (Ehlich and Zeller, 1964).
    lebesgue : float
        The largest sum of abs(L_j).
    """

    outer: FloatArray
    inner: FloatArray
    lines: Lines
    order: int
    between: float
    lebesgue: float

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.outer) * len(self.inner)


def mirrored(maps: FloatArray) -> FloatArray:
    """Return the even and the odd part of a map (J, n) at the first half of the frequencies, (J, (n + 1)//2).

    The odd ones come last node first. A map that is not its own mirror stays as it is, and so does one for long lines.

    Examples
    --------
    >>> mirrored(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.0]]
    """
    few, count = maps.shape
    if few % 2 or count > _MIRRORED or not np.allclose(maps, maps[::-1, ::-1], rtol=0, atol=_ROUNDING):
        return maps
    first, back = maps[: few // 2, : (count + 1) // 2], maps[: few // 2, ::-1][:, : (count + 1) // 2]
    return np.concatenate([(first + back) / 2, ((first - back) / 2)[::-1]])


def nodes_of(lines: Lines, sizes: tuple[int, ...]) -> Nodes | None:
    """Return the nodes of features on frequencies 0 to pi of one or two axes; None where there are none.

    Parameters
    ----------
    lines : Lines
    sizes : tuple of int
        How many samples there are along each axis.

    Examples
    --------
    The energies of [1, 1] and [1, -1] have eigenvalues 2 + 2c and 2 - 2c; of 24 nodes with d = 1 the first power that
    is missed has d (2 + p) = 24.

    >>> c = np.cos(2 * np.pi * np.arange(51) / 100)
    >>> found = nodes_of(Lines.of(np.array([2 + 2 * c, 2 - 2 * c]), (51,)), (100,))
    >>> found.lines.inner.shape, found.order
    ((2, 24), 22)
    """
    first = sizes[0] // 2 + 1 if len(sizes) == 2 else 1
    if len(sizes) > 2 or lines.outer.shape[1] != first or lines.inner.shape[1] != sizes[-1] // 2 + 1:
        return None
    inner = _axis(lines.inner, sizes[-1])
    outer = _axis(lines.outer, sizes[0]) if len(sizes) == 2 else (np.ones((1, 1)), lines.outer, 0, 1.0, 1.0)
    if inner is None or outer is None or inner[2] == outer[2] == 0:
        return None
    degree = max(inner[2], outer[2])
    order = (_EACH - 1) // degree - 1
    if order < _LEAST:
        return None
    at_nodes = Lines(outer[1], inner[1], lines.places, lines.scales)
    return Nodes(mirrored(outer[0]), mirrored(inner[0]), at_nodes, order, inner[3] * outer[3], inner[4] * outer[4])


def _axis(lines: FloatArray, size: int) -> tuple[FloatArray, FloatArray, int, float, float] | None:
    """The map of an axis, lines at the nodes, their degree, what may be between nodes, and the sum of abs(L)."""
    count = lines.shape[1]
    if count <= _EACH:
        return np.eye(count), lines, 0, 1.0, 1.0
    series = scipy.fft.irfft(lines, size)[:, : (size + 1) // 2]
    series[:, 1:] *= 2
    large = np.abs(series) > _TAIL * np.abs(lines).max(axis=1, keepdims=True)
    degree = int(np.flatnonzero(large.any(axis=0))[-1]) if large.any() else 0
    if degree >= _EACH // 2:
        return None
    angles = np.pi * (np.arange(_EACH) + 0.5) / _EACH
    at_nodes = series[:, : degree + 1] @ np.cos(np.outer(np.arange(degree + 1), angles))
    c = np.cos(2 * np.pi * np.arange(count) / size)
    apart = c[:, None] - np.cos(angles)
    hit = apart == 0
    terms = (-1.0) ** np.arange(_EACH) * np.sin(angles) / np.where(hit, 1, apart)
    to = terms / terms.sum(axis=1, keepdims=True)
    to = np.where(hit.any(axis=1, keepdims=True), hit, to)
    between = 1 / math.cos(math.pi * max(degree, 1) / (2 * _EACH))
    lebesgue = float(np.abs(to).sum(axis=1).max())
    return np.ascontiguousarray(to.T), np.ascontiguousarray(at_nodes), max(degree, 1), between, lebesgue
