"""What text means, and that hostile text is refused at once with a message that helps."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import sympy
from sympy import Derivative, Expr, Function, Rational, Symbol, exp, log, oo, pi, sqrt

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language import statistics
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, coordinates, sample, x
from symdecouple.language.text import domain_to_text, parse, parse_domain, parse_expression

a, b, m = Symbol("a"), Symbol("b"), Function("m")
h = Filter("h")

MEANING = {
    "mean(x^2) - mean(x)^2": Mean(x**2) - Mean(x) ** 2, "Mean(x**2)": Mean(x**2), "-x^2": -(x**2), "2^-x": 2**-x,
    "x^2^3": x**8, "a^b^x": a ** (b**x), "x - (a - b)": x - a + b, "x/(a*b)": x / (a * b), "x/a*b": x / a * b,
    "- - +x": x, "2*(x + 1)": 2 * x + 2, "0.1*x": x / 10, "1e-3*x + .5 + 2.": x / 1000 + Rational(5, 2),
    "123456789.123456789123456789*x": Rational(123456789123456789123456789, 10**18) * x, "x^(1/2)": sqrt(x),
    "ln(x)*exp(x)": log(x) * exp(x), "E^x": exp(x), "2*pi*x": 2 * pi * x,
    "gamma*gamma(x)": Symbol("gamma") * sympy.gamma(x), "variance()": statistics.variance(),
    "var(x^2)": statistics.variance(x**2), "std(x)": statistics.standard_deviation(),
    "skewness()": statistics.skewness(), "kurtosis(log(x))": statistics.kurtosis(log(x)),
    "central(5)": statistics.central_moment(5), "central_moment(3, exp(x))": statistics.central_moment(3, exp(x)),
    "mean(x*shift(1)(x))": Mean(x * shift(1)(x)), "taps((-1, 2, -1,), 1)(x)": Filter([-1, 2, -1])(x),
    "taps((-1, 2, -1))(x)": Filter([-1, 2, -1])(x),
    "taps((a, 1/3), 0)(x^2)": Filter([a, Rational(1, 3)], origin=0)(x**2), "filter(h)(x)": h(x),
    "adjoint(h)(x)": h.adjoint(x), "dc(h)*x": h.dc * x, "mean(filter(h)(x)^3)": Mean(h(x) ** 3), "m(x)": m(x),
    "diff(m(x), x)": Derivative(m(x), x), "mean(x*diff(m(x), x, 2))": Mean(x * m(x).diff(x, 2)),
    "2*diff(m)(2*x)": m(2 * x).diff(x), "4*diff(m, 2)(2*x)": m(2 * x).diff(x, 2),
    "abs(x) + Max(x, 0)": sympy.Abs(x) + sympy.Max(x, 0), "α_1*x": Symbol("α_1") * x,
}


@pytest.mark.parametrize("text", MEANING)
def test_text_means_what_python_means(text: str) -> None:
    assert parse_expression(text) == MEANING[text]


def test_a_parsed_feature_is_the_declared_one() -> None:
    assert parse(" mean(a*x^2)\n") == Feature(Mean(a * x**2))
    assert FeatureSet.parse("mean(x)", "mean(x^2)") == FeatureSet([Mean(x), Mean(x**2)])
    assert parse("mean(Abs(x))", allow_nonsmooth=["Abs"]) == Feature(Mean(sympy.Abs(x)), allow_nonsmooth=["Abs"])


def test_coordinates_need_their_number() -> None:
    x1, _, x3 = coordinates(3)
    assert parse("x1*x3", n_samples=3) == Feature(x1 * x3)
    with pytest.raises(InvalidInput, match="n_samples="):
        parse("x1*x3")
    with pytest.raises(InvalidInput, match="none of the 3 coordinates"):
        parse("x1*x4", n_samples=3)
    with pytest.raises(InvalidInput, match="not of coordinates"):
        parse("mean(x1)", n_samples=3)


def test_the_sample_has_the_name_and_domain_that_it_is_given() -> None:
    t = sample("t", positive=True)
    assert parse_expression("t*mean(log(t))", sample=t) == t * Mean(log(t))
    assert parse("mean(log(x))", sample=sample("x", positive=True)).sample.is_positive
    with pytest.raises(InvalidInput, match="the sample is called t"):
        parse_expression("x*t", sample=t)


def test_further_functions_are_called_by_name() -> None:
    table: dict[str, Callable[..., Expr]] = {"softplus": lambda e: log(1 + exp(e))}
    assert parse_expression("softplus(2*x)", functions=table) == log(1 + exp(2 * x))


@pytest.mark.parametrize(
    ("text", "name", "interval"),
    [
        ("x=positive", "x", (0, oo)), ("positive", "u", (0, oo)), ("t = real", "t", (-oo, oo)),
        ("x=negative", "x", (-oo, 0)), ("x=(0,1)", "x", (0, 1)), ("x=(0, oo)", "x", (0, oo)),
        ("x=(-oo, -1/2)", "x", (-oo, Rational(-1, 2))), ("x=(0.1, 2^3)", "x", (Rational(1, 10), 8)),
    ],
)
def test_domains_are_read_and_written(text: str, name: str, interval: tuple[Any, Any]) -> None:
    found = parse_domain(text, name="u")
    assert found == Sample(name, interval)
    assert parse_domain(domain_to_text(found)) == found


@pytest.mark.parametrize("text", [
    "", "x=", "x=[0,1]", "x=(1,0)", "x=(0,0)", "x=(0,x)", "x=(0,1,2)", "x=(0,pi)", "x=(nan,1)", "x y=real",
    "__x__=real", "lambda=real", "x=(9**9**9**9,oo)", "x=whole", "x" * 10**6,
])
def test_domains_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_domain(text)


# What was found and what helps, by kind of hostility.
HOSTILE = {
    # Python that is not arithmetic
    "().__class__": "attributes are not", "x.real": "attributes are not", "1..real": "attributes are not",
    "lambda: 1": "lambda is a word of", "__import__('os').system('true')": "start with an underscore",
    "import os": "import is a word", "[x for x in (1,)]": "use parentheses", "(x for x in y)": "for is a word",
    "f'{x}'": "text inside text", "'a'": "text inside text", '"a"': "text inside text", "b'a'": "text inside text",
    "mean(*x)": "without stars", "mean(**x)": "without stars", "mean(expr=x)": "named arguments", "(y:=x)": "':'",
    "1 < x < 2": "comparisons", "x == a": "comparisons", "x and a": "and is a word", "not x": "not is a word",
    "x if x else a": "if is a word", "x[0]": "use parentheses", "x[1:2]": "use parentheses", "{x}": "sets",
    "{x: 1}": "dictionaries", "[x]": "use parentheses", "...": "attributes", "None": "None is a word",
    "True": "True is a word", "await x": "await is a word", "yield x": "yield is a word", "x, a": "a list of values",
    "(x, a)": "a list of values", "Piecewise((x, a))": "a list of values", "()": "a list of values",
    # operators and numbers of other kinds
    "1j": "an operator is missing before j", "x @ a": "the operators are", "x // 2": "is missing",
    "x % 2": "operators are",
    "x | 1": "the operators are", "x & 1": "the operators are", "x << 2": "comparisons", "~x": "the operators are",
    "0x10": "an operator is missing before x10", "1_000": "underscore", "2x": "written with *",
    "2(x)": "written with *",
    "(x)(a)": "written with *", "x(2)": "x is the sample", "(x + 1)(a)": "written with *", "x a": "operator is missing",
    "x!": "no meaning", "$x": "no meaning", "٣": "no meaning", "x²": "powers are written",
    # layout
    "": "the text is empty", " \t ": "the text is empty", "x\0": "no meaning", "x\na": "on one line",
    "x; a": "on one line",
    "x # a": "on one line", "x\\\n+1": "on one line", "\u202ex": "no meaning", "mean(x": "is missing",
    "x)": "is missing",
    "*x": "is missing", "x +": "is missing", "f(,)": "is missing",
    # size
    "a" * 10**6: "1000000 characters, at most 10000", "(" * 10_000: "nest more than 50", "-" * 9_000 + "x": "nests too",
    "(" * 51 + "x" + ")" * 51: "nest more than 50", "x" + "**x" * 3_000: "nests too", "x" + "**a" * 150: "nests too",
    "9" * 1_001: "more than 1000 digits", "9" * 5_000: "more than 1000 digits", "a" * 33: "at most 32",
    "1e999999999": "more than 1000 digits", "1e-999999999": "more than 1000 digits", "0." + "1" * 2_000: "1000 digits",
    "kurtosis(x + " * 12 + "x" + ")" * 12: "20000 terms",
    "Max(" + "".join(f"Max(x^{k}, a*{k}, " for k in range(8)) + "b" + ")" * 9: "more than 8",
    # growth
    "9**9**9**9": "more than 1000 digits", "(((2**100)**100)**100)": "more than 1000 digits", "x**10**10": "than 200",
    "x^-201": "larger than 200", "x^200*x^200": "larger than 200", "(x^200)^200": "larger than 200",
    "x^1e-9": "1000000",
    "2**a*2**(10**9 - a)": "1000 digits", "(x + a)^(10^9*b)": "larger than 200", "pi^(10^9)": "larger than 200",
    "gamma(10**9)": "gamma of a number above 100", "loggamma(10^9)": "loggamma of a number above 100",
    "gamma(99 + 99)": "above 100", "exp(10**9)": "exp of a number above 1000", "exp(exp(exp(1000)))": "above 1000",
    "exp(100)^exp(100)": "above 200", "exp(10**9*log(2))": "power with that exponent", "cosh(1e5)": "above 1000",
    "exp(a)*exp(exp(exp(20)) - a)": "above 1000", "sin(exp(exp(6)))": "above 1000000",
    "polygamma(10^9, x)": "from 0 to 20", "central(10**9)": "from 2 to 200", "diff(m(x), x, 10^9)": "from 1 to 20",
    "shift(10^9)(x)": "from -10000 to 10000", "1/(9^999+1)+" * 300 + "x": "digits", "9^999*" * 900 + "x": "digits",
    # no finite real value
    "1/0": "division by zero", "0**-1": "division by zero", "x/(a - a)": "division by zero",
    "log(0)": "no finite value",
    "kurtosis(3)": "no finite value", "gamma(-5)": "no finite value", "tan(pi/2)": "no finite value",
    "oo": "only in domains", "nan": "only in domains", "zoo*x": "only in domains", "I": "features are real",
    "sqrt(-2)": "not real", "(-8)^(1/3)": "not real", "log(-1)": "not real", "asin(2)": "not real",
    "Abs(exp(a))": "re(a)",
    # names
    "__class__": "start with an underscore", "_x": "start with an underscore", "a__b": "two underscores",
    "mеan(x)": "CYRILLIC SMALL LETTER IE", "х": "CYRILLIC SMALL LETTER HA", "ﬁlter(h)(x)": "disguised form of filter",
    "𝐱": "disguised form of x", "𝕖xp(x)": "disguised form of exp", "ｅxp(x)": "disguised form of exp",
    "eval(x)": "function of Python", "exec(x)": "function of Python", "print(x)": "function of Python",
    "skew(x)": "write skewness(x)", "autocorrelation(3)": "shift(1)", "mean(avg(x))": "write mean(x)",
    "men(x)": "did you mean mean?", "EXP(x)": "did you mean exp?", "sgn(x)": "did you mean sign?",
    "mean": "write mean(...)", "sin*x": "write sin(...)",
    # calls
    "mean()": "mean takes 1 argument, got 0", "mean(x, x)": "mean takes 1 argument, got 2", "f()": "f takes 1 argument",
    "f(x, a)": "f takes 1 argument, got 2", "atan2(x)": "atan2 takes 2 arguments, got 1",
    "atan2(x, 2*10^6)": "above 1000000", "atan2(2*10^6, x)": "above 1000000", "atan2(0, 0)": "no finite value",
    "variance(1, 2)": "0 to 1 arguments", "central()": "1 to 2 arguments",
    "central(x)": "a whole number", "central(1)": "from 2 to", "shift(x)(x)": "a whole number",
    "shift(1)": "apply it", "filter(h)": "apply it", "filter(2)(x)": "the name of a filter",
    "dc(x + 1)": "name of a filter",
    "taps((1, 2))(x)": "origin", "taps((x,))(x)": "finite numbers or parameters", "taps(())(x)": "nonempty",
    "diff(x**2, x)": "undefined function", "diff(m(2*x), x)": "diff(m)(2*x)",
    "diff(2)(x)": "name of an undefined function",
    "f(x)(x)": "called twice", "polygamma(1, 1)": "not a number", "Max()": "1 to 8 arguments",
}


@pytest.fixture(scope="module")
def _warm() -> None:
    parse_expression("exp(2*a)^a*log(2 + sqrt(3))*mean(sqrt(x))")


@pytest.mark.usefixtures("_warm")
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text)[:40].encode("ascii", "replace").decode())
def test_hostile_text_is_refused_at_once_and_says_why(text: str) -> None:
    start = time.process_time()
    with pytest.raises(InvalidInput) as caught:
        parse_expression(text)
    assert time.process_time() - start < 0.5
    said = str(caught.value)
    assert HOSTILE[text] in said
    assert len(said) < 500
    line, caret = said.splitlines()[-2:]
    assert caret.strip() == "^" and len(caret) <= len(line) + 1


def test_the_caret_stands_under_what_was_found() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_expression("α^2 + mean(β^3) + gamma(10^9)*x")
    message, line, caret = str(caught.value).splitlines()
    assert line[caret.index("^")] == "g"
    assert message.endswith("(at character 19)")


@pytest.mark.parametrize("value", [5, None, b"mean(x)", x, ["mean(x)"], True, 1.5])
def test_only_text_is_read(value: object) -> None:
    for read in (parse, parse_expression, parse_domain):
        with pytest.raises(InvalidInput, match="text"):
            read(value)  # type: ignore[operator]


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InvalidInput, match="is a Sample"):
        parse_expression("x", sample=Symbol("x"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least 2"):
        parse_expression("x1", n_samples=1)
    assert parse_expression("+".join(["x"] * 600), max_length=2_000) == 600 * x


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("x^2", InvalidInput, r"average it, Mean\(x\*\*2\)"), ("a + 1", InvalidInput, "does not depend on the sample"),
        ("mean(Abs(x))", UnsupportedExpression, "allow_nonsmooth"),
        ("mean(Max(x, 0))", UnsupportedExpression, "not smooth"),
        ("mean(sign(x))", UnsupportedExpression, "not smooth"),
    ],
)
def test_what_is_read_is_checked_as_a_feature(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        parse(text)


@pytest.mark.parametrize("text", [
    "exp(" * 45 + "x" + ")" * 45, "mean(" * 49 + "x" + ")" * 49, "Abs(" * 45 + "x + a" + ")" * 45,
    "sign(Abs(x + a) + " * 15 + "x" + ")" * 15, "skewness(skewness(x) + x)", "sqrt(9^500 + 1)", "log(10^900)",
    "gamma(99/2)*erf(10^6)", "(2 + sqrt(3))^200", "cos(pi/1000003)", "Max(exp(199), x)", "x^200",
])
@pytest.mark.usefixtures("_warm")
def test_the_largest_that_is_read_is_read_in_time(text: str) -> None:
    start = time.process_time()
    parse_expression(text)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("text", [
    "median(x)", "mean(x) - median(x)", "quantile(x, 0.9)", "percentile(x, 90)", "mode(x)", "max(x)", "min(x)",
    "Max(x)",
    "mean(abs(x - median(x)))", "max(x)-min(x)", "iqr(x)", "max(x^2)", "Median(x)", "median(x1, x2)", "mad(x)"])
def test_order_statistics_are_named_as_outside(text: str) -> None:
    with pytest.raises(InvalidInput, match="order statistic, which is outside"):
        parse(text)


def test_what_is_no_order_statistic_is_read() -> None:
    assert parse("mean(max(x, 0))", allow_nonsmooth=["Max"]) == parse("mean(Max(0, x))", allow_nonsmooth=["Max"])
    assert parse("mean(x) + median").parameters == {Symbol("median")}
    assert parse("max(x1, x2)", n_samples=2, allow_nonsmooth=["Max"]).kind == "coordinates"
