r"""Perturbations that the quantisation of a signal hides, for signals that are degenerate.

Two kinds, both reproducible by their seed. The *ramp* makes all values distinct, as moments need it: N levels inside
one quantisation step, in a random order that is not correlated with the values, so that the moments hardly move (levels
that rise with the places would move those of a sorted signal). The *spectral* one makes every frequency active, as
filter energies need it: the least change after which no frequency of a support is below a threshold,

.. math:: E = \begin{cases} 0 & |X| \ge \theta \\ (\theta - |X|)\, e^{i \arg X} & 0 < |X| < \theta \\
    \theta\, e^{i \varphi} & X = 0 \end{cases}

with conjugate symmetric phases, real where a frequency is its own mirror. Both together share the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput, Outcome, Refused
from symdecouple.numeric.energies.eigenvalues import EPS
from symdecouple.numeric.energies.frequencies import Grid
from symdecouple.numeric.samples.batch import FloatArray
from symdecouple.numeric.samples.intake import exact, take_numbers
from symdecouple.numeric.samples.vectors import as_floats

__all__ = ["Perturbed", "both_perturbations", "quantisation_step", "ramp_perturbation", "spectral_perturbation"]

_MOST_LEVELS = 2**24  # a signal of float64 with more of them is not quantised
_LEAST = 1e-290  # of changes, and inversely of what is changed: below, transforms lose digits
_SHARPNESS = 1e-6  # relative, of the largest threshold that is hidden


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A perturbed signal, and what was done to it.

    Attributes
    ----------
    values : array
        The signal, of the same shape, in float64.
    kind : str
        "ramp", "spectral" or "ramp and spectral".
    size : float
        The largest change of a sample.
    step : float
        The quantisation step; nan where none was asked for.
    threshold : float
        What the transform (unnormalized) reaches at least on the support; nan for a ramp.
    seed : int
    hidden : bool
        True iff rounding to the quantisation step gives the signal back.
    """

    values: FloatArray
    kind: Literal["ramp", "spectral", "ramp and spectral"]
    size: float
    step: float
    threshold: float
    seed: int
    hidden: bool

    def __str__(self) -> str:
        parts = [f"{self.kind} perturbation of size {self.size:.3g}", f"seed {self.seed}"]
        if not math.isnan(self.step):
            parts.append(f"quantisation step {self.step:.6g}, {'hidden' if self.hidden else 'not hidden'} by it")
        if not math.isnan(self.threshold):
            parts.append(f"every frequency of the support at {self.threshold:.3g} at least")
        return ", ".join(parts)


def quantisation_step(samples: ArrayLike) -> float:
    """Return the largest step of which all differences of samples are multiples; 1 for integers and booleans.

    Raises
    ------
    Refused
        If there is none: a constant in floating point, or more than 2**24 levels (float32: 2**19).

    Examples
    --------
    >>> quantisation_step([0.25, 1.0, 2.5]), quantisation_step(np.array([3, 9])), quantisation_step([0.1, 0.4, 0.6])
    (0.75, 1.0, 0.1)
    """
    given = _taken(samples)
    if given.dtype.kind in "iub":
        return 1.0
    signal = _signal(samples)
    exponent = int(np.frexp(np.abs(signal).max())[1])  # lengths and their squares stay in range
    rounding = float(np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps)
    with np.errstate(over="ignore", under="ignore"):
        levels = np.unique(np.ldexp(signal, -exponent))
        gaps, distances = np.diff(levels), levels[1:] - levels[0]
        if not len(gaps):
            raise _no_step("all samples are equal")
        rounding *= float(np.abs(levels).max())
        finest = max((levels[-1] - levels[0]) / _MOST_LEVELS, 16 * rounding)
        found = _common_step(np.unique(np.concatenate([gaps, distances])), 4 * rounding, finest)
        if found is not None:
            step, count = found
            if math.isfinite(width := float(np.ldexp(step, exponent))):
                return _shortest(width, float(np.ldexp(4 * rounding / count, exponent)))
        raise _no_step(f"{len(levels)} different values in [{signal.min():.6g}, {signal.max():.6g}] have no common "
                       f"step above {np.ldexp(finest, exponent):.3g} in the range of float64")


def _common_step(lengths: FloatArray, slack: float, finest: float) -> tuple[float, float] | None:
    """Return the largest step of sorted lengths, known to `slack`, and how often it is in the last; None if too fine.

    Near lengths first: they make the step fine enough for far ones. One that does not fit has another denominator in
    steps, which its continued fraction tells: the first convergent that is as near as its length is known.
    """
    step = reach = float(lengths[0])
    bound = 2 * reach
    while step >= finest:
        near = lengths[: np.searchsorted(lengths, bound, side="right")]
        counts = np.rint(near / step)
        wrong = np.flatnonzero(np.abs(near - counts * step) > slack * (1 + near / reach))
        if not len(wrong):
            step, reach = float(counts @ near / (counts @ counts)), float(near[-1])
            if bound >= lengths[-1]:
                return (step, float(counts[-1])) if np.abs(near - counts * step).max() <= slack else None
            bound *= 2
            continue
        length = float(near[wrong[0]])
        parts = _denominator(length / step, slack * (1 + length / reach) / step)
        if parts == 1:
            return None
        step, bound = step / parts, 2 * float(lengths[0])
    return None


def _denominator(ratio: float, slack: float) -> int:
    """Return the denominator of the first convergent of a continued fraction that is within the slack."""
    rest, (p, q), (before, under) = ratio, (1, 0), (0, 1)
    while True:
        whole = math.floor(rest)
        (p, q), (before, under) = (whole * p + before, whole * q + under), (p, q)
        if abs(ratio - p / q) <= slack or rest == whole:
            return q
        rest = 1 / (rest - whole)


def _shortest(number: float, slack: float) -> float:
    """Return the number with the fewest digits that is as close as the data can tell."""
    return next(short for digits in range(1, 18) if abs((short := float(f"{number:.{digits}g}")) - number) <= slack)


def ramp_perturbation(samples: ArrayLike, step: float | None = None, seed: int = 0) -> Perturbed:
    """Make all values of a signal distinct, by a ramp of N levels inside one quantisation step.

    Parameters
    ----------
    samples : array_like, any number of axes
    step : float, optional
        Default: `quantisation_step`.
    seed : int
        Of the order of the levels.

    Returns
    -------
    Perturbed
        Values differ by at least step/N; different values keep their order, the mean stays.

    Raises
    ------
    Refused
        If there is no step, or N levels inside it are too fine for float64.

    Examples
    --------
    >>> sorted(ramp_perturbation(np.array([5, 5, 5, 5])).values.tolist())
    [4.625, 4.875, 5.125, 5.375]
    """
    signal, width, values = _ramped(samples, step, seed, 1)
    return _perturbed(signal, values, "ramp", width, math.nan, seed)


def spectral_perturbation(
    samples: ArrayLike,
    threshold: float | None = None,
    step: float | None = None,
    support: ArrayLike | None = None,
    seed: int = 0,
) -> Perturbed:
    """Make every frequency of a support active, by the least change of the signal.

    Parameters
    ----------
    samples : array_like, any number of axes
    threshold : float, optional
        Least modulus of the unnormalized transform; default: the largest one that the quantisation step hides, to 1e-6.
        Found by bisection: where the largest change does not grow with the threshold, it may be a local one.
    step : float, optional
        Default: `quantisation_step`; not needed with a threshold.
    support : array_like of bool, optional
        On the frequencies of `numpy.fft.rfftn`; default: all.
    seed : int
        Of the phases where the transform vanishes.

    Examples
    --------
    >>> found = spectral_perturbation(np.array([4, 4, 4, 4]), threshold=0.5, seed=1)
    >>> np.abs(np.fft.fft(found.values)).round(12).tolist()
    [16.0, 0.5, 0.5, 0.5]
    """
    signal = _signal(samples)
    width = math.nan if threshold is not None and step is None else _step(samples, step)
    change = _Change(signal, support, seed)
    if threshold is None:
        level = _largest_hidden(change, width / 2)
    elif not (math.isfinite(threshold) and threshold > 0):
        raise InvalidInput(f"threshold={threshold!r} was given, a positive number is expected")
    else:
        level = float(threshold)
    return _perturbed(signal, signal + change.at(level), "spectral", width, level, seed)


def both_perturbations(
    samples: ArrayLike, step: float | None = None, support: ArrayLike | None = None, seed: int = 0
) -> Perturbed:
    """Make all values distinct and every frequency active; each perturbation takes half of the quantisation step.

    Values of different levels keep their order; the ramp comes first, and frequencies count after it.
    """
    signal, width, ramped = _ramped(samples, step, seed, 1 / 2)
    change = _Change(ramped, support, seed)
    level = _largest_hidden(change, width / 4)
    values = ramped + change.at(level)
    while len(np.unique(values)) < values.size:  # by chance
        level *= 0.99
        values = ramped + change.at(level)
    return _perturbed(signal, values, "ramp and spectral", width, level, seed)


class _Change:
    """The least change for any threshold: by modulus and phases of the transform, where it counts."""

    def __init__(self, signal: FloatArray, support: ArrayLike | None, seed: int) -> None:
        self.grid = grid = Grid(signal.shape)
        self.support = np.ones(grid.half, dtype=np.bool_) if support is None else np.asarray(support)
        if self.support.shape != grid.half or self.support.dtype != np.bool_:
            raise InvalidInput(f"support of shape {self.support.shape} and type {self.support.dtype} was given, an "
                               f"array of bool of shape {grid.half} is expected: the frequencies of rfftn")
        with np.errstate(all="ignore"):  # at the ends of float64, which are refused
            transform = grid.forward(signal.reshape(1, -1))[0]
            modulus = np.abs(transform)
            is_zero = modulus <= 8 * EPS * math.sqrt(math.log2(2 * grid.size)) * modulus.max()
            # The transform of real noise has phases that are independent, uniform, and symmetric as they must be.
            noise = grid.forward(np.random.default_rng([seed, 1]).normal(size=grid.size)[None])[0]
            directed = np.where(is_zero, noise, transform)
            self.modulus, self.phase = np.where(is_zero, 0, modulus), directed / np.abs(directed)

    def at(self, threshold: float) -> FloatArray:
        """Return the change of the samples."""
        lifted = np.where(self.support & (self.modulus < threshold), threshold - self.modulus, 0)
        change: FloatArray = self.grid.inverse((lifted * self.phase)[None])[0].reshape(self.grid.shape)
        return change


def _largest_hidden(change: _Change, limit: float) -> float:
    """Return a threshold whose change stays below the limit in every sample, that of a bit more does not."""
    if not change.support.any():
        raise InvalidInput("the support holds no frequency; leave it out to have them all")
    if not (_LEAST < limit < 1 / _LEAST and float(change.modulus.max()) < 1 / _LEAST):
        raise _no_step(f"float64 has no room for transforms of it beside a change of {limit:.3g}; take other units")

    def is_hidden(threshold: float) -> bool:
        return bool(np.abs(change.at(threshold)).max() < limit)

    low = high = limit
    while not is_hidden(low):
        low /= 4
    while is_hidden(high):
        low, high = high, 4 * high
    while high - low > _SHARPNESS * high:
        middle = (low + high) / 2 if high < 2 * low else math.sqrt(low) * math.sqrt(high)  # no underflow
        low, high = (middle, high) if is_hidden(middle) else (low, middle)
    return low


def _ramp(signal: FloatArray, seed: int) -> FloatArray:
    """N levels with mean 0 in (-1/2, 1/2), in a random order that is not correlated with the values.

    Neighbours in the order of the values take opposite levels, the widest apart the smallest, with alternating signs:
    equal ones add nothing to the covariance, the others an alternating sum of terms that decrease.
    """
    rng = np.random.default_rng([seed, 0])
    flat, size = signal.ravel(), signal.size
    order = rng.permutation(size)  # of equal values
    order = order[np.argsort(flat[order], kind="stable")]
    pairs = order[: size - size % 2].reshape(-1, 2)  # an odd one stays where it is
    gaps = np.diff(flat[pairs], axis=1)[:, 0]
    pairs = pairs[np.lexsort((rng.random(len(pairs)), -gaps))]
    levels = (np.arange(len(pairs)) + (1 if size % 2 else 0.5)) / size
    signs = np.empty(len(pairs))
    largest = np.argsort(-levels * np.sort(gaps)[::-1], kind="stable")  # first
    signs[largest] = rng.choice([-1, 1]) * (-1.0) ** np.arange(len(pairs))
    ramp = np.zeros(size)
    ramp[pairs] = (signs * levels)[:, None] * [1, -1]
    return ramp.reshape(signal.shape)


def _signal(samples: ArrayLike) -> FloatArray:
    given = _taken(samples)
    signal = as_floats(given)
    if not np.isfinite(signal).all():
        raise InvalidInput("the signal holds nan or infinite values, or some beyond float64; mend them first")
    if given.dtype.kind in "iuO" and given.dtype.itemsize > 4:
        distinct = len(np.unique(given)) if given.dtype.kind != "O" else len(set(map(exact, given.ravel().tolist())))
        if len(np.unique(signal)) < distinct:
            raise InvalidInput("some values of the signal differ and are one number of float64; take the mean out")
    return signal


def _taken(samples: Any) -> NDArray[Any]:
    """The numbers that were given, or booleans."""
    if np.ma.is_masked(samples):
        raise InvalidInput("the signal has masked entries, and its values and frequencies are those of all; fill them")
    given = np.asarray(samples) if _are_flags(samples) else take_numbers(samples).array
    if given.size == 0 or given.ndim == 0:
        raise InvalidInput(f"one signal of real numbers is expected, got type {given.dtype} and shape {given.shape}")
    return given


def _are_flags(samples: Any) -> bool:
    if isinstance(samples, list | tuple):
        return bool(samples) and all(map(_are_flags, samples))
    return isinstance(samples, bool) or getattr(samples, "dtype", None) == np.bool_


def _step(samples: ArrayLike, step: float | None) -> float:
    if step is None:
        return quantisation_step(samples)
    if not (math.isfinite(step) and step > 0):
        raise InvalidInput(f"step={step!r} was given, a positive number is expected: the quantisation step")
    return float(step)


def _ramped(samples: ArrayLike, step: float | None, seed: int, share: float) -> tuple[FloatArray, float, FloatArray]:
    """Return a signal, its step, and distinct values: a ramp is added that takes a share of the step."""
    signal, width = _signal(samples), _step(samples, step)
    with np.errstate(over="ignore", under="ignore"):
        values = signal + share * width * _ramp(signal, seed)
    if not np.isfinite(values).all():
        raise Refused(f"levels inside a quantisation step of {width:.3g} go beyond float64; change the unit")
    if len(np.unique(values)) < values.size:
        raise Refused(f"{values.size} levels inside a quantisation step of {width:.3g} are too fine for float64 at "
                      f"values up to {np.abs(signal).max():.3g}; take the mean out, or fewer samples")
    return signal, width, values


def _no_step(why: str) -> Refused:
    detail = f"{why}; give step=, the size below which changes do not matter"
    return Refused(f"no quantisation step: {detail}", None, (Outcome(False, "no quantisation step", detail),))


def _perturbed(signal: FloatArray, values: FloatArray, kind: Any, step: float, threshold: float,
               seed: int) -> Perturbed:
    change = np.abs(values - signal)
    hidden = bool((np.rint((values - signal) / step) == 0).all()) if not math.isnan(step) else False
    return Perturbed(values, kind, float(change.max()), step, threshold, seed, hidden)
