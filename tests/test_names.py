"""A wrong name is answered with the right one; one that is like nothing, with nothing."""

import pytest

import symdecouple as sd


@pytest.mark.parametrize("module, name, meant", [
    ("", "orthokurtosis", "symdecouple.stats.orthokurtosis"), ("", "decoupled_moments", "symdecouple.stats.decoupled_"),
    ("", "raw_moments", "symdecouple.families.raw_moments"), ("", "explore", "symdecouple.analysis.explore?"),
    ("", "Plann", "symdecouple.Plan?"), ("", "decopule", "symdecouple.decouple?"), ("", "mean", "symdecouple.Mean?"),
    ("", "std", "symdecouple.standard_deviation?"), ("", "kurtosys", "symdecouple.kurtosis?"),
    ("stats", "kurtosi", "symdecouple.stats.kurtosis?"), ("stats", "variance", "symdecouple.variance?"),
    ("stats", "tils", "symdecouple.families.tils?"), ("families", "decouple", "symdecouple.decouple?"),
    ("families", "raw_moment", "symdecouple.families.raw_moments?"), ("analysis", "population_", "population?"),
    ("analysis", "skewness", "symdecouple.stats.skewness?"),
    ("sklearn", "decoupled_moments", "symdecouple.stats.decoupled_moments?"),
])
def test_what_may_be_meant(module: str, name: str, meant: str) -> None:
    place = getattr(sd, module) if module else sd
    with pytest.raises(AttributeError) as error:
        getattr(place, name)
    assert str(error.value).startswith(f"module '{place.__name__}' has no attribute '{name}'; did you mean ")
    assert meant in str(error.value)


@pytest.mark.parametrize("name", ["zebra", "_repr_html_", "__wrapped__", "q"])
def test_what_is_like_nothing(name: str) -> None:
    for place in (sd, sd.stats, sd.families, sd.analysis, sd.sklearn):
        with pytest.raises(AttributeError) as error:
            getattr(place, name)
        assert str(error.value) == f"module '{place.__name__}' has no attribute '{name}'"
