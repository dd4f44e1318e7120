r"""A black box asked for numbers: values, gradients and second derivatives in arrays, and what it did wrong.

Nothing that a callable does ends a batch: where it raises, returns something of another shape, a complex number or NaN,
the row is NaN, and `refusals` and `gradient_refusals` say why by asking again. What is given is believed only where it
can be checked: two answers for one sample must agree, and a gradient must agree with differences of the values along
one direction.

Without a gradient, differences take its place (`features.differences`); steps are parts of the standard deviation of
the sample vector, and what they lose is judged by the noise of the function, which is measured. A gradient costs 10 N
values, a product with the Hessian matrix 16 N of them, or 10 gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.language.black_box import BlackBox
from symdecouple.numeric.features.differences import extrapolated
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import row_scales

__all__ = ["HIDDEN", "RESOLVED", "Oracle"]

EPS = float(np.finfo(np.float64).eps)
RESOLVED = 2.0**-28
"""Gradients whose error is above this part of them are not used."""
HIDDEN = 8.0
"""Gradients below so many times their rounding are not told from 0."""

_NOISE = (8, 4, 2.0**-24)  # points on a short line less one, the order of their difference, their distance
_CHUNK = 2**18  # numbers in one call of a vectorized function
_REPEATED = 2.0**-30  # sums in another order differ by less
_AGREES = 2.0**-16  # of a gradient and differences along one direction


class _CallFailed(Exception):
    """The callable raised, or returned what is no answer; the text says what."""


class Oracle:
    """One black box on arrays, a sample vector a row.

    Parameters
    ----------
    box : BlackBox

    Examples
    --------
    >>> oracle = Oracle(BlackBox(lambda v: (v**2).mean(), name="power"))
    >>> rows = np.array([[1.0, 2.0, 6.0]])
    >>> gradients, errors = oracle.gradients(rows)
    >>> bool(np.abs(gradients[0] - 2 * rows[0] / 3).max() < 1e-11)
    True
    """

    def __init__(self, box: BlackBox) -> None:
        self.box, self.name = box, box.name

    def values(self, rows: FloatArray) -> FloatArray:
        """Return the numbers of rows (R, N), of shape (R,)."""
        return self._asked(self.box.function, rows, ())

    def gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return plain gradients (R, N) and their errors (R,), relative to their size; 0 for a gradient that was given.

        A gradient that rounding hides is 0; one with an error above `RESOLVED` is NaN, and its error tells.
        """
        if self.box.gradient is not None:
            return self._asked(self.box.gradient, rows, rows.shape[1:]), np.zeros(len(rows))
        found, errors = np.full(rows.shape, np.nan), np.full(len(rows), np.inf)
        values = self.values(rows)
        open_rows = np.flatnonzero(np.isfinite(values))
        given, scale = rows[open_rows], row_scales(rows[open_rows])
        noise = self._noise(given, values[open_rows])

        def quotient(which: IntArray, h: float) -> tuple[FloatArray, FloatArray]:
            return self._by_coordinates(given[which], h * scale[which], noise[which])

        each, doubts, settled = extrapolated(quotient, *given.shape)
        size, error = (np.sqrt((part**2).mean(axis=1)) for part in (each, doubts))
        hidden = settled & (size <= HIDDEN * error)
        with np.errstate(all="ignore"):
            relative = np.where(hidden, 0, error / size)
        each[hidden] = 0
        each[~(relative <= RESOLVED)] = np.nan
        found[open_rows], errors[open_rows] = each, relative
        return found, errors

    def curvature(self, rows: FloatArray, directions: FloatArray) -> FloatArray:
        """Return Hess f w for directions w (R, N), of shape (R, N)."""
        size = np.sqrt((directions**2).mean(axis=1))
        found = np.where(np.isfinite(size)[:, None], np.zeros(rows.shape), np.nan)
        moving = np.flatnonzero(np.isfinite(rows).all(axis=1) & np.isfinite(size) & (size > 0))
        given, scale = rows[moving], row_scales(rows[moving])
        along = directions[moving] * (scale / size[moving])[:, None]
        has_gradient = self.box.gradient is not None
        noise = np.zeros(len(given)) if has_gradient else self._noise(given, self.values(given))

        def slopes(points: FloatArray, which: IntArray, h: float) -> tuple[FloatArray, Any]:
            if has_gradient:
                return self.gradients(points)[0], 0.0
            return self._by_coordinates(points, h * scale[which], noise[which])

        def quotient(which: IntArray, h: float) -> tuple[FloatArray, FloatArray]:
            (up, noise_up), (down, noise_down) = (
                slopes(given[which] + sign * h * along[which], which, h) for sign in (1, -1))
            return _central(up, down, h, given[which] / scale[which, None], np.fmax(noise_up, noise_down))

        if len(moving):
            each, _, _ = extrapolated(quotient, len(given), rows.shape[1], n_steps=5 if has_gradient else 4)
            found[moving] = each * (size[moving] / scale)[:, None]
        return found

    # --- what went wrong ----------------------------------------------------------------------------------------

    def refusals(self, rows: FloatArray, values: FloatArray) -> dict[int, Outcome]:
        """Ask again at finite rows; return what is wrong with the values, row by row."""
        again = self.values(rows)
        given = np.isfinite(rows).all(axis=1)
        with np.errstate(all="ignore"):
            moved = np.abs(values - again) > _REPEATED * np.maximum(np.abs(values), np.abs(again))
        found: dict[int, Outcome] = {}
        for r in np.flatnonzero(given & (moved | ~np.isfinite(values) | ~np.isfinite(again))):
            first = f"{values[r]:.12g}" if np.isfinite(values[r]) else "not a number"
            restless = Outcome(False, "callable failed", f"{self.name} changes its answer: {first}, then "
                               f"{again[r]:.12g} for the same sample; a feature has no random numbers and no memory")
            found[int(r)] = restless if np.isfinite([values[r], again[r]]).any() else self._complaint(rows[r])
        return found

    def gradient_refusals(self, rows: FloatArray) -> dict[int, Outcome]:
        """Compute the gradients at finite rows with a value; return what is wrong with them, row by row."""
        open_rows = np.flatnonzero(np.isfinite(self.values(rows)))
        given = rows[open_rows]
        gradients, errors = self.gradients(given)
        found: dict[int, Outcome] = {}
        slopes, differences, doubts, sizes = self._along_one_direction(given, gradients)
        for i, r in enumerate(open_rows):
            if not errors[i] <= RESOLVED:
                found[int(r)] = Outcome(False, "gradient not resolved", f"{self.name}: differences give its gradient "
                                        f"to {errors[i]:.1e} of its size only; is it smooth, in 64 bits, and without "
                                        "an offset that hides it? Or give gradient=")
            elif not np.isfinite(gradients[i]).all():
                found[int(r)] = self._complaint(given[i], of_gradient=True)
            elif doubts[i] <= _AGREES * sizes[i] < abs(slopes[i] - differences[i]):
                found[int(r)] = Outcome(False, "callable failed", f"{self.name}: its gradient gives a slope of "
                                        f"{slopes[i]:.6g} along a direction in which its values have one of "
                                        f"{differences[i]:.6g}; return the plain gradient, not N times it")
        return found | self._single_precision(rows, open_rows)

    def trouble(self, rows: FloatArray) -> str:
        """Return what is wrong at the first of some rows at which anything is; nothing if all is well."""
        for row, value in zip(rows, self.values(rows), strict=True):
            if not np.isfinite(value):
                return self._complaint(row).detail
            if self.box.gradient is not None and not np.isfinite(self.gradients(row[None])[0]).all():
                return self._complaint(row, of_gradient=True).detail
        return ""

    def _complaint(self, row: FloatArray, of_gradient: bool = False) -> Outcome:
        """Say why a row has no value, or no gradient."""
        function, name = self.box.function, self.name
        if of_gradient and self.box.gradient is not None:
            function, name = self.box.gradient, f"the gradient of {name}"
        try:
            found = self._answers(function, row[None], row.shape if of_gradient else ())[0]
        except _CallFailed as error:
            return Outcome(False, "callable failed", f"{name}: {error}")
        is_what = "not finite" if of_gradient else float(found)
        return Outcome(False, "not finite", f"{name} is {is_what} here; is the sample in its domain?")

    def _single_precision(self, rows: FloatArray, open_rows: IntArray) -> dict[int, Outcome]:
        """Refuse answers in 32 bits or less, which no path can follow."""
        for function, shape in ((self.box.function, ()), (self.box.gradient, rows.shape[1:])):
            if function is None or not len(open_rows):
                continue
            try:
                kind = self._answers(function, rows[open_rows[:1]], shape).dtype
            except _CallFailed:
                continue
            if kind in (np.float16, np.float32):
                outcome = Outcome(False, "callable failed", f"{self.name}: answers in {kind} are too rough to be "
                                  "differentiated; return 64 bits (JAX: jax.config.update('jax_enable_x64', True))")
                return {int(r): outcome for r in open_rows}
        return {}

    def _along_one_direction(self, rows: FloatArray, gradients: FloatArray
                             ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return slopes (R,) by the gradients, by differences, the doubt about these, and the size of all."""
        if self.box.gradient is None or not len(rows):
            return (np.zeros(len(rows)),) * 4
        scale, noise = row_scales(rows), self._noise(rows, self.values(rows))
        along = _direction(rows.shape[1]) * scale[:, None]

        def quotient(which: IntArray, h: float) -> tuple[FloatArray, FloatArray]:
            up, down = (self.values(rows[which] + sign * h * along[which])[:, None] for sign in (1, -1))
            return _central(up, down, h, rows[which] / scale[which, None], noise[which, None])

        found, doubts, _ = extrapolated(quotient, len(rows), 1)
        slopes = np.vecdot(gradients, along)
        sizes = np.fmax(np.fmax(np.abs(slopes), np.abs(found[:, 0])), np.sqrt((gradients**2).sum(axis=1)) * scale)
        return slopes, found[:, 0], doubts[:, 0], sizes

    # --- stencils -----------------------------------------------------------------------------------------------

    def _noise(self, rows: FloatArray, values: FloatArray) -> FloatArray:
        """Return how far values scatter about a smooth function, (R,).

        By differences of high order of values on a short line, of which nothing else is left (J. J. More, S. M. Wild,
        SIAM J. Sci. Comput. 33 (2011) 1292-1314).
        """
        count, order, distance = _NOISE
        along = _direction(rows.shape[1]) * (distance * row_scales(rows))[:, None]
        line = np.array([self.values(rows + i * along) for i in range(count + 1)])
        mean_square = (np.diff(line, order, axis=0) ** 2).mean(axis=0)
        noise: FloatArray = np.fmax(np.sqrt(mean_square / comb(2 * order, order)), EPS * np.abs(values))
        return noise

    def _by_coordinates(self, rows: FloatArray, steps: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return central quotients by each coordinate; the steps as they are after rounding."""
        up, down = self._displaced(rows, steps), self._displaced(rows, -steps)
        width = (rows + steps[:, None]) - (rows - steps[:, None])
        return (up - down) / width, 2 * np.fmax(noise[:, None], EPS * np.abs(up)) / np.abs(width)

    def _displaced(self, rows: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the values (R, N) of rows (R, N) with one coordinate after the other moved by the step of its row."""
        n_rows, n = rows.shape
        found = np.empty(n_rows * n)
        for first in range(0, n_rows * n, block := max(1, _CHUNK // n)):
            place = np.arange(first, min(first + block, n_rows * n))
            points = rows[place // n]
            points[np.arange(len(place)), place % n] += steps[place // n]
            found[place] = self.values(points)
        return found.reshape(n_rows, n)

    # --- calls --------------------------------------------------------------------------------------------------

    def _asked(self, function: Callable[[Any], Any], rows: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Return the answers at rows (R, N), (R, *shape): NaN where there is none, or where a row is not finite."""
        found = np.full((len(rows), *shape), np.nan)
        block = max(1, _CHUNK // max(rows.shape[1], 1)) if self.box.vectorized else 1
        finite = np.flatnonzero(np.isfinite(rows).all(axis=1))
        waiting = [finite[first : first + block] for first in range(0, len(finite), block)]
        with np.errstate(all="ignore"):
            for which in waiting:
                try:
                    found[which] = self._answers(function, rows[which], shape)
                except _CallFailed:
                    waiting += list(which[:, None]) if len(which) > 1 else []  # one by one
        return found

    def _answers(self, function: Callable[[Any], Any], rows: FloatArray, shape: tuple[int, ...]) -> Any:
        """Return the answers at some rows, or at the only one of them, as they came."""
        if self.box.vectorized:
            return _numbers(function, rows, (len(rows), *shape))
        return _numbers(function, rows[0], shape)[None]


def _central(up: FloatArray, down: FloatArray, h: float, moved: FloatArray, noise: Any
             ) -> tuple[FloatArray, FloatArray]:
    """Return central quotients of numbers (R, K), and what rounding of these and of the points moved, (R, N), does."""
    found, largest = (up - down) / (2 * h), np.fmax(noise, EPS * np.fmax(np.abs(up), np.abs(down)))
    return found, (largest + EPS * np.abs(moved).max(axis=1, keepdims=True) * np.abs(found)) / h


def _direction(n: int) -> FloatArray:
    """Return a direction in which no feature is likely to be special; always the same."""
    return np.random.default_rng(n).normal(size=n)


def _numbers(function: Callable[[Any], Any], argument: FloatArray, shape: tuple[int, ...]) -> Any:
    """Call with a copy, which the function may change; return an array of real numbers."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(function(argument.copy()))
        if found.dtype == object:  # numbers of another kind; None would become NaN
            found = np.array([float(v) for v in found.flat]).reshape(found.shape)
    except Exception as error:  # whatever it was, it concerns this sample only
        said = f"{type(error).__name__}: {error}".strip()
        raise _CallFailed(f"it raised {said if len(said) < 300 else said[:297] + '...'}") from error
    if found.dtype.kind not in "biuf":
        raise _CallFailed(f"it returned {found.dtype}, real numbers are expected")
    if found.shape != shape:
        raise _CallFailed(f"it returned an array of shape {found.shape} for samples of shape {argument.shape}, "
                          f"{shape or 'a number'} is expected")
    return found
