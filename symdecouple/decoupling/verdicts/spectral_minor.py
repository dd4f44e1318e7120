r"""Weights of quadratic features in a spectrum that holds their references, enclosed by intervals.

A sample has the power spectrum P, its mean energy at a frequency, so that feature k of the form

.. math:: f_k(x) = c_k + \sum_\xi w_k(\xi)\, P(\xi), \qquad P(\xi) = |X(\xi)|^2 / N^2

is at its reference where a linear equation in P holds. Given P at all frequencies but as many as there are references
(the pivots), those equations yield the rest. Then b_k, the weights less their projection on those at whose references
feature k is taken, and determinants over frequencies are numbers that intervals enclose.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from operator import mul
from typing import Any

import numpy as np
from sympy import Expr

from symdecouple.calculus.elementary import World
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.span import determinant, independent_rows
from symdecouple.families.quadratic import QuadraticForms, recognize_quadratic
from symdecouple.language.feature_set import FeatureSet

__all__ = ["EnclosedSpectrum", "classes_of", "have_taps", "size_without_wrapping"]

Grid = tuple[int, ...]


class EnclosedSpectrum:
    """The powers of a sample on the classes {xi, -xi} of frequencies of one grid, and the weights of features there.

    `features` are quadratic, the mean perhaps before them; `references` are values of the leading ones, the mean
    included; `powers` are those of `classes_of`, of which the `pivots`, as many as there are quadratic features among
    the references, follow from these; by default where those weigh most. ZeroDivisionError where their equations may be
    dependent, UnsupportedExpression where a constant has no enclosure.

    >>> from sympy import S
    >>> from symdecouple.families.quadratic import autocorrelation
    >>> features = autocorrelation([0, 1])  # the second moment is 3 on four frequencies
    >>> found = EnclosedSpectrum(features, (4,), [S(3)], [Fraction(1), Fraction(1, 2), Fraction(0)], [2], World(20))
    >>> [float(power.mid) for power in found.powers], found.counts
    ([1.0, 0.5, 1.0], [1, 2, 1])
    """

    def __init__(self, features: FeatureSet, grid: Grid, references: Sequence[Expr], powers: Sequence[Fraction],
                 pivots: Sequence[int] | None, world: World) -> None:
        forms = recognize_quadratic(features)
        assert forms is not None
        self.features, self.forms, self.grid, self.world = features, forms, grid, world
        self._impulse = ValuesAt([Fraction(n == 0) for n in range(prod(grid))], grid, world)
        classes = classes_of(grid, forms)
        self.counts = [count for _, count in classes]
        self.weights = self._weights_at([xi for xi, _ in classes])
        self.powers = [world.number(p) for p in powers]
        goals = self._goals(references)
        if pivots is None:
            pivots = independent_rows([[w * p for w, p in zip(row, self.powers, strict=True)]
                                       for row in self.weights[: len(goals)]], world) or range(len(goals))
        self.pivots = tuple(pivots)
        known = [n for n in range(len(classes)) if n not in pivots]
        shares = [[w * count for w, count in zip(row, self.counts, strict=True)] for row in self.weights[: len(goals)]]
        rest = [goal - sum(row[n] * self.powers[n] for n in known) for goal, row in zip(goals, shares, strict=True)]
        for n, power in zip(pivots, _solved([[row[n] for n in pivots] for row in shares], rest, world), strict=True):
            self.powers[n] = power
        self.least = min(self.powers, key=lambda p: p.a)  # the least power, by the lower end of its interval
        self.apart = cache(self._apart)

    def _apart(self, k: int, before: int) -> list[Any]:
        """Return b_k on the classes: w_k less its projection on the first weights, in the inner product sum P u w."""
        masses = [count * p for count, p in zip(self.counts, self.powers, strict=True)]

        def inner(one: Sequence[Any], two: Sequence[Any]) -> Any:
            return sum(m * a * b for m, a, b in zip(masses, one, two, strict=True))

        first, own = self.weights[:before], self.weights[k]
        slopes = _solved([[inner(a, b) for b in first] for a in first], [inner(a, own) for a in first], self.world)
        return [v - sum(c * w[n] for c, w in zip(slopes, first, strict=True)) for n, v in enumerate(own)]

    def rows_of(self, one: tuple[int, int], two: tuple[int, int]) -> list[list[Any]]:
        """Return w_1, ..., w_K and b_i b_j on the classes, for two pairs (k, before)."""
        return [*self.weights, [a * b for a, b in zip(self.apart(*one), self.apart(*two), strict=True)]]

    def minor(self, one: tuple[int, int], two: tuple[int, int], classes: Sequence[int]) -> Any:
        """Return the determinant of these on K + 1 classes."""
        return determinant([[row[n] for n in classes] for row in self.rows_of(one, two)], self.world)

    def _goals(self, references: Sequence[Expr]) -> list[Any]:
        """What the sums over the classes are at the references of quadratic features."""
        value = self._impulse.value
        goals = [(value(v) - value(c)) / value(a) for v, (a, c) in zip(references, self.forms.scales, strict=False)]
        if self.forms.mean is None or not goals:
            return goals
        mean, at_zero = goals[0], self._weights_at([(0,) * len(self.grid)])
        return [goal - row[0] * mean**2 for goal, row in zip(goals[1:], at_zero, strict=False)]

    def _weights_at(self, frequencies: Sequence[Grid]) -> list[list[Any]]:
        """Return w = sum_n v_n cos(2 pi n xi/N)/2, where v is the field of a feature at the unit impulse."""
        iv, places, out = self.world.iv, list(product(*map(range, self.grid))), []
        cosine = cache(lambda phase: iv.cos(2 * iv.pi * self.world.number(phase)))
        for feature in tuple(self.features)[len(self.forms) - len(self.forms.products) : len(self.forms)]:
            kernel = [(n, v) for n, v in zip(places, self._impulse.field(feature), strict=True) if v.a != 0 or v.b != 0]
            out.append([sum((v * cosine(sum(map(Fraction, map(mul, xi, n), self.grid)) % 1) for n, v in kernel),
                            iv.mpf(0)) / 2 for xi in frequencies])
        return out


def have_taps(forms: QuadraticForms) -> bool:
    """True iff all filters of the forms have taps, so that their weights are known for every grid."""
    return all(form.lags() is not None for terms in forms.products for _, *pair in terms for form in pair)


def classes_of(grid: Grid, forms: QuadraticForms) -> list[tuple[Grid, int]]:
    """Return one frequency of each class {xi, -xi} and how many it has; without zero where the mean is apart."""
    out = []
    for xi in product(*map(range, grid)):
        mirrored = tuple(-f % n for f, n in zip(xi, grid, strict=True))
        if xi <= mirrored and (any(xi) or forms.mean is None):
            out.append((xi, 1 + (xi != mirrored)))
    return out


def size_without_wrapping(forms: QuadraticForms, count: int) -> Grid:
    """Return a grid on which no lag wraps around and frequencies outnumber the features, `count` of them."""
    seen = [np.array(np.broadcast_arrays(*(np.atleast_1d(lag or 0) for form in pair for lag in form.lags() or ())))
            for terms in forms.products for _, *pair in terms]  # lags by axes, of each term
    widest, ndim = max(int(np.ptp(lags, axis=0).max()) for lags in seen), max(lags.shape[1] for lags in seen)
    return (max(2 * widest + 1, 2 * count + 3),) if ndim == 1 else (max(2 * widest + 1, 4),) * ndim


def _solved(matrix: Sequence[Sequence[Any]], right: Sequence[Any], world: World) -> list[Any]:
    """Solve in intervals; ZeroDivisionError where the equations may be dependent."""
    try:
        return list(world.iv.lu_solve(world.iv.matrix(matrix), world.iv.matrix(right))) if right else []
    except ZeroDivisionError:
        raise ZeroDivisionError("the equations of the references are dependent") from None
