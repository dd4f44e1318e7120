"""``symdecouple decouple``: a file of numbers to one line a sample, and the plan behind it.

Without an option that asks for a plan: mean, variance, skewness, kurtosis and orthokurtosis. SymPy is loaded where a
plan is needed only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symdecouple.cli.arguments import check_output
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.moment_rows import moment_columns, moment_rows
from symdecouple.cli.report import VERSION, as_csv, as_json, as_table, printable
from symdecouple.cli.sample_file import read_samples, source_of
from symdecouple.cli.sample_rows import Column, SampleRow
from symdecouple.cli.samples import Samples
from symdecouple.cli.shape_rows import COLUMNS, shape_rows
from symdecouple.cli.streams import are_one_file, writing
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import InvalidInput

if TYPE_CHECKING:
    from symdecouple.decoupling.plan import Plan

__all__ = ["run"]

_FORMATS = {".csv": "csv", ".json": "json"}
_PLAN = "symdecouple.plan"


def run(arguments: argparse.Namespace) -> int:
    """Read, compute and print or write."""
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and arguments.file not in (None, "-") and are_one_file(output, Path(arguments.file)):
        raise InvalidInput(f"--output {output} is the file that is read; choose another name")
    kind = arguments.format or (_FORMATS.get(output.suffix.lower()) if output is not None else None)
    check_output(arguments, kind)
    plan = _plan(arguments) if arguments.wants_plan else None
    if arguments.match is not None:
        from symdecouple.cli.matched_samples import wanted_values

        arguments.match = wanted_values(arguments.match, None if plan is None else len(plan.features))
    if arguments.file is None:
        assert plan is not None
        _write(_told(plan, arguments) if kind != "json" else
               json.dumps({"format": _PLAN, "version": VERSION} | _structured(plan, arguments), indent=2), output)
        return ExitCode.OK
    try:
        samples = read_samples(arguments)
        answer = _moved if arguments.match is not None or arguments.normalize else _computed
        text, is_partial = answer(plan, samples, arguments, kind)
    except InvalidInput as error:
        raise InvalidInput(f"{source_of(arguments)}: {printable(str(error))}") from error
    _write(text, output)
    return ExitCode.PARTIAL if is_partial else ExitCode.OK


# --- what is computed -------------------------------------------------------------------------------------------------


def _plan(arguments: argparse.Namespace) -> Plan:
    from symdecouple.cli.plan_rows import planned

    with told_to_wait("planning", "steps") as tell:
        return planned(arguments, tell)


def _computed(plan: Plan | None, samples: Samples, arguments: argparse.Namespace, kind: str | None) -> tuple[str, bool]:
    columns, rows = _rows(plan, samples, arguments)
    is_partial = any(row.refused for row in rows)
    more = {} if plan is None else _settings(plan, arguments) | _structured(plan, arguments)
    if kind == "json":
        accuracy = _accuracy(arguments)
        return as_json(rows, [*columns, *accuracy], samples, arguments.file, arguments.nan_policy, more), is_partial
    told = describe(samples, source_of(arguments), arguments.axis)
    if kind == "csv":
        print(told, file=sys.stderr)
        return as_csv(rows, columns), is_partial
    parts = [told, as_table(rows, columns)]
    if plan is not None and (report := _told(plan, arguments)):
        parts.append(report)
    return "\n\n".join(parts), is_partial


def _rows(plan: Plan | None, samples: Samples, arguments: argparse.Namespace
          ) -> tuple[Sequence[Column], Sequence[SampleRow]]:
    """The default view, the moments of `stats`, or the features of the plan."""
    policy = arguments.nan_policy
    if plan is None and not arguments.moments:
        return COLUMNS, shape_rows(samples, policy)
    if plan is None or arguments.is_standard:
        return moment_columns(arguments.moments), moment_rows(samples, arguments.moments, policy)
    from symdecouple.cli.plan_rows import plan_columns, plan_rows

    columns = plan_columns(plan, arguments)
    with told_to_wait(f"decoupling {len(columns)} features of {len(samples.labels)} samples", "samples") as tell:
        return columns, plan_rows(plan, columns, samples, policy, arguments.dps, tell)


def _accuracy(arguments: argparse.Namespace) -> Sequence[Column]:
    """Residual and error, where digits were asked for."""
    if arguments.dps is None:
        return ()
    from symdecouple.cli.plan_rows import ACCURACY

    return ACCURACY


def _moved(plan: Plan | None, samples: Samples, arguments: argparse.Namespace, kind: str | None) -> tuple[str, bool]:
    """The samples themselves, matched or normalized."""
    from symdecouple.cli.matched_samples import matched_samples
    from symdecouple.cli.normalized_report import how_far, normalized_csv, normalized_json, notes
    from symdecouple.cli.plan_rows import normalized_samples

    is_match = plan is None or arguments.match is not None
    with told_to_wait(f"{'matching' if is_match else 'normalizing'} {len(samples.labels)} samples", "samples") as tell:
        if plan is None or is_match:
            found = matched_samples(plan, arguments.match, samples, arguments.nan_policy, tell)
        else:
            found = normalized_samples(plan, arguments.level, samples, arguments.nan_policy, arguments.dps, tell)
    is_partial = any(sample.refused for sample in found)
    if kind == "json":
        more: dict[str, Any] = {"match": arguments.match} if is_match else {"level": arguments.level}
        if plan is not None:
            more |= ({"features": [text.strip() for text in arguments.features]} if is_match else
                     _settings(plan, arguments) | _structured(plan, arguments))
        return normalized_json(found, samples, arguments.file, arguments.nan_policy, more,
                               "match" if is_match else "normalize"), is_partial
    told = [describe(samples, source_of(arguments), arguments.axis), *(how_far(found) if is_match else []),
            *notes(found, "matched" if is_match else "normalized")]
    print("\n".join(told), file=sys.stderr)
    return normalized_csv(found, samples.axis), is_partial


# --- the plan on paper ------------------------------------------------------------------------------------------------


def _told(plan: Plan, arguments: argparse.Namespace) -> str:
    """The explanation, the formulas, or both."""
    from symdecouple.cli.plan_report import explained, formulas

    parts = []
    with told_to_wait(f"deciding; gives up after {arguments.budget:g} s a verdict"):
        if arguments.explain:
            parts.append(explained(plan))
        if arguments.formulas:
            parts.append(formulas(plan, arguments.formulas, arguments.level))
    return "\n\n".join(parts)


def _structured(plan: Plan, arguments: argparse.Namespace) -> dict[str, Any]:
    if not (arguments.explain or arguments.formulas):
        return {}
    from symdecouple.cli.plan_report import plan_dict

    with told_to_wait(f"deciding; gives up after {arguments.budget:g} s a verdict"):
        return {"plan": plan_dict(plan, with_verdicts=arguments.explain, with_code=bool(arguments.formulas))}


def _settings(plan: Plan, arguments: argparse.Namespace) -> dict[str, Any]:
    return {"path": plan.path, "reference": [None if v is None else str(v) for v in plan.reference],
            "dps": arguments.dps}


# --- files ------------------------------------------------------------------------------------------------------------


def describe(samples: Samples, source: str, axis: str = "auto") -> str:
    """What was read, and how it was understood."""
    count = len(samples.labels)
    others = "rows" if samples.axis == "columns" else "columns"
    what = f"{count} samples, the {samples.axis}" if count > 1 else f"1 sample, the {samples.axis.removesuffix('s')}"
    if samples.groups:
        what = f"{count} sample{'s' * (count > 1)}, the groups of {printable(samples.groups)}"
        return "\n".join([f"{source}: {what}", *_read_as(samples)])
    hint = f" (--axis {others} takes the {others})" if axis == "auto" and samples.has_choice else ""
    return "\n".join([f"{source}: {what}{hint}" if samples.has_choice else f"{source}: 1 sample", *_read_as(samples)])


def _read_as(samples: Samples) -> list[str]:
    left_out = [f"left out, text: {', '.join(map(printable, samples.left_out))}"] if samples.left_out else []
    return [samples.described, *left_out, *map(printable, samples.notes)]


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text)
        return
    with writing("--output", output) as stream:
        stream.write((text + "\n").encode("utf-8", "backslashreplace"))
