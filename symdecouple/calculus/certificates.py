r"""Certificates: what a proof or a refutation consists of, and how each claim in it is recomputed.

===================  ==========================================================================================
`Independence`       a sample and an M-minor of the gradients that is not zero (C1)
`Dependence`         functions r_k with sum_k r_k v_k = 0, not all zero (C1 violated)
`Involution`         structure functions, [v_i, v_j] = sum_k c_ij^k v_k for every pair (C2)
`FullSpan`           N independent gradients in N coordinates: C2 holds vacuously
`NonInvolution`      a sample and an (M+1)-minor of the gradients and one bracket that is not zero (C2 violated)
===================  ==========================================================================================
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from typing import Any, ClassVar

from sympy import Expr, fraction, latex

from symdecouple.calculus.audit import identity_checks, minor_check, size_check
from symdecouple.calculus.cell import read_subject
from symdecouple.calculus.cellwise import Cellwise
from symdecouple.calculus.claims import Claim, combination, combination_latex
from symdecouple.calculus.every_size import every_size_checks
from symdecouple.calculus.extent import check_extent
from symdecouple.calculus.near_dependence import has_floats, near_dependence
from symdecouple.calculus.sample_claims import DependenceAt, IndependenceAt
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.calculus.ties import ties
from symdecouple.calculus.witness import Witness
from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.budget import Budget
from symdecouple.language.gate import factor_list, together
from symdecouple.language.text import parse_expression
from symdecouple.verdict import FORMAT, VERSION, Check, ExceptionalValues, Status, Verdict

__all__ = ["Claim", "Dependence", "FullSpan", "Independence", "Involution", "NonInvolution", "certificate_from_dict",
           "denominators", "verdict_from_json"]

# Certificates about plans, critical points and constraints live with those: the readers are loaded for reading.
_ELSEWHERE = {
    "affine covariance": "decoupling.verdicts.modified",
    **dict.fromkeys(("modified independence", "modified non-involution"), "decoupling.verdicts.refutation"),
    **dict.fromkeys(("closure", "everything", "holonomy"), "flows.holonomic"),
    "critical points": "analysis.critical.readers",
}

MAX_TEXT = 20_000_000
"""Characters of a verdict as JSON: a dependence at a sample of a million numbers has as many."""

Structure = Mapping[tuple[int, int], tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Independence(Claim):
    """A sample at which an M-minor of the gradients does not vanish.

    With `n0` the claim is for generic samples of every size from n0 on; with `n_samples`, for this size. Filtered
    features may need a second witness for it, the `tail` of `locality`.
    """

    witness: Witness
    n0: int | None
    n_samples: Size | None
    tail: Witness | None = None
    kind: ClassVar[str] = "independence"
    answers: ClassVar[tuple[str, Status]] = ("C1", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        yield minor_check(self.subject, self.witness, range(1, len(self.subject) + 1), None, _size_of(self), clock)
        yield from every_size_checks(self, clock)

    def reason(self, n_samples: Size | None) -> str:
        subject = self.subject
        return f"a {len(subject)}-minor of the {subject.noun} is not zero{_only(subject, n_samples, self.n_samples)}"

    def evidence(self) -> tuple[str, ...]:
        if not has_floats(self.subject):
            return ()
        return near_dependence(self.subject, self.witness.columns_anew(self.subject))

    def summary(self) -> tuple[str, ...]:
        return (f"witness: {self.witness.text(self.subject)}",)

    def latex(self) -> str:
        return rf"\det \approx {_figure(self.witness)} \neq 0"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"witness": self.witness.to_dict(), "n0": self.n0, "n_samples": self.n_samples,
                               **_tail(self.tail)}


@dataclass(frozen=True, slots=True)
class Dependence(Claim):
    """A relation sum_k r_k v_k = 0; without one, the trivial relation of more gradients than coordinates."""

    relation: tuple[Expr, ...] | None
    n_samples: Size | None
    kind: ClassVar[str] = "dependence"
    answers: ClassVar[tuple[str, Status]] = ("C1", Status.REFUTED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        if self.relation is None:
            yield Check("more gradients than coordinates", self.n_samples is not None
                        and len(self.subject) > count(self.n_samples), f"{len(self.subject)} > {self.n_samples}")
            return
        yield Check("one weight is 1", any(c == 1 for c in self.relation) and len(self.relation) == len(self.subject))
        yield from identity_checks(self.subject, [(None, self.relation)], self.n_samples, rng, clock)

    def reason(self, n_samples: Size | None) -> str:
        if self.relation is None:
            return f"{len(self.subject)} {self.subject.noun} in {count(self.n_samples or 0)} coordinates are dependent"
        occurring = [k for k, c in enumerate(self.relation, 1) if c != 0]
        return f"{self.subject.noun[:-1]} {max(occurring, default=0)} " + (
            "vanishes identically" if len(occurring) < 2 else "is a combination of the others, exactly")

    def summary(self) -> tuple[str, ...]:
        return () if self.relation is None else (f"relation: {combination(self.relation)} = 0",)

    def latex(self) -> str:
        return (rf"M = {len(self.subject)} > N = {count(self.n_samples or 0)}" if self.relation is None
                else combination_latex(self.relation) + " = 0")

    def to_dict(self) -> dict[str, Any]:
        relation = None if self.relation is None else [self.subject.written(c) for c in self.relation]
        return self._head() | {"relation": relation, "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class Involution(Claim):
    """Structure functions for every pair: the span is involutive wherever `nonvanishing` do not vanish."""

    structure: Structure = field(hash=False)
    nonvanishing: tuple[Expr, ...]
    n_samples: Size | None
    kind: ClassVar[str] = "involution"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        size = len(self.subject)
        pairs = set(combinations(range(1, size + 1), 2))
        yield Check("every pair has its structure functions", set(self.structure) == pairs
                    and all(len(c) == size for c in self.structure.values()), f"{len(pairs)} pairs")
        check_extent((c for row in self.structure.values() for c in row), "a structure function")
        check_extent(self.nonvanishing, "a denominator")
        found = denominators(c for row in self.structure.values() for c in row)
        yield Check("denominators", found == self.nonvanishing, f"recomputed {', '.join(map(str, found)) or 'none'}")
        yield from identity_checks(self.subject, list(self.structure.items()), self.n_samples, rng, clock)

    def reason(self, n_samples: Size | None) -> str:
        weights = [c for row in self.structure.values() for c in row]
        if not self.structure:
            return "a single field is always involutive"
        if all(c == 0 for c in weights):
            return f"all brackets of the {self.subject.noun} vanish"
        constant = "constant " * all(c.is_number for c in weights)
        return f"every bracket is a combination of the {self.subject.noun}, with {constant}structure functions"

    def summary(self) -> tuple[str, ...]:
        lines = [f"[v{i}, v{j}] = {combination(row)}" for (i, j), row in self.structure.items()]
        if len(lines) > 12:
            lines = [*lines[:12], f"... {len(self.structure) - 12} more pairs"]
        return (*lines, *(f"valid where {d} != 0" for d in self.nonvanishing))

    def latex(self) -> str:
        rows = [rf"[v_{{{i}}}, v_{{{j}}}] = {combination_latex(row)}" for (i, j), row in self.structure.items()]
        if len(rows) < 2:
            return rows[0] if rows else r"\text{one field}"
        # without {} the first bracket would be the optional argument of aligned, and later ones that of a new line
        return (r"\begin{aligned} " + r" \\ ".join("{}" + row.replace("=", "&=", 1) for row in rows)
                + r" \end{aligned}")

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {
            "structure": {f"{i},{j}": [self.subject.written(c) for c in row]
                          for (i, j), row in self.structure.items()},
            "nonvanishing": [self.subject.written(c) for c in self.nonvanishing], "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class FullSpan(Claim):
    """As many independent gradients as coordinates: they span everything, brackets included."""

    witness: Witness
    n_samples: Size
    kind: ClassVar[str] = "full span"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.PROVED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        yield Check("as many columns as samples", len(self.witness.columns) == count(self.n_samples)
                    and set(self.witness.columns) <= set(range(1, len(self.subject) + 1)))
        yield minor_check(self.subject, self.witness, self.witness.columns, None, self.n_samples, clock)

    def reason(self, n_samples: Size | None) -> str:
        return f"the {self.subject.noun} span all {count(self.n_samples)} dimensions"

    def summary(self) -> tuple[str, ...]:
        return (f"{count(self.n_samples)} independent {self.subject.noun} in as many coordinates span everything",
                f"witness: {self.witness.text(self.subject)}")

    def latex(self) -> str:
        return rf"\operatorname{{rank}} = N = {count(self.n_samples)}"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"witness": self.witness.to_dict(), "n_samples": self.n_samples}


@dataclass(frozen=True, slots=True)
class NonInvolution(Claim):
    """A sample at which the bracket of `pair` leaves the span: an (M+1)-minor that does not vanish.

    `relations` express the gradients that are no columns of the minor through the others (empty when C1 holds).
    """

    pair: tuple[int, int]
    witness: Witness
    n0: int | None
    n_samples: Size | None
    relations: Mapping[int, tuple[Expr, ...]] = field(default_factory=dict, hash=False)
    tail: Witness | None = None
    kind: ClassVar[str] = "non-involution"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.REFUTED)

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        yield size_check(self.subject, self.n_samples)
        columns = tuple(k for k in range(1, len(self.subject) + 1) if k not in self.relations)
        yield Check("the pair", self.pair[0] < self.pair[1] and set(self.pair) <= set(columns))
        yield minor_check(self.subject, self.witness, columns, self.pair, _size_of(self), clock)
        for k, relation in self.relations.items():
            yield Check(f"gradient {k} through the columns", len(relation) == len(self.subject) and all(
                c == (1 if n == k else 0) for n, c in enumerate(relation, 1) if n not in columns))
            yield from identity_checks(self.subject, [(None, relation)], self.n_samples, rng, clock)
        yield from every_size_checks(self, clock)

    def reason(self, n_samples: Size | None) -> str:
        i, j, about = *self.pair, self.subject
        return f"[v{i}, v{j}] is not in the span of the {about.noun}{_only(about, n_samples, self.n_samples)}"

    def summary(self) -> tuple[str, ...]:
        i, j = self.pair
        return (f"[v{i}, v{j}] leaves the span", f"witness: {self.witness.text(self.subject)}")

    def latex(self) -> str:
        i, j = self.pair
        return rf"[v_{{{i}}}, v_{{{j}}}] \notin \operatorname{{span}},\ \det \approx {_figure(self.witness)} \neq 0"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {"pair": list(self.pair), "witness": self.witness.to_dict(), "n0": self.n0,
                               "n_samples": self.n_samples, **_tail(self.tail),
                               "relations": {str(k): [self.subject.written(c) for c in row]
                                             for k, row in self.relations.items()}}


def denominators(exprs: Iterable[Expr]) -> tuple[Expr, ...]:
    """Return the distinct factors that the denominators of some expressions contain, numbers left out."""
    found: list[Expr] = []
    for expr in exprs:
        try:
            factors = [base for base, _ in factor_list(fraction(together(expr))[1])[1]]
        except BudgetExceeded:
            factors = [fraction(expr)[1]]
        for base in factors:
            if not base.is_number and base not in found and -base not in found:
                found.append(base)
    return tuple(sorted(found, key=str))


def _size_of(claim: Independence | NonInvolution) -> Size | None:
    """Return the size of the witness: N0, or the size that is claimed; any, where neighbours are all that it sees."""
    return claim.n0 if claim.n_samples is None and not claim.subject.is_filtered else claim.n_samples


def _tail(tail: Witness | None) -> dict[str, Any]:
    return {} if tail is None else {"tail": tail.to_dict()}


def _only(subject: Subject, asked: Size | None, claimed: Size | None) -> str:
    """Say what a claim by a witness is restricted to: kernels that are generic, one size where every one was asked."""
    kernels = ", for generic kernels" * bool(subject.filters)
    if asked is not None or claimed is None or subject.coordinates:
        return kernels
    why = ("" if subject.is_filtered or subject.is_smooth
           else ", the functions not being known as analytic and free of hidden relations")
    return f"{kernels}; claimed for N = {claimed} only{why}"


def certificate_from_dict(data: Mapping[str, Any]) -> Any:
    """Read a certificate from the data that its `to_dict` wrote."""
    kind = data["certificate"]
    where = _ELSEWHERE.get(kind.partition(":")[0])
    elsewhere = import_module(f"symdecouple.{where}").READERS if where else {}
    if kind in elsewhere:
        return elsewhere[kind](data)
    subject = read_subject(data["subject"])
    n = _size(data["n_samples"])
    tail = Witness.from_dict(data["tail"]) if "tail" in data else None

    def witness() -> Witness:
        return Witness.from_dict(data["witness"])

    def row(texts: Iterable[str]) -> tuple[Expr, ...]:
        return tuple(map(subject.read, texts))

    def pair(numbers: Iterable[Any]) -> tuple[int, int]:
        i, j = map(int, numbers)
        return i, j

    readers: dict[str, Callable[[], Any]] = {
        "independence": lambda: Independence(subject, witness(), data["n0"], n, tail),
        "dependence": lambda: Dependence(subject, None if data["relation"] is None else row(data["relation"]), n),
        "involution": lambda: Involution(subject, {pair(key.split(",")): row(texts) for key, texts
                                                   in data["structure"].items()}, row(data["nonvanishing"]), n),
        "full span": lambda: FullSpan(subject, witness(), n),
        "non-involution": lambda: NonInvolution(subject, pair(data["pair"]), witness(), data["n0"], n, {
            int(k): row(texts) for k, texts in data["relations"].items()}, tail),
        "independence at a sample": lambda: IndependenceAt.from_dict(subject, data),
        "dependence at a sample": lambda: DependenceAt.from_dict(subject, data),
        "cells": lambda: Cellwise.from_dict(subject, data, n, certificate_from_dict),
    }
    if kind in readers:
        return readers[kind]()
    raise InvalidInput(f"unknown certificate {kind!r}; known are {sorted({*readers, *_ELSEWHERE})}")


def verdict_from_json(text: str) -> Verdict:
    """Read a verdict from the JSON text that `Verdict.to_json` wrote.

    Parameters
    ----------
    text : str

    Returns
    -------
    Verdict
        What can be recomputed at once agrees with its certificate; `Verdict.verify` recomputes the rest, and nothing
        in the text is to be trusted before that.

    Raises
    ------
    InvalidInput
        If the text is no verdict of a known version, an expression in it is outside the grammar, or something in it
        is not what its certificate says: the text was edited.
    """
    if isinstance(text, str) and len(text) > MAX_TEXT:
        raise InvalidInput(f"the text of a verdict has up to {MAX_TEXT} characters, got {len(text)}")
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
            raise InvalidInput(f"not a {FORMAT} of version {VERSION}: {str(text)[:60]!r}")
        return _verdict_from_dict(data)
    except (KeyError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"not a {FORMAT}: {type(error).__name__} {error}") from error


def _verdict_from_dict(data: Mapping[str, Any], outer: bool = True) -> Verdict:
    certificate: Any = certificate_from_dict(data["certificate"]) if data["certificate"] else None
    if data["independence"] and not outer:
        raise InvalidInput("the C1 verdict in a C2 verdict rests on no other one")
    inner = _verdict_from_dict(data["independence"], outer=False) if data["independence"] else None
    verdict = Verdict(data["question"], Status[data["status"]], tuple(data["subject"]), _size(data["n_samples"]),
                      certificate, data["reason"], tuple(data["evidence"]), inner, data["vacuous"],
                      tuple(map(_exceptional, data["exceptions"])), data["holds"], data["residual"], data["tolerance"],
                      data["seconds"], data.get("noun", "gradients"), parameters=tuple(map(str, data["parameters"])),
                      not_searched=str(data["not_searched"]))
    for check in ties(verdict, evidence=False) if outer else ():
        if not check.passed:
            raise InvalidInput(f"{check.name} of this verdict was edited, it disagrees with the certificate: "
                               f"{check.detail[:300]}")
    told: dict[str, Any] = {"failing_pair": list(verdict.failing_pair or ()) or None, "n0": verdict.n0,
                            "reason": verdict.reason}
    for key, value in told.items():
        if data[key] != value:
            raise InvalidInput(f"{key} of this verdict was edited, it disagrees with the certificate: {data[key]!r} "
                               f"instead of {value!r}")
    return verdict


def _exceptional(data: Mapping[str, Any]) -> ExceptionalValues:
    at = {parse_expression(k): parse_expression(v) for k, v in data["values"].items()}
    return ExceptionalValues(at, tuple((str(q), Status[s]) for q, s in data["changes"].items()), str(data["undefined"]))


def _size(data: Any) -> Any:
    return tuple(data) if isinstance(data, list) else data


def _figure(witness: Witness) -> str:
    return latex(float(witness.minor.low)) if abs(witness.minor.low) < 10**300 else r"\text{huge}"
