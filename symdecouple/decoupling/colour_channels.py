"""How images become samples: each channel is one, in colours as they are or in an opponent space, and back again.

The opponent space is an orthogonal change of three channels into their sum and two differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import take_numbers
from symdecouple.numeric.samples.matrix import normalized_axes
from symdecouple.numeric.samples.vectors import SampleAxis

__all__ = ["OPPONENT", "Colour", "Layout"]

Colour: TypeAlias = Literal["channels", "opponent"]

OPPONENT = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])


@dataclass(frozen=True, slots=True)
class Layout:
    """Which axes of an image make a sample, counted in the whole array; `filtered` is the dimension of the filters."""

    axis: SampleAxis = "last"
    channel_axis: int | None = None
    colour: Colour = "channels"
    filtered: int | None = None

    def taken(self, image: Any, name: str) -> tuple[Any, SampleAxis]:
        """Return an image with its channels along the first axis, and the sample axes then."""
        axis = self.channel_axis
        if axis is None:
            return image, self.axis
        array = np.asarray(image if hasattr(image, "dtype") else take_numbers(image).array)
        if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
            raise InvalidInput(f"channel_axis={axis!r} was given, the number of an axis is expected")
        if array.dtype.kind not in "fiub" or not -array.ndim <= axis < array.ndim:
            raise InvalidInput(f"the {name} is an image of real numbers with channels along axis {axis}, got shape "
                               f"{array.shape}, dtype {array.dtype}")
        if np.ma.is_masked(image):
            raise InvalidInput(f"the {name} has masked pixels, which a transfer cannot leave out; fill them first")
        channels = np.moveaxis(array, axis, 0)
        if self.colour == "opponent":
            if len(channels) != 3:
                raise InvalidInput(f'colour="opponent" is for three channels, the {name} has {len(channels)}')
            channels = np.tensordot(OPPONENT, channels.astype(np.float64), axes=1)
        return channels, _axes_of_channel(self.axis, axis, array.shape, self.filtered)

    def back(self, channels: NDArray[Any]) -> NDArray[Any]:
        """Return channels as the image that they are of."""
        if self.channel_axis is None:
            return channels
        values = np.tensordot(OPPONENT.T, channels, axes=1) if self.colour == "opponent" else channels
        return np.moveaxis(values, 0, self.channel_axis)


def _axes_of_channel(axis: SampleAxis, channel_axis: int, shape: tuple[int, ...], filtered: int | None
                     ) -> tuple[int, ...]:
    """Return which axes of an image make a sample, once its channels are the first axis: mostly all of the others."""
    ndim = len(shape)
    channel, others = channel_axis % ndim, [i for i in range(ndim) if i != channel_axis % ndim]
    if axis is None or (isinstance(axis, str) and axis == "last"):
        if filtered not in (None, ndim - 1):
            raise InvalidInput(f"a channel has {ndim - 1} axes, the filters have {filtered} dimension(s): say which of "
                               f"them make a sample, axis={tuple(others[-filtered:])} for instance")
        return tuple(range(1, ndim))
    named = normalized_axes(axis, shape)
    if channel in named:
        raise InvalidInput(f"axis={axis!r} names the axis of channels, {channel_axis}, too; name axes of one channel")
    return tuple(1 + others.index(i) for i in named)
