"""Moments of the bands of texture patches: classical, shift-minimized and decoupled, kept plate by plate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.families.tils import tils
from symdecouple.numeric.moments.moment_path import growth_up_to
from symdecouple.reproduction.brodatz import SIDE, blocks, plate
from symdecouple.reproduction.setup import Part, Setup
from symdecouple.stats.moments import blest, decoupled_moments, standardized_moments

__all__ = ["PATCH", "SETS", "bands_of", "homogeneous", "moments_of", "quarter"]

FloatArray = NDArray[np.float64]

PATCH = 64
_NO_TAP = 1e-9
_GROWTH = 2.0**36  # of rounding on the way to the last orders: to 1e-5 of a deviation at most, which classes do not
# notice; within the usual bound one band of eight is refused in some plates
_IMPULSE = np.zeros((1, 8, 8))
_IMPULSE[0, 4, 4] = 1
SETS = ("MSM", "Blest", "DF")


def bands_of(patches: FloatArray, *, low: bool = False) -> FloatArray:
    """Return the TILs bands of patches, (patches, bands, pixels); without the smooth band by default."""
    bank = tils(low=low, normalized=False)
    return np.stack([h.apply(patches, axis=(1, 2)).reshape(len(patches), -1) for h in bank], axis=1)


def _bands_of_grey_values(patches: FloatArray) -> FloatArray:
    """The same for whole numbers: numbers that are equal but for rounding become equal."""
    bands = bands_of(patches)
    steps = [np.abs(taps[np.abs(taps) > _NO_TAP]).min() for taps in bands_of(_IMPULSE)[0]]  # taps are multiples of it
    return np.stack([np.rint(bands[:, k] / step) * step for k, step in enumerate(steps)], axis=1)


def quarter(path: Path, *, standardized: bool = True) -> FloatArray:
    """Return the 25 patches of the upper left quarter of a plate; the quarter has mean 0 and variance 1 by default."""
    values = plate(path)[: SIDE // 2, : SIDE // 2]
    return blocks((values - values.mean()) / values.std() if standardized else values, PATCH)


def homogeneous(setup: Setup, files: dict[int, Path], count: int) -> list[int]:
    """Return the plates whose patches are most alike: the least spread of the logarithm of the variances of bands."""
    spreads = setup.part("homogeneity", _spreads, *files.values())["spreads"]
    numbers = list(files)
    return sorted(numbers[k] for k in np.argsort(spreads, kind="stable")[:count])


def _spreads(*paths: Path) -> dict[str, Any]:
    variances = (bands_of(blocks(plate(path), PATCH)).var(axis=2) for path in paths)
    return {"spreads": [np.log(np.maximum(one, 1e-12)).std(axis=0).mean() for one in variances]}


def moments_of(setup: Setup, number: int, path: Path, order: int, patches: int) -> Part:
    """Return the three sets of moments of order 2 to `order`, each (patches, bands, orders); NaN where refused."""
    return setup.part(f"bands-D{number}", _moments, path, order, patches)


def _moments(path: Path, order: int, patches: int) -> dict[str, Any]:
    bands = _bands_of_grey_values(blocks(plate(path), PATCH)[:patches])
    with growth_up_to(_GROWTH):
        found = {"MSM": standardized_moments(bands, order, axis=2, on_refusal="return"),
                 "Blest": blest(bands, order, axis=2, on_refusal="return"),
                 "DF": decoupled_moments(bands, order, axis=2, on_refusal="return")}
    return {name: values[..., 1:] for name, (values, _) in found.items()}
