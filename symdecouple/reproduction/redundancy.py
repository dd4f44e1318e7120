"""The source's table of mutual information between moments of the bands of textures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.figures import COLOURS, new_figure, quiet
from symdecouple.reproduction.brodatz import plates
from symdecouple.reproduction.mutual_information import by_bins, by_neighbours, by_whole_numbers
from symdecouple.reproduction.result import Figure, Result, Row
from symdecouple.reproduction.setup import Part, Setup
from symdecouple.reproduction.texture_features import SETS, homogeneous, moments_of

__all__ = ["measure"]

ORDER = 6  # of the last pair
PAIRS = ((3, 4), (3, 5), (4, 5), (3, 6), (4, 6), (5, 6))
PRINTED = {"MSM": (0.26, 0.61, 1.39, 0.55, 3.10, 3.11), "Blest": (0.23, 0.61, 1.39, 0.55, 3.07, 3.03),
           "DF": (0.22, 0.04, 0.08, 0.09, 0.54, 0.09)}
SHOWN, BAND = (103, 111), 4  # two plates in the fifth band, as in the source's figure of the feature space
AS_PRINTED = "whole numbers, bits"
ESTIMATORS = {AS_PRINTED: by_whole_numbers, "neighbours, nats": by_neighbours, "bins, nats": by_bins}


def measure(setup: Setup) -> Result:
    """Estimate the mutual information in each band over all patches of all plates, and average over bands."""
    files = plates(setup.data)
    count, patches, order, others = setup.choose((6, 25, 6, 6), (54, 100, 10, 58))
    setup.expect(3 + count + others)
    chosen = homogeneous(setup, files, count)
    rest = [number for number in files if number not in chosen][:others]
    features = [moments_of(setup, number, files[number], order, patches) for number in chosen]
    moments, refused = _together(features)
    found = setup.part("redundancy", _estimated, tuple(ESTIMATORS), *moments.values())
    elsewhere, _ = _together([moments_of(setup, number, files[number], ORDER, patches) for number in rest])
    others_found = setup.part("redundancy-others", _estimated, (AS_PRINTED,), *elsewhere.values())
    rows = [Row(f"mutual information of {name}, orders {i} and {j} [{estimator}]",
                float(found[f"{estimator} {name}"][k]), PRINTED[name][k] if estimator == AS_PRINTED else None,
                remark=f"{others_found[f'{AS_PRINTED} {name}'][k]:.2f} on {len(rest)} other plates"
                if estimator == AS_PRINTED else "")
            for estimator in ESTIMATORS for name in SETS for k, (i, j) in enumerate(PAIRS)]
    settings = {"plates": count, "patches of each": patches, "bands": 8, "seed": setup.seed}
    remarks = (
        f"{refused} patches lack a decoupled moment up to order {order} in some band, and are left out.",
        "The source does not say how it estimates. The program of the paper that it names rounds numbers to whole ones "
        "and counts in bits: that gives its table, between this list of plates and the others. Such figures hang on "
        "the scales of the features: decoupled moments of order 5 and more are smaller numbers than classical ones, "
        "and what is rounded away cannot be shared.",
        "Neighbours: the estimator of Kraskov et al. on ranks, whatever the scales are; the gain is smaller there, and "
        "greatest for pairs of the same parity. Bins: ten of equal width for each feature, most of them empty behind "
        "heavy tails.",
    )
    return Result("redundancy", "mutual information between moments of the bands of textures",
                  "the table of averaged mutual information, and the figure of two classes in feature space", settings,
                  tuple(rows), remarks, setup.seconds, lambda: _figure(dict(zip(chosen, features, strict=True))))


def _together(features: list[Part]) -> tuple[dict[str, NDArray[np.float64]], int]:
    """The sets of all plates, without the patches that lack something, and how many these are."""
    sets = {name: np.concatenate([part[name] for part in features]) for name in SETS}
    fine = np.isfinite(np.concatenate(list(sets.values()), axis=2)).all(axis=(1, 2))
    return {name: values[fine] for name, values in sets.items()}, int((~fine).sum())


def _estimated(estimators: tuple[str, ...], *sets: NDArray[np.float64]) -> dict[str, Any]:
    return {f"{estimator} {name}": [np.mean([ESTIMATORS[estimator](values[:, band, i - 2], values[:, band, j - 2])
                                             for band in range(values.shape[1])]) for i, j in PAIRS]
            for estimator in estimators for name, values in zip(SETS, sets, strict=True)}


def _figure(parts: dict[int, Any]) -> Figure:
    """Draw the moments of order 3 to 5 of two plates, pair by pair: classical above, decoupled below."""
    figure = new_figure(9.5, 6)
    shown = [number for number in SHOWN if number in parts] if set(SHOWN) <= set(parts) else list(parts)[:2]
    axes = figure.subplots(2, 3)
    for name, row in zip(("MSM", "DF"), axes, strict=True):
        for (i, j), ax in zip(PAIRS[:3], row, strict=True):
            for number, colour in zip(shown, (COLOURS["orange"], COLOURS["blue"]), strict=True):
                values = parts[number][name][:, BAND]
                ax.plot(values[:, i - 2], values[:, j - 2], "o", color=colour, alpha=0.6, markersize=4, linewidth=0,
                        label=f"D{number}")
            quiet(ax, "", f"{name}, order {i}", f"{name}, order {j}")
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure
