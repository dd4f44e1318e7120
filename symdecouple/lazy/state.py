r"""Moments of a vector that is seen chunk after chunk: mergeable central power sums.

Of each chunk, Mean(v^k) is taken about a pivot near its own mean, in its own unit (`power_sums`). From there on the
arithmetic is that of whole numbers: with v = (x - c)/2^e, the sums of two states about their common mean are

.. math:: S_k = \sum_{j \le k} \binom kj \delta^{k-j} S_j, \qquad \delta = (c_A - c)/2^e,

added up in fixed point, 2^-400 of the range of the vector. So merging rounds nothing that float64 could show: neither
the number of chunks nor the order in which they come costs a digit, an offset goes before anything else, and counts are
Python integers.

*Error.* That of the sums within a chunk: order k is good to (k + 12) 2^-53 Mean|z|^k, z standardized, at any length.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import itemgetter
from typing import Any, get_args, overload

import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.lazy.chunks import Number, Piece, pieces_of
from symdecouple.lazy.summary import MomentSummary
from symdecouple.numeric.moments.bins import exponent_of
from symdecouple.numeric.moments.levels import HIGHEST
from symdecouple.numeric.moments.power_sums import (
    BLOCK,
    NEAR,
    PIVOT_SAMPLES,
    ZERO_VARIANCE,
    means_about,
    to_unit_range,
    unit_and_lift,
)
from symdecouple.numeric.samples.batch import (
    EMPTY,
    INFINITE,
    NAN_INPUT,
    SINGLE,
    Answer,
    NanPolicy,
    OnRefusal,
    SampleMatrix,
)
from symdecouple.numeric.samples.intake import check_choice, nearest
from symdecouple.numeric.samples.kinds import Outcomes, Quiet, Signal
from symdecouple.stats.orders import out_of_range

__all__ = ["MomentState"]

_BITS = 400  # of fixed point: of 10^12 values, moment 12 can be as small as 2^-240
_PLACE = 60  # bits of a pivot below the range: nearer to the mean it need not be
_LOOK = 255  # numbers of a piece whose median is taken
_MIDDLES = 32  # medians that are kept
_ROW = np.zeros(1, dtype=np.intp)


@dataclass(slots=True, eq=False, repr=False)
class MomentState:
    """What is known of the moments of a vector from the chunks that were seen.

    Parameters
    ----------
    order : int
        The highest moment, 2 to 12.
    nan_policy : {"propagate", "omit", "raise"}
        For NaN in a chunk: the moments are NaN; leave it out; or `InvalidInput`. Masked entries are left out.

    Attributes
    ----------
    count, missing, infinite : int
        Numbers that count; NaN; infinite values.
    low, high : float or int
        The ends, NaN where nothing was seen, and in `at_low` and `at_high` how often they were seen.

    Examples
    --------
    >>> state = MomentState()
    >>> state.update([1.0, 2, 3])
    >>> other = MomentState()
    >>> other.update([5.0, 8, 13])
    >>> found = (state + other).finalize()
    >>> found.count, round(found.mean, 12), round(found.variance, 12), round(found.skewness, 12)
    (6, 5.333333333333, 16.888888888889, 0.812707974941)

    An offset costs nothing:

    >>> far = MomentState()
    >>> for chunk in ([1e8 + 1, 1e8 + 2, 1e8 + 3], [1e8 + 5, 1e8 + 8, 1e8 + 13]):
    ...     far.update(chunk)
    >>> far.finalize().skewness == found.skewness
    True
    """

    order: int = 4
    nan_policy: NanPolicy = "propagate"
    count: int = 0
    missing: int = 0
    infinite: int = 0
    low: Number = math.nan
    high: Number = math.nan
    at_low: int = 0
    at_high: int = 0
    _pivot: Fraction = Fraction(0)
    _exponent: int = 0  # of the unit
    _sums: tuple[int, ...] = ()
    _middles: tuple[tuple[Number, int], ...] = ()  # medians of parts, and of how many numbers

    def __post_init__(self) -> None:
        check_choice("nan_policy", self.nan_policy, get_args(NanPolicy))
        if isinstance(self.order, bool) or not isinstance(self.order, int) or not 2 <= self.order <= HIGHEST:
            raise InvalidInput(f"order={self.order!r} was given, an integer from 2 to {HIGHEST} is expected")

    def __repr__(self) -> str:
        lost = f", {self.missing} missing" if self.missing else ""
        low, high = (nearest(Fraction(end)) for end in (self.low, self.high)) if self.count else (0, 0)
        ends = f" from {low:.10g} to {high:.10g}" if self.count else ""
        return f"MomentState(order={self.order}): {self.count} numbers{ends}{lost}"

    def update(self, chunk: Any) -> None:
        """Take in the numbers of a chunk: an array of any shape, an empty one too, or one number.

        Raises
        ------
        InvalidInput
            For anything but real numbers, and for NaN with ``nan_policy="raise"``; the state stays as it was.
        """
        for piece, missing, infinite in pieces_of(chunk, self.nan_policy):
            self.missing += missing
            self.infinite += infinite
            if piece is not None:
                with np.errstate(under="ignore"):
                    self._take(self._of(piece))

    def merge(self, other: MomentState) -> None:
        """Take in what another state has seen.

        Raises
        ------
        InvalidInput
            For a state of another order or policy.
        """
        if not isinstance(other, MomentState):
            raise InvalidInput(f"{type(other).__name__} was given, a MomentState is expected; update() takes chunks")
        if (other.order, other.nan_policy) != (self.order, self.nan_policy):
            raise InvalidInput(f"a state of order {other.order} with nan_policy={other.nan_policy!r} was given to one "
                               f"of order {self.order} with nan_policy={self.nan_policy!r}; they must be alike")
        self.missing += other.missing
        self.infinite += other.infinite
        if other.count:
            self._take(other)

    def __add__(self, other: MomentState) -> MomentState:
        if not isinstance(other, MomentState):
            return NotImplemented
        both = self.copy()
        both.merge(other)
        return both

    def __radd__(self, other: object) -> MomentState:
        if other != 0:  # with which sum(states) begins
            return NotImplemented
        return self.copy()

    def copy(self) -> MomentState:
        """Return a state that goes its own way."""
        made = MomentState(self.order, self.nan_policy)
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        return made

    def exact_mean(self) -> Fraction:
        """Return the mean before it is rounded."""
        if not self.count:
            raise InvalidInput("the state has seen no finite number, and so has no mean")
        return self._pivot + Fraction(self._sums[1], self.count << _BITS) * Fraction(2) ** self._exponent

    @property
    def unit(self) -> int:
        """The exponent e of the unit 2^e, which the range of the vector is near to."""
        return self._exponent

    def deviation(self, exponent: int) -> float:
        """Return the standard deviation in the unit 2^exponent, whatever the range of float64 is."""
        sums = _moved(self._sums, -self._sums[1] // self.count)
        return math.ldexp(math.sqrt(sums[2] / (self.count << _BITS)), self._exponent - exponent)

    @property
    def middle(self) -> Number:
        """A number in the middle of the vector: the median of medians of its parts."""
        reached = list(accumulate(count for _, count in self._middles))
        return self._middles[bisect_left(reached, reached[-1] / 2)][0]

    @overload
    def finalize(self, on_refusal: Signal = ...) -> MomentSummary: ...

    @overload
    def finalize(self, on_refusal: Quiet) -> tuple[MomentSummary, Outcomes]: ...

    def finalize(self, on_refusal: OnRefusal = "warn") -> Any:
        """Return a `MomentSummary` of what was seen so far; the state can be updated on.

        Parameters
        ----------
        on_refusal : {"warn", "raise", "return"}
            As in `symdecouple.stats.skewness`; with "return", ``(summary, outcomes)``.

        Notes
        -----
        One number has its mean and the variance 0; equal numbers have no shape. The summary's `outcome` says why.
        """
        check_choice("on_refusal", on_refusal, get_args(OnRefusal))
        summary = self.summary()
        answer = Answer("MomentState.finalize", (), frames=3)
        if not summary.outcome.ok:
            answer.refusals[0] = summary.outcome
        return answer.deliver(summary, on_refusal)

    def summary(self) -> MomentSummary:
        """What `finalize` returns, without a signal."""
        moments, outcome = [math.nan] * self.order, self._refusal()
        if outcome is None or outcome is SINGLE:
            moments, outcome = self._moments()
        return MomentSummary(self.count, tuple(moments), self.low, self.high, self.missing, outcome)

    def _moments(self) -> tuple[list[float], Outcome]:
        nothing = [math.nan] * (self.order - 2)
        mean = nearest(self.exact_mean())
        if self.low == self.high:
            why = None if self.order == 2 else SINGLE if self.count == 1 else ZERO_VARIANCE
            return _in_range([mean, 0.0, *nothing], [1] * math.isinf(mean), why)
        unit = self.count << _BITS
        sums = _moved(self._sums, -self._sums[1] // self.count)
        means = [total / unit for total in sums]
        variance = nearest(Fraction(sums[2], unit) * Fraction(4) ** self._exponent)
        has_variance = np.finfo(np.float64).tiny <= variance < math.inf
        deviation = math.sqrt(means[2])
        shape = [means[k] / means[2] ** (k // 2) / (deviation if k % 2 else 1) for k in range(3, self.order + 1)]
        return _in_range([mean, variance, *shape], [1] * math.isinf(mean) + [2] * (not has_variance), None)

    def _refusal(self) -> Outcome | None:
        if self.missing and self.nan_policy == "propagate":
            return NAN_INPUT
        if self.infinite:
            return INFINITE
        return {0: EMPTY, 1: SINGLE}.get(self.count)

    # --- sums ---

    def _of(self, piece: Piece) -> MomentState:
        """The state of one piece, about a pivot near its mean."""
        made = MomentState(self.order, self.nan_policy, len(piece.values), 0, 0, piece.low, piece.high, piece.at_low,
                           piece.at_high)
        some = piece.values[:: max(1, len(piece.values) // _LOOK)]
        near = float(np.partition(some, len(some) // 2)[len(some) // 2])
        made._middles = ((piece.base + Fraction(near) if piece.base else near, made.count),)
        if piece.low == piece.high:
            made._pivot, made._sums = piece.base + Fraction(near), (made.count << _BITS, *[0] * self.order)
            return made
        rows = piece.values[None]
        matrix = SampleMatrix.of(rows)
        exponent, apply = -int(unit_and_lift(matrix)[0][0]), to_unit_range(matrix)
        step = max(1, made.count // PIVOT_SAMPLES) if made.count > BLOCK else 1
        some = rows[:, ::step].copy()
        apply(some, _ROW)
        pivot = some.mean(axis=1)
        for _ in range(2):
            means = means_about(rows, _ROW, max(self.order, 2), apply, None, pivot)[:, 0]
            if abs(means[1]) <= NEAR * math.sqrt(max(means[2] - means[1] ** 2, 0.0)):
                break
            pivot = pivot + means[1]
        made._exponent = exponent
        made._pivot = piece.base + Fraction(matrix.low[0]) + Fraction(float(pivot[0])) * Fraction(2) ** exponent
        made._sums = tuple(made.count * int(math.ldexp(float(mean), _BITS)) for mean in means)
        if piece.total is not None:
            first = (piece.total - made.count * (made._pivot - piece.base)) * Fraction(2) ** (_BITS - exponent)
            made._sums = (made._sums[0], first.numerator // first.denominator, *made._sums[2:])
        return made

    def _take(self, other: MomentState) -> None:
        """Add sums about the common mean."""
        if not self.count:
            for name in ("count", "low", "high", "at_low", "at_high", "_pivot", "_exponent", "_sums", "_middles"):
                setattr(self, name, getattr(other, name))
            return
        count = self.count + other.count
        mean = (self.count * self.exact_mean() + other.count * other.exact_mean()) / count
        low, high = min(self.low, other.low), max(self.high, other.high)
        exponent = exponent_of(Fraction(high) - Fraction(low))
        place = Fraction(2) ** (_PLACE - exponent)
        pivot = Fraction(round(mean * place)) / place if low < high else mean
        mine, others = (state._about(pivot, exponent) for state in (self, other))
        self.at_low = self.at_low * (self.low == low) + other.at_low * (other.low == low)
        self.at_high = self.at_high * (self.high == high) + other.at_high * (other.high == high)
        self.count, self.low, self.high, self._pivot, self._exponent = count, low, high, pivot, exponent
        self._sums = tuple(a + b for a, b in zip(mine, others, strict=True))
        middles = sorted((*self._middles, *other._middles))
        if len(middles) > _MIDDLES:
            pairs = zip(middles[::2], middles[1::2], strict=False)
            middles = [(max(a, b, key=itemgetter(1))[0], a[1] + b[1]) for a, b in pairs] + middles[len(middles) & ~1 :]
        self._middles = tuple(middles)

    def _about(self, pivot: Fraction, exponent: int) -> tuple[int, ...]:
        """The sums about another pivot, in another unit."""
        down = exponent - self._exponent
        scaled = tuple(_halved(total, down * k) for k, total in enumerate(self._sums))
        shift = (self._pivot - pivot) * Fraction(2) ** (_BITS - exponent)
        return _moved(scaled, shift.numerator // shift.denominator)


def _in_range(moments: list[float], beyond: list[int], outcome: Outcome | None) -> tuple[list[float], Outcome]:
    """Leave the orders; NaN where float64 cannot hold one."""
    for k in beyond:
        moments[k - 1] = math.nan
    return moments, out_of_range(beyond, 64, outcome) if beyond else outcome or Outcome(True)


def _halved(number: int, times: int) -> int:
    return number >> times if times >= 0 else number << -times


def _moved(sums: tuple[int, ...], shift: int) -> tuple[int, ...]:
    """Sums of (v + shift)^k from those of v^k, all in fixed point; the binomial identity, by Horner's scheme."""
    moved = list(sums)
    for i in range(len(sums) - 1):
        for k in range(len(sums) - 1, i, -1):
            moved[k] += (shift * moved[k - 1]) >> _BITS
    return tuple(moved)
