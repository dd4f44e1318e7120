"""Text is the inverse of parsing, for random expressions of the whole grammar and for what the package builds."""

from typing import Any

import pytest
import sympy
from hypothesis import assume, given, reject, settings, strategies as st
from sympy import Derivative, Expr, Float, Function, Piecewise, Rational, Symbol, exp, log, pi, sqrt

from symdecouple.errors import InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.language import statistics
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import Sample, coordinates, sample, x
from symdecouple.language.text import domain_to_text, parse, parse_expression, to_text

a, b, m, g = Symbol("a"), Symbol("b"), Function("m"), Function("g")
h = Filter("h")
s = sqrt(statistics.variance())

WRITTEN = {
    "1 - x": 1 - x, "-x/3": -x / 3, "2/3": Rational(2, 3), "-1/3": Rational(-1, 3), "(2/3)**a": Rational(2, 3) ** a,
    "sqrt(x)": x ** Rational(1, 2), "1/sqrt(x)": x ** Rational(-1, 2), "1/(x + 1)**(3/2)": (x + 1) ** Rational(-3, 2),
    "x**(-a)": x**-a, "a**(b**x)": a ** (b**x), "(a**b)**x": (a**b) ** x, "exp(-x/2)": exp(-x / 2),
    "exp(1)*pi": sympy.E * pi, "2*(x + 1)*exp(x)": 2 * ((x + 1) * exp(x)), "x*a/(3*(x + 1))": a * x / 3 / (x + 1),
    "x/10": Float("0.1") * x, "mean((x - mean(x))**2)": Mean((x - Mean(x)) ** 2),
    "mean(x*mean(x*mean(x)))": Mean(x * Mean(x * Mean(x))), "mean(x*shift(1)(x))": Mean(x * shift(1)(x)),
    "taps((1, a), 0)(x)": Filter([1, a], origin=0)(x), "taps((a,), -2)(x)": Filter([a], origin=-2)(x),
    "filter(h)(x)": h(x), "adjoint(h)(filter(h)(x)**2)": h.adjoint(h(x) ** 2), "dc(h)": h.dc,
    "diff(m(x), x)": Derivative(m(x), x), "mean(diff(m(x), x, 2))": Mean(m(x).diff(x, 2)),
    "2*diff(m)(2*x)": m(2 * x).diff(x), "mean(4*diff(m, 2)(2*x))": Mean(m(2 * x).diff(x, 2)),
    "diff(m(a), a)": m(a).diff(a), "diff(g(x), x)*diff(m)(g(x))": m(g(x)).diff(x),
    "2*exp(-x**2)/sqrt(pi)": sympy.erf(x).diff(x), "mean(x*atan2(x, filter(h)(x)))": Mean(x * sympy.atan2(x, h(x))),
    "a/(x**2 + a**2)": sympy.atan2(x, a).diff(x), "atan2(x, -1) + erfc(x)": sympy.erfc(x) + sympy.atan2(x, -1),
    "Heaviside(x)": sympy.Max(x, 0).diff(x), "gamma*gamma(x)*polygamma(0, x)": Symbol("gamma") * sympy.gamma(x).diff(x),
    "α": Symbol("α"),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written_reads_back(text: str) -> None:
    assert to_text(WRITTEN[text]) == text
    assert parse_expression(text) == exact(WRITTEN[text], "the test")


@pytest.mark.parametrize("expr", [
    statistics.skewness(), statistics.kurtosis(log(x)), Mean(log(sympy.cosh((x - Mean(x)) / s))),
    Mean(m((x - Mean(x)) / s)), Mean(m((x - Mean(x)) / s).diff(x)), sympy.diff(x**a * exp(b * x) / (1 + x**2), x),
    sympy.tan(x).diff(x, 3), sympy.loggamma(x).diff(x, 2), sympy.asin(x).diff(x, 2),
    Mean(x**3) / Mean(x**2) ** Rational(3, 2), Mean(h(x) ** 3 * x), sympy.cancel((x**3 - a) / (x - b)),
    sympy.apart(1 / (x**2 - 1), x), sympy.together(1 / x + a / (x - 1)),
], ids=str)
def test_what_the_package_builds_reads_back(expr: Expr) -> None:
    assert parse_expression(to_text(expr)) == expr


def _power(base: Expr, exponent: Expr) -> Expr:
    return base**exponent


_leaves = st.one_of(
    st.sampled_from([x, x, a, b, pi, sympy.E, Symbol("α_1"), h.dc]),
    st.fractions(-9, 9, max_denominator=7).map(lambda q: Rational(q.numerator, q.denominator)),
)
_functions = st.sampled_from([
    exp, log, sqrt, sympy.sin, sympy.tan, sympy.cosh, sympy.tanh, sympy.atan, sympy.asinh, sympy.erf, sympy.erfc,
    sympy.gamma, m, g, Mean, Mean, statistics.variance, h, h.adjoint, shift(2), Filter([1, a, Rational(-1, 2)]),
    sympy.sign, sympy.Abs, lambda e: sympy.Max(e, x), lambda e: sympy.atan2(e, x), lambda e: sympy.atan2(a, e),
    lambda e: m(e).diff(x), lambda e: 1 / e,
])


def _grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    exponents = st.one_of(inner, st.sampled_from([-2, -1, 2, 3, Rational(1, 2), Rational(-2, 3)]).map(sympy.sympify))
    return st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]), st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
        st.tuples(inner, inner, inner).map(lambda p: p[0] * p[1] * p[2]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, exponents).map(lambda p: _safe(_power, *p)),
        st.tuples(_functions, inner).map(lambda p: _safe(*p)),
    )


def _safe(function: Any, *args: Expr) -> Expr:
    """The value, or the last argument where a number would grow or no derivative exists."""
    try:
        if all(arg.is_number for arg in args) and not all(abs(arg) < 9 for arg in args):
            return args[-1]
        return function(*args)
    except (SymdecoupleError, TypeError, ValueError):
        return args[-1]


expressions = st.recursive(_leaves, _grown, max_leaves=8)


def _rebuilt(node: Any) -> Any:
    """The expression as SymPy evaluates it; a few of its operations return products that are not."""
    return node.func(*map(_rebuilt, node.args)) if node.args and not isinstance(node, sympy.Subs) else node


REFUSED = ("not real", "no finite value", "larger than", "above", "digits", "cannot be written",
           "no function of the grammar")


@settings(max_examples=120, deadline=None)
@given(expressions)
def test_parsing_inverts_printing(expr: Expr) -> None:
    assume(_rebuilt(expr) == expr)
    try:
        text = to_text(expr)
        read = parse_expression(text)
    except SymdecoupleError as refused:
        assert any(reason in str(refused) for reason in REFUSED)
        reject()
    assert read == expr
    assert to_text(read) == text


@settings(max_examples=100, deadline=None)
@given(st.text("xa1290.e+-*/^(), mexpngsldiff_", max_size=30))
def test_any_text_is_refused_or_read_and_written_stably(text: str) -> None:
    try:
        expr = parse_expression(text)
    except InvalidInput:
        return
    assert parse_expression(to_text(expr)) == expr


def test_features_and_coordinates_are_written() -> None:
    feature = Feature(Mean(x**2) - Mean(x) ** 2)
    assert to_text(feature) == "-mean(x)**2 + mean(x**2)"
    assert parse(to_text(feature)) == feature
    spread = feature.at(n_samples=3)
    assert parse(to_text(spread), n_samples=3) == spread
    x1, x2 = coordinates(2)
    assert to_text(x1 * x2) == "x1*x2"


def test_the_sample_is_written_with_its_own_name() -> None:
    t = sample("t", interval=(0, 1))
    expr = t - Mean(log(t))
    assert to_text(expr) == "t - mean(log(t))"
    assert parse_expression(to_text(expr), sample=t) == expr
    assert to_text(Mean(t), sample=t) == "mean(t)"
    assert to_text(Mean(t)) == "mean(x)"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Piecewise((x, x > 0), (0, True)), "Piecewise cannot be written"),
        (Symbol("p", positive=True) * x, "assumptions"), (sympy.Dummy("d"), "dummy"),
        (Symbol("a b"), "letters, digits and underscores"), (Symbol("lambda"), "word of the Python language"),
        (Symbol("x"), "reserved for the sample"), (Symbol("x3"), "reserved for the sample"),
        (Symbol("mean"), "is a function"), (Symbol("pi"), "the constant"), (Symbol("__class__"), "underscore"),
        (Symbol("х"), "CYRILLIC"), (sympy.I * x, "ImaginaryUnit cannot be written"),
        (sympy.zeta(x), "zeta cannot be written"), (Function("f")(x, a), "one argument"),
        (Function("f", real=True)(x), "assumptions"), (Function("eval")(x), "function of Python"),
        (Function("x")(x), "x is the sample"), (sympy.Integral(exp(x), x), "Integral cannot be written"),
        (Filter(Symbol("h", real=True))(x), "assumptions"), (Filter("a b")(x), "letters, digits and underscores"),
        (Mean(x) + Mean(Sample("x", (0, 1))), "several samples or domains"),
        (x + Sample("y"), "several samples or domains"), (sympy.Integer(10) ** 2_000 * x, "1000 digits"),
    ],
    ids=str,
)
def test_what_the_grammar_lacks_is_refused(value: Expr, said: str) -> None:
    with pytest.raises(UnsupportedExpression, match=said):
        to_text(value)


def test_only_expressions_and_samples_are_written() -> None:
    with pytest.raises(InvalidInput, match="text"):
        to_text("mean(x)")
    with pytest.raises(UnsupportedExpression, match="interval"):
        domain_to_text(Sample("k", integer=True))


def test_derivatives_at_a_free_and_an_averaged_sample_differ() -> None:
    """SymPy's Subs compares the text of its points only, and its cache then mixes the two up."""
    free = m(2 * x).diff(x, 2)
    assert isinstance(Mean(free), Mean)
    assert Mean(free).opened() == free
    assert Mean(free).body != free
    assert free != m(2 * sample("x", positive=True)).diff(sample("x", positive=True), 2)


def test_unevaluated_products_read_back_evaluated() -> None:
    held = sympy.factor(2 * x + 2)
    assert held != 2 * x + 2
    assert parse_expression(to_text(held)) == 2 * x + 2
