"""The gate to SymPy: what is too large to be factored, cancelled, solved or integrated in a second is refused before.

SymPy's algorithms never look at a clock. Each call of one of them passes here, where the size of the input is
estimated first (terms after expansion, degree, generators, bits of coefficients) and compared with a cap, measured so
that the call stays under a second. Beyond the cap BudgetExceeded says "too large"; verdicts turn that into UNDECIDED.
"""

from __future__ import annotations

from typing import Any

from symdecouple.errors import BudgetExceeded

__all__ = ["too_large"]


def too_large(what: str, size: Any, limit: Any) -> BudgetExceeded:
    """Return the error that says what is too large, how large it is, and what the limit is."""
    return BudgetExceeded(f"too large: {what}, has {size}, and the limit is {limit}")
