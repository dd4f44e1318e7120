"""The plates of the Brodatz album, and patches of them."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, MissingPackage

__all__ = ["SIDE", "blocks", "plate", "plates"]

FloatArray = NDArray[np.float64]

SIDE = 640
PLATES = 112

_NAME = re.compile(r"D0*([1-9][0-9]{0,2})\.(png|gif|tiff?|bmp|pgm)", re.IGNORECASE)
_HELP = (f"the Brodatz album is expected: {PLATES} grey pictures of {SIDE} x {SIDE} pixels, one a file, called D1.png "
         f"to D{PLATES}.png (or D001.png; also .gif, .tif, .bmp, .pgm); name their folder with --data")


def plates(data: Path | None, count: int | None = None) -> dict[int, Path]:
    """Return the files of the plates in a folder, by number; the first so many, if a count is given.

    Raises
    ------
    InvalidInput
        If there is no folder, or too few plates in it.
    """
    if data is None:
        raise InvalidInput(f"this experiment needs pictures: {_HELP}")
    if not data.is_dir():
        raise InvalidInput(f"{data} is no folder; {_HELP}")
    named = [(path, _NAME.fullmatch(path.name)) for path in sorted(data.iterdir())]
    found = {int(match[1]): path for path, match in named if match is not None}
    needed = PLATES if count is None else count
    wanted = [number for number in range(1, needed + 1) if number not in found]
    if count is None and len(found) >= PLATES:
        return dict(sorted(found.items())[:PLATES])
    if wanted:
        raise InvalidInput(f"{data} has {len(found)} plates; {len(wanted)} of the first {needed} are missing, such as "
                           f"D{wanted[0]}; {_HELP}")
    return {number: found[number] for number in range(1, needed + 1)}


@lru_cache(maxsize=8)
def plate(path: Path) -> FloatArray:
    """Return the grey values of a plate, (640, 640).

    Raises
    ------
    InvalidInput
        If it cannot be read, or is not a grey picture of that size.
    MissingPackage
        Without Pillow, which is optional.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingPackage('Pillow reads pictures; install it with: pip install "symdecouple[image]"') from error
    try:
        with Image.open(path) as image:
            mode, size = image.mode, image.size
            values = np.asarray(image.convert("L") if mode == "P" else image, dtype=np.float64)
    except OSError as error:
        raise InvalidInput(f"{path} is no picture that can be read ({error}); {_HELP}") from error
    if size != (SIDE, SIDE) or values.ndim != 2:
        raise InvalidInput(f"{path} has {size[0]} x {size[1]} pixels of mode {mode}; {_HELP}")
    values.setflags(write=False)
    return values


def blocks(picture: FloatArray, side: int) -> FloatArray:
    """Return the disjoint square blocks of a picture, row by row, (n, side, side); what is left at the ends is cut.

    Examples
    --------
    >>> blocks(np.arange(16.0).reshape(4, 4), 2)[1].tolist()
    [[2.0, 3.0], [6.0, 7.0]]
    """
    down, across = picture.shape[0] // side, picture.shape[1] // side
    cut = picture[: down * side, : across * side].reshape(down, side, across, side)
    found: FloatArray = cut.swapaxes(1, 2).reshape(-1, side, side)
    return found
