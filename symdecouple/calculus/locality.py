r"""Claims about filtered features for every N >= N0: a minor looks at a few neighbouring samples and at averages.

.. math::

    v_i = \sum_a \frac{\partial F_i}{\partial s_a}\, w_a, \qquad
    D_{v_i} s_c = \sum_a \frac{\partial F_i}{\partial s_a}\, t_{ac}, \qquad
    t_{ac} = \mathrm{Mean}(w_a w_c)

for f_i = F_i(s), s_a averages of functions of windows and w_a their gradient fields, whose n-th component is a function
of the samples in a window about n. So a minor of the fields and a bracket is one function G(u, sigma) for all N: u are
the samples that its rows see, sigma the averages s and t that occur in the coefficients. A witness on a circle of n
samples is a point at which G is not 0, whatever n is: put the samples on a line, with period n. If no averages occur,
this decides for every N that has room for u. If some do, a second witness, the *tail*, shows that their gradients are
independent on some rows; where there is room for these rows outside of u, (u, sigma) fills an open set. That is theorem
F7 of the page on filters; it needs analytic functions and circular filters in one dimension.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from sympy import Add, Dummy, Expr, Rational, S, expand

from symdecouple.calculus.audit import minor_check
from symdecouple.calculus.gradient import mean_field
from symdecouple.calculus.kernels import bound_to_kernels
from symdecouple.calculus.subject import Subject
from symdecouple.calculus.windows import Window, hull, is_one_function, length, window_of, window_sum
from symdecouple.calculus.witness import Witness, find_witness
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget, check
from symdecouple.language.canonical import Statistic, canonical, close
from symdecouple.language.disguise import is_analytic
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Response
from symdecouple.language.mean import Mean, outermost_means
from symdecouple.language.sample import Sample
from symdecouple.verdict import Check

__all__ = ["Local", "find_tail", "least_size_for", "local_form", "locality_checks"]

MANY = 40
"""Statistics beyond which no tail is looked for: it takes at least as many samples."""


class Local(NamedTuple):
    """What a minor depends on: the window of a row, and averages of which none is a combination of the others."""

    window: Window
    averages: tuple[Expr, ...]
    tail_window: Window
    sample: Sample

    def tail_subject(self) -> Subject:
        """Return the averages as features, whose gradients are the columns of the second witness."""
        return Subject(tuple(map(Feature, self.averages)))

    def least_size(self, rows: Sequence[int], tail_rows: Sequence[int]) -> int:
        """Return N0: room for the samples that the rows see, for the tail's rows beside them, for what those see."""
        seen, beside = length(rows, self.window), length(tail_rows, (0, 0))
        return max(seen + beside, length(tail_rows, self.tail_window), len(rows), 2)


def local_form(subject: Subject, witness: Witness) -> Local:
    """Return what the minor of a witness is a function of, with the kernels and parameters that the witness has.

    Raises
    ------
    UnsupportedExpression
        Where the theorem has nothing to say: other boundaries, grids, averages inside averages that no expansion takes
        apart, functions not known to be analytic.
    """
    about = _bound(subject, witness)
    averages: dict[Expr, Dummy] = {}
    outer = [_opened(item.expr, about.sample, averages) for item in about.items]
    place = {dummy: mean for mean, dummy in averages.items()}
    fields = {dummy: mean_field(mean, about.sample) for dummy, mean in place.items()}
    windows = {dummy: window_of(field) for dummy, field in fields.items()}
    slopes = {k: {s: c for s in sorted(place, key=str) if (c := outer[k - 1].diff(s)) != 0} for k in witness.columns}
    found = {s for row in slopes.values() for c in row.values() for s in c.free_symbols}
    row_window = hull(windows[s] for row in slopes.values() for s in row)
    moved: set[Expr] = set()
    for i, j in (witness.pair, witness.pair[::-1]) if witness.pair else ():
        row_window = hull([row_window, *(window_sum(windows[a], windows[b]) for a, b in product(slopes[i], slopes[j]))])
        for b, c in product(slopes[j], place):
            if (second := slopes[j][b].diff(c)) != 0:
                found |= second.free_symbols
                moved |= {fields[a] * fields[c] for a in slopes[i]}
    used = [*(place[s] for s in found if s in place), *map(Mean, moved)]
    pivots, others = _independent(used, about.sample)
    through = {averages[mean]: other.xreplace(averages) for mean, other in others.items() if mean in averages}
    if not (is_analytic(e.xreplace(through) for e in outer)
            and is_one_function((mean.opened(about.sample) for mean in averages), about.sample)):
        raise UnsupportedExpression("the functions of samples, or those of averages, are not known to be one analytic "
                                    "function, written without relations")
    tail_window = hull(window_of(mean_field(mean, about.sample)) for mean in pivots)
    return Local(row_window, tuple(pivots), tail_window, about.sample)


def find_tail(local: Local, rng: random.Random, clock: Budget) -> Witness | None:
    """Return a sample at which the gradients of the averages are independent, None where none is found."""
    least = len(local.averages) + 1
    if least > MANY:
        return None
    about, reach = local.tail_subject(), length([0], local.tail_window)
    for size in dict.fromkeys((max(least, 3), max(least, reach + 1), least + reach)):
        witness = find_witness(about, range(1, len(about) + 1), None, size, rng, clock)
        if witness is not None:
            return witness
    return None


def least_size_for(subject: Subject, witness: Witness, rng: random.Random,
                   clock: Budget) -> tuple[int, Witness | None] | None:
    """Return N0 and the tail of a witness of filtered features; None where nothing is claimed beyond its size."""
    try:
        local = local_form(subject, witness)
        tail = find_tail(local, rng, clock) if local.averages else None
    except (UnsupportedExpression, InvalidInput):
        return None
    if local.averages and tail is None:
        return None
    return local.least_size(witness.rows, () if tail is None else tail.rows), tail


def locality_checks(subject: Subject, witness: Witness, tail: Witness | None, n0: int | None,
                    clock: Budget) -> Iterator[Check]:
    """Check that the claim holds from N0 on: what the minor depends on, the tail, and N0, all computed anew."""
    local = local_form(subject, witness)
    yield Check("a tail for the averages", (tail is not None) is bool(local.averages),
                f"{len(local.averages)} averages occur")
    if tail is not None:
        about = local.tail_subject()
        minor = minor_check(about, tail, range(1, len(about) + 1), None, None, clock)
        yield Check(f"gradients of {len(about)} averages are independent", minor.passed, minor.detail)
    found = local.least_size(witness.rows, () if tail is None else tail.rows)
    yield Check("N0", n0 == found, f"recomputed {found}")


def _bound(subject: Subject, witness: Witness) -> Subject:
    """Return the subject with the kernels and parameters of a witness; refuse what F7 is not about."""
    features = all(isinstance(item, Feature) and item.kind == "mean" for item in subject.items)
    responses = any(isinstance(h.args[0], Response) for h in subject.all_filters)
    if (not features or subject.cell is not None or subject.functions or responses or subject.ndim > 1
            or not subject.is_circular or not subject.is_smooth):
        raise UnsupportedExpression("claims for every N are made of analytic features of circular filters, in one "
                                    "dimension")
    names = {s.name: s for s in subject.symbols}
    values = {names[name]: Rational(v.numerator, v.denominator) for name, v in witness.parameters}
    about = bound_to_kernels(subject, witness.kernels)
    about = about.bind(values) if values else about
    if about.parameters:
        raise UnsupportedExpression(f"{', '.join(map(str, about.parameters))} have no values at the witness")
    return about


def _opened(expr: Expr, sample: Sample, averages: dict[Expr, Dummy]) -> Expr:
    """Return a feature as a function of averages of functions of windows, which are given symbols."""
    outermost = outermost_means(expr)
    expr = expr.xreplace({mean: canonical(mean, sample) for mean in outermost if mean.body.has(Mean)})
    for mean in sorted(outermost_means(expr), key=str):
        if mean.body.has(Mean):
            raise UnsupportedExpression(f"{mean} is an average of averages")
        if mean not in averages:
            averages[mean] = Dummy(f"s{len(averages)}", real=True, positive=mean.is_positive)
    return expr.xreplace(averages)


Linear = dict[Expr, Fraction]


def _independent(averages: Iterable[Expr], sample: Sample) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Return averages that are no combinations of each other, as far as seen, and the others through these.

    All are written in basis averages, and rational relations are found by elimination. That none is left over is not
    claimed here: the tail shows it.
    """
    forms = {mean: _linear(mean, sample) for mean in averages}
    basis: list[tuple[Expr, Linear, Linear]] = []
    pivots: list[Expr] = []
    others: dict[Expr, Expr] = {}
    for mean in sorted(forms, key=lambda m: (len(forms[m][0]), m.count_ops(), str(m))):
        rest, through = dict(forms[mean][0]), {mean: Fraction(1)}
        for lead, row, made_of in basis:
            factor = rest.get(lead, Fraction(0))
            _subtract(rest, row, factor)
            _subtract(through, made_of, factor)
        if rest:
            lead = min(rest, key=str)
            basis.append((lead, _over(rest, rest[lead]), _over(through, rest[lead])))
            pivots.append(mean)
        else:
            constant = Add(*(_number(c) * forms[m][1] for m, c in through.items()))
            others[mean] = constant - Add(*(_number(c) * m for m, c in through.items() if m != mean))
    return pivots, others


def _subtract(rest: Linear, row: Linear, factor: Fraction) -> None:
    for key, value in row.items() if factor else ():
        rest[key] = rest.get(key, Fraction(0)) - factor * value
        if rest[key] == 0:
            del rest[key]


def _over(row: Linear, divisor: Fraction) -> Linear:
    return {key: value / divisor for key, value in row.items()}


def _number(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def _linear(mean: Expr, sample: Sample) -> tuple[Linear, Expr]:
    """Return an average as a combination of basis averages, and a constant; as itself where the expansion is large."""
    try:
        closed = expand(close(mean, sample))
    except BudgetExceeded:
        check()
        return {mean: Fraction(1)}, S.Zero
    form: Linear = {}
    constant = S.Zero
    for term in Add.make_args(closed):
        if not term.has(Statistic):
            constant += term
            continue
        c, rest = term.as_coeff_Mul(rational=True)
        form[rest] = form.get(rest, Fraction(0)) + Fraction(int(c.p), int(c.q))
    return {key: c for key, c in form.items() if c != 0}, constant
