"""How functions of samples are called, for type checkers: the type of an answer follows from that of the samples.

The protocols below are what decorators say that they return, which are functions all the same, with their docstrings
and signatures. P are the arguments after the samples. Those that change what is returned come first, by themselves; an
`on_refusal` that is a variable is taken for a signal.

Libraries that are optional are known by what their objects have, and none has to be installed: where one is not, or
has no types (pandas without pandas-stubs), its objects are `Any` to a type checker, and so is what they are answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Chunked", "Chunks", "GivesRecords", "GivesRows", "GivesVectors", "Labelled", "Number", "Outcomes",
           "P", "Plain", "Quiet", "Signal", "ToStatistic", "Values", "Vectors"]

P = ParamSpec("P")
Answer_co = TypeVar("Answer_co", covariant=True)

Plain: TypeAlias = Sequence[Any] | NDArray[Any]
Vectors: TypeAlias = NDArray[np.floating[Any]]
Number: TypeAlias = np.float64 | Vectors
Values: TypeAlias = Vectors | Any  # an array; or one number, where no axis is left, which no type tells
Outcomes: TypeAlias = tuple[Outcome, ...]
Quiet: TypeAlias = Literal["return"]
Signal: TypeAlias = Literal["warn", "raise"]


class Labelled(Protocol):
    """A Series or a DataFrame."""

    @property
    def iloc(self) -> Any: ...


class DataFrameLike(Labelled, Protocol):
    """A DataFrame."""

    @property
    def columns(self) -> Any: ...


class Chunked(Protocol):
    """An array of dask, or an object of xarray."""

    @property
    def chunks(self) -> Any: ...

    def compute(self, **kwargs: Any) -> Any: ...


Chunks = TypeVar("Chunks", bound=Chunked)
Labels = TypeVar("Labels", bound=Labelled | Chunked)
Table = TypeVar("Table", bound=DataFrameLike | Chunked)


class Function(Protocol):
    """What several of these have in common."""

    __name__: str

    def __call__(self, *given: Any, **options: Any) -> Any: ...


class GivesNumbers(Function, Protocol[P]):
    """A function that reduces each sample to a number."""

    @overload
    def __call__(self, a: Any, *given: Any, groups: object, **options: Any) -> Any: ...
    @overload
    def __call__(self, a: Plain, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Values, Outcomes]: ...
    @overload
    def __call__(self, a: Any, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Any, Outcomes]: ...
    @overload
    def __call__(self, a: DataFrameLike, *given: Any, axis: None, **options: Any) -> Values: ...
    @overload
    def __call__(self, a: Plain, *given: Any, keepdims: Literal[True], **options: Any) -> Vectors: ...
    @overload
    def __call__(self, a: Sequence[float], *given: P.args, **options: P.kwargs) -> np.float64: ...
    @overload
    def __call__(self, a: DataFrameLike, *given: P.args, **options: P.kwargs) -> pd.Series: ...
    @overload
    def __call__(self, a: Labelled, *given: P.args, **options: P.kwargs) -> np.float64: ...
    @overload
    def __call__(self, a: Chunks, *given: P.args, **options: P.kwargs) -> Chunks: ...
    @overload
    def __call__(self, a: Plain, *given: P.args, **options: P.kwargs) -> Values: ...
    @overload
    def __call__(self, a: Any, *given: P.args, **options: P.kwargs) -> Any: ...


class GivesVectors(Function, Protocol[P]):
    """A function that gives some numbers a sample, on a last axis."""

    @overload
    def __call__(self, a: Any, *given: Any, groups: object, **options: Any) -> Any: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, a: Plain, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Vectors, Outcomes]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, a: Labels, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Labels, Outcomes]: ...
    @overload
    def __call__(self, a: DataFrameLike, *given: Any, axis: None, **options: Any) -> pd.Series: ...
    @overload
    def __call__(self, a: Labels, *given: P.args, **options: P.kwargs) -> Labels: ...
    @overload
    def __call__(self, a: Plain, *given: P.args, **options: P.kwargs) -> Vectors: ...
    @overload
    def __call__(self, a: Any, *given: P.args, **options: P.kwargs) -> Any: ...


class GivesRecords(Function, Protocol[P, Answer_co]):
    """A function that gives one object, whose fields are numbers, arrays, or what has labels; of xarray, an array."""

    @overload
    def __call__(self, a: Chunked, *given: Any, **options: Any) -> Any: ...
    @overload
    def __call__(self, *, sample: Any, **options: Any) -> Any: ...  # as `match` names it
    @overload
    def __call__(self, a: Any, *given: Any, groups: object, **options: Any) -> Any: ...
    @overload
    def __call__(self, a: Any, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Answer_co, Outcomes]: ...
    @overload
    def __call__(self, a: Any, *given: P.args, **options: P.kwargs) -> Answer_co: ...


class GivesRows(Function, Protocol[P]):
    """A method of a plan, which gives arrays, in numbers of any kind."""

    @overload
    def __call__(self, samples: Any, *given: Any, groups: object, **options: Any) -> Any: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, samples: Plain, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[NDArray[Any], Outcomes]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, samples: Table, *given: Any, on_refusal: Quiet, **options: Any) -> tuple[Table, Outcomes]: ...
    @overload
    def __call__(self, samples: Plain, *given: P.args, **options: P.kwargs) -> NDArray[Any]: ...
    @overload
    def __call__(self, samples: Table, *given: P.args, **options: P.kwargs) -> Table: ...
    @overload
    def __call__(self, samples: Any, *given: P.args, **options: P.kwargs) -> Any: ...


class ToStatistic(Protocol):
    """A decorator of functions that give a number, or an object, a sample."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[Any, P], Number]) -> GivesNumbers[P]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Any, P], Answer_co]) -> GivesRecords[P, Answer_co]: ...
