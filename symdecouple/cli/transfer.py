"""``symdecouple transfer``: a picture takes over the decoupled features of another, and keeps its own kernel."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.image_features import Listed, listed_features
from symdecouple.cli.image_files import (
    FloatArray,
    Picture,
    Written,
    check_writable,
    read_picture,
    write_picture,
)
from symdecouple.cli.report import VERSION, printable
from symdecouple.cli.waiting import told_to_wait
from symdecouple.decoupling.perturbing import Perturbation
from symdecouple.decoupling.plan import decouple
from symdecouple.decoupling.transfer import OPPONENT, Transferred
from symdecouple.errors import InvalidInput, Outcome, PerturbedWarning, Refused, SymdecoupleError
from symdecouple.language.text import parse_expression

__all__ = ["run"]

_LUMA = np.array([0.299, 0.587, 0.114])  # of ITU-R BT.601, as Pillow makes grey from colours
_NAMES = {"opponent": ("sum", "red - green", "red + green - 2 blue"), "channels": ("red", "green", "blue")}
_PERTURBATIONS = {"ramp": "ramp", "spectral": "spectral", "both": "ramp and spectral"}


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """What became of one channel: `done` is None where there is no result, and `outcome` says why."""

    name: str
    done: Transferred | None
    outcome: Outcome
    target_perturbed: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Read both, transfer channel by channel, write the result and tell what was reached."""
    output = Path(arguments.output)
    for given in (arguments.source, arguments.target):
        if output.exists() and Path(given).exists() and output.samefile(given):
            raise InvalidInput(f"--output {output} is a file that is read; choose another name")
    source, target = read_picture(Path(arguments.source)), read_picture(Path(arguments.target))
    scale = source.highest / target.highest if source.highest and target.highest else 1.0
    colour = _colour(arguments.colour, source, target)
    check_writable(output, source.highest, source.values.ndim)
    listed = listed_features(arguments.features, min(source.values.ndim, 2))
    reference = _reference(arguments.reference, len(listed.features))
    first, second = _split(source.values, colour), _split(scale * target.values, colour)
    step = 1.0 if source.highest else None
    channels = []
    for number, (one, other) in enumerate(zip(first, second, strict=True), 1):
        name = _name(colour, number, len(first))
        with told_to_wait(f"transferring {len(listed.features)} features" + (f", {name}" if len(first) > 1 else "")):
            channels.append(_transferred(name, one, other, listed, reference, arguments, step))
    written = None
    if all(channel.done is not None for channel in channels):
        written = write_picture(output, _joined(source.values, channels, colour), source.highest)
    _tell(arguments, (source, target), scale, colour, listed, channels, written)
    return ExitCode.OK if written else ExitCode.PARTIAL


# --- channels ---------------------------------------------------------------------------------------------------------


def _colour(wanted: str, source: Picture, target: Picture) -> str:
    """What is transferred: the grey values, each channel, or opponent colours."""
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


def _split(values: FloatArray, colour: str) -> list[FloatArray]:
    """The channels that features are transferred of."""
    if colour == "grey":
        return [values @ _LUMA if values.ndim == 3 else values]
    if values.ndim < 3:
        return [values]
    return list(np.moveaxis(values @ OPPONENT.T if colour == "opponent" else values, 2, 0))


def _joined(source: FloatArray, channels: list[Channel], colour: str) -> FloatArray:
    """The result; a grey value that moves takes the colours of its pixel with it."""
    parts = [channel.done.values for channel in channels if channel.done is not None]
    if source.ndim < 3:
        return np.asarray(parts[0])
    if colour == "grey":
        return np.asarray(source + (parts[0] - source @ _LUMA)[..., None])
    stacked = np.stack(parts, axis=-1)
    return np.asarray(stacked @ OPPONENT if colour == "opponent" else stacked)


def _name(colour: str, number: int, count: int) -> str:
    if colour == "grey" or count == 1:
        return "grey"
    return _NAMES[colour][number - 1] if count == 3 else f"channel {number}"


# --- one channel ------------------------------------------------------------------------------------------------------


def _transferred(name: str, source: FloatArray, target: FloatArray, listed: Listed, reference: Any,
                 arguments: argparse.Namespace, step: float | None) -> Channel:
    perturbation, target_perturbed = None, ""
    if arguments.perturb is not None:
        perturbation = Perturbation(_PERTURBATIONS[arguments.perturb], step)  # type: ignore[arg-type]
    try:
        if reference == "target":
            reference = _values(target, listed, perturbation)
        plan = decouple(listed.features, reference, budget=arguments.budget, perturb=perturbation)
        axis = listed.axis(source.ndim)
        if perturbation is not None:
            _, (taken,) = plan.transform(target, axis=axis, on_refusal="return")
            target_perturbed = taken.detail if taken.ok else ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerturbedWarning)  # it is among what is printed
            answer: Any = plan.transfer(source, target, axis=axis, on_refusal="return")
    except Refused as error:
        return Channel(name, None, Outcome(False, "the target has no decoupled features", _helped(error, arguments)))
    done, (outcome,) = answer
    if not outcome.ok:
        return Channel(name, None, Outcome(False, outcome.reason, _helped(outcome.detail, arguments)))
    return Channel(name, done, outcome, target_perturbed)


def _helped(why: object, arguments: argparse.Namespace) -> str:
    if arguments.perturb:
        return str(why)
    return f"{why}; --perturb ramp makes values distinct, --perturb spectral makes frequencies active"


def _values(target: FloatArray, listed: Listed, perturbation: Perturbation | None) -> list[float]:
    """The features of the target, what both are normalized to on the way."""
    if (target == target.flat[0]).all() and perturbation is not None:
        row, made = perturbation.of(target.ravel(), target.shape, False)
        target = row.reshape(target.shape) if made.ok else target
    if (target == target.flat[0]).all():
        raise Refused(f"all its values are {target.flat[0]:g}")
    return listed.values(target)


def _reference(text: str, count: int) -> Any:
    """The name of a reference, or its exact numbers."""
    name = text.strip().lower()
    if name in ("target", "gaussian", "white"):
        return name
    values = [_number(number, part) for number, part in enumerate(text.split(","), 1)]
    if len(values) != count:
        raise InvalidInput(f"--reference: {count} features take {count} numbers, got {len(values)}")
    return values


def _number(number: int, text: str) -> Any:
    try:
        value = parse_expression(text)
    except SymdecoupleError as error:
        raise InvalidInput("--reference takes target, gaussian or exact numbers separated by commas, such as 0,1,1/2; "
                           f"number {number}: {error}") from None
    if not (value.is_number and value.is_real and value.is_finite):
        raise InvalidInput(f"--reference, number {number}: a finite real number such as 3, 0.5 or 1/3 is needed, got "
                           f"{text.strip()[:40]!r}")
    return value


# --- what is told -----------------------------------------------------------------------------------------------------


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
