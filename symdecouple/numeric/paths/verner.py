"""The coefficients of a Runge-Kutta pair of orders 6 and 5 with eight slopes a step, for steps that are short anyway.

J. H. Verner, Explicit Runge-Kutta methods with estimates of the local truncation error, SIAM J. Numer. Anal. 15 (1978),
772-790, known as DVERK; the order conditions are checked in the tests.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["DEFECT", "STAGES", "WEIGHTS"]


def _row(*terms: str) -> tuple[float, ...]:
    return tuple(float(Fraction(term)) for term in terms)


# The weights of the earlier slopes, a row a stage.
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    _row("1/6"),
    _row("4/75", "16/75"),
    _row("5/6", "-8/3", "5/2"),
    _row("-165/64", "55/6", "-425/64", "85/96"),
    _row("12/5", "-8", "4015/612", "-11/36", "88/255"),
    _row("-8263/15000", "124/75", "-643/680", "-81/250", "2484/10625", "0"),
    _row("3501/1720", "-300/43", "297275/52632", "-319/2322", "24068/84065", "0", "3850/26703"),
)
WEIGHTS = _row("3/40", "0", "875/2244", "23/72", "264/1955", "0", "125/11592", "43/616")
_FIFTH = _row("13/160", "0", "2375/5984", "5/16", "12/85", "3/44", "0", "0")
DEFECT = tuple(six - five for six, five in zip(WEIGHTS, _FIFTH, strict=True))
