r"""C2 of the modified sets along every order of some features: a tree of beginnings.

The modified set hat S_k of an order depends on its first k features, in their order, and on the references; orders that
begin alike share it. The tree grows breadth first, and a beginning closes where no longer one has to be asked:

* its modified set is refuted: whatever follows, the modified sets of the order are not all involutive, which is all
  that its scenario needs, and the exactly decoupled features end here (Theorem D4);
* a level of it is reached along a path that has no formula: every longer order passes that level, so that its modified
  sets are UNDECIDED as well, for the same reason;
* its features are dependent: nothing is left of one of them to decouple.

Black boxes close it too. Spectra of energies do not: a longer order may be refuted there though a shorter one is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial, perm
from typing import Any

from sympy import Expr

from symdecouple.analysis.exploration.remembered import remember
from symdecouple.analysis.exploration.sets import Numbers, SetTable
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.verdicts.scenario import BLACK_BOX, is_settled
from symdecouple.errors import SymdecoupleError
from symdecouple.families.quadratic import recognize_quadratic
from symdecouple.verdict import Status, Verdict

__all__ = ["ModifiedSet", "OrderTree"]


@dataclass(frozen=True, slots=True)
class ModifiedSet:
    """What is known of hat S_k for one beginning of an order.

    Attributes
    ----------
    numbers : tuple of int
        The features, in order.
    verdict : Verdict
        C2 of the modified set, with C1 in it. Its pairs count the places in the order.
    closed : str
        Why no order that begins like this was asked about further; empty where they were.
    """

    numbers: Numbers
    verdict: Verdict
    closed: str = ""

    @property
    def status(self) -> Status:
        """The answer on C2."""
        return self.verdict.status

    @property
    def is_settled(self) -> bool:
        """True where C2 and C1 are proved: one more feature is decoupled exactly (Theorem D4)."""
        return is_settled(self.verdict)

    @property
    def failing_pair(self) -> tuple[int, int] | None:
        """The modified features whose bracket leaves the span, by their numbers."""
        pair = self.verdict.failing_pair
        return None if pair is None else (self.numbers[pair[0] - 1], self.numbers[pair[1] - 1])

    @property
    def why(self) -> str:
        """One sentence, with the numbers of the features."""
        pair = self.failing_pair
        if pair is None:
            return self.verdict.reason
        return f"the bracket of the modified features {pair[0]} and {pair[1]} leaves the span {self.verdict.scope}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON-ready data."""
        pair = self.failing_pair
        return {"order": list(self.numbers), "C2": self.status.name, "why": self.why,
                "failing_pair": None if pair is None else list(pair), "closed": self.closed,
                "verdict": self.verdict.to_dict()}


class OrderTree:
    """The modified sets of all orders, as far as they were asked for.

    Parameters
    ----------
    table : SetTable
        With its answers on all sets of features.
    values : tuple of Expr or None
        References, in the order of the declaration.
    """

    def __init__(self, table: SetTable, values: Sequence[Expr | None]) -> None:
        self.table, self.values = table, tuple(values)
        self.known: dict[Numbers, ModifiedSet] = {}
        self.is_quadratic = not table.features.parameters and recognize_quadratic(table.features) is not None

    # --- the beginnings -----------------------------------------------------------------------------------------

    def beginnings(self, count: int) -> Iterator[Numbers]:
        """Yield the beginnings of so many levels that are to be asked about."""
        if count == 1:
            yield from self.table.items
            return
        for before in self._open(count - 1):
            yield from (before + item for item in self.rest(before))

    def _open(self, count: int) -> Iterator[Numbers]:
        return (numbers for numbers, known in tuple(self.known.items())
                if not known.closed and self.levels(numbers) == count)

    def rest(self, numbers: Sequence[int]) -> tuple[Numbers, ...]:
        """Return the items that are not in a beginning."""
        return tuple(item for item in self.table.items if item[0] not in numbers)

    def levels(self, numbers: Sequence[int]) -> int:
        """Return how many levels a beginning has: groups count once."""
        return sum(item[0] in numbers for item in self.table.items)

    def answered(self, numbers: Numbers) -> int:
        """Return how many orders of features a beginning answers for: itself, and what follows where it is closed."""
        rest = len(self.rest(numbers))
        return sum(perm(rest, k) for k in range(rest + 1)) if self.known[numbers].closed else 1

    @property
    def size(self) -> int:
        """The number of orders of one feature or more."""
        count = len(self.table.items)
        return sum(perm(count, k) for k in range(1, count + 1))

    # --- the answers --------------------------------------------------------------------------------------------

    def decide(self, numbers: Numbers, patience: float) -> ModifiedSet:
        """Return the answer on one beginning, asking for it where it is not known; it is kept."""
        found = self._asked(numbers, patience)
        self.known[numbers] = found
        return found

    def _asked(self, numbers: Numbers, patience: float) -> ModifiedSet:
        features = self.table.features
        if self.table.is_dependent(numbers):
            return self._closed(numbers, "the features are dependent: nothing is left of one of them to decouple")
        if any(features[n - 1].black_box is not None for n in numbers):
            return self._closed(numbers, BLACK_BOX)
        if self.levels(numbers) == 1:  # nothing is modified yet
            own = self.table.asked(tuple(sorted(numbers)), patience).verdict
            return ModifiedSet(numbers, own, _refuted(own))
        if features.parameters:
            names = ", ".join(sorted(map(str, features.parameters)))
            return self._closed(numbers, f"{names} must be bound to numbers before anything has a reference value: "
                                         "features.bind({...})")
        obstacle = ""

        def ask() -> Verdict:
            nonlocal obstacle
            try:
                verdict, obstacle = self._verdict(numbers, patience)
            except SymdecoupleError as error:
                return self._undecided(numbers, str(error))
            return verdict

        forms = [self.table.forms[n - 1] for n in numbers]
        places = tuple(len([n for n in numbers if n in item]) for item in self.table.items if item[0] in numbers)
        key = "hat S", tuple(forms), places, tuple(self.values[n - 1] for n in numbers)
        verdict, _ = remember(key, forms, ask)
        if verdict.status is Status.UNDECIDED and obstacle and not self.is_quadratic:
            return ModifiedSet(numbers, verdict, obstacle)
        return ModifiedSet(numbers, verdict, _refuted(verdict))

    def _verdict(self, numbers: Numbers, patience: float) -> tuple[Verdict, str]:
        """Return the verdict on the modified set, and what keeps its levels from being written out."""
        values = tuple(self.values[n - 1] for n in numbers)
        verdicts = Choice(self.table.subset(numbers), values, "auto", patience).verdicts
        for k in range(1, len(numbers) + 1):
            known = self.table.known.get(tuple(sorted(numbers[:k])))
            if known is not None:
                verdicts.original.learn(k, known.verdict)
        verdict = verdicts.modified[len(numbers)]
        return verdict, verdicts.obstacle(len(numbers)) if verdict.status is Status.UNDECIDED else ""

    def _closed(self, numbers: Numbers, why: str) -> ModifiedSet:
        return ModifiedSet(numbers, self._undecided(numbers, why), why)

    def _undecided(self, numbers: Numbers, why: str) -> Verdict:
        return Verdict("C2", Status.UNDECIDED, tuple(str(self.table.features[n - 1]) for n in numbers), reason=why)

    # --- what they amount to ------------------------------------------------------------------------------------

    def along(self, numbers: Sequence[int]) -> tuple[ModifiedSet, ...]:
        """Return the answers along an order, up to the first that is closed or not there."""
        out: list[ModifiedSet] = []
        for item in self.table.split(numbers):
            known = self.known.get((out[-1].numbers if out else ()) + item)
            if known is None:
                break
            out.append(known)
            if known.closed:
                break
        return tuple(out)

    def exact(self, numbers: Sequence[int]) -> int:
        """Return how many leading features of an order come out proved mutually decoupled, groups aside."""
        answers, done = self.along(numbers), 0
        for k, item in enumerate(self.table.split(numbers)):
            if any(self.table.features[n - 1].black_box is not None for n in item):
                return done
            if self.table.is_dependent(numbers[: done + len(item)]):
                return done
            done += len(item)
            if k >= len(answers) or not answers[k].is_settled:
                return done
        return done

    def orders(self, numbers: Numbers) -> Iterator[tuple[Numbers, int]]:
        """Yield orders of a set, one for all that share their answers, and how many these are."""
        yield from self._orders((), tuple(item for item in self.table.items if item[0] in numbers))

    def _orders(self, before: Numbers, rest: tuple[Numbers, ...]) -> Iterator[tuple[Numbers, int]]:
        if not rest:
            yield before, 1
            return
        if before and (before not in self.known or self.known[before].closed):
            yield before + tuple(n for item in rest for n in item), factorial(len(rest))
            return
        for k, item in enumerate(rest):
            yield from self._orders(before + item, rest[:k] + rest[k + 1:])

    def settled(self) -> list[Numbers]:
        """Return the beginnings of which all modified sets are proved involutive with independent gradients."""
        found: set[Numbers] = {()}
        for numbers, known in self.known.items():  # shorter ones are there first
            before = numbers[: len(numbers) - len(self.table.split(numbers)[-1])]
            if known.is_settled and before in found:
                found.add(numbers)
        return sorted(found, key=lambda numbers: (len(numbers), numbers))


def _refuted(verdict: Verdict) -> str:
    return "the modified set is not involutive" if verdict.status is Status.REFUTED else ""
