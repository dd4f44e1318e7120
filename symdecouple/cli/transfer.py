"""``symdecouple transfer``: a picture takes over the decoupled features of another, and keeps its own kernel."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from symdecouple.cli.channel import Channel, Channels
from symdecouple.cli.colours import chosen_colour, joined, name_of, split
from symdecouple.cli.exact_numbers import named_or_numbers
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.image_features import Listed, listed_features
from symdecouple.cli.image_files import Written, check_writable, read_picture, write_picture
from symdecouple.cli.pictures import Picture, profile_name
from symdecouple.cli.report import VERSION, printable
from symdecouple.cli.transfer_files import NODES, check_cube, check_names, check_preview, write_cube, write_preview
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import InvalidInput, Refused

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Read both, transfer channel by channel, write the result and tell what was reached."""
    output = Path(arguments.output)
    preview, cube = (None if name is None else Path(name) for name in (arguments.preview, arguments.cube))
    check_names((Path(arguments.source), Path(arguments.target)), output, preview, cube)
    source, target = read_picture(Path(arguments.source)), read_picture(Path(arguments.target))
    scale = source.highest / target.highest if source.highest and target.highest else 1.0
    colour = chosen_colour(arguments.colour, source, target)
    check_writable(output, source.highest, source.values.shape)
    listed = listed_features(arguments.features, min(source.values.ndim, 2))
    if preview is not None:
        check_preview(preview)
    if cube is not None:
        check_cube(cube, source, listed, arguments.perturb)
    reference = named_or_numbers(arguments.reference, ("target", "gaussian", "white"), "0,1,1/2")
    if isinstance(reference, list) and len(reference) != len(listed.features):
        raise InvalidInput(f"--reference: {len(listed.features)} features take {len(listed.features)} numbers, got "
                           f"{len(reference)}")
    first, second = split(source.values, colour), split(scale * target.values, colour)
    way = Channels(listed, reference, arguments.budget, 1.0 if source.highest else None)
    channels = []
    for number, (one, other) in enumerate(zip(first, second, strict=True), 1):
        name = name_of(colour, number, len(first))
        doing = f"transferring {len(listed.features)} features" + (f", {name}" if len(first) > 1 else "")
        with told_to_wait(doing, "steps") as tell:
            channels.append(way.transferred(name, one, other, arguments.perturb, tell))
    written = None
    results = [channel.done.values for channel in channels if channel.done is not None]
    if len(results) == len(channels):
        result = joined(source.values, results, colour)
        written = write_picture(output, result, source)
        if preview is not None:
            write_preview(preview, source, scale * target.values, result, listed.has_bands)
    if differ := _different_profiles(source, target):
        print(f"symdecouple: {differ}", file=sys.stderr)
    _tell(arguments, (source, target), scale, colour, listed, channels, written)
    if written and cube is not None and (why := _without_cube(cube, channels, colour, source)):
        print(f"symdecouple: {why}", file=sys.stderr)
        return ExitCode.PARTIAL
    return ExitCode.OK if written else ExitCode.PARTIAL


def _without_cube(cube: Path, channels: list[Channel], colour: str, source: Picture) -> str:
    """Write the table of colours; return why there is none."""
    try:
        size = len(write_cube(cube, channels, colour, source).nodes)
        if size > NODES:
            print(f"symdecouple: --cube {cube} has {size} nodes a side: {NODES} are more than half a level of 8 bits "
                  "off", file=sys.stderr)
    except Refused as error:
        return f"--cube {cube} is not written: {error}"
    return ""


def _different_profiles(source: Picture, target: Picture) -> str:
    """One line where levels mean other colours in both; a picture without a profile is taken for sRGB."""
    if source.profile == target.profile:
        return ""
    names = profile_name(source.profile), profile_name(target.profile)
    if all(name == "none" or "srgb" in name.lower() for name in names):
        return ""
    return f"the colour profiles differ (source: {names[0]}, target: {names[1]}); levels are taken as they are"


def _tell(arguments: argparse.Namespace, pictures: tuple[Picture, Picture], scale: float, colour: str, listed: Listed,
          channels: list[Channel], written: Written | None) -> None:
    source, target = pictures
    if arguments.json:
        told = {
            "format": "symdecouple.transfer", "version": VERSION, "source": arguments.source,
            "target": arguments.target, "output": arguments.output if written else None,
            "features": list(listed.names), "reference": arguments.reference, "colour": colour, "target_scale": scale,
            "range": [0, source.highest] if source.highest else None, "limited": written.limited if written else None,
            "rounded": written.is_rounded if written else None, "channels": [_structured(c) for c in channels],
        }
        print(json.dumps(told, indent=2, allow_nan=False))
        return
    print(f"source  {printable(arguments.source)}: {source.described}")
    print(f"target  {printable(arguments.target)}: {target.described}" + (f", levels times {scale:.6g}" * (scale != 1)))
    for channel in channels:
        print("\n" + "\n".join(_lines(channel, listed)))
    if written is None:
        print(f"symdecouple: nothing is written, {sum(c.done is None for c in channels)} of {len(channels)} channels "
              "refused", file=sys.stderr)
        return
    print(f"\nwritten to {printable(arguments.output)}" + (
        "; the figures above are those before rounding to levels" if written.is_rounded else ""))
    if written.limited:
        print(f"symdecouple: {written.limited} of {source.values.size} numbers were outside of 0 to {source.highest} "
              "and are limited to it; --output FILE.npy keeps them", file=sys.stderr)


def _lines(channel: Channel, listed: Listed) -> list[str]:
    if channel.done is None:
        return [f"{channel.name}: {channel.outcome}"]
    done, width = channel.done, max(len("feature"), *map(len, listed.names))
    perturbed = [f"  {channel.outcome.reason}: {channel.outcome.detail}"] if channel.outcome.reason else []
    perturbed += [f"  target perturbed: {channel.target_perturbed}"] if channel.target_perturbed else []
    rows = zip(listed.names, done.wanted, done.achieved, strict=True)
    return [f"{channel.name}: kernel equal to {float(done.kernel_gap):.1e} standard deviations", *perturbed,
            f"  {'feature':<{width}}  {'wanted':>14}  {'achieved':>14}  {'difference':>10}",
            *(f"  {name:<{width}}  {w:>14.8g}  {a:>14.8g}  {abs(a - w):>10.1e}" for name, w, a in rows)]


def _structured(channel: Channel) -> dict[str, Any]:
    done = channel.done
    return {
        "name": channel.name,
        "wanted": None if done is None else done.wanted.tolist(),
        "achieved": None if done is None else done.achieved.tolist(),
        "differences": None if done is None else np.abs(done.achieved - done.wanted).tolist(),
        "feature_gap": None if done is None else float(done.feature_gap.max()),
        "kernel_gap": None if done is None else float(done.kernel_gap),
        "perturbed": channel.outcome.detail if channel.outcome.ok and channel.outcome.reason else None,
        "target_perturbed": channel.target_perturbed or None,
        "refused": None if channel.outcome.ok else f"{channel.outcome.reason} ({channel.outcome.detail})",
    }
