"""Checks of a claim for every N >= N0: by basis functions and statistics, or by what neighbouring samples see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symdecouple.calculus.audit import basis_check
from symdecouple.calculus.frame import Frame
from symdecouple.calculus.locality import locality_checks
from symdecouple.language.budget import Budget
from symdecouple.verdict import Check

__all__ = ["every_size_checks"]


def every_size_checks(claim: Any, clock: Budget) -> Iterator[Check]:
    """Check the N0 of a claim by a witness, and that the witness speaks for all sizes from it on.

    A claim for one size has none, or this size. Without filters there are as many samples as there are basis
    functions and statistics, and both are independent at some; filtered features go through `locality`.
    """
    subject, witness = claim.subject, claim.witness
    if claim.n_samples is not None:
        yield Check("N0", claim.n0 in (None, claim.n_samples), f"the claim is for N = {claim.n_samples}")
        return
    if subject.is_filtered and not subject.coordinates:
        yield from locality_checks(subject, witness, claim.tail, claim.n0, clock)
        return
    frame = Frame(subject.framed, clock)
    brackets = [frame.bracket(witness.pair[0] - 1, witness.pair[1] - 1)] if witness.pair else []
    n0 = frame.least_size([*frame.forms, *brackets], len(witness.columns) + 1 if brackets else 2)
    yield Check("N0", claim.n0 == n0 and claim.tail is None, f"recomputed {n0}")
    yield basis_check(subject, frame, [*frame.forms, *brackets], witness.sample)
