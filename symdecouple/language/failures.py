"""What SymPy gives up on, translated once: a question that it cannot answer is outside of the calculus, no crash.

SymPy raises errors of its own (`PolynomialError`, `CoercionFailed`, ...) and plain ones (`NotImplementedError`,
`TypeError`, ...) where an algorithm meets an expression that it was not made for. Whatever is raised inside of SymPy
becomes `UnsupportedExpression`, which a verdict reports as UNDECIDED; what is raised anywhere else passes unchanged, so
that mistakes of our own stay visible.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from symdecouple.errors import SymdecoupleError, UnsupportedExpression

__all__ = ["sympy_failures"]


@contextmanager
def sympy_failures(what: str) -> Iterator[None]:
    """Raise `UnsupportedExpression`, naming the step, where SymPy raises anything or recursion goes too deep.

    Examples
    --------
    >>> from sympy import Poly, exp
    >>> from sympy.abc import x
    >>> with sympy_failures("reading a polynomial"):
    ...     Poly(exp(x), x)
    Traceback (most recent call last):
    ...
    symdecouple.errors.UnsupportedExpression: reading a polynomial is beyond SymPy here (PolynomialError: ...)
    """
    try:
        yield
    except (SymdecoupleError, MemoryError):
        raise
    except Exception as error:
        if not isinstance(error, RecursionError) and not _is_raised_by_sympy(error):
            raise
        said = str(error).splitlines()
        detail = type(error).__name__ + (f": {said[0][:160]}" if said and said[0] else "")
        raise UnsupportedExpression(f"{what} is beyond SymPy here ({detail})") from error


def _is_raised_by_sympy(error: Exception) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).split(".")[0] == "sympy"
