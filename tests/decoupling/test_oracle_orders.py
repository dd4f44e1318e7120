"""Decoupled moments of orders 4, 5 and 6 by the plan, against values of 40 to 60 digits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.moments import raw_moments, standardized_moments

TABLE = json.loads((Path(__file__).parents[1] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))
CASES = TABLE["decoupled_moments"]


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {"raw": decouple(raw_moments(6)), "standardized": decouple(standardized_moments(6)),
            "narrow": decouple(raw_moments(6), path="narrow")}


@pytest.mark.parametrize("name", ["raw", "standardized", "narrow"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"N={len(case['sample'])}")
def test_float64(plans: dict[str, Plan], name: str, case: Any) -> None:
    expected = np.array([float(case[f"order{k}"]) for k in (4, 5, 6)])
    np.testing.assert_allclose(plans[name].transform(case["sample"])[3:], expected, rtol=1e-9)


@pytest.mark.parametrize(("name", "case"), [("raw", CASES[0]), *(pytest.param(
    name, CASES[k], marks=pytest.mark.slow) for name, k in (("raw", 1), ("standardized", 0), ("narrow", 0)))])
def test_thirty_digits(plans: dict[str, Plan], name: str, case: Any) -> None:
    found = plans[name].transform(case["sample"], dps=30)
    with mpmath.workdps(40):
        for k in (4, 5, 6):
            expected = mpmath.mpf(case[f"order{k}"])
            assert abs(found[k - 1] - expected) < mpmath.mpf(10) ** -15 * abs(expected)
