"""The accessor ``sd`` of Series and DataFrames: the functions of `stats`, and plans."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple import decouple, stats
from symdecouple.errors import InvalidInput
from symdecouple.families.moments import raw_moments

pd = pytest.importorskip("pandas")
import symdecouple.pandas  # noqa: E402, F401 - registers the accessor

FRAME = pd.DataFrame({"a": [1.0, 2, 4, 9, 5], "b": [3.0, 1, 4, 1, 5]})


def test_functions_take_the_object_first() -> None:
    assert FRAME.sd.skewness().equals(stats.skewness(FRAME)) and FRAME["a"].sd.kurtosis() == stats.kurtosis(FRAME["a"])
    assert FRAME["a"].sd.rolling(3, order=2).equals(stats.rolling(FRAME["a"], 3, order=2))
    assert FRAME.sd.match(mean=0).values.equals(stats.match(FRAME, mean=0).values)
    plan = decouple(raw_moments(3))
    assert FRAME.sd.apply(plan.transform, axis=0).equals(plan.transform(FRAME, axis=0))
    assert FRAME.sd.skewness.__doc__ == stats.skewness.__doc__


def test_what_it_has_is_listed_and_nothing_else_is_there() -> None:
    assert {"apply", "rolling", "skewness", "match"} <= set(dir(FRAME.sd)) and "Range" not in dir(FRAME.sd)
    for name in dir(FRAME.sd):
        assert callable(getattr(FRAME.sd, name))
    with pytest.raises(AttributeError, match=r"sd\.Range is no function of samples; it has apply, "):
        _ = FRAME.sd.Range
    with pytest.raises(AttributeError, match="kurtosi"):
        _ = FRAME.sd.kurtosi
    with pytest.raises(InvalidInput, match=r"a method of a plan is expected, such as plan\.transform"):
        FRAME.sd.apply("transform")
    assert np.isnan(FRAME.sd.rolling(9, "skewness")).all(axis=None)
