r"""A sample vector on its leaf under a triple: searched in float64, moved in numbers of either kind (`flows.leaf`)."""

from __future__ import annotations

import mpmath
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

    def search(self, x: Array, motion: OrbitMotion, targets: Array) -> Array | None:
        """Return alpha, beta and log(lambda) at which leading features of float64 samples have their targets."""
        y = self._coordinate(x)[0]
        size = y.max() - y.min()
        if not (np.isfinite(size) and size > 0):
            return None
        g, h = (y - y.min()) / size, (y.max() - y) / size

        def moved(at: Array) -> tuple[Array, Array]:
            image, along, _ = triple_image(g, h, at)
            z = self._back(image)[0]
            fields = along / self._coordinate(z)[1]
            return motion.values(z)[: len(targets)], motion.gradients(z)[: len(targets)] @ fields.T / len(z)

        with np.errstate(all="ignore"):
            found: Array | None = on_triple_leaf(y, targets, moved, self._ends)
        return found

    def moved(self, start: Moved, motion: OrbitMotion, targets: Array) -> Moved | None:
        """Move samples to the image that a search finds; None where it finds none."""
        x = start.values
        at = self.search(x.astype(np.float64), motion, targets.astype(np.float64))
        if at is None:
            return None
        ends, stretch = (as_multiprecision(at[:2]), mpmath.exp(mpmath.mpf(float(at[2])))) if x.dtype == object else (
            at[:2], np.exp(at[2]))
        with np.errstate(all="ignore"):
            y, slope = self._coordinate(x)
            size = y.max() - y.min()
            g, h = (y - y.min()) / size, (y.max() - y) / size
            total = h + stretch * g
            image = (ends[0] * h + ends[1] * stretch * g) / total
            values = self._back(image)[0]
            rate = (ends[1] - ends[0]) * stretch / (size * total * total) * slope / self._coordinate(values)[1]
            error = start.error * rate + unit(x) * (abs(x) * rate + abs(values))
        return Moved(values, start.slope * rate, error) if is_finite(largest(values)) else None

    def _coordinate(self, x: Array) -> tuple[Array, Array]:
        phi, slope = self._phi(x)
        return np.broadcast_to(phi, x.shape), np.broadcast_to(slope, x.shape)
