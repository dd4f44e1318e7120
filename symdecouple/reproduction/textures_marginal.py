"""The source's first texture experiment: patches told apart by moments of the bands, order by order."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.figures import COLOURS, new_figure, quiet
from symdecouple.reproduction.brodatz import plates
from symdecouple.reproduction.classifiers import naive_errors, support_errors
from symdecouple.reproduction.result import Figure, Result, Row
from symdecouple.reproduction.setup import Setup
from symdecouple.reproduction.texture_features import SETS, homogeneous, moments_of

__all__ = ["measure"]

FloatArray = NDArray[np.float64]

FOLDS = 4
KEPT = 20
SHADES = {"MSM": COLOURS["orange"], "Blest": COLOURS["green"], "DF": COLOURS["blue"]}


def measure(setup: Setup) -> Result:
    """Classify patches by the moments of order 2 to n of eight bands, for each n."""
    files = plates(setup.data)
    count, patches, order = setup.choose((6, 25, 6), (54, 100, 10))
    orders = tuple(range(2, order + 1))
    runs, support_orders = setup.choose((4, ()), (8, orders))
    setup.expect(1 + count + len(SETS) * (len(orders) + len(support_orders)))
    chosen = homogeneous(setup, files, count)
    parts = [moments_of(setup, number, files[number], order, patches) for number in chosen]
    labels = np.repeat(chosen, [len(part["DF"]) for part in parts])
    moments = {name: np.concatenate([part[name] for part in parts]) for name in SETS}
    fine = {n: _fine([values[:, :, : n - 1] for values in moments.values()], labels) for n in orders}
    found = dict[tuple[str, str, int], Any]()
    for classifier, errors, times, some in (("naive", naive_errors, runs, orders),
                                            ("SVM", support_errors, 1, support_orders)):
        for name, n in product(SETS, some):
            features = moments[name][fine[n]][:, :, : n - 1].reshape(int(fine[n].sum()), -1)
            found[classifier, name, n] = setup.part(f"marginal-{classifier}-{name}-{n}", errors, features,
                                                    labels[fine[n]], FOLDS, times, setup.seed)["errors"]
    settings = {"plates": count, "patches of each": patches, "folds": FOLDS, "runs": f"{runs} (SVM 1)",
                "seed": setup.seed}
    remarks = (
        "Bands of 8-bit grey values are crowded at few values in some plates: rounding may grow by 2^36 here, to five "
        "digits. Patches without a moment up to an order all the same are left out there, of all sets, and so are "
        "plates that keep "
        f"fewer than {KEPT} patches. Left out, of {len(labels)}: "
        f"{', '.join(f'{int((~fine[n]).sum())} for order {n}' for n in orders if not fine[n].all()) or 'none'}.",
        "The source does not print its list of plates: here those with the least spread of the logarithm of band "
        "variances over the patches. Absolute errors hang on the list, their ratio less.",
        "Box and width of the SVM are chosen inside each training set. Features are standardized.",
        f"Plates: {', '.join(f'D{number}' for number in chosen)}.",
    )
    return Result("textures-marginal", "errors of texture classification by moments of the bands up to an order",
                  "the figure of the first texture experiment", settings, _rows(found), remarks, setup.seconds,
                  lambda: _figure(found))


def _fine(sets: list[FloatArray], labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which patches have all moments, in plates that keep enough of them."""
    has_all = np.asarray(np.isfinite(np.concatenate(sets, axis=2)).all(axis=(1, 2)))
    few = [one for one in np.unique(labels) if has_all[labels == one].sum() < min(KEPT, np.sum(labels == one))]
    return np.asarray(has_all & ~np.isin(labels, few))


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
