"""Parameter values at which a generic answer may fail.

A set with parameters is decided for generic values. Three things can change the answer at special ones: what keeps a
bracket out of the span vanishes; a denominator or a pivot vanishes; two basis functions coincide (exp(a x) and exp(b x)
at a = b). Each gives polynomial conditions on the parameters; their solutions are candidates, which the caller decides
again one by one. Candidates are looked for among these, not proved to be all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import combinations
from typing import Any

from sympy import Add, E, Expr, Mul, Poly, S, Symbol, expand, gcd, roots, solve
from sympy.polys.polyerrors import PolynomialError

from symdecouple.calculus.convolution_frame import frames
from symdecouple.calculus.frame import Frame, combination, difference, recent_frame
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.subject import Subject
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.filtered import DcGain
from symdecouple.verdict import Status, Verdict

__all__ = ["candidates", "exceptions"]

LIMIT = 12


def exceptions(subject: Subject, generic: tuple[Status, Status | None], certificate: Any,
               decide: Callable[[Mapping[Symbol, Expr], float], Verdict],
               budget: Budget) -> tuple[Mapping[Symbol, Expr], ...]:
    """Return the candidates at which the answer differs from the generic one (its status, and that of its C1).

    `decide` takes the values and the seconds left. A set that is no feature set at a candidate (a feature becomes
    constant, two features coincide) counts as different, UNDECIDED does not.
    """
    if not (subject.symbols or subject.filters) or generic[0] is Status.UNDECIDED:
        return ()
    found = []
    if generic[1] is None:
        budget = Budget(budget.remaining / 3)  # C1 is asked first, and C2 with what is left
    try:
        with budget.running("looking for exceptional parameters"):
            for values in candidates(subject, certificate, budget):
                budget.check("looking for exceptional parameters")
                try:
                    special = decide(values, budget.remaining)
                except InvalidInput:
                    found.append(values)
                    continue
                inner = special.independence.status if special.independence is not None else None
                if any(a is not b and b is not Status.UNDECIDED
                       for a, b in zip(generic, (special.status, inner), strict=True)):
                    found.append(values)
    except (BudgetExceeded, UnsupportedExpression):
        pass
    return tuple(found)


def candidates(subject: Subject, certificate: Any, budget: Budget) -> tuple[Mapping[Symbol, Expr], ...]:
    """Return parameter values to decide again, at most a dozen."""
    if subject.kind != "mean":
        return ()
    try:
        known: Any = (frames(subject, None, budget) if subject.is_filtered
                      else iter([recent_frame(subject.items, budget)]))
        frame = next(known, None)
        if frame is None:
            return ()
        if isinstance(frame, Frame) or not frame.words.composites:
            frame = [frame, *known][-1]  # filters as sums of shifts, unless functions of such sums make it long
    except UnsupportedExpression:
        return ()
    conditions: list[Expr] = list(_pivot_conditions(frame, subject.symbols))
    conditions += (_coincidences(frame, subject.symbols) if isinstance(frame, Frame) else
                   _differences({S.Zero, *frame.words.composites.exponents}, subject.symbols))
    found: list[Mapping[Any, Expr]] = list(_gains(frame, certificate))
    found += [values for c in conditions for values in _solutions([c], subject.symbols)]
    if (pair := getattr(certificate, "pair", None)) is not None:
        found = [*_solutions(_residual(frame, pair, subject.symbols), subject.symbols), *found]
    distinct: list[Mapping[Symbol, Expr]] = []
    for values in found:
        if values and values not in distinct and all(v.is_real is not False for v in values.values()):
            distinct.append(values)
    return tuple(distinct[:LIMIT])


def _gains(frame: Any, certificate: Any) -> Iterable[Mapping[Any, Expr]]:
    """Return the gains at frequency 0 of named filters that an answer may depend on, each 0, and all of them 0.

    What keeps a bracket outside may be a gain. A bracket inside stays inside unless the fields themselves change.
    """
    coefficients = frame.coefficients
    exprs = list(coefficients.functions.values()) if getattr(certificate, "pair", None) is not None else [
        coefficients.decode(c) for form, p in zip(frame.forms, frame.factors, strict=True) for c in (*form.values(), p)]
    gains = sorted(set().union(*(e.atoms(DcGain) for e in exprs)), key=str)
    yield from ({gain: S.Zero} for gain in gains)
    if len(gains) > 1:
        yield dict.fromkeys(gains, S.Zero)


def _residual(frame: Frame, pair: tuple[int, int], symbols: tuple[Symbol, ...]) -> list[Expr]:
    """Return conditions on the parameters under which the bracket falls into the span: all of them together."""
    member = Membership(frame, frame.budget, random.Random(1))
    target = member.bracket(pair[0] - 1, pair[1] - 1)
    forms = [frame.forms[k] for k in member.pivots]
    basis = frame.basis([*forms, target])
    weights = member.partial_weights(target)
    if weights is None:
        return []
    rest = difference(target, combination(forms, weights))
    return [e for psi in basis if psi in rest
            for e in _in_parameters(frame.coefficients.decode(rest[psi]).as_numer_denom()[0], symbols)]


def _pivot_conditions(frame: Frame, symbols: tuple[Symbol, ...]) -> Iterable[Expr]:
    """Return, for each field, the content in the parameters that makes a coefficient vanish or blow up."""
    for form, factor in zip(frame.forms, frame.factors, strict=True):
        for element in [*form.values(), factor]:
            for part in frame.coefficients.decode(element).as_numer_denom():
                common = reduce(gcd, _in_parameters(part, symbols), S.Zero)
                if common != 0 and common.has(*symbols):
                    yield common


def _coincidences(frame: Frame, symbols: tuple[Symbol, ...]) -> list[Expr]:
    """Return the differences of exponents of basis functions that parameters could make equal."""
    exponents: set[Expr] = {S.Zero}
    brackets = [frame.bracket(i, j) for i, j in combinations(range(min(frame.size, 6)), 2)]
    for psi in frame.basis([*frame.forms, *brackets]):
        factors = [factor.as_base_exp() for factor in Mul.make_args(psi)]
        exponents.add(expand(Add(*(power for base, power in factors if base == E)) / frame.sample))
        exponents.add(Add(*(power for base, power in factors if base == frame.sample)))
    return [d for d in _differences(exponents, symbols) if not d.has(frame.sample)]


def _differences(exponents: Iterable[Expr], symbols: tuple[Symbol, ...]) -> list[Expr]:
    return [d for a, b in combinations(sorted(exponents, key=str), 2) if (d := a - b).has(*symbols)]


def _in_parameters(expr: Expr, symbols: tuple[Symbol, ...]) -> list[Expr]:
    """Return the coefficients, polynomials in the parameters, of an expression in everything else."""
    others = sorted(expr.free_symbols - set(symbols), key=str)
    if not others:
        return [expr]
    try:
        return list(Poly(expr, *others).coeffs())
    except PolynomialError:
        return []


def _solutions(conditions: list[Expr], symbols: tuple[Symbol, ...]) -> list[Mapping[Symbol, Expr]]:
    if not conditions:
        return []
    if len(symbols) == 1:
        common = reduce(gcd, conditions, S.Zero)
        if not common.has(symbols[0]):
            return []
        try:
            return [{symbols[0]: root} for root in sorted(roots(common, symbols[0]), key=str)]
        except PolynomialError:
            return []
    try:
        found = solve(conditions, symbols, dict=True)
    except (NotImplementedError, PolynomialError):
        return []
    return [dict(solution) for solution in found]
