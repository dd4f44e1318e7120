r"""Fields over the field of the statistics: the exact form in which brackets are computed and spans decided.

.. math::

    v_i = p_i\, w_i, \qquad w_i = \sum_b W_{bi}(s)\, \psi_b(x), \qquad
    D_u s_a = \mathrm{Mean}(\psi_a' u), \qquad D_u w = \sum_b (D_u W_b)\, \psi_b + W_b\, \psi_b' u

The coefficients W are polynomials in the generators of a `CoefficientField` (fractions where roots or functions of
statistics remain), the factors p_i take up common denominators and roots: brackets of the w_i are then cheap, and the
structure functions of the v_i follow from those of the w_i by the product rule

.. math:: [p u, q v] = p q\,[u, v] + p\,(D_u q)\, v - q\,(D_v p)\, u.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from sympy import Add, Expr, S, Symbol
from sympy.polys.fields import FracElement

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField, one_sample
from symdecouple.calculus.sample_chart import SampleChart, chart_of
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import Budget, check
from symdecouple.language.canonical import Statistic, decompose, open_statistics, statistics_of
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filtered
from symdecouple.language.kinks import Within
from symdecouple.language.sample import Sample

__all__ = ["ExactFields", "Form", "Frame", "combination", "difference", "recent_frame"]

Raw = dict[Expr, Expr]
Form = dict[Expr, FracElement]


class ExactFields:
    """Fields v_i = p_i w_i as combinations of basis functions with exact coefficients.

    Attributes
    ----------
    forms : list of dict
        w_i: basis function to coefficient.
    factors : list
        p_i, elements of the coefficient field.
    """

    budget: Budget
    coefficients: CoefficientField
    forms: list[Form]
    factors: list[FracElement]

    @property
    def size(self) -> int:
        """Number of fields."""
        return len(self.forms)

    def bracket(self, i: int, j: int) -> Form:
        """Return [w_i, w_j] in the basis."""
        return difference(self._derivative(i, self.forms[j]), self._derivative(j, self.forms[i]))

    def opened(self, expr: Expr) -> Expr:
        """Return a coefficient or basis function with its statistics written as averages."""
        return open_statistics(expr)

    def _take(self, raws: Iterable[Raw]) -> None:
        """Split fields with expressions as coefficients into factors and forms free of common denominators."""
        self.forms, self.factors = [], []
        for raw in raws:
            encoded = {psi: self.coefficients.encode(c) for psi, c in raw.items()}
            encoded = {psi: c for psi, c in encoded.items() if c != 0}
            factor, numerators = (self.coefficients.common(list(encoded.values())) if encoded
                                  else (self.coefficients.field.one, []))
            self.factors.append(factor)
            self.forms.append({psi: self.coefficients.field(n) for psi, n in zip(encoded, numerators, strict=True)})

    def _derivative(self, i: int, form: Form) -> Form:
        raise NotImplementedError


class Frame(ExactFields):
    """Gradient fields (of features) or fields in the sample, over the field of the statistics.

    Functions of the sample are written in the variable of `chart`; where `declared`, in the sample itself.
    """

    def __init__(self, items: Sequence[Any], budget: Budget, *, declared: bool = False) -> None:
        if any(_expression(item).has(Filtered) for item in items):
            raise UnsupportedExpression("filtered features couple neighbouring samples: their fields are no functions "
                                        "of one sample each")
        sample = one_sample(items)
        exprs = [_expression(item) for item in items]
        self.chart = SampleChart(sample, exprs) if declared else chart_of(exprs, sample)
        self.sample: Sample = self.chart.sample
        self.budget = budget
        self._raw_of: dict[Symbol, Raw] = {s: {g: S.One} for s, g in self.chart.places.items()}
        raws = [self._raw(item) for item in items]
        self._moves: dict[tuple[Statistic, Expr], Raw] = {}
        self._motions: dict[Expr, Raw] = {}
        self._products: dict[tuple[Expr, Expr], Raw] = {}
        self.coefficients = CoefficientField(self._everything(raws))
        self._take(raws)
        self._along: list[dict[Symbol, FracElement]] = [self._motion(form) for form in self.forms]

    def derivative(self, i: int, element: FracElement) -> FracElement:
        """Return the derivative of a coefficient along w_i."""
        return self.coefficients.differential(element, self._along[i])

    def basis(self, forms: Iterable[Form]) -> list[Expr]:
        """Return the basis functions of some forms, in a fixed order."""
        return sorted(set().union(*forms), key=lambda psi: (psi.count_ops(), str(psi)))

    def statistics(self, forms: Iterable[Form]) -> set[Symbol]:
        """Return the statistics that the coefficients and basis functions of some forms depend on."""
        found: set[Symbol] = set(self.chart.places)
        for form in forms:
            for psi, c in form.items():
                found |= statistics_of(psi) | statistics_of(self.coefficients.decode(c))
        return found

    def least_size(self, forms: Sequence[Form], least: int) -> int:
        """Return N0: so many samples keep basis functions, and the gradients of statistics, independent.

        Where indicators split the line into parts, there are as many for each part as the fullest one needs. Values of
        a variable with given mean (and variance) have one (two) less to choose.
        """
        basis, moving, places = self.basis(forms), self.slopes(forms), len(self.chart.places)
        parts = set().union(*(psi.atoms(Within) for psi in [*basis, *self.averaged(forms)]))
        if not parts:
            return max(len(basis) + places, len(self.statistics(forms)) + places, least)
        fullest = max(max(sum(psi.has(w) for psi in basis), places + sum(psi.has(w) for psi in moving))
                      for w in parts)
        return max(int(next(iter(parts)).args[1]) * (fullest + places), least)

    def opened(self, expr: Expr) -> Expr:
        return self.chart.opened(expr)

    def slopes(self, forms: Iterable[Form]) -> list[Expr]:
        """Return functions of the sample that are independent where the gradients of the moving statistics are."""
        moving = [psi for psi in self.averaged(forms) if not isinstance(psi, Within)]
        return [*self.chart.places.values(), *(psi.diff(self.sample) for psi in moving)]

    def averaged(self, forms: Iterable[Form]) -> list[Expr]:
        """Return the functions whose averages the coefficients of some forms depend on, in a fixed order."""
        return [s.psi for s in sorted(self.statistics(forms), key=str) if isinstance(s, Statistic)]

    def depends_on_shares(self, forms: Sequence[Form]) -> bool:
        """True iff the shares of samples in the parts of the line occur in the coefficients."""
        return any(isinstance(psi, Within) for psi in self.averaged(forms))

    def _raw(self, item: Any) -> Raw:
        closed = self.chart.close(_expression(item))
        if isinstance(item, VectorField):
            return decompose(closed, self.sample)
        raw: Raw = {}
        for s in sorted(closed.free_symbols & {*closed.atoms(Statistic), *self.chart.places}, key=str):
            check()
            _add(raw, self._statistic_field(s), closed.diff(s))
        return raw

    def _statistic_field(self, statistic: Any) -> Raw:
        """Return v_s = T psi'(x) + sum_b Mean(d psi/d s_b) v_(s_b), T the identity unless the sample is centred."""
        if statistic not in self._raw_of:
            psi = statistic.psi
            raw: Raw = {}
            for slope, c in decompose(psi.diff(self.sample), self.sample).items():
                _add(raw, self.chart.moved(slope), c)
            for inner in sorted(psi.atoms(Statistic), key=str):
                _add(raw, self._statistic_field(inner), self.chart.average(psi.diff(inner)))
            self._raw_of[statistic] = raw
        return self._raw_of[statistic]

    def _everything(self, raws: list[Raw]) -> list[Expr]:
        """Return all coefficient expressions that brackets of these fields can lead to."""
        supports = sorted(set().union(*raws), key=str)
        found: set[Statistic] = set()
        for raw in raws:
            for psi, c in raw.items():
                found |= statistics_of(psi) | statistics_of(c)
        out = [c for raw in raws for c in raw.values()] + list(self.chart.places)
        for s in found:
            for psi in supports:
                self.budget.check("collecting the statistics of the brackets")
                out += self._move(s, psi).values()
        for psi in supports:
            out += self._moved(psi).values()
            for other in supports:
                for each in self._moved(other):
                    out += self._product(psi.diff(self.sample), each).values()
            for inner in psi.atoms(Statistic):
                out += decompose(psi.diff(inner), self.sample).values()
        return out

    def _moved(self, psi: Expr) -> Raw:
        if psi not in self._motions:
            self._motions[psi] = self.chart.moved(psi)
        return self._motions[psi]

    def _move(self, statistic: Statistic, psi: Expr) -> Raw:
        """Return Mean(psi_s' T psi) of the moving statistic, and Mean(d psi_s/d s_b) for its inner statistics."""
        key = (statistic, psi)
        if key not in self._moves:
            own, average = statistic.psi, self.chart.average
            slope = own.diff(self.sample)
            entry: Raw = {S.One: Add(*(c * average(slope * each) for each, c in self._moved(psi).items()))}
            for inner in own.atoms(Statistic):
                entry[inner] = average(own.diff(inner))
            self._moves[key] = entry
        return self._moves[key]

    def _product(self, left: Expr, right: Expr) -> Raw:
        if (left, right) not in self._products:
            self._products[left, right] = decompose(left * right, self.sample)
        return self._products[left, right]

    def _motion(self, form: Form) -> dict[Symbol, FracElement]:
        """Return D_w s for every statistic s that the fields depend on."""
        motion: dict[Symbol, FracElement] = {}

        def move(statistic: Statistic) -> FracElement:
            if statistic not in motion:
                total = self.coefficients.field.zero
                for psi, c in form.items():
                    total += c * self.coefficients.encode(self._move(statistic, psi)[S.One])
                for inner in statistic.psi.atoms(Statistic):
                    slope = self.coefficients.encode(self.chart.average(statistic.psi.diff(inner)))
                    total += slope * move(inner)
                motion[statistic] = total
            return motion[statistic]

        for statistic in {s for s, _ in self._moves}:
            move(statistic)
        for place, g in self.chart.places.items():
            motion[place] = self.coefficients.field.zero
            for psi, c in form.items():
                motion[place] += c * self.coefficients.encode(self.chart.average(g * psi))
        return motion

    def _derivative(self, i: int, form: Form) -> Form:
        """Return D_u of a form along u = w_i."""
        out: Form = {}
        coefficients, along = self.coefficients, self._along[i]
        moved = [(each, a * coefficients.encode(k)) for other, a in self.forms[i].items()
                 for each, k in self._moved(other).items()]
        for psi, c in form.items():
            self.budget.check("a Lie bracket")
            _accumulate(out, psi, coefficients.differential(c, along))
            for each, a in moved:
                for new, k in self._product(psi.diff(self.sample), each).items():
                    _accumulate(out, new, c * a * coefficients.encode(k))
            for inner in psi.atoms(Statistic):
                for new, k in decompose(psi.diff(inner), self.sample).items():
                    _accumulate(out, new, c * coefficients.encode(k) * along[inner])
        return self._cleaned(out)

    def _cleaned(self, form: Form) -> Form:
        reduced = {psi: self.coefficients.reduced(c) for psi, c in form.items()}
        return {psi: c for psi, c in reduced.items() if c != 0}


_RECENT: OrderedDict[tuple[Any, ...], Frame] = OrderedDict()
_KEPT = 8


def recent_frame(items: tuple[Any, ...], budget: Budget, *, declared: bool = False) -> Frame:
    """Return the frame of some items, the same one if it was made a moment ago: C1 and C2 ask one after the other.

    Where `declared`, functions are written in the sample itself, also where averages nest less in another variable.
    """
    key = (items, declared)
    frame = _RECENT.pop(key, None) or Frame(items, budget, declared=declared)
    frame.budget = budget
    _RECENT[key] = frame
    if len(_RECENT) > _KEPT:
        _RECENT.popitem(last=False)
    return frame


def _expression(item: Any) -> Expr:
    return item.expr if isinstance(item, (Feature, VectorField)) else item


def _add(raw: Raw, other: Raw, factor: Expr) -> None:
    for psi, c in other.items():
        raw[psi] = raw.get(psi, S.Zero) + factor * c


def _accumulate(form: Form, psi: Expr, value: FracElement) -> None:
    form[psi] = form[psi] + value if psi in form else value


def difference(left: Form, right: Form) -> Form:
    out = dict(left)
    for psi, c in right.items():
        _accumulate(out, psi, -c)
    return {psi: c for psi, c in out.items() if c != 0}


def combination(forms: Sequence[Form], weights: Sequence[FracElement]) -> Form:
    """Return sum_k weights[k] * forms[k]."""
    out: Form = {}
    for form, weight in zip(forms, weights, strict=True):
        for psi, c in form.items():
            _accumulate(out, psi, weight * c)
    return {psi: c for psi, c in out.items() if c != 0}
