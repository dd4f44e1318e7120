"""What certificates about critical points share: what they are about, how they are written and read, and the verdicts.

Some statements hold for every number of samples at whatever references; others are for one number of samples, at
references that are part of the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from sympy import Expr

from symdecouple.calculus.cell import read_subject
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.text import parse_expression, to_text
from symdecouple.verdict import Status, Verdict

__all__ = ["AtReferences", "EverySize", "Reader", "bounded", "found_numerically", "proved", "readers"]

Reader: TypeAlias = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Stated(Claim):
    """A claim whose reason, findings and formula are the same for all subjects, where a kind says nothing else."""

    because: ClassVar[str] = ""
    findings: ClassVar[str] = ""
    formula: ClassVar[str] = ""

    def reason(self, n_samples: Size | None) -> str:
        return self.because

    def summary(self) -> tuple[str, ...]:
        return (self.findings,)

    def latex(self) -> str:
        return self.formula


@dataclass(frozen=True, slots=True)
class EverySize(Stated):
    """A claim for every number of samples from two on, at whatever references."""

    n_samples: ClassVar[int | None] = None  # every number of them, from n0 on
    n0: ClassVar[int] = 2

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"n_samples": None}


@dataclass(frozen=True, slots=True)
class AtReferences(Stated):
    """A claim for one number of samples.

    Attributes
    ----------
    references : tuple of Expr
        Of all features but the last.
    n_samples : int
    """

    references: tuple[Expr, ...]
    n_samples: int

    @property
    def has_references(self) -> bool:
        """True where every feature but the last has one."""
        return len(self.references) == len(self.subject) - 1

    @property
    def at_references(self) -> str:
        """The references in words."""
        return f"at the references {', '.join(map(str, self.references))}"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"references": [to_text(v) for v in self.references], "n_samples": self.n_samples}

    @staticmethod
    def read(data: Mapping[str, Any]) -> tuple[Subject, tuple[Expr, ...], int]:
        """Return the subject, the references and the number of samples that `to_dict` wrote."""
        if type(data["n_samples"]) is not int:
            raise InvalidInput(f"a number of samples is expected, got {data['n_samples']!r}")
        return read_subject(data["subject"]), tuple(map(parse_expression, data["references"])), data["n_samples"]


def readers(*kinds: type[EverySize]) -> dict[str, Reader]:
    """Return how claims that have a subject and nothing else are read, by their kinds."""
    def reader(kind: type[EverySize]) -> Reader:
        return lambda data: kind(read_subject(data["subject"]))

    return {kind.kind: reader(kind) for kind in kinds}


def proved(claims: Iterable[Any], n_samples: Size | None) -> tuple[Verdict, ...]:
    """Return the verdicts that claims carry."""
    return tuple(Verdict(claim.answers[0], Status.PROVED, claim.subject.texts(), n_samples, claim) for claim in claims)


def found_numerically(texts: Sequence[str], n_samples: int, reason: str, tolerance: float = 0.0) -> Verdict:
    """Return the verdict on a list of critical points that was searched for, and not proved to be complete."""
    return Verdict("all critical points", Status.NUMERICAL, tuple(texts), n_samples, reason=reason, holds=True,
                   residual=0.0, tolerance=tolerance)


def bounded(count: int, most: int, what: str, done: str) -> None:
    """Raise BudgetExceeded where there are more cases than are gone through."""
    if count > most:
        raise BudgetExceeded(f"there are {count} {what}, and up to {most} are {done}; give fewer samples, or a lower "
                             "level")
