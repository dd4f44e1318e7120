r"""Distinct values in closed form: two of them, patterns that read the same from both sides, and rational ones.

Standardized, two values with shares 1-p and p are -sqrt(p/(1-p)) and sqrt((1-p)/p). Where the ties read the same from
both ends and the targets of odd order are zero, the only solution is symmetric; its squares A < B satisfy

.. math:: 2 p_1 B + 2 p_2 A = 1, \qquad 2 p_1 B^2 + 2 p_2 A^2 = c_4 .
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sympy import Expr, Rational, S, expand, sqrt

from symdecouple.analysis.critical.tie_patterns import Ties
from symdecouple.analysis.critical.value_boxes import ValueBox

__all__ = ["closed_values", "exact_moment", "two_values"]

DENOMINATOR = 10**6
"""Of rational values that are recognized; whether they are the solution is then decided exactly."""


def two_values(upper: Expr) -> tuple[Expr, Expr]:
    """Return the standardized values of two groups, `upper` the share of the higher one.

    Examples
    --------
    >>> two_values(Rational(1, 5))
    (-1/2, 2)
    """
    return -sqrt(upper / (1 - upper)), sqrt((1 - upper) / upper)


def closed_values(box: ValueBox, targets: Sequence[Expr], unit: Expr = S.One) -> tuple[Expr, ...] | None:
    """Return the solution that the box encloses in closed form; None where none is known.

    Parameters
    ----------
    box : ValueBox
        Proved for these targets.
    targets : sequence of Expr
        The standardized moments of order 1, 2, ...; at least as many as values.
    unit : Expr
        Values that are rational multiples of 1/unit are recognized; the standard deviation that samples have.
    """
    for found in (_closed(box.ties, targets), _rational(box, unit)):
        if found is not None and all(expand(exact_moment(box.ties, found, j) - c) == 0
                                     for j, c in enumerate(targets[:len(box.ties)], 1)) and _is_inside(box, found):
            return found
    return None


def exact_moment(ties: Ties, values: Sequence[Expr], order: int) -> Expr:
    """Return the moment of this order of values in closed form.

    Examples
    --------
    >>> exact_moment((1, 4), two_values(Rational(4, 5)), 3)
    -3/2
    """
    return expand(sum((n * v**order for n, v in zip(ties, values, strict=True)), S.Zero) / sum(ties))


def _closed(ties: Ties, targets: Sequence[Expr]) -> tuple[Expr, ...] | None:
    shares = [Rational(n, sum(ties)) for n in ties]
    if len(ties) == 1:
        return (S.Zero,)
    if len(ties) == 2:
        return two_values(shares[1])
    if ties != ties[::-1] or any(c != 0 for c in targets[:len(ties):2]):
        return None
    half = _roots_of_squares(shares, targets)
    if half is None:
        return None
    middle = [S.Zero] * (len(ties) % 2)
    return (*(-v for v in half), *middle, *reversed(half))


def _roots_of_squares(shares: Sequence[Expr], targets: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """Return the positive values of a symmetric solution, from the highest down."""
    if len(shares) == 3:
        return (sqrt(1 / (2 * shares[0])),)
    if len(shares) not in (4, 5):
        return None
    p, q, c = 2 * shares[0], 2 * shares[1], targets[3]
    root = sqrt(expand(p * q * (c * (p + q) - 1)))
    return sqrt((p + root) / (p * (p + q))), sqrt((q - root) / (q * (p + q)))


def _rational(box: ValueBox, unit: Expr) -> tuple[Expr, ...] | None:
    exact = [Rational(v.numerator, v.denominator) * unit for v in box.values]
    near = [Rational(str(v if v.is_Rational else v.evalf(50))) for v in exact]
    found = [Fraction(int(v.p), int(v.q)).limit_denominator(DENOMINATOR) for v in near]
    values = tuple(Rational(v.numerator, v.denominator) for v in found)
    if any(abs(v - w) > Rational(1, 10**30) for v, w in zip(values, near, strict=True)):
        return None
    return tuple(v / unit for v in values)


def _is_inside(box: ValueBox, found: Sequence[Expr]) -> bool:
    """Return True iff the closed form is the solution in the box and not another one of the same equations."""
    for v, w in zip(found, box.values, strict=True):
        if not abs(v - Rational(w.numerator, w.denominator)).evalf(60) < 1e-20:
            return False
    return True
