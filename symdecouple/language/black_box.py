"""Black boxes: functions of a sample vector of which nothing is known but their values, and perhaps their gradients.

A black box has a name and no expression. It takes part in everything that needs numbers only, and in nothing that needs
a formula: no exact verdict, no closed form, no digits beyond float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Any

from symdecouple.errors import InvalidInput
from symdecouple.shown import latex_text

__all__ = ["BlackBox"]


@dataclass(frozen=True, slots=True, eq=False)
class BlackBox:
    """A callable as a feature; made by `Feature.from_callable`.

    Two of them are equal iff they ask the same callable, whatever they are called.

    Attributes
    ----------
    function : callable
        From a sample vector (N,) to a number.
    gradient : callable or None
        From (N,) to (N,), the plain gradient.
    name : str
    vectorized : bool
        Both take sample vectors as rows, (R, N), and return (R,) and (R, N).
    """

    function: Callable[[Any], Any]
    gradient: Callable[[Any], Any] | None = None
    name: str = ""
    vectorized: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise InvalidInput(f"a black box is a function of a sample vector (N,), got {self.function!r}")
        if self.gradient is not None and not callable(self.gradient):
            raise InvalidInput(f"the gradient of a black box is a function from (N,) to (N,), got {self.gradient!r}; "
                               "leave it out to have it from differences")
        if not isinstance(self.vectorized, bool):
            raise InvalidInput(f"vectorized is True or False, got {self.vectorized!r}")
        name = _named(self.function) if self.name == "" else self.name
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput(f"the name of a black box is one line of text, got {name!r}")
        object.__setattr__(self, "name", name.strip())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlackBox) and _identity(self.function) == _identity(other.function)

    def __hash__(self) -> int:
        return hash(_identity(self.function))

    def __str__(self) -> str:
        return self.name

    def latex(self) -> str:
        """Return the name as LaTeX text."""
        return latex_text(self.name)


def _named(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return name if isinstance(name, str) and name.isidentifier() else "black box"  # "<lambda>" is no name


def _identity(function: Any) -> tuple[int, ...]:
    """Tell callables apart; a bound method is a new object each time it is looked up."""
    if isinstance(function, MethodType):
        return id(function.__self__), id(function.__func__)
    return (id(function),)
