"""Pictures and signals in files: PNG, TIFF and JPEG by Pillow, arrays as NPY. Nothing is lost on the way unsaid.

Levels are kept as they are, 0 to 255 or 0 to 65535. What would be read or written with fewer bits is refused.
"""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import take_numbers

__all__ = ["Picture", "Written", "check_writable", "read_picture", "write_picture"]

FloatArray: TypeAlias = NDArray[np.float64]

_NPY = b"\x93NUMPY"
_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".npy": "NPY"}
_ALPHA = ("LA", "PA", "RGBA", "La", "RGBa")
_PILLOW = 'pictures need Pillow, which is not installed: pip install "symdecouple[image]"; NPY arrays do without'


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture, an image of one channel or a signal.

    Attributes
    ----------
    values : array
        (N,), (height, width) or (height, width, channels), float64.
    highest : int or None
        The highest level, 255 or 65535; None for floating point, which has no range.
    described : str
    """

    values: FloatArray
    highest: int | None
    described: str

    @property
    def is_colour(self) -> bool:
        """True iff there is a last axis of channels."""
        return self.values.ndim == 3


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
        return _array(path) if head.startswith(_NPY) else _pillow(path, head)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path}: this is a folder; name a file in it") from None
    except OSError as error:
        raise InvalidInput(f"{path}: it cannot be read ({error.strerror or str(error)[:120]})") from None


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


def _pillow(path: Path, head: bytes) -> Picture:
    pillow, operations = _modules()
    if not head:
        raise InvalidInput("the file is empty")
    if head.startswith(_PNG) and head[24:25] == b"\x10" and head[25:26] != b"\0":
        raise InvalidInput("a PNG of 16 bits in colour would be read with 8 bits by Pillow; convert it to NPY, or "
                           "to 8 bits")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(path, formats=("PNG", "TIFF", "JPEG")) as image:
                _check(image)
                upright = operations.exif_transpose(image)
                return _picture(upright.convert("RGB") if upright.mode == "P" else upright, str(image.format))
    except pillow.UnidentifiedImageError:
        raise InvalidInput("this is no PNG, TIFF, JPEG or NPY file that can be read here; several channels of more "
                           "than 8 bits each are read from NPY only") from None
    except (pillow.DecompressionBombWarning, pillow.DecompressionBombError) as error:
        raise InvalidInput(f"it is too large ({error})") from None
    except (SyntaxError, ValueError, IndexError, struct.error) as error:  # how Pillow tells damage
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"it is damaged ({str(error)[:120]})") from None


def _check(image: Any) -> None:
    if getattr(image, "n_frames", 1) > 1:
        raise InvalidInput(f"it holds {image.n_frames} pictures; save one a file")
    if image.mode in _ALPHA or "transparency" in image.info:
        raise InvalidInput("it has transparency, and what cannot be seen would count in every feature; lay it on a "
                           "background first")
    wide = image.mode == "I" and image.format != "PNG"
    if wide or not (image.mode in ("1", "L", "I", "F", "P", "RGB") or image.mode.startswith("I;16")):
        raise InvalidInput(f"its mode is {image.mode}; grey of 8 or 16 bits or floating point, or RGB, is expected")


def _picture(image: Any, form: str) -> Picture:
    is_float, is_wide = image.mode == "F", image.mode.startswith("I")
    array = np.asarray(image.convert("L") if image.mode == "1" else image).astype(np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput("some of its numbers are NaN or infinite; fill them")
    bits = "floating point" if is_float else "16 bits" if is_wide else "8 bits"
    height, width = array.shape[:2]
    described = f"{width} x {height} pixels, {'colour' if array.ndim == 3 else 'grey'}, {form}, {bits}"
    return Picture(array, None if is_float else 65535 if is_wide else 255, described)


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
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidInput(f"--output {path}: " + ("this is a folder; name a file in it" if path.is_dir() else
                                                   f"there is no folder {path.parent}"))
    if kind == "NPY":
        return
    _modules()
    ndim = len(shape) - (shape[2:] == (1,))
    if ndim == 1:
        raise InvalidInput(f"--output {path}: a signal is written as .npy")
    if highest is None and (kind == "PNG" or ndim == 3):
        raise InvalidInput(f"--output {path}: floating point, and integers without a range, have no place in "
                           f"{kind}{' in colour' * (kind != 'PNG')}; write .npy{' or .tif' * (ndim == 2)}")
    if highest == 65535 and ndim == 3:
        raise InvalidInput(f"--output {path}: Pillow writes no colours of 16 bits; write .npy")


def write_picture(path: Path, values: FloatArray, highest: int | None) -> Written:
    """Write a result that `check_writable` let through.

    NPY keeps float64 and TIFF of floating point float32, both as they are. With levels everything is rounded to the
    next one, and what is outside of 0 to `highest` limited, and counted.
    """
    try:
        if path.suffix.lower() == ".npy":
            with path.open("wb") as stream:
                np.save(stream, values)
            return Written(0, False)
        kind = _KINDS[path.suffix.lower()]
        values = values[..., 0] if values.shape[2:] == (1,) else values
        if highest is None:
            _check_float32(path, values)
            _modules()[0].fromarray(values.astype(np.float32)).save(path, kind)
            return Written(0, False)
        rounded = np.rint(values)
        limited = int(((rounded < 0) | (rounded > highest)).sum())
        levels = np.clip(rounded, 0, highest).astype(np.uint8 if highest == 255 else np.uint16)
        _modules()[0].fromarray(levels).save(path, kind)
    except OSError as error:
        raise InvalidInput(f"--output {path} cannot be written ({error.strerror or error})") from None
    return Written(limited, True)


def _check_float32(path: Path, values: FloatArray) -> None:
    reached, most = float(np.abs(values).max()), float(np.finfo(np.float32).max)
    if reached > most:
        raise InvalidInput(f"--output {path}: the result reaches {reached:.3g}, TIFF of floating point ends at "
                           f"{most:.3g}; write .npy")


def _modules() -> tuple[Any, Any]:
    """Pillow's Image and ImageOps, where they are."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise InvalidInput(_PILLOW) from None
    return Image, ImageOps
