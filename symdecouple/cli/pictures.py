"""A picture from a PNG, TIFF or JPEG by Pillow: its levels as they were meant, or a refusal that names what is lost.

Pillow does not tell signed samples of 8 bits from others, nor turns white-is-zero of 16 bits, nor says of 12 bits that
they are 12: here the tags are asked. Alpha is dropped where it hides nothing; of a camera's JPEG, and of a TIFF with
smaller copies of itself, the first picture is taken. Both are said.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput

__all__ = ["FloatArray", "Picture", "pillow_modules", "profile_name", "read_by_pillow"]

FloatArray: TypeAlias = NDArray[np.float64]

_TIFF = (b"II*\0", b"MM\0*")
_PNG = b"\x89PNG\r\n\x1a\n"
_ALPHA = {"LA": "L", "La": "L", "PA": "RGB", "RGBA": "RGB", "RGBa": "RGB"}
_WITHOUT = {"La": "LA", "RGBa": "RGBA", "PA": "RGBA"}  # what Pillow goes by, where it cannot go directly
_BITS, _PHOTOMETRIC, _SUBFILE, _FORMAT, _RESOLUTION, _SAMPLES = 258, 262, 254, 339, 282, 277  # tags of TIFF
_SIGNED, _WHITE_IS_ZERO = 2, 0
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
    profile : bytes
        The colour profile (ICC); empty where there is none.
    dpi : pair of float or None
        Pixels an inch, across and down.
    """

    values: FloatArray
    highest: int | None
    described: str
    profile: bytes = b""
    dpi: tuple[float, float] | None = None

    @property
    def is_colour(self) -> bool:
        """True iff there is a last axis of channels."""
        return self.values.ndim == 3


def pillow_modules() -> tuple[Any, Any]:
    """Pillow's Image and ImageOps, where they are."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise InvalidInput(_PILLOW) from None
    return Image, ImageOps


def profile_name(profile: bytes) -> str:
    """What a colour profile calls itself."""
    if not profile:
        return "none"
    with contextlib.suppress(Exception):  # Pillow may be built without it, the profile may be damaged
        from PIL import ImageCms

        named = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile))).strip()
        return "".join(character for character in named if character.isprintable())[:60]
    return f"one of {len(profile)} bytes"


def read_by_pillow(path: Path, head: bytes) -> Picture:
    """Read a picture, of which the first bytes are given.

    Raises
    ------
    InvalidInput
        If it is none, or would lose bits, signs or transparency by being read.
    """
    pillow, operations = pillow_modules()
    if not head:
        raise InvalidInput("the file is empty")
    if head.startswith(_PNG) and head[24:25] == b"\x10" and head[25:26] != b"\0":
        raise InvalidInput("a PNG of 16 bits in colour would be read with 8 bits by Pillow; convert it to NPY, or "
                           "to 8 bits")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # tags and previews that are not used
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(path, formats=("PNG", "TIFF", "JPEG")) as image:
                said = _first_picture(image)
                _check(image)
                said += _further_samples(image)
                opaque, dropped = _without_alpha(image, head)
                upright = operations.exif_transpose(opaque)
                return _picture(upright, image, [*said, *dropped])
    except pillow.UnidentifiedImageError:
        if head[:4] in _TIFF:
            raise InvalidInput("Pillow does not read a TIFF of these samples (their bits, sign, order of bytes, white "
                               "as zero), or it is damaged; save grey of 8 or 16 bits with black as zero, or "
                               "NPY") from None
        raise InvalidInput("this is no PNG, TIFF, JPEG or NPY file that can be read here; several channels of more "
                           "than 8 bits each are read from NPY only") from None
    except (pillow.DecompressionBombWarning, pillow.DecompressionBombError) as error:
        raise InvalidInput(f"it is too large ({error})") from None
    except (InvalidInput, OSError):
        raise
    except Exception as error:  # Pillow tells damage by almost anything, TypeError and SyntaxError among it
        raise InvalidInput(f"it is damaged ({str(error)[:120]})") from None


def _first_picture(image: Any) -> list[str]:
    """What to say where further pictures are previews of the first; refuse others."""
    count = getattr(image, "n_frames", 1)
    if count < 2:
        return []
    if image.format == "TIFF":
        are_copies = True
        for k in range(1, count):
            image.seek(k)
            are_copies &= bool(int(image.tag_v2.get(_SUBFILE, 0)) & 1)
        image.seek(0)
    else:
        are_copies = image.format == "MPO"
    if not are_copies:
        raise InvalidInput(f"it holds {count} pictures; save one a file")
    return [f"the first of {count} pictures"]


def _check(image: Any) -> None:
    wide = image.mode == "I" and image.format != "PNG"
    tags = image.tag_v2 if image.format == "TIFF" else {}
    if _SIGNED in _numbers(tags.get(_FORMAT, 1)):
        raise InvalidInput("its samples are signed, and a picture has levels from 0; save it as NPY, or floating point")
    if 12 in _numbers(tags.get(_BITS, 8)):
        raise InvalidInput("its samples have 12 bits, and would be taken for 16; convert it to 16 bits")
    if image.mode == "F" and tags.get(_PHOTOMETRIC, 1) == _WHITE_IS_ZERO:
        raise InvalidInput("white is zero in it, which has no meaning for floating point without a range; save it with "
                           "black as zero")
    if wide or not (image.mode in ("1", "L", "I", "F", "P", "RGB", *_ALPHA) or image.mode.startswith("I;16")):
        raise InvalidInput(f"its mode is {image.mode}; grey of 8 or 16 bits or floating point, or RGB, is expected")


def _further_samples(image: Any) -> list[str]:
    """What to say where Pillow leaves out samples of a TIFF that have no stated meaning."""
    count = int(image.tag_v2.get(_SAMPLES, 1)) - len(image.getbands()) if image.format == "TIFF" else 0
    if count < 1 or image.mode == "P":
        return []
    return ["a further sample of each pixel, of no stated meaning, is left out" if count == 1 else
            f"{count} further samples of each pixel, of no stated meaning, are left out"]


def _numbers(tag: Any) -> tuple[int, ...]:
    return tuple(tag) if isinstance(tag, tuple) else (tag,)


def _without_alpha(image: Any, head: bytes) -> tuple[Any, list[str]]:
    """The picture without an alpha channel that hides nothing, and what to say of it."""
    key = image.info.get("transparency")
    if image.mode in _ALPHA or (key is not None and image.mode == "P"):
        seen = image.convert("RGBA") if image.mode == "P" else image.convert(_WITHOUT.get(image.mode, image.mode))
        hides = seen.getchannel("A").getextrema()[0] < 255
        opaque = seen.convert(_ALPHA.get(image.mode, "RGB"))
    elif key is not None:
        few = image.mode == "1" or (head.startswith(_PNG) and head[24] < 8)  # its key is not in these levels
        same = np.asarray(image) == np.asarray(key)
        hides, opaque = few or bool((same.all(axis=-1) if same.ndim == 3 else same).any()), image
    else:
        return (image.convert("RGB") if image.mode == "P" else image), []
    if hides:
        raise InvalidInput("it has transparency, and what cannot be seen would count in every feature; lay it on a "
                           "background first")
    if opaque is not image:
        opaque.info = {name: value for name, value in image.info.items() if name != "transparency"}
    return opaque, ["its alpha hides nothing and is left out"]


def _picture(upright: Any, image: Any, said: list[str]) -> Picture:
    is_float, is_wide = upright.mode == "F", upright.mode.startswith("I")
    array = np.asarray(upright.convert("L") if upright.mode == "1" else upright).astype(np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput("some of its numbers are NaN or infinite; fill them")
    if is_wide and image.format == "TIFF" and image.tag_v2.get(_PHOTOMETRIC) == _WHITE_IS_ZERO:
        array = 65535 - array
    bits = "floating point" if is_float else "16 bits" if is_wide else "8 bits"
    height, width = array.shape[:2]
    form = "JPEG" if image.format == "MPO" else str(image.format)
    described = ", ".join([f"{width} x {height} pixels", "colour" if array.ndim == 3 else "grey", form, bits, *said])
    return Picture(array, None if is_float else 65535 if is_wide else 255, described,
                   image.info.get("icc_profile") or b"", _dpi(image, (width, height) != image.size))


def _dpi(image: Any, is_turned: bool) -> tuple[float, float] | None:
    if image.format == "TIFF" and _RESOLUTION not in image.tag_v2:
        return None  # Pillow gives 1
    with contextlib.suppress(TypeError, ValueError, ZeroDivisionError, OverflowError):
        across, down = map(float, image.info["dpi"]) if "dpi" in image.info else (0.0, 0.0)
        if across > 0 and down > 0 and math.isfinite(across * down):
            return (down, across) if is_turned else (across, down)
    return None
