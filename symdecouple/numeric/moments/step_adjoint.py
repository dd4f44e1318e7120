r"""The way back along narrow paths of the moments: one stored step of many rows, all covectors together.

With P the powers y^0..y^(k-1) of a stage, W the weights (1/N), H = P W P' the Hankel matrix and r = D/(k D_(k-1)), the
velocity is r p(y), p = p_(k-1), and a covector u gives at that stage (see `moment_levels.adjoint`)

.. math:: r p' (u - S) - r p S', \qquad S = \sigma' P, \qquad \sigma = H^{-1} P W u

so that everything is a product of a few rows with P. The matrices H of all twelve stages are known before the first
covector passes, and are inverted together. Rows with a crowded stage are handed back undone.

Rows never meet, in the last bit either: every product is that of one row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.moments.hankel import Weights
from symdecouple.numeric.moments.stages import StagedStep
from symdecouple.numeric.paths.integrate import STAGES, WEIGHTS, Step
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["step_back_together"]

_LOST = 1e-5  # as in moment_basis
_BLOCK = 2**12  # numbers of a step worked on together: their powers stay near
_N_STAGES = len(STAGES)
_ORDERS = tuple(np.array(list(row), dtype=np.intp) for row in STAGES)
_FORTH = tuple(np.array(list(row.values())) for row in STAGES)
# What each slope receives: weights of later stages, and of the end of the step, which is one more.
_BACK = tuple(np.array([row.get(i, 0.0) for row in (*STAGES[i + 1 :], WEIGHTS)]) for i in range(_N_STAGES))


def step_back_together(
    step: Step, k: int, distance: FloatArray, covectors: FloatArray, weights: Weights = None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Covectors (c, r, N) at the end of a step become those at its begin, in place.

    Parameters
    ----------
    step : Step
        Of r rows; a `StagedStep` saves the way forth.
    k : int
        The moment that moves.
    distance : array (r,)
        By how much, on the whole path.
    covectors : array (c, r, N)
        Of weighted samples, derivatives by the entries over their weights.
    weights : array (r, N), optional

    Returns
    -------
    by_distance : array (c, r)
        What the distance receives.
    done : array (r,) of bool
        The other rows are as they were.
    """
    n_rows, n = step.values.shape
    along, done = np.zeros(covectors.shape[:2]), np.zeros(n_rows, dtype=np.bool_)
    rows = max(1, _BLOCK // n)
    for begin in range(0, n_rows, rows):
        part = slice(begin, begin + rows)
        share = None if weights is None else weights[part]
        stages = _stages(step, part, k, distance[part], share)
        _block_back(stages, step.size[part], k, distance[part], share, covectors[:, part], along[:, part], done[part])
    return along * (n if weights is None else 1), done


def _stages(step: Step, part: slice, k: int, distance: FloatArray, share: Weights) -> FloatArray:
    """The twelve points of a step, (12, r, n)."""
    y, h = step.values[part], step.size[part]
    stages = np.empty((_N_STAGES, *y.shape))
    stages[0] = y
    if isinstance(step, StagedStep):
        for i, later in enumerate(step.later, 1):
            stages[i] = later[part]
        return stages
    slopes = np.empty((_N_STAGES - 1, *y.shape))
    for i in range(_N_STAGES):
        if i:
            stages[i] = np.einsum("j,jrn->rn", _FORTH[i], slopes[_ORDERS[i]]) * h[:, None] + y
        if i < _N_STAGES - 1:
            powers = _powers(stages[i], k)
            last, norm, _ = _inverted(powers @ _heavy(powers, share) * _scale(powers, share))
            slopes[i] = ((distance / (k * norm))[:, None, None] * last[:, None, :] @ powers)[:, 0]
    return stages


def _powers(y: FloatArray, k: int) -> FloatArray:
    """(.., k, n): y^0..y^(k-1)."""
    powers = np.empty((*y.shape[:-1], k, y.shape[-1]))
    powers[..., 0, :] = 1
    powers[..., 1, :] = y
    for j in range(2, k):
        np.multiply(powers[..., j // 2, :], powers[..., j - j // 2, :], out=powers[..., j, :])
    return powers


def _heavy(powers: FloatArray, share: Weights) -> FloatArray:
    """What the transposed powers are in sums over the entries; `_scale` makes means of these."""
    heavy: FloatArray = powers if share is None else powers * share[:, None]
    return heavy.swapaxes(-1, -2)


def _scale(powers: FloatArray, share: Weights) -> float:
    return 1 / powers.shape[-1] if share is None else 1.0


def _inverted(hankel: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of matrices (.., k, k): coefficients of p_(k-1) (.., k), its norm, and the inverse; NaN where digits are lost."""
    k = hankel.shape[-1]
    left = np.moveaxis(hankel, (-2, -1), (0, 1)).copy()
    highest = left[np.arange(k), np.arange(k)].copy()
    norm = np.empty((k, *left.shape[2:]))
    inverse = np.zeros_like(left)
    for j in range(k):
        norm[j] = left[j, j]
        column = left[j + 1 :, j].copy()
        left[j + 1 :, j] /= norm[j]
        left[j + 1 :, j + 1 :] -= left[j + 1 :, j, None] * column
    norm[:, ~(norm > _LOST * highest).all(axis=0)] = np.nan
    for i in range(k):
        inverse[i, i] = 1
        if i:
            inverse[i, :i] = -(left[i, :i, None] * inverse[:i, :i]).sum(axis=0)
    inverse = np.moveaxis(inverse, (0, 1), (-2, -1)).copy()
    weighted = inverse / np.moveaxis(norm, 0, -1)[..., None]
    return inverse[..., -1, :], norm[-1], inverse.swapaxes(-1, -2) @ weighted


def _block_back(
    stages: FloatArray, h: FloatArray, k: int, distance: FloatArray, share: Weights, covectors: FloatArray,
    along: FloatArray, done: NDArray[np.bool_],
) -> None:
    powers = _powers(stages, k)
    heavy, scale = _heavy(powers, share), _scale(powers, share)
    last, norm, inverse = _inverted(powers @ heavy * scale)
    done[:] = np.isfinite(norm).all(axis=0)
    if not done.any():
        return
    degrees = np.arange(1, k)
    velocity = np.zeros((*last.shape[:-1], 2, k))  # r p and r p'
    velocity[..., 0, :] = last
    velocity[..., 1, :-1] = last[..., 1:] * degrees
    velocity = (velocity * (distance / (k * norm))[..., None, None]) @ powers
    products = np.concatenate([inverse, last[..., None]], axis=-1) * scale
    pulled = np.empty((_N_STAGES + 1, len(h), len(covectors), stages.shape[-1]))
    pulled[-1] = covectors.swapaxes(0, 1)
    both = np.zeros((len(h), len(covectors), 2, k))  # of S and S'
    for i in reversed(range(_N_STAGES)):
        u = np.einsum("j,jrcn->rcn", _BACK[i], pulled[i + 1 :])
        u *= h[:, None, None]
        shares = (u[:, :, None] @ heavy[i][:, None] @ products[i][:, None])[:, :, 0]
        along += np.where(done, shares[..., -1].T / (k * norm[i]), 0)
        both[:, :, 0] = shares[..., :-1]
        np.multiply(shares[..., 1:-1], degrees, out=both[:, :, 1, :-1])
        part = both @ powers[i][:, None]
        u -= part[:, :, 0]
        u *= velocity[i, :, 1:]
        np.multiply(part[:, :, 1], velocity[i, :, :1], out=pulled[i])
        np.subtract(u, pulled[i], out=pulled[i])
    total = np.add.reduce(pulled, axis=0).swapaxes(0, 1)
    covectors[:, done] = total[:, done]
