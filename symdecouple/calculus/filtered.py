"""C1 and C2 of filtered features: identities in words prove, for every N; samples at one N refute.

An identity in words holds for every kernel that the words leave open and for every sample size: it proves. That no
identity was found refutes nothing, since words may be dependent at a given N. What refutes is an exact witness: one N,
rational taps for kernels known by name, a rational sample and a minor that is not zero. Where the question is about
every N, `locality` says from which N0 on the witness speaks for all; elsewhere the answer is claimed for its N only.
"""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import combinations
from typing import Any

from symdecouple.calculus.certificates import Dependence, Independence, Involution, NonInvolution, denominators
from symdecouple.calculus.convolution import TooManyTerms
from symdecouple.calculus.convolution_frame import frames
from symdecouple.calculus.kernels import sizes_beyond
from symdecouple.calculus.locality import least_size_for
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.calculus.witness import Witness, find_witness, is_defined
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.verdict import Status

__all__ = ["dependence", "independence_of_filtered", "involution_of_filtered"]

Answer = dict[str, Any]

NOWHERE = ("the brackets are in the span as formal expressions, but no sample was found at which all features are "
           "defined and can be enclosed: a power that is no whole number, a root or a logarithm is of positive numbers "
           "only, and the outputs of a filter with gain 0 are never all positive")


def independence_of_filtered(subject: Subject, n_samples: Size | None, clock: Budget, rng: random.Random) -> Answer:
    """Return the answer to C1; UNDECIDED where neither a relation in words nor a witness is found."""
    reason, tried = "", frames(subject, n_samples, clock)
    try:
        if (found := _relation(subject, next(tried, None), n_samples, clock, rng)) is not None:
            return found
    except (TooManyTerms, UnsupportedExpression) as error:
        reason = str(error)
    columns = range(1, len(subject) + 1)
    for size in _sizes(subject, n_samples):
        if (witness := find_witness(subject, columns, None, size, rng, clock)) is not None:
            proof = Independence(subject, witness, *_scope(subject, witness, n_samples, size, rng, clock))
            return {"status": Status.PROVED, "certificate": proof, "evidence": proof.evidence()}
    for frame in tried:
        if (found := _relation(subject, frame, n_samples, clock, rng)) is not None:
            return found
    return {"status": Status.UNDECIDED, "reason": reason or "every minor vanished at the samples that were tried, "
            "but no relation was proved"}


def _relation(subject: Subject, frame: Any, n_samples: Size | None, clock: Budget, rng: random.Random) -> Answer | None:
    return None if frame is None else dependence(subject, Membership(frame, clock, rng), n_samples)


def dependence(subject: Subject, member: Membership, n_samples: Size | None) -> Answer | None:
    """REFUTED by the first gradient that the pivots of `member` make up, or that is zero; None where there is none."""
    for k in range(len(subject)):
        if k not in member.pivots and (relation := member.relation(k)) is not None:
            return {"status": Status.REFUTED, "certificate": Dependence(subject, subject.shown(relation), n_samples)}
    return None


def involution_of_filtered(subject: Subject, n_samples: Size | None, clock: Budget, rng: random.Random) -> Answer:
    """Return the answer to C2; UNDECIDED where neither an identity in words nor a witness is found."""
    if len(subject) == 1:
        return _proved(subject, {}, n_samples)
    searched: set[tuple[Any, ...]] = set()
    reason = ""
    try:
        for frame in frames(subject, n_samples, clock):
            member = Membership(frame, clock, rng)
            outside = _outside(member)
            if isinstance(outside, dict):
                smallest = _sizes(subject, n_samples)[0]
                if frame.words.composites.may_fail and not is_defined(subject, smallest, rng, clock):
                    return {"status": Status.UNDECIDED, "reason": NOWHERE}
                return _proved(subject, outside, n_samples)
            relations = {k + 1: member.relation(k) for k in range(len(subject)) if k not in member.pivots}
            for pair in outside:
                if (pair, *relations) in searched:
                    continue
                if (found := _refuted(subject, pair, relations, n_samples, clock, rng)) is not None:
                    return found
                searched.add((pair, *relations))
            i, j = outside[0]
            reason = (f"[v{i}, v{j}] leaves the span as a formal expression, but every minor vanished at the samples "
                      "that were tried" + ("" if n_samples else ": what holds for special kernels and boundaries may "
                                           "be decided for one sample size, n_samples=N"))
    except (TooManyTerms, UnsupportedExpression) as error:
        reason = str(error)
        for pair in combinations(range(1, len(subject) + 1), 2):
            if (found := _refuted(subject, pair, {}, n_samples, clock, rng)) is not None:
                return found
    return {"status": Status.UNDECIDED, "reason": reason}


def _outside(member: Membership) -> dict[tuple[int, int], Any] | list[tuple[int, int]]:
    """Return the structure functions of all pairs (from 1), or the pairs whose brackets are not in the span."""
    pairs = list(combinations(range(member.frame.size), 2))
    failing = [(i + 1, j + 1) for i, j in combinations(member.pivots, 2) if member.excludes(member.bracket(i, j))]
    if failing:
        return failing
    structure = {(i + 1, j + 1): member.structure(i, j) for i, j in pairs}
    unsolved = [pair for pair, functions in structure.items() if functions is None]
    return unsolved or structure


def _proved(subject: Subject, structure: dict[tuple[int, int], Any], n_samples: Size | None) -> Answer:
    vanishing = denominators(c for row in structure.values() for c in row)
    return {"status": Status.PROVED, "certificate": Involution(subject, structure, vanishing, n_samples)}


def _refuted(subject: Subject, pair: tuple[int, int], relations: dict[int, Any], n_samples: Size | None, clock: Budget,
             rng: random.Random) -> Answer | None:
    """Look for a sample at which a bracket leaves the span of the gradients that are not combinations of others."""
    columns = [k for k in range(1, len(subject) + 1) if k not in relations]
    if not set(pair) <= set(columns) or None in relations.values():
        return None
    for size in _sizes(subject, n_samples):
        if count(size) <= len(columns):
            continue
        if (found := find_witness(subject, columns, pair, size, rng, clock)) is not None:
            n0, claimed, tail = _scope(subject, found, n_samples, size, rng, clock)
            return {"status": Status.REFUTED,
                    "certificate": NonInvolution(subject, pair, found, n0, claimed, relations, tail)}
    return None


def _scope(subject: Subject, witness: Witness, n_samples: Size | None, size: Size, rng: random.Random,
           clock: Budget) -> tuple[int | None, Size | None, Witness | None]:
    """Return N0, None and the tail where every N was asked and the witness speaks for all from N0 on; else its size."""
    if n_samples is None:
        with suppress(BudgetExceeded), (share := Budget(clock.remaining / 2)).running("looking for a tail"):
            if (found := least_size_for(subject, witness, rng, share)) is not None:
                return found[0], None, found[1]
    return None, size, None


def _sizes(subject: Subject, n_samples: Size | None) -> list[Size]:
    return sizes_beyond(subject, len(subject)) if n_samples is None else [n_samples]
