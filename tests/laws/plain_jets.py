"""An oracle that shares nothing with the package: jets of second order, 60 digits, and the rank of their brackets.

A jet in N coordinates is a value, a gradient and a Hessian; sums, products and functions of jets follow the chain
rule. A feature is text, evaluated by Python over a sample of N jets; a vector field is a list of such texts in named
coordinates. C1 and C2 are then questions about the rank of vectors of 60 digits at random samples: no symbolic step, no
parser, no class of the package takes part.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

Row: TypeAlias = NDArray[Any]  # of objects

DIGITS = 60
ZERO, CLEAR = mpf(10) ** -35, mpf(10) ** -15
"""Relative distances below the first are 0, above the second are not; between them the sample says nothing."""


class Unclear(Exception):
    """The numbers at this sample are neither zero nor clearly different from it, or not real."""


class Jet:
    """A number with its first and second derivatives in N coordinates."""

    __slots__ = ("d", "dd", "value")

    def __init__(self, value: Any, d: list[Any], dd: list[list[Any]]) -> None:
        self.value, self.d, self.dd = value, d, dd

    def through(self, value: Any, first: Any, second: Any) -> Jet:
        """f(u), from f, f' and f'' at u."""
        n = range(len(self.d))
        if any(mp.isnan(v) or mp.isinf(v) or isinstance(v, mp.mpc) for v in (value, first, second)):
            raise Unclear("a value is not real and finite")
        return Jet(value, [first * g for g in self.d],
                   [[first * self.dd[i][j] + second * self.d[i] * self.d[j] for j in n] for i in n])

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.d, self.dd)
        return Jet(self.value + other.value, [a + b for a, b in zip(self.d, other.d, strict=True)],
                   [[a + b for a, b in zip(r, s, strict=True)] for r, s in zip(self.dd, other.dd, strict=True)])

    def __mul__(self, other: Any) -> Jet:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Jet):
            return Jet(self.value * other, [g * other for g in self.d], [[h * other for h in row] for row in self.dd])
        n, u, v = range(len(self.d)), self, other
        return Jet(u.value * v.value, [u.value * v.d[i] + v.value * u.d[i] for i in n],
                   [[u.value * v.dd[i][j] + v.value * u.dd[i][j] + u.d[i] * v.d[j] + u.d[j] * v.d[i] for j in n]
                    for i in n])

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, np.ndarray):
            return row_of(self**p for p in power)
        if isinstance(power, Jet):
            return FUNCTIONS["exp"](FUNCTIONS["log"](self) * power)
        u = self.value
        if mp.isint(power):
            power = int(power)
        elif u <= 0:
            raise Unclear("a root of a number that is not positive")
        if power in (0, 1):
            return self * 0 + 1 if power == 0 else self
        if u == 0:
            raise Unclear("a power of 0")
        return self.through(u**power, power * u ** (power - 1), power * (power - 1) * u ** (power - 2))

    def __rpow__(self, base: Any) -> Jet:
        return FUNCTIONS["exp"](self * mp.log(base))

    def __neg__(self) -> Jet:
        return self * -1

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return other**-1 * self
        return self * other**-1 if isinstance(other, Jet) else self * (mpf(1) / other)

    def __rtruediv__(self, other: Any) -> Jet:
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__


def row_of(entries: Iterable[Any]) -> Row:
    """A sample: N jets or numbers, with arithmetic entry by entry."""
    listed = list(entries)
    row = np.empty(len(listed), dtype=object)
    row[:] = listed
    return row


def _sech2(u: Any) -> Any:
    return 1 / mp.cosh(u) ** 2


_PLAIN: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "exp": lambda u: (mp.exp(u),) * 3, "log": lambda u: (mp.log(u), 1 / u, -1 / u**2),
    "sqrt": lambda u: (mp.sqrt(u), 1 / (2 * mp.sqrt(u)), -1 / (4 * u * mp.sqrt(u))),
    "sin": lambda u: (mp.sin(u), mp.cos(u), -mp.sin(u)), "cos": lambda u: (mp.cos(u), -mp.sin(u), -mp.cos(u)),
    "tan": lambda u: (mp.tan(u), mp.sec(u) ** 2, 2 * mp.sec(u) ** 2 * mp.tan(u)),
    "cot": lambda u: (mp.cot(u), -mp.csc(u) ** 2, 2 * mp.csc(u) ** 2 * mp.cot(u)),
    "sec": lambda u: (mp.sec(u), mp.sec(u) * mp.tan(u), mp.sec(u) * (2 * mp.tan(u) ** 2 + 1)),
    "csc": lambda u: (mp.csc(u), -mp.csc(u) * mp.cot(u), mp.csc(u) * (2 * mp.cot(u) ** 2 + 1)),
    "sinh": lambda u: (mp.sinh(u), mp.cosh(u), mp.sinh(u)), "cosh": lambda u: (mp.cosh(u), mp.sinh(u), mp.cosh(u)),
    "tanh": lambda u: (mp.tanh(u), _sech2(u), -2 * _sech2(u) * mp.tanh(u)),
    "sech": lambda u: (mp.sech(u), -mp.sech(u) * mp.tanh(u), mp.sech(u) * (2 * mp.tanh(u) ** 2 - 1)),
    "coth": lambda u: (mp.coth(u), -mp.csch(u) ** 2, 2 * mp.csch(u) ** 2 * mp.coth(u)),
    "csch": lambda u: (mp.csch(u), -mp.csch(u) * mp.coth(u), mp.csch(u) * (2 * mp.coth(u) ** 2 - 1)),
    "asin": lambda u: (mp.asin(u), (1 - u**2) ** -0.5, u * (1 - u**2) ** -1.5),
    "acos": lambda u: (mp.acos(u), -((1 - u**2) ** -0.5), -u * (1 - u**2) ** -1.5),
    "atan": lambda u: (mp.atan(u), 1 / (1 + u**2), -2 * u / (1 + u**2) ** 2),
    "asinh": lambda u: (mp.asinh(u), (1 + u**2) ** -0.5, -u * (1 + u**2) ** -1.5),
    "acosh": lambda u: (mp.acosh(u), (u**2 - 1) ** -0.5, -u * (u**2 - 1) ** -1.5),
    "atanh": lambda u: (mp.atanh(u), 1 / (1 - u**2), 2 * u / (1 - u**2) ** 2),
    "erf": lambda u: (mp.erf(u), 2 * mp.exp(-(u**2)) / mp.sqrt(mp.pi), -4 * u * mp.exp(-(u**2)) / mp.sqrt(mp.pi)),
    "gamma": lambda u: (mp.gamma(u), mp.gamma(u) * mp.psi(0, u), mp.gamma(u) * (mp.psi(0, u) ** 2 + mp.psi(1, u))),
    "loggamma": lambda u: (mp.loggamma(u), mp.psi(0, u), mp.psi(1, u)), "abs": lambda u: (abs(u), mp.sign(u), 0),
    "sign": lambda u: (mp.sign(u), 0, 0),
}


def _lifted(name: str) -> Callable[[Any], Any]:
    plain = _PLAIN[name]

    def function(u: Any) -> Any:
        if isinstance(u, np.ndarray):
            return row_of(map(function, u))
        if name in ("log", "sqrt", "loggamma") and (u.value if isinstance(u, Jet) else u) <= 0:
            raise Unclear(f"{name} of a number that is not positive")
        return u.through(*plain(u.value)) if isinstance(u, Jet) else plain(mpf(u))[0]

    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _lifted(name) for name in _PLAIN}


def _extreme(sign: int) -> Callable[..., Any]:
    def function(*parts: Any) -> Any:
        if any(isinstance(p, np.ndarray) for p in parts):
            n = next(len(p) for p in parts if isinstance(p, np.ndarray))
            return row_of(function(*(p[k] if isinstance(p, np.ndarray) else p for p in parts)) for k in range(n))
        return max(parts, key=lambda p: sign * (p.value if isinstance(p, Jet) else p))

    return function


def _psi(order: Any, u: Any) -> Any:
    if isinstance(u, np.ndarray):
        return row_of(_psi(order, each) for each in u)
    return u.through(*(mp.psi(int(order) + k, u.value) for k in range(3))) if isinstance(u, Jet) else mp.psi(order, u)


def _at(index: int, n: int, boundary: str) -> int | None:
    """Where the entry of this index is found beyond the ends."""
    if boundary == "circular":
        return index % n
    if boundary == "zero":
        return index if 0 <= index < n else None
    period = 2 * n if boundary == "half_sample" else 2 * (n - 1)
    index %= period
    return index if index < n else period - index - (1 if boundary == "half_sample" else 0)


def _filter(taps: Sequence[Any], origin: Any = None, boundary: str = "circular") -> Callable[[Any], Any]:
    taps = list(taps) if isinstance(taps, (list, tuple)) else [taps]
    middle = len(taps) // 2 if origin is None else int(origin)

    def apply(row: Row) -> Row:
        n = len(row)
        out = []
        for k in range(n):
            found = [(tap, _at(k - (j - middle), n, boundary)) for j, tap in enumerate(taps)]
            out.append(sum((row[at] * tap for tap, at in found if at is not None), row[0] * 0))
        return row_of(out)

    return apply


def _names(row: Row) -> dict[str, Any]:
    """The words of a text over this sample."""

    def mean(u: Any) -> Any:
        return sum(u[1:], u[0]) / len(u) if isinstance(u, np.ndarray) else u

    def central(order: Any, u: Any = row) -> Any:
        return mean((u - mean(u)) ** int(order))

    def variance(u: Any = row) -> Any:
        return mean((u - mean(u)) ** 2)

    return {
        "x": row, "mean": mean, "central": central, "variance": variance, "pi": mp.pi, "E": mp.e,
        "std": lambda u=row: FUNCTIONS["sqrt"](variance(u)),
        "skewness": lambda u=row: central(3, u) / variance(u) ** mpf(1.5),
        "kurtosis": lambda u=row: central(4, u) / variance(u) ** 2,
        "taps": _filter, "shift": lambda lag, boundary="circular": _filter([mpf(1)], -int(lag), boundary),
        "filter": lambda values, boundary="circular": _filter(values, None, boundary),
        **{word: word for word in ("circular", "zero", "half_sample", "whole_sample")},
        **FUNCTIONS, "Abs": FUNCTIONS["abs"], "Max": _extreme(1), "Min": _extreme(-1), "polygamma": _psi,
    }


def _evaluate(text: str, names: dict[str, Any]) -> Any:
    code = re.sub(r"(?<![\w.])(\d+(?:\.\d*)?)(?![\w.])", r"mpf('\1')", text.replace("^", "**"))
    try:
        return eval(code, {"__builtins__": {}, "mpf": mpf}, names)  # literals of the tests, and text the fuzz made
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Unclear(str(error)) from error


def variables(values: Sequence[Any]) -> Row:
    """The coordinates themselves as jets."""
    n = range(len(values))
    zeros = [[mpf(0)] * len(values)] * len(values)
    return row_of(Jet(values[i], [mpf(i == j) for j in n], zeros) for i in n)


class Answer(NamedTuple):
    """Whether the vectors are independent, and whether their brackets stay in the span, at one sample."""

    independent: bool
    involutive: bool


def answer_for_features(texts: Sequence[str], n: int, domain: str, rng: random.Random,
                        parameters: Sequence[str] = (), filters: Sequence[str] = ()) -> Answer:
    """C1 and C2 of features, in the words of averages or of x1 ... xn, at a random sample of n."""
    with mp.workdps(DIGITS):
        row = variables([draw(domain, rng) for _ in range(n)])
        names = {**_names(row), **{f"x{k}": u for k, u in enumerate(row, 1)}}
        names |= {name: draw("(1/2,3)", rng) for name in parameters}
        names |= {name: [draw("real", rng) for _ in range(3)] for name in filters}
        jets = [row[0] * 0 + _evaluate(text, names) for text in texts]
        fields = [[jet.d, jet.dd] for jet in jets]
        return judged(fields)


def answer_for_fields(fields: Sequence[Sequence[str]], coordinates: Sequence[str], rng: random.Random,
                      parameters: Sequence[str] = ()) -> Answer:
    """C1 and C2 of vector fields in named coordinates, at a random point."""
    with mp.workdps(DIGITS):
        row = variables([draw("(1/8,5/4)", rng) for _ in coordinates])
        zero = row[0] * 0
        names = {**_names(row), **dict(zip(coordinates, row, strict=True))}
        names |= {name: draw("(1/2,3)", rng) for name in parameters}
        jets = [[zero + _evaluate(text, names) for text in field] for field in fields]
        return judged([[[c.value for c in field], [c.d for c in field]] for field in jets])


def draw(domain: str, rng: random.Random) -> Any:
    """A number of the domain with many digits."""
    low, high = {"real": ("-2", "2"), "positive": ("1/4", "3")}.get(domain) or domain.strip("()").split(",")
    a, b = (mpf(p[0]) / mpf(p[1] if len(p) > 1 else 1) for p in (low.split("/"), high.replace("oo", "4").split("/")))
    return a + (b - a) * mpf(rng.randint(1, 10**12 - 1)) / 10**12


def judged(fields: Sequence[Sequence[Any]]) -> Answer:
    """Answer from the values and the Jacobians of fields: the rank of the values, and whether brackets raise it."""
    basis: list[list[Any]] = []
    independent = True
    for value, _ in fields:
        rest, size = _rest(value, basis), _length(value)
        if size < ZERO or not _is_clear(_length(rest) / size):  # rounding is all that is left of a constant
            independent = False
            continue
        basis.append([r / _length(rest) for r in rest])
    n = range(len(fields[0][0]))
    stays = True
    for (u, du), (v, dv) in combinations(fields, 2):
        terms = [[dv[i][k] * u[k] for k in n] + [-du[i][k] * v[k] for k in n] for i in n]
        size = mp.sqrt(sum(abs(t) ** 2 for row in terms for t in row))
        if size >= ZERO and _is_clear(_length(_rest([mp.fsum(row) for row in terms], basis)) / size):
            stays = False
    return Answer(independent, stays)


def _is_clear(distance: Any) -> bool:
    if ZERO < distance < CLEAR:
        raise Unclear(f"a distance of {mp.nstr(distance, 3)}")
    return bool(distance >= CLEAR)


def _rest(vector: Sequence[Any], basis: Sequence[Sequence[Any]]) -> list[Any]:
    rest = list(vector)
    for _ in range(2):  # twice is enough
        for e in basis:
            weight = mp.fsum(a * b for a, b in zip(e, rest, strict=True))
            rest = [r - weight * a for r, a in zip(rest, e, strict=True)]
    return rest


def _length(vector: Sequence[Any]) -> Any:
    return mp.sqrt(mp.fsum(v**2 for v in vector))


def grid_size(n: int | tuple[int, ...]) -> int:
    """The number of samples of a size."""
    return n if isinstance(n, int) else prod(n)
