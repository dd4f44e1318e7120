r"""One order of features: its scenario, how many of its decoupled features are exact, and what one more would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symdecouple.analysis.exploration.orders import ModifiedSet, OrderTree
from symdecouple.analysis.exploration.sets import ExploredSet, Numbers
from symdecouple.decoupling.verdicts.scenario import BLACK_BOX, Scenario, answer, scenario_of
from symdecouple.shown import Shown
from symdecouple.verdict import Status

__all__ = ["Chain", "chain_of", "listed"]

DEPENDENT = "the features are dependent: nothing is left of one of them to decouple, and there is no plan"


@dataclass(frozen=True, slots=True, repr=False)
class Chain(Shown):
    """An order of features, each to be decoupled from all before it.

    Attributes
    ----------
    numbers : tuple of int
        The features in order, counted from 1 as they were declared.
    scenario : Scenario or None
        Which of the source's four it is in, as far as it is decided; None where the features are dependent.
    exact : int
        How many of its leading decoupled features are proved mutually decoupled (Theorem D4).
    original : ExploredSet or None
        The answer on the features as declared; None where it was not asked for.
    modified : tuple of ModifiedSet
        The answers on its modified sets hat S_1, hat S_2, ..., up to the first after which nothing had to be asked.
    """

    numbers: Numbers
    scenario: Scenario | None
    exact: int
    original: ExploredSet | None
    modified: tuple[ModifiedSet, ...]

    @property
    def is_exact(self) -> bool:
        """True where all of its decoupled features are proved mutually decoupled."""
        return self.exact == len(self.numbers)

    @property
    def is_involutive(self) -> bool:
        """True where the features as declared are proved involutive: leaves, and closed forms where flows have them."""
        return self.original is not None and self.original.c2 is Status.PROVED

    @property
    def last(self) -> ModifiedSet | None:
        """The answer on the modified set of all of its features; None where it was not asked for."""
        return self.modified[-1] if self.modified and self.modified[-1].numbers == self.numbers else None

    @property
    def next_is_exact(self) -> Status:
        """Whether one more feature, whatever it is, is decoupled exactly from all of these.

        PROVED where all modified sets are settled (Theorem D4); REFUTED where one is not involutive, so that features
        behind it are orthogonal to these on the reference manifold only; else UNDECIDED.
        """
        answers = [answer.status for answer in self.modified]
        if Status.REFUTED in answers:
            return Status.REFUTED
        settled = self.last is not None and all(answer.is_settled for answer in self.modified)
        return Status.PROVED if settled else Status.UNDECIDED

    @property
    def why(self) -> str:
        """Why one more feature is, is not, or may not be decoupled exactly, in words."""
        if self.scenario is None:
            return DEPENDENT
        if self.next_is_exact is Status.PROVED:
            return "every modified set is involutive, with independent gradients"
        failing = next((a for a in self.modified if a.status is self.next_is_exact), None)
        if failing is not None:
            return failing.why
        return "not every modified set was asked for" if self.last is None else (
            "the modified gradients are not proved independent")

    @property
    def path(self) -> str:
        """What leads to the level that one more feature needs: "leaves" of the original features, or "narrow path"."""
        return "leaves" if self.is_involutive else "narrow path"

    @property
    def one_more(self) -> str:
        """What one more feature behind these costs, in a sentence."""
        if self.scenario is None:
            return DEPENDENT
        cost = {Status.PROVED: "nothing: whatever it is, it is decoupled exactly",
                Status.REFUTED: "exactness", Status.UNDECIDED: "perhaps exactness, which is not decided"}
        way = ("the leaves of the original features lead to its level" if self.is_involutive else
               "its level is reached along the narrow path")
        return f"{cost[self.next_is_exact]}: {self.why}; {way}".replace("exactly: ", "exactly, as ")

    def __str__(self) -> str:
        return (f"{listed(self.numbers)}: scenario {'none' if self.scenario is None else self.scenario}, "
                f"{_counted(self.exact)} exact")

    def to_dict(self) -> dict[str, Any]:
        """Return the order as JSON-ready data, with the verdicts it rests on."""
        scenario = self.scenario
        return {"order": list(self.numbers), "exact": self.exact, "one_more": self.one_more, "path": self.path,
                "next_is_exact": self.next_is_exact.name,
                "scenario": None if scenario is None else str(scenario),
                "reason": DEPENDENT if scenario is None else scenario.reason,
                "modified": [answer.to_dict() for answer in self.modified]}


def chain_of(tree: OrderTree, numbers: Numbers) -> Chain:
    """Return what a tree knows of an order."""
    original = tree.table.known.get(tuple(sorted(numbers)))
    return Chain(numbers, _scenario(tree, numbers, original), tree.exact(numbers), original, tree.along(numbers))


def _scenario(tree: OrderTree, numbers: Numbers, original: ExploredSet | None) -> Scenario | None:
    if any(tree.table.features[n - 1].black_box is not None for n in numbers):
        return Scenario(1, 1, BLACK_BOX)
    if tree.table.is_dependent(numbers):
        return None
    answers = [answer(f"the modified set of {listed(a.numbers)}", a.status, a.why) for a in tree.along(numbers)]
    if len(answers) < tree.levels(numbers):  # what is not asked for is left open
        answers.append((Status.UNDECIDED, "not every modified set was asked for"))
    if original is None:
        return scenario_of(answer("the original set", Status.UNDECIDED, "it was not asked for"), answers)
    why = f"{original.why} {original.scope}" if original.c2 is Status.REFUTED else original.why
    return scenario_of(answer("the original set", original.c2, why), answers)


def listed(numbers: Numbers) -> str:
    """Return numbers in their order, as tables show them."""
    return " ".join(map(str, numbers))


def _counted(count: int) -> str:
    return "none" if count == 0 else f"{count} feature{'' if count == 1 else 's'}"
