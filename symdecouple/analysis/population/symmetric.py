r"""Level 4 of a symmetric law in closed form: its squares move along Moebius maps.

Centred at its point of symmetry, with skewness 0 wanted, the law at level 3 is the law itself, and the projected
gradient of the fourth moment is x^3 - kappa x on it and on everything it becomes. The solutions of Bernoulli's equation
y' = kappa y - y^3 are, up to scale,

.. math:: z_b = \frac{x}{\sqrt{1 + b x^2}}, \qquad -\frac1{A^2} < b, \qquad A = \max |x| .

With w = z_b^2, dw/db = -w^2, the kurtosis E w^2/(E w)^2 falls (strictly, unless w has one value beside 0)

.. math:: \frac{d\kappa}{db} = -2\, \frac{E w\, E w^3 - (E w^2)^2}{(E w)^3} < 0

by Cauchy and Schwarz to its lower limit 1/(1 - q), q the mass at the centre. Its upper limit is 1/p for a mass p at the
two ends together; infinite without mass there if E (A - abs(x))^-2 is infinite, else finite. Where the law is unbounded
b = 0, the law itself, is the end and belongs to the leaf: a larger kurtosis would carry its tails past infinity. A
smaller one makes every law bounded, so that it has moments of all orders: order 5 is 0, order 6 is E w^3/(E w)^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mpf

from symdecouple.analysis.population.leaf import Leaf, tail_of, zero_from
from symdecouple.analysis.population.quadrature import number_of
from symdecouple.errors import NoClosedForm, Outcome

__all__ = ["SymmetricLaw"]

Number = Any


@dataclass(frozen=True, slots=True)
class SymmetricLaw:
    """A law that is symmetric about `centre`, on its leaf under four moments; use it inside `at_digits`."""

    leaf: Leaf
    centre: Number

    def powers(self, b: Number, *orders: int) -> list[Number]:
        """Return E w^k for some k."""
        def of(x: Number) -> list[Number]:
            square = (x - self.centre) ** 2
            w = square / (1 + b * square)
            return [w**k for k in orders]

        return self.leaf.quadrature.expect(of)

    def kurtosis(self, b: Number) -> Number:
        one, two = self.powers(b, 1, 2)
        return two / one**2

    def own_kurtosis(self) -> Number:
        """Return that of the law itself; infinite where it is, or lies too far out to be computed."""
        if (raw := self.leaf.law.exact_moments(4)) is not None and self.centre == 0:
            return number_of(raw[3] / raw[1] ** 2, self.leaf.quadrature.work)
        try:
            return mpmath.inf if self.leaf.highest_order() < 4 else self.kurtosis(mpf(0))
        except NoClosedForm:
            return mpmath.inf

    @property
    def end(self) -> Number:
        """A, which may be infinite."""
        return self.leaf.ends[1] - self.centre

    def limits(self) -> tuple[Number, Number, bool]:
        """Return what the kurtosis tends to at both ends of the leaf, and whether the upper one belongs to it."""
        quadrature, law = self.leaf.quadrature, self.leaf.law
        at_centre = mpmath.fsum(q for v, q in quadrature.atoms if v == self.centre)
        low = 1 / (1 - at_centre)
        if mpmath.isinf(self.end):
            return low, self.own_kurtosis(), True
        if (q := law.atom_at(law.high)) != 0:
            return low, 1 / (2 * number_of(q, quadrature.work)), False
        tail = tail_of(quadrature, self.leaf.ends[1], self.leaf.ends)
        if tail is not None and not tail.has(2):
            return low, mpmath.inf, False
        return low, self.kurtosis(-1 / self.end**2), False

    def reach(self, kurtosis: Number) -> tuple[Number | None, Outcome]:
        """Return b where the kurtosis is as wanted, or why it is nowhere."""
        digits = self.leaf.quadrature.dps
        low, high, is_closed = self.limits()
        near = mpf(10) ** (3 - digits)
        if is_closed and mpmath.isfinite(high) and abs(high - kurtosis) <= near * high:
            return mpf(0), Outcome(True)
        if not low + near < kurtosis < high:
            shown = f"({mpmath.nstr(low, 6)}, {mpmath.nstr(high, 6)}{']' if is_closed else ')'}"
            why = "; a larger one would carry the tails past infinity" if is_closed and kurtosis > high else ""
            return None, Outcome(False, "kurtosis out of reach", f"the kurtosis stays in {shown} on the leaf of this "
                                 f"symmetric law, and {float(kurtosis):.6g} is wanted{why}")
        least = mpf(0) if mpmath.isinf(self.end) else -1 / self.end**2
        unit = 1 / self.leaf.quadrature.spread**2

        def above(place: Number) -> Number:
            return kurtosis - self.kurtosis(least + unit * mpmath.exp(place))

        place = zero_from(above, mpf(0), mpf(1), 2, 2 * (digits + 6) * mpmath.log(10), digits)
        if place is None:
            raise NoClosedForm(f"kurtosis {float(kurtosis):.6g} lies nearer to an end of the leaf of "
                               f"{self.leaf.law.name} than {digits} digits tell; ask for more, dps=")
        return least + unit * mpmath.exp(place), Outcome(True)
