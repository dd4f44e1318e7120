"""Answers that are decided when they are asked for, and then kept: on the sets of the first k features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from symdecouple.calculus.closure import InvolutiveClosure
from symdecouple.errors import InvalidInput
from symdecouple.verdict import Verdict

__all__ = ["Decisions"]

Answer = TypeVar("Answer", Verdict, InvolutiveClosure)


class Decisions(Mapping[int, Answer], Generic[Answer]):
    """Answers on the sets of the first k features, k = 1, ..., M, each decided when it is asked for and then kept."""

    def __init__(self, size: int, decide: Callable[[int], Answer]) -> None:
        self._size = size
        self._decide: Callable[[int], Answer] = decide
        self._kept: dict[int, Answer] = {}

    def __getitem__(self, k: int) -> Answer:
        if isinstance(k, bool) or not hasattr(k, "__index__") or not 1 <= k <= self._size:
            raise InvalidInput(f"verdicts are on the first k features, k = 1 to {self._size}; got {k!r}")
        if k not in self._kept:
            self._kept[k] = self._decide(int(k))
        return self._kept[k]

    def learn(self, k: int, answer: Answer) -> None:
        """Keep an answer on the first k features that is known already."""
        self._kept[k] = answer

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, self._size + 1))

    def __len__(self) -> int:
        return self._size

    def __contains__(self, k: object) -> bool:
        return isinstance(k, int) and 1 <= k <= self._size

    @property
    def decided(self) -> Mapping[int, Answer]:
        """The verdicts that are there already; looking at them decides nothing."""
        return dict(sorted(self._kept.items()))

    def __repr__(self) -> str:
        kept = ", ".join(f"{k}: {verdict.status.name}" for k, verdict in self.decided.items())
        return f"Decisions({self._size} sets, decided: {{{kept}}})"
