"""Files beside the result of a transfer: a preview, and the map of colours as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from symdecouple.cli.channel import Channel
from symdecouple.cli.colours import joined, split
from symdecouple.cli.image_features import Listed
from symdecouple.cli.pictures import FloatArray, Picture
from symdecouple.cli.streams import are_one_file, check_folder, writing
from symdecouple.decoupling.colour_channels import Layout
from symdecouple.decoupling.lookup_table import LookupTable
from symdecouple.decoupling.transfer_picture import draw_transfer
from symdecouple.errors import InvalidInput, Refused
from symdecouple.figures import new_figure

__all__ = ["NODES", "check_cube", "check_names", "check_preview", "write_cube", "write_preview"]

_DRAWN = ".png", ".jpg", ".jpeg", ".pdf", ".svg"
NODES, _MORE = 33, 65  # the second where the first is not enough
_DPI = 110


def check_names(read: Sequence[Path], output: Path, preview: Path | None, cube: Path | None) -> None:
    """Refuse to write over what is read, or one result over another."""
    written: list[tuple[str, Path]] = []
    for option, path in (("--output", output), ("--preview", preview), ("--cube", cube)):
        if path is None:
            continue
        if any(are_one_file(path, given) for given in read):
            raise InvalidInput(f"{option} {path} is a file that is read; choose another name")
        for other, earlier in written:
            if are_one_file(path, earlier):
                raise InvalidInput(f"{option} {path} is the file of {other}; choose another name")
        written.append((option, path))


def check_preview(path: Path) -> None:
    """Refuse a preview that cannot be drawn or written, before anything is computed."""
    _check_place("--preview", path, _DRAWN)
    try:
        new_figure(1, 1, is_shown=False)
    except ImportError as error:
        raise InvalidInput(f"--preview {path}: {error}") from None


def write_preview(path: Path, source: Picture, target: FloatArray, result: FloatArray, has_filters: bool) -> None:
    """Draw source, target and result beside each other into a file."""
    images = [source.values, target, result]
    if any(values.ndim == 3 for values in images):  # one of them may be grey
        images = [np.repeat(v[..., None], 3, axis=-1) if v.ndim == 2 else v for v in images]
    layout = Layout(channel_axis=-1 if images[0].ndim == 3 else None, filtered=1 if has_filters else None)
    axes = draw_transfer(images, layout, 1, is_shown=False)
    with writing("--preview", path) as stream:
        axes[0].figure.savefig(stream, format=path.suffix[1:].lower(), dpi=_DPI)


def check_cube(path: Path, source: Picture, listed: Listed, perturb: str | None) -> None:
    """Refuse a table of colours that cannot be, before anything is computed."""
    _check_place("--cube", path, (".cube",))
    if listed.has_bands:
        raise InvalidInput(f"--cube {path}: with energies a transfer is a filter, and a pixel depends on its "
                           "neighbours; a table of colours takes --features moments:K")
    if perturb is not None:
        raise InvalidInput(f"--cube {path}: a perturbation takes equal levels different ways, and is no table; leave "
                           "--perturb out")
    if source.values.ndim == 1 or source.values.shape[2:] not in ((), (1,), (3,)):
        raise InvalidInput(f"--cube {path}: a table of colours is for pictures of one or three channels, the source "
                           f"has the shape {source.values.shape}")


def write_cube(path: Path, channels: Sequence[Channel], colour: str, source: Picture) -> LookupTable:
    """Write the table of colours of a transfer; that of a grey picture is one curve for three channels.

    Raises
    ------
    Refused
        If it would be more than half a level off.
    """
    is_coloured = source.values.shape[2:] == (3,)

    def of_colours(colours: FloatArray) -> FloatArray:
        given = colours[:, None] if is_coloured else colours
        parts = split(given, colour)
        moved = [_finite(channel.done.apply(part, beyond="hold", on_refusal="raise"))
                 for channel, part in zip(channels, parts, strict=True) if channel.done is not None]
        return joined(given, moved, colour).reshape(colours.shape)

    is_separable = colour == "channels" or not is_coloured
    white = float(source.highest or 1)
    try:
        table = LookupTable.of(of_colours, NODES, white, is_separable=is_separable)
    except Refused:
        table = LookupTable.of(of_colours, _MORE, white, is_separable=is_separable)
    with writing("--cube", path) as stream:
        stream.write(table.text(path.stem).encode())
    return table


def _finite(values: FloatArray) -> FloatArray:
    """Limits that are infinite would mix with other channels; the last value before the end stands for them."""
    known = values[np.isfinite(values)]
    return np.clip(values, known.min(), known.max()) if known.size else values


def _check_place(option: str, path: Path, endings: tuple[str, ...]) -> None:
    if "\0" in str(path) or path.suffix.lower() not in endings:
        raise InvalidInput(f"{option} {str(path)!r}: the file is written as {', '.join(endings)}")
    check_folder(option, path)
