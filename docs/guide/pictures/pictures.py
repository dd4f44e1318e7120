"""The pictures of docs/guide/pictures.md: ``python pictures.py`` beside it writes them anew; decoupled.py the first.

Needs scikit-image, whose images camera and gravel it takes (public domain, CC0).
"""

from pathlib import Path
from typing import Any

import numpy as np
from skimage import data

import symdecouple as sd
from symdecouple import FeatureSet, Mean, x
from symdecouple.analysis import (
    draw_flow_lines,
    draw_path,
    draw_spectrum,
    draw_spheres,
    orthogonality,
)
from symdecouple.families import second_order_moments, standardized_moments, tils

HERE = Path(__file__).parent
MOMENTS = standardized_moments(4)


def saved(name: str, ax: Any) -> None:
    """Write the figure that Axes are in."""
    np.ravel(np.array(ax, dtype=object))[0].figure.savefig(HERE / f"{name}.png", dpi=90)


def main() -> None:
    """Draw them all."""
    rng, plan = np.random.default_rng(3), sd.decouple(MOMENTS)
    found = orthogonality(plan, rng.gamma(2.0, size=(200, 100)))
    saved("angles", found.plot_map(which="original"))
    saved("pairs", found.plot_pairs())
    saved("spheres", draw_spheres(plan))
    saved("sphere", draw_flow_lines(plan, rng.normal(size=(100, 4))))
    saved("plane", draw_flow_lines(plan, rng.normal(size=(25, 3))))
    saved("way", draw_path(sd.decouple(standardized_moments(6)), rng.gamma(2.0, size=40)))
    saved("diagram", sd.decouple(standardized_moments(6)).diagram())
    bands = sd.decouple(FeatureSet([Mean(x), *second_order_moments(tils())]))
    camera, gravel = data.camera()[::2, ::2] / 255, data.gravel()[:256, :256] / 255
    done = bands.transfer(camera, gravel)
    saved("spectrum", draw_spectrum(bands, camera, done.values, name="with the bands of gravel"))
    saved("triptych", done.plot())


if __name__ == "__main__":
    main()
