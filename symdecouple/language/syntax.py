"""From text to Python's syntax tree, token by token, with the place of every part: the first door of the parser.

Only tokens of the grammar (`symdecouple.language.text`) reach Python's parser: names, numbers, ``+ - * / ** ^``,
parentheses and commas. Numbers are replaced by 0 on the way and read from the text itself, so that neither floats
nor Python's limits on digits matter. Nothing is ever compiled or executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NoReturn

from sympy import Rational

from symdecouple.errors import InvalidInput
from symdecouple.language.limits import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH
from symdecouple.language.printer import name_problem

__all__ = ["Source"]

_TOKEN = re.compile(r"""(?P<space>[ \t]+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
                        |(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*/^(),])""", re.VERBOSE)
_HINTS = {
    "'\"`": "text inside text is not part of the grammar", ".": "attributes are not part of the grammar",
    "=<>!": "comparisons and named arguments are not part of the grammar", "[]": "use parentheses",
    "{}:": "sets, slices and dictionaries are not part of the grammar", "\n\r;#\\": "write one expression on one line",
    "%&|~@": "the operators are + - * / ^",
}


class Source:
    """A text, its syntax tree, and where each node stands in the text.

    Parameters
    ----------
    text : str
        One expression.
    max_length : int
        Longest text that is read.

    Raises
    ------
    InvalidInput
        If it is no text, too long, nested too deeply, or no expression of the grammar's tokens.

    Examples
    --------
    >>> Source("x^0.1").tree.op
    <ast.Pow object at ...>
    >>> Source("x; y")
    Traceback (most recent call last):
    symdecouple.errors.InvalidInput: the character ';' has no meaning here: write one expression on one line (at
    character 2)
      x; y
       ^
    """

    def __init__(self, text: str, max_length: int = MAX_LENGTH) -> None:
        if not isinstance(text, str):
            raise InvalidInput(f"text is read here, got {type(text).__name__} {str(text)[:40]!r}; expressions need no "
                               "parsing: Feature(expression)")
        self.text = text[: max_length + 1].strip()
        if len(text) > max_length:
            self.refuse(f"the text has {len(text)} characters, at most {max_length} are read", 0)
        self._tokens: dict[int, tuple[str, int]] = {}
        self.tree = self._parsed()

    def number(self, node: ast.Constant) -> Rational:
        """The number that stands at the node, exactly as written."""
        value = Fraction(self._tokens[node.col_offset][0])
        return Rational(value.numerator, value.denominator)

    def refuse(self, message: str, where: ast.expr | int) -> NoReturn:
        """Raise with the text, or the part of it around the place, and a caret below."""
        at = where if isinstance(where, int) else self._tokens[where.col_offset][1]
        start = max(0, at - 40)
        shown = "".join(c if c.isprintable() else "?" for c in self.text[start : start + 80])
        raise InvalidInput(f"{message} (at character {at + 1})\n  {shown}\n  {' ' * (at - start)}^")

    def _parsed(self) -> ast.expr:
        source = self._translated()
        try:
            return ast.parse(source, mode="eval").body
        except SyntaxError as error:
            found = [at for byte, (_, at) in self._tokens.items() if byte < max(error.offset or 1, 1)]
            self.refuse("this is no expression: an operand, an operator or a parenthesis is missing", max(found))
        except (MemoryError, RecursionError):
            self.refuse("the text nests too deeply, or has too many terms", 0)

    def _translated(self) -> str:
        """The text for Python's parser: ``**`` for ``^``, 0 for numbers; remembers where each token came from."""
        pieces: list[str] = []
        size = 0
        for kind, token, at in self._structured():
            pieces.append("**" if token == "^" else "0" if kind == "number" else token)
            self._tokens[size] = token, at
            size += len(pieces[-1].encode()) + 1
        if not pieces:
            self.refuse("the text is empty; for instance mean(x^2)", 0)
        return " ".join(pieces)

    def _structured(self) -> Iterator[tuple[str, str, int]]:
        """The tokens, no two operands in a row, parentheses within the limit."""
        level, before = 0, ""
        for kind, token, at in self._scanned():
            level += (token == "(") - (token == ")")
            if level > MAX_DEPTH:
                self.refuse(f"the parentheses nest more than {MAX_DEPTH} levels", at)
            if before in ("number", "name", ")") and kind != "operator":
                self.refuse(f"an operator is missing before {token[:40]}; products are written with *", at)
            if before == "number" and token == "(":
                self.refuse("a number is no function; products are written with *", at)
            before = token if token == ")" else kind
            yield kind, token, at

    def _scanned(self) -> Iterator[tuple[str, str, int]]:
        at = 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                hint = next((why for found, why in _HINTS.items() if self.text[at] in found), "see the grammar")
                self.refuse(f"the character {self.text[at]!r} has no meaning here: {hint}", at)
            kind, token = str(match.lastgroup), match[0]
            if problem := _number_problem(token) if kind == "number" else name_problem(token) * (kind == "name"):
                self.refuse(problem, at)
            if kind != "space":
                yield kind, token, at
            at = match.end()


def _number_problem(token: str) -> str:
    digits, _, power = token.lower().partition("e")
    fits = len(digits) <= MAX_DIGITS and len(power) <= 5 and len(digits) + abs(int(power or 0)) <= MAX_DIGITS
    return "" if fits else f"a number has more than {MAX_DIGITS} digits"
