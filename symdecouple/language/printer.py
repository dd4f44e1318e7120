"""The inverse of the parser: expressions, features and domains as text, and the vocabulary that both share.

.. math:: \\mathrm{parse\\_expression}(\\mathrm{to\\_text}(e)) = e

for every expression of the grammar (see `symdecouple.language.text`), read with the sample of the expression.
Products that SymPy holds unevaluated, ``2*(x + 1)`` from ``factor``, read back evaluated, ``2*x + 2``. Floats are
written as the decimals they print as, exactly. What the grammar does not have (`Piecewise`, symbols with
assumptions, complex numbers, functions of several arguments) is refused: a text never means something else.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from difflib import get_close_matches
from typing import Any

import sympy
from sympy import Add, Basic, Derivative, Expr, Integer, Mul, Pow, Rational, S, Subs, Symbol, oo
from sympy.core.function import AppliedUndef, UndefinedFunction

from symdecouple.errors import UnsupportedExpression
from symdecouple.language.feature import Feature
from symdecouple.language.filter_notation import boundary_word, tap_text
from symdecouple.language.filtered import DcGain, Filtered, Response, Unit
from symdecouple.language.filters import Filter
from symdecouple.language.limits import MAX_DIGITS, number_complaint
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import BoundSample, Coordinate, Sample

__all__ = [
    "ALIASES", "CLASSES", "COORDINATE", "FORMS", "domain_to_text", "function_problem", "name_problem",
    "parameter_problem", "to_text",
]

CLASSES: dict[str, Any] = {name: getattr(sympy, name) for name in (
    "exp log sin cos tan cot sec csc sinh cosh tanh coth sech csch asin acos atan acot asinh acosh atanh acoth "
    "atan2 erf erfc gamma loggamma polygamma Abs sign Max Min Heaviside DiracDelta"
).split()}
"""Functions that are SymPy's own, by their name in the grammar; the last six have kinks."""

FORMS = frozenset(
    "sqrt mean variance std skewness kurtosis central diff shift taps filter adjoint dc".split()
)
"""Names with a meaning of their own in a call."""

ALIASES = {"ln": "log", "abs": "Abs", "max": "Max", "min": "Min", "Mean": "mean", "var": "variance",
           "central_moment": "central"}

COORDINATE = re.compile(r"x[0-9]+")
_FILTERS = {"shift", "taps", "filter", "adjoint"}
_NAME_OF = {cls: name for name, cls in CLASSES.items()}
_CALLED = {*CLASSES, *FORMS, *ALIASES}
_MEANT = {"skew": "skewness(x)", "kurt": "kurtosis(x)", "avg": "mean(x)", "average": "mean(x)",
          "moment": "central(3, x)", "autocorrelation": "mean(x*shift(1)(x)) for the lag 1",
          "orthokurtosis": "mean(x^4), which is decoupled into it"}
_RESERVED = {"pi": "the constant", "E": "the constant exp(1)", "I": "the imaginary unit, and features are real",
             **dict.fromkeys(("oo", "zoo", "nan", "inf"), "no finite number; infinite ends stand only in domains")}
_GREEK_TOO = {"gamma"}
_LOOKALIKES = frozenset("асԁеһіјорԛѕԝхуАВЕКМНОРСТХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")  # Cyrillic and Greek twins of Latin letters
_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def to_text(value: Any, *, sample: Sample | None = None) -> str:
    """Write an expression or a feature as text that `parse_expression` reads back as the same object.

    Parameters
    ----------
    value : Expr or Feature
        At most one free sample, and one domain.
    sample : Sample, optional
        The sample whose name the averages are written with; default the free sample, else ``x``.

    Returns
    -------
    str

    Raises
    ------
    UnsupportedExpression
        If it contains anything that the grammar does not have.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> to_text(Mean((x - Mean(x))**2) / sympy.sqrt(Mean(x**2)))
    'mean((x - mean(x))**2)/sqrt(mean(x**2))'
    >>> to_text(Filter("h")(x))
    'filter(h)(x)'
    """
    expr = exact(value.expr if isinstance(value, Feature) else value, "to_text")
    return _Printer(_sample_name(expr, sample)).text(expr)


def domain_to_text(sample: Sample) -> str:
    """Write the name and domain of a sample as text that `parse_domain` reads back.

    Examples
    --------
    >>> domain_to_text(Sample("x", (0, 1))), domain_to_text(Sample("t", positive=True))
    ('x=(0, 1)', 't=positive')
    """
    if not isinstance(sample, Sample) or sample != Sample(sample.name, sample.interval):
        raise UnsupportedExpression(f"only a sample with an interval has a domain in text, got {sample!r}")
    words = {(-oo, oo): "real", (S.Zero, oo): "positive", (-oo, S.Zero): "negative"}
    low, high = sample.interval
    return f"{sample.name}={words.get(sample.interval, f'({low}, {high})')}"


def name_problem(name: str) -> str:
    """Say why this cannot be the name of a parameter, filter or function; empty where it can."""
    if not name.isidentifier() or len(name) > 32:
        return f"a name has letters, digits and underscores, at most 32, not {name[:40]!r}; powers are written x^2"
    if keyword.iskeyword(name):
        return f"{name} is a word of the Python language; choose another name"
    if name.startswith("_") or "__" in name:
        return "a name does not start with an underscore and has no two underscores in a row"
    if (plain := unicodedata.normalize("NFKC", name)) != name:
        return f"the name is a disguised form of {plain}; write that"
    if twins := _LOOKALIKES & set(name):
        return f"the letter {min(twins)} ({unicodedata.name(min(twins))}) looks like a Latin one; write that"
    return ""


def function_problem(name: str, sample_name: str = "x") -> str:
    """Say why this cannot be the name of an undefined function; empty where it can."""
    if name in _FILTERS:
        return f"{name}(...) is a filter: apply it, {name}(...)({sample_name})"
    if name in (sample_name, "x"):
        return f"{name} is the sample, not a function; products are written with *"
    if name in _CALLED or name in _RESERVED or COORDINATE.fullmatch(name):
        return f"{name} has a meaning of its own"
    if meant := _MEANT.get(name.lower()):
        return f"there is no function {name}: write {meant} (undefined functions need another name)"
    near = {known.lower(): known for known in sorted(_CALLED)}
    if found := get_close_matches(name.lower(), near, 1, 0.8):
        return f"there is no function {name}; did you mean {near[found[0]]}? (undefined functions need another name)"
    if hasattr(builtins, name):
        return f"{name} is a function of Python, which is not called here; undefined functions need another name"
    return name_problem(name)


def parameter_problem(name: str, sample_name: str) -> str:
    """Say why this cannot be the name of a parameter next to this sample; empty where it can."""
    if name in _CALLED - _GREEK_TOO:
        return f"{name} is a function: write {name}(...)"
    if name in _RESERVED:
        return f"{name} is {_RESERVED[name]}"
    if name in (sample_name, "x") or COORDINATE.fullmatch(name):
        return f"{name} is reserved for the sample and its coordinates; the sample is called {sample_name}"
    return name_problem(name)


def _sample_name(expr: Expr, sample: Sample | None) -> str:
    generic = {*expr.atoms(Sample, BoundSample), *([sample] if sample is not None else [])}
    domains = {Sample("x", s.interval, **s._assumptions_orig) for s in generic}
    names = {s.name for s in generic if isinstance(s, Sample)}
    if len(domains) > 1 or len(names) > 1:
        raise UnsupportedExpression(f"{expr} has several samples or domains; text has one, "
                                    f"found {', '.join(sorted(f'{s} in {s.interval}' for s in generic))}")
    return min(names, default="x")


class _Printer:
    """Text and binding strength of each kind of node; ``name`` is what the sample is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def text(self, expr: Basic) -> str:
        return self._parts(expr)[0]

    def _at(self, expr: Basic, strength: int) -> str:
        text, found = self._parts(expr)
        return text if found >= strength else f"({text})"

    def _parts(self, expr: Basic) -> tuple[str, int]:
        if isinstance(expr, Rational):
            return self._number(expr)
        if isinstance(expr, Symbol):
            return self._symbol(expr), _ATOM
        if isinstance(expr, Add):
            return self._sum(expr), _SUM
        if isinstance(expr, Mul):
            return self._product(expr), _PRODUCT
        if isinstance(expr, Pow) and expr.base is not S.Exp1:
            return (self._product(expr), _PRODUCT) if _is_inverse(expr) else self._power(expr.base, expr.exp)
        return self._call(expr), _ATOM

    def _number(self, number: Rational) -> tuple[str, int]:
        if number_complaint(number):
            raise UnsupportedExpression(f"a number of more than {MAX_DIGITS} digits cannot be written as text")
        return str(number), _ATOM if isinstance(number, Integer) and number >= 0 else _PRODUCT

    def _symbol(self, symbol: Symbol) -> str:
        if isinstance(symbol, (Sample, BoundSample)):
            return self.name
        if isinstance(symbol, Coordinate):
            return str(symbol.name)
        problem = parameter_problem(symbol.name, self.name)
        if symbol != Symbol(symbol.name):
            problem = "it has assumptions or is a dummy, which text does not carry; use Symbol(name) alone"
        if problem:
            raise UnsupportedExpression(f"the symbol {symbol} cannot be written as text: {problem}")
        return str(symbol.name)

    def _sum(self, expr: Add) -> str:
        first, *rest = (self._at(term, _PRODUCT) for term in expr.as_ordered_terms())
        return first + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in rest)

    def _product(self, expr: Expr) -> str:
        coefficient, rest = expr.as_coeff_Mul()
        factors = rest.as_ordered_factors()
        above = [self._at(f, _POWER) for f in factors if not _is_inverse(f)]
        below = [self._inverse(f) for f in factors if _is_inverse(f)]
        size = abs(coefficient)
        above = [self._number(Integer(size.p))[0]] * (size.p != 1 or not above) + above
        below = [self._number(Integer(size.q))[0]] * (size.q != 1) + below
        bottom = "*".join(below) if len(below) < 2 else f"({'*'.join(below)})"
        return "-" * bool(coefficient < 0) + "*".join(above) + "/" * bool(below) + bottom

    def _inverse(self, factor: Pow) -> str:
        if factor.exp == -1:
            return self._at(factor.base, _POWER)
        return self._power(factor.base, -factor.exp)[0]

    def _power(self, base: Expr, exponent: Expr) -> tuple[str, int]:
        if exponent == S.Half:
            return f"sqrt({self.text(base)})", _ATOM
        return f"{self._at(base, _ATOM)}**{self._at(exponent, _ATOM)}", _POWER

    def _call(self, expr: Basic) -> str:
        if expr is S.Pi or expr is S.Exp1:
            return "pi" if expr is S.Pi else "exp(1)"
        if isinstance(expr, Pow):
            return f"exp({self.text(expr.exp)})"
        if isinstance(expr, Mean):
            return f"mean({self.text(expr.body)})"
        if isinstance(expr, Filtered):
            return f"{self._filter(expr.filter)}({self.text(expr.argument)})"
        if isinstance(expr, Unit):
            return "1"
        if isinstance(expr, DcGain):
            return f"dc({self._filter_name(expr.args[0])})"
        if isinstance(expr, AppliedUndef):
            return f"{self._undefined(expr)}({self.text(expr.args[0])})"
        if isinstance(expr, (Derivative, Subs)):
            return self._derivative(expr)
        return self._function(expr)

    def _function(self, expr: Basic) -> str:
        name = _NAME_OF.get(type(expr))
        if name is None:
            raise UnsupportedExpression(f"{type(expr).__name__} cannot be written as text: {expr}; the functions are "
                                        f"{', '.join(sorted({*CLASSES, *FORMS}))}")
        args = expr.args[:1] if name == "Heaviside" else expr.args
        return f"{name}({', '.join(map(self.text, args))})"

    def _derivative(self, expr: Derivative | Subs) -> str:
        inner = expr.expr if isinstance(expr, Subs) else expr
        function = inner.expr if isinstance(inner, Derivative) else None
        if not isinstance(function, AppliedUndef) or inner.variables != function.args * len(inner.variables):
            raise UnsupportedExpression(f"{expr} cannot be written as text: only derivatives of undefined functions "
                                        "of one argument can")
        order = f", {len(inner.variables)}" if len(inner.variables) > 1 else ""
        point = expr.point[0] if isinstance(expr, Subs) else function.args[0]
        if isinstance(expr, Derivative) and point.is_Symbol:
            return f"diff({self.text(function)}, {self.text(point)}{order})"
        return f"diff({self._undefined(function)}{order})({self.text(point)})"

    def _undefined(self, expr: AppliedUndef) -> str:
        function: UndefinedFunction = expr.func
        problem = function_problem(function.__name__, self.name)
        if len(expr.args) != 1:
            problem = "undefined functions take one argument"
        if function != sympy.Function(function.__name__):
            problem = "it has assumptions, which text does not carry"
        if problem:
            raise UnsupportedExpression(f"{expr} cannot be written as text: {problem}")
        return str(function.__name__)

    def _filter(self, h: Filter) -> str:
        if h.is_symbolic:
            return f"{'adjoint' if h.transposed else 'filter'}({self._filter_name(h)})"
        return tap_text(h, self.text)

    def _filter_name(self, h: Filter) -> str:
        symbol = h.args[0]
        if symbol != Symbol(symbol.name) or name_problem(symbol.name):
            why = "its symbol has assumptions" if type(symbol) is not Response else "a frequency response tells it"
            raise UnsupportedExpression(f"the filter {symbol} cannot be written as text: "
                                        f"{name_problem(symbol.name) or why}")
        how = [str(h.ndim)] * (h.ndim > 1) + [boundary_word(h)] * (h.boundary != "circular") + ["zero_dc"] * h.zero_dc
        return ", ".join([str(symbol.name), *how])


def _is_inverse(factor: Expr) -> bool:
    return isinstance(factor, Pow) and isinstance(factor.exp, Rational) and bool(factor.exp < 0)
