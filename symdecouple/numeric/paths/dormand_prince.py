"""The coefficients of a Runge-Kutta pair of orders 5 and 4 whose seventh slope is that at the end of the step.

J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980), 19-26; the
order conditions are checked in the tests.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["DEFECT", "STAGES", "WEIGHTS"]


def _row(*terms: str) -> tuple[float, ...]:
    return tuple(float(Fraction(term)) for term in terms)


WEIGHTS = _row("35/384", "0", "500/1113", "125/192", "-2187/6784", "11/84", "0")
# The weights of the earlier slopes, a row a stage.
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    _row("1/5"),
    _row("3/40", "9/40"),
    _row("44/45", "-56/15", "32/9"),
    _row("19372/6561", "-25360/2187", "64448/6561", "-212/729"),
    _row("9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656"),
    WEIGHTS[:6],
)
_FOURTH = _row("5179/57600", "0", "7571/16695", "393/640", "-92097/339200", "187/2100", "1/40")
DEFECT = tuple(five - four for five, four in zip(WEIGHTS, _FOURTH, strict=True))
