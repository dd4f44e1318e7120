"""Statistics of moving windows: each window is a sample, and its result stands where the window ends.

Windows are views of the array, and are answered in portions: memory does not grow with their number. Nothing is carried
from one window to the next, so that no rounding piles up, and a window has the statistic that its values have alone.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args, overload

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.samples.batch import Answer, IntArray, OnRefusal
from symdecouple.numeric.samples.intake import check_choice, missing_entries, take_numbers
from symdecouple.numeric.samples.kinds import Labelled, Outcomes, Quiet, Signal, Values
from symdecouple.numeric.samples.matrix import normalized_axes
from symdecouple.stats.coordinates import circular_shape, log_shape
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments
from symdecouple.stats.normality import normality_test, orthokurtosis_test
from symdecouple.stats.ranges import kurtosis_range, orthokurtosis_range, skewness_range
from symdecouple.stats.shape import kurtosis, orthokurtosis, skewness
from symdecouple.tables.labels import has_labels, labelled
from symdecouple.tables.row_functions import FORMS, Call, Form, Make, Piece

__all__ = ["rolling"]

_KNOWN: dict[str, Callable[..., Any]] = {f.__name__: f for f in (
    blest, circular_shape, decoupled_moments, kurtosis, kurtosis_range, log_shape, normality_test, orthokurtosis,
    orthokurtosis_range, orthokurtosis_test, skewness, skewness_range, standardized_moments)}
_PORTION = 2**20  # entries of windows that are answered together
_NOT_WHOLE = Outcome(False, "window not whole", "it reaches over the end, or has fewer values than min_periods")


@overload
def rolling(a: Labelled, window: int, statistic: str | Callable[..., Any] = ..., *, axis: int | None = ...,
            step: int = ..., center: bool = ..., min_periods: int | None = ..., on_refusal: OnRefusal = ...,
            **options: Any) -> Any: ...


@overload
def rolling(a: Any, window: int, statistic: str | Callable[..., Any] = ..., *, axis: int | None = ...,
            step: int = ..., center: bool = ..., min_periods: int | None = ..., on_refusal: Signal = ...,
            **options: Any) -> Values: ...


@overload
def rolling(a: Any, window: int, statistic: str | Callable[..., Any] = ..., *, axis: int | None = ...,
            step: int = ..., center: bool = ..., min_periods: int | None = ..., on_refusal: Quiet,
            **options: Any) -> tuple[Values, Outcomes]: ...


def rolling(
    a: Any,
    window: int,
    statistic: str | Callable[..., Any] = "decoupled_moments",
    *,
    axis: int | None = None,
    step: int = 1,
    center: bool = False,
    min_periods: int | None = None,
    on_refusal: OnRefusal = "warn",
    **options: Any,
) -> Any:
    """A statistic of every window of some entries in a row.

    .. math:: f(x_{i-w+1}, \\ldots, x_i) \\quad\\text{at } i

    Parameters
    ----------
    a : array_like, Series or DataFrame
        Real numbers, as in `skewness`.
    window : int
        Entries of a window.
    statistic : str or function
        A statistic of this module, or its name: "decoupled_moments", "orthokurtosis", ...
    axis : int, optional
        Along which windows move: the last axis of an array, the index of a Series or DataFrame, unless given.
    step : int
        From one window to the next; the result has every so many positions, the first one included, as in pandas.
    center : bool
        Let results stand at the middle of their windows, not at the end.
    min_periods : int, optional
        Take windows that hold so many values at least, without those that are missing, and those that are cut at the
        ends of the data. By default windows have to be whole, and `nan_policy` says what NaN is.
    on_refusal : {"warn", "raise", "return"}
        As in `skewness`. The place of a window that is not whole is NaN and no refusal.
    **options
        Of the statistic: ``order=``, ``reference=``, ``nan_policy=``, ``weights=`` (one for each entry of a window).

    Returns
    -------
    ndarray, Series or DataFrame
        The shape of `a` (with `step`, fewer along the axis), then the orders, if the statistic has some. A Series gives
        a Series with the same index, or a DataFrame with a column an order.

    Raises
    ------
    InvalidInput
        `window`, `step`, `min_periods` or `statistic` is not what is expected; or as the statistic.

    Notes
    -----
    The cost is that of all windows as samples: about 3 microseconds an entry at most, as many as windows times their
    length. pandas' `rolling().kurt()` is the unbiased estimate in excess: ``fisher=True, bias=False`` here.

    Examples
    --------
    >>> from symdecouple.stats import rolling
    >>> rolling([1, 2, 4, 8, 9, 9, 10], 4, "skewness").round(4).tolist()
    [nan, nan, nan, 0.6568, -0.1321, -1.0272, 0.0]
    >>> rolling([1, 2, 4, 8, 9, 9, 10], 4, "standardized_moments", order=2, step=3).round(4).tolist()
    [[nan, nan], [3.75, 7.1875], [9.0, 0.5]]
    """
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    function, form = _function(statistic, options)
    if hasattr(a, "ngroup"):
        raise InvalidInput("rolling: a groupby object was given; give one group after the other, a Series or DataFrame")
    given = take_numbers(a)
    if not given.array.ndim:
        raise InvalidInput("rolling: one number was given, a row of them is expected")
    is_framed, ndim = has_labels(a), given.array.ndim
    own = 0 if is_framed else ndim - 1
    (along,) = normalized_axes(own if axis is None else _whole("axis", axis, -ndim), given.array.shape)
    windows = _Windows.of(given.array.shape[along], window, step, center, min_periods)
    call = Call.of("rolling", function, (given.array,), {**options, "axis": 1})
    rows = np.moveaxis(given.array, along, -1)
    hidden = None if given.masked is None else np.moveaxis(given.masked, along, -1)
    if options.get("nan_policy") == "raise":
        _check_nan(rows, hidden)
    with as_part_of(math.prod(rows.shape[:-1]) * len(windows.starts) * windows.length):
        pieces, make, outcomes = _answered(call, form, rows, hidden, windows)
    outcomes = np.moveaxis(outcomes, -1, along)
    made = [piece._replace(array=np.moveaxis(piece.array, rows.ndim - 1, along)) for piece in pieces]
    told, labels = Answer(f"rolling {function.__name__}", outcomes.shape, frames=3), list[Any]()
    if is_framed:
        labels = [side[::step] if i == along else side for i, side in enumerate(a.axes)]
        told.labels = tuple(labels)
    told.take(outcomes.ravel().tolist())
    titles = function.__name__, getattr(a, "name", None)
    parts = [labelled(piece, labels, labels, [], titles) if is_framed else piece.array for piece in made]
    found = make(parts, told.given)
    if on_refusal == "return":
        return found, told.given
    told.refusals = {i: outcome for i, outcome in told.refusals.items() if outcome is not _NOT_WHOLE}
    return told.deliver(found, on_refusal)


@dataclass(frozen=True, slots=True)
class _Windows:
    """Where windows begin, below 0 and up to the end; and how many entries those that count have at least."""

    starts: IntArray
    length: int
    enough: int | None

    @classmethod
    def of(cls, n: int, window: Any, step: Any, center: Any, min_periods: Any) -> _Windows:
        length, step = _whole("window", window), _whole("step", step)
        enough = None if min_periods is None else _whole("min_periods", min_periods)
        if not isinstance(center, bool | np.bool_):
            raise InvalidInput(f"center={center!r:.60} was given, True or False is expected")
        if enough is not None and enough > length:
            raise InvalidInput(f"min_periods={enough} was given for windows of {length} entries; no more are expected")
        return cls(np.arange(0, n, step) - (length - 1) + ((length - 1) // 2 if center else 0), length, enough)

    def of_row(self, row: NDArray[Any], hidden: NDArray[np.bool_] | None
               ) -> tuple[NDArray[Any], Any, IntArray, IntArray]:
        """All windows as views of a row, what is masked in them, the places that count, and where each begins."""
        n, length = len(row), self.length
        if self.enough is None:
            whole = np.flatnonzero((self.starts >= 0) & (self.starts + length <= n))
            if not len(whole):
                return row, None, whole, self.starts
            masks = None if hidden is None else sliding_window_view(hidden, length)
            return sliding_window_view(row, length), masks, whole, self.starts
        absent = missing_entries(row) if hidden is None else hidden | missing_entries(row)
        ends = np.ones(length, dtype=np.bool_)
        masks = sliding_window_view(np.concatenate([ends, absent, ends]), length)
        counted = np.concatenate([[0], np.cumsum(~absent)])
        first, last = np.clip(self.starts, 0, n), np.clip(self.starts + length, 0, n)
        place = np.flatnonzero(counted[last] - counted[first] >= self.enough)
        filler = np.zeros(length, dtype=row.dtype)
        return sliding_window_view(np.concatenate([filler, row, filler]), length), masks, place, self.starts + length


def _answered(call: Call, form: Form, rows: NDArray[Any], hidden: NDArray[np.bool_] | None, windows: _Windows
              ) -> tuple[list[Piece], Make, NDArray[Any]]:
    """All windows of all rows: arrays (..., positions) or with one more axis, and outcomes."""
    lead, n_places = rows.shape[:-1], len(windows.starts)
    outcomes = np.full((*lead, n_places), _NOT_WHOLE, dtype=object)
    nothing, _ = call.on(np.empty((0, windows.length), dtype=rows.dtype))  # refuses options, and knows the axes
    pieces, make = form.split(nothing, call.options)
    out = [piece._replace(array=np.full((*lead, n_places, *piece.array.shape[1:]), np.nan, dtype=piece.array.dtype))
           for piece in pieces]
    size = max(1, _PORTION // windows.length)
    for row in np.ndindex(*lead):
        views, masks, places, starts = windows.of_row(rows[row], None if hidden is None else hidden[row])
        for which in (places[i : i + size] for i in range(0, len(places), size)):
            part = views[starts[which]]
            found, said = call.on(part if masks is None else np.ma.masked_array(part, masks[starts[which]]))
            for place, piece in zip(out, form.split(found, call.options)[0], strict=True):
                place.array[(*row, which)] = piece.array
            outcomes[(*row, which)] = np.array(said, dtype=object)
    return out, make, outcomes


# --- arguments ---


def _function(statistic: Any, options: dict[str, Any]) -> tuple[Callable[..., Any], Form]:
    """A function that gives a row of numbers a sample, and what it returns."""
    function = _KNOWN.get(statistic) if isinstance(statistic, str) else statistic
    form = FORMS.get(function) if callable(function) else None
    if function is None or form is None or form.each:
        given = repr(statistic) if isinstance(statistic, str) else getattr(statistic, "__name__", repr(statistic))
        raise InvalidInput(f"statistic={given:.60} was given; one of {', '.join(_KNOWN)}, or such a function of "
                           "symdecouple.stats, is expected")
    hidden = ("a", "axis", "groups", "keepdims", "on_refusal", "dim")
    known = [name for name in inspect.signature(function).parameters if name not in hidden]
    if unknown := [name for name in options if name not in known]:
        raise InvalidInput(f"rolling: {unknown[0]}= was given, which {function.__name__} does not take of windows; it "
                           f"takes {', '.join(f'{name}=' for name in known)}")
    return function, form


def _whole(name: str, value: Any, least: int = 1) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        raise InvalidInput(f"rolling: {name}={value!r:.60} was given, a whole number is expected" + (
            "; spans of time are not taken, resample first" if isinstance(value, str) else "")) from None
    if found < least:
        raise InvalidInput(f"rolling: {name}={found} was given, {least} or more is expected")
    return found


def _check_nan(rows: NDArray[Any], hidden: NDArray[np.bool_] | None) -> None:
    for place in np.ndindex(*rows.shape[:-1]):
        found = missing_entries(rows[place]) if hidden is None else missing_entries(rows[place]) & ~hidden[place]
        if found.any():
            where = (*place, int(np.argmax(found)))
            raise InvalidInput(f"rolling: NaN at {where if place else where[0]} and nan_policy='raise'; clean the "
                               "input, or choose nan_policy='omit' or 'propagate'")
