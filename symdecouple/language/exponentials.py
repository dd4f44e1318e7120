r"""Rational functions of exponentials in one form.

An exponent is a sum of terms k_i t_i with rational k_i, exp(u) a product of powers of the exp(t_i). A denominator is
divided by one of its terms. Where the exponents of the rest are multiples of one w,

.. math:: \frac{e^{u}}{\prod_l q_l(Y)} = e^{u_0}\, \frac{Y^m}{\prod_l q_l(Y)}, \qquad Y = e^{w}, \quad u = u_0 + m\,w

(u_0 one for each class of exponents modulo w) is split into partial fractions in Y; these are linearly independent.
So exp(x^2)/(exp(x) + exp(x^2)) is 1/(1 + exp(x - x^2)). Other denominators are divided by their leading term only:
one form for fractions that differ by an exponential in numerator and denominator.
"""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Integer, Mul, Rational, S, exp, fraction

from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import check
from symdecouple.language.gate import cancel, expand, together
from symdecouple.language.partial_fractions import partial_fractions
from symdecouple.language.sample import Sample
from symdecouple.language.waves import common_measure

__all__ = ["exponential_form"]

Exponent = dict[Expr, Rational]
Monomial = tuple[tuple[Expr, Rational], ...]


def exponential_form(kernel: Expr, sample: Sample) -> dict[Expr, Expr]:
    """Split what is rational in exponentials into powers and partial fractions, and keep the other factors.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> exponential_form(exp(x**2)/(exp(x) + exp(x**2)), x) == exponential_form(1/(1 + exp(x - x**2)), x)
    True
    """
    rational: list[Expr] = []
    others: list[Expr] = []
    for factor in Mul.make_args(kernel):
        (rational if _is_rational(factor, sample) else others).append(factor)
    if not any(factor.as_base_exp()[1].is_negative and factor.as_base_exp()[0].is_Add for factor in rational):
        return {kernel: S.One}
    try:
        found = _rational_form(rational, sample)
    except BudgetExceeded:
        check()  # too large is no matter, late is
        return {kernel: S.One}
    other = Mul(*others)
    return {psi * other: c for psi, c in found.items()}


def _is_rational(expr: Expr, sample: Sample) -> bool:
    """True iff the sample enters by exponentials, and these by sums, products and whole powers."""
    if isinstance(expr, exp) or not expr.has(sample):
        return True
    if isinstance(expr, (Add, Mul)):
        return all(_is_rational(arg, sample) for arg in expr.args)
    return bool(expr.is_Pow and expr.exp.is_Integer) and _is_rational(expr.base, sample)


def _rational_form(factors: list[Expr], sample: Sample) -> dict[Expr, Expr]:
    top, bottom = fraction(together(Mul(*factors)))
    numerator = _monomials(expand(top), sample)
    powers = [(f.base, f.exp) if f.is_Pow and f.exp.is_Integer else (f, S.One) for f in Mul.make_args(bottom)]
    below = [(_monomials(expand(base), sample), int(n)) for base, n in powers]
    leads, steps = [], []
    constant: Expr = S.One
    for monomials, n in below:
        ordered = sorted(monomials, key=_order)
        constant *= monomials[ordered[0]] ** -n
        leads.append((ordered[0], n))
        steps += [_difference(other, ordered[0]) for other in ordered[1:]]
    shift = _sum([(dict(lead), n) for lead, n in leads])
    step = _common_step(steps)
    lowered = [({_frozen(_difference(u, lead)): cancel(c / monomials[lead]) for u, c in monomials.items()}, n)
               for (monomials, n), (lead, _) in zip(below, leads, strict=True)]
    out: dict[Expr, Expr] = {}
    y = Dummy("y", positive=True)
    for u, own in numerator.items():
        c = own * constant
        moved = _difference(u, _frozen(shift))
        if step is None:
            denominator = Mul(*(Add(*(a * _written(dict(v)) for v, a in m.items())) ** -n for m, n in lowered))
            psi = _written(moved) * denominator
            out[psi] = out.get(psi, S.Zero) + c
            continue
        kept, m = _reduced(moved, step)
        quotient = y**m * Mul(*(Add(*(a * y ** _multiple(dict(v), step) for v, a in poly.items())) ** -n
                                for poly, n in lowered))
        for psi, a in partial_fractions(together(quotient), y).items():
            new = psi.xreplace({y: _written(step)}) * _written(kept)
            out[new] = out.get(new, S.Zero) + a * c
    return {psi: c for psi, c in out.items() if c != 0}


def _monomials(expr: Expr, sample: Sample) -> dict[Monomial, Expr]:
    """Return exponent to coefficient of a sum of exponentials."""
    out: dict[Monomial, Expr] = {}
    for term in Add.make_args(expr):
        constant, moving = term.as_independent(sample, as_Add=False)
        total: Exponent = {}
        for factor in Mul.make_args(moving) if moving != 1 else ():
            for part in Add.make_args(expand(factor.args[0])):
                if not part.has(sample):
                    constant *= exp(part)
                    continue
                k, t = part.as_coeff_Mul(rational=True)
                total[t] = total.get(t, S.Zero) + k
        key = _frozen(total)
        out[key] = out.get(key, S.Zero) + constant
    return {u: c for u, c in out.items() if c != 0}


def _frozen(exponent: Exponent) -> Monomial:
    return tuple(sorted(((t, k) for t, k in exponent.items() if k != 0), key=lambda item: item[0].sort_key()))


def _order(monomial: Monomial) -> tuple[object, ...]:
    return tuple((t.sort_key(), float(k)) for t, k in monomial)


def _difference(left: Monomial, right: Monomial) -> Exponent:
    return _sum([(dict(left), 1), (dict(right), -1)])


def _sum(parts: list[tuple[Exponent, int]]) -> Exponent:
    out: Exponent = {}
    for exponent, n in parts:
        for t, k in exponent.items():
            out[t] = out.get(t, S.Zero) + n * k
    return {t: k for t, k in out.items() if k != 0}


def _common_step(steps: list[Exponent]) -> Exponent | None:
    """Return w of which all steps are whole multiples, its first coefficient positive; None where there is none."""
    if not steps:  # denominators came out as single exponentials
        return None
    first = dict(_frozen(steps[0]))
    t0 = next(iter(first))
    ratios = [step.get(t0, S.Zero) / first[t0] for step in steps]
    if any(step != {t: k * r for t, k in first.items() if r != 0} for step, r in zip(steps, ratios, strict=True)):
        return None
    unit = common_measure(ratios) * (1 if first[t0] > 0 else -1)
    return {t: k * unit for t, k in first.items()}


def _multiple(exponent: Exponent, step: Exponent) -> Integer:
    t = next(iter(step))
    return exponent.get(t, S.Zero) / step[t]


def _reduced(exponent: Exponent, step: Exponent) -> tuple[Exponent, Integer]:
    """Return the exponent less m steps, so that its first coefficient is in [0, that of the step), and m."""
    t = next(iter(step))
    m = (exponent.get(t, S.Zero) / step[t]).floor()
    return _sum([(exponent, 1), (step, -int(m))]), m


def _written(exponent: Exponent) -> Expr:
    return exp(Add(*(k * t for t, k in exponent.items())))
