"""Pictures and signals in files: PNG, TIFF and JPEG by Pillow, arrays as NPY. Nothing is lost on the way unsaid.

Levels are kept as they are, 0 to 255 or 0 to 65535. What would be read or written with fewer bits is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symdecouple.cli.pictures import FloatArray, Picture, pillow_modules, read_by_pillow
from symdecouple.cli.sample_file import unreadable
from symdecouple.cli.streams import check_folder, writing
from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import take_numbers

__all__ = ["Written", "check_writable", "read_picture", "write_picture"]

_NPY = b"\x93NUMPY"
_KINDS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".npy": "NPY"}


@dataclass(frozen=True, slots=True)
class Written:
    """How a result went into its file: how many numbers were limited to the range, and whether all were rounded."""

    limited: int
    is_rounded: bool


def read_picture(path: Path) -> Picture:
    """Read a picture, or an NPY array of one to three axes.

    Raises
    ------
    InvalidInput
        If there is no such file, it is none of these, or would lose bits or transparency by being read.
    """
    if "\0" in str(path):
        raise InvalidInput(f"{str(path)!r} is no name of a file")
    try:
        with path.open("rb") as stream:
            head = stream.read(32)
        return _array(path) if head.startswith(_NPY) else read_by_pillow(path, head)
    except (InvalidInput, OSError) as error:
        raise InvalidInput(f"{path}: {unreadable(error)}") from error


def _array(path: Path) -> Picture:
    try:
        array = take_numbers(np.load(path, allow_pickle=False)).array
    except Exception as error:  # NumPy reads a header as Python text: a damaged one raises almost anything
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the NPY file is damaged, or holds Python objects, which are never loaded "
                           f"({type(error).__name__}: {str(error)[:120]})") from None
    if not 1 <= array.ndim <= 3 or array.dtype.kind not in "fiub":
        raise InvalidInput("a signal (N,), an image (height, width) or a colour image (height, width, channels) of "
                           f"real numbers is expected, got shape {array.shape}, {array.dtype}")
    if array.size == 0:
        raise InvalidInput(f"the array is empty, its shape is {array.shape}")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidInput(f"{int((~np.isfinite(values)).sum())} of {values.size} numbers are NaN or infinite; fill "
                           "them")
    highest = {"uint8": 255, "uint16": 65535}.get(array.dtype.name)
    return Picture(values, highest, f"{' x '.join(map(str, array.shape))}, {array.dtype}")


def check_writable(path: Path, highest: int | None, shape: tuple[int, ...]) -> None:
    """Refuse an output that cannot hold the result, before it is computed.

    Parameters
    ----------
    path : Path
    highest : int or None
        Of the source.
    shape : tuple of int
        Of the result.

    Raises
    ------
    InvalidInput
    """
    if "\0" in str(path):
        raise InvalidInput(f"--output {str(path)!r} is no name of a file")
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        lossy = ", JPEG would change its features" if path.suffix.lower() in (".jpg", ".jpeg") else ""
        raise InvalidInput(f"--output {path}: results are written as .png, .tif, .tiff or .npy{lossy}")
    check_folder("--output", path)
    if kind == "NPY":
        return
    pillow_modules()
    ndim = len(shape) - (shape[2:] == (1,))
    if ndim == 1:
        raise InvalidInput(f"--output {path}: a signal is written as .npy")
    if highest is None and (kind == "PNG" or ndim == 3):
        raise InvalidInput(f"--output {path}: floating point, and integers without a range, have no place in "
                           f"{kind}{' in colour' * (kind != 'PNG')}; write .npy{' or .tif' * (ndim == 2)}")
    if highest == 65535 and ndim == 3:
        raise InvalidInput(f"--output {path}: Pillow writes no colours of 16 bits; write .npy")


def write_picture(path: Path, values: FloatArray, source: Picture) -> Written:
    """Write a result that `check_writable` let through, with the colour profile and the resolution of the source.

    NPY keeps float64 and TIFF of floating point float32, both as they are. With levels everything is rounded to the
    next one, and what is outside of 0 to the highest limited, and counted.
    """
    kind, highest = _KINDS[path.suffix.lower()], source.highest
    found = Written(0, False)
    if kind != "NPY":
        values = values[..., 0] if values.shape[2:] == (1,) else values
        if highest is None:
            _check_float32(path, values)
            levels = values.astype(np.float32)
        else:
            rounded = np.rint(values)
            found = Written(int(((rounded < 0) | (rounded > highest)).sum()), True)
            levels = np.clip(rounded, 0, highest).astype(np.uint8 if highest == 255 else np.uint16)
    about: dict[str, Any] = {"icc_profile": source.profile} if source.profile else {}
    about |= {"dpi": source.dpi} if source.dpi else {}
    with writing("--output", path) as stream:
        if kind == "NPY":
            np.save(stream, values)
        else:
            pillow_modules()[0].fromarray(levels).save(stream, kind, **about)
    return found


def _check_float32(path: Path, values: FloatArray) -> None:
    reached, most = float(np.abs(values).max()), float(np.finfo(np.float32).max)
    if reached > most:
        raise InvalidInput(f"--output {path}: the result reaches {reached:.3g}, TIFF of floating point ends at "
                           f"{most:.3g}; write .npy")
