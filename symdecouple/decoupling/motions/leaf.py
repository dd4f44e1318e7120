r"""A sample vector on its leaf under a triple: searched in float64, moved in numbers of either kind (`flows.leaf`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.decoupling.motions.motion import is_finite, largest, unit
from symdecouple.decoupling.motions.orbit import Moved, OrbitMotion
from symdecouple.flows.leaf import Leaf, Y
from symdecouple.flows.normalizer_templates import on_triple_leaf, triple_image
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.expressions import Array, Compiled, as_multiprecision

__all__ = ["LeafMotion"]


class LeafMotion:
    """Moebius maps of the coordinate of a leaf, applied to sample vectors."""

    def __init__(self, leaf: Leaf, sample: Sample) -> None:
        self.leaf = leaf
        self._phi = Compiled([leaf.phi, leaf.phi.diff(sample)], sample)
        self._back = Compiled([leaf.back], Y)
        self._ends = float(leaf.low), float(leaf.high)

    def moved(self, start: Moved, motion: OrbitMotion, targets: Array) -> Moved | None:
        """Move samples to the image at which leading features have their targets; None where a search finds none."""
        x, count = start.values, len(targets)
        with np.errstate(all="ignore"):
            y, _, size, sides = self._placed(x.astype(np.float64))

            def reached(at: Array) -> tuple[Array, Array]:
                image, along, _ = triple_image(*sides, at)
                z = self._back(image)[0]
                fields = along / self._coordinate(z)[1]
                return motion.values(z)[:count], motion.gradients(z)[:count] @ fields.T / len(z)

            is_wide = np.isfinite(size) and size > 0
            at = on_triple_leaf(y, targets.astype(np.float64), reached, self._ends) if is_wide else None
            if at is None:
                return None
            ends = as_multiprecision(at[:2]) if x.dtype == object else at[:2]
            _, slope, width, apart = self._placed(x)
            image, _, rate = triple_image(*apart, (*ends, float(at[2])))
            values = self._back(image)[0]
            rate = rate / width * slope / self._coordinate(values)[1]
            error = start.error * rate + unit(x) * (abs(x) * rate + abs(values))
        return Moved(values, start.slope * rate, error) if is_finite(largest(values)) else None

    def _placed(self, x: Array) -> tuple[Array, Array, Any, tuple[Array, Array]]:
        """Return the coordinate y, its slope, its range, and how far y is from both ends in units of that."""
        y, slope = self._coordinate(x)
        low, high = y.min(), y.max()
        return y, slope, high - low, ((y - low) / (high - low), (high - y) / (high - low))

    def _coordinate(self, x: Array) -> tuple[Array, Array]:
        phi, slope = self._phi(x)
        return np.broadcast_to(phi, x.shape), np.broadcast_to(slope, x.shape)
