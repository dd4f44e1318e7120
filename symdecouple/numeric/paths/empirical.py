r"""Conditions C1 and C2 of a set with black boxes, looked at on samples: figures, and never a proof.

At a sample, with v_i = N grad f_i and P_perp the projection off their span,

.. math::
    \text{C1}:\ \min_i \frac{|g_i|}{|v_i|} > \tau, \qquad
    \text{C2}:\ \max_{i<j} \frac{|P_\perp (D_{v_i} v_j - D_{v_j} v_i)|}
    {|D_{v_i} v_j| + |D_{v_j} v_i| + |v_i| |v_j| / s} \le \tau

g_i the part of v_i orthogonal to those before it, s the standard deviation of the sample: what the derivatives would be
large against if they vanish. Derivatives of gradients along a direction are differences. Neither figure changes when
samples or features are rescaled.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.paths.black_box_rows import BlackBoxFeatures
from symdecouple.numeric.paths.narrow_path import Frame
from symdecouple.numeric.samples.batch import FloatArray
from symdecouple.numeric.samples.matrix import row_scales
from symdecouple.verdict import Status, Verdict

__all__ = ["TOLERANCE", "empirical_frobenius"]

TOLERANCE = 2.0**-20
"""Differences of gradients that are differences themselves are good to 1e-9, where the samples have no large offset."""


def empirical_frobenius(features: FeatureSet, samples: Any, *, n_samples: int | None = None,
                        budget: float = 30.0) -> Verdict:
    """Return how far the brackets of the gradients are from their span at some samples.

    Parameters
    ----------
    features : FeatureSet
        With black boxes among them.
    samples : array_like (..., N)
    n_samples : int, optional
        N, where it was said before.
    budget : float
        Seconds; samples that are left then are not looked at.

    Returns
    -------
    Verdict
        NUMERICAL, with `holds` for these samples, the largest `residual` and its `tolerance`; C1 in `independence`,
        with the smallest part of a gradient that those before it lack. UNDECIDED where no sample could be used.

    Raises
    ------
    InvalidInput
        If the samples are not sample vectors of at least 2 finite numbers.

    Examples
    --------
    >>> from symdecouple.language.feature import Feature
    >>> power = Feature.from_callable(lambda v: (v**4).mean(), lambda v: 4 * v**3 / len(v), "power")
    >>> verdict = empirical_frobenius(FeatureSet([power]), [[1.0, 2.0, 4.0]])
    >>> verdict.status.name, verdict.holds, verdict.residual
    ('NUMERICAL', True, 0.0)
    """
    rows, boxes = _rows(samples, n_samples), BlackBoxFeatures(features)
    names, n, end = boxes.names, rows.shape[1], time.monotonic() + budget
    used, smallest, largest, (i, j), trouble = 0, 1.0, 0.0, (1, 2), ""
    for row in rows:
        said, left, distances = _looked_at(boxes, row[None])
        used, smallest, trouble = used + (not said), min(smallest, left), trouble or said
        for pair, distance in distances.items():
            if not distance <= largest:
                largest, (i, j) = distance, pair
        if time.monotonic() > end:
            break
    if not used:
        return Verdict("C2", Status.UNDECIDED, names, n, reason=f"none of the {len(rows)} samples could be used: "
                       f"{trouble}")
    seen = f"{used} of {len(rows)} samples"
    evidence = (f"failed: {trouble}",) if trouble else ()
    c1 = Verdict("C1", Status.NUMERICAL, names, n, evidence=evidence, holds=smallest > TOLERANCE,
                 residual=smallest, tolerance=TOLERANCE, reason="the residual is the smallest part of a gradient "
                 f"that is orthogonal to those before it, at {seen}: above the tolerance, C1 holds there")
    return Verdict("C2", Status.NUMERICAL, names, n, evidence=evidence, independence=c1, vacuous=len(names) >= n,
                   holds=largest <= TOLERANCE, residual=largest, tolerance=TOLERANCE,
                   reason="a single field is always involutive" if len(names) < 2 else
                   f"largest relative distance of a bracket from the span of the gradients, that of [v{i}, v{j}], at "
                   f"{seen}")


def _rows(samples: Any, n_samples: int | None) -> FloatArray:
    try:
        given = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"samples are numbers in an array (..., N): {error}") from error
    if given.ndim == 0 or given.size == 0 or given.shape[-1] < 2 or not np.isfinite(given).all():
        raise InvalidInput("samples (..., N) of at least 2 finite numbers each are expected, got an array of shape "
                           f"{given.shape}{'' if np.isfinite(given).all() else ' that is not finite'}")
    if n_samples not in (None, given.shape[-1]):
        raise InvalidInput(f"n_samples={n_samples} was given, and samples of {given.shape[-1]} numbers")
    return given.reshape(-1, given.shape[-1])


def _looked_at(features: BlackBoxFeatures, row: FloatArray) -> tuple[str, float, dict[tuple[int, int], float]]:
    """Why a sample cannot be used; the least part of a gradient off those before it; how far brackets are off all."""
    refused, count, n = features.refusals(row), len(features), row.shape[1]
    with np.errstate(all="ignore"):
        gradients = np.full((1, count, n), np.nan) if refused else features.gradients(row)
        if not np.isfinite(gradients).all():
            return refused[0].detail if refused else "a gradient is not finite, or too near those before it", 1.0, {}
        frame, sizes = Frame.of(gradients), _rms(gradients[0])
        left = np.where(frame.sound[0], np.diagonal(frame.triangle[0]), 0)
        weights = np.zeros((count, count, 1, count, n))
        weights[:, range(count), 0, range(count)] = gradients.swapaxes(0, 1)
        along = features.curvature(row, weights)  # D_u v_j along u = v_i
        outside = frame.split(frame.split(along - along.swapaxes(0, 1))[1])[1]  # twice: the first leaves rounding
        whole = _rms(along) + _rms(along).swapaxes(0, 1) + (np.outer(sizes, sizes) / row_scales(row))[..., None]
        apart = np.where(whole != 0, _rms(outside) / whole, 0)
        least = float(np.where(sizes > 0, left / sizes, 0).min())
    return "", least, {(i + 1, j + 1): float(apart[i, j, 0]) for i, j in combinations(range(count), 2)}


def _rms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors**2).mean(axis=-1)))
