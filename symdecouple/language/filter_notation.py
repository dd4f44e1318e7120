r"""How filters are written: as text, in the grammar of `symdecouple.language.text` where it has them, and in LaTeX.

The boundary is shown where it is not circular; ``half_sample`` and ``whole_sample`` are the words of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Tuple

__all__ = ["boundary_word", "filter_latex", "filter_text", "tap_text"]

Print = Callable[[Any], str]


def boundary_word(h: Any) -> str:
    """The word for the boundary; empty for circular filters."""
    return "" if h.boundary == "circular" else str(h.boundary).replace("-", "_")


def filter_text(h: Any, write: Print) -> str:
    """``h``, ``h~`` (the adjoint), ``h[zero]``, or the taps."""
    if not h.is_symbolic:
        return tap_text(h, write)
    word = boundary_word(h)
    return str(h.args[0].name) + (f"[{word}]" if word else "") + ("~" if h.transposed else "")


def tap_text(h: Any, write: Print) -> str:
    """``taps((-1, 2, -1), 1)``, ``shift(1)``, and ``adjoint(taps(...))`` for what is transposed at a mirror."""
    parts = [_nested_text(h.args[0], write), _nested_text(h.args[1], write)]
    (lag, tap), *others = h.lags.items() or [(0, 0)]
    name = "taps" if others or tap != 1 else "shift"
    if name == "shift":
        parts = [str(lag)]
    text = f"{name}({', '.join([*parts, *filter(None, [boundary_word(h)])])})"
    return f"adjoint({text})" if h.transposed else text


def filter_latex(h: Any, write: Print) -> str:
    """The name, with a tilde for the adjoint, or the taps with the origin as subscript."""
    beyond = "" if h.boundary == "circular" else rf"\mathrm{{{h.boundary}}}"
    if h.is_symbolic:
        name = rf"\tilde{{{write(h.args[0])}}}" if h.transposed else write(h.args[0])
        return rf"{{{name}}}_{{{beyond}}}" if beyond else name
    above = ",".join(filter(None, [r"\mathsf{T}" if h.transposed else "", beyond]))
    body = rf"{_nested_latex(h.args[0], write)}_{{{_nested_text(h.args[1], write)}}}"
    return rf"{body}^{{{above}}}" if above else body


def _nested_text(taps: Any, write: Print) -> str:
    if not isinstance(taps, Tuple):
        return write(taps)
    return f"({', '.join(_nested_text(tap, write) for tap in taps)}{',' * (len(taps) == 1)})"


def _nested_latex(taps: Any, write: Print) -> str:
    if not isinstance(taps, Tuple):
        return write(taps)
    if isinstance(taps[0], Tuple) and not isinstance(taps[0][0], Tuple):
        body = r" \\ ".join(" & ".join(map(write, row)) for row in taps)
        return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
    return rf"\left[{','.join(_nested_latex(tap, write) for tap in taps)}\right]"
