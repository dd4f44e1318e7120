"""How far the tables of regression hang on what their regressors are set to: every preset of the source's program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.reproduction.laws import moments_of
from symdecouple.reproduction.regression import printed_error
from symdecouple.reproduction.regressors import VARIANTS, errors
from symdecouple.reproduction.result import Result, Row
from symdecouple.reproduction.setup import Setup

__all__ = ["measure"]

SETS = ("MSM", "DF")


def measure(setup: Setup) -> Result:
    """Compare cells of the tables of regression under each variant of each regressor with those printed."""
    laws = setup.choose(("GGD",), ("GGD", "GMD", "GND"))
    sizes = setup.choose((64,), (512,))
    vectors = setup.choose(512, 2048)
    names = setup.choose(("LRM", "RT", "SVR", "ET"), tuple(VARIANTS))
    cells = [(law, size) for law in laws for size in sizes]
    setup.expect(len(cells) * (1 + sum(len(VARIANTS[name]) for name in names)))
    data = {cell: moments_of(setup, *cell, vectors) for cell in cells}
    rows = list[Row]()
    for name in names:
        for variant, options in VARIANTS[name].items():
            found = [setup.part(f"variant-{law}-{size}-{name}", _errors, name, options, *part.values())
                     for (law, size), part in data.items()]
            printed = {one: np.array([printed_error(*cell, name, one) for cell in cells]) for one in SETS}
            ours = {one: np.array([float(part[one]) for part in found]) for one in SETS}
            away = [np.abs(ours[one] / printed[one] - 1).mean() for one in SETS]
            gains = [np.mean(one["DF"] / one["MSM"]) for one in (ours, printed)]
            rows += [Row(f"{name}, {variant}: mean distance from the printed cells [%]", float(100 * np.mean(away)),
                         remark="" if options else "the one in the tables"),
                     Row(f"{name}, {variant}: error of DF over that of MSM, mean", float(gains[0]),
                         round(float(gains[1]), 2))]
    settings = {"laws": ", ".join(laws), "samples": ", ".join(map(str, sizes)), "vectors": vectors, "folds": 5,
                "seed": setup.seed}
    remarks = ("The program of the source has presets for each regressor, and the source says that it used the default "
               "ones; it does not say which of those that are offered. One data set a cell.",)
    return Result("regressor-variants", "distances from the printed tables, by the settings of the regressors",
                  "three tables of the appendix", settings, tuple(rows), remarks, setup.seconds)


def _errors(name: str, options: dict[str, Any], original: NDArray[np.float64], decoupled: NDArray[np.float64],
            targets: NDArray[np.float64]) -> dict[str, Any]:
    return {one: errors(name, predictors, targets, 0, **options)
            for one, predictors in zip(SETS, (original, decoupled), strict=True)}
