"""One channel of a transfer: the plan it takes, what becomes of it, and which perturbation would help."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from symdecouple.cli.image_features import Listed
from symdecouple.cli.pictures import FloatArray
from symdecouple.cli.waiting import Tell
from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.decoupling.transferred import Transferred
from symdecouple.errors import Outcome, PerturbedWarning, Refused
from symdecouple.numeric.perturbing import Perturbation, PerturbationKind

__all__ = ["Channel", "Channels", "PerturbName"]

PerturbName: TypeAlias = Literal["ramp", "spectral", "both"]

_KINDS: dict[PerturbName, PerturbationKind] = {"ramp": "ramp", "spectral": "spectral", "both": "ramp and spectral"}
_HELP: dict[PerturbName, str] = {
    "ramp": "which makes values distinct", "spectral": "which makes every frequency active",
    "both": "which makes values distinct and every frequency active",
}


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """What became of one channel: `done` is None where there is no result, and `outcome` says why."""

    name: str
    done: Transferred | None
    outcome: Outcome
    target_perturbed: str = ""


@dataclass(slots=True)
class Channels:
    """How channels are transferred: with one plan for all that have the same reference.

    Parameters
    ----------
    listed : Listed
        The features.
    reference : str or list
        "target" (the features of each target), the name of a law, or numbers.
    budget : float
        Seconds for each verdict.
    step : float or None
        The quantisation step; None where each channel tells it.
    """

    listed: Listed
    reference: Any
    budget: float
    step: float | None
    _plans: dict[Any, Plan] = field(default_factory=dict)

    def transferred(self, name: str, source: FloatArray, target: FloatArray, perturb: PerturbName | None,
                    tell: Tell | None = None) -> Channel:
        """Return the source with the features of the target; where that is refused, why, and what would help."""
        done = self._attempt(name, source, target, perturb, tell)
        if done.outcome.ok or perturb is not None:
            return done
        for kind in self._candidates(source, target):
            if self._attempt(name, source, target, kind, tell).outcome.ok:
                helped = f"{done.outcome.detail}; --perturb {kind} helps, {_HELP[kind]}"
                return Channel(name, None, Outcome(False, done.outcome.reason, helped))
        return done

    def _candidates(self, source: FloatArray, target: FloatArray) -> Iterator[PerturbName]:
        """What may help: active frequencies for bands, distinct values for shape and for constants."""
        if min(source.size, target.size) < 2:
            return
        is_constant = any((values == values.flat[0]).all() for values in (source, target))
        has_ties = any(len(np.unique(values)) < values.size for values in (source, target))
        ramp, spectral = is_constant or (has_ties and self.listed.order > 2), self.listed.has_bands
        if spectral:
            yield "spectral"
        if ramp:
            yield "ramp"
        if ramp and spectral:
            yield "both"

    def _attempt(self, name: str, source: FloatArray, target: FloatArray, perturb: PerturbName | None,
                 tell: Tell | None) -> Channel:
        perturbation = None if perturb is None else Perturbation(_KINDS[perturb], self.step)
        target, target_perturbed = _varied(target, perturbation)
        try:
            plan = self._plan(target, perturbation)
            axis = tuple(range(source.ndim))
            if perturbation is not None and not target_perturbed:
                _, (taken,) = plan.transform(target, axis=axis, on_refusal="return")
                target_perturbed = taken.detail if taken.ok else ""
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PerturbedWarning)  # it is among what is printed
                answer: Any = plan.transfer(source, target, axis=axis, on_refusal="return", progress=tell)
        except Refused as error:
            return Channel(name, None, Outcome(False, "the target has no decoupled features", str(error)))
        done, (outcome,) = answer
        return Channel(name, done if outcome.ok else None, outcome, target_perturbed if outcome.ok else "")

    def _plan(self, target: FloatArray, perturbation: Perturbation | None) -> Plan:
        reference = self._of_target(target) if self.reference == "target" else self.reference
        key = (reference if isinstance(reference, str) else tuple(reference), perturbation)
        if key not in self._plans:
            self._plans[key] = decouple(self.listed.features, reference, budget=self.budget, perturb=perturbation)
        return self._plans[key]

    def _of_target(self, target: FloatArray) -> list[float]:
        """The features of the target, what both are normalized to on the way."""
        if (target == target.flat[0]).all() and len(self.listed.features) > 1:
            raise Refused(f"all its values are {target.flat[0]:g}")
        return self.listed.values(target)


def _varied(target: FloatArray, perturbation: Perturbation | None) -> tuple[FloatArray, str]:
    """A constant target perturbed as a whole, which gives it a variance, and what was done; others as they are."""
    if perturbation is None or not (target == target.flat[0]).all():
        return target, ""
    row, made = perturbation.of(target.ravel(), target.shape, False)
    return (row.reshape(target.shape), made.detail) if made.ok else (target, "")
