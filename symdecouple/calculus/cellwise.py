r"""The certificate of a set with kinks: one certificate for each cell of sign patterns.

The first part is the generic cell; its answer is what the verdict says, for the samples that are described with it. An
answer for all samples is claimed only where all cells are known and each has a certificate with the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from symdecouple.calculus.audit import size_check
from symdecouple.calculus.cell import Cell, patterns_at
from symdecouple.calculus.cells import cells_of
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.frame import recent_frame
from symdecouple.calculus.segments import joined, pure_arguments, segments
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.kinks import in_signs
from symdecouple.verdict import Check, Status

__all__ = ["Cellwise", "Part"]

SHOWN = 12
SPECIAL = ", for all but special shares of these"


@dataclass(frozen=True, slots=True)
class Part:
    """The answer on one cell; `shares` where those of the samples in each part of the line enter into it."""

    cell: Cell
    status: Status
    certificate: Any
    reason: str
    shares: bool = False

    @property
    def everywhere(self) -> bool:
        """True iff the answer is an identity, for all samples of the cell."""
        return getattr(self.certificate, "witness", None) is None and self.certificate is not None


@dataclass(frozen=True, slots=True)
class Cellwise(Claim):
    """The answers on the cells of a subject with kinks, the generic cell first; `complete` if there are no others."""

    question: str
    parts: tuple[Part, ...]
    complete: bool
    n_samples: Size | None
    kind: ClassVar[str] = "cells"

    @property
    def answers(self) -> tuple[str, Status]:  # type: ignore[override]
        """The question, and the answer on the generic cell."""
        return self.question, self.parts[0].status

    @property
    def agree(self) -> bool:
        """True iff there are no other cells, and all have the same answer for all sizes from some on."""
        return self.complete and all(p.status is self.parts[0].status and p.certificate is not None and (
            p.everywhere or p.cell.sample is None or getattr(p.certificate, "n0", None) is not None)
            for p in self.parts)

    @property
    def n0(self) -> int | None:
        """The size from which on the answer holds at generic samples, in the cells that it is claimed for."""
        sizes = [getattr(p.certificate, "n0", None) for p in (self.parts if self.agree else self.parts[:1])]
        return max((n for n in sizes if n is not None), default=None)

    @property
    def size(self) -> Size | None:
        """The one size that the answer is for."""
        return getattr(self.parts[0].certificate, "n_samples", None) if self.n0 is None else None

    @property
    def where(self) -> str:
        """The samples that the answer is for, in words; empty for all samples."""
        if self.agree:
            least = max((_least(p) for p in self.parts), default=0)
            special = SPECIAL * any(p.shares and not p.everywhere for p in self.parts)
            if least < 2 and not special:
                return ""
            return f", with {_numbers(least)} or more in each part of the line that has any{special}"
        return ", " + described(self.parts[0])

    @property
    def vacuous(self) -> bool:
        """True iff the gradients span everything in every cell."""
        return all(p.certificate is not None and p.certificate.kind == "full span" for p in self.parts)

    def reason(self, n_samples: Size | None) -> str:
        """Return the sentence why, for the generic cell."""
        own = self.parts[0].certificate
        return "" if own is None else str(own.reason(n_samples))

    @property
    def pair(self) -> Any:
        return getattr(self.parts[0].certificate, "pair", None)

    @property
    def structure(self) -> Any:
        return getattr(self.parts[0].certificate, "structure", None)

    @property
    def witness(self) -> Any:
        return getattr(self.parts[0].certificate, "witness", None)

    @property
    def relation(self) -> Any:
        return getattr(self.parts[0].certificate, "relation", None)

    @property
    def nonvanishing(self) -> tuple[Any, ...]:
        return tuple(getattr(self.parts[0].certificate, "nonvanishing", ()))

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        known = cells_of(self.subject)
        yield Check("cells", self.subject.cell is None and known.cells == tuple(p.cell for p in self.parts)
                    and known.complete == self.complete, f"recomputed {len(known.cells)}")
        for part in self.parts:
            name = _words(part.cell)
            certificate = part.certificate
            if certificate is None:
                yield Check(name, part.status is Status.UNDECIDED and part is not self.parts[0], "not decided")
                continue
            fits = (certificate.subject == Subject(self.subject.items, cell=part.cell)
                    and certificate.answers == (self.question, part.status)
                    and self.n_samples in (None, certificate.n_samples))
            yield Check("shares", part.shares == shares_enter(certificate, clock), f"{part.shares}")
            failed = [str(check) for check in certificate.audit(clock.remaining) if not check.passed]
            yield Check(name, fits and not failed, failed[0] if failed else f"{part.status.name}, recomputed")

    def lines(self) -> tuple[str, ...]:
        """Return one line for each cell, or one for all where they agree."""
        if self.agree and len(self.parts) > 1:
            return (f"the same in all {len(self.parts)} cells of signs",)
        shown = [f"{described(p)}: {p.status.name}{', ' + p.reason if p.reason else ''}" for p in self.parts[:SHOWN]]
        more = [f"... {len(self.parts) - SHOWN} more cells"] if len(self.parts) > SHOWN else []
        open_ = [] if self.complete else ["other cells may occur: not decided"]
        return (*shown, *more, *open_)

    def summary(self) -> tuple[str, ...]:
        listed = self.lines() if len(self.parts) > 1 or not self.complete else ()
        return (*self.parts[0].certificate.summary(), *listed)

    def latex(self) -> str:
        return str(self.parts[0].certificate.latex())

    def to_dict(self) -> dict[str, Any]:
        cells = [p.cell.to_dict(self.subject) | {"status": p.status.name, "reason": p.reason,
                  "shares": p.shares,
                  "certificate": None if p.certificate is None else p.certificate.to_dict()} for p in self.parts]
        return self._head() | {"question": self.question, "cells": cells, "complete": self.complete,
                               "n_samples": self.n_samples}

    @classmethod
    def from_dict(cls, subject: Subject, data: Mapping[str, Any], n_samples: Size | None, read: Any) -> Cellwise:
        parts = tuple(Part(Cell.from_dict(c, subject), Status[c["status"]],
                           None if c["certificate"] is None else read(c["certificate"]), str(c["reason"]),
                           bool(c["shares"]))
                      for c in data["cells"])
        if not parts or any(isinstance(p.certificate, Cellwise) for p in parts):
            raise InvalidInput("a certificate by cells has one or more cells, and certificates without cells on them")
        return cls(subject, str(data["question"]), parts, bool(data["complete"]), n_samples)


def shares_enter(certificate: Any, budget: Budget) -> bool:
    """True iff the shares of samples in the parts occur in what a witness is about."""
    if getattr(certificate, "witness", None) is None:
        return False
    subject = certificate.subject
    if subject.cell.size < 2 or subject.coordinates:
        return False
    frame = recent_frame(subject.framed, budget)
    pair = getattr(certificate, "pair", None)
    return frame.depends_on_shares([*frame.forms, *([frame.bracket(pair[0] - 1, pair[1] - 1)] if pair else [])])


def described(part: Part) -> str:
    """Return the samples of a cell that a certificate is about, in words."""
    cell, least = part.cell, _least(part)
    words = _words(cell)
    if part.certificate is None or part.everywhere or cell.sample is None or cell.size < 2:
        return words
    if part.certificate.n0 is not None:
        return f"{words} ({_numbers(least)} or more in each{SPECIAL * part.shares})"
    found = patterns_at(cell.arguments, part.certificate.witness.sample,
                        _parameters(part.certificate), cell.sample) or []
    return f"{words} ({', '.join(map(str, _counts(cell, found)))} values)"


def _numbers(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _counts(cell: Cell, found: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the number of samples in each part."""
    at = [cell.parts[cell.patterns.index(p)] for p in found if p in cell.patterns]
    return [at.count(part) for part in range(cell.size)]


def _parameters(certificate: Any) -> dict[Any, Any]:
    names = {s.name: s for s in certificate.subject.symbols}
    return {names[name]: value for name, value in certificate.witness.parameters if name in names}


def _least(part: Part) -> int:
    """Return the number of samples in each part of the line that an answer at generic samples is claimed for."""
    if part.certificate is None or part.everywhere or part.cell.size < 2:
        return 0
    found = patterns_at(part.cell.arguments, part.certificate.witness.sample, _parameters(part.certificate),
                        part.cell.sample) or []
    return max(_counts(part.cell, found), default=0)


def _words(cell: Cell) -> str:
    if cell.sample is None:
        return "where " + _conditions(cell, range(len(cell.arguments)), cell.patterns[0])
    moving = [k for k, u in enumerate(cell.arguments) if u.has(cell.sample)]
    fixed = [k for k in range(len(cell.arguments)) if k not in moving]
    text = ""
    if moving:
        parts = [_part(cell, moving, part) for part in range(cell.size)]
        only = "all values" if len(parts) == 1 else "values"
        text = f"on samples with {only} in " + (
            parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1])
    if fixed:
        text += (" and where " if text else "where ") + _conditions(cell, fixed, cell.patterns[0])
    return text or "everywhere"


def _part(cell: Cell, moving: list[int], part: int) -> str:
    assert cell.sample is not None
    own = [tuple(p[k] for k in moving) for p, g in zip(cell.patterns, cell.parts, strict=True) if g == part]
    if len(pure_arguments(cell.arguments, cell.sample)) == len(moving):
        places = [s for s in segments(cell.arguments, cell.sample) if s.pattern in own]
        return " or ".join(s.text(cell.sample.name) for s in joined(places))
    here = [p for p, g in zip(cell.patterns, cell.parts, strict=True) if g == part]
    return " or ".join(_conditions(cell, moving, p) for p in here)


def _conditions(cell: Cell, which: Iterable[int], pattern: tuple[int, ...]) -> str:
    return " and ".join(f"{in_signs(cell.arguments[k])} {'>' if pattern[k] > 0 else '<'} 0" for k in which)
