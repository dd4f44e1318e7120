"""A flow as NumPy source text that runs alone: the kernels it needs, and one function that refuses what has no answer.

The text is built from the pieces of a flow, whose constants must be numbers; names in it are ours, never the user's:
every symbol is printed as the name that it is given here, and one that is given none is refused.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping

import sympy as sp
from sympy import Expr, oo
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.numpy import NumPyPrinter

from symdecouple.errors import NoClosedForm
from symdecouple.flows import kernels
from symdecouple.flows.chart import Piece, U, X

__all__ = ["function_text", "kernels_for", "numpy_text", "source_of"]

_STEP = sp.Dummy("step", real=True)
_LARGE = 2**53


class _Printer(NumPyPrinter):  # type: ignore[misc]
    """NumPy text with given names for symbols, and large integers as floats."""

    _module = "np"

    def __init__(self, names: Mapping[sp.Symbol, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return self._names[expr]

    _print_Dummy = _print_Sample = _print_Symbol

    def _print_Integer(self, expr: sp.Integer) -> str:
        return str(int(expr)) if abs(int(expr)) < _LARGE else repr(float(expr))

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"({self._print_Integer(expr.numerator)}/{self._print_Integer(expr.denominator)})"


def numpy_text(expr: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return an expression as NumPy text, its symbols under these names.

    Raises
    ------
    NoClosedForm
        Where NumPy lacks a function.
    """
    try:
        text = str(_Printer(names).doprint(expr)).replace("numpy.", "np.")
    except PrintMethodNotImplementedError as missing:
        raise NoClosedForm(f"{expr} has functions that NumPy lacks: evaluate with dps= instead") from missing
    if re.search(r"\b(scipy|math|cmath)\.", text):
        raise NoClosedForm(f"{expr} has functions that NumPy lacks: evaluate with dps= instead")
    return text


def _text(expr: Expr) -> str:
    return numpy_text(expr, {X: "z", _STEP: "step"})


def _number(value: Expr) -> str:
    return repr(float(sp.N(value, 20)))


def source_of(title: str, pieces: Iterable[Piece], rests: Iterable[Expr]) -> str:
    """Return the text of ``flow(x, t)`` and ``flow_or_nan(x, t)``.

    Parameters
    ----------
    title : str
        What the docstring of the text says it integrates.
    pieces : iterable of Piece
    rests : iterable of Expr
        Equilibria between the pieces.
    """
    text = function_text("flow_or_nan", f"x(t) along {title}", pieces, rests)
    lines = [
        "def flow(x, t):",
        f'    """x(t) along {title}."""',
        "    out = flow_or_nan(x, t)",
        "    if not np.all(np.isfinite(out)):",
        "        where = np.argwhere(~np.isfinite(np.atleast_1d(out)))[:5].tolist()",
        '        raise ValueError(f"no solution at this time (pole, end of the domain, not a finite number): {where}")',
        "    return out[()]",
        "",
    ]
    head = "from typing import Any\n\nimport numpy as np\n\n\n"
    return head + "".join(f"{part}\n\n" for part in (*kernels_for(text), text)) + "\n".join(lines)


def function_text(name: str, title: str, pieces: Iterable[Piece], rests: Iterable[Expr]) -> str:
    """Return the text of a function ``name(x, t)`` of arrays that is NaN where there is no solution.

    Parameters
    ----------
    name, title : str
        The first line of its docstring is the title.
    pieces, rests
        As in `source_of`.
    """
    lines = [
        f"def {name}(x, t):",
        f'    """{title}; NaN where it does not exist."""',
        "    x, t = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64))",
        "    out = np.full(x.shape, np.nan)",
        *(f"    out[(x == {_number(rest)}) & np.isfinite(t)] = {_number(rest)}" for rest in rests),
        '    with np.errstate(all="ignore"):',
        *(f"        {line}" for piece in pieces for line in _piece_lines(piece)),
        "    return out",
        "",
    ]
    return "\n".join(lines)


def kernels_for(text: str) -> list[str]:
    """Return the texts of the kernels that a text calls, and of those that they call."""
    return [inspect.getsource(getattr(kernels, name)) for name in _needed(text)]


def _needed(body: str) -> list[str]:
    """Return the kernels that the body calls, and those that they call, in the order of definition."""
    order = ["scaled_sine", "denominator", "step_of_linear", "step_on_line", "step_on_logarithm", "step_on_circle"]
    needed, text = set(), body
    for name in reversed(order):
        if f"{name}(" in text:
            needed.add(name)
            text += inspect.getsource(getattr(kernels, name)).split("\n", 1)[1]
    return [name for name in order if name in needed]


def _piece_lines(piece: Piece) -> list[str]:
    chart = piece.chart
    lines, shift = ["z = x"], ""
    if chart.period is not None:
        low, period = _number(chart.low), _number(chart.period)
        lines, shift = [f"shift = {period}*np.floor((x - {low})/{period})", "z = x - shift"], " + shift[here]"
    tests = _inside("z", ">", chart.low, "<", chart.high)
    lines += [f"here = {' & '.join([*tests, 'np.isfinite(x)', 'np.isfinite(t)'])}", "z, s = z[here], t[here]"]
    ends = _sorted_ends(chart.u_low, chart.u_high)
    keeps_sign = piece.motion.kind == "linear" and set(ends) <= {-oo, sp.S.Zero, oo}
    if (result := _product(piece)) and (keeps_sign or ends == (-oo, oo)):
        return [*lines, f"out[here] = {result}"]
    lines += _motion_lines(piece)
    if bounds := _inside("u", ">=", ends[0], "<=", ends[1]):
        lines += [f"u = {_text(chart.to)} + step", f"step = np.where({' & '.join(bounds)}, step, np.nan)"]
    return [*lines, f"out[here] = {_text(chart.back.xreplace({U: chart.to + _STEP}))}{shift}"]


def _inside(name: str, above: str, low: Expr, below: str, high: Expr) -> list[str]:
    return [f"({name} {sign} {_number(end)})" for sign, end in ((above, low), (below, high)) if end not in (oo, -oo)]


def _sorted_ends(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return (a, b) if b == oo or a == -oo or sp.N(b - a) > 0 else (b, a)


def _motion_lines(piece: Piece) -> list[str]:
    motion, d = piece.motion, _number(piece.motion.delta_squared)

    def at(expr: Expr) -> str:
        return _text(expr.xreplace({U: piece.chart.to}))

    if motion.kind == "linear":
        return [f"step = step_of_linear({at(motion.w)}, {_number(motion.w.diff(U))}, s)"]
    if motion.kind == "line":
        return [f"step = step_on_line({at(sp.factor(motion.w))}, {at(motion.h)}, {at(motion.gap())}, {d}, s)"]
    k, w = _number(motion.rate), at(motion.w)
    if motion.kind == "logarithm":
        low, high = (f"{at(motion.shifted_h(way))}, {at(motion.gap(way))}" for way in (-1, 1))
        return [f"step = step_on_logarithm({k}, {w}, {low}, {high}, {d}, s)"]
    return [f"step = step_on_circle({k}, {w}, {at(motion.h)}, {d}, s)"]


def _product(piece: Piece) -> str:
    """Return x(t) as a multiple of x for u' = b u + c u^2: a solution that decays to 0 keeps its digits."""
    motion = piece.motion
    if piece.chart.to != X or motion.kind not in ("linear", "line") or motion.w.subs(U, 0) != 0:
        return ""
    slope, d = motion.w.diff(U).subs(U, 0), _number(motion.delta_squared)
    if motion.kind == "linear":
        return f"z*np.exp({_number(slope)}*s)"
    w, h, gap = (_text(part.xreplace({U: X})) for part in (sp.factor(motion.w), motion.h, motion.gap()))
    ratio = f"denominator(s, {_number(-slope / 2)}, 0.0, {d})/denominator(s, {h}, {gap}, {d})"
    return f"z*np.where({w} == 0, 1.0, {ratio})"
