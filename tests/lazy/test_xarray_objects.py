"""Objects of xarray: the dimension by its name, coordinates and attributes kept, data of dask lazy."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple import InvalidInput, lazy, stats
from symdecouple.families.moments import raw_moments

xr = pytest.importorskip("xarray")

VALUES = np.random.default_rng(5).exponential(size=(4, 30, 3))
HELD = xr.DataArray(VALUES, dims=("station", "time", "band"), name="height", attrs={"units": "m"},
                    coords={"station": list("abcd"), "band": [10, 20, 30]})
BOTH = xr.Dataset({"height": HELD, "speed": HELD.isel(band=0, drop=True) * 2})
PLAN = sd.decouple(raw_moments(4))
both_kinds = pytest.mark.parametrize("is_lazy", [False, pytest.param(True, marks=pytest.mark.skipif(
    find_spec("dask") is None, reason="dask is an extra"))])


@both_kinds
def test_a_statistic_along_a_named_dimension(is_lazy: bool) -> None:
    held = HELD.chunk(station=2) if is_lazy else HELD
    with xr.set_options(keep_attrs=True):
        found = stats.orthokurtosis(held, dim="time")
    assert (found.dims, found.name, found.attrs) == (("station", "band"), "height", {"units": "m"})
    assert found.station.values.tolist() == list("abcd") and (found.chunks is not None) == is_lazy
    assert np.array_equal(found.values, stats.orthokurtosis(VALUES, axis=1))
    with xr.set_options(keep_attrs=False):
        assert stats.orthokurtosis(held, dim="time").attrs == {}
    several = stats.kurtosis(held, dim=("band", "station"))
    assert several.values == pytest.approx(stats.kurtosis(VALUES, axis=(0, 2)), rel=1e-13 if is_lazy else 0)
    assert stats.kurtosis(held, dim=...).values == pytest.approx(stats.kurtosis(VALUES, axis=None), rel=1e-13)
    assert np.array_equal(stats.kurtosis(held, axis=1).values, stats.kurtosis(VALUES, axis=1))


@both_kinds
@pytest.mark.parametrize(
    ("function", "names"),
    [
        (stats.decoupled_moments, ["mean", "variance", "skewness", "orthokurtosis", "decoupled_5", "decoupled_6"]),
        (stats.standardized_moments, ["mean", "variance", "skewness", "kurtosis", "moment_5", "moment_6"]),
        (stats.blest, ["mean", "variance", "skewness", "blest_4"]),
        (stats.skewness_range, ["low", "high"]),
        (stats.circular_shape, ["tail", "odd"]),
    ],
)
def test_several_numbers_lie_along_features(function: Callable[..., Any], names: list[str], is_lazy: bool) -> None:
    found = function(HELD.chunk(station=1) if is_lazy else HELD, dim="time")
    assert found.dims == ("station", "band", "feature") and found.feature.values.tolist() == names
    expected = function(VALUES, axis=1)
    expected = np.stack(expected, axis=-1) if isinstance(expected, tuple) else expected
    assert np.array_equal(found.values, expected)


@both_kinds
def test_plans(is_lazy: bool) -> None:
    held = HELD.chunk(band=1) if is_lazy else HELD
    found = PLAN.transform(held, dim="time")
    assert found.dims == ("station", "band", "feature") and found.feature.values.tolist() == list(PLAN.names)
    assert np.array_equal(found.values, PLAN.transform(VALUES, axis=1))
    moved = PLAN.normalize(held, 3, dim="time")
    assert moved.dims == HELD.dims and np.array_equal(moved.values, PLAN.normalize(VALUES, 3, axis=1))
    slopes = PLAN.gradients(held, dim="time")
    assert slopes.dims == ("station", "band", "feature", "time")
    assert np.array_equal(slopes.values, PLAN.gradients(np.moveaxis(VALUES, 1, -1)))
    assert np.array_equal(PLAN.transform(HELD).values, PLAN.transform(VALUES))


def test_datasets_are_answered_variable_by_variable() -> None:
    found = stats.skewness(BOTH, dim="time")
    assert found.height.dims == ("station", "band") and found.speed.dims == ("station",)
    assert np.array_equal(found.speed.values, stats.skewness(VALUES[..., 0] * 2, axis=1))
    moved = PLAN.normalize(BOTH, 2, dim="time")
    assert moved.height.dims == HELD.dims and moved.speed.dims == ("station", "time")


@pytest.mark.filterwarnings("ignore:The `squeeze` kwarg to GroupBy:UserWarning")  # of xarray in 2024
def test_groups_are_answered_by_their_own_map() -> None:
    found = HELD.groupby("station").map(stats.skewness, dim="time")
    assert np.array_equal(found.transpose("station", "band").values, stats.skewness(VALUES, axis=1))


def test_weights_and_outcomes() -> None:
    weights = np.random.default_rng(0).random(30)
    for given in (weights, xr.DataArray(weights, dims="time")):
        found = stats.skewness(HELD, dim="time", weights=given)
        assert np.array_equal(found.values, stats.skewness(VALUES, axis=1, weights=weights))
    values, outcomes = stats.skewness(HELD * 0, dim="time", on_refusal="return")
    assert np.isnan(values.values).all() and [one.reason for one in outcomes] == ["zero variance"] * 12


def test_weights_are_aligned_by_their_coordinates() -> None:
    pandas = pytest.importorskip("pandas")
    held, weights = HELD.assign_coords(time=np.arange(30) * 2), np.random.default_rng(0).random(30)
    labelled = xr.DataArray(weights, dims="time", coords={"time": held.time})
    expected = stats.skewness(VALUES, axis=1, weights=weights)
    for given in (labelled[::-1], pandas.Series(weights, held.time.values)[::-1], weights, labelled.drop_vars("time")):
        assert np.array_equal(stats.skewness(held, dim="time", weights=given).values, expected)
    for lacking in (labelled[:29], pandas.Series(weights, held.time.values)[:29]):
        with pytest.raises(InvalidInput, match=r"none for .*58"):
            stats.skewness(held, dim="time", weights=lacking)
    with pytest.raises(InvalidInput, match="twice"):
        stats.skewness(held, dim="time", weights=xr.concat([labelled, labelled], "time"))
    with pytest.raises(InvalidInput, match="give a DataArray, or an array"):
        stats.skewness(HELD.drop_vars("time", errors="ignore"), dim="time", weights=pandas.Series(weights))


def test_one_vector_at_its_level_keeps_its_labels() -> None:
    found = lazy.normalize(HELD, 3)
    assert found.dims == HELD.dims and found.attrs == HELD.attrs
    assert [float((found**k).mean()) for k in (1, 2, 3)] == pytest.approx([0, 1, 0], abs=1e-13)
    assert lazy.decoupled_moments(HELD, 4) == pytest.approx(stats.decoupled_moments(VALUES, 4, axis=None), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: stats.skewness(HELD, dim="tiem"),
         "dim='tiem' is no dimension of the DataArray, which has 'station', 'time', 'band'"),
        (lambda: stats.skewness(BOTH, dim="band"), "no dimension of the variable 'speed' of the Dataset"),
        (lambda: stats.skewness(BOTH), "have no order: give dim=, one of 'station'"),
        (lambda: stats.skewness(HELD.groupby("station"), dim="time"), "a DataArrayGroupBy of xarray was given"),
        (lambda: stats.skewness(HELD.variable, dim="time"), "a Variable of xarray was given"),
        (lambda: lazy.normalize(HELD.groupby("station")), "a DataArrayGroupBy of xarray was given"),
        (lambda: stats.skewness(HELD, dim=[]), "one dimension or several"),
        (lambda: stats.skewness(HELD, dim=("time", "time")), "one dimension or several"),
        (lambda: stats.skewness(HELD, axis=2, dim="time"), "one of them names the samples"),
        (lambda: stats.skewness(HELD, axis=7), "axis=7 was given"),
        (lambda: stats.skewness(HELD, dim="time", keepdims=True), "expand_dims"),
        (lambda: stats.skewness(HELD, dim="time", nan_policy="drop"), "nan_policy='drop'"),
        (lambda: stats.skewness(HELD, dim="time", weights=HELD), "weights with the dimensions"),
        (lambda: stats.decoupled_moments(HELD.rename(band="feature"), dim="time"), "has a dimension 'feature' already"),
        (lambda: stats.skewness(HELD.astype(str), dim="time"), "text"),
        (lambda: PLAN.transform(HELD, dim="tiem"), "transform: dim='tiem' is no dimension"),
        (lambda: PLAN.denormalize(HELD, [0, 1]), "denormalize takes arrays in memory"),
        (lambda: lazy.decoupled_moments(BOTH), "give one variable"),
        (lambda: stats.match(BOTH, mean=0), "give one variable"),
        (lambda: stats.estimate_moments(BOTH), "give one variable"),
    ],
)
def test_refusals(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()
