"""What is returned about critical points: each with its value, kind and sample, and the list with its verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Rational

from symdecouple.analysis.critical.tie_patterns import Kind
from symdecouple.errors import InvalidInput
from symdecouple.figures import Axes
from symdecouple.shown import Shown
from symdecouple.verdict import Verdict

__all__ = ["CriticalPoint", "CriticalPoints"]

_SHOWN = 30  # rows of a printed list


@dataclass(frozen=True, slots=True, repr=False)
class CriticalPoint(Shown):
    """A critical point of a decoupled feature, up to the order of the samples where the features do not see it.

    Attributes
    ----------
    value : Expr
        Of the feature: exact, or a Float with `error`.
    kind : str
        "minimum", "maximum", "saddle"; "isolated" where the reference manifold is nothing but this point nearby;
        "degenerate" where the Hessian has a kernel, so that it does not tell.
    index : int, Expr or None
        The Morse index: the dimension of the space on which the Hessian is negative. None where there is none:
        degenerate points, and points at which the reference manifold is singular.
    values : tuple of Expr
        The distinct values, ascending; for features that see the order of the samples, the whole sample.
    shares : tuple of Expr
        Of the samples that take each value.
    n_samples : int or None
        None where N is a symbol.
    is_global : bool or None
        Of extrema: whether no sample at the references has a more extreme value; in a list that was searched, whether
        none in the list has. None for other kinds.
    is_regular : bool
        False where the gradients of the features before are dependent.
    error : float
        Bound on the error of `value` and of each of `values`; 0 where both are exact; of a numerical search, what the
        residual suggests.
    """

    value: Expr
    kind: Kind
    index: int | Expr | None
    values: tuple[Expr, ...]
    shares: tuple[Expr, ...]
    n_samples: int | None
    is_global: bool | None = None
    is_regular: bool = True
    error: float = 0.0

    @property
    def ties(self) -> tuple[int, ...]:
        """How many samples take each value."""
        if self.n_samples is None:
            raise InvalidInput("this critical point is for every number of samples; give n_samples= to have a sample")
        return tuple(int(share * self.n_samples) for share in self.shares)

    @property
    def sample(self) -> NDArray[np.float64]:
        """A sample that attains the value, (N,)."""
        ties = self.ties
        return np.repeat([float(v) for v in self.values], ties)

    @property
    def described(self) -> str:
        """The kind, with "global" or "local" for extrema."""
        return self.kind if self.is_global is None else f"{'global' if self.is_global else 'local'} {self.kind}"

    def __str__(self) -> str:
        index = "" if self.index is None else f", index {self.index}"
        singular = "" if self.is_regular else ", the references are singular there"
        taken = " ".join(map(str, self.shares if self.n_samples is None else self.ties))
        values = " ".join(_short(v) for v in self.values)
        return f"{_short(self.value)}: {self.described}{index}{singular}; values {values} taken {taken}" + (
            "" if self.n_samples is None else " times")


class CriticalPoints(Shown, list[CriticalPoint]):
    """Critical points in the order of their values, and what is proved about them.

    Attributes
    ----------
    level : int
    n_samples : int or None
    name : str
        Of the decoupled feature, as the plan has it.
    complete : Verdict
        That there are no others.
    b1, b2 : Verdict
        The source's conditions: extrema are all global; what flows to saddles is of lower dimension.
    """

    def __init__(self, points: Iterable[CriticalPoint], level: int, n_samples: int | None, complete: Verdict,
                 b1: Verdict, b2: Verdict, name: str = "") -> None:
        super().__init__(points)
        self.name = name or f"decoupled_{level}"
        self.level, self.n_samples = level, n_samples
        self.complete, self.b1, self.b2 = complete, b1, b2

    @property
    def minimum(self) -> CriticalPoint | None:
        """The global minimum, where it is attained."""
        return self._extreme("minimum", 0)

    @property
    def maximum(self) -> CriticalPoint | None:
        """The global maximum, where it is attained."""
        return self._extreme("maximum", -1)

    def _extreme(self, kind: str, place: int) -> CriticalPoint | None:
        fitting = [p for p in self if p.is_global and p.kind in (kind, "isolated")]
        return fitting[place] if fitting else None

    def __str__(self) -> str:
        size = "every N" if self.n_samples is None else f"N = {self.n_samples}"
        lines = [f"critical points of decoupled feature {self.level}, {size}: {len(self)}; all of them: "
                 f"{self.complete.status.name}, B1: {self.b1.status.name}, B2: {self.b2.status.name}"]
        lines += [f"  {point}" for point in self[:_SHOWN]]
        return "\n".join([*lines, f"  ... {len(self) - _SHOWN} more"] if len(self) > _SHOWN else lines)

    def plot(self, ax: Any = None) -> tuple[Axes, ...]:
        """Draw critical values over the share of the samples at the highest value; for N = 4 also where the points are.

        Samples of four numbers with one mean and one variance are a sphere; each point of the list is there in all its
        orders.

        Parameters
        ----------
        ax : Axes, optional
            For the values alone; by default a figure is made.

        Returns
        -------
        tuple of Axes

        Raises
        ------
        MissingPackage
            Without Matplotlib, which is optional.
        InvalidInput
            If there is nothing to draw, or the points are for every number of samples.
        """
        from symdecouple.analysis.critical.picture import draw_critical_points

        return draw_critical_points(self, ax)


def _short(value: Expr) -> str:
    text = str(value)
    return text if len(text) <= 16 and not value.is_Float else str(value.evalf(8)) if value.is_number else text


def sorted_points(points: Iterable[CriticalPoint]) -> list[CriticalPoint]:
    """Return points by value, to all digits that are known, then by their numbers."""
    return sorted(points, key=lambda p: (Rational(str(p.value.evalf(60))), tuple(map(float, p.values))))


