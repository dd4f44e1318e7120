"""Samples that are refused, tried once more with a perturbation that their quantisation hides.

Ties take levels from moments, silent frequencies from energies: a perturbation makes values distinct, or frequencies
active. Only what is refused is perturbed: features of levels that a sample has stay its own. The outcome says what was
done, and how far apart the answers of other perturbations are that are as good as this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from symdecouple.errors import InvalidInput, Outcome, Refused
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.perturbation import Perturbed, both_perturbations, ramp_perturbation, spectral_perturbation
from symdecouple.numeric.samples.batch import FloatArray
from symdecouple.shown import Shown

__all__ = ["Perturbation", "PerturbationKind", "as_perturbation", "spread"]

PerturbationKind: TypeAlias = Literal["ramp", "spectral", "ramp and spectral"]

_MADE: Mapping[str, Callable[..., Perturbed]] = {
    "ramp": ramp_perturbation, "spectral": spectral_perturbation, "ramp and spectral": both_perturbations,
}


@dataclass(frozen=True, slots=True)
class Perturbation(Shown):
    """Which perturbation refused samples are tried with once more.

    Parameters
    ----------
    kind : {"ramp", "spectral", "ramp and spectral"}
        Distinct values for moments, active frequencies for energies, or both.
    step : float, optional
        The quantisation step that hides it; default that of each sample, 1 for integers.
    seed : int

    Examples
    --------
    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.families.moments import raw_moments
    >>> plan = decouple(raw_moments(4), perturb=Perturbation("ramp", step=0.01))
    >>> values, (outcome,) = plan.transform([0.0, 0, 0, 0, 1, 2], on_refusal="return")
    >>> outcome.ok, outcome.reason, values.round(3).tolist()[:2]
    (True, 'perturbed', [0.5, 0.583])
    """

    kind: PerturbationKind
    step: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(PerturbationKind):
            raise InvalidInput(f"perturb={self.kind!r} was given, one of {', '.join(map(repr, _MADE))} is expected")
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0):
            raise InvalidInput(f"step={self.step!r} was given, a positive number is expected")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidInput(f"seed={self.seed!r} was given, a whole number from 0 on is expected")

    def __str__(self) -> str:
        hidden = "the quantisation step" if self.step is None else f"a step of {self.step:g}"
        return f"refused samples are tried once more with the {self.kind} perturbation, hidden by {hidden}"

    def of(self, row: FloatArray, grid: tuple[int, ...], whole: bool) -> tuple[FloatArray, Outcome]:
        """Return a perturbed sample, flattened, and what was done; where nothing could be, why."""
        step = 1.0 if whole and self.step is None else self.step
        try:
            made = _MADE[self.kind](row.reshape(grid), step=step, seed=self.seed)
        except Refused as error:
            return row, Outcome(False, "no perturbation", str(error))
        return made.values.ravel(), Outcome(True, "perturbed", str(made))

    def and_others(self) -> Iterator[Perturbation]:
        """Yield this one, and others that are as good: two more seeds, and the other kinds."""
        yield from (replace(self, seed=self.seed + n) for n in range(3))
        yield from (replace(self, kind=kind) for kind in get_args(PerturbationKind) if kind != self.kind)


def spread(found: Array, lacking: Array, is_feature: bool) -> str:
    """Say how far answers of several perturbations, (P, ...), are apart where the sample itself has none."""
    if len(found) == 1:
        return "no other perturbation that was tried gives an answer"
    low, high = found.min(axis=0), found.max(axis=0)
    said = f"entries differ by up to {float((high - low)[lacking].max()):.3g}"
    if is_feature:
        said = ", ".join(f"feature {j + 1} is {float(low[j]):.6g} to {float(high[j]):.6g}"
                         for j in np.flatnonzero(lacking))
    return f"over {len(found)} perturbations {said}"


def as_perturbation(perturb: Perturbation | str | None) -> Perturbation | None:
    """Return what `decouple` was given as perturb=."""
    if perturb is None or isinstance(perturb, Perturbation):
        return perturb
    if not isinstance(perturb, str):
        raise InvalidInput(f"perturb={perturb!r} was given, a Perturbation or one of {', '.join(map(repr, _MADE))} is "
                           "expected")
    return Perturbation(perturb)  # type: ignore[arg-type]
