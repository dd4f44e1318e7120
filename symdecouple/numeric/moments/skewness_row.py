"""One long sample at its target skewness, by formula: nothing of its length is kept.

The same flow as in `riccati.flow`, u - u_c = (w/v) h/(g + w) from an entry c near the mean; the order of entries that
differ by rounding alone may not be kept here. Its mean, deviation, and the moments of what is standardized come from
power sums over blocks, so any part of the sample can be asked for at level 3, as often as it is wanted.

What rounding leaves of the skewness is put right along q = z^2 - G z - 1, to first order, in the values and in the
moments alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.moments.power_sums import standardized_moments
from symdecouple.numeric.moments.skewness_root import UNRESOLVED, find_roots
from symdecouple.numeric.moments.skewness_step import ASTRAY, LINEAR, LOOK, LOST
from symdecouple.numeric.moments.ties import ties_of
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = ["MOMENTS", "FlowedRow", "Locate", "Pole", "flowed_row", "located"]

Pole: TypeAlias = tuple[float, float, float]
Locate: TypeAlias = Callable[[Panel, FloatArray], Pole | None]

TILE = 2**13  # entries worked on at a time
_STEEP = 2.0**-900
_POLISH = 4  # steps of the pole at most
MOMENTS = 6  # the third norm of the values at level 3 is among them


@dataclass(frozen=True, slots=True)
class FlowedRow:
    """A row (N,) of any float type, and the numbers that take its entries to level 3.

    Attributes
    ----------
    scale, offset : float
        g = x scale - offset is the distance from the end that lies towards the pole.
    pole : float
        w; infinite where the row is standardized and no more.
    entry : float
        x_c scale.
    shift, deviation : float
        Mean and deviation of u - u_c.
    time : float
        What is left of the flow.
    moments : array (7,)
        Mean(z^j) before that.
    """

    row: NDArray[np.floating[Any]]
    scale: float
    offset: float
    pole: float
    entry: float
    shift: float = 0.0
    deviation: float = 1.0
    time: float = 0.0
    moments: FloatArray | None = None

    @property
    def share(self) -> float:
        """w/(g + w) at the entry; 1 where the row is standardized and no more."""
        return self.pole / ((self.entry - self.offset) + self.pole) if self.pole < np.inf else 1.0

    @property
    def is_steep(self) -> bool:
        """Whether the factors of u leave float64 one by one."""
        return not self.share > _STEEP

    def apart(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        """u - u_c."""
        y: FloatArray = np.multiply(x, self.scale, dtype=np.float64)
        h: FloatArray = y - self.entry
        if self.pole == np.inf:
            return h
        y -= self.offset
        y += self.pole
        if not self.is_steep:
            np.divide(h, y, out=h)
            h *= self.share
            return h
        w, v = self.pole, (self.entry - self.offset) + self.pole
        apart: FloatArray = np.where(h < 0, (h / v) * (w / y), (w / v) * (h / y))
        return apart

    def at(self, x: NDArray[np.floating[Any]]) -> FloatArray:
        """Where entries are at level 3."""
        z = self.apart(x)
        z -= self.shift
        z /= self.deviation
        if self.time:
            assert self.moments is not None
            moved = z - self.moments[3]
            moved *= z
            moved -= 1.0
            moved *= self.time
            z += moved
        return np.negative(z, out=z) if self.scale < 0 else z

    def slope(self, x: NDArray[np.floating[Any]], z: FloatArray) -> FloatArray:
        """dz/dx at entries that are at z then, with the numbers of the flow held."""
        if self.pole == np.inf:
            return self._of_entries(np.full(len(x), abs(self.scale)), z)
        y: FloatArray = np.multiply(x, self.scale, dtype=np.float64)
        y -= self.offset
        y += self.pole
        rate = self.pole / y
        np.divide(abs(self.scale), y, out=y)  # in the units of x: the scale and y may be near the end of float64
        rate *= y
        return self._of_entries(rate, z)

    def slope_at_place(self, z: FloatArray) -> FloatArray:
        """The same from z alone, as far as rounding lets it."""
        if self.pole == np.inf:
            return self._of_entries(np.full(len(z), abs(self.scale)), z)
        left = self.share - ((-z if self.scale < 0 else z) * self.deviation + self.shift)
        return self._of_entries(left * left * (abs(self.scale) / self.pole), z)

    def _of_entries(self, rate: FloatArray, z: FloatArray) -> FloatArray:
        """Slopes du/dx become dz/dx."""
        rate /= self.deviation
        if self.time:
            assert self.moments is not None
            rate *= 1 + self.time * (2 * (-z if self.scale < 0 else z) - self.moments[3])
        return rate

    def tiles(self, size: int = TILE) -> Iterator[FloatArray]:
        """The whole row at level 3, in parts."""
        return (self.at(self.row[i : i + size]) for i in range(0, len(self.row), size))

    def moment(self, k: int) -> float:
        """Mean(z^k) at level 3, k = 3 to 5."""
        assert self.moments is not None
        a = self.moments
        value = a[k] + self.time * k * (a[k + 1] - a[3] * a[k] - a[k - 1])
        return float(-value if self.scale < 0 and k % 2 else value)

    def norm(self) -> float:
        """D_3 of the values, up to what is left of the flow."""
        assert self.moments is not None
        a = self.moments
        second, product = a[4] - a[3] ** 2 - 1, a[5] - a[3] * a[4] - a[3]
        return float(a[6] - a[4] ** 2 - a[3] ** 2 - product**2 / second)

    # --- how it is found ---

    def placed(self, target: float) -> tuple[Self, float, float]:
        """The same with its moments and the time that is left; the distance to the target, and Newton's next pole."""
        found = self._summed()
        if abs(found.shift) > ASTRAY * found.deviation:
            found = found._nearer()._summed()
        a = found.moments
        assert a is not None
        wanted = -target if self.scale < 0 else target
        spread = a[4] - a[3] ** 2 - 1
        if not spread > LOST:
            spread = found._spread()
        time = -(a[3] - wanted) / (3 * spread)
        g = found.entry - found.offset
        mean = found.shift + (g / (g + self.pole) if self.pole < np.inf else 0.0)
        change = self.pole * (time / (found.deviation + time * (mean - 1))) if self.pole < np.inf else np.nan
        return replace(found, time=float(time)), abs(float(a[3] - wanted)), float(self.pole + change)

    def is_linear(self) -> bool:
        """Whether the way left is so short that z + s q is there."""
        assert self.moments is not None
        return bool(abs(self.time) * (self.moments[4] * len(self.row)) ** 0.25 <= LINEAR)

    def _summed(self) -> Self:
        def to_apart(block: FloatArray, _: IntArray) -> None:
            block[...] = self.apart(block)

        found = standardized_moments(self.row[None], np.array([0]), MOMENTS, to_apart)
        return self._with(found.mean[0], found.deviation[0], found.standardized[:, 0])

    def _with(self, shift: float, deviation: float, moments: FloatArray) -> Self:
        a = moments.copy()
        a[:3] = 1.0, 0.0, 1.0
        return replace(self, shift=float(shift), deviation=float(deviation), time=0.0, moments=a)

    def _nearer(self) -> Self:
        """From the entry nearest to the mean."""
        best, nearest = self.entry, np.inf
        for i in range(0, len(self.row), TILE):
            part = self.row[i : i + TILE]
            away = np.abs(self.apart(part) - self.shift)
            place = int(away.argmin())
            if away[place] < nearest:
                best, nearest = float(part[place]) * self.scale, float(away[place])
        return replace(self, entry=best)

    def _spread(self) -> float:
        """Mean(q^2), where the moments do not hold its digits."""
        assert self.moments is not None
        total = 0.0
        for z in self.tiles():
            q = z * z - (-self.moments[3] if self.scale < 0 else self.moments[3]) * z - 1
            total += float(q @ q)
        return total / len(self.row)


def located(panel: Panel, target: FloatArray) -> Pole | None:
    """Scale, offset and pole of a panel's only row; None where float64 ends."""
    roots = find_roots(panel, np.array([0]), target)
    if np.isnan(roots.kurtosis[0]):
        return None
    turned = bool(roots.turned[0])
    scale = float(np.ldexp(-1.0 if turned else 1.0, roots.lift[0]))
    offset = float((panel.high if turned else panel.low)[0] * scale)
    return scale, offset, np.inf if roots.is_there[0] else float(roots.pole[0])


def flowed_row(
    panel: Panel, i: int, target: float, locate: Locate = located, kind: type[FlowedRow] = FlowedRow
) -> FlowedRow | Outcome:
    """Row i of a panel without weights at its target skewness, or why it has none."""
    ties = None if panel.ties is None else (panel.ties[0][i : i + 1], panel.ties[1][i : i + 1])
    one = Panel(panel.values[i : i + 1], panel.low[i : i + 1], panel.high[i : i + 1], ties)
    goal = np.array([target])
    refused = ties_of(one).unreachable(goal)
    if refused:
        return refused[0]
    pole = locate(one, goal)
    if pole is None:
        return UNRESOLVED
    with np.errstate(all="ignore"):
        return _polished(panel.values[i], *pole, target, kind)


def _polished(
    row: NDArray[np.floating[Any]], scale: float, offset: float, pole: float, target: float,
    kind: type[FlowedRow] = FlowedRow,
) -> FlowedRow:
    """The row at its root: Newton's steps of the pole as long as they bring the skewness nearer."""
    looked_at = row[np.arange(LOOK) * len(row) // LOOK] * np.float64(scale)

    def started(pole: float) -> FlowedRow:
        u = looked_at - offset
        if pole < np.inf:
            u /= u + pole
        return kind(row, scale, offset, pole, float(looked_at[np.abs(u - u.mean()).argmin()]))

    best, distance, pole = started(pole).placed(target)
    for _ in range(_POLISH):
        if best.is_linear() or not 0 < pole < np.inf:
            return best
        other, left, pole = started(pole).placed(target)
        if not left < distance:
            break
        best, distance = other, left
    return best if best.is_linear() else replace(best, time=0.0)
