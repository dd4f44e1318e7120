"""How the parts of a long sample are worked on: sums of Chebyshev polynomials, paths of nodes, series, sums of powers.

Here in arrays; `long_rows.jit` has the same in loops. Every sum is that of one part: the parts are added up by
`long_rows.parts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.chebyshev_rows import add_up, product_sums, sums_of
from symdecouple.numeric.moments.hankel import power_means
from symdecouple.numeric.moments.moment_path import RTOL, follow
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["ByNumPy", "Means", "Stopped"]


class Means(Protocol):
    """How parts of a sample are worked on. Places are those within `span`, the middle and half of a range."""

    @property
    def fewest(self) -> int:
        """Nodes to begin with."""

    def sums(self, z: FloatArray, span: tuple[float, float], m: int) -> FloatArray:
        """sum_i T_j((z_i - middle)/half), j < m."""

    def follow(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """Nodes (m,) at level k, and by how much the path pulls values apart; None where it ends before."""

    def moved(self, z: FloatArray, span: tuple[float, float], series: FloatArray) -> FloatArray:
        """z + sum_j c_j T_j(..) for coefficients (m,)."""

    def evaluated(self, z: FloatArray, span: tuple[float, float], series: Sequence[FloatArray]) -> list[FloatArray]:
        """sum_j c_j T_j(..) for some coefficients (m,) each."""

    def powers(self, y: FloatArray, top: int) -> FloatArray:
        """sum_i y_i^j, j <= top."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A path of nodes that has no end: why, and the moment that was reached."""

    outcome: Outcome
    attained: float


@dataclass(frozen=True, slots=True)
class ByNumPy:
    """`Means` in arrays."""

    fewest: int = 64

    def sums(self, z: FloatArray, span: tuple[float, float], m: int) -> FloatArray:
        """As in `Means`."""
        sums: FloatArray = sums_of(product_sums(((z - span[0]) / span[1])[None], m))[0]
        return sums

    def follow(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray
    ) -> tuple[FloatArray, float] | None:
        """As in `Means`."""
        there = self.walked(nodes, weights, k, goal, RTOL)
        return None if isinstance(there, Stopped) else there

    def walked(
        self, nodes: FloatArray, weights: FloatArray, k: int, goal: FloatArray, rtol: float
    ) -> tuple[FloatArray, float] | Stopped:
        """The same to another tolerance, and why there is none."""
        there = follow(nodes[None], k, goal[k], held=goal[1:k], weights=weights[None], rtol=rtol, one_by_one=True)
        if there.refusals:
            return Stopped(there.refusals[0], float(there.attained[0]))
        return there.values[0], float(there.growth[0])

    def moved(self, z: FloatArray, span: tuple[float, float], series: FloatArray) -> FloatArray:
        """As in `Means`."""
        moved: FloatArray = z + add_up(((z - span[0]) / span[1])[None], [series[None]])[0][0]
        return moved

    def evaluated(self, z: FloatArray, span: tuple[float, float], series: Sequence[FloatArray]) -> list[FloatArray]:
        """As in `Means`."""
        return [values[0] for values in add_up(((z - span[0]) / span[1])[None], [c[None] for c in series])]

    def powers(self, y: FloatArray, top: int) -> FloatArray:
        """As in `Means`."""
        sums: FloatArray = power_means(y[None], top)[:, 0] * len(y)
        return sums
