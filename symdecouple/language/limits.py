"""What a text may cost: caps on numbers, powers, function values and sizes, checked before anything is computed.

SymPy evaluates while it builds, so that ``9**9**9**9``, ``gamma(10**9)`` or ``exp(10**9*log(2))`` never return.
Each function here looks at the parts of a node that is about to be built, or at what was built, and answers with
a complaint: a sentence that says what is too large and what is allowed, empty where nothing is. The parser adds
where it was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import ceil, log2

from sympy import Add, Expr, Float, Function, I, Pow, Rational, Subs, log, nan, oo, zoo
from sympy.core import Basic
from sympy.core.function import AppliedUndef

__all__ = [
    "MAX_DEPTH", "MAX_DIGITS", "MAX_EXPONENT", "MAX_LENGTH", "MAX_SIZE", "argument_complaint", "combination_complaint",
    "finished_complaint", "is_undefined", "node_complaint",
    "number_complaint", "power_complaint", "size_complaint",
]

MAX_LENGTH = 10_000
"""Characters of a text."""
MAX_DEPTH = 50
"""Levels of nested parentheses, powers and signs."""
MAX_DIGITS = 1_000
"""Decimal digits of a number, decimal exponent included."""
MAX_EXPONENT = 200
"""Absolute value of a numeric exponent."""
MAX_SIZE = 20_000
"""Nodes of the expression, after the statistics are written out in means."""

_MAX_BITS = 3_340  # MAX_DIGITS in bits, of numerator and denominator each
_MAX_COMBINED_BITS = 40_000  # of all numbers that one sum or product may merge; 10_000 digits hold 33_220
_MAX_ROOT = 1_000_000
_LARGEST_ARGUMENT = {"exp": 1_000, "sinh": 1_000, "cosh": 1_000, "gamma": 100, "loggamma": 100, "polygamma": 0}
_LARGEST_OTHER = 1_000_000
_ANY_SIZE = {"log", "Abs", "sign", "Max", "Min"}  # evaluated by size alone, whatever it is


def is_undefined(expr: Basic) -> bool:
    """True for the infinities and nan, the values of 1/0, log(0) and 0/0."""
    return any(expr is value for value in (nan, zoo, oo, -oo))  # each of them is one object


def number_complaint(number: Rational) -> str:
    """Complain about a number with too many digits."""
    return "" if _bits(number) <= _MAX_BITS else f"a number has more than {MAX_DIGITS} digits"


def power_complaint(base: Expr, exponent: Expr) -> str:
    """Complain about a power that is undefined, or too large to compute or to work with."""
    if base == 0 and isinstance(exponent, Rational) and exponent < 0:
        return "division by zero"
    largest, root = _coefficients(exponent)
    if isinstance(base, Rational) and abs(base) != 1:
        if log2(max(abs(base.p), base.q)) * ceil(largest) > _MAX_BITS:
            return f"the power of a number has more than {MAX_DIGITS} digits"
    elif largest > MAX_EXPONENT:
        return f"an exponent is larger than {MAX_EXPONENT}"
    if root > _MAX_ROOT:
        return f"the denominator of an exponent is larger than {_MAX_ROOT}"
    if base.is_number and exponent.is_number and not isinstance(exponent, Rational):
        return _magnitude_complaint("an exponent", exponent, MAX_EXPONENT)
    return ""


def argument_complaint(name: str, argument: Expr) -> str:
    """Complain about a function of a number that is too large to be evaluated."""
    if name == "polygamma" and argument.is_number:
        return "polygamma takes a function of the sample, not a number"
    if name == "exp" and any(_coefficients(t)[0] > MAX_EXPONENT for t in Add.make_args(argument) if t.has(log)):
        return f"exp of a logarithm times more than {MAX_EXPONENT}, which is a power with that exponent"
    if not argument.is_number or name in _ANY_SIZE:
        return ""
    return _magnitude_complaint(f"{name} of a number", argument, _LARGEST_ARGUMENT.get(name, _LARGEST_OTHER))


def combination_complaint(parts: Iterable[Expr]) -> str:
    """Complain about a sum or product whose numbers would grow out of bounds when they merge."""
    total = sum(_bits(number) for part in parts if (number := part.as_coeff_Mul()[0]).is_Rational)
    return "" if total <= _MAX_COMBINED_BITS else f"the numbers of one sum or product have over {MAX_DIGITS}0 digits"


def size_complaint(expr: Expr, times: int = 1) -> str:
    """Complain about an expression that, repeated so many times, has too many nodes."""
    for count, _ in enumerate(_nodes(expr), 1):
        if count * times > MAX_SIZE:
            return f"the expression has more than {MAX_SIZE} terms and factors when its statistics are written out"
    return ""


def finished_complaint(expr: Expr) -> str:
    """Complain about anything that merging left behind: large exponents or numbers, infinities, complex numbers."""
    return size_complaint(expr) or next(filter(None, map(node_complaint, _nodes(expr))), "")


def node_complaint(node: Basic) -> str:
    """Complain about one finished node, its parts left aside."""
    if is_undefined(node):
        return f"a part has no finite value ({node})"
    if node is I or (isinstance(node, (Pow, Function)) and node.is_number and node.is_extended_real is False):
        return f"{node} is not real; features are real functions"
    if isinstance(node, Rational):
        return number_complaint(node)
    if isinstance(node, Pow):
        return power_complaint(node.base, node.exp)
    if isinstance(node, Function) and not isinstance(node, AppliedUndef):
        return next(filter(None, (argument_complaint(node.func.__name__, arg)
                                for arg in node.args[node.func.__name__ == "polygamma" :])), "")
    return ""


def _nodes(expr: Basic) -> Iterator[Basic]:
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.point if isinstance(node, Subs) else node.args)


def _bits(number: Rational) -> int:
    return max(int(abs(number.p)).bit_length(), int(number.q).bit_length())


def _coefficients(expr: Expr) -> tuple[Rational, int]:
    """The largest absolute coefficient of the terms and the largest denominator."""
    coefficients = [term.as_coeff_Mul()[0] for term in Add.make_args(expr)]
    return max(abs(c) for c in coefficients), max(int(c.q) for c in coefficients)


def _magnitude_complaint(what: str, number: Expr, limit: int) -> str:
    value = number if isinstance(number, Rational) else _value(number)
    if not isinstance(value, (Rational, Float)):
        return f"{what} that is not real or has no value"
    return "" if abs(value) <= limit else f"{what} above {limit} in absolute value"


@lru_cache(maxsize=1024)
def _value(number: Expr) -> Expr:
    return number.evalf(15)
