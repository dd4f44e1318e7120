"""One vector that does not fit into memory: its moments, its decoupled moments, and the vector at its levels.

It comes in chunks, as often as it takes: once for moments and for decoupled moments up to order 3, twice above, at any
length. What is kept in between is a `MomentState` and a `Measure`, some hundred kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, get_args, overload

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.lazy import dask_arrays
from symdecouple.lazy.chunks import chunks_of
from symdecouple.lazy.levels import VectorLevel, level_of
from symdecouple.lazy.measure import Measure
from symdecouple.lazy.state import MomentState
from symdecouple.lazy.vectors import Asked, asked_of, decoupled_of
from symdecouple.numeric.moments.levels import HIGHEST, gaussian_moments
from symdecouple.numeric.samples.batch import Answer, NanPolicy, OnRefusal
from symdecouple.numeric.samples.intake import check_choice, library_of
from symdecouple.numeric.samples.kinds import Chunked, Chunks, Outcomes, Quiet, Signal, Values, Vectors
from symdecouple.stats.moments import decoupled_moments as of_samples

__all__ = ["decoupled_moments", "moments", "normalize"]


@overload
def moments(source: Chunked, order: int = ..., *, nan_policy: NanPolicy = ...) -> MomentState | Any: ...


@overload
def moments(source: Any, order: int = ..., *, nan_policy: NanPolicy = ...) -> MomentState: ...


def moments(source: Any, order: int = 4, *, nan_policy: NanPolicy = "propagate") -> Any:
    """The state of a vector after one pass; delayed for an array of dask.

    Parameters
    ----------
    source : array, list of arrays, callable, or array of dask
        As in `decoupled_moments`.
    order : int
        Of the highest moment, 2 to 12.
    nan_policy : {"propagate", "omit", "raise"}

    Returns
    -------
    MomentState

    Examples
    --------
    >>> state = moments([np.arange(5.0), np.arange(5.0, 9)])
    >>> round(state.finalize().kurtosis, 12)
    1.77
    """
    vector = _vector(source)
    state = MomentState(order, nan_policy)
    if library_of(vector) == "dask":
        return dask_arrays.loaded("dask").delayed(_only)(dask_arrays.merged_states(vector, 0, order, nan_policy))
    for chunk in chunks_of(vector):
        state.update(chunk)
    return state


@overload
def decoupled_moments(source: Chunked, order: int = ..., *, nan_policy: NanPolicy = ...,
                      reference: str | Sequence[float] = ..., on_refusal: Signal = ...) -> Values: ...


@overload
def decoupled_moments(source: Any, order: int = ..., *, nan_policy: NanPolicy = ...,
                      reference: str | Sequence[float] = ..., on_refusal: Signal = ...) -> Vectors: ...


@overload
def decoupled_moments(source: Any, order: int = ..., *, nan_policy: NanPolicy = ...,
                      reference: str | Sequence[float] = ..., on_refusal: Quiet) -> tuple[Vectors, Outcomes]: ...


def decoupled_moments(
    source: Any,
    order: int = 6,
    *,
    nan_policy: NanPolicy = "propagate",
    reference: str | Sequence[float] = "gaussian",
    on_refusal: OnRefusal = "warn",
) -> Any:
    """Mean, variance, skewness, orthokurtosis and the decoupled moments above, of one vector in chunks.

    Parameters
    ----------
    source : array, list of arrays, callable, or array of dask
        The vector: an array of any shape (also one in a file: a memory map, a dataset of h5py, an array of zarr), a
        list of chunks, or a function without arguments that returns a fresh iterator of them; it is called once for
        each pass. All chunks are one sample.
    order, nan_policy, reference, on_refusal
        As in `symdecouple.stats.decoupled_moments`.

    Returns
    -------
    array (order,)
        Of an array of dask another one, lazily.

    Raises
    ------
    InvalidInput
        Also for chunks that are not the same in the second pass, and for an iterator, which can be read only once.
    Refused
        With ``on_refusal="raise"``.

    Notes
    -----
    `passes(order)` passes: one to order 3, two above. Orders 1 to 3 are good to 1e-14 in units of Mean|z|^k, at any
    length; order 4 agreed with `symdecouple.stats.orthokurtosis` to 1e-14 on fifteen laws from uniform to Cauchy;
    orders above to 1e-9, as there. Cost of the second pass: 0.1 microseconds an entry. Ties at the ends are decided by
    exact counts.

    Examples
    --------
    >>> chunks = [np.array([1.0, 2, 3]), np.array([5.0]), np.array([8.0, 13])]
    >>> decoupled_moments(chunks, order=4).round(12).tolist()
    [5.333333333333, 16.888888888889, 0.812707974941, 1.718629571679]
    >>> from symdecouple.stats import orthokurtosis
    >>> round(float(orthokurtosis([1, 2, 3, 5, 8, 13])), 12)
    1.718629571679
    """
    asked = _asked(order, nan_policy, reference, on_refusal)
    vector = _vector(source)
    if library_of(vector) == "dask":
        return of_samples(vector, order, None, nan_policy, reference=reference, on_refusal=on_refusal)
    state = moments(vector, asked.moments, nan_policy=nan_policy)
    values, outcome = decoupled_of(state, _measured(vector, state) if asked.needs_measure else None, asked)
    answer = Answer(asked.name, (), frames=3)
    if not outcome.ok:
        answer.refusals[0] = outcome
    return answer.deliver(values, on_refusal)


@overload
def normalize(source: Chunks, level: int = ..., *, nan_policy: NanPolicy = ...,
              reference: str | Sequence[float] = ..., on_refusal: OnRefusal = ...) -> Chunks: ...


@overload
def normalize(source: Any, level: int = ..., *, nan_policy: NanPolicy = ..., reference: str | Sequence[float] = ...,
              on_refusal: OnRefusal = ...) -> Callable[[], Iterator[Vectors]]: ...


def normalize(
    source: Any,
    level: int = 3,
    *,
    nan_policy: NanPolicy = "propagate",
    reference: str | Sequence[float] = "gaussian",
    on_refusal: OnRefusal = "warn",
) -> Any:
    """The vector with its moments 1..level at their references: each chunk when it is asked for.

    Parameters
    ----------
    source, nan_policy, on_refusal
        As in `decoupled_moments`.
    level : int
        1 takes the mean off, 2 makes the variance 1, 3 the skewness 0; above, moments go along narrow paths.
    reference : "gaussian" or sequence of float
        Raw moments Mean(x), Mean(x**2), .., `level` of them or more.

    Returns
    -------
    callable
        Another source: a function that returns an iterator of the chunks at this level, in the shape and the type
        (float64, or float32) of those that were given. Of an array of dask another one; of a DataArray another one.

    Notes
    -----
    One pass for levels 1 and 2 and two above, at once (lazily for arrays of dask), and one more for the result. NaN
    stays where it is. Levels above 3 cost some microseconds an entry.

    Examples
    --------
    >>> at_level_3 = normalize([np.array([1.0, 2, 3]), np.array([5.0, 8, 13])])
    >>> z = np.concatenate(list(at_level_3()))
    >>> [round(float(np.mean(z**k)), 12) + 0.0 for k in (1, 2, 3)]
    [0.0, 1.0, 0.0]
    """
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= HIGHEST - 1:
        raise InvalidInput(f"level={level!r} was given, an integer from 1 to {HIGHEST - 1} is expected")
    asked = _asked(level + 1, nan_policy, reference, on_refusal)
    goal = asked.reference or gaussian_moments(level)
    vector = _vector(source)
    if library_of(vector) == "dask":
        found = _normalized_lazily(vector, level, goal, asked, on_refusal)
        return source.copy(data=found) if library_of(source) == "xarray" else found
    state = moments(vector, asked.moments, nan_policy=nan_policy)
    found = level_of(state, _measured(vector, state) if level > 2 else None, level, goal)
    _tell(found, on_refusal)
    if library_of(source) == "xarray":
        return source.copy(data=found(vector))
    return partial(_chunks_at, vector, found, state.count + state.missing + state.infinite)


def _chunks_at(vector: Any, level: VectorLevel, count: int) -> Iterator[NDArray[Any]]:
    """Yield all chunks at the level; a source that is spent is noticed at its end."""
    seen = 0
    for chunk in chunks_of(vector):
        moved = level(chunk)
        seen += int(np.ma.count(moved))
        yield moved
    if seen != count:
        raise InvalidInput(f"the first pass saw {count} numbers and this one {seen}: the chunks must be the same each "
                           "time; a function returns a fresh iterator at each call")


def _tell(level: VectorLevel, on_refusal: OnRefusal) -> None:
    answer = Answer("normalize", (), frames=4)
    if level.refused is not None:
        answer.refusals[0] = level.refused
    answer.deliver(np.nan, on_refusal)


def _asked(order: int, nan_policy: NanPolicy, reference: Any, on_refusal: OnRefusal) -> Asked:
    """What is asked, once options are looked at by the function of samples."""
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    of_samples(np.zeros(8), order, 0, nan_policy, reference=reference, on_refusal="return")
    asked = asked_of("decoupled_moments", {"order": order, "nan_policy": nan_policy, "reference": reference})
    assert asked is not None  # whatever the options are
    return asked


def _vector(source: Any) -> Any:
    """The source, without the labels of xarray."""
    if library_of(source) == "dask":
        dask_arrays.check_array("a vector", source)
    if library_of(source) != "xarray":
        return source
    if type(source).__name__ != "DataArray":
        raise InvalidInput(f"a {type(source).__name__} of xarray was given, one vector is expected: give one variable "
                           "of it")
    return source.data


def _only(states: list[Any]) -> Any:
    return states[0]


def _measured(vector: Any, state: MomentState) -> Measure | None:
    """The second pass; None for a vector without a shape."""
    measure = Measure.begun(state)
    if measure is not None:
        for chunk in chunks_of(vector):
            measure.update(chunk)
    return measure


# --- dask ---


def _normalized_lazily(array: Any, level: int, goal: Sequence[float], asked: Asked, on_refusal: OnRefusal) -> Any:
    dask_arrays.refuse_outcomes("normalize", {"on_refusal": on_refusal})
    states = dask_arrays.merged_states(array, 0, asked.moments, asked.nan_policy)
    measures = dask_arrays.measures_after(array, states, 0) if level > 2 else None
    find = dask_arrays.loaded("dask").delayed(_level_found, pure=True)
    found = find(states, measures, level, tuple(goal), on_refusal)
    return dask_arrays.mapped_after(array, _at, found)


def _level_found(states: list[MomentState], measures: list[Measure | None] | None, level: int,
                 goal: tuple[float, ...], on_refusal: OnRefusal) -> VectorLevel:
    found = level_of(states[0], None if measures is None else measures[0], level, goal)
    _tell(found, on_refusal)
    return found


def _at(block: Any, level: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    return level(block)
