"""What a function of arrays does with an object of dask or xarray: options are looked at once, then it goes its way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.lazy import dask_arrays, xarray_objects
from symdecouple.numeric.samples.frames import shown_names
from symdecouple.numeric.samples.intake import library_of
from symdecouple.tables.labels import aligned

__all__ = ["of_plan", "of_statistic"]


def of_statistic(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Answer a function of `symdecouple.stats` for an object of dask or xarray.

    Parameters
    ----------
    function : callable
    given : dict
        All of its arguments, `a` and `dim` among them.
    """
    options = dict(given)
    held, dim, name = options.pop("a"), options.pop("dim"), function.__name__
    library = library_of(held)
    if options.pop("groups", None) is not None:
        raise InvalidInput(f"{name}: groups= is for arrays in memory: .compute() those of dask, take .values of xarray")
    if library != "xarray":
        if dim is not None:
            raise InvalidInput(f"{name}: dim={dim!r} was given with {type(held).__name__}; dim= names a dimension of "
                               "an object of xarray, use axis= here")
        return dask_arrays.answered(function, held, options)
    axis, keepdims = options.pop("axis"), options.pop("keepdims")
    dims = xarray_objects.sample_axes(name, held, dim, axis, 0)
    if keepdims:
        raise InvalidInput(f"{name}: keepdims=True has no meaning for named dimensions; .expand_dims(...) adds one")
    if library_of(options["weights"]):
        options["weights"] = _aligned(name, options["weights"], held, dims)
    axes = tuple(range(-len(dims), 0))
    pattern = function(np.zeros(8), **{**options, "weights": None, "on_refusal": "return"})[0]  # options are checked
    labels = list(pattern._fields) if isinstance(pattern, tuple) else (  # type: ignore[attr-defined]
        xarray_objects.moment_names(name, len(pattern)) if np.ndim(pattern) else None)
    outcomes: list[Any] = []

    def of_array(array: Any) -> Any:
        found = function(array, axis=axes, **options)
        if options["on_refusal"] == "return" and library_of(array) != "dask":
            found, told = found
            outcomes.extend(told)
        return dask_arrays.side_by_side(found) if isinstance(found, tuple) else found

    found = xarray_objects.apply(of_array, held, dims, labels)
    return (found, tuple(outcomes)) if options["on_refusal"] == "return" else found


def _aligned(name: str, weights: Any, held: Any, dims: list[Any]) -> Any:
    """Weights along the sample dimensions, as an array, in the order of the coordinates that both have."""
    if hasattr(weights, "iloc"):  # of pandas
        if len(dims) > 1 or weights.ndim > 1 or dims[0] not in held.indexes:
            raise InvalidInput(f"{name}: weights in a {type(weights).__name__} were given with an object of xarray; "
                               "give a DataArray, or an array, weights.to_numpy()")
        return aligned("weights", weights, [held.indexes[dims[0]]])
    if library_of(weights) != "xarray":
        return weights
    if set(weights.dims) != set(dims):
        has = ", ".join(map(repr, weights.dims)) or "none"
        raise InvalidInput(f"{name}: weights with the dimensions {has} were given, those of a sample are expected: "
                           f"{', '.join(map(repr, dims))}")
    for one in set(dims) & set(weights.indexes) & set(held.indexes):
        own, index = weights.indexes[one], held.indexes[one]
        if not own.equals(index):
            if lacking := [label for label in index if label not in own]:
                raise InvalidInput(f"{name}: weights are aligned by their coordinates with the samples, and have none "
                                   f"for {one}={shown_names(lacking)}; give them the same, or an array")
            if not own.is_unique:
                raise InvalidInput(f"{name}: weights are aligned by their coordinates with the samples, and have one "
                                   f"of {one!r} twice; give them the same, or an array")
            weights = weights.isel({one: own.get_indexer(index)})
    return weights.transpose(*dims).data


def of_plan(method: Callable[..., Any], plan: Any, held: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """Answer `transform`, `normalize` or `gradients` of a plan for an object of dask or xarray.

    Parameters
    ----------
    method : function
        Of the class.
    plan : Plan
    held : object
    arguments : tuple
    options : dict
        Those of the method, and `dim`.
    """
    name = method.__name__
    given = inspect.signature(method).bind(plan, held, *arguments, **options).arguments
    options = dict(list(given.items())[2:])
    dim, axis = options.pop("dim", None), options.pop("axis", "last")
    if name not in ("transform", "normalize", "gradients"):
        raise InvalidInput(f"{name} takes arrays in memory; compute those of dask first, and take .values of xarray's")
    for option in ("dps", "checkpoint", "progress", "groups", "weights"):
        if options.get(option) is not None:
            raise InvalidInput(f"{name}: {option}= is for arrays in memory")
    library, ndim = library_of(held), plan.choice.filter_ndim or 1
    if library != "xarray" and dim is not None:
        raise InvalidInput(f"{name}: dim={dim!r} was given with {type(held).__name__}; dim= names a dimension of an "
                           "object of xarray, use axis= here")
    names = list(plan.names)
    if library == "dask":
        return _plan_on_dask(method, plan, held, axis, ndim, options, len(names))
    axis = tuple(range(-ndim, 0)) if axis == "last" and dim is None else axis
    dims = xarray_objects.sample_axes(name, held, dim, axis, "last")
    outcomes: list[Any] = []

    def of_array(array: Any) -> Any:
        axes = tuple(range(-len(dims), 0))
        if library_of(array) == "dask":
            return _plan_on_dask(method, plan, array, axes, ndim, options, len(names))
        found = getattr(plan, name)(array, axis=axes, **options)
        if options.get("on_refusal") == "return":
            found, told = found
            outcomes.extend(told)
        return found

    found = xarray_objects.apply(of_array, held, dims, names if name != "normalize" else None,
                                 keeps=name != "transform")
    return (found, tuple(outcomes)) if options.get("on_refusal") == "return" else found


def _plan_on_dask(method: Callable[..., Any], plan: Any, array: Any, axis: Any, ndim: int, options: dict[str, Any],
                  count: int) -> Any:
    """Blocks of rows, each as in memory."""
    from symdecouple.numeric.samples.vectors import own_axes

    name = method.__name__
    dask_arrays.check_array(name, array)
    dask_arrays.refuse_outcomes(name, options)
    axes = own_axes(axis, array.shape, ndim)
    if any(len(array.chunks[i]) > 1 for i in axes):
        raise dask_arrays.whole_needed(f"plan.{name}", array, axes)
    pattern = np.zeros((1, *(8,) * ndim), dtype=array.dtype)
    getattr(plan, name)(pattern, **{**options, "on_refusal": "return"})
    call = partial(_on_block, plan, name, tuple(range(-len(axes), 0)), options)
    more = () if name == "normalize" else (count,)
    found = dask_arrays.apply_to_rows(call, array, axes, None, more, keeps_samples=name != "transform")
    if name != "normalize":
        return found
    kept = [i for i in range(array.ndim) if i not in axes]
    back = np.argsort([*kept, *sorted(axes)])
    return found.transpose([int(i) for i in back])


def _on_block(plan: Any, name: str, axes: tuple[int, ...], options: dict[str, Any], block: Any) -> Any:
    """A method of a plan on a block of rows; it travels as the plan and a name."""
    found = getattr(plan, name)(block, axis=axes, **options)
    return np.asarray(found) if not np.ma.is_masked(found) else found
