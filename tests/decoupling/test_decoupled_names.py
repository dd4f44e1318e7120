"""What decoupled features are called: only what they are known to be, and never two alike."""

from typing import Any

import numpy as np
import pytest
from sympy import exp

from symdecouple import Feature, FeatureSet, Group, Mean, coordinates, decouple, kurtosis, skewness, variance, x
from symdecouple.families import autocorrelation, raw_moments, second_order_moments, standardized_moments, tils

KNOWN = ("mean", "variance", "skewness", "orthokurtosis")
x1, x2 = coordinates(2)
NAMED = FeatureSet([Mean(x), Mean(x**2)], names=["level", "power"])


@pytest.mark.parametrize("features, options, names", [
    (raw_moments(5), {}, (*KNOWN, "decoupled_5")),
    (standardized_moments(6), {}, (*KNOWN, "decoupled_5", "decoupled_6")),
    ([Mean(x), variance(), Mean(x**3), kurtosis()], {}, KNOWN),
    ([Mean(x), Mean(x**2), Mean(x**4)], {}, ("mean", "variance", "decoupled_3")),
    ([Mean(x**2), Mean(x)], {}, ("Mean(x**2)", "decoupled_2")),
    ([Mean(x), Mean(exp(x))], {}, ("mean", "decoupled_2")),
    (raw_moments(3), {"reference": [1, 2, 4]}, ("mean", "decoupled_2", "decoupled_3")),  # about 1: no variance
    (raw_moments(3), {"reference": [0, 2]}, ("mean", "variance", "decoupled_3")),
    ([Group(Mean(x), Mean(x**2)), Mean(x**3)], {}, ("Mean(x)", "decoupled_2", "decoupled_3")),
    ([Feature(x1 + x2), Feature(x1**2 + x2**2)], {}, ("x1 + x2", "decoupled_2")),
    (NAMED, {}, ("level", "power")), ([*NAMED, skewness()], {}, ("level", "power", "skewness")),
    ([Mean(x), Feature(Mean(x**2), name="mean")], {}, ("mean", "decoupled_2")),
    ([Mean(x), *second_order_moments(tils(1))], {}, ("mean", "l", "m", "h")),
    (autocorrelation([0, 2]), {}, ("lag_0", "lag_2")),
], ids=lambda v: str(v)[:40])
def test_names_are_true(features: Any, options: dict[str, Any], names: tuple[str, ...]) -> None:
    plan = decouple(features, **options)
    assert plan.names == names and len(set(names)) == len(names)
    found = plan.get_feature_names_out(["a", "b"])
    assert found.dtype == object and found.tolist() == list(names)


def test_the_variance_is_that() -> None:
    """The names against NumPy: feature 2 is the variance only where feature 1 is brought to 0."""
    sample = np.random.default_rng(0).gamma(2.0, size=20)
    assert decouple(raw_moments(2)).transform(sample)[1] == pytest.approx(sample.var(), rel=1e-13)
    assert decouple(raw_moments(3), [0, 2, 0]).transform(sample)[1] == pytest.approx(sample.var(), rel=1e-13)
    assert decouple(raw_moments(2), [1, 2]).transform(sample)[1] == pytest.approx(sample.var() + 1, rel=1e-13)
