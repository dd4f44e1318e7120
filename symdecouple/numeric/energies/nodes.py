r"""Few nodes in the place of many frequencies, where eigenvalues are polynomials in the cosine along each axis.

Filters with few taps have such eigenvalues, of a low degree d. A sum over frequencies of P g, with g smooth in
c = cos(omega), is a sum over n Chebyshev nodes,

.. math:: \sum_i P_i\, g(c_i) = \sum_j \Bigl(\sum_i L_j(c_i) P_i\Bigr) g(c_j),

L_j the Lagrange polynomials: exact for polynomials of degrees below the number of nodes, so for w w' h^p with
d (2 + p) below it, h = a.w. Of exp(h) the powers from `order` on are missed, which is nothing where h is small.

Where h is larger, what is missed is bounded on ellipses. A function below M where c is on that with foci -1, 1 and half
axes adding up to rho has Chebyshev coefficients below 2 M rho^-k, and what nodes miss is below twice the sum of those
from k = n on. On the ellipse T_k is at most C_k = (rho^k + rho^-k)/2, and its real part is C_k cos(k theta): so the
largest Re h there is that of a polynomial with coefficients C_k times those of h on real c.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.fft

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.maps import Maps, inner_maps, outer_maps
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["EACH", "MORE", "Nodes", "Probes", "nodes_of"]

EACH, MORE = 24, 48  # nodes of an axis; axes with no more frequencies stay as they are
_PROBES = 6  # of an axis for each degree
_RHO = np.geomspace(1.5, 40, 60)
_TAIL = 1e-14  # of a line, over the largest: what no polynomial of low degree gives
_LEAST = 4  # order


class Probes(NamedTuple):
    """Points at which to look for the extremes of h, and for those of Re h on ellipses.

    Attributes
    ----------
    outer : array (p, I), inner : array (q, J)
        Lines there.
    wide_outer, wide_inner : array
        The real parts of the same polynomials on ellipses.
    between : float
        As in `Nodes`.
    log_front : float
        Of w, w w' times exp(h) nodes miss less than exp(log_front) times the largest exp(Re h), Re h with one of the
        two axes on its ellipse.
    """

    outer: FloatArray
    inner: FloatArray
    wide_outer: FloatArray
    wide_inner: FloatArray
    between: float
    log_front: float


class Nodes(NamedTuple):
    """Maps to the nodes of two axes, and the features there.

    Attributes
    ----------
    outer, inner : Maps
        L_j at the frequencies.
    lines : Lines
        The features at the nodes.
    order : int
        The first power of h that is missed.
    between : float
        The largest abs(h) between the nodes is at most that at the nodes times this: 1/cos(pi d/2n) for each axis
        (Ehlich and Zeller, 1964).
    lebesgue : float
        The largest sum of abs(L_j).
    probes : Probes
    """

    outer: Maps
    inner: Maps
    lines: Lines
    order: int
    between: float
    lebesgue: float
    probes: Probes

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.outer.few * self.inner.few


class _Axis(NamedTuple):
    """The map of an axis, lines at its nodes, their series (none where these are frequencies), the sum of abs(L)."""

    to: FloatArray
    lines: FloatArray
    series: FloatArray
    lebesgue: float

    @property
    def degree(self) -> int:
        return max(self.series.shape[1] - 1, 1) if self.series.size else 0

    def between(self, count: int) -> float:
        return 1 / math.cos(math.pi * self.degree / (2 * count))


def nodes_of(lines: Lines, sizes: tuple[int, ...], each: int = EACH) -> Nodes | None:
    """Return the nodes of features on frequencies 0 to pi of one or two axes; None where there are none.

    Parameters
    ----------
    lines : Lines
    sizes : tuple of int
        How many samples there are along each axis.
    each : int
        Nodes of an axis.

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
    inner = _axis(lines.inner, sizes[-1], each)
    as_it_is = _Axis(np.ones((1, 1)), lines.outer, np.empty((0, 0)), 1.0)
    outer = _axis(lines.outer, sizes[0], each) if len(sizes) == 2 else as_it_is
    if inner is None or outer is None or inner.degree == outer.degree == 0:
        return None
    order = (each - 1) // max(inner.degree, outer.degree) - 1
    if order < _LEAST:
        return None
    at_nodes = Lines(outer.lines, inner.lines, lines.places, lines.scales)
    between, lebesgue = inner.between(each) * outer.between(each), inner.lebesgue * outer.lebesgue
    return Nodes(outer_maps(outer.to), inner_maps(inner.to), at_nodes, order, between, lebesgue,
                 _probes(lines, outer, inner, each))


def _axis(lines: FloatArray, size: int, each: int) -> _Axis | None:
    count = lines.shape[1]
    if count <= each:
        return _Axis(np.eye(count), lines, np.empty((0, 0)), 1.0)
    series = scipy.fft.irfft(lines, size)[:, : (size + 1) // 2]
    series[:, 1:] *= 2
    large = np.abs(series) > _TAIL * np.abs(lines).max(axis=1, keepdims=True)
    degree = int(np.flatnonzero(large.any(axis=0))[-1]) if large.any() else 0
    if degree >= each // 2:
        return None
    angles = _angles(each)
    c = np.cos(2 * np.pi * np.arange(count) / size)
    apart = c[:, None] - np.cos(angles)
    hit = apart == 0
    terms = (-1.0) ** np.arange(each) * np.sin(angles) / np.where(hit, 1, apart)
    to = terms / terms.sum(axis=1, keepdims=True)
    to = np.where(hit.any(axis=1, keepdims=True), hit, to)
    series = series[:, : degree + 1].copy()
    return _Axis(np.ascontiguousarray(to.T), _at(series, angles), series, float(np.abs(to).sum(axis=1).max()))


def _angles(count: int) -> FloatArray:
    return np.asarray(np.pi * (np.arange(count) + 0.5) / count)


def _at(series: FloatArray, angles: FloatArray) -> FloatArray:
    return np.ascontiguousarray(series @ np.cos(np.outer(np.arange(series.shape[1]), angles)))


def _probes(lines: Lines, outer: _Axis, inner: _Axis, each: int) -> Probes:
    """Probes with the ellipse for which the bound, of a polynomial of the highest degree, is the least."""
    degree = max(outer.degree, inner.degree)
    room = each * np.log(_RHO) - 2 * np.log(_RHO**degree) - math.log(1 / np.finfo(np.float64).eps)
    rho = float(_RHO[np.argmax(room / (1 + _growth(degree + 1, _RHO[:, None])[:, -1]))])
    at: list[FloatArray] = []
    wide: list[FloatArray] = []
    over: list[float] = []
    growth: list[float] = []
    between = 1.0
    for axis, given in ((outer, lines.outer), (inner, lines.inner)):
        largest = np.abs(given).max(axis=1)
        largest[largest == 0] = 1
        if not axis.degree:
            at, wide, over, growth = [*at, axis.lines], [*wide, axis.lines], [*over, 1.0], [*growth, 0.0]
            continue
        count = _PROBES * axis.degree
        larger = _growth(axis.series.shape[1], rho)
        at.append(_at(axis.series, _angles(count)))
        wide.append(_at(axis.series * larger, _angles(count)))
        between *= axis.between(count)
        over.append(float((np.abs(axis.lines).max(axis=1) / largest).max() * axis.between(each)))
        growth.append(float(((np.abs(axis.series) * larger).sum(axis=1) / largest).max()))
    front = (growth[0] * over[1]) ** 2 + outer.lebesgue * (growth[1] * over[0]) ** 2
    log_front = math.log(4 * front / (1 - 1 / rho)) - each * math.log(rho)
    return Probes(at[0], at[1], wide[0], wide[1], between, log_front)


def _growth(count: int, rho: float | FloatArray) -> FloatArray:
    """C_k for k below `count`, the largest T_k on an ellipse."""
    powers = rho ** np.arange(float(count))
    return np.asarray((powers + 1 / powers) / 2)
