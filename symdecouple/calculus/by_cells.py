"""Deciding functions with kinks: cell by cell, each on a part of the space of samples where all is analytic.

The answer on the generic cell is the answer; the others are listed, and only where all cells are known and agree is the
answer one for all samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sympy import Dummy, Expr, Piecewise, S, nan, zoo

from symdecouple.calculus.cells import Cells, cells_of
from symdecouple.calculus.cellwise import Cellwise, Part, shares_enter
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.disguise import KINKS
from symdecouple.language.feature import Feature
from symdecouple.language.kinks import in_sides, in_signs
from symdecouple.verdict import Status, Verdict

__all__ = ["decide_by_cells", "is_cellwise", "without_pieces"]

IDLE = 1.0
"""Seconds for the question whether one kink is idle."""

Decide = Callable[[Subject, Size | None, float], Verdict]


def decide_by_cells(subject: Subject, n_samples: Size | None, budget: float, decide: Decide,
                    redecide: Any = None) -> Verdict:
    """Return one verdict made of the verdicts on the cells.

    Parameters
    ----------
    subject : Subject
        With kinks.
    n_samples : Size or None
    budget : float
    decide : callable
        Takes a subject on a cell, the size and the seconds left.
    redecide : callable, optional
        As in `Verdict`.
    """
    start, clock = time.perf_counter(), Budget(budget)
    question = "C2" if decide.__module__.endswith("frobenius") else "C1"
    try:
        with clock.running("finding the cells of the signs"):
            known = cells_of(subject)
    except (BudgetExceeded, UnsupportedExpression) as error:
        return Verdict(question, Status.UNDECIDED, subject.texts(), n_samples, reason=str(error))
    verdicts = []
    for k, cell in enumerate(known.cells):
        about = Subject(subject.items, cell=cell)
        left = clock.remaining if k == 0 else clock.remaining / 2
        verdicts.append(decide(about, n_samples, left) if left > 0.01 else
                        Verdict(question, Status.UNDECIDED, subject.texts(), n_samples, reason="out of time"))
    try:
        with clock.running("composing the answers on the cells"):
            c1 = None
            if question == "C2":
                late = Verdict("C1", Status.UNDECIDED, subject.texts(), n_samples, reason="out of time")
                inner = [late if v.independence is None else v.independence for v in verdicts]
                c1 = _composed("C1", subject, n_samples, known, inner, None)
            found = _composed(question, subject, n_samples, known, verdicts, c1)
    except BudgetExceeded as error:
        return Verdict(question, Status.UNDECIDED, subject.texts(), n_samples, reason=str(error))
    return replace(found, seconds=time.perf_counter() - start, redecide=redecide)


def _composed(question: str, subject: Subject, n_samples: Size | None, known: Cells, verdicts: Sequence[Verdict],
              independence: Verdict | None) -> Verdict:
    generic = verdicts[0]
    parts = tuple(Part(cell, v.status, v.certificate, v.reason, shares_enter(v.certificate, Budget()))
                  for cell, v in zip(known.cells, verdicts, strict=True))
    certificate = Cellwise(subject, question, parts, known.complete, n_samples)
    symbols = tuple(map(str, subject.symbols))
    said: dict[str, Any] = {"independence": independence, "parameters": symbols, "noun": subject.noun,
                            "not_searched": "functions have kinks" * bool(symbols)}
    if generic.status is Status.UNDECIDED:
        return Verdict(question, Status.UNDECIDED, subject.texts(), n_samples, reason=generic.reason,
                       evidence=(*generic.evidence, *certificate.lines()), **said)
    return Verdict(question, generic.status, subject.texts(), n_samples, certificate, vacuous=certificate.vacuous,
                   **said)


def is_cellwise(subject: Subject) -> bool:
    """True iff a subject is to be decided cell by cell: with kinks, not on a cell yet, and without filters."""
    return subject.cell is None and subject.has_kinks and not (subject.kind == "mean" and subject.is_filtered)


def without_pieces(subject: Subject) -> Subject:
    """Return the subject with `Piecewise`, which text does not have, written with signs, and without idle kinks.

    A kink is idle where its value does not matter: the largest coordinate in a softmax that is taken out of all
    exponents.
    """
    items = tuple(_without_pieces(_without_idle_kinks(item)) for item in subject.items)
    return subject if items == subject.items else Subject(items)


def _without_idle_kinks(item: Any) -> Any:
    if not item.coordinates:
        return item
    exprs: tuple[Any, ...] = item.components if isinstance(item, VectorField) else (item.expr,)
    smooth = tuple(map(_of_no_idle_kink, exprs))
    if smooth == exprs:
        return item
    if isinstance(item, VectorField):
        return VectorField(smooth, item.coordinates, allow_nonsmooth=item.allow_nonsmooth)
    return Feature(smooth[0], allow_nonsmooth=item.allow_nonsmooth)


def _of_no_idle_kink(expr: Expr) -> Expr:
    """Return the expression with 0 for each outermost kink t that the derivative by t shows to be idle.

    Where it divides by 0 then, as x t/(y t + z t) does, 1 is as good.
    """
    nodes = {t: node for node in _outermost(expr) if (t := Dummy("t", real=True))}
    opened = expr.xreplace({node: t for t, node in nodes.items()})
    rule = dict(nodes)
    for t in nodes:
        try:
            with Budget(IDLE).running("looking whether a kink is idle"):
                slope = opened.diff(t)
                if CoefficientField([slope]).encode(slope) == 0:
                    rule[t] = S.Zero
        except (BudgetExceeded, UnsupportedExpression):
            continue
    idle = [t for t in nodes if rule[t] == 0]
    for value in (S.Zero, S.One) if idle else ():
        smooth = opened.xreplace(rule | dict.fromkeys(idle, value))
        if not smooth.has(nan, zoo):
            return smooth
    return expr


def _outermost(expr: Expr) -> set[Expr]:
    if isinstance(expr, KINKS):
        return {expr}
    return set().union(*map(_outermost, expr.args))


def _without_pieces(item: Any) -> Any:
    exprs: tuple[Any, ...] = item.components if isinstance(item, VectorField) else (item.expr,)
    if not any(e.has(Piecewise) for e in exprs):
        return item
    try:
        exprs = tuple(in_signs(in_sides(e)) for e in exprs)
    except UnsupportedExpression:
        return item
    allowed = {*item.allow_nonsmooth, "sign", "Abs"}
    if isinstance(item, VectorField):
        return VectorField(exprs if item.coordinates else exprs[0], item.coordinates or None, allow_nonsmooth=allowed)
    return Feature(exprs[0], allow_nonsmooth=allowed)
