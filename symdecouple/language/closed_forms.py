r"""Integrals, inverses and simplifications that SymPy is asked for: those of classes which end within a second.

SymPy's integration and its equations may search for ever, and nothing about the size of the input tells. Asked are only

* sums of c (a x + b)^r, c x^n e^(a x^2 + b x), c x^r log(x)^n and c f(a x + b) with one of the functions below;
* rational functions of x, or of one exponential e^(k x), of low degree;
* E x^n (a + b x^2)^r for a standard normal x;
* equations in which the unknown occurs once, or polynomial ones up to degree 4, or short ones in exponentials and
  logarithms.

* zeros, singular points and limits of short functions, without the roots of polynomials that have no formula.

Measured over 15 functions in 15 shapes: at most 0.7 s for an integral of these, 0.6 s for an equation; outside,
integrals of rational functions of a sine and equations like x sin x = u did not end in 4 s.
"""

from __future__ import annotations

import sympy as sp
from sympy import Add, Expr, Mul, Symbol, exp, log, oo
from sympy.functions.elementary.hyperbolic import HyperbolicFunction, InverseHyperbolicFunction
from sympy.functions.elementary.trigonometric import InverseTrigonometricFunction, TrigonometricFunction

from symdecouple.language.budget import check, too_large
from symdecouple.language.gate import size_of

__all__ = ["antiderivative", "breaks", "gaussian_integral", "is_solvable", "limit", "simplify", "solutions", "trigsimp",
           "zeros"]

DEGREE = 8  # of a numerator; a denominator has half of it
EQUATION = 15  # operations of an equation in exponentials and logarithms
CURVE = 30  # operations of a function whose zeros, breaks or limits are asked for: at most 1.7 s each
SIMPLIFIED = 100  # operations, terms and degree: SymPy simplifies so many in 0.5 s, of one kind; of three it may hang
_KINDS = ((exp, HyperbolicFunction), (log,), (TrigonometricFunction,),
          (InverseTrigonometricFunction, InverseHyperbolicFunction))
SINGLE = (sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh, sp.atan, sp.asinh)


def antiderivative(expr: Expr, symbol: Symbol) -> Expr | None:
    """Return an integral of a function of one symbol; None outside the classes, or where SymPy finds none.

    Examples
    --------
    >>> x = Symbol("x", real=True)
    >>> antiderivative(1 + 1/x, x), antiderivative(1/(2 + sp.sin(x))**2, x)
    (x + log(x), None)
    """
    check()
    if not (all(_is_simple(term, symbol) for term in Add.make_args(sp.expand(expr))) or _is_rational(expr, symbol)):
        return None
    found = sp.integrate(expr, symbol)
    return None if found.has(sp.Integral) else found


def gaussian_integral(psi: Expr, symbol: Symbol) -> Expr | None:
    """Return E psi(Z) for c x^n (a + b x^2)^r; None for other functions, or where SymPy finds no finite number."""
    check()
    power, raised = 0, 0
    for factor in Mul.make_args(psi):
        base, exponent = factor.as_base_exp()
        if not factor.has(symbol):
            continue
        if base == symbol and exponent.is_Integer and exponent > 0:
            power += int(exponent)
        elif base.is_polynomial(symbol) and exponent.is_Rational and abs(exponent) <= 3:
            raised += 1
            coefficients = sp.Poly(base, symbol).all_coeffs()
            if len(coefficients) != 3 or coefficients[1] != 0 or not all(c.is_Rational for c in coefficients):
                return None
        else:
            return None
    if power > DEGREE or raised > 1:
        return None
    density = exp(-(symbol**2) / 2) / sp.sqrt(2 * sp.pi)
    value = sp.integrate(psi * density, (symbol, -oo, oo))
    return value if value.is_number and value.is_finite and value.is_real and not value.has(sp.Integral) else None


def solutions(equation: Expr, symbol: Symbol) -> list[Expr]:
    """Return what SymPy finds for equation = 0; nothing outside the classes.

    Examples
    --------
    >>> x, u = Symbol("x", real=True), Symbol("u", real=True)
    >>> solutions(x * sp.exp(x) - u, x), solutions(x * sp.sin(x) - u, x)
    ([LambertW(u)], [])
    """
    check()
    if not equation.has(symbol) or not is_solvable(equation, symbol):
        return []
    return list(sp.solve(equation, symbol))


def is_solvable(equation: Expr, symbol: Symbol) -> bool:
    """True for the equations that SymPy is asked to solve."""
    places = sum(node == symbol for node in sp.preorder_traversal(equation))
    if places == 1:
        return True
    if equation.is_polynomial(symbol):
        return bool(sp.degree(equation, symbol) <= 4 and equation.count_ops() <= 4 * EQUATION)
    functions = {node for node in equation.atoms(sp.Function, exp) if node.has(symbol)}
    if {node.func for node in functions} <= {exp, log}:
        return bool(equation.count_ops() <= EQUATION)
    waves = equation.xreplace({node: sp.Dummy() for node in functions})  # of one angle, linear, alone
    return bool({node.func for node in functions} <= {sp.sin, sp.cos} and len({node.args[0] for node in functions}) == 1
                and not waves.has(symbol) and equation.count_ops() <= 2 * EQUATION)


def zeros(expr: Expr, symbol: Symbol, interval: sp.Set) -> sp.Set:
    """Return the zeros of a function in an interval, as a set; a `ConditionSet` where they are not found.

    Raises
    ------
    BudgetExceeded
        Where it is too long to be asked for.

    Examples
    --------
    >>> x = Symbol("x", real=True)
    >>> zeros(x**2 - 2 * x, x, sp.Interval.open(0, oo))
    {2}
    """
    _admit(expr)
    return sp.solveset(expr, symbol, interval)


def breaks(expr: Expr, symbol: Symbol, interval: sp.Set) -> sp.Set:
    """Return the points of an interval at which a function is singular or ceases to be defined.

    Raises
    ------
    BudgetExceeded
        Where it is too long to be asked for.
    """
    _admit(expr)
    singular = sp.calculus.singularities(expr, symbol, interval)
    check()
    return singular + sp.calculus.util.continuous_domain(expr, symbol, interval).boundary


def limit(expr: Expr, symbol: Symbol, point: Expr, side: str) -> Expr:
    """Return a one-sided limit.

    Raises
    ------
    BudgetExceeded
        Where the function is too long to be asked for.
    """
    _admit(expr)
    return sp.limit(expr, symbol, point, side)


def _admit(expr: Expr) -> None:
    """Raise BudgetExceeded for what takes SymPy more than a second or two, and where the time is over."""
    check()
    if (count := expr.count_ops()) > CURVE:
        raise too_large("the number of operations of a function whose zeros or limits are asked for", count, CURVE)
    if expr.has(sp.RootSum, sp.RootOf):
        raise too_large("the degree of a polynomial that is not solved in roots", 5, 4)


def simplify(expr: Expr) -> Expr:
    """Return SymPy's simplification; the expression as it is where it is long for its kinds of functions."""
    check()
    size, kinds = size_of(expr), sum(bool(expr.atoms(*kind)) for kind in _KINDS)
    is_short = max(expr.count_ops(), size.terms, size.degree) <= SIMPLIFIED // max(1, kinds**2)
    return sp.simplify(expr) if is_short else expr


def trigsimp(expr: Expr) -> Expr:
    """Return SymPy's simplification of waves; the expression as it is where it is long."""
    check()
    return sp.trigsimp(expr) if expr.count_ops() <= SIMPLIFIED else expr


def _is_simple(term: Expr, symbol: Symbol) -> bool:
    """True for the terms that have an elementary integral or a well-known one."""
    kinds: list[str] = []
    powers = 0
    for factor in Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if not factor.has(symbol):
            continue
        if base == symbol and exponent.is_Rational and abs(exponent) <= DEGREE:
            powers += 0 if exponent.is_Integer and exponent > 0 else 1
            kinds += [] if exponent.is_Integer and exponent > 0 else ["power"]
        elif isinstance(factor, exp) and _degree(factor.args[0], symbol) in (1, 2):
            kinds.append("exp")
        elif base == log(symbol) and exponent.is_Integer and abs(exponent) <= 4:
            kinds.append("log")
        elif _degree(base, symbol) == 1 and exponent.is_Rational and abs(exponent) <= DEGREE:
            kinds.append("linear")
        elif isinstance(base, SINGLE) and exponent == 1 and _degree(base.args[0], symbol) == 1:
            kinds.append("function")
        else:
            return False
    plain = not any(f.as_base_exp()[0] == symbol for f in Mul.make_args(term))
    if kinds in ([], ["power"], ["exp"]) or (kinds and set(kinds) <= {"log", "power"} and len(kinds) <= 2):
        return True
    return plain and kinds in (["linear"], ["function"])


def _is_rational(expr: Expr, symbol: Symbol) -> bool:
    """True for a rational function of the symbol, or of one exponential of it, with rational coefficients."""
    y = sp.Dummy("y", positive=True)
    rates = {e.args[0] / symbol for e in expr.atoms(exp) if e.has(symbol)}
    if rates:
        if len(rates) > 2 or not all(r.is_Integer and abs(r) <= 3 for r in rates):
            return False
        expr = expr.replace(lambda e: isinstance(e, exp) and e.has(symbol), lambda e: y ** (e.args[0] / symbol))
        if expr.has(symbol):
            return False
        symbol = y
    if size_of(expr).terms > 50:
        return False
    top, bottom = sp.fraction(sp.together(expr))
    if not all(part.is_polynomial(symbol) and not part.free_symbols - {symbol} for part in (top, bottom)):
        return False
    coefficients = [c for part in (top, bottom) for c in sp.Poly(part, symbol).coeffs()]
    return (all(c.is_Rational for c in coefficients) and sp.degree(top, symbol) <= DEGREE
            and sp.degree(bottom, symbol) <= DEGREE // 2)


def _degree(expr: Expr, symbol: Symbol) -> int:
    return int(sp.degree(expr, symbol)) if expr.is_polynomial(symbol) and expr.has(symbol) else 0
