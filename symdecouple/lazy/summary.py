"""The moments of a vector that was seen in chunks."""

from __future__ import annotations

from dataclasses import dataclass

from symdecouple.errors import Outcome
from symdecouple.lazy.chunks import Number
from symdecouple.shown import Card, Shown

__all__ = ["MomentSummary"]


@dataclass(frozen=True, slots=True, repr=False)
class MomentSummary(Shown):
    """Moments of the population (1/N), the kurtosis not in excess.

    Attributes
    ----------
    count : int
        Numbers that count.
    moments : tuple of float
        Mean, variance, and the standardized moments from the skewness on; NaN where there is none.
    low, high : float or int
        The least and the largest number.
    missing : int
        NaN among the input.
    outcome : Outcome
        Why there are none, or not all.
    """

    count: int
    moments: tuple[float, ...]
    low: Number
    high: Number
    missing: int
    outcome: Outcome

    @property
    def mean(self) -> float:
        """Mean(x)."""
        return self.moments[0]

    @property
    def variance(self) -> float:
        """Mean((x - mean)^2)."""
        return self.moments[1]

    @property
    def skewness(self) -> float:
        """The third standardized moment; NaN for a state of order 2."""
        return self.moments[2] if len(self.moments) > 2 else float("nan")

    @property
    def kurtosis(self) -> float:
        """The fourth standardized moment, 3 for a normal law; NaN for a state of an order below."""
        return self.moments[3] if len(self.moments) > 3 else float("nan")

    def _card(self) -> Card:
        names = ["mean", "variance", "skewness", "kurtosis", *(f"order {k}" for k in range(5, 30))]
        said = "" if self.outcome.ok else f", {self.outcome.reason}"
        rows = [(name, f"{value:.10g}") for name, value in zip(names, self.moments, strict=False)]
        shown = ", ".join(f"{name} {value}" for name, value in rows)
        return Card(f"moments of {self.count} numbers{said}", [("", shown)], ["statistic", "value"], rows)

    def __str__(self) -> str:
        return self._card().text()
