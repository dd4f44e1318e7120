r"""C1 and C2 of every subset of some features, in whatever order: a span does not know the order of its fields.

Large sets are asked first, and their answers decide smaller ones. Let U be a larger set that contains T:

* if [v_i, v_j] leaves the span of U, it leaves the span of T, which is smaller: T is refuted where i and j are in it;
* if U is involutive, and the structure functions of the pairs of T are zero outside of T, T is involutive;
* if U is independent, so is T; if T is dependent, so is U.

The converses are false, and nothing is concluded from them: (x, x^3) fails and (x, x^2, x^3) does not. Sets of up to
three features are always asked themselves, since their own answers say more about small samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from symdecouple.analysis.exploration.remembered import form_of, remember
from symdecouple.calculus.certificates import Involution, NonInvolution
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.shown import Shown
from symdecouple.verdict import Status, Verdict

__all__ = ["ExploredSet", "Numbers", "SetTable"]

Numbers = tuple[int, ...]
"""Numbers of features, counted from 1 in the order of their declaration."""

OWN = 3  # features of a set that is asked itself though a larger one answers for it


@dataclass(frozen=True, slots=True, repr=False)
class ExploredSet(Shown):
    """What is known of one set of features.

    Attributes
    ----------
    numbers : tuple of int
        The features, counted from 1 as they were declared.
    c1 : Status
        PROVED where the gradients are independent, REFUTED where they are dependent.
    c2 : Status
        Whether their span is involutive.
    why : str
        One sentence.
    verdict : Verdict
        The verdict that carries the answer on C2: its own, or that of a larger set.
    about : tuple of int
        The features that this verdict is about, in its order.
    failing_pair : tuple of int, or None
        The features whose bracket leaves the span, by their numbers here.
    """

    numbers: Numbers
    c1: Status
    c2: Status
    why: str
    verdict: Verdict
    about: Numbers
    failing_pair: tuple[int, int] | None = None

    @property
    def is_inherited(self) -> bool:
        """True where a larger set answers for this one."""
        return len(self.about) > len(self.numbers)

    @property
    def scope(self) -> str:
        """The sample sizes that the answer on C2 is for."""
        return self.verdict.scope

    def __str__(self) -> str:
        told = f"features {', '.join(map(str, self.numbers))}: C1 {self.c1.name}, C2 {self.c2.name}"
        return f"{told}{'' if self.c2 is Status.UNDECIDED else f' {self.scope}'}: {self.why}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON-ready data; the verdict only where it is the set's own."""
        return {"features": list(self.numbers), "C1": self.c1.name, "C2": self.c2.name, "scope": self.scope,
                "why": self.why, "failing_pair": None if self.failing_pair is None else list(self.failing_pair),
                "from": list(self.about) if self.is_inherited else None,
                "verdict": None if self.is_inherited else self.verdict.to_dict()}


class SetTable:
    """The answers on subsets of features, groups as a whole.

    Parameters
    ----------
    features : FeatureSet

    Raises
    ------
    InvalidInput
        If two features are one function.
    """

    def __init__(self, features: FeatureSet) -> None:
        self.features = features
        self.items: tuple[Numbers, ...] = tuple(tuple(k + 1 for k in group) for group in features.groups)
        self.forms = tuple(map(form_of, features))
        self.known: dict[Numbers, ExploredSet] = {}
        for k, form in enumerate(self.forms):
            if (first := self.forms.index(form)) < k:
                raise InvalidInput(f"features {first + 1} and {k + 1} are one function, written twice: "
                                   f"{features[first]} and {features[k]}; leave one out")

    def subset(self, numbers: Sequence[int]) -> FeatureSet:
        """Return the features with these numbers, in this order, in their groups."""
        return in_groups([[self.features[n - 1] for n in part] for part in self.split(numbers)])

    def split(self, numbers: Sequence[int]) -> list[Numbers]:
        """Return numbers in parts, the groups."""
        rest, out = tuple(numbers), []
        while rest:
            size = len(next(item for item in self.items if rest[0] in item))
            out.append(rest[:size])
            rest = rest[size:]
        return out

    def all_sets(self) -> list[Numbers]:
        """Return all subsets, the largest first."""
        return [tuple(sorted(n for item in chosen for n in item)) for size in range(len(self.items), 0, -1)
                for chosen in combinations(self.items, size)]

    def is_dependent(self, numbers: Sequence[int]) -> bool:
        """True where the gradients are known to be dependent: nothing is left of one feature to decouple."""
        wanted = set(numbers)
        return any(known.c1 is Status.REFUTED and wanted.issuperset(known.numbers) for known in self.known.values())

    def decide(self, numbers: Numbers, budget: float) -> ExploredSet:
        """Return the answer on one set, asking for it where no larger set answers; it is kept."""
        found = self.known.get(numbers)
        if found is None or found.c2 is Status.UNDECIDED:
            found = (None if len(numbers) <= OWN else self._inherited(numbers, budget)) or self.asked(numbers, budget)
            self.known[numbers] = found
        return found

    def asked(self, numbers: Numbers, budget: float) -> ExploredSet:
        """Return the answer of the set's own verdict."""
        forms = [self.forms[n - 1] for n in numbers]

        def ask() -> Verdict:
            try:
                return check_frobenius(self.subset(numbers), budget=budget)
            except SymdecoupleError as error:
                return Verdict("C2", Status.UNDECIDED, tuple(str(self.features[n - 1]) for n in numbers),
                               reason=str(error))

        verdict, order = remember(("S", frozenset(forms)), forms, ask)
        about = tuple(numbers[forms.index(form)] for form in order)
        pair = verdict.failing_pair
        c1 = Status.UNDECIDED if verdict.independence is None else verdict.independence.status
        why = verdict.reason
        if pair is not None:
            i, j = sorted(about[k - 1] for k in pair)
            pair, why = (i, j), f"the bracket of the gradients of {i} and {j} is not in the span"
        return ExploredSet(numbers, c1, verdict.status, why, verdict, about, pair)

    # --- what larger sets say -----------------------------------------------------------------------------------

    def _inherited(self, numbers: Numbers, budget: float) -> ExploredSet | None:
        wanted = set(numbers)
        for larger in self.known.values():
            if larger.is_inherited or not wanted < set(larger.numbers):
                continue
            certificate, pair = larger.verdict.certificate, larger.failing_pair
            if isinstance(certificate, NonInvolution) and pair is not None and wanted.issuperset(pair):
                why = (f"the bracket of the gradients of {pair[0]} and {pair[1]} is not even in the span of "
                       f"{_listed(larger.numbers)}")
                c1 = self._independence(numbers, larger, budget)
                return ExploredSet(numbers, c1, Status.REFUTED, why, larger.verdict, larger.about, pair)
            if isinstance(certificate, Involution) and self._closes(numbers, larger, certificate):
                why = (f"{_listed(larger.numbers)} are involutive, and the brackets of these are combinations of their "
                       "own gradients")
                c1 = self._independence(numbers, larger, budget)
                return ExploredSet(numbers, c1, Status.PROVED, why, larger.verdict, larger.about)
        return None

    def _independence(self, numbers: Numbers, larger: ExploredSet, budget: float) -> Status:
        """Return C1 of a set inside a larger one; that a dependent one is larger says nothing, and it is asked."""
        if larger.c1 is Status.PROVED:
            return Status.PROVED
        if self.is_dependent(numbers):
            return Status.REFUTED
        if larger.c1 is Status.UNDECIDED:
            return Status.UNDECIDED
        return check_independence(self.subset(numbers), budget=budget).status

    def _closes(self, numbers: Numbers, larger: ExploredSet, certificate: Involution) -> bool:
        """True where every bracket of the smaller set is a combination of its own gradients."""
        inside = [k for k, n in enumerate(larger.about, 1) if n in numbers]
        return all(c == 0 for i, j in combinations(inside, 2)
                   for k, c in enumerate(certificate.structure[i, j], 1) if k not in inside)


def _listed(numbers: Numbers) -> str:
    return f"features {', '.join(map(str, numbers))}"
