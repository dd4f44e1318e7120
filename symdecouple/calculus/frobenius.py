r"""Condition C2: is the span of the gradients involutive (Frobenius)?

For every N at once: each bracket [v_i, v_j] is in the span over the field of the statistics, or it is not. If it is,
C2 is PROVED for every N, with structure functions c_ij^k, wherever the gradients are independent and no denominator
vanishes. If not, it is REFUTED at generic samples of every N >= N0, with a rational sample of size N0 as witness. For
one N the same, and where there are N independent gradients C2 holds vacuously.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any

from symdecouple.calculus.audit import basis_check
from symdecouple.calculus.by_cells import decide_by_cells, is_cellwise, without_pieces
from symdecouple.calculus.certificates import FullSpan, Involution, NonInvolution, denominators
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.evidence import numeric_evidence
from symdecouple.calculus.exceptional import exceptions
from symdecouple.calculus.filtered import involution_of_filtered
from symdecouple.calculus.frame import Frame, recent_frame
from symdecouple.calculus.independence import (
    SEED,
    can_be_written_out,
    check_independence,
    check_size,
    is_generic,
    settled,
    without_expression,
)
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.specialization import at_values, specialized
from symdecouple.calculus.subject import Size, Subject, count, forms_of
from symdecouple.calculus.witness import Witness, find_failing_pair, find_witness
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import ExceptionalValues, Status, Verdict

__all__ = ["check_frobenius"]

SHARE_OF_ALGEBRA = 0.9  # of what is left, where a sample has refuted for its size already
SHARE_OF_C1 = 0.4  # of the budget: what is independent is asked first, and takes less


def check_frobenius(features: Any, *, n_samples: int | tuple[int, ...] | None = None, budget: float = 30.0,
                    samples: Any = None) -> Verdict:
    """Decide exactly whether the gradients span an involutive distribution (condition C2).

    Parameters
    ----------
    features : FeatureSet, list of VectorField, or list of OneForm
        Of 1-forms the distribution is their kernel, the fields that all of them annihilate; `subject` lists a basis.
    n_samples : int or tuple of int, optional
        Decide for this sample size (the shape of a grid, for filters in several dimensions); default: for every size
        at once.
    budget : float
        Seconds; past them the verdict is UNDECIDED with the evidence so far.
    samples : array_like (..., N), optional
        Only for sets with black boxes, which have no exact answer: look at these samples, for a NUMERICAL verdict.

    Returns
    -------
    Verdict
        PROVED with `structure`, REFUTED with `failing_pair`, `n0` and `witness`, or UNDECIDED with `reason`. The C1
        verdict is in `independence`; where the gradients are dependent, C2 is decided for their span.

    Raises
    ------
    InvalidInput
        For a sample size below 2 or one that contradicts the coordinates; for samples where the question is exact.

    Notes
    -----
    Milliseconds to a second for moments, exponential and trigonometric averages (see the benchmarks). Filtered features
    are PROVED for every size and kernel by identities in words (`convolution`), and REFUTED by a witness at one size,
    which speaks for all sizes from some N0 on where the filters are circular and in one dimension (`locality`).

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.mean import Mean
    >>> verdict = check_frobenius([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])
    >>> verdict.status.name, verdict.failing_pair, verdict.n0
    ('REFUTED', (3, 4), 5)
    >>> check_frobenius([Mean(x), Mean(x**2), Mean(x**3)]).structure[2, 3]
    (0, 0, 2)
    >>> from sympy import symbols
    >>> from symdecouple.calculus.forms import OneForm
    >>> y, z = symbols("y z")
    >>> check_frobenius([OneForm([z, -y], [y, z])]).status.name      # z*dy - y*dz is not closed, and integrable
    'PROVED'
    >>> from symdecouple.language.filters import Filter
    >>> check_frobenius([Mean(x), Mean(Filter("h")(x)**2)]).structure[1, 2]
    (2*dc(h)**2, 0)
    """
    clock = Budget(budget)
    if forms := forms_of(features):
        try:
            with clock.running("the kernel of forms"):
                features = Subject.of(features)
        except BudgetExceeded as error:
            return Verdict("C2", Status.UNDECIDED, tuple(map(str, forms)), n_samples, reason=str(error), noun="fields")
    subject = Subject.of(features)
    if (verdict := without_expression(subject, "C2", n_samples)) is not None and samples is not None:
        from symdecouple.numeric.paths.empirical import empirical_frobenius

        return empirical_frobenius(FeatureSet(subject.items), samples, budget=budget,
                                   n_samples=None if n_samples is None else count(n_samples))
    if verdict is not None:
        return verdict
    if samples is not None:
        raise InvalidInput("all of these features have expressions, and C2 is decided exactly, for every sample: leave "
                           "samples= out")
    subject = without_pieces(subject)
    return _decide(subject, check_size(subject, n_samples), clock.remaining if forms else budget)


def _decide(subject: Subject, n_samples: Size | None, budget: float, look_for_exceptions: bool = True) -> Verdict:
    if is_cellwise(subject):
        return decide_by_cells(subject, n_samples, budget, _decide, partial(_again, subject, n_samples, budget))
    start, clock, rng = time.perf_counter(), Budget(budget), random.Random(SEED)
    look_for_exceptions = look_for_exceptions and subject.cell is None
    independence = check_independence(subject, n_samples=n_samples, budget=budget * SHARE_OF_C1)
    try:
        with clock.running("deciding involutivity"):
            answer = (settled(_decide_every_size(subject, independence, clock, rng), n_samples)
                      if is_generic(subject, n_samples)
                      else _decide_one_size(subject, n_samples, independence, clock, rng))
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}

    def decide(special: Subject, seconds: float) -> Verdict:
        return _decide(special, n_samples, seconds, look_for_exceptions=False)

    if answer["status"] is Status.UNDECIDED and look_for_exceptions:
        answer["evidence"] = numeric_evidence(subject, n_samples, rng)
    if look_for_exceptions:
        answer["exceptions"], answer["not_searched"] = (
            exceptions(subject, (answer["status"], independence.status), answer.get("certificate"), decide, clock,
                       n_samples) if answer["status"] is not Status.UNDECIDED
            else (independence.exceptions, independence.not_searched))
        answer["exceptions"] += _where_forms_are_dependent(subject, answer["exceptions"], decide, clock)
    return Verdict("C2", subject=subject.texts(), noun=subject.noun, n_samples=n_samples, independence=independence,
                   parameters=tuple(map(str, subject.symbols)),
                   redecide=partial(_again, subject, n_samples, budget), seconds=time.perf_counter() - start, **answer)


def _where_forms_are_dependent(subject: Subject, known: Sequence[ExceptionalValues],
                               decide: Callable[[Subject, float], Verdict],
                               clock: Budget) -> tuple[ExceptionalValues, ...]:
    """Decide again where forms have a larger kernel: their own minors vanish, and fields of it may not tell."""
    if not (subject.forms and subject.symbols):
        return ()
    found, listed = [], [dict(record) for record in known]
    for record in check_independence(subject.duals, budget=clock.remaining).exceptions:
        if dict(record) in listed:
            continue
        try:
            special = decide(specialized(subject, dict(record)), clock.remaining)
            found.append(ExceptionalValues(record.at, (("C2", special.status),)))
        except UnsupportedExpression as error:
            found.append(ExceptionalValues(record.at, (), str(error)))
    return tuple(found)


def _decide_every_size(subject: Subject, independence: Verdict, clock: Budget, rng: random.Random) -> dict[str, Any]:
    """Decide for every N; where the algebra does not end in time, a sample still refutes for its own size."""
    seen, size = None, len(subject) + 2
    if independence.status is Status.PROVED and not subject.functions:
        with suppress(UnsupportedExpression):
            seen = find_failing_pair(subject, range(1, len(subject) + 1), size, rng, clock)
    algebra = clock if seen is None else Budget(clock.remaining * SHARE_OF_ALGEBRA)
    try:
        with sympy_failures("deciding involutivity"), algebra.running("deciding involutivity"):
            answer = _decide_generic(subject, algebra, rng)
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}
    if seen is None or answer["status"] is not Status.UNDECIDED:
        return answer
    assert seen.pair is not None  # a pair was asked for
    i, j = seen.pair
    return {"status": Status.REFUTED, "certificate": NonInvolution(subject, (i, j), seen, None, size)}


def _decide_generic(subject: Subject, clock: Budget, rng: random.Random) -> dict[str, Any]:
    frame = recent_frame(subject.framed, clock)
    member = Membership(frame, clock, rng)
    for i, j in combinations(member.pivots, 2):
        if member.excludes(member.bracket(i, j)):
            return _refute_generic(subject, frame, member, (i, j), clock, rng)
    structure = _structure(member)
    if isinstance(structure, tuple):
        return _unsolved(structure, subject.noun)
    return _proved(subject, structure, None)


def _refute_generic(subject: Subject, frame: Frame, member: Membership, pair: tuple[int, int], clock: Budget,
                    rng: random.Random) -> dict[str, Any]:
    i, j = pair[0] + 1, pair[1] + 1
    forms = [*frame.forms, member.bracket(*pair)]
    if subject.functions:
        names = ", ".join(map(str, subject.functions))
        return {"status": Status.UNDECIDED, "reason": f"[v{i}, v{j}] leaves the span as a formal expression, but "
                f"{names} is undefined: bind it, features.bind({{...}}), to decide"}
    relations = _relations(subject, member)
    if relations is None:
        return {"status": Status.UNDECIDED,
                "reason": f"the {subject.noun} are dependent, but the relation was not proved"}
    columns = [k + 1 for k in member.pivots]
    n0 = frame.least_size(forms, len(columns) + 1)
    witness = find_witness(subject, columns, (i, j), n0, rng, clock)
    if witness is None:
        return {"status": Status.UNDECIDED, "reason": f"[v{i}, v{j}] leaves the span as a formal expression, but every "
                f"minor vanished or stayed too small at the samples of size {n0} that were tried: a hidden relation "
                "between the functions is likely" + ("" if subject.is_smooth else " (they are not analytic)")}
    claimed = n0 if subject.is_smooth and basis_check(subject, frame, forms, witness.sample).passed else None
    return {"status": Status.REFUTED,
            "certificate": NonInvolution(subject, (i, j), witness, claimed, None if claimed else n0, relations)}


def _decide_one_size(subject: Subject, n_samples: Size | None, independence: Verdict, clock: Budget,
                     rng: random.Random) -> dict[str, Any]:
    if n_samples is None:
        return involution_of_filtered(subject, None, clock, rng)
    if (witness := _full_span(subject, n_samples, independence, clock, rng)) is not None:
        return {"status": Status.PROVED, "vacuous": True, "certificate": FullSpan(subject, witness, n_samples)}
    if subject.kind == "mean" and subject.is_filtered:
        answer = involution_of_filtered(subject, n_samples, clock, rng)
        if answer["status"] is not Status.UNDECIDED or not can_be_written_out(subject, n_samples):
            return answer
    if independence.status is Status.UNDECIDED:
        return {"status": Status.UNDECIDED,
                "reason": f"which {subject.noun} are independent at N = {n_samples} is not known: "
                f"{independence.reason}"}
    about, columns, relations = _independent_part(subject, independence, clock, rng)
    size = count(n_samples) if about.coordinates else n_samples
    found = find_failing_pair(about, columns, size, rng, clock)
    if found is None:
        answer = _prove_one_size(subject, n_samples, clock, rng)
        if answer["status"] is not Status.UNDECIDED:
            return answer
        tried = (find_witness(about, columns, pair, size, rng, clock) for pair in combinations(columns, 2))
        if (found := next(filter(None, tried), None)) is None:
            return answer
    assert found.pair is not None  # a pair was asked for
    i, j = found.pair
    return {"status": Status.REFUTED, "certificate": NonInvolution(about, (i, j), found, None, size, relations)}


def _prove_one_size(subject: Subject, n_samples: Size, clock: Budget, rng: random.Random) -> dict[str, Any]:
    """Every minor vanished at the samples tried: prove the brackets in the span, for every N or for this one."""
    if subject.kind == "mean" and not subject.is_filtered:
        structure = _structure(Membership(recent_frame(subject.framed, clock), clock, rng))
        if isinstance(structure, dict):
            return _proved(subject, structure, n_samples)
    explicit = subject if subject.coordinates else subject.at(n_samples)
    structure = _structure(Membership(CoordinateFrame(explicit, clock), clock, rng))
    if isinstance(structure, tuple):
        return _unsolved(structure, subject.noun)
    return _proved(explicit, structure, count(n_samples))


def _full_span(subject: Subject, n_samples: Size, independence: Verdict, clock: Budget,
               rng: random.Random) -> Witness | None:
    if independence.status is Status.PROVED and len(subject) == count(n_samples):
        found: Witness = independence.witness
        return found
    if len(subject) <= count(n_samples):
        return None
    for columns in combinations(range(1, len(subject) + 1), count(n_samples)):
        if (witness := find_witness(subject, columns, None, n_samples, rng, clock)) is not None:
            return witness
    return None


def _independent_part(subject: Subject, independence: Verdict, clock: Budget,
                      rng: random.Random) -> tuple[Subject, list[int], dict[int, Any]]:
    """Return the columns of independent gradients, the relations that give the others, and what these are about.

    A relation that holds at this N only is one in coordinates, and then so is all that rests on it.
    """
    if independence.status is Status.PROVED:
        return subject, list(range(1, len(subject) + 1)), {}
    certificate: Any = independence.certificate
    if certificate.relation is None:
        return subject, [], {}
    about: Subject = certificate.subject
    if about.is_filtered and independence.n_samples is not None:
        about = about.at(independence.n_samples)
    frame = CoordinateFrame(about, clock) if about.coordinates else recent_frame(about.framed, clock)
    member = Membership(frame, clock, rng)
    relations = _relations(about, member)
    return (subject, [], {}) if relations is None else (about, [k + 1 for k in member.pivots], relations)


def _relations(subject: Subject, member: Membership) -> dict[int, Any] | None:
    out = {}
    for k in range(len(subject)):
        if k not in member.pivots:
            relation = member.relation(k)
            if relation is None:
                return None
            out[k + 1] = subject.shown(relation)
    return out


def _structure(member: Membership) -> dict[tuple[int, int], Any] | tuple[int, int]:
    """Return the structure functions of all pairs, or the first pair (from 1) that could not be solved for."""
    out = {}
    for i, j in combinations(range(member.frame.size), 2):
        functions = member.structure(i, j)
        if functions is None:
            return i + 1, j + 1
        out[i + 1, j + 1] = functions
    return out


def _proved(subject: Subject, structure: dict[tuple[int, int], Any], n_samples: Size | None) -> dict[str, Any]:
    structure = {pair: subject.shown(row) for pair, row in structure.items()}
    vanishing = denominators(c for row in structure.values() for c in row)
    return {"status": Status.PROVED, "certificate": Involution(subject, structure, vanishing, n_samples)}


def _unsolved(pair: tuple[int, int], noun: str) -> dict[str, Any]:
    return {"status": Status.UNDECIDED, "reason": f"[v{pair[0]}, v{pair[1]}] looks like a combination of the "
            f"{noun}, but the identity could not be proved"}


def _again(subject: Subject, n_samples: Size | None, budget: float, values: Mapping[Any, Any]) -> Verdict:
    return at_values(subject, values, "C2", partial(check_frobenius, n_samples=n_samples, budget=budget))
