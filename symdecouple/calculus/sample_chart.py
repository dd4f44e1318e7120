r"""In which variable functions of the sample are written: the sample itself, or the centred or standardized sample.

Features such as Mean(log(cosh((x - m)/s))) nest averages in averages. Written in

.. math:: x = m + s\,z, \qquad \mathrm{Mean}(z) = 0, \quad \mathrm{Mean}(z^2) = 1

they do not: the shift m and the scale s are two statistics beside those of z, which no shift and no positive scale
moves (Theorem D is about such features). A field u moves z by T u, and T is symmetric for Mean(u v):

.. math::

    D_u m = \mathrm{Mean}(u), \quad D_u s = \mathrm{Mean}(z u), \quad
    D_u z = T u = (u - \mathrm{Mean}(u) - z\,\mathrm{Mean}(z u))/s, \quad v_{\mathrm{Mean}(\psi(z))} = T \psi'(z)

Centred only, s is the number 1 and z has any variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from sympy import Add, Dummy, Expr, Mul, S, Symbol, sqrt

from symdecouple.errors import BudgetExceeded
from symdecouple.language.canonical import Statistic, average, close, decompose, open_statistics, statistics_of
from symdecouple.language.circle import Angles
from symdecouple.language.gate import expand
from symdecouple.language.kinks import Within
from symdecouple.language.mean import Mean
from symdecouple.language.sample import BoundSample, Sample

__all__ = ["Centred", "SampleChart", "chart_of"]

Raw = dict[Expr, Expr]

SHIFT, SCALE, Z = Dummy("m", real=True), Dummy("s", positive=True), Sample("z")


class SampleChart:
    """The sample as it is declared: a field moves it by itself.

    Attributes
    ----------
    declared, sample : Sample
        The sample of the features, and the variable in which functions of it are written.
    places : mapping
        Statistics that are no averages of functions of the variable, to their gradient fields.
    """

    places: Mapping[Symbol, Expr] = {}

    def __init__(self, declared: Sample, exprs: Iterable[Expr] = ()) -> None:
        self.declared = self.sample = declared
        self._angles = Angles(exprs, declared)

    def close(self, expr: Expr) -> Expr:
        """Return an expression in the variable and in statistics."""
        return close(self._angles.applied(expr), self.sample)

    def average(self, expr: Expr) -> Expr:
        """Return the average of a closed function of the variable."""
        return average(expr, self.sample)

    def moved(self, psi: Expr) -> Raw:
        """Return how a field psi moves the variable."""
        return {psi: S.One}

    def opened(self, expr: Expr) -> Expr:
        """Return a closed expression in the declared sample and its averages."""
        return open_statistics(expr)


class Centred(SampleChart):
    """The sample less its mean, and divided by its standard deviation where it is scaled."""

    def __init__(self, declared: Sample, scaled: bool) -> None:
        self.declared, self.sample = declared, Z
        self.scale: Expr = SCALE if scaled else S.One
        self.places = {SHIFT: S.One, SCALE: Z} if scaled else {SHIFT: S.One}
        self._known: Raw = {_statistic(Z): S.Zero, **({_statistic(Z**2): S.One} if scaled else {})}
        self._closed: Raw = {}

    def close(self, expr: Expr) -> Expr:
        if isinstance(expr, (Sample, BoundSample)):
            return SHIFT + self.scale * Z
        if not expr.args or not expr.atoms(Mean, Sample, BoundSample):
            return expr
        if isinstance(expr, Within):
            return Within(*expr.args[:2], Z)
        if expr not in self._closed:
            if isinstance(expr, Mean):
                self._closed[expr] = self.average(self.close(expr.body))
            else:
                args = [self.close(arg) for arg in expr.args]
                inside = not isinstance(expr, (Add, Mul))
                self._closed[expr] = expr.func(*(expand(arg) if inside else arg for arg in args))
        return self._closed[expr]

    def average(self, expr: Expr) -> Expr:
        return average(expr, Z).xreplace(self._known)

    def moved(self, psi: Expr) -> Raw:
        out = {psi: S.One}
        for g in self.places.values():
            out[g] = out.get(g, S.Zero) - self.average(g * psi)
        return {g: c / self.scale for g, c in out.items() if c != 0}

    def opened(self, expr: Expr) -> Expr:
        x = self.declared
        spread = sqrt(Mean(x**2) - Mean(x) ** 2) if self.scale != 1 else S.One
        rule: dict[Expr, Expr] = {SHIFT: Mean(x), SCALE: spread, Z: (x - Mean(x)) / spread}
        found = statistics_of(expr)
        rule |= {w: Within(*w.args[:2], x) for e in (expr, *(s.psi for s in found)) for w in e.atoms(Within)}
        for statistic in sorted(found, key=lambda s: len(statistics_of(s.psi))):  # inner ones first
            rule[statistic] = Mean(statistic.psi.xreplace(rule))
        return expr.xreplace(rule)

    def suits(self, exprs: Iterable[Expr]) -> bool:
        """True iff no function of the variable that occurs has the shift or the scale inside."""
        closed = [self.close(expr) for expr in exprs]
        functions = [psi for expr in closed if expr.has(Z) for psi in decompose(expr, Z)]
        functions += [statistic.psi for expr in closed for statistic in statistics_of(expr)]
        return not any(psi.has(SHIFT, SCALE) for psi in functions)


def chart_of(exprs: list[Expr], declared: Sample) -> SampleChart:
    """Return the variable in which the averages of some expressions nest least."""
    if any(map(_nests, exprs)):
        for scaled in (True, False):
            with suppress(BudgetExceeded):
                chart = Centred(declared, scaled)
                if chart.suits(exprs):
                    return chart
    return SampleChart(declared, exprs)


def _nests(expr: Expr) -> bool:
    """True iff averages stand in a function of the sample out of which expansion does not take them."""
    bodies = [(mean.body, mean.bound) for mean in expr.atoms(Mean)]
    bodies += [(expr, sample) for sample in expr.atoms(Sample)]
    return any(body.atoms(Mean) and not _plain(body).is_polynomial(symbol) for body, symbol in bodies)


def _plain(body: Expr) -> Expr:
    """Return a function of the sample with symbols for averages, and without indicators."""
    return body.xreplace({mean: Dummy() for mean in body.atoms(Mean)} | dict.fromkeys(body.atoms(Within), S.One))


def _statistic(psi: Expr) -> Statistic:
    """Return the symbol of an average; `average` makes equal ones."""
    return Statistic(psi)
