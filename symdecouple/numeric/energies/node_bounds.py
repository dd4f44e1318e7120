r"""What sums on nodes miss (`nodes`), bounded before they are taken or after, as loops over one signal for `jit`.

A level for which no bound is at rounding is solved near another tilt, or on all frequencies.
"""

from __future__ import annotations

import math

from symdecouple.numeric.energies.eigenvalues import Lines
from symdecouple.numeric.energies.nodes import Probes
from symdecouple.numeric.energies.sums import extremes
from symdecouple.numeric.energies.workspace import Scratch
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["CANCELS", "EXACT", "FAR", "WIDE", "judged", "spanned"]

_EPS = 2.0**-52
_MISSED, _CANCELLED = 16 * _EPS, 256.0  # of a sum: what may be missing; what may cancel in it
EXACT, CANCELS, WIDE, FAR = range(4)  # a minimum on nodes: is one, needs relative accuracy, is apart, not found


def judged(a: FloatArray, base: FloatArray, sums: FloatArray, log_mass: float, want: FloatArray, own: int,
           largest: FloatArray, order: int, lebesgue: float, probes: Probes, lines: Lines, everywhere: FloatArray,
           work: Scratch, apart: FloatArray) -> int:
    """Say whether sums on nodes are those over all frequencies.

    Parameters
    ----------
    base : array (M,)
        Power on nodes is tilted by it.
    sums : array
        At a, on these nodes or on others; the bound needs no more than their size.
    log_mass : float
        Logarithm of the sum of power on nodes, in the unit of `sums` less their shift.
    everywhere : array
        1 at all probes.
    """
    m, cancelled = len(want), 0.0
    for j in range(m):
        if want[j] != 0 or j == own:
            value, square, part = sums[2 + j], sums[2 + m + j * m + j], largest[j] * sums[1]
            there = max(part / value, largest[j] * part / square) if value > 0 and square > 0 else math.inf
            cancelled = max(cancelled, there)
    if not cancelled <= _CANCELLED:
        return CANCELS
    for j in range(m):
        apart[j] = a[j] - base[j]
    top = -math.inf
    for kind in range(3):
        low, high = spanned(apart, largest, probes, kind, lines, everywhere, work)
        if kind == 0 and cancelled * _lost(order, lebesgue, (high - low) / 2) <= _MISSED:
            return EXACT
        top = max(top, high)
    log_lost = probes.log_front + top + log_mass - math.log(sums[1]) - sums[0]
    return EXACT if math.log(cancelled) + log_lost <= math.log(_MISSED) else WIDE


def spanned(a: FloatArray, largest: FloatArray, probes: Probes, kind: int, lines: Lines, everywhere: FloatArray,
            work: Scratch) -> tuple[float, float]:
    """Bound the smallest and the largest a.w, or its real part with the outer (kind 1) or inner axis on its ellipse."""
    outer = probes.wide_outer if kind == 1 else probes.outer
    inner = probes.wide_inner if kind == 2 else probes.inner
    low, high = extremes(a, largest, -1.0, everywhere, Lines(outer, inner, lines.places, lines.scales), work)
    middle, half = (low + high) / 2, (high - low) / 2 * probes.between
    return middle - half, middle + half


def _lost(order: int, lebesgue: float, width: float) -> float:
    """Bound what sums of w, w w' times exp(h), abs(h) <= width, miss on nodes, over the sum of exp(h).

    Nodes are exact for w w' q(h) while the degree of q is below `order`. Of the series of Chebyshev polynomials of
    h/width that is the exponential, what is left are twice Bessel's I_p(width), I_p(x) <= (x/2)^p exp(x^2/4(p+1))/p!,
    from p = order on: on the frequencies and, times the sum of abs(L), on the nodes.
    """
    if not width < order:
        return math.inf
    half = width / 2
    term = 2 * math.exp(half * half / (order + 1)) / (1 - half / (order + 1))
    for p in range(order):
        term *= half / (p + 1)
    return (1 + lebesgue) * term * math.exp(width)
