"""``symdecouple reproduce``: the tables and figures of the source, recomputed beside what is printed there."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import InvalidInput
from symdecouple.replacing import replacing
from symdecouple.reproduction import EXPERIMENTS, Result, reproduce

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Recompute one experiment, or list all; the folder gets the table as CSV and JSON, and the picture."""
    if arguments.name is None:
        width = max(map(len, EXPERIMENTS))
        for name, experiment in EXPERIMENTS.items():
            needs = " (pictures)" if experiment.needs_pictures else ""
            print(f"{name:<{width}}  {experiment.title}{needs}")
        return ExitCode.OK
    folder = None if arguments.output is None else Path(arguments.output)
    try:
        with told_to_wait(f"computing {arguments.name}", "parts") as progress:
            found = reproduce(arguments.name, full=arguments.full, data=arguments.data, folder=folder,
                              seed=arguments.seed, progress=progress)
    except KeyboardInterrupt:
        if folder is not None:
            print(f"symdecouple: what is done is kept in {folder}: the same command goes on from there",
                  file=sys.stderr)
        raise
    print(found.to_json() if arguments.json else found)
    if folder is not None:
        _written(found, folder)
    return ExitCode.OK


def _written(found: Result, folder: Path) -> None:
    files = {f"{found.name}.csv": found.to_csv().encode(), f"{found.name}.json": (found.to_json() + "\n").encode(),
             f"{found.name}.md": found.to_markdown().encode(), **_picture(found)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            with replacing(folder / name) as stream:
                stream.write(content)
    except OSError as error:
        raise InvalidInput(f"--output {folder} cannot be written ({error.strerror or error})") from None


def _picture(found: Result) -> dict[str, bytes]:
    try:
        figure = found.plot()
    except ImportError as error:
        print(f"symdecouple: {error}", file=sys.stderr)
        return {}
    if figure is None:
        return {}
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return {f"{found.name}.png": stream.getvalue()}
