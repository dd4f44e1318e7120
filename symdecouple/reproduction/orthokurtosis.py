"""The source's figure of skewness, kurtosis and orthokurtosis of four samples, and what it shows in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.analysis.orthogonality import orthogonality
from symdecouple.analysis.spheres import draw_spheres
from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.moments import standardized_moments
from symdecouple.reproduction.result import Result, Row
from symdecouple.reproduction.setup import Setup

__all__ = ["measure"]


def measure(setup: Setup) -> Result:
    """Measure the angles between the three gradients all over the sphere of standardized samples, and their ranges."""
    plan = decouple(standardized_moments(4))
    count = setup.choose(500, 20000)
    setup.expect(1)
    found = setup.part("orthokurtosis", _angles, plan, setup.random("sphere").standard_normal((count, 4)))
    ranges = plan.attainable(n_samples=4)
    _, outcomes = plan.transform([[0.0, 0.0, 0.0, 1.0]], on_refusal="return")
    rows = [
        Row("|DO| of skewness and kurtosis, mean [degrees]", float(found["kurtosis"].mean()), "curves cross obliquely",
            float(found["kurtosis"].std())),
        Row("|DO| of skewness and orthokurtosis, largest [degrees]", float(found["orthokurtosis"].max()), "orthogonal"),
        Row("samples left out: critical points to rounding", float(found["refused"])),
        Row("largest skewness", float(ranges.high[2]), remark="2/sqrt(3), at three equal values and one"),
        Row("lowest orthokurtosis", float(ranges.low[3]), remark="two pairs of equal values"),
        Row("largest orthokurtosis", float(ranges.high[3]), remark="one pair in the middle"),
        Row("orthokurtosis where the skewness is largest", "refused" if not outcomes[0].ok else "computed",
            "not defined", remark=outcomes[0].reason),
    ]
    return Result("orthokurtosis", "skewness, kurtosis and orthokurtosis of four samples",
                  "the figure of the orthokurtosis", {"samples": count, "seed": setup.seed}, tuple(rows), (),
                  setup.seconds, lambda: draw_spheres(plan)[0].figure)


def _angles(plan: Plan, samples: Any) -> dict[str, Any]:
    found, outcomes = orthogonality(plan, samples, on_refusal="return")
    return {"kurtosis": np.abs(found.original.samples[:, 3, 2]),
            "orthokurtosis": np.abs(found.decoupled.samples[:, 3, 2]),
            "refused": sum(not outcome.ok for outcome in outcomes)}
