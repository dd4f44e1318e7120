r"""The linear operators in words, and how they compose: circular filters, by taps or by name.

An operator of a circular filter is a shift and a set of named kernels, S^k h_1 h_2 ...; a filter with taps is a sum of
shifts. They commute, the adjoint reverses shifts and mirrors names, and a constant c goes to c times the product of the
gains at frequency zero. A shift acts on a product factor by factor: it is pushed into the factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from sympy import Expr, S, Tuple

from symdecouple.errors import UnsupportedExpression
from symdecouple.language.filters import Filter, shift
from symdecouple.language.sample import Sample

__all__ = ["ONE", "Base", "CircularOperators", "Letter", "Names", "Operator", "Operators", "Word", "composite_base",
           "composite_number", "fewest_nested", "is_innermost"]

Operator = tuple[Any, ...]
Letter = tuple[Operator, tuple[Any, ...]]
Word = tuple[Letter, ...]
Base = tuple[Any, ...]
"""() for the sample itself, `ONE` for the constant 1, a composite (its number), else a word of two or more letters."""

ONE: Base = (((), ()),)


MAX_AXES = 32


def composite_base(number: int) -> Base:
    """Return the base that stands for the function of filter outputs with this number; see `composites`."""
    return (((), (number,)),)


def composite_number(base: Base) -> int | None:
    """Return the number of a function of filter outputs, None for other bases."""
    return base[0][1][0] if len(base) == 1 and base[0][1] else None


def is_innermost(base: Base) -> bool:
    """True iff no product of letters is inside: the sample, or a function of filter outputs."""
    return not base or (len(base) == 1 and base != ONE)


class Operators(Protocol):
    """What words need to know of the operators in them."""

    identity: Operator

    def of(self, h: Filter) -> dict[Operator, Expr]:
        """Return a filter as a combination of operators."""

    def adjoint(self, operator: Operator) -> Operator:
        """Return the operator K~ with Mean(K(u) v) = Mean(u K~(v))."""

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        """Return an operator applied to a base, as a word in canonical form and a factor."""

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        """Return an operator applied to a word, as a word in canonical form and a factor."""

    def under_average(self, word: Word) -> tuple[Word, Expr]:
        """Return a word and a factor that give the same average."""

    def expression(self, operator: Operator, argument: Expr) -> Expr:
        """Return an operator applied to an expression in the sample."""

    def one(self, operator: Operator, sample: Sample) -> Expr:
        """Return an operator applied to the constant 1, as an expression."""

    def enters(self, operator: Operator) -> bool:
        """True iff K(f(u)) = f(K(u)) for every function f: the operator moves samples and does no more."""

    def place(self, words: Iterable[Word]) -> Operator:
        """Return the one of these operators that takes words in standard place to the given ones."""

    def order(self, letter: Letter) -> Any:
        """Return a key by which letters are compared, such that moving both keeps their order."""


class Names:
    """Short names of kernels, with ~ for the adjoint, and the filters that they stand for."""

    def __init__(self) -> None:
        self._name_of: dict[Filter, str] = {}
        self._filters: dict[str, Filter] = {}

    def name(self, h: Filter) -> str:
        """Return the name of a filter, new or known; that of its adjoint with ~ where this has one."""
        if h not in self._name_of:
            plain = h.adjoint if h.adjoint in self._name_of else h.declared
            name = str(plain).replace("~", "'")
            while name in self._filters and self._filters[name] != plain:
                name += "'"
            self._name_of[plain] = name
            self._filters[name] = plain
            if plain != h:
                self._name_of[h] = name + "~"
                self._filters[name + "~"] = h
        return self._name_of[h]

    def mirrored(self, name: str) -> str:
        """Return the name of the adjoint."""
        return self.name(self._filters[name].adjoint)

    def filter(self, name: str) -> Filter:
        """Return what has this name."""
        return self._filters[name]


class CircularOperators:
    """Circular filters at every sample size: an operator is (lag, names).

    Parameters
    ----------
    expand : bool
        Write filters with taps as sums of shifts, which finds every identity between them. Otherwise they are kernels
        with a name, which keeps the words few; only shifts by one lag stay shifts.
    """

    identity: Operator = ((), ())

    def __init__(self, expand: bool = True) -> None:
        self.expand = expand
        self._names = Names()

    def of(self, h: Filter) -> dict[Operator, Expr]:
        if h.boundary != "circular":
            raise UnsupportedExpression(f"the filter {h} is not circular at the boundary ({h.boundary}): it is decided "
                                        "for one sample size, n_samples=N, not for every N at once")
        if not h.is_symbolic and (self.expand or len(h.lags) == 1):
            return {(_trimmed(lag), ()): tap for lag, tap in h.lags.items()}
        return {((), (self._names.name(h),)): S.One}

    def adjoint(self, operator: Operator) -> Operator:
        lag, names = operator
        return tuple(-k for k in lag), tuple(sorted(map(self._names.mirrored, names)))

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        lag, names = operator
        if is_innermost(base):
            return ((operator, base),), S.One
        if base == ONE:
            return (), self.gain(operator)
        moved = tuple(sorted(_moved(letter, lag) for letter in base)) if lag else base
        return (moved if not names else ((((), names), moved),)), S.One

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        if operator == self.identity:
            return word, S.One
        if len(word) == 1:
            (inner, base), = word
            return self.letter(_composed(operator, inner), base)
        return self.letter(operator, word or ONE)

    def gain(self, operator: Operator) -> Expr:
        """Return what a constant is multiplied by."""
        out = S.One
        for name in operator[1]:
            out = out * self._names.filter(name).dc
        return out

    def under_average(self, word: Word) -> tuple[Word, Expr]:
        """Return the least word with the same average: kernels go to the simpler factor, shifts are common ones."""
        if word == ():
            return word, S.One
        if len(word) == 1:
            (operator, base), = word
            factor = self.gain(operator)
            if is_innermost(base) or factor == 0:
                return (((self.identity, base),) if factor != 0 else ()), factor
            inner, rest = self.under_average(base)
            return inner, factor * rest
        candidates = fewest_nested([word, *(self._sent(word, k) for k, letter in enumerate(word) if letter[0][1])])
        return min(shifted for c in candidates for shifted in _all_shifts(c)), S.One

    def expression(self, operator: Operator, argument: Expr) -> Expr:
        lag, names = operator
        for name in reversed(names):
            argument = self._names.filter(name)(argument)
        return shift(lag)(argument) if lag else argument

    def one(self, operator: Operator, sample: Sample) -> Expr:
        return self.gain(operator)

    def enters(self, operator: Operator) -> bool:
        return not operator[1]

    def place(self, words: Iterable[Word]) -> Operator:
        lags = [lag for word in words for lag in _lags(word)]
        return (min(lags, key=_padded) if lags else ()), ()

    def order(self, letter: Letter) -> Any:
        (lag, names), base = letter
        return _padded(lag), names, base

    def _sent(self, word: Word, k: int) -> Word:
        """Return a product with the same average, the operator of one letter sent over to the others."""
        operator, base = word[k]
        freed = self.letter(self.identity, base)[0]
        moved, _ = self.image(self.adjoint(operator), word[:k] + word[k + 1:])
        return tuple(sorted(freed + moved))


def _trimmed(lag: Any) -> tuple[int, ...]:
    """Return a lag as a tuple; the zero lag as ()."""
    lags = tuple(lag) if isinstance(lag, (tuple, Tuple)) else (lag,)
    return tuple(map(int, lags)) if any(lags) else ()


def _padded(lag: tuple[int, ...]) -> tuple[int, ...]:
    """Return a lag with the zero lag, (), as zeros: the order of these is kept when all are shifted."""
    return lag or (0,) * MAX_AXES


def _composed(left: Operator, right: Operator) -> Operator:
    return _sum(left[0], right[0]), tuple(sorted(left[1] + right[1]))


def _sum(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if not left or not right:
        return left or right
    if len(left) != len(right):
        raise UnsupportedExpression(f"shifts in {len(left)} and in {len(right)} dimensions in one expression")
    total = tuple(a + b for a, b in zip(left, right, strict=True))
    return total if any(total) else ()


def _moved(letter: Letter, lag: tuple[int, ...]) -> Letter:
    """Return a letter shifted: the shift goes to the sample innermost, where kernels are applied to products."""
    operator, base = letter
    if is_innermost(base):
        return (_sum(operator[0], lag), operator[1]), base
    return operator, tuple(sorted(_moved(inner, lag) for inner in base))


def _lags(word: Word) -> Iterator[tuple[int, ...]]:
    for operator, base in word:
        if is_innermost(base):
            yield operator[0]
        else:
            yield from _lags(base)


def _all_shifts(word: Word) -> Iterable[Word]:
    """Return the word with each of its lags in turn moved to 0."""
    for lag in dict.fromkeys(_lags(word)):
        back = tuple(-k for k in lag)
        yield tuple(sorted(_moved(letter, back) for letter in word)) if back else word


def fewest_nested(words: list[Word]) -> list[Word]:
    """Return those of the words with the least of products inside operators."""
    least = min(map(nesting, words))
    return [word for word in words if nesting(word) == least]


def nesting(word: Word) -> tuple[int, int]:
    """Return the number of products and functions inside operators, and the number of kernels on them."""
    nested = [(operator, base) for operator, base in word if base not in ((), ONE) and (
        not is_innermost(base) or operator[-1] not in ((), 0))]
    inner = [(0, 0) if is_innermost(base) else nesting(base) for _, base in nested]
    kernels = sum(len(operator[1]) if len(operator) > 1 else 1 for operator, _ in nested)
    return len(nested) + sum(n for n, _ in inner), kernels + sum(k for _, k in inner)
