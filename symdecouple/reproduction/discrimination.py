"""The source's figure of three classes, u^theta with u uniform: ellipses and expected errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats as laws

from symdecouple.analysis.discriminability import Discriminability, discriminability
from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.moments import standardized_moments
from symdecouple.reproduction.result import Figure, Result, Row
from symdecouple.reproduction.setup import Setup, random_numbers

__all__ = ["measure"]

POWERS = (5, 6, 7)
SAMPLES = 1024
VECTORS = 128


def measure(setup: Setup) -> Result:
    """Measure the error of Gaussian classes on drawn vectors, many times, and of the law itself."""
    plan = decouple(standardized_moments(4))
    draws = setup.choose(8, 64)
    setup.expect(draws + 1)
    errors = np.array([setup.part("discrimination", _drawn, plan, setup.seed, k)["errors"] for k in range(draws)])
    exact = setup.part("discrimination-law", _of_the_law, plan)["errors"]
    rows = list[Row]()
    for k, (name, printed) in enumerate((("skewness and kurtosis", 12.4), ("skewness and orthokurtosis", 4.5))):
        low, high = np.percentile(errors[:, k], [2.5, 97.5])
        inside = "inside" if low <= printed <= high else "outside"
        rows += [Row(f"expected error, {name}, {VECTORS} vectors drawn [%]", float(errors[:, k].mean()), printed,
                     float(errors[:, k].std()),
                     remark=f"95 % of the draws lie in {low:.2f} to {high:.2f}; the printed figure is {inside}"),
                 Row(f"expected error, {name}, of the law [%]", float(exact[k]), printed,
                     remark="means and covariances of the law, without drawing")]
    settings = {"draws": draws, "vectors": VECTORS, "samples": SAMPLES, "theta": "5, 6, 7", "seed": setup.seed}
    remarks = (
        "Three Gaussian classes of equal chances with their own full covariances; the error of the best decision, "
        "computed by integration, not by drawing.",
        "The source drew one set of vectors: the spread over draws is what its decoupled figure hangs on.",
    )
    return Result("discrimination", "errors between close laws, coupled and decoupled kurtosis",
                  "the figure of Gaussian classes, section on discriminability", settings, tuple(rows), remarks,
                  setup.seconds, lambda: _figure(plan, setup.seed))


def _vectors(seed: int, draw: int) -> dict[int, Any]:
    random = random_numbers(seed, "discrimination", draw)
    return {theta: random.uniform(size=(VECTORS, SAMPLES)) ** theta for theta in POWERS}


def _found(plan: Plan, seed: int, draw: int) -> Discriminability:
    return discriminability(plan, _vectors(seed, draw), features=(3, 4), covariance="sample")


def _drawn(plan: Plan, seed: int, draw: int) -> dict[str, Any]:
    return _errors(_found(plan, seed, draw))


def _of_the_law(plan: Plan) -> dict[str, Any]:
    return _errors(discriminability(plan, {theta: laws.beta(1 / theta, 1) for theta in POWERS}, features=(3, 4),
                                    n_samples=SAMPLES))


def _errors(found: Discriminability) -> dict[str, Any]:
    return {"errors": [100 * found.original.error, 100 * found.decoupled.error]}


def _figure(plan: Plan, seed: int) -> Figure:
    return _found(plan, seed, 0).plot()[0].figure
