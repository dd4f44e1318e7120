r"""Condition C1: are the gradients of a feature set linearly independent?

For every N at once: independent over the field of the statistics means independent at generic samples of every size
N >= N0, N0 the larger of the number of basis functions and the number of statistics that occur. Dependent means a
relation sum_k r_k v_k = 0 with coefficients r_k that are functions of the averages: the features are then functions of
each other wherever the coefficients make sense. For one N: a nonzero M-minor at a rational sample, or a relation in
coordinates.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from math import prod
from typing import Any

from symdecouple.calculus.audit import basis_check
from symdecouple.calculus.by_cells import decide_by_cells, is_cellwise, without_pieces
from symdecouple.calculus.certificates import Dependence, Independence
from symdecouple.calculus.coordinate_frame import CoordinateFrame
from symdecouple.calculus.exceptional import exceptions
from symdecouple.calculus.filtered import dependence, independence_of_filtered
from symdecouple.calculus.frame import recent_frame
from symdecouple.calculus.membership import Membership
from symdecouple.calculus.sample_independence import independence_at
from symdecouple.calculus.specialization import at_values
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.calculus.witness import find_witness, glance
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.boundaries import grid
from symdecouple.language.budget import Budget
from symdecouple.language.failures import sympy_failures
from symdecouple.verdict import Status, Verdict

__all__ = ["check_independence", "check_size", "without_expression"]

SEED = 20260
LARGE = 16
"""Sample sizes beyond this are not written out: the answer for every N is looked for instead."""


def check_independence(features: Any, *, n_samples: int | tuple[int, ...] | None = None,
                       budget: float = 30.0, at: Any = None) -> Verdict:
    """Decide exactly whether the gradients are linearly independent (condition C1), at generic samples or at one.

    Parameters
    ----------
    features : FeatureSet, list of VectorField, or list of OneForm
    n_samples : int or tuple of int, optional
        Decide for this sample size (the shape of a grid, for filters in several dimensions); default: for every size
        from some N0 on.
    budget : float
        Seconds; past them the verdict is UNDECIDED.
    at : array_like of exact numbers, (N,) or the shape of a grid, optional
        Decide at this sample: whole numbers, fractions, decimals; floats are the decimals that they print as.

    Returns
    -------
    Verdict
        PROVED with a witness (a sample and a nonzero minor), REFUTED with an exact relation, or UNDECIDED. With `at`
        the question is "C1 at a sample"; the certificate of a dependence has the exact `rank` there and `relations`
        with numbers as weights.

    Raises
    ------
    InvalidInput
        For a sample size below 2 or one that contradicts the coordinates; for a sample that is not finite, is outside
        the domain, or has other axes than the filters.

    Notes
    -----
    At a sample the cost is that of filtering N whole numbers or fractions: 9 energies of a 64x64 image take about a
    second. Gradients that are not rational there (exponentials, roots) are enclosed by intervals: independence is
    PROVED, or the answer is UNDECIDED with the smallest singular value as evidence.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.mean import Mean
    >>> check_independence([Mean(x), Mean(x**2), Mean(x)**2 + Mean(x**2)]).status.name
    'REFUTED'
    >>> verdict = check_independence([Mean(x), Mean(x**2), Mean(x**3)], at=[0, 0, 1])
    >>> verdict.status.name, verdict.certificate.rank, verdict.certificate.relation
    ('REFUTED', 2, (0, -3/2, 1))
    """
    subject = Subject.of(features)
    if subject.forms and not isinstance(features, Subject):
        subject = subject.duals
    if (verdict := without_expression(subject, "C1" if at is None else "C1 at a sample", n_samples)) is not None:
        return verdict
    if at is not None:
        return independence_at(subject, at, n_samples, budget)
    subject = without_pieces(subject)
    return _decide(subject, check_size(subject, n_samples), budget)


def _decide(subject: Subject, n_samples: Size | None, budget: float, look_for_exceptions: bool = True) -> Verdict:
    if is_cellwise(subject):
        return decide_by_cells(subject, n_samples, budget, _decide, partial(_again, subject, n_samples, budget))
    start, clock, rng = time.perf_counter(), Budget(budget), random.Random(SEED)
    look_for_exceptions = look_for_exceptions and subject.cell is None
    try:
        with clock.running("deciding independence"):
            answer = (settled(_decide_every_size(subject, clock, rng), n_samples) if is_generic(subject, n_samples)
                      else _decide_one_size(subject, n_samples, clock, rng))
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}

    def decide(special: Subject, seconds: float) -> Verdict:
        return _decide(special, n_samples, seconds, look_for_exceptions=False)

    if look_for_exceptions:
        answer["exceptions"], answer["not_searched"] = exceptions(
            subject, (answer["status"], None), None, decide, clock, n_samples)
    return Verdict("C1", subject=subject.texts(), noun=subject.noun, n_samples=n_samples,
                   parameters=tuple(map(str, subject.symbols)),
                   redecide=partial(_again, subject, n_samples, budget), seconds=time.perf_counter() - start, **answer)


def without_expression(subject: Subject, question: str, n_samples: Size | None) -> Verdict | None:
    """Return an UNDECIDED verdict where an item is a black box, which there is nothing to decide by; else None."""
    boxes = [str(item) for item in subject.items if item.kind == "black box"]
    if not boxes:
        return None
    reason = (f"{', '.join(boxes)} {'is a black box' if len(boxes) == 1 else 'are black boxes'}, without an expression "
              "to decide by; check_frobenius(features, samples=X) looks at samples")
    return Verdict(question, Status.UNDECIDED, subject.texts(), n_samples, reason=reason)


def check_size(subject: Subject, n_samples: Size | None) -> Size | None:
    """Return the sample size that is decided for; coordinates fix it, filters tell its number of axes."""
    if isinstance(n_samples, (tuple, list)):
        shape = grid(n_samples)
        if subject.ndim > 1 and len(shape) == subject.ndim:
            return shape
        if subject.ndim > 1 or (subject.is_filtered and len(shape) > 1):
            raise InvalidInput(f"the filters have {subject.ndim} dimensions, and n_samples={shape} has {len(shape)}")
        n_samples = prod(shape)
    elif n_samples is not None and subject.ndim > 1:
        raise InvalidInput(f"the filters have {subject.ndim} dimensions: n_samples is the shape of a grid, such as "
                           f"{(4,) * subject.ndim}; got {n_samples!r}")
    if n_samples is not None and (isinstance(n_samples, bool) or not hasattr(n_samples, "__index__") or n_samples < 2):
        raise InvalidInput(f"n_samples is an integer of at least 2, or None for every N; got {n_samples!r}")
    if subject.coordinates:
        size = len(subject.coordinates)
        if n_samples not in (None, size):
            raise InvalidInput(f"the features are functions of {size} coordinates, and n_samples={n_samples} is not")
        return size
    return None if n_samples is None else int(n_samples)


def is_generic(subject: Subject, n_samples: Size | None) -> bool:
    """True where the answer for every N is to be found: no size is given, or one too large to write out."""
    filtered = subject.kind == "mean" and subject.is_filtered
    return not filtered and (n_samples is None or (count(n_samples) > LARGE and subject.kind == "mean"))


def can_be_written_out(subject: Subject, n_samples: Size) -> bool:
    """True where exact algebra in the coordinates of one sample size is within reach."""
    return count(n_samples) <= LARGE and not subject.filters


def settled(answer: dict[str, Any], n_samples: Size | None) -> dict[str, Any]:
    """Return an answer found for every N >= N0 as one for a given N, which must be at least N0."""
    n0 = getattr(answer.get("certificate"), "n0", None)
    if n_samples is None or n0 is None or n0 <= count(n_samples):
        return answer
    return {"status": Status.UNDECIDED, "reason": f"settled for N >= {n0} only, and N = {n_samples} is too many "
            "samples to be written out"}


def _decide_every_size(subject: Subject, clock: Budget, rng: random.Random) -> dict[str, Any]:
    """Decide for every N; where the algebra does not end in time, a sample still proves it for its own size."""
    seen, size = None, len(subject) + 1
    if not subject.functions:
        with suppress(UnsupportedExpression):
            seen = glance(subject, range(1, len(subject) + 1), size, rng, clock)
    try:
        with sympy_failures("deciding independence"):
            answer = _decide_generic(subject, clock, rng)
    except (BudgetExceeded, UnsupportedExpression) as error:
        answer = {"status": Status.UNDECIDED, "reason": str(error)}
    if seen is None or answer["status"] is not Status.UNDECIDED:
        return answer
    return _independent(Independence(subject, seen, None, size))


def _decide_generic(subject: Subject, clock: Budget, rng: random.Random) -> dict[str, Any]:
    frame = recent_frame(subject.framed, clock)
    member = Membership(frame, clock, rng)
    if len(member.pivots) < len(subject):
        return _dependent(subject, member, None)
    n0 = frame.least_size(frame.forms, 2)
    columns = range(1, len(subject) + 1)
    if subject.functions:
        names = ", ".join(map(str, subject.functions))
        return {"status": Status.UNDECIDED, "reason": f"{names} undefined: independent as far as the declaration "
                "tells; bind, features.bind({...}), to decide"}
    witness = find_witness(subject, columns, None, n0, rng, clock)
    if witness is None:
        return {"status": Status.UNDECIDED, "reason": "independent as formal expressions, but every minor vanished "
                f"or stayed too small at the samples of size {n0} that were tried: a hidden relation is likely"}
    claimed = n0 if subject.is_smooth and basis_check(subject, frame, frame.forms, witness.sample).passed else None
    return _independent(Independence(subject, witness, claimed, None if claimed else n0))


def _decide_one_size(subject: Subject, n_samples: Size | None, clock: Budget, rng: random.Random) -> dict[str, Any]:
    if n_samples is not None and len(subject) > count(n_samples):
        return {"status": Status.REFUTED, "certificate": Dependence(subject, None, n_samples)}
    if subject.kind == "mean" and subject.is_filtered:
        answer = independence_of_filtered(subject, n_samples, clock, rng)
        if n_samples is None or answer["status"] is not Status.UNDECIDED or not can_be_written_out(subject, n_samples):
            return answer
    assert n_samples is not None
    columns = range(1, len(subject) + 1)
    witness = find_witness(subject, columns, None, n_samples, rng, clock)
    if witness is not None:
        return _independent(Independence(subject, witness, None, n_samples))
    if subject.kind == "mean" and not subject.is_filtered:
        generic = Membership(recent_frame(subject.framed, clock), clock, rng)
        if len(generic.pivots) < len(subject):
            return _dependent(subject, generic, n_samples)
    explicit = subject if subject.coordinates else subject.at(n_samples)
    return _dependent(explicit, Membership(CoordinateFrame(explicit, clock), clock, rng), count(n_samples))


def _dependent(subject: Subject, member: Membership, n_samples: Size | None) -> dict[str, Any]:
    if (found := dependence(subject, member, n_samples)) is not None:
        return found
    return {"status": Status.UNDECIDED, "reason": "every minor vanished at the samples that were tried, "
            "but no relation was proved", "evidence": (f"rank {len(member.pivots)} of {len(subject)}",)}


def _independent(certificate: Independence) -> dict[str, Any]:
    return {"status": Status.PROVED, "certificate": certificate, "evidence": certificate.evidence()}


def _again(subject: Subject, n_samples: Size | None, budget: float, values: Mapping[Any, Any]) -> Verdict:
    return at_values(subject, values, "C1", partial(check_independence, n_samples=n_samples, budget=budget))
