"""The source's second texture experiment: moments of bands, decoupled in each band, or all together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.tils import tils
from symdecouple.reproduction.brodatz import plates
from symdecouple.reproduction.classifiers import naive_errors, support_errors
from symdecouple.reproduction.result import Result, Row
from symdecouple.reproduction.setup import Part, Setup
from symdecouple.reproduction.texture_features import bands_of, quarter
from symdecouple.stats.moments import decoupled_moments, standardized_moments

__all__ = ["measure"]

FloatArray = NDArray[np.float64]

ORDERS = (2, 3, 4, 5, 6)
FOLDS = 10
SETS = ("MSM", "DF MSM", "DF MF")
PRINTED = {("naive", "MSM"): (9.1, 0.4), ("naive", "DF MSM"): (7.4, 0.3), ("naive", "DF MF"): (4.0, 0.3),
           ("SVM", "MSM"): (5.2, 0.5), ("SVM", "DF MSM"): (4.5, 0.4), ("SVM", "DF MF"): (3.1, 0.4)}


def measure(setup: Setup) -> Result:
    """Classify patches of the first plates by 45 features, in three versions, for each highest order."""
    count, patches = setup.choose((5, 6), (20, 25))
    runs, support_runs = setup.choose((4, 0), (200, 4))
    orders = setup.choose((2, 3, 4), ORDERS)
    folds = setup.choose(3, FOLDS)
    files = plates(setup.data, count)
    setup.expect(count + len(SETS) * (len(orders) + bool(support_runs)))
    plan = decouple(filter_moments(tils(), orders))
    parts = [_features(setup, plan, number, path, orders, patches) for number, path in files.items()]
    labels = np.repeat(list(files), [len(part["DF MF"]) for part in parts])
    features = {name: np.concatenate([part[name] for part in parts]) for name in SETS}
    fine = np.isfinite(np.concatenate([features[name] for name in SETS], axis=2)).all(axis=(1, 2))
    rows = list[Row]()
    for name in SETS:
        for k, highest in enumerate(orders, 1):
            given = features[name][fine][:, :k].reshape(int(fine.sum()), -1)
            errors = setup.part(f"joint-naive-{name.replace(' ', '-')}-{highest}", naive_errors, given, labels[fine],
                                folds, runs, setup.seed)["errors"]
            printed, spread = PRINTED["naive", name] if highest == ORDERS[-1] else (None, None)
            rows.append(Row(f"error of {name} up to order {highest}, naive Bayes [%]", float(errors.mean()), printed,
                            float(errors.std()), spread))
        if support_runs:
            errors = setup.part(f"joint-SVM-{name.replace(' ', '-')}", support_errors, given, labels[fine], folds,
                                support_runs, setup.seed)["errors"]
            printed, spread = PRINTED["SVM", name]
            rows.append(Row(f"error of {name}, SVM [%]", float(errors.mean()), printed, float(errors.std()), spread))
    settings = {"plates": count, "patches of each": patches, "folds": folds, "runs": f"{runs} (SVM {support_runs})",
                "seed": setup.seed}
    remarks = (
        f"{int((~fine).sum())} of {len(fine)} patches lack a decoupled feature, and are left out of all sets.",
        "Joint features are moments of the bands order by order, smooth band first, of patches without their mean.",
        "Box and width of the SVM are chosen inside each training set; to choose them on the folds that are scored "
        "flatters.",
    )
    return Result("textures-joint", "errors of texture classification by moments of nine bands, decoupled together",
                  "the table of the second texture experiment", settings, tuple(rows), remarks, setup.seconds)


def _features(setup: Setup, plan: Plan, number: int, path: Path, orders: tuple[int, ...], patches: int) -> Part:
    """The three sets of a plate, each (patches, orders, bands)."""
    return setup.part(f"joint-D{number}", _three_sets, plan, quarter(path)[:patches], orders)


def _three_sets(plan: Plan, samples: FloatArray, orders: tuple[int, ...]) -> dict[str, Any]:
    bands = bands_of(samples, low=True)
    original = standardized_moments(bands, orders[-1], axis=2, on_refusal="return")[0]
    decoupled = decoupled_moments(bands, orders[-1], axis=2, on_refusal="return")[0]
    centred = samples - samples.mean(axis=(1, 2), keepdims=True)
    joint = plan.transform(centred, on_refusal="return")[0].reshape(len(samples), len(orders), -1)
    return {"MSM": original[..., 1:].swapaxes(1, 2), "DF MSM": decoupled[..., 1:].swapaxes(1, 2), "DF MF": joint}
