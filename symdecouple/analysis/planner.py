r"""Which features, in which order: C1 and C2 of every subset and of the modified sets of every order.

Of M features there are 2^M - 1 sets S, on which C2 does not depend on the order, and for each order of each set its
modified sets hat S_1, hat S_2, ... Together they say which of the source's four scenarios an order is in, and how many
of its decoupled features are proved mutually decoupled (Theorem D4): one more than the longest beginning of which all
modified sets are involutive with independent gradients.

Little of that has to be computed: `exploration.sets` and `exploration.orders` tell which
answers follow from others, and why.
Whatever is not decided within the budget is UNDECIDED, which is not "no".
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sympy import Expr

from symdecouple.analysis.exploration.chain import Chain, chain_of
from symdecouple.analysis.exploration.measured import MeasuredOrder, measured, ranked
from symdecouple.analysis.exploration.orders import OrderTree
from symdecouple.analysis.exploration.report import tables_of
from symdecouple.analysis.exploration.sets import ExploredSet, Numbers, SetTable
from symdecouple.analysis.exploration.tables import as_html, as_latex, as_text
from symdecouple.calculus.closure import InvolutiveClosure, involutive_closure
from symdecouple.decoupling.progress import Progress, reported
from symdecouple.decoupling.reference import reference_values
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.samples.vectors import SampleAxis
from symdecouple.shown import Shown
from symdecouple.verdict import Status

__all__ = ["Exploration", "explore"]

LARGEST = 12
FORMAT, VERSION = "symdecouple.exploration", 1


def explore(features: Any, reference: Any = "gaussian", *, samples: Any = None, axis: SampleAxis = "last",
            budget: float = 120.0, patience: float = 5.0, progress: Progress | None = None) -> Exploration:
    """Decide which of some features can be decoupled exactly, in which order, and what one more would cost.

    Parameters
    ----------
    features : FeatureSet, or list of features
        Up to 12; features of a `Group` go together.
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        As in `symdecouple.decouple`: values belong to features, in the order of the declaration. What has no value (the
        logarithm of a Gaussian) makes modified sets UNDECIDED.
    samples : array_like (..., N), optional
        Orders of the largest independent sets are measured at these, and ranked by what they leave of orthogonality.
    axis : int or tuple of int, optional
        The sample axes of `samples`.
    budget : float
        Seconds for everything, about half of them for measuring where there are samples.
    patience : float
        Seconds for one verdict.
    progress : callable or True, optional
        Called with the sets and orders done and those there are, after each answer. True shows a bar.

    Returns
    -------
    Exploration
        `print` shows it. Ctrl-C ends the call early with what was decided until then: `interrupted` is True, and
        `resume()` goes on.

    Raises
    ------
    InvalidInput
        For more than 12 features, two that are one function, or references that do not fit.

    Notes
    -----
    Six moments take 40 seconds: 63 sets and 1956 orders, of which fewer than 200 are asked about. Answers are
    remembered by canonical form as long as the process lives, for other explorations too.

    Examples
    --------
    >>> from symdecouple.language.feature_set import FeatureSet
    >>> found = explore(FeatureSet.parse("mean(x)", "mean(x^2)", "mean(x^3)"), budget=120, patience=60)
    >>> [s.numbers for s in found.sets if s.c2.name == "REFUTED"]
    [(1, 3)]
    >>> str(found.chain(1, 2, 3).scenario), str(found.chain(3, 1).scenario), str(found.chain(3, 2).scenario)
    ('4', '2', '3')
    >>> [chain.numbers for chain in found.longest]
    [(1, 2, 3), (2, 1, 3), (1, 3, 2), (2, 3, 1)]
    """
    declared = features if isinstance(features, FeatureSet) else FeatureSet(features)
    if len(declared.groups) > LARGEST:
        raise InvalidInput(f"{len(declared.groups)} features were given, which have {2 ** len(declared.groups) - 1} "
                           f"subsets: explore takes up to {LARGEST}; leave some out, or put those that belong together "
                           "into a Group")
    values = _references(declared, reference)
    found = Exploration(declared, values, samples, axis, patience)
    return found.resume(budget, progress)


class Exploration(Shown):
    """What was decided of some features; made by `explore`.

    Attributes
    ----------
    features : FeatureSet
    reference : tuple of Expr or None
        The reference values; None where there is none.
    interrupted : bool
        True where the last run was ended by Ctrl-C.
    seconds : float
        How long all runs took.
    """

    def __init__(self, features: FeatureSet, values: tuple[Expr | None, ...], samples: Any = None,
                 axis: SampleAxis = "last", patience: float = 5.0) -> None:
        Budget(patience)
        self.features, self.reference = features, values
        self.interrupted, self.seconds = False, 0.0
        self._samples, self._axis, self._patience = samples, axis, patience
        self._table = SetTable(features)
        self._tree = OrderTree(self._table, values)
        self._all = self._table.all_sets()
        self._measured: dict[Numbers, MeasuredOrder] = {}
        self._done = 0

    # --- running ------------------------------------------------------------------------------------------------

    def resume(self, budget: float = 120.0, progress: Progress | None = None) -> Exploration:
        """Go on where the budget or an interruption ended it; what was UNDECIDED is asked again.

        Parameters
        ----------
        budget, progress
            As in `explore`.
        """
        clock, start = Budget(budget), time.perf_counter()
        self.interrupted, self._done = False, 0
        try:
            deciding = clock if self._samples is None else Budget(clock.seconds / 2)
            with reported(progress, "explore", "sets and orders") as tell:
                for answered in self._decisions(deciding):
                    self._done += answered
                    if tell is not None:
                        tell(self._done, self.count)
            self._measure(clock)
        except KeyboardInterrupt:
            self.interrupted = True
        self.seconds += time.perf_counter() - start
        return self

    def _decisions(self, clock: Budget) -> Iterator[int]:
        """Decide sets, then orders level by level; yield how many were answered with each step."""
        for numbers in self._all:
            if clock.remaining < _LITTLE:
                return
            self._table.decide(numbers, min(self._patience, clock.remaining))
            yield 1
        for count in range(1, len(self._table.items) + 1):
            for numbers in self._tree.beginnings(count):
                known = self._tree.known.get(numbers)
                if known is None or (known.status is Status.UNDECIDED and not known.closed):
                    if clock.remaining < _LITTLE:
                        return
                    self._tree.decide(numbers, min(self._patience, clock.remaining))
                yield self._tree.answered(numbers)

    def _measure(self, clock: Budget) -> None:
        if self._samples is None:
            return
        for numbers in self._candidates():
            if clock.remaining < _LITTLE:
                return
            if numbers not in self._measured:
                values = [self.reference[n - 1] for n in numbers]
                self._measured[numbers] = measured(numbers, self._table.subset(numbers), values, self._samples,
                                                   self._axis)

    def _candidates(self) -> list[Numbers]:
        """Return the orders of the largest sets that are not dependent, the most promising first."""
        alive = [s for s in self._all if s in self._table.known and not self._table.is_dependent(s)]
        size = max(map(self._tree.levels, alive), default=0)
        shown = [order for s in alive if self._tree.levels(s) == size for order, _ in self._tree.orders(s)]
        return sorted(shown, key=self._promise)

    def _promise(self, numbers: Numbers) -> Any:
        return -self._tree.exact(numbers), numbers

    # --- what was found -----------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many sets and orders there are."""
        return len(self._all) + self._tree.size

    @property
    def complete(self) -> bool:
        """True where all of them were answered, be it by UNDECIDED; False where time ran out before they were asked."""
        return self._done == self.count

    @property
    def sets(self) -> tuple[ExploredSet, ...]:
        """The answers on sets, the smallest first."""
        found = sorted(self._table.known.values(), key=lambda one: (len(one.numbers), one.numbers))
        return tuple(found)

    def subset(self, *numbers: int) -> ExploredSet:
        """Return the answer on one set, with a verdict of its own, which is asked for where a larger set answered.

        Raises
        ------
        InvalidInput
            If there is no such set: numbers are those of the declaration, from 1, and groups go together.
        """
        wanted = tuple(sorted(self._checked(numbers)))
        found = self._table.known.get(wanted)
        if found is None or found.is_inherited:
            own = self._table.asked(wanted, self._patience)
            if found is None or own.c2 is not Status.UNDECIDED:
                found = self._table.known[wanted] = own
        return found

    def chain(self, *numbers: int) -> Chain:
        """Return what is known of an order of features.

        Raises
        ------
        InvalidInput
            As in `subset`.
        """
        return chain_of(self._tree, self._checked(numbers))

    @property
    def longest(self) -> tuple[Chain, ...]:
        """The longest orders of which every decoupled feature is proved decoupled from all before it.

        Those of involutive features, which have leaves and often closed forms, come first; empty where not even two
        features are proved decoupled.
        """
        found: dict[Numbers, Chain] = {}
        for before in self._tree.settled():
            for order in [before + item for item in self._tree.rest(before)] or [before]:
                if self._tree.exact(order) == len(order) > 1:
                    found[order] = chain_of(self._tree, order)
        longest = max(map(len, found), default=0)
        return tuple(sorted((c for c in found.values() if len(c.numbers) == longest), key=lambda chain: (
            not chain.is_involutive, -(chain.scenario.lowest + chain.scenario.highest if chain.scenario else 0),
            chain.numbers)))

    def scenarios(self, *numbers: int) -> Counter[str]:
        """Return how many orders of a set are in each scenario; "none" for features that are dependent.

        Examples
        --------
        >>> from symdecouple.language.feature_set import FeatureSet
        >>> found = explore(FeatureSet.parse("mean(x)", "mean(x^2)"), budget=120, patience=60)
        >>> found.scenarios(1, 2)
        Counter({'4': 2})
        """
        out: Counter[str] = Counter()
        for order, count in self._tree.orders(tuple(sorted(self._checked(numbers)))):
            scenario = chain_of(self._tree, order).scenario
            out["none" if scenario is None else str(scenario)] += count
        return out

    def closure(self, *numbers: int, budget: float = 10.0) -> InvolutiveClosure:
        """Return the involutive closure of a set: what would have to be there as well (Theorem H).

        Where its rank is a number r, the set and r - M features more are involutive; where it is N, no feature but a
        constant is decoupled from the set itself.

        Examples
        --------
        >>> from symdecouple.language.feature_set import FeatureSet
        >>> explore(FeatureSet.parse("mean(x)", "mean(x^3)"), budget=120, patience=60).closure(1, 2).rank
        3
        """
        return involutive_closure(self._table.subset(self._checked(numbers)), budget=budget)

    @property
    def ranking(self) -> tuple[MeasuredOrder, ...]:
        """The orders that were measured at the samples, the most orthogonal first; empty without samples."""
        return ranked(self._measured.values(), self._promise)

    def _checked(self, numbers: tuple[int, ...]) -> Numbers:
        known = range(1, len(self.features) + 1)
        whole = [item for item in self._table.items if any(n in numbers for n in item)]
        if not numbers or len(set(numbers)) < len(numbers) or any(n not in known for n in numbers):
            raise InvalidInput(f"features {', '.join(map(str, numbers)) or 'none'} were asked for; different numbers "
                               f"from 1 to {len(self.features)} are expected")
        split = [item for item in whole if item != tuple(n for n in numbers if n in item)
                 or max(map(numbers.index, item)) - min(map(numbers.index, item)) >= len(item)]
        if split:
            raise InvalidInput(f"features {', '.join(map(str, split[0]))} are a group, and go together in this order")
        return tuple(map(int, numbers))

    # --- shown --------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return as_text(tables_of(self))

    def __repr__(self) -> str:
        longest = self.longest
        told = f"up to {len(longest[0].numbers)} decoupled exactly" if longest else "none decoupled exactly"
        return f"<Exploration of {len(self.features)} features, {len(self._all)} sets: {told}>"

    def latex(self) -> str:
        """Return the tables as LaTeX tabulars."""
        return as_latex(tables_of(self))

    def _repr_html_(self) -> str:
        return as_html(tables_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, with the verdicts and their certificates."""
        return {"format": FORMAT, "version": VERSION, "features": list(map(str, self.features)),
                "groups": [list(item) for item in self._table.items],
                "reference": [None if v is None else str(v) for v in self.reference],
                "complete": self.complete, "interrupted": self.interrupted, "seconds": self.seconds,
                "sets": [one.to_dict() | {"scenarios": dict(self.scenarios(*one.numbers))} for one in self.sets],
                "longest": [chain.to_dict() for chain in self.longest],
                "orders": [known.to_dict() for known in self._tree.known.values()],
                "ranking": [one.to_dict() for one in self.ranking]}

    def to_json(self, indent: int | None = 2) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)


_LITTLE = 2e-3  # seconds; with less than that nothing more is asked


def _references(features: FeatureSet, reference: Any) -> tuple[Expr | None, ...]:
    """Return the references, each feature's on its own where a law gives them: one without a value bars no other."""
    if not (isinstance(reference, str) or hasattr(reference, "pdf")):
        return reference_values(features, reference)
    out: list[Expr | None] = []
    for feature in features:
        try:
            out += reference_values(FeatureSet([feature]), reference)
        except SymdecoupleError:
            if isinstance(reference, str):
                reference_values(FeatureSet.parse("mean(x)"), reference)  # a name that is not known is refused
            out.append(None)
    return tuple(out)
