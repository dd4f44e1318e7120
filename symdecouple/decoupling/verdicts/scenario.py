r"""The verdicts that a plan rests on, and which of the four scenarios of the source they amount to.

Two sets are decided for each k, both lazily:

* S_k = {f_1, ..., f_k}, the features as declared: involutive, it has leaves and the flows of closed forms;
* hat S_k = {hat f_1, ..., hat f_k}, the modified features (see `modified`): if hat S_1, ..., hat S_k are involutive,
  each with independent gradients, then hat f_1, ..., hat f_(k+1) are mutually decoupled (Theorem D4).

========  =================  =================  =============================================================
scenario  original set       modified sets      what holds
========  =================  =================  =============================================================
1         black box          ?                  gradients are numeric, nothing is decided exactly
2         not involutive     any                no closed forms on all levels; decoupled as far as hat S_j go
3         involutive         not involutive     closed forms on all levels; decoupled as far as hat S_j go
4         involutive         involutive         full decoupling, and one more feature can be decoupled exactly
========  =================  =================  =============================================================
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sympy import Expr

from symdecouple.calculus.closure import InvolutiveClosure, involutive_closure
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.decoupling.verdicts.decisions import Decisions
from symdecouple.decoupling.verdicts.modified import (
    ModifiedSubject,
    affine_covariance,
    first_features,
    modified_features,
    starts,
    texts_of,
)
from symdecouple.decoupling.verdicts.refutation import decide_modified
from symdecouple.errors import SymdecoupleError
from symdecouple.families.exact import ExactTriple
from symdecouple.families.quadratic import recognize_quadratic
from symdecouple.families.recognition import family_of
from symdecouple.flows.steps import Step
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.shown import Shown, Tabled, clipped
from symdecouple.verdict import Status, Verdict

__all__ = ["BLACK_BOX", "Scenario", "Verdicts", "answer", "is_settled", "scenario_of"]

HEAD = ("k", "feature", "original S_k", "modified hat S_k")
BLACK_BOX = "a feature is a black box: it has no expression to decide by"
ALL_PROVED = "{} and every modified set are proved involutive"

Answer = tuple[Status, str]


@dataclass(frozen=True, slots=True, repr=False)
class Scenario(Shown):
    """One of the four scenarios, or the range of those that undecided verdicts leave open.

    Attributes
    ----------
    lowest, highest : int
    reason : str
        One sentence.
    """

    lowest: int
    highest: int
    reason: str

    def __str__(self) -> str:
        if self.lowest == self.highest:
            return str(self.lowest)
        return f"{self.lowest} or better" if self.highest == 4 else f"{self.lowest} or {self.highest}"


def scenario_of(original: Answer, modified: Iterable[Answer]) -> Scenario:
    """Return the scenario that the answers on the original and on all modified sets leave open, and why.

    No modified set is looked at after one that is refuted.

    Examples
    --------
    >>> found = scenario_of(answer("S", Status.UNDECIDED, "it is large"), [answer("hat S", Status.PROVED, "")])
    >>> str(found), found.reason
    ('2 or better', 'whether S is involutive is not decided (it is large)')
    """
    (status, why), open_ = original, list[str]()
    if status is Status.REFUTED:
        return Scenario(2, 2, why)
    lowest, said = (3, []) if status is Status.PROVED else (2, [why])
    for status, why in modified:
        if status is Status.REFUTED:
            return Scenario(lowest, 3, "; ".join([*said, why]))
        open_ += [why] * (status is not Status.PROVED)
    said += open_[:1]
    return Scenario(lowest, 4, "; ".join(said)) if said else Scenario(4, 4, ALL_PROVED.format("the original set"))


def answer(name: str, status: Status, why: str) -> Answer:
    """Return an answer on C2 of a set, with the sentence that says it where it is not proved."""
    return status, (f"{name} is not involutive: {why}" if status is Status.REFUTED else
                    f"whether {name} is involutive is not decided ({why})")


class Verdicts(Tabled):
    """C2 on the original and on the modified sets of a plan.

    `steps` bring features to their references, `values`, along closed-form flows, as far as there are flows; `stopped`
    tells why there are no more. A verdict takes `budget` seconds, and a printed table about as many.

    Attributes
    ----------
    original, modified : Decisions
        Verdicts on S_k and on hat S_k, by k; the C1 of one is its `independence`.
    closures : Decisions
        The involutive closures of S_k: what is decoupled from features 1 to k themselves (Theorem H).

    Notes
    -----
    Nothing runs before a verdict is asked for; an interruption keeps what was decided before it.
    """

    def __init__(self, features: FeatureSet, steps: Sequence[Step], values: Sequence[Expr | None], *,
                 stopped: str = "", budget: float = 30.0) -> None:
        Budget(budget)
        self.features, self.steps, self.values = features, tuple(steps), tuple(values)
        self.stopped, self.budget = stopped, budget
        self._starts = starts(features)
        self._ends = [group[-1] + 1 for group in features.groups]  # the sizes of the sets that count: whole groups
        self.original = Decisions(len(features), self._decide_original)  # methods pickle, functions made here do not
        self.modified = Decisions(len(features), self._decide_modified)
        self.closures = Decisions(len(features), self._closure)

    # --- decisions ----------------------------------------------------------------------------------------------

    def _decide_original(self, k: int) -> Verdict:
        return check_frobenius(first_features(self.features, k), budget=self.budget)

    def _closure(self, k: int) -> InvolutiveClosure:
        return involutive_closure(first_features(self.features, k), budget=self.budget)

    def _decide_modified(self, k: int) -> Verdict:
        if k > len(self.features.symbolic):
            return self._undecided(k, BLACK_BOX)
        if max(self._starts[:k]) == 0:  # nothing is modified yet
            return self.original[k]
        clock = Budget(self.budget)
        try:
            with clock.running("deciding involutivity of the modified set"):
                return self._decided(k, clock)
        except SymdecoupleError as error:
            return self._undecided(k, str(error))

    def _decided(self, k: int, clock: Budget) -> Verdict:
        start = time.perf_counter()
        if (covariance := affine_covariance(first_features(self.features, k))) is not None:
            c1 = self._independence(k, clock)
            return Verdict("C2", Status.PROVED, c1.subject, certificate=covariance, independence=c1,
                           seconds=time.perf_counter() - start)
        obstacle, hats = self.obstacle(k), modified_features(self.features, self.steps, k)
        if hats is not None and not obstacle:
            return check_frobenius(hats, budget=clock.remaining)
        if obstacle and not self._have_leaves(k):
            return self._undecided(k, obstacle)
        found = decide_modified(self._subject(k), self.steps, budget=clock.remaining)
        return self._undecided(k, obstacle) if obstacle and found.status is Status.UNDECIDED else found

    def _have_leaves(self, k: int) -> bool:
        """True iff the references of the levels of features 1..k are known, and there are leaves to follow to them."""
        levels = set(self._starts[:k]) - {0}
        return None not in self.values[: max(levels, default=0)] and all(
            self.original[level].status is Status.PROVED for level in levels - {1})

    def _independence(self, k: int, clock: Budget) -> Verdict:
        """Return what can be said about C1 of a modified set."""
        obstacle = self.obstacle(k)
        try:
            hats = None if obstacle else modified_features(self.features, self.steps, k)
            found = None if hats is None else check_independence(hats, budget=clock.remaining)
            if not obstacle and (found is None or found.status is Status.UNDECIDED):
                found = decide_modified(self._subject(k), self.steps, budget=clock.remaining).independence
        except SymdecoupleError as error:
            found, obstacle = None, str(error)
        return self._undecided(k, obstacle, "C1") if found is None else found

    def obstacle(self, k: int) -> str:
        """Say why the modified features 1..k are not known along flows; return nothing where they are."""
        forms = recognize_quadratic(self.features)
        for level in sorted(set(self._starts[:k]) - {0}):
            if any(value is None for value in self.values[:level]):
                return f"level {level} needs the references of features 1 to {level}"
            if level > len(self.steps) and forms and int(forms.mean is not None) < level <= len(forms):
                return (f"level {level} is reached in the frequency domain, where no bracket was seen to leave the "
                        "span, and a proof needs a formula of the level")
            if level > len(self.steps):
                return (f"level {level} is reached along the narrow path, whose end has no formula to decide by"
                        + (f": {self.stopped}" if self.stopped else ""))
            if self.original[level].status is not Status.PROVED:
                return (f"level {level} is reached along the narrow path, whose end has no formula to decide by: "
                        f"the first {level} features are not proved involutive, so that there is no leaf to follow")
        return ""

    def _subject(self, k: int) -> ModifiedSubject:
        return ModifiedSubject.first(self.features, k, self.values)

    def _undecided(self, k: int, reason: str, question: str = "C2") -> Verdict:
        return Verdict(question, Status.UNDECIDED, texts_of(tuple(self.features)[:k], self._starts), reason=reason)

    # --- what they amount to ------------------------------------------------------------------------------------

    @property
    def is_black_box(self) -> bool:
        """True iff a feature has no expression."""
        return self.features.kind == "black box"

    @property
    def exact(self) -> int:
        """How many leading decoupled features are proved mutually decoupled, groups aside (Theorem D4).

        One more than the features of the last modified set up to which all are proved involutive with independent
        gradients, and no more than there are; black boxes do not count. Decides what it needs.
        """
        first = next((end for end in self._ends[:-1] if not is_settled(self.modified[end])), len(self.features))
        return min(first, len(self.features.symbolic))

    @property
    def scenario(self) -> Scenario:
        """Which scenario the features are in; decides what it needs."""
        if self.is_black_box:
            return Scenario(1, 1, BLACK_BOX)
        count = len(self.features)
        found = scenario_of(_answer("the original set", self.original[count]),
                            (_answer(f"the modified set of {end} features", self.modified[end]) for end in self._ends))
        if found.lowest < 4:
            return found
        loose = next((end for end in self._ends if not is_settled(self.modified[end])), 0)
        return Scenario(4, 4, ALL_PROVED.format(f"the original set of {count} features") + (
            f", though the gradients of the modified set of {loose} features are not proved independent" * bool(loose)))

    # --- the table ----------------------------------------------------------------------------------------------

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the head and one row a feature, deciding what is missing until about the budget is spent."""
        end = time.monotonic() + self.budget
        rows: list[tuple[str, ...]] = [HEAD]
        for k, feature in enumerate(self.features, 1):
            cells = []
            for decisions in (self.original, self.modified):
                waits = k not in decisions.decided and time.monotonic() > end
                cells.append("not asked yet" if waits else _cell(decisions[k]))
            rows.append((str(k), clipped(feature.name, 40), *cells))
        return rows

    def _notes(self) -> list[str]:
        """Return the scenario and the reasons of what is undecided, where every verdict is there."""
        if min(len(self.original.decided), len(self.modified.decided)) < len(self.features):
            return ["the budget is spent: ask for the others one by one, verdicts.modified[k]"]
        scenario = self.scenario
        lines = [f"scenario {scenario}: {scenario.reason}",
                 f"exact: the first {self.exact} decoupled features are proved mutually decoupled" if self.exact > 1
                 else "exact: one feature is decoupled from nothing", *self.of_closures()]
        for name, decisions in (("S", self.original), ("hat S", self.modified)):
            lines += [f"{name}_{k} undecided: {verdict.reason}" for k, verdict in decisions.decided.items()
                      if verdict.status is Status.UNDECIDED]
        return lines

    def of_closures(self) -> list[str]:
        """Say what is decoupled from features themselves: of the first set that fails C2, and the first of which the
        closure is everything; of all features only where something is."""
        failing = [end for end in self._ends if self.original[end].status is Status.REFUTED]
        if self.features.kind != "mean" or self.features.filter_ndim is not None or not failing:
            return []
        shown = [failing[0], *(end for end in failing[1:] if not self.closures[failing[0]].is_everything
                              and self.closures[end].is_everything)][:2]
        return [self.closure_sentence(end) for end in shown
                if end < len(self.features) or not self.closures[end].is_everything]

    def family(self, k: int) -> ExactTriple | None:
        """Return the exact family that the closure of S_k is of; None where it is none, or not found."""
        found = self.closures[k]
        return family_of(found.fields, self.features, self.budget) if isinstance(found.rank, int) else None

    def closure_sentence(self, k: int) -> str:
        """Say what is decoupled from the features 1 to k themselves."""
        closure, which = self.closures[k], f"the closure of S_{k}"
        if closure.status is not Status.PROVED:
            return f"{which} is not known ({closure.reason})"
        if closure.is_everything:
            return (f"{which} is everything, PROVED: no feature but the constants is decoupled from features 1 to {k} "
                    "themselves; what is proved of decoupled features holds between these (modified sets)")
        family = self.family(k)
        where = "" if family is None else f", that of the exact family of {family.phi}"
        example = "" if family is None or family.dimension < 3 else (
            f", the orthokurtosis of {family.phi} among them"
            + " where no pole of it lies between samples" * bool(family.coordinate.poles))
        return (f"{which} has rank {closure.rank}{where}, PROVED: N - {closure.rank} independent features are "
                f"decoupled from features 1 to {k} themselves{example}")

    def __repr__(self) -> str:
        return f"Verdicts(original={self.original!r}, modified={self.modified!r})"


def is_settled(verdict: Verdict) -> bool:
    """True where C2 and C1 are proved."""
    c1 = verdict.independence
    return verdict.status is Status.PROVED and c1 is not None and c1.status is Status.PROVED


def _cell(verdict: Verdict) -> str:
    if verdict.status is Status.REFUTED:
        return f"REFUTED {verdict.failing_pair} {verdict.scope}"
    dependent = verdict.independence is not None and verdict.independence.status is Status.REFUTED
    return f"{verdict.status.name} {verdict.scope}".removesuffix(" for every N") + (
        ", gradients dependent" if dependent else "")


def _answer(name: str, verdict: Verdict) -> Answer:
    i, j = verdict.failing_pair or (0, 0)
    return answer(name, verdict.status, f"[v{i}, v{j}] leaves its span {verdict.scope}" if i else verdict.reason)
