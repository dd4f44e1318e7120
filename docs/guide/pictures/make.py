"""The pictures of the page on transfer: ``python make.py`` beside it writes them anew and prints the figures.

Needs scikit-image, with whose images it works: camera, gravel, grass and chelsea are in the public domain (CC0), so is
astronaut (NASA).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from skimage import data, filters, transform

import symdecouple as sd
from symdecouple import FeatureSet, Mean, x
from symdecouple.families import second_order_moments, tils

HERE = Path(__file__).parent
SIZE = 256
ENERGIES = FeatureSet([Mean(x), *second_order_moments(tils())])


def square(image: Any, part: int | None = None) -> Any:
    """The middle of an image (or a corner of it), in 256 x 256 pixels."""
    side = min(image.shape[:2])
    top, left = ((n - side) // 2 for n in image.shape[:2])
    middle = image[top : top + side, left : left + side] if part is None else image[:part, :part]
    return transform.resize(middle.astype(float), (SIZE, SIZE), anti_aliasing=True, preserve_range=True)


def shown(name: str, source: Any, target: Any, plan: sd.Plan, **options: Any) -> None:
    """Write source, target and result beside each other."""
    done = plan.transfer(source, target, **options)
    result, outside = done.within(0, 255)
    print(f"{name}: features {done.feature_gap.max():.0e}, kernel {np.max(done.kernel_gap):.0e}, {outside} of "
          f"{result.size} numbers limited to 0..255")
    strip = np.concatenate([source, target, result], axis=1).clip(0, 255).round().astype(np.uint8)
    Image.fromarray(strip).save(HERE / f"{name}.jpg", quality=88)


def main() -> None:
    """Write all pictures."""
    plan = sd.decouple(ENERGIES)
    faded = filters.gaussian(square(data.camera()), 1.2, preserve_range=True) * 0.6 + 50
    shown("photographs", faded, square(data.astronaut()).mean(axis=2), plan)
    shown("textures", square(data.gravel(), 256), square(data.grass(), 256), plan)
    cat = filters.gaussian(square(data.chelsea()), 1.0, preserve_range=True, channel_axis=-1) * 0.7 + 40
    shown("colours", cat, square(data.astronaut()), plan, channel_axis=-1)


if __name__ == "__main__":
    main()
