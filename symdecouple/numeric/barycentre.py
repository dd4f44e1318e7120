r"""The conformal barycentre of angles, and what is left of their shape when the Moebius maps of the disc are taken out.

.. math:: w_n = e^{i\alpha}\,\frac{z_n - a}{1 - \bar a z_n}, \quad z_n = e^{i\theta_n}, \qquad \mathrm{Mean}(w) = 0

There is one such w up to a rotation iff no value has a share of 1/2 or more (Theorem L). Its rotation invariants are
what is decoupled from the circular statistics; with z_k = Mean(w^k) these are the tail abs(z_2) and the odd part
Im(z_2^2 conj(z_4)), which is 0 for symmetric samples.

*Search.* Half-angles are homogeneous coordinates, w = (c + i s)^2/(c^2 + s^2), on which the maps act as real matrices
of determinant 1: no trigonometric function after the first pass, and no cancellation near the circle. In the present
frame a map that moves b to 0 changes the mean m into m - b + conj(b) z_2 + O(b^2): Newton's step is

.. math:: b = \frac{m + \bar m\,z_2}{1 - |z_2|^2}

Mean log(c^2 + s^2) is convex along geodesics of the disc, with slope -2 Re(m conj(b)) where the step begins (Douady and
Earle): a step is halved while it overshoots by that slope, so that the search ends for every sample that has an answer.

*Existence* is a matter of counting. A sample whose search ends well inside the disc has its answer; for the others
values that agree modulo 2 pi, to the rounding of the largest of them, are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.ties import exact_sum
from symdecouple.numeric.samples.matrix import FloatArray, IntArray, RowValues, SampleMatrix, taken

__all__ = ["circular_shape_gradients", "circular_shape_rows"]

_PASSES = 200  # an ordinary sample takes 5; ties near 1/2 some 20; each pass may go a factor of 100 in the dilation
_LONGEST = 0.98  # of a step, in the disc
_LAST = 2.0**-54  # of b^2: Newton's next step leaves rounding
_SAFE = 2.0**20  # dilation (1 + r)/(1 - r) up to which a converged search is believed without counting ties
_GATHERED = 0.99  # mean resultant from which on angles are measured from their own centre
_BLOCK = 2**16  # entries at a time: temporaries stay in the cache
_TIED = 4.0  # units of rounding of the largest angle

UNRESOLVED = Outcome(False, "beyond float64", "the barycentre lies closer to the circle than float64 tells; measure "
                     "the angles from the middle of their crowd")


def circular_shape_rows(matrix: SampleMatrix) -> RowValues:
    """Return the tail and the odd part of each row of angles."""
    count, size = matrix.values.shape
    values, refusals = np.full((count, 2), np.nan), dict[int, Outcome]()
    step = max(1, _BLOCK // size)
    for first in range(0, count, step):
        part = slice(first, first + step)
        weights = None if matrix.weights is None else matrix.weights[part]
        found, suspicious = _shapes(matrix.values[part], weights)
        for i in suspicious.tolist():
            outcome = _by_ties(matrix.values[first + i], None if weights is None else weights[i])
            if outcome is None and np.isnan(found[i]).any():
                outcome = UNRESOLVED
            if outcome is not None:
                refusals[first + i], found[i] = outcome, np.nan
        values[part] = found
    return RowValues(values, refusals)


def circular_shape_gradients(rows: FloatArray) -> FloatArray:
    r"""Return the gradients of tail and odd part, (R, 2, N); NaN where there is no barycentre.

    .. math:: N\,\nabla F(\theta) = \frac{d\psi}{d\theta}\,P_\perp\,v_Q(\psi), \qquad w = e^{i\psi}

    F does not change with the maps, so that the map to the barycentre may be held; there F is Q, the same function of
    w, up to directions of cos(psi) and sin(psi), off which v_Q is projected.
    """
    c, s = _half_angles(rows, None)
    frame, dilation = _frames(c, s, None)
    _, second, w = _moments(c, s, frame, None)
    fourth, square = (w**4).mean(axis=1)[:, None], second[:, None]
    with np.errstate(all="ignore"):
        tail = np.real(np.conj(square) / np.abs(square) * 2j * w**2)
        odd = np.imag(4j * square * np.conj(fourth) * w**2 - 4j * square**2 * np.conj(w**4))
    fields = np.stack([tail, odd], axis=1)
    wave = np.stack([w.real, w.imag], axis=1)
    gram = wave @ wave.transpose(0, 2, 1)
    weights = np.linalg.solve(gram, wave @ fields.transpose(0, 2, 1))
    fields -= weights.transpose(0, 2, 1) @ wave
    (p, q), (u, v) = (frame[:, k, :, None].transpose(1, 0, 2) for k in (0, 1))
    rate = 1 / ((p * c + q * s) ** 2 + (u * c + v * s) ** 2)
    fields *= rate[:, None, :] / rows.shape[1]
    fields[~(dilation < np.inf)] = np.nan
    return fields


def _shapes(rows: NDArray[Any], weights: FloatArray | None) -> tuple[FloatArray, IntArray]:
    """Return tails and odd parts, and the rows whose ties are to be counted."""
    shares = None if weights is None else weights / weights.sum(axis=1, keepdims=True)
    c, s = _half_angles(rows.astype(np.float64, copy=False), shares)
    frame, dilation = _frames(c, s, shares)
    _, second, w = _moments(c, s, frame, shares)
    out = np.stack([np.abs(second), np.imag(second**2 * np.conj(_average(w**4, shares)))], axis=1)
    out[~(dilation < np.inf)] = np.nan
    near = np.abs(second) > 1 - 1 / _SAFE  # two opposite values with a share of 1/2 each are there at once
    return out, np.flatnonzero(~(dilation < _SAFE) | near)


def _frames(c: FloatArray, s: FloatArray, shares: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the frames in which the mean is 0, and their dilations; infinite where the search has not ended."""
    count = len(c)
    frame = np.tile(np.eye(2), (count, 1, 1))
    left, dilation = np.arange(count), np.full(count, np.inf)
    # what the last step was: its direction and length b, and the slope of the convex function where it began
    last, slope, before = np.zeros(count, dtype=complex), np.zeros(count), frame.copy()
    for _ in range(_PASSES):
        m, second = _moments(taken(c, left), taken(s, left), frame[left], None if shares is None else shares[left])[:2]
        behind, rest = np.real(m * np.conj(last[left])), np.maximum(1 - np.abs(second) ** 2, 2.0**-52)
        overshot = (behind < 0) & (-behind > slope[left] / 2)
        b = (m + np.conj(m) * second) / rest
        there = ~overshot & (np.abs(b) ** 2 <= _LAST * rest)
        b *= np.minimum(1, _LONGEST / np.maximum(np.abs(b), _LONGEST))
        b = np.where(overshot, last[left] / 2, b)
        frame[left] = np.where(overshot[:, None, None], before[left], frame[left])
        slope[left] = np.where(overshot, slope[left] / 2, np.real(m * np.conj(b)))
        before[left], last[left] = frame[left], b
        frame[left] = _step(b) @ frame[left]
        ended = left[there]
        dilation[ended] = np.linalg.norm(frame[ended], axis=(1, 2)) ** 2
        left = left[~there & np.isfinite(b)]
        if not len(left):
            break
    return frame, dilation


def _half_angles(rows: FloatArray, shares: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Cosine and sine of half the angles, from the middle of the crowd where there is one."""
    c, s = np.cos(rows / 2), np.sin(rows / 2)
    mean = _average((c + 1j * s) ** 2, shares)
    near = np.flatnonzero(np.abs(mean) > _GATHERED)
    if len(near):
        middle = np.angle(mean[near])[:, None]
        closest = np.argmin(np.abs(np.angle(np.exp(1j * (rows[near] - middle)))), axis=1)
        turned = rows[near] - np.take_along_axis(rows[near], closest[:, None], axis=1)
        c[near], s[near] = np.cos(turned / 2), np.sin(turned / 2)
    return c, s


def _average(values: NDArray[Any], shares: FloatArray | None) -> NDArray[Any]:
    return values.mean(axis=1) if shares is None else (values * shares).sum(axis=1)  # type: ignore[no-any-return]


def _moments(c: FloatArray, s: FloatArray, frame: FloatArray, shares: FloatArray | None
             ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Mean(w), Mean(w^2) and w in a frame."""
    (p, q), (u, v) = (frame[:, k, :, None].transpose(1, 0, 2) for k in (0, 1))
    w = np.empty(c.shape, dtype=complex)
    w.real, w.imag = p * c + q * s, u * c + v * s
    w /= np.conj(w)
    return _average(w, shares), _average(w * w, shares), w


def _step(b: NDArray[Any]) -> FloatArray:
    """Return the matrices, on half-angles, of w -> (w - b)/(1 - conj(b) w): they stretch away from b."""
    found = np.array([[1 - b.real, -b.imag], [-b.imag, 1 + b.real]]) / np.sqrt(1 - np.abs(b) ** 2)
    return np.ascontiguousarray(found.transpose(2, 0, 1))  # products of other layouts are rounded in another way


# --- existence ---


def _by_ties(row: NDArray[Any], weights: FloatArray | None) -> Outcome | None:
    """Refuse a sample of which one value modulo 2 pi has half of the weight or more."""
    shares = np.full(len(row), 1.0) if weights is None else weights
    kept = shares > 0
    row, shares = row[kept], shares[kept]
    unit = float(np.finfo(row.dtype).eps) * _TIED * max(np.pi, float(np.max(np.abs(row))))
    angles = np.mod(np.angle(np.exp(1j * row.astype(np.float64))), 2 * np.pi)
    order = np.argsort(angles, kind="stable")
    angles, shares = angles[order], shares[order]
    begins = np.concatenate([[True], np.diff(angles) > unit])
    group = np.cumsum(begins) - 1
    if group[-1] > 0 and angles[0] + 2 * np.pi - angles[-1] <= unit:
        group[group == group[-1]] = 0
    sums = np.bincount(group, weights=shares)
    if np.count_nonzero(sums) == 1:
        return Outcome(False, "one direction", "all angles are one value modulo 2 pi; three are needed")
    first = int(np.argmax(sums))
    share = exact_sum(shares[group == first]) / exact_sum(shares)
    if 2 * share < 1:
        return None
    return Outcome(False, "no barycentre", f"the value {angles[group == first][0]:.6g} modulo 2 pi has a share of "
                   f"{float(share):.6g}, and less than 1/2 is needed; perturb ties")
