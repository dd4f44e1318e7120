r"""Proofs in LaTeX, from what certificates hold: brackets and their coefficients, samples and minors, relations.

Each proof recomputes what it shows: fields and brackets from the features, the matrix of a minor at its sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch
from typing import Any

from mpmath import mpf, nstr
from sympy import Expr

from symdecouple.analysis.document.typesetting import display, formula, matrix, number, pieces, vector, words
from symdecouple.calculus.bracket import lie_bracket
from symdecouple.calculus.cellwise import Cellwise, described
from symdecouple.calculus.certificates import Dependence, FullSpan, Independence, Involution, NonInvolution
from symdecouple.calculus.claims import Claim
from symdecouple.calculus.elementary import World
from symdecouple.calculus.kernels import bound_to_kernels
from symdecouple.calculus.sample_claims import DependenceAt, IndependenceAt
from symdecouple.calculus.subject import Subject, count
from symdecouple.calculus.witness import Minor, Witness, columns_at
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.errors import SymdecoupleError
from symdecouple.language.budget import Budget

__all__ = ["fields_of", "proof"]

_SECONDS = 10.0  # for a bracket that is written out
_PAIRS = 15  # brackets that are written out
_LONGEST = 4000  # letters of one
_CELLS = 8  # of which the proofs are written out


def fields_of(subject: Subject) -> str:
    """Return what the items are, as equations: features with their gradients, or fields."""
    rows: list[list[str]] = []
    for k, item in enumerate(subject.items, 1):
        gradient = getattr(item, "gradient", None)
        if gradient is not None:
            rows.append([f"f_{{{k}}}", "=", *pieces(item.expr)])
        rows.append([f"v_{{{k}}}", "=", *_field(item if gradient is None else gradient)])
    return display(*rows)


@singledispatch
def proof(claim: Any) -> list[str]:
    """Return the paragraphs of the proof that a certificate is; of kinds that are not known here, what it computed."""
    return ["This rests on the theorem that is named below. What was computed for it:",
            *(words(f"{line}.") for line in claim.summary())]


@proof.register
def _involution(claim: Involution) -> list[str]:
    if not claim.structure:
        return ["The bracket of a field with itself vanishes."]
    rows = [row for pair, weights in claim.structure.items() for row in _bracket_rows(claim, pair, weights)]
    told = ["Brackets are recomputed from the fields, and written in them:", display(*rows)]
    if claim.nonvanishing:
        conditions = r",\quad ".join(rf"{formula(d)} \neq 0" for d in claim.nonvanishing)
        told.append(rf"The coefficients exist where ${conditions}$.")
    return [*told, "Every bracket of two of the fields is in their span, which is what was to be shown."]


def _bracket_rows(claim: Involution, pair: tuple[int, int], weights: tuple[Expr, ...]) -> Iterator[list[str]]:
    i, j = pair
    left, combined = rf"{{}}[v_{{{i}}}, v_{{{j}}}]", _combination(weights)
    bracket = _written_bracket(claim.subject, i, j) if len(claim.structure) <= _PAIRS else None
    if bracket is None:
        yield [left, "=", *combined]
    else:
        yield [left, "=", *bracket]
        yield ["", "=", *combined]


@proof.register
def _non_involution(claim: NonInvolution) -> list[str]:
    i, j = claim.pair
    told = [rf"The bracket $[v_{{{i}}}, v_{{{j}}}]$ is not in the span."]
    if claim.relations:
        others = ", ".join(f"v_{{{k}}}" for k in claim.relations)
        told += [f"It is enough to look at some of the fields, of which the others, ${others}$, are combinations:",
                 display(*([*_combination(row), "= 0"] for row in claim.relations.values()))]
    bracket = _written_bracket(claim.subject, i, j) if claim.kind == NonInvolution.kind else None  # not modified
    if bracket is not None:
        told.append(display([rf"{{}}[v_{{{i}}}, v_{{{j}}}]", "=", *bracket]))
    about = "" if claim.kind == NonInvolution.kind else ", up to a combination of these"
    told += _minor(claim.subject, claim.witness, rf"$[v_{{{i}}}, v_{{{j}}}]$ as last column{about}")
    told.append("A combination of the other columns would make it zero: at this sample the bracket leaves the span.")
    return [*told, *_generic(claim)]


@proof.register
def _independence(claim: Independence) -> list[str]:
    return [*_minor(claim.subject, claim.witness, ""),
            "A relation between the columns would make it zero: they are independent.", *_generic(claim)]


@proof.register
def _dependence(claim: Dependence) -> list[str]:
    size = len(claim.subject)
    if claim.relation is None:
        return [f"More than {count(claim.n_samples or 0)} vectors of as many coordinates are dependent, and there are "
                f"{size}."]
    return ["An identity in the sample, with coefficients that are not all zero:",
            display(["0", "=", *_combination(claim.relation)])]


@proof.register
def _full_span(claim: FullSpan) -> list[str]:
    size = count(claim.n_samples)
    return [*_minor(claim.subject, claim.witness, ""), f"So {size} of the fields are independent. In {size} "
            "coordinates they span everything, the brackets included."]


@proof.register
def _independent_there(claim: IndependenceAt) -> list[str]:
    how = "exactly" if claim.digits is None else f"by intervals of {claim.digits} digits that exclude zero"
    return [rf"At the sample $x = {vector(claim.sample)}${_grid(claim.shape)} the minor of the rows "
            rf"${', '.join(map(str, claim.rows))}$ of the matrix of gradients is not zero, {how}."]


@proof.register
def _dependent_there(claim: DependenceAt) -> list[str]:
    told = [rf"At the sample $x = {vector(claim.sample)}${_grid(claim.shape)}:"]
    if not claim.relations:
        return [*told, words(claim.reason(None)) + "."]
    rows = [["0", "=", *_numbered_terms(row)] for row in claim.relations]
    return [*told, display(*rows), rf"Of the {len(claim.subject)} gradients {len(claim.columns)} are independent, by a "
            rf"minor of the rows ${', '.join(map(str, claim.rows))}$ that is not zero."]


@proof.register
def _cells(claim: Cellwise) -> list[str]:
    told = ["Away from kinks, samples fall into cells on which every feature is smooth."]
    for part in claim.parts[:_CELLS]:
        where = described(part)
        told.append(words(f"{where[:1].upper()}{where[1:]}: {part.status.name}, {part.reason or 'as said'}."))
        if isinstance(part.certificate, Claim):
            told += proof(part.certificate)
    if len(claim.parts) > _CELLS:
        told.append(f"{len(claim.parts) - _CELLS} more cells are shown in the same way; the certificate has them.")
    return told if claim.complete else [*told, "Other cells may occur: that is not decided."]


def _minor(subject: Subject, witness: Witness, last: str) -> list[str]:
    """The sample, the columns on the rows of the minor, and its value."""
    given = [rf"${formula(symbol)} = {number(value)}$" for symbol, value in _parameters(subject, witness)]
    given += [words(str(kernel)) for kernel in witness.kernels]
    where = rf"$x = {vector(witness.sample)}${_grid(witness.grid)}" if not subject.coordinates else ", ".join(
        rf"${formula(s)} = {number(v)}$" for s, v in zip(subject.coordinates, witness.sample, strict=True))
    if isinstance(subject, ModifiedSubject):
        where = f"at the references{' beside' if witness.digits else ''} {where}"
        given = [f"moved back along the first generator for the time {text}; columns are over the slopes of that motion"
                 for text in given]
    names = ", ".join(f"v_{{{k}}}" for k in witness.columns)
    told = [f"Take the sample {where}{''.join(f', {text}' for text in given)}. On the rows "
            rf"${', '.join(map(str, witness.rows))}$ the columns ${names}${f', with {last}' if last else ''}, are"]
    columns = _entries(subject, witness)
    table = matrix(columns)
    if table is not None:
        told.append(f"\\[\n{table}\n\\]")
    else:
        told += ["$(" + r",\allowbreak ".join(column) + ")^{T}$" + ("," if k < len(columns) else "")
                 for k, column in enumerate(columns, 1)]
    return [*told, f"The determinant is {_value(witness.minor)}, not zero."]


def _entries(subject: Subject, witness: Witness) -> list[list[str]]:
    bound, values = bound_to_kernels(subject, witness.kernels), dict(_parameters(subject, witness))
    world = World(witness.digits)
    columns = columns_at(bound, witness.columns, witness.pair, witness.sample, values, world, witness.grid)
    return [[_entry(column[row - 1], world) for row in witness.rows] for column in columns]


def _entry(value: Any, world: World) -> str:
    return number(Fraction(value)) if world.iv is None else _power(nstr(mpf(value.mid), 8))


def _value(minor: Minor) -> str:
    if minor.low == minor.high:
        return f"${number(minor.low)}$"
    low, high = (_power(nstr(mpf(end.numerator) / end.denominator, 8)) for end in (minor.low, minor.high))
    return rf"in the interval $[{low},\allowbreak {high}]$ (ends rounded; entries are shown with 8 digits)"


def _power(text: str) -> str:
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def _generic(claim: Independence | NonInvolution) -> list[str]:
    """Why one sample decides for others."""
    if claim.n0 is None:
        return ["The minor is a continuous function of the sample: it is not zero on an open set, and where its "
                "entries are analytic, at all samples but a set of measure zero."]
    told = "Entries are analytic functions of the sample, so that the minor vanishes on a set of measure zero only. "
    return [told + rf"The coefficients are functions of averages, and from $N = {claim.n0}$ on averages and values "
            "are independent of each other: what holds for one such $N$ at generic samples holds for all."]


def _written_bracket(subject: Subject, i: int, j: int) -> list[str] | None:
    """The bracket of two fields; None where it takes too long, or is too long to be read."""
    try:
        with Budget(_SECONDS).running("writing a bracket out"):
            found = _field(lie_bracket(subject.items[i - 1], subject.items[j - 1]))
    except SymdecoupleError:
        return None
    return found if sum(map(len, found)) <= _LONGEST else None


def _field(field: Any) -> list[str]:
    parts = field.components
    if len(parts) == 1:
        return pieces(parts[0])
    inner = [piece for k, part in enumerate(parts) for piece in ([",\\ "] if k else []) + pieces(part)]
    return [r"\bigl(" + inner[0], *inner[1:-1], inner[-1] + r"\bigr)" if len(inner) > 1 else r"\bigr)"]


def _combination(weights: tuple[Expr, ...]) -> list[str]:
    found: list[str] = []
    for k, weight in enumerate(weights, 1):
        if weight == 0:
            continue
        minus = weight.could_extract_minus_sign()
        size = -weight if minus else weight
        parts = [] if size == 1 else pieces(size)
        if size.is_Add:
            parts = [rf"\bigl({parts[0]}", *parts[1:]]
            parts[-1] += r"\bigr)"
        sign = "- " if minus else "+ " if found else ""
        parts = [*parts, rf"\, v_{{{k}}}"] if parts else [f"v_{{{k}}}"]
        found += [sign + parts[0], *parts[1:]]
    return found or ["0"]


def _numbered_terms(weights: tuple[Fraction, ...]) -> list[str]:
    found: list[str] = []
    for k, weight in enumerate(weights, 1):
        if weight:
            size = "" if abs(weight) == 1 else number(abs(weight)) + r"\, "
            found.append(f"{'- ' if weight < 0 else '+ ' if found else ''}{size}v_{{{k}}}")
    return found or ["0"]


def _parameters(subject: Subject, witness: Witness) -> list[tuple[Any, Fraction]]:
    return [(subject.named[name], value) for name, value in witness.parameters]


def _grid(shape: tuple[int, ...]) -> str:
    sizes = r" \times ".join(map(str, shape))
    return rf" on a grid of ${sizes}$" if len(shape) > 1 else ""
