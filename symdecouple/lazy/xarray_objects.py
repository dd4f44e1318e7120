"""Objects of xarray through `xarray.apply_ufunc`: the sample dimension by its name, coordinates and attributes kept.

What has several numbers a sample has them along a dimension "feature", whose coordinate is their names. Data of dask
stays lazy. Attributes are kept as `xarray.set_options(keep_attrs=...)` says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.matrix import normalized_axes

__all__ = ["FEATURE", "apply", "dimensions_of", "moment_names", "sample_axes"]

FEATURE = "feature"
_FIRST = {"decoupled_moments": ("mean", "variance", "skewness", "orthokurtosis", "decoupled_"),
          "standardized_moments": ("mean", "variance", "skewness", "kurtosis", "moment_"),
          "blest": ("mean", "variance", "skewness", "blest_4", "moment_")}


def moment_names(name: str, count: int) -> list[str]:
    """What the orders of a function of moments are called.

    >>> moment_names("decoupled_moments", 5)
    ['mean', 'variance', 'skewness', 'orthokurtosis', 'decoupled_5']
    """
    *first, rest = _FIRST[name]
    names = [*first, *(f"{rest}{k}" for k in range(5, count + 1))][:count]
    return [f"blest_{k}" if name == "blest" and k >= 4 and k % 2 == 0 else label for k, label in enumerate(names, 1)]


def dimensions_of(name: str, held: Any, dim: Any) -> list[Hashable]:
    """The sample dimensions that `dim` names, all for an ellipsis.

    Raises
    ------
    InvalidInput
        Where the object, or a variable of a Dataset, does not have one.
    """
    if dim is ...:
        return list(held.dims)
    wanted = [dim] if isinstance(dim, str) or not isinstance(dim, Iterable) else list(dim)
    if not wanted or len(set(wanted)) < len(wanted):
        raise InvalidInput(f"{name}: dim={dim!r} was given, one dimension or several different ones are expected")
    parts = held.data_vars.items() if hasattr(held, "data_vars") else [(None, held)]
    for variable, part in parts:
        if missing := [one for one in wanted if one not in part.dims]:
            of = type(held).__name__ if variable is None else f"variable {variable!r} of the Dataset"
            has = ", ".join(map(repr, part.dims)) or "none"
            raise InvalidInput(f"{name}: dim={missing[0]!r} is no dimension of the {of}, which has {has}")
    return [one for one in held.dims if one in wanted]  # in the order of the entries, whoever asks


def sample_axes(name: str, held: Any, dim: Any, axis: Any, default: Any) -> list[Hashable]:
    """The sample dimensions by name, or of a DataArray by their places."""
    if type(held).__name__ not in ("DataArray", "Dataset"):
        raise InvalidInput(f"{name}: a {type(held).__name__} of xarray was given, a DataArray or a Dataset is expected"
                           "; groups are answered by their own .map(function, dim=...)")
    if dim is not None:
        if axis != default:
            raise InvalidInput(f"{name}: dim={dim!r} and axis={axis!r} were given; one of them names the samples")
        return dimensions_of(name, held, dim)
    if hasattr(held, "data_vars"):
        has = ", ".join(map(repr, held.dims)) or "none"
        raise InvalidInput(f"{name}: the dimensions of a Dataset have no order: give dim=, one of {has}")
    return [held.dims[i] for i in sorted(normalized_axes(axis, held.shape))]


def apply(function: Callable[..., Any], held: Any, dims: list[Hashable], labels: list[str] | None, *,
          keeps: bool = False) -> Any:
    """Apply a function of arrays (.., *sample axes) to a DataArray or a Dataset.

    Parameters
    ----------
    function : callable
        Takes NumPy or dask arrays, sample axes last.
    held : DataArray or Dataset
    dims : list
        The sample dimensions.
    labels : list of str or None
        Names of the numbers of a sample, if it has several.
    keeps : bool
        The sample dimensions stay, the last ones, after "feature" if there are labels.
    """
    import xarray

    if labels is not None and FEATURE in held.dims and FEATURE not in dims:
        raise InvalidInput(f"the object has a dimension {FEATURE!r} already, which the numbers of a sample are put "
                           f"along; rename it first: .rename({FEATURE}='...')")
    core = [*([FEATURE] if labels is not None else []), *(dims if keeps else [])]
    if keeps and labels is None:
        order = {name: part.dims for name, part in _parts(held)}
    found = xarray.apply_ufunc(function, held, input_core_dims=[dims], output_core_dims=[core], dask="allowed")
    if labels is not None:
        found = found.assign_coords({FEATURE: np.array(labels)})
    if keeps and labels is None:
        found = found.transpose(*held.dims) if not hasattr(held, "data_vars") else found.map(
            lambda part: part.transpose(*order[part.name]), keep_attrs=True)
    return found


def _parts(held: Any) -> Iterable[tuple[Any, Any]]:
    return held.data_vars.items() if hasattr(held, "data_vars") else [(None, held)]
