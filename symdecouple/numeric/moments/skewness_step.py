"""Rows carried along their skew flow until a given pole is at infinity, standardized, and put right to the last digit.

With g the distance from the minimum of the sample (turned, where its skewness must rise) and w that of the pole,
u = g/(g + w). Values are taken from an entry near the mean of u, c say, without cancellation, whatever w: with
h = x - x_c and v = g_c + w,

    u - u_c = (w/v)/(1 + v/h) above,  (h/v) w/(g + w) below,        du/dx = w/(g + w)^2.

Every step of these is monotone in x, and stays so when it is rounded: the order of the sample is kept.

What rounding leaves of mean, variance and skewness is put right along 1, z and q = z^2 - G z - 1, to first order: their
gradients are 1, 2 z and 3 z^2, and q is orthogonal to 1 and z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.moments.skewness_root import Roots
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel

__all__ = ["ASTRAY", "LINEAR", "LOOK", "LOST", "TILE", "Bundle", "Place", "run_of"]

TILE = 2**14  # samples worked on at a time: four arrays of them stay in the cache
_POLISH = 4  # steps of the pole at most; the second is seldom better than rounding
LINEAR = 2.0**-27  # times s max|z| up to which s q is the flow to the last digit
_STILL = 2.0**-56  # and below which the slope does not feel it
LOST = 2.0**-20  # Mean(q^2) below which a_4 - a_3^2 - 1 does not hold its digits
LOOK = 64  # entries looked at for one near the mean
ASTRAY = 2.0  # deviations between that one and the mean that cost a digit: then all entries are looked at


def run_of(rows: IntArray) -> slice | IntArray:
    """Consecutive rows as a slice."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if rows[-1] - rows[0] + 1 == len(rows) else rows


@dataclass(frozen=True, slots=True)
class Place:
    """Rows for one pole each, standardized but for rounding, and how far they are from the target."""

    pole: FloatArray
    values: FloatArray
    steepness: FloatArray  # w/(g + w); (R, 0) where slopes are not asked for
    deviation: FloatArray  # of u
    moments: FloatArray  # Mean z^k, k = 1..4, in columns
    distance: FloatArray  # skewness - target
    time: FloatArray  # of the flow, to the target
    change: FloatArray  # Newton's step of the pole
    furthest: FloatArray  # a bound of max|z|

    def is_linear(self) -> NDArray[np.bool_]:
        """Whether the way left is so short that z + s q is there."""
        linear: NDArray[np.bool_] = np.abs(self.time) * self.furthest <= LINEAR
        return linear

    def take(self, rows: IntArray, other: Place, chosen: NDArray[np.bool_]) -> None:
        """Replace rows by the chosen ones of another place of them."""
        for name in self.__slots__:
            getattr(self, name)[rows] = getattr(other, name)[chosen]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A few rows, and the scales that turn them so that the pole lies below; g = x scale - offset."""

    x: FloatArray
    scale: FloatArray
    offset: FloatArray
    lift: NDArray[np.intp]  # from the units of the sample
    target: FloatArray
    is_straight: bool  # the pole is at infinity
    share: FloatArray | None = None  # of each entry, where they have weights

    @classmethod
    def of(
        cls,
        panel: Panel,
        rows: IntArray,
        roots: Roots,
        target: FloatArray,
        lift: NDArray[np.intp],
        is_straight: bool,
    ) -> Bundle:
        """The rows named, for their roots."""
        turned = roots.turned[rows]
        scale = np.ldexp(np.where(turned, -1.0, 1.0), roots.lift[rows])
        offset = np.where(turned, panel.high[rows], panel.low[rows]) * scale
        wanted = np.where(turned, -target[rows], target[rows])
        total = lift[rows] + roots.lift[rows]
        x = np.asarray(panel.values[run_of(rows)], dtype=np.float64)
        share = None
        if panel.weights is not None:
            heavy = panel.weights[rows]
            share = heavy / heavy.sum(axis=1)[:, None]
        return cls(x, scale[:, None], offset[:, None], total, wanted, is_straight, share)

    def some(self, rows: IntArray) -> Bundle:
        """Fewer of them."""
        return Bundle(
            self.x[rows],
            self.scale[rows],
            self.offset[rows],
            self.lift[rows],
            self.target[rows],
            self.is_straight,
            None if self.share is None else self.share[rows],
        )

    # --- means over the entries, tile by tile ---

    def count(self) -> int:
        """By what sums are divided: the number of entries, or the sum of their shares."""
        return self.x.shape[1] if self.share is None else 1

    def sum(self, values: FloatArray, part: slice) -> FloatArray:
        """Over one tile."""
        total: FloatArray = values.sum(axis=1) if self.share is None else np.vecdot(values, self.share[:, part])
        return total

    def sum_of_squares(self, values: FloatArray, part: slice) -> FloatArray:
        """Over one tile."""
        total: FloatArray = np.vecdot(values, values if self.share is None else values * self.share[:, part])
        return total

    def third_absolute_moment(self, place: Place) -> FloatArray:
        """Mean|z|^3."""
        moment: FloatArray = self.sum(np.abs(place.values) ** 3, slice(None)) / self.count()
        return moment

    # --- the flow ---

    def at(self, pole: FloatArray, out: tuple[FloatArray, FloatArray] | None = None) -> Place:
        """The rows flowed until the pole is at infinity; values and steepness are written to `out`.

        A steepness of shape (R, 0) is not asked for.
        """
        values, steepness = out or (np.empty_like(self.x), np.empty_like(self.x))
        with np.errstate(all="ignore"):  # 1/0 is what the formula wants; steps where the slope is lost are not taken
            place, mean = self._from(pole, self._near(pole, None, LOOK), values, steepness)
            shift = np.abs(mean[1])
            astray = np.flatnonzero(shift > ASTRAY)
            if len(astray) and self.x.shape[1] > LOOK:
                part = self.some(astray)
                entry = part._near(pole[astray], mean[0][astray], self.x.shape[1])
                room = np.empty_like(part.x), np.empty((len(astray), steepness.shape[1]))
                again, _ = part._from(pole[astray], entry, *room)
                place.take(astray, again, np.ones(len(astray), dtype=np.bool_))
        return place

    def _near(self, pole: FloatArray, mean: FloatArray | None, count: int) -> FloatArray:
        """x scale of the entry whose u is nearest to a mean, of `count` spread over the row; of all with weights."""
        n_samples = self.x.shape[1]
        count = min(count, n_samples) if self.share is None else n_samples
        taken = self.x[:, np.arange(count) * n_samples // count] * self.scale
        u = taken - self.offset
        if not self.is_straight:
            u /= u + pole[:, None]
        if mean is None:
            mean = u.sum(axis=1) / count if self.share is None else np.vecdot(u, self.share)
        nearest = np.abs(u - mean[:, None]).argmin(axis=1)
        entry: FloatArray = np.take_along_axis(taken, nearest[:, None], axis=1)
        return entry

    def _from(
        self, pole: FloatArray, entry: FloatArray, values: FloatArray, steepness: FloatArray
    ) -> tuple[Place, tuple[FloatArray, FloatArray]]:
        """Values from one entry; also the mean of u, and how many deviations it is from that entry."""
        scratch = np.empty((len(self.x), min(self.x.shape[1], TILE)))
        spare = None if steepness.shape[1] else np.empty_like(scratch)
        w, g = pole[:, None], entry - self.offset
        v = g + w
        shift, variance, moments = np.zeros(len(pole)), np.zeros(len(pole)), np.zeros((len(pole), 4))
        for part in self._tiles():
            h, z = scratch[:, : part.stop - part.start], values[:, part]
            p = steepness[:, part] if spare is None else spare[:, : part.stop - part.start]
            np.multiply(self.x[:, part], self.scale, out=p)
            if self.is_straight:
                np.subtract(p, entry, out=z)
                p[...] = 1.0
            else:
                np.subtract(p, entry, out=h)
                p -= self.offset
                p += w
                np.divide(w, p, out=p)
                np.maximum(h, 0.0, out=z)
                np.divide(v, z, out=z)
                z += 1.0
                np.divide(w / v, z, out=z)
                np.minimum(h, 0.0, out=h)
                h /= v
                h *= p
                z += h
            shift += self.sum(z, part)
        shift /= self.count()
        for part in self._tiles():
            z = values[:, part]
            z -= shift[:, None]
            variance += self.sum_of_squares(z, part)
        deviation = np.sqrt(variance / self.count())
        for part in self._tiles():
            h, z = scratch[:, : part.stop - part.start], values[:, part]
            z /= deviation[:, None]
            moments[:, 0] += self.sum(z, part)
            np.multiply(z, z, out=h)
            moments[:, 1] += self.sum(h, part)
            moments[:, 3] += self.sum_of_squares(h, part)
            h *= z
            moments[:, 2] += self.sum(h, part)
        moments /= self.count()
        mean = g[:, 0] if self.is_straight else g[:, 0] / v[:, 0]
        mean = mean + shift
        distance = moments[:, 2] - self.target
        spread = moments[:, 3] - moments[:, 2] ** 2 - 1
        lost = np.flatnonzero(~(spread > LOST))
        if len(lost):
            z = values[lost]
            q = z * z - moments[lost, 2][:, None] * z - 1
            spread[lost] = self.some(lost).sum(q * q, slice(None)) / self.count()
        time = -(distance - 3 * moments[:, 0] + 1.5 * (1 - moments[:, 1]) * moments[:, 2]) / (3 * spread)
        change = pole * (time / (deviation + time * (mean - 1)))
        furthest = (moments[:, 3] * self.x.shape[1]) ** 0.25 if self.share is None else np.abs(values).max(axis=1)
        place = Place(pole, values, steepness, deviation, moments, distance, time, change, furthest)
        return place, (mean, shift / deviation)

    def _tiles(self) -> list[slice]:
        n_samples = self.x.shape[1]
        return [slice(start, min(start + TILE, n_samples)) for start in range(0, n_samples, TILE)]

    # --- the last digits ---

    def polish(self, place: Place) -> None:
        """Newton's steps of the pole as long as they bring the skewness nearer, where the way is not short."""
        for _ in range(_POLISH):
            pole = place.pole + place.change
            rows = np.flatnonzero(~place.is_linear() & (pole > 0) & (pole < np.inf))
            if not len(rows):
                break
            room = np.empty((len(rows), self.x.shape[1])), np.empty((len(rows), place.steepness.shape[1]))
            other = self.some(rows).at(pole[rows], room)
            better = np.abs(other.distance) < np.abs(place.distance[rows])
            if not better.any():
                break
            place.take(rows[better], other, better)

    def put_right(self, place: Place) -> FloatArray:
        """Correct the values, turn them back, and return the distance then; steepness becomes slope."""
        time = np.where(place.is_linear(), place.time, 0.0)
        mean, variance, skewness = place.moments[:, 0], place.moments[:, 1], place.moments[:, 2]
        linear = (1 - variance) / 2 - time * skewness
        scratch = np.empty((len(self.x), min(self.x.shape[1], TILE)))
        third = np.zeros(len(time))
        turned = np.flatnonzero(self.scale[:, 0] < 0)
        with np.errstate(all="ignore"):  # slopes may be beyond float64
            mantissa, exponent = np.frexp(place.pole)
            if self.is_straight:
                mantissa, exponent = np.ones(len(time)), np.zeros(len(time), dtype=np.intc)
            factor = np.ldexp(1 / place.deviation / mantissa, self.lift - exponent)[:, None]
            moved = np.flatnonzero(np.abs(time) * place.furthest > _STILL)
            for part in self._tiles():
                h, z, p = scratch[:, : part.stop - part.start], place.values[:, part], place.steepness[:, part]
                if p.shape[1]:
                    if not self.is_straight:
                        np.multiply(p, factor, out=h)
                        p *= h
                    else:
                        p *= factor
                if len(moved) and p.shape[1]:
                    p[moved] *= 1 + linear[moved, None] + 2 * time[moved, None] * z[moved]
                np.multiply(z, time[:, None], out=h)
                h += linear[:, None]
                h *= z
                h -= (mean + time)[:, None]
                z += h
                np.multiply(z, z, out=h)
                h *= z
                third += self.sum(h, part)
                if len(turned):
                    z[turned] *= -1
        distance: FloatArray = third / self.count() - self.target
        return distance
