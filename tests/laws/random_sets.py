"""Random sets of features and fields as text, of every kind that the language has."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.laws.corpus import Row

Draw = Callable[[random.Random], str]


def _c(rng: random.Random) -> int:
    return rng.choice((-3, -2, -1, 1, 2, 3, 4))


def _pick(*texts: str) -> Draw:
    """One of some texts, K a small exponent, C a number that is not 0, P a positive one."""

    def draw(rng: random.Random) -> str:
        text = rng.choice(texts)
        for letter, value in (("K", rng.randint(1, 5)), ("J", rng.randint(2, 4)), ("C", f"({_c(rng)})"),
                              ("P", rng.randint(1, 4)), ("Q", rng.choice(("1/2", "3/2", "1/3", "5/2", "3", "-1")))):
            text = text.replace(letter, str(value))
        return text

    return draw


MEANS: dict[str, Draw] = {
    "moments": _pick("mean(x^K)", "mean(x^K)", "mean(x^J + C*x)", "mean((x + C)^J)", "mean(x^K)^2",
                     "mean(x^J*(x + C))"),
    "central": _pick("variance()", "central(J)", "central(5)", "mean((x - mean(x))^J*x)", "central(3)*variance()"),
    "ratios": _pick("skewness()", "kurtosis()", "mean(x^3)/mean(x^2)", "std()/(1 + mean(x)^2)",
                    "central(J)/(P + variance())", "mean(x)/std()", "mean(x^4)/mean(x^2)^2", "skewness()^2"),
    "exponentials": _pick("mean(exp(C*x))", "mean(x*exp(C*x))", "log(mean(exp(C*x)))", "mean(cosh(x))",
                          "mean(sinh(P*x))", "mean(exp(-x^2/2))", "mean(1/(1 + exp(x)))", "mean(log(1 + exp(C*x)))",
                          "mean(tanh(x))",
                          "mean(1/cosh(x)^2)", "mean(exp(x)*(1 + exp(x)))"),
    "waves": _pick("mean(sin(P*x))", "mean(cos(P*x))", "mean(sin(x)^2)", "mean(sin(x)*cos(x))", "mean(x*cos(x))",
                   "mean(cos(x)^3)", "mean(sin(x + 1))", "mean(cos(x))^2 + mean(sin(x))^2", "mean(exp(sin(x)))"),
    "rational": _pick("mean(1/(P + x^2))", "mean(x/(P + x^2))", "mean(x^2/(1 + x^2)^2)", "mean(atan(x))",
                      "mean(1/(x^2 + x + P))", "mean(x^4/(1 + x^2))", "1/mean(P + x^2)"),
    "logs": _pick("mean(log(P + x^2))", "log(mean(x^2))", "mean(log(cosh(x)))", "mean(x*log(1 + x^2))",
                  "log(P + mean(x)^2)"),
    "roots": _pick("mean(sqrt(P + x^2))", "sqrt(mean(x^2) + P)", "mean(x*sqrt(1 + x^2))", "mean(asinh(x))", "std()",
                   "mean(1/sqrt(1 + x^2))", "mean(erf(x))"),
    "nested": _pick("mean((x - mean(x^2))^J)", "mean(exp(x - mean(x)))", "mean(log(cosh(x - mean(x))))",
                    "mean(sin(x - mean(x)))", "mean(((x - mean(x))/std())^5)", "mean(atan(x - mean(x)))",
                    "mean((x - mean(x))^2/(1 + (x - mean(x))^2))", "mean(exp(-(x - mean(x))^2/variance()))",
                    "mean(log(1 + (x - mean(x))^2/variance()))", "mean((x - mean(x)^2)^J)"),
}
POSITIVE = _pick("mean(log(x))", "mean(x*log(x))", "mean(log(x)^2)", "mean(x^(Q))", "mean(x^(Q))", "exp(mean(log(x)))",
                 "mean(1/x)", "mean(log(1 + x))", "mean(sqrt(x))^2/mean(x)", "mean(loggamma(x + P))", "mean(x/(x + P))",
                 "log(mean(x))", "mean(log(x)*x^2)")
KINKS = _pick("mean(Abs(x))", "mean(Abs(x - C))", "mean(Max(x, 0))", "mean(Abs(x - mean(x)))", "mean(x*Abs(x))",
              "mean(Abs(x))/sqrt(mean(x^2))", "mean(Abs(x)^3)", "mean(Max(x, C)^2)", "mean(sqrt(Abs(x)))",
              "Abs(mean(x))", "mean(sign(x)*x^2)", "mean(Min(x, x^2))")
FILTERS = _pick("mean(taps((C,C,C))(x)^2)", "mean(taps((C,C,C))(x)^2)", "mean(x*shift(P)(x))",
                "mean((x - shift(1)(x))^J)", "mean(taps((C,C),0)(x)^J)", "mean(filter(h)(x)^2)", "mean(filter(h)(x)^3)",
                "mean(x^2*shift(1)(x))",
                "mean(sqrt(1 + (x - shift(1)(x))^2))", "mean(taps((-1,2,-1))(x)^2)/variance()",
                "log(mean(taps((1,-1),0)(x)^2))", "mean(taps((1,C,1),1,half_sample)(x)^2)", "mean(x^2)", "mean(x)")
PARAMETERS = _pick("mean(x) + a*mean(x^2)", "mean(exp(a*x))", "mean(sin(a*x))", "mean((x - a)^J)", "mean(x^2 + a*x^3)",
                   "mean(log(P + a^2*x^2))", "mean(1/(x^2 + a^2))")
COORDINATE = ("1", "X", "X", "X^2", "X*Y", "exp(X)", "cos(X)", "sin(X)*Y", "1/(1 + X^2)", "log(1 + X^2)", "exp(X - Y)",
              "X*Y*Z", "(X - Y)^2", "sqrt(1 + X^2)", "tan(X)", "X/(1 + Y^2)", "cosh(X)", "sin(2*X)")
COMPONENT = ("0", "0", "0", "1", "1", "X", "Y", "X*Y", "X^2", "cos(X)", "sin(X)", "exp(X)", "exp(X - Y)", "tan(X)",
             "X*cos(Y)", "1/(1 + X^2)", "2*X*Y", "tanh(X)", "sin(2*X)", "Y/cos(X)^2")
KINDS = (*MEANS, "mixed", "mixed", "mixed", "positive", "kinks", "filters", "parameters", "coordinates", "fields")


def draw_row(rng: random.Random) -> Row:
    """Return a random set, without its answers."""
    kind, count = rng.choice(KINDS), rng.choice((2, 2, 2, 3, 3, 4))
    if kind == "fields":
        return _fields(rng, min(count, 3))
    if kind == "coordinates":
        n = rng.randint(3, 5)
        texts = [" + ".join(f"({_c(rng)})*{_in_coordinates(rng, COORDINATE, [f'x{k + 1}' for k in range(n)])}"
                            for _ in range(rng.randint(1, 3))) for _ in range(min(count, n))]
        return Row("coordinates", True, True, "; ".join(texts), n_samples=n)
    size = rng.randint(3, 6) if rng.random() < 0.25 else None
    if kind == "positive":
        texts = [_composed(rng, POSITIVE) if rng.random() < 0.7 else MEANS["moments"](rng) for _ in range(count)]
        return Row(kind, True, True, "; ".join(texts), domain="positive", n_samples=size)
    if kind == "kinks":
        texts = [KINKS(rng) if k == 0 or rng.random() < 0.4 else _mixed(rng) for k in range(min(count, 3))]
        return Row(kind, True, True, "; ".join(texts), kinks="Abs Max Min sign", n_samples=size)
    if kind == "filters":
        texts = [FILTERS(rng) for _ in range(min(count, 3))]
        return Row(kind, True, True, "; ".join(texts), n_samples=rng.randint(5, 7) if size else None)
    if kind == "parameters":
        texts = [PARAMETERS(rng) if k == 0 or rng.random() < 0.3 else _mixed(rng) for k in range(min(count, 3))]
        return Row(kind, True, True, "; ".join(texts), n_samples=size)
    draw = MEANS.get(kind)
    texts = [_composed(rng, draw) if draw is not None and rng.random() < 0.7 else _mixed(rng) for _ in range(count)]
    return Row(kind, True, True, "; ".join(texts), n_samples=size)


def _mixed(rng: random.Random) -> str:
    return MEANS[rng.choice(list(MEANS))](rng) if rng.random() < 0.6 else rng.choice(
        ("mean(x)", "mean(x)", "mean(x^2)", "variance()", "mean(x^3)"))


def _composed(rng: random.Random, draw: Draw) -> str:
    """A statistic of a kind, or a function of two."""
    first, second = draw(rng), draw(rng)
    return rng.choice([first, first, first, first, f"{first} + ({_c(rng)})*mean(x)", f"({first})*({second})",
                       f"({first})/(1 + mean(x^2))", f"{first} + ({second})^2", f"sqrt(1 + ({first})^2)",
                       f"({first})^3 + {first}"])


def _in_coordinates(rng: random.Random, terms: tuple[str, ...], names: list[str]) -> str:
    text, chosen = rng.choice(terms), rng.sample(names, 3)
    for letter, name in zip("XYZ", chosen, strict=True):
        text = text.replace(letter, name)
    return text


def _fields(rng: random.Random, count: int) -> Row:
    names = ["u", "v", "w", "z"][: rng.randint(3, 4)]
    fields = []
    for _ in range(count):
        parts = [_in_coordinates(rng, COMPONENT, names) for _ in names]
        fields.append(", ".join(parts if any(p != "0" for p in parts) else ["1", *parts[1:]]))
    return Row("fields", True, True, "; ".join(fields), coordinates=" ".join(names))
