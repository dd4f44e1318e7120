r"""Orders of features, ranked by how far from orthogonal the decoupled features of samples are.

What no theorem decides is measured: for each order the plan is made, and the mean of abs(DO) over all pairs of
decoupled features and all samples (`orthogonality`). What is proved shows as rounding; what is refuted, or not decided,
shows how much is lost in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from symdecouple.analysis.angles.tables import TINY
from symdecouple.analysis.exploration.sets import Numbers
from symdecouple.analysis.orthogonality import orthogonality
from symdecouple.decoupling.plan import decouple
from symdecouple.errors import SymdecoupleError
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.samples.vectors import SampleAxis

__all__ = ["MeasuredOrder", "measured", "ranked"]


@dataclass(frozen=True, slots=True)
class MeasuredOrder:
    """The deviation from orthogonality that one order leaves.

    Attributes
    ----------
    numbers : tuple of int
    average, spread, largest : float
        Of abs(DO) in degrees, over pairs of decoupled features and samples; NaN where no sample could be used.
    original : float
        The average of the features as declared, which the order does not change.
    count, refused : int
        Samples that count, and samples that were left out.
    obstacle : str
        Why there is no plan; empty where there is.
    """

    numbers: Numbers
    average: float
    spread: float
    largest: float
    original: float
    count: int
    refused: int
    obstacle: str = ""

    @property
    def is_exact(self) -> bool:
        """True where nothing but rounding is left."""
        return self.count > 0 and self.largest < TINY

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-ready data; null where there are none."""
        found = asdict(self)
        return {"order": list(found.pop("numbers")), **{k: v if v == v else None for k, v in found.items()}}


def measured(numbers: Numbers, features: FeatureSet, values: Iterable[Any], samples: Any, axis: SampleAxis
             ) -> MeasuredOrder:
    """Measure one order, of features that are in this order already, with their references."""
    nothing = float("nan")
    try:
        plan = decouple(features, reference=list(values), dependent="keep")
        found, outcomes = orthogonality(plan, samples, axis=axis, on_refusal="return")
    except SymdecoupleError as error:
        return MeasuredOrder(numbers, nothing, nothing, nothing, nothing, 0, 0, str(error))
    obstacle = "" if found.count else next((f"{o.reason}: {o.detail}" for o in outcomes if not o.ok), "no sample")
    decoupled = found.decoupled
    return MeasuredOrder(numbers, decoupled.average, decoupled.spread, decoupled.largest, found.original.average,
                         found.count, found.refused, obstacle)


def ranked(orders: Iterable[MeasuredOrder], promise: Callable[[Numbers], Any]) -> tuple[MeasuredOrder, ...]:
    """Return orders, the most orthogonal first: those that use more samples before, rounding aside; then by promise."""
    return tuple(sorted(orders, key=lambda one: (one.refused if one.count else float("inf"),
                                                 0.0 if one.is_exact else one.average if one.count else 90.0,
                                                 promise(one.numbers))))
