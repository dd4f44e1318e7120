"""Samples that are refused, tried once more with a perturbation that their quantisation hides.

Ties take levels from moments, silent frequencies from energies: a perturbation makes values distinct, or frequencies
active. Only what is refused is perturbed: features of levels that a sample has stay its own. The outcome says what was
done, and how far apart the answers of other perturbations are that are as good as this one.

Plans and `stats` share this: `tried_again` perturbs refused samples, has them answered all at once, and judges the
answers. Where rounding would grow too much on the way, it may: the perturbation, which is much
larger, grows alike, and what it does is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome, Refused
from symdecouple.numeric.moments.moment_path import MOST_GROWTH, MOST_PERTURBED, growth_up_to
from symdecouple.numeric.perturbation import Perturbed, both_perturbations, ramp_perturbation, spectral_perturbation
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.shown import Shown

__all__ = ["Perturbation", "PerturbationKind", "RefusedRow", "Tried", "as_perturbation", "tried_again"]

PerturbationKind: TypeAlias = Literal["ramp", "spectral", "ramp and spectral"]
OnPerturbed: TypeAlias = Callable[[FloatArray, IntArray], tuple[NDArray[Any], Any, Mapping[int, Outcome]]]

_COARSE = 1e-6  # of a deviation: errors of a path, up to 1e-10, are a ten-thousandth of it

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


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A sample, flattened, why it is refused, and its own features, NaN where it has none (None if not of features)."""

    row: NDArray[Any]
    outcome: Outcome
    own: NDArray[Any] | None


class Tried(NamedTuple):
    """What became of a refused sample: its values, or None, and what was found beside them (None without values).

    Where the outcome is a refusal, the values are those features that only others are refused beside.
    """

    values: NDArray[Any] | None
    beside: Any
    outcome: Outcome


def tried_again(perturbation: Perturbation, refused: Sequence[RefusedRow], grid: tuple[int, ...], whole: bool,
                answer: OnPerturbed) -> Iterator[Tried]:
    """Yield what became of each of some refused samples on a grid, several perturbations of each, its own one first.

    `answer` takes rows (P, N) and whose they are, places in `refused`, and returns values (P, ...), what was found
    beside them, (P, ...), and refusals. The step of whole numbers is 1, unless it was given.
    """
    rows, owner, done, coarse = list[FloatArray](), list[int](), list[Outcome](), list[bool]()
    for place, each in enumerate(refused):
        row = np.array([float(v) for v in each.row]) if each.row.dtype == object else each.row
        made = [one.of(row, grid, whole) for one in perturbation.and_others()]
        done.append(made[0][1])
        if done[-1].ok:
            rows += [perturbed for perturbed, how in made if how.ok]
            owner += [place] * (len(rows) - len(owner))
            size = float(np.abs(row).max()) or 1.0  # squares stay in range
            coarse += [float(np.std((each - row) / size)) > _COARSE * float(np.std(row / size))
                       for each in rows[len(coarse):]]
    values, refusals = dict[int, tuple[NDArray[Any], Any]](), dict[int, Outcome]()
    for is_coarse, most in ((True, MOST_PERTURBED), (False, MOST_GROWTH)):
        if (which := np.flatnonzero(np.array(coarse, dtype=np.bool_) == is_coarse)).size:
            with growth_up_to(most):
                found, beside, why = answer(np.array([rows[p] for p in which]), np.array([owner[p] for p in which]))
            values |= dict(zip(which.tolist(), zip(found, beside, strict=True), strict=True))
            refusals |= {int(which[r]): outcome for r, outcome in why.items()}
    for place, each in enumerate(refused):
        mine = [p for p, whose in enumerate(owner) if whose == place]
        yield _judged(each, done[place], [(*values[p], refusals.get(p)) for p in mine])


def _judged(each: RefusedRow, done: Outcome, tries: list[tuple[NDArray[Any], Any, Outcome | None]]) -> Tried:
    """The values that a sample lacked, or why it stays refused."""
    first, beside, why = tries[0] if tries else (None, None, done)
    if first is not None:
        lacking = np.ones(first.shape, dtype=np.bool_) if each.own is None else np.array([v != v for v in each.own])
        kept = first if each.own is None else np.where(lacking, first, each.own)
        if why is None:
            apart = _spread(np.array([found for found, _, no in tries if no is None]), lacking, each.own is not None)
            detail = f"{done.detail}; without it: {each.outcome.reason}; {apart}"
            return Tried(kept, beside, Outcome(True, done.reason, detail))
        if each.own is not None and any(v == v for v in first[lacking]):
            return Tried(kept, beside, why)
    assert why is not None
    detail = f"{each.outcome.detail}; perturbed: {why.reason}, {why.detail}"
    return Tried(None, None, Outcome(False, each.outcome.reason, detail))


def _spread(found: NDArray[Any], lacking: NDArray[np.bool_], is_feature: bool) -> str:
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
