"""Normalized and matched samples on paper: laid out as the file they come from, so that they can be read like it.

A refused sample has empty fields and a note; the note goes where the numbers do not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from symdecouple.cli.plan_rows import NormalizedSample
from symdecouple.cli.report import VERSION, csv_text, plain, printable, told
from symdecouple.cli.samples import Samples

__all__ = ["how_far", "normalized_csv", "normalized_json", "notes"]

_TOLD = 8  # samples, one a line


def normalized_csv(found: Sequence[NormalizedSample], axis: str) -> str:
    """Samples as rows, each after its label, or as columns under a line of labels."""
    lines: list[list[str]] = [[sample.label, *map(plain, sample.values)] for sample in found]
    if axis == "columns":
        lines = [list(fields) for fields in zip(*lines, strict=True)]
    return csv_text(lines)


def normalized_json(found: Sequence[NormalizedSample], samples: Samples, source: str, nan_policy: str,
                    more: Mapping[str, Any], what: str = "normalize") -> str:
    """One object; `samples` has one entry a sample, `values` null with a reason where it was refused."""
    entries = [{"label": sample.label, "values": None if sample.refused else list(sample.values), **sample.accuracy,
                "refused": None if sample.refused is None else told(sample.refused)} for sample in found]
    head: dict[str, Any] = {"format": f"symdecouple.{what}", "version": VERSION, "source": source, "axis": samples.axis,
                            "nan_policy": nan_policy, "left_out": list(samples.left_out), "notes": list(samples.notes)}
    return json.dumps(head | dict(more) | {"samples": entries}, indent=2, allow_nan=False)


def notes(found: Sequence[NormalizedSample], what: str = "normalized") -> list[str]:
    """One line for each sample that was refused."""
    return [f"  - {printable(sample.label)} is not {what}: {told(sample.refused)}"
            for sample in found if sample.refused is not None]


def how_far(found: Sequence[NormalizedSample]) -> list[str]:
    """How far samples were moved, root mean square: of each, or of the one that was moved the most."""
    moved = [(float(sample.accuracy["moved"]), sample.label) for sample in found if sample.refused is None]
    if len(moved) <= _TOLD:
        return [f"  {printable(label)} moved by {distance:.4g}, root mean square" for distance, label in moved]
    farthest, label = max(moved)
    return [f"  {len(moved)} samples moved by up to {farthest:.4g}, root mean square ({printable(label)})"]
