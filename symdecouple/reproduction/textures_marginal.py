"""The source's first texture experiment: patches told apart by moments of the bands, order by order."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.figures import COLOURS, new_figure, quiet
from symdecouple.reproduction.brodatz import plates
from symdecouple.reproduction.classifiers import naive_errors, support_errors
from symdecouple.reproduction.result import Figure, Result, Row
from symdecouple.reproduction.setup import Setup
from symdecouple.reproduction.texture_features import SETS, homogeneous, moments_of

__all__ = ["measure"]

FOLDS = 4
SHADES = {"MSM": COLOURS["orange"], "Blest": COLOURS["green"], "DF": COLOURS["blue"]}


def measure(setup: Setup) -> Result:
    """Classify patches by the moments of order 2 to n of eight bands, for each n."""
    files = plates(setup.data)
    count, patches, order = setup.choose((6, 25, 6), (54, 100, 10))
    runs, support_orders = setup.choose((4, ()), (8, (4, 10)))
    orders = tuple(range(2, order + 1))
    setup.expect(1 + count + len(SETS) * (len(orders) + len(support_orders)))
    chosen = homogeneous(setup, files, count)
    parts = [moments_of(setup, number, files[number], order, patches) for number in chosen]
    labels = np.repeat(chosen, [len(part["DF"]) for part in parts])
    moments = {name: np.concatenate([part[name] for part in parts]) for name in SETS}
    fine = np.isfinite(np.concatenate([moments[name] for name in SETS], axis=2)).all(axis=(1, 2))
    perturbed = sum(int(part["perturbed"].sum()) for part in parts)
    found = dict[tuple[str, str, int], Any]()
    for name in SETS:
        for n in orders:
            features = moments[name][fine][:, :, : n - 1].reshape(int(fine.sum()), -1)
            given = features, labels[fine], FOLDS
            found["naive", name, n] = setup.part(f"marginal-naive-{name}-{n}", naive_errors, *given, runs,
                                                 setup.seed)["errors"]
            if n in support_orders:
                found["SVM", name, n] = setup.part(f"marginal-SVM-{name}-{n}", support_errors, *given, 1,
                                                   setup.seed)["errors"]
    settings = {"plates": count, "patches of each": patches, "folds": FOLDS, "runs": f"{runs} (SVM 1)",
                "seed": setup.seed}
    remarks = (
        f"Bands of 8-bit grey values are crowded at few values: in {perturbed} of {8 * len(fine)}, the last moments "
        "come from values that were moved by less than half a step (perturb='ramp'). "
        f"{int((~fine).sum())} of {len(fine)} patches lack a moment all the same, and are left out of all sets.",
        "The source does not print its list of plates: here those with the least spread of the logarithm of band "
        "variances over the patches. Absolute errors hang on the list, their ratio less.",
        "Box and width of the SVM are chosen inside each training set. Features are standardized.",
        f"Plates: {', '.join(f'D{number}' for number in chosen)}.",
    )
    return Result("textures-marginal", "errors of texture classification by moments of the bands up to an order",
                  "the figure of the first texture experiment", settings, _rows(found), remarks, setup.seconds,
                  lambda: _figure(found))


def _rows(found: dict[tuple[str, str, int], Any]) -> tuple[Row, ...]:
    printed = {("naive", "MSM", 4): 3.0, ("SVM", "MSM", 4): 2.0, ("naive", "DF", 10): 1.34, ("SVM", "DF", 10): 0.86}
    rows = [Row(f"error of {name} up to order {n}, {classifier} [%]", float(errors.mean()),
                printed.get((classifier, name, n)), float(errors.std()) if len(errors) > 1 else None)
            for (classifier, name, n), errors in found.items()]
    for classifier, ratio in (("naive", 3 / 1.34), ("SVM", 2 / 0.86)):
        best = {name: min((errors.mean() for (c, one, _), errors in found.items() if (c, one) == (classifier, name)),
                          default=np.nan) for name in SETS}
        if np.isfinite(best["DF"]) and best["DF"] > 0:
            rows.append(Row(f"best error of MSM over best of DF, {classifier}", best["MSM"] / best["DF"],
                            round(ratio, 1)))
    return tuple(rows)


def _figure(found: dict[tuple[str, str, int], Any]) -> Figure:
    figure = new_figure(6, 4)
    ax = figure.add_subplot()
    for classifier, style in (("naive", "o-"), ("SVM", "s--")):
        for name, colour in SHADES.items():
            points = [(n, errors.mean()) for (c, one, n), errors in found.items() if (c, one) == (classifier, name)]
            if points:
                ax.plot(*zip(*points, strict=True), style, color=colour, label=f"{name}, {classifier}", markersize=4)
    quiet(ax, "texture patches, moments of eight bands", "highest order of the moments", "test error [%]")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    return figure
