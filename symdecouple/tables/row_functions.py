"""Row-wise functions as those see them who feed them something else than one array: what they take, and what returns.

A function of samples returns arrays, alone or in a tuple or a record. Their axes are those of the batch ("rows"), of
the samples as they were given ("entries"), or of the batch and then of a sample ("slopes"); one axis of names may come
after those of the batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from symdecouple.errors import Outcome

__all__ = ["FORMS", "Axes", "Call", "Form", "Make", "Piece", "Split", "plain_split"]

Axes: TypeAlias = Literal["rows", "entries", "slopes"]


class Piece(NamedTuple):
    """One array of a result; `names` are those of its axis after the batch, `title` is what it is called itself.

    `is_inner` says that it stays an array: a part of a record that labels other parts.
    """

    array: Any
    names: Sequence[Any] | None = None
    axes: Axes = "rows"
    title: str = ""
    is_inner: bool = False


Make: TypeAlias = Callable[[list[Any], tuple[Outcome, ...]], Any]
Split: TypeAlias = Callable[[Any, dict[str, Any]], tuple[list[Piece], Make]]


@dataclass(frozen=True, slots=True)
class Form:
    """What a function takes and returns.

    Attributes
    ----------
    split : callable
        From a result and the arguments to its arrays, and to what makes a result of these again.
    each : mapping
        From arguments with something for each sample to the names of their last axis; None where it is one number, or
        a list of such.
    sample_ndim : int
        Axes of a sample where axis="last".
    notes : bool
        Whether an outcome that is ok and has a reason is told in a warning.
    frames : int
        From a warning to the line of the user.
    """

    split: Split
    each: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    sample_ndim: int = 1
    notes: bool = True
    frames: int = 5


FORMS: dict[Any, Form] = {}
"""Of the functions of samples that keep labels."""


class Call(NamedTuple):
    """A call of a row-wise function: the samples, their groups, and all other arguments, defaults included."""

    name: str
    function: Callable[..., Any]
    samples: Any
    groups: Any
    options: dict[str, Any]

    @classmethod
    def of(cls, name: str, function: Callable[..., Any], given: Sequence[Any], options: Mapping[str, Any]) -> Call:
        try:
            bound = inspect.signature(function).bind(*given, **options)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        bound.apply_defaults()
        first, *_ = bound.arguments
        samples, groups = bound.arguments.pop(first), bound.arguments.pop("groups", None)
        return cls(name, function, samples, groups, dict(bound.arguments))

    def on(self, samples: Any, **options: Any) -> Any:
        """Return what the function answers for other samples, and its outcomes."""
        return self.function(samples, **{**self.options, **options, "on_refusal": "return"})


def plain_split(names: Callable[[dict[str, Any]], Sequence[str]] | None = None) -> Split:
    """Split numbers, or a named tuple of them; `names` are those of the axis after the batch, from the arguments."""

    def split(found: Any, options: dict[str, Any]) -> tuple[list[Piece], Make]:
        if hasattr(found, "_asdict"):
            return [Piece(v, title=k) for k, v in found._asdict().items()], lambda parts, _: type(found)(*parts)
        return [Piece(found, None if names is None else names(options))], lambda parts, _: parts[0]

    return split
