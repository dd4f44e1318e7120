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
from dataclasses import dataclass, field
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
    rows = _rows(samples, n_samples)
    found = _Findings(BlackBoxFeatures(features))
    end = time.monotonic() + budget
    for row in rows:
        found.look_at(row[None])
        if time.monotonic() > end:
            break
    names, n = found.features.names, rows.shape[1]
    if not found.used:
        return Verdict("C2", Status.UNDECIDED, names, n, reason=f"none of the {len(rows)} samples could be used: "
                       f"{found.trouble}")
    seen = f"{found.used} of {len(rows)} samples"
    evidence = (f"failed: {found.trouble}",) if found.trouble else ()
    c1 = Verdict("C1", Status.NUMERICAL, names, n, evidence=evidence, holds=found.smallest > TOLERANCE,
                 residual=found.smallest, tolerance=TOLERANCE, reason="the residual is the smallest part of a gradient "
                 f"that is orthogonal to those before it, at {seen}: above the tolerance, C1 holds there")
    i, j = found.pair
    return Verdict("C2", Status.NUMERICAL, names, n, evidence=evidence, independence=c1, vacuous=len(names) >= n,
                   holds=found.largest <= TOLERANCE, residual=found.largest, tolerance=TOLERANCE,
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


def _rms(vector: FloatArray) -> float:
    return float(np.sqrt((vector**2).mean()))


@dataclass
class _Findings:
    """What was seen at the samples so far."""

    features: BlackBoxFeatures
    used: int = 0
    largest: float = 0.0
    pair: tuple[int, int] = (1, 2)
    smallest: float = 1.0
    trouble: str = field(default="")

    def look_at(self, row: FloatArray) -> None:
        refused = self.features.refusals(row)
        gradients = np.full((1, len(self.features), row.shape[1]), np.nan)
        with np.errstate(all="ignore"):
            if not refused:
                gradients = self.features.gradients(row)
            if not np.isfinite(gradients).all():
                self.trouble = self.trouble or (refused[0].detail if refused else
                                                "a gradient is not finite, or too near those before it")
                return
            self.used += 1
            frame = Frame.of(gradients)
            sizes = np.sqrt((gradients[0] ** 2).mean(axis=1))
            left = np.where(frame.sound[0], np.diagonal(frame.triangle[0]), 0)
            self.smallest = min(self.smallest, float(np.where(sizes > 0, left / sizes, 0).min()))
            for i, j in combinations(range(len(self.features)), 2):
                one, other = self._along(row, gradients, i, j), self._along(row, gradients, j, i)
                outside = one - other
                for q in 2 * list(frame.basis[:, 0]):  # twice: the first leaves rounding
                    outside = outside - q * (q @ outside) / row.shape[1]
                size = _rms(one) + _rms(other) + float(sizes[i] * sizes[j] / row_scales(row)[0])
                distance = _rms(outside) / size if size else 0.0
                if not distance <= self.largest:
                    self.largest, self.pair = distance, (i + 1, j + 1)

    def _along(self, row: FloatArray, gradients: FloatArray, i: int, j: int) -> FloatArray:
        """Return D_u v_j along u = v_i."""
        weights = np.zeros_like(gradients)
        weights[:, j] = gradients[:, i]
        return np.asarray(self.features.curvature(row, weights)[0])
