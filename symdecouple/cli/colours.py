"""What features are transferred of: grey values, each channel, or opponent colours; and back to a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symdecouple.cli.pictures import FloatArray, Picture
from symdecouple.decoupling.colour_channels import OPPONENT
from symdecouple.errors import InvalidInput

__all__ = ["chosen_colour", "joined", "name_of", "split"]

_LUMA = np.array([0.299, 0.587, 0.114])  # of ITU-R BT.601, as Pillow makes grey from colours
_NAMES = {"opponent": ("sum", "red - green", "red + green - 2 blue"), "channels": ("red", "green", "blue")}


def chosen_colour(wanted: str, source: Picture, target: Picture) -> str:
    """Return what is transferred: "grey", "channels" or "opponent".

    Raises
    ------
    InvalidInput
        If the two do not have it.
    """
    if source.values.ndim == 1 or target.values.ndim == 1:
        if source.values.ndim != target.values.ndim or wanted in ("channels", "opponent"):
            raise InvalidInput(f"the source has the shape {source.values.shape}, the target {target.values.shape}: a "
                               "signal takes the features of a signal, of one channel")
        return "grey"
    if wanted == "auto":
        wanted = "channels" if source.is_colour and target.is_colour else "grey"
    counts = [picture.values.shape[2] if picture.is_colour else 1 for picture in (source, target)]
    if wanted == "grey":
        if any(count not in (1, 3) for count in counts):
            raise InvalidInput(f"--colour grey is for one or three channels, there are {counts[0]} and {counts[1]}")
        return wanted
    if counts[0] != counts[1]:
        raise InvalidInput(f"the source has {counts[0]} channels, the target {counts[1]}: take --colour grey")
    if wanted == "opponent" and counts[0] != 3:
        raise InvalidInput(f"--colour opponent is for three channels, there are {counts[0]}")
    return wanted


def split(values: FloatArray, colour: str) -> list[FloatArray]:
    """Return the channels that features are transferred of."""
    if colour == "grey":
        return [_grey(values)]
    if values.ndim < 3:
        return [values]
    return list(np.moveaxis(values @ OPPONENT.T if colour == "opponent" else values, 2, 0))


def joined(source: FloatArray, channels: Sequence[FloatArray], colour: str) -> FloatArray:
    """Return the result; a grey value that moves takes the colours of its pixel with it."""
    if source.ndim < 3:
        return channels[0]
    if colour == "grey":
        return np.asarray(source + (channels[0] - _grey(source))[..., None])
    stacked = np.stack(channels, axis=-1)
    return np.asarray(stacked @ OPPONENT if colour == "opponent" else stacked)


def name_of(colour: str, number: int, count: int) -> str:
    """Return what a channel, counted from 1, is called."""
    if colour == "grey" or count == 1:
        return "grey"
    return _NAMES[colour][number - 1] if count == 3 else f"channel {number}"


def _grey(values: FloatArray) -> FloatArray:
    if values.ndim < 3:
        return values
    return np.asarray(values @ _LUMA if values.shape[2] == 3 else values[..., 0])
