r"""LaTeX that any engine takes and that stays on the page: words, numbers and formulas broken over lines.

A formula becomes pieces between which a line may end, terms and factors first, then what is in parentheses; brackets
that lines may end in are \bigl( and \bigr), which need not meet on one line. What has no place to be broken, such as a
long denominator, stays whole.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from sympy import Add, Expr, Function, Mul, Pow, Rational, S, latex

from symdecouple.language.mean import Mean

__all__ = ["display", "formula", "matrix", "number", "pieces", "vector", "verbatim", "words"]

_WIDTH = 70  # letters of a line of a formula
_DIGITS = 24  # of a number between two places where a line may end
_LINE = 88  # letters of a line that is set as it is
_MOST = 9  # columns of a matrix

_ESCAPED = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\^{}", "~": r"\~{}", "#": r"\#",
            "$": r"\$", "%": r"\%", "&": r"\&", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "*": r"\ensuremath{*}"}
_SIGNS = {">=": r" $\ge$ ", "<=": r" $\le$ ", "!=": r" $\ne$ "}


def words(text: str) -> str:
    """Return text as LaTeX outside of formulas."""
    parts = re.split(r" ?(>=|<=|!=) ?", text)
    return "".join(_SIGNS.get(part) or "".join(_ESCAPED.get(c, c) for c in _ascii(part, "{}")) for part in parts)


def verbatim(lines: Iterable[str]) -> str:
    """Return lines as they are, long ones folded."""
    folded = [part for line in lines for part in textwrap.wrap(
        _ascii(line, "{}").replace(r"\end{", r"\end {"), _LINE, subsequent_indent="    ") or [""]]
    return "\\begin{verbatim}\n" + "\n".join(folded) + "\n\\end{verbatim}"


def formula(expr: Any) -> str:
    """Return an expression as LaTeX in ASCII, without dollar signs."""
    return _ascii(latex(expr), r"\mathrm{{{}}}")


def number(value: Fraction) -> str:
    """Return an exact number, in which a line may end where it is long."""
    sign, top, bottom = "-" if value < 0 else "", str(abs(value.numerator)), str(value.denominator)
    if bottom == "1":
        return sign + _digits(top)
    if len(top) + len(bottom) <= _DIGITS:
        return rf"{sign}\tfrac{{{top}}}{{{bottom}}}"
    return rf"{sign}{_digits(top)}/\allowbreak {_digits(bottom)}"


def vector(values: Iterable[Fraction]) -> str:
    """Return numbers in parentheses, in which lines may end."""
    return "(" + r",\allowbreak ".join(map(number, values)) + ")"


def matrix(columns: Sequence[Sequence[str]]) -> str | None:
    """Return columns of a matrix as an array; None where it would not be on the page."""
    width = sum(max(map(_width, column)) + 2 for column in columns)
    if len(columns) > _MOST or width > _WIDTH:
        return None
    rows = " \\\\\n".join(" & ".join(row) for row in zip(*columns, strict=True))
    return f"\\left(\\begin{{array}}{{{'r' * len(columns)}}}\n{rows}\n\\end{{array}}\\right)"


def display(*equations: Sequence[str]) -> str:
    """Return equations, each a left side and the pieces of all that follows it, in lines of a page."""
    rows: list[str] = []
    for left, *others in equations:
        lines, room = [""], _WIDTH - _width(left)
        for piece in others:
            if lines[-1] and _width(lines[-1]) + _width(piece) > room:
                lines.append("")
                room = _WIDTH - 4
            lines[-1] += f" {piece}"
        rows.append(f"{left} &{lines[0]}")
        rows += [f" &\\quad{line}" for line in lines[1:]]
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def pieces(expr: Expr) -> list[str]:
    """Return parts of an expression, in order, between which a line may end."""
    whole = formula(expr)
    if _width(whole) <= _WIDTH // 2:
        return [whole]
    if isinstance(expr, Add):
        found: list[str] = []
        for k, term in enumerate(expr.as_ordered_terms()):
            minus = term.could_extract_minus_sign()
            first, *others = pieces(-term if minus else term)
            found += [("- " if minus else "+ " * (k > 0)) + first, *others]
        return found
    if isinstance(expr, Rational):
        return _number_pieces(Fraction(int(expr.p), int(expr.q)))
    if isinstance(expr, Mul):
        return _product_pieces(expr, whole)
    if isinstance(expr, Mean):
        return _in_brackets(r"\operatorname{Mean}", pieces(expr.args[0]))
    if isinstance(expr, Pow) and expr.exp.is_Rational and expr.exp > 0 and not expr.base.is_Symbol:
        return _in_brackets("", pieces(expr.base), f"^{{{formula(expr.exp)}}}")
    if isinstance(expr, Function) and len(expr.args) == 1:
        return _in_brackets(rf"\operatorname{{{_ascii(expr.func.__name__, '{}')}}}", pieces(expr.args[0]))
    return [whole]


def _product_pieces(expr: Mul, whole: str) -> list[str]:
    top, bottom = expr.as_numer_denom()
    if bottom != S.One:
        return [whole] if top.is_number else _in_brackets(rf"\frac{{1}}{{{formula(bottom)}}}", pieces(top))
    minus = expr.could_extract_minus_sign()
    found = ["-"] if minus else []
    for factor in (-expr if minus else expr).as_ordered_factors():
        found += _in_brackets("", pieces(factor)) if isinstance(factor, Add) else pieces(factor)
    return found


def _number_pieces(value: Fraction) -> list[str]:
    sign = "-" if value < 0 else ""
    top, bottom = (_chunks(str(part)) for part in (abs(value.numerator), value.denominator))
    return [sign + top[0], *top[1:], *([] if value.denominator == 1 else ["/", *bottom])]


def _in_brackets(before: str, inner: Sequence[str], after: str = "") -> list[str]:
    opened = [rf"{before}\bigl({inner[0]}", *inner[1:]]
    return [*opened[:-1], rf"{opened[-1]}\bigr){after}"]


def _digits(text: str) -> str:
    return r"\allowbreak ".join(_chunks(text))


def _chunks(text: str) -> list[str]:
    return [text[k : k + _DIGITS] for k in range(0, len(text), _DIGITS)]


def _width(tex: str) -> int:
    """About how many letters it is wide: a command is one, and what only groups or places is none."""
    bare = re.sub(r"\\(?:left|right|bigl|bigr|quad|allowbreak|operatorname|mathrm|frac|tfrac|overline|text|,)", "", tex)
    return len(re.sub(r"[{}^_\s\\]", "", re.sub(r"\\[a-zA-Z]+", "x", bare)))


def _ascii(text: str, otherwise: str) -> str:
    """Letters without accents, those of other alphabets by their numbers: pdfLaTeX takes no others."""
    if text.isascii():
        return text
    found = []
    for c in text:
        plain = c if c.isascii() else unicodedata.normalize("NFKD", c).encode("ascii", "ignore").decode()
        found.append(plain or otherwise.format(f"U+{ord(c):04X}"))
    return "".join(found)
