"""Deviations from orthogonality as text, LaTeX and HTML: a lower triangle of mean ± standard deviation for each set."""

from __future__ import annotations

import html
from collections.abc import Sequence

from symdecouple.analysis.angles.deviations import Deviations

__all__ = ["as_html", "as_latex", "as_text", "title_of"]

WIDEST = 12  # features whose pairs are still printed one by one
PLUS_MINUS = r" \pm "
TINY = 1e-9  # degrees; below, a mean is rounding error, and its standard deviation says no more


def as_text(sets: Sequence[Deviations], heading: str, names: Sequence[str], labels: Sequence[str]) -> str:
    """Return the tables as plain text, below a heading; names of features that are not their labels are listed."""
    lines = [heading]
    if labels != names:
        lines += [f"{label}: {name}" for label, name in zip(labels, names, strict=True)]
    for each in sets:
        lines += ["", f"{title_of(each)} over {_pairs(each)}"]
        if len(each.features) <= WIDEST:
            lines += _aligned(_cells(each, "±"), labels)
    return "\n".join(lines)


def as_latex(sets: Sequence[Deviations], labels: Sequence[str]) -> str:
    """Return one LaTeX tabular with a block for each set."""
    shown = [label if label.isdecimal() else rf"\mathrm{{{''.join(map(_escaped, label))}}}" for label in labels]
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(shown) - 1)}}}", r"\hline"]
    for each in sets:
        row, column = each.symbols
        lines += [rf"\multicolumn{{{len(shown)}}}{{l}}{{{each.title}: ${_overall(each, PLUS_MINUS)}$}} \\",
                  r"\hline",
                  " & ".join(["", *(f"${column}_{{{n}}}$" for n in shown[:-1])]) + r" \\"]
        for n, cells in zip(shown[1:], _cells(each, PLUS_MINUS), strict=True):
            filled = [f"${cell}$" for cell in cells] + [""] * (len(shown) - 1 - len(cells))
            lines.append(" & ".join([f"${row}_{{{n}}}$", *filled]) + r" \\")
        lines.append(r"\hline")
    return "\n".join([*lines, r"\end{tabular}"])


def as_html(sets: Sequence[Deviations], heading: str, names: Sequence[str], labels: Sequence[str]) -> str:
    """Return the tables as HTML, the darker the farther from orthogonal."""
    items = ""
    if labels != names:
        items = "".join(f'<li value="{label}">{html.escape(name)}</li>'
                        for label, name in zip(labels, names, strict=True))
    return f"<p>{html.escape(heading)}</p><ol>{items}</ol>" + "".join(_html_table(each, labels) for each in sets)


def _html_table(each: Deviations, labels: Sequence[str]) -> str:
    called = [html.escape(label) for label in labels]
    head = "".join(f"<th>{label}</th>" for label in called[:-1])
    body = ""
    for i, cells in enumerate(_cells(each, " ± "), start=1):
        filled = "".join(f'<td style="background: rgba(230, 130, 0, {shade:.2f})">{cell}</td>'
                         for cell, shade in zip(cells, each.mean[i] / 90, strict=False))
        body += f"<tr><th>{called[i]}</th>{filled}</tr>"
    caption = f"{html.escape(title_of(each))} over {_pairs(each)}"
    return (f'<table><caption style="white-space: nowrap; text-align: left">{caption}</caption><thead><tr><th></th>'
            f"{head}</tr></thead><tbody>{body}</tbody></table>")


def _escaped(letter: str) -> str:
    if letter in "\\^~":
        return {"\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}[letter]
    return {" ": r"\ "}.get(letter, rf"\{letter}" if letter in "_%&#${}" else letter)


def _cells(each: Deviations, sign: str) -> list[list[str]]:
    """Return what stands below the diagonal, a row for each feature but the first."""
    mean, std = each.mean, each.std
    return [[_number(mean[i, j], std[i, j], sign) for j in range(i)] for i in range(1, len(each.features))]


def title_of(each: Deviations) -> str:
    """Return a title with the average over pairs and samples, "original: 32 ± 27"."""
    return f"{each.title}: {_overall(each, ' ± ')}"


def _overall(each: Deviations, sign: str) -> str:
    return _number(each.average, each.spread, sign)


def _pairs(each: Deviations) -> str:
    return f"{len(each.pairs)} pairs" if len(each.pairs) > 1 else "1 pair"


def _number(mean: float, std: float, sign: str) -> str:
    if mean != mean:
        return "-" if sign != PLUS_MINUS else r"\text{-}"
    if mean < TINY:
        shown = f"{mean:.0e}" if mean else "0"
        return shown if sign != PLUS_MINUS or not mean else rf"10^{{{int(shown.partition('e')[2])}}}"
    return f"{mean:.2g}{sign}{std:.2g}"


def _aligned(cells: list[list[str]], labels: Sequence[str]) -> list[str]:
    rows = [["", *labels[:-1]], *([label, *row] for label, row in zip(labels[1:], cells, strict=True))]
    widths = [max(len(row[j]) for row in rows if j < len(row)) for j in range(len(labels))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
