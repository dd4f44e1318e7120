r"""The canonical form: functions of the sample in one basis, averages as linear forms in basis averages.

Every function of the sample is written as

.. math:: \varphi(x) = \sum_b c_b\, \psi_b(x)

with constants c_b (numbers, parameters, statistics) and basis functions that are products of powers of x, exponentials,
logarithms, one sine or cosine, partial fractions, and whatever else occurs. An average is then a linear form in the
averages of basis functions, each of which is one symbol, a `Statistic`. Hidden relations are removed on the way:
hyperbolic functions become exponentials, products of trigonometric functions become sums (sin^2 + cos^2 = 1), rational
functions are split into partial fractions, circular filters with taps into shifts, and averages are taken up to a
common shift. Filters with other boundaries stay as they are, but for their linearity.

Two functions that get the same form are equal. The converse holds for polynomials, exponentials, sines and cosines
of linear phases, powers, logarithms and rational functions of x or of one exponential; elsewhere distinct forms may
still be equal, and whoever concludes from "distinct" must show independence by an evaluation minor.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

from sympy import (
    Add,
    Dummy,
    E,
    Expr,
    Mul,
    Pow,
    S,
    Symbol,
    cos,
    exp,
    floor,
    sin,
)
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import check
from symdecouple.language.circle import circle_form
from symdecouple.language.exponentials import exponential_form
from symdecouple.language.filtered import Filtered
from symdecouple.language.gamma_shifts import shifted_gamma
from symdecouple.language.gate import expand
from symdecouple.language.kinks import Within
from symdecouple.language.lags import lagged, leading_shift
from symdecouple.language.mean import Mean
from symdecouple.language.partial_fractions import partial_fractions
from symdecouple.language.sample import Sample, x as generic
from symdecouple.language.waves import split_phase, wave_form, with_tangents

__all__ = ["Statistic", "average", "canonical", "close", "decompose", "open_statistics", "statistics_of"]

TERM_LIMIT = 20_000


class Statistic(Symbol):
    """The average of one basis function, as a symbol: the coordinates in which features are functions."""

    __slots__ = ("psi",)
    psi: Expr

    def __new__(cls, psi: Expr) -> Statistic:
        obj = Symbol.__xnew__(cls, f"Mean({psi})", real=True, **({"positive": True} if psi.is_positive else {}))
        obj.psi = psi
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.psi,), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.psi)

    @property
    def mean(self) -> Expr:
        """The statistic as a `Mean`."""
        return Mean(open_statistics(self.psi))


def statistics_of(expr: Expr) -> set[Statistic]:
    """Return the statistics that occur in a closed expression, those inside basis functions included."""
    found = expr.atoms(Statistic)
    for statistic in tuple(found):
        found |= statistics_of(statistic.psi)
    return found


def close(expr: Expr, sample: Sample = generic) -> Expr:
    """Write every average as a linear form in statistics.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> close(Mean((x - Mean(x))**2))
    -Mean(x)**2 + Mean(x**2)
    """
    if isinstance(expr, Mean):
        return average(close(expr.opened(sample), sample), sample)
    if not expr.args or not expr.atoms(Mean):
        return expr
    return expr.func(*(close(arg, sample) for arg in expr.args))


def open_statistics(expr: Expr) -> Expr:
    """Write every statistic as the `Mean` it stands for: the inverse of `close`."""
    return expr.xreplace({s: s.mean for s in expr.atoms(Statistic)})


def canonical(expr: Expr, sample: Sample = generic) -> Expr:
    """Return the expression with every average in canonical form.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.filters import shift
    >>> canonical(Mean(x*shift(-1)(x))) == canonical(Mean(x*shift(1)(x)))
    True
    """
    closed = close(expr, sample)
    return open_statistics(expand(closed) if closed.is_polynomial(*closed.atoms(Statistic)) else closed)


def average(expr: Expr, sample: Sample = generic) -> Expr:
    """Return the average of a closed function of the sample, as a linear form in statistics."""
    return Add(*(c * _statistic(psi, sample) for psi, c in decompose(expr, sample).items()))


def decompose(expr: Expr, sample: Sample = generic) -> dict[Expr, Expr]:
    """Return the coefficients of a closed function of the sample in the basis functions.

    Raises
    ------
    BudgetExceeded
        If the expansion would have more than `TERM_LIMIT` terms.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> decompose((x + 1)**2) == {x**2: 1, x: 2, 1: 1}
    True
    >>> decompose(sin(x)**2)[cos(2*x)]
    -1/2
    """
    check()
    if not expr.has(sample):
        return {S.One: expr} if expr != 0 else {}
    expr, frozen, moving = _frozen(_one_basis(lagged(expr, sample), sample), sample)
    if (size := _expanded_size(expr)) > TERM_LIMIT:
        raise BudgetExceeded(f"expanding {str(expr)[:80]} takes about {size} terms, the limit is {TERM_LIMIT}; "
                             "lower the powers or declare the expression through fewer terms")
    out: dict[Expr, Expr] = {}
    expr = expand(expr)
    for term in Add.make_args(expr) if expr != 0 else ():
        constant, function = term.as_independent(sample, *moving, as_Add=False)
        check()
        function, within = _located(function.xreplace(frozen))
        if within is None:
            continue
        for psi, c in _basis_form(function, sample):
            out[within * psi] = out.get(within * psi, S.Zero) + constant.xreplace(frozen) * c
    return {psi: c for psi, c in out.items() if c != 0}


def _located(function: Expr) -> tuple[Expr, Expr | None]:
    """Split off the indicator of a part of the line (1 where there is none); None where two parts have no point."""
    found = function.atoms(Within)
    if not found:
        return function, S.One
    return (function.xreplace(dict.fromkeys(found, S.One)), found.pop()) if len(found) == 1 else (function, None)


def _frozen(expr: Expr, sample: Sample) -> tuple[Expr, dict[Dummy, Expr], list[Dummy]]:
    """Replace quotients and roots of sums by symbols: expansion would multiply denominators out.

    Returns the expression, what each symbol stands for, and the symbols that stand for functions of the sample.
    """
    found: dict[Expr, Dummy] = {}

    def freeze(node: Expr) -> Expr:
        if not node.args or isinstance(node, Filtered):
            return node
        if _is_quotient(node, sample):
            node = Pow(expand(node.base), node.exp) if node.has(sample) else node
            return found.setdefault(node, Dummy(real=node.is_real, positive=node.is_positive))
        if node.has(sample) or isinstance(node, (Add, Mul, Pow)):
            return node.func(*(freeze(arg) for arg in node.args))
        return node

    opened = freeze(expr)
    frozen = {dummy: node for node, dummy in found.items()}
    return opened, frozen, [dummy for dummy, node in frozen.items() if node.has(sample)]


def _is_quotient(node: Expr, sample: Sample) -> bool:
    if not node.is_Pow or node.exp.has(sample) or node.is_number or (node.exp.is_Integer and node.exp > 0):
        return False
    return bool(node.base.is_Add or not node.has(sample))


def _statistic(psi: Expr, sample: Sample) -> Expr:
    if psi == 1:
        return S.One
    if isinstance(psi, Within) and psi.args[0] == psi.args[1] - 1:  # the shares of all parts sum up to 1
        return 1 - Add(*(_shared_statistic(psi.func(k, *psi.args[1:])) for k in range(psi.args[0])))
    if psi.has(Filtered):
        psi = leading_shift(psi, sample)
    if isinstance(psi, Filtered) and psi.filter.boundary == "circular":
        return psi.filter.dc * average(psi.argument, sample)
    return _shared_statistic(psi)


@lru_cache(maxsize=4096)
def _shared_statistic(psi: Expr) -> Statistic:
    """Build each statistic once: its name is the text of its function, which takes a while to print."""
    return Statistic(psi)


@lru_cache(maxsize=4096)
def _basis_form(function: Expr, sample: Sample) -> tuple[tuple[Expr, Expr], ...]:
    """Split one product of sample functions over basis functions."""
    rational, waves, others = [], [], []
    quotients, factors = circle_form(Mul.make_args(function), sample)
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if isinstance(base, (sin, cos)) and exponent.is_Integer and exponent > 0:
            waves += [base] * int(exponent)
        elif base.is_polynomial(sample) and exponent.is_Rational and not base.has(Filtered):
            rational.append(Pow(base, floor(exponent)))
            others.append(Pow(base, exponent - floor(exponent)))
        else:
            others.append(factor)
    total = {S.One: S.One}
    for pieces in (partial_fractions(Mul(*rational), sample), exponential_form(Mul(*others), sample),
                   _wave_pieces(quotients, waves)):
        step: dict[Expr, Expr] = {}
        for psi, c in total.items():
            for piece, a in pieces.items():
                step[psi * piece] = step.get(psi * piece, S.Zero) + c * a
        total = step
    return tuple((psi, c) for psi, c in total.items() if c != 0)


def _wave_pieces(quotients: list[dict[Expr, Expr]], waves: list[Expr]) -> dict[Expr, Expr]:
    """Multiply forms of quotients and waves: single waves with each other, as sums."""
    total = {(wave, S.One): c for wave, c in wave_form(waves).items()}
    for form in quotients:
        step: dict[tuple[Expr, Expr], Expr] = {}
        for (wave, pole), c in total.items():
            for psi, a in form.items():
                single = psi == 1 or isinstance(psi, (sin, cos))
                products = wave_form([w for w in (wave, psi) if w != 1]) if single else {wave: S.One}
                for new, b in products.items():
                    key = (new, pole if single else pole * psi)
                    step[key] = step.get(key, S.Zero) + c * a * b
        total = step
    out: dict[Expr, Expr] = {}
    for (wave, pole), c in total.items():
        out[wave * pole] = out.get(wave * pole, S.Zero) + c
    return out


def _one_basis(expr: Expr, sample: Sample, below: bool = False) -> Expr:
    """Hyperbolic functions to exponentials, even powers of 1/cos to tangents, phases and shifts of gamma split off.

    Only what enters algebraically is rewritten: log(cosh(x)) stays one function. Denominators keep their phases.
    """
    expr = with_tangents(expr, sample)
    if isinstance(expr, (Add, Mul, Pow)) and expr.has(sample):
        below = below or bool(expr.is_Pow and expr.exp.is_Integer and expr.exp.is_negative)
        return expr.func(*(_one_basis(arg, sample, below) for arg in expr.args))
    if not expr.has(sample):
        return expr
    if isinstance(expr, HyperbolicFunction):
        return expr.rewrite(exp)
    if isinstance(expr, (sin, cos)):
        return expr if below else split_phase(expr, sample)
    return shifted_gamma(expr)


def _expanded_size(expr: Expr) -> int:
    """Estimate the number of terms after expansion, without expanding."""
    if expr.is_Add:
        return sum(map(_expanded_size, expr.args))
    if expr.is_Mul:
        size = 1
        for arg in expr.args:
            size *= _expanded_size(arg)
            if size > TERM_LIMIT:
                break
        return size
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0 and expr.base != E:
        inner = _expanded_size(expr.base)
        return comb(inner + int(expr.exp) - 1, int(expr.exp)) if inner > 1 else 1
    return 1
