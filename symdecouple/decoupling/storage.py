"""Plans as JSON: features and references in the package's own grammar, proofs as certificates that are recomputed.

.. code-block:: text

    {"format": "symdecouple.plan", "version": 1, "written_by": "0.1.0", "domain": "x=real", "n_samples": null,
     "features": [{"text": "mean(x)", "name": "mean"}, [{"text": "mean(x**2)"}, {"text": "mean(x**3)"}]],   (a Group)
     "responses": [], "reference": ["0", "1", null], "path": "auto", "budget": 30.0, "perturbation": null,
     "left_out": [], "added": [], "verdicts": {"original": {"2": {...}}, "modified": {}}}

Nothing in a file is executed or trusted: texts are parsed, references are checked as `decouple` checks them, and a
verdict of a file is taken only when its certificate was recomputed. What is not decided yet, or was not proved either
way, is not written: the plan decides it anew when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from math import inf, isfinite
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from sympy import Expr, Float, Symbol

from symdecouple import __version__
from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.subject import Subject
from symdecouple.decoupling.dependence import Dependent
from symdecouple.decoupling.plan import Plan, plan_of
from symdecouple.decoupling.reference import reference_values
from symdecouple.decoupling.verdicts.modified import (
    AffineCovariance,
    ModifiedSubject,
    first_features,
    modified_features,
    starts,
)
from symdecouple.decoupling.verdicts.scenario import Verdicts
from symdecouple.errors import InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.language.filtered import Response, response_values
from symdecouple.language.pickled import nested
from symdecouple.language.sample import Sample
from symdecouple.language.text import domain_to_text, parse_domain, parse_expression, to_text
from symdecouple.numeric.perturbing import Perturbation
from symdecouple.verdict import Status, Verdict

__all__ = ["plan_from_json", "plan_to_json"]

FORMAT = "symdecouple.plan"
VERSION = 1  # of the format: it grows where an older reader would misread a plan
MAX_TEXT = 100_000_000
"""Characters of a plan: 45 bands of 256 x 256 frequencies have about 80 millions."""

_KEYS = ("format version written_by domain n_samples features responses reference path budget perturbation left_out "
         "added verdicts").split()
_SETS = "original", "modified"
_LONGEST = 10**6  # characters of one feature
_RESPONSE = "response_{}"
_WRONG = SymdecoupleError, TypeError, ValueError, LookupError, ArithmeticError  # what edited text makes readers raise


def plan_to_json(plan: Plan, indent: int | None = 2) -> str:
    """Return a plan as JSON text, with the verdicts that it has proved or refuted so far.

    Parameters
    ----------
    plan : Plan
    indent : int or None
        As in `json.dumps`.

    Raises
    ------
    InvalidInput
        If a feature is a black box, which no text tells; `pickle` keeps it where its function can be imported.

    Examples
    --------
    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.families.moments import raw_moments
    >>> plan = plan_from_json(plan_to_json(decouple(raw_moments(4))))
    >>> plan.features, plan.reference
    (FeatureSet([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)]), (0, 1, 0, 3))
    """
    features, known = plan.features, dict[Response, Symbol]()
    of = partial(_written, sample=features.sample, known=known)
    written = [of(features[g[0]]) if len(g) == 1 else [of(features[j]) for j in g] for g in features.groups]
    left_out = [{"index": d.index, "feature": of(d.feature), "reason": d.reason} for d in plan.left_out]
    data = {
        "format": FORMAT, "version": VERSION, "written_by": __version__, "domain": domain_to_text(features.sample),
        "n_samples": features.coordinates[0].size if features.coordinates else None,
        "features": written, "responses": [
            {"name": r.name, "real": h.real.tolist(), "imag": h.imag.tolist()} for r, h in (
                (response, np.array(response.values, dtype=complex)) for response in known)],
        "reference": [None if v is None else _number(v, j) for j, v in enumerate(plan.reference, 1)],
        "path": plan.path, "budget": float(plan.choice.budget) if isfinite(plan.choice.budget) else None,
        "perturbation": plan.perturbation and asdict(plan.perturbation),
        "left_out": left_out, "added": [of(f) for f in plan.added],
        "verdicts": {name: dict(_told(getattr(plan.verdicts, name).decided)) for name in _SETS},
    }
    return json.dumps(data, indent=indent, allow_nan=False)


def plan_from_json(text: str, *, verify: bool = False) -> Plan:
    """Return the plan that `plan_to_json` wrote; it gives the same numbers.

    Parameters
    ----------
    text : str
    verify : bool
        Recompute the verdicts in the text, each by its certificate, and take them into the plan. Otherwise they are
        left, and the plan decides anew what it is asked for. As long as a verdict was to be decided, at most.

    Raises
    ------
    InvalidInput
        If the text is no plan of this or an older version, if an expression in it is outside the grammar, a reference
        does not fit, or, with `verify`, a verdict is of other features or its certificate does not hold.

    Examples
    --------
    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.families.moments import raw_moments
    >>> plan = decouple(raw_moments(3))
    >>> _ = plan.verdicts.original[3]
    >>> plan_from_json(plan_to_json(plan), verify=True).verdicts.original.decided[3].status.name
    'PROVED'
    >>> plan_from_json(plan_to_json(plan).replace("mean(x**2)", "open(x)"))
    Traceback (most recent call last):
    symdecouple.errors.InvalidInput: features of the plan: ...
    """
    try:
        data = _checked(text)
        plan = _plan(data)
        if verify:
            for name in _SETS:
                for k, written in data["verdicts"][name].items():
                    verdict = _verified(plan.verdicts, name, int(k), json.dumps(written))
                    getattr(plan.verdicts, name).learn(int(k), verdict)
        return plan
    except InvalidInput:
        raise
    except (*_WRONG, AttributeError, RecursionError) as error:
        raise InvalidInput(f"this is no plan that was saved, or it was edited: {type(error).__name__} {error}"
                           ) from error


def _written(feature: Feature, sample: Sample, known: dict[Response, Symbol]) -> dict[str, Any]:
    """Write a feature as text; the frequency responses of its filters are known beside it, by symbols."""
    if feature.black_box is not None:
        raise InvalidInput(f"{feature} is a black box, a function of Python that no text tells: a plan of it is "
                           "kept by pickle, where its function can be imported")
    for response in sorted(feature.expr.atoms(Response), key=lambda r: (r.name, str(r.values))):
        known.setdefault(response, Symbol(_RESPONSE.format(len(known))))
    more = {"name": feature.name if feature.is_named else "", "allow_nonsmooth": sorted(feature.allow_nonsmooth)}
    return {"text": to_text(feature.expr.xreplace(known), sample=sample)} | {k: v for k, v in more.items() if v}


def _number(value: Expr, index: int) -> Any:
    """Write a reference: text, or the bits of a float, which a decimal would not tell."""
    if isinstance(value, Float):
        sign, mantissa, exponent, _ = value._mpf_
        return {"mantissa": str(-mantissa if sign else mantissa), "exponent": exponent, "bits": value._prec}
    text = to_text(value)
    if parse_expression(text, max_length=_LONGEST) != value:
        raise InvalidInput(f"the reference of feature {index}, {value}, has no text; give it as a number")
    return text


def _told(decided: Mapping[int, Verdict]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was proved or refuted, as far as it has text: filters known by frequency responses have none."""
    for k, verdict in decided.items():
        with suppress(UnsupportedExpression):
            if _is_answer(verdict):
                yield str(k), verdict.to_dict()


def _is_answer(verdict: Verdict) -> bool:
    return verdict.status in (Status.PROVED, Status.REFUTED) and verdict.certificate is not None


# --- reading --------------------------------------------------------------------------------------------------------


def _checked(text: Any) -> dict[str, Any]:
    """Read the frame: a mapping of this format, with all its keys and no other ones."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise InvalidInput(f"a plan is read from text of up to {MAX_TEXT} characters, got "
                           f"{len(text) if isinstance(text, str) else type(text).__name__}")
    data = json.loads(text, parse_constant=_no_number)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        kind = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise InvalidInput(f"this is no {FORMAT}, but {kind!r}; verdicts are read by verdict_from_json")
    if data.get("version") != VERSION:
        raise InvalidInput(f"this plan has version {data.get('version')!r} of the format, written by symdecouple "
                           f"{str(data.get('written_by'))[:40]}; symdecouple {__version__} reads version "
                           f"{VERSION}: install a newer one")
    if set(data) != set(_KEYS):
        wrong = [f"lacks {key!r}" for key in _KEYS if key not in data] + [
            f"has {str(key)[:40]!r}, which is unknown" for key in data if key not in _KEYS]
        raise InvalidInput(f"the plan {'; it '.join(wrong)}")
    return data


def _no_number(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is no number of a plan")


def _plan(data: dict[str, Any]) -> Plan:
    def part(name: str, kind: Any, read: Callable[[Any], Any] = lambda value: value) -> Any:
        """Read a part of the plan, or None where it may be null, and say which one is wrong."""
        value = data[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidInput(f"{name} of the plan: {getattr(kind, '__name__', kind)} is expected, got "
                               f"{str(value)[:60]}")
        try:
            return None if value is None else read(value)
        except _WRONG as error:
            said = str(error) if isinstance(error, SymdecoupleError) else f"{type(error).__name__} {error}"
            raise InvalidInput(f"{name} of the plan: {said}") from error

    def feature(text: str, allow_nonsmooth: tuple[str, ...] = (), name: str | None = None) -> Feature:
        expr = parse_expression(text, sample=sample, n_samples=size, max_length=_LONGEST)
        return Feature(expr.xreplace(responses), allow_nonsmooth=allow_nonsmooth, name=name)

    sample, size = part("domain", str, parse_domain), part("n_samples", int | None)
    responses = part("responses", list, lambda found: {
        Symbol(_RESPONSE.format(n)): _response(**r) for n, r in enumerate(found)})
    features = part("features", list, lambda items: FeatureSet([
        Group(*(feature(**f) for f in item)) if isinstance(item, list) else feature(**item) for item in items]))
    if features.parameters:
        raise InvalidInput(f"features of the plan: {', '.join(sorted(map(str, features.parameters)))} is not bound")
    values = part("reference", list, lambda found: _references(features, found))
    perturbation = part("perturbation", dict | None, lambda found: Perturbation(**found))
    left_out = part("left_out", list, lambda found: tuple(
        Dependent(int(d["index"]), feature(**d["feature"]), str(d["reason"])) for d in found))
    added, budget = part("added", list, lambda found: tuple(feature(**f) for f in found)), part("budget", Real | None)
    if not set(added) <= set(features):
        raise InvalidInput("added of the plan: these are features of it, got others")
    return plan_of(features, values, part("path", str), inf if budget is None else float(budget), perturbation,
                   left_out, added)


def _response(name: str, real: Any, imag: Any) -> Response:
    values = np.array(real, dtype=float) + 1j * np.array(imag, dtype=float)
    response_values(values)  # a real filter, finite
    return Response(name, nested(values.tolist()))


def _references(features: FeatureSet, found: list[Any]) -> tuple[Expr | None, ...]:
    values = tuple(None if v is None else _value(v) for v in found)
    if len(found) != len(features):
        raise InvalidInput(f"{len(features)} features have {len(features)} references, got {len(found)}")
    reference_values(features, values)  # checked, and floats stay floats
    return values


def _value(written: Any) -> Expr:
    if isinstance(written, str):
        return parse_expression(written, max_length=_LONGEST)
    mantissa, exponent, bits = (int(written[key]) for key in ("mantissa", "exponent", "bits"))
    if not (abs(exponent) < 10**6 and 0 < bits < 10**5 and mantissa.bit_length() <= bits):
        raise InvalidInput(f"{written} is no float")
    return Float((int(mantissa < 0), abs(mantissa), exponent), precision=bits)


def _verified(verdicts: Verdicts, name: str, k: int, text: str) -> Verdict:
    """Return a verdict of a file once it is known to be about the set, and its certificate was recomputed."""
    verdict = verdict_from_json(text)
    if not _is_answer(verdict) or not _is_about(verdicts, name == "modified", k, verdict):
        raise InvalidInput(f"the verdict on the {name} set of {k} features is not about these: the plan was edited")
    if not verdict.verify(verdicts.budget):
        raise InvalidInput(f"the verdict on the {name} set of {k} features could not be recomputed: it was edited, or "
                           f"takes more than {verdicts.budget:g} seconds")
    return verdict


def _is_about(verdicts: Verdicts, is_modified: bool, k: int, verdict: Verdict) -> bool:
    features, certificate = verdicts.features, verdict.certificate
    is_general = verdict.n_samples is None or bool(features.coordinates)
    if verdict.question != "C2" or not is_general or not 1 <= k <= len(features):
        return False
    first, subject = first_features(features, k), getattr(certificate, "subject", None)
    if not is_modified or max(starts(features)[:k]) == 0 or isinstance(certificate, AffineCovariance):
        return bool(subject == Subject.of(first))
    if isinstance(subject, ModifiedSubject):
        return bool(subject == ModifiedSubject.first(features, k, verdicts.values))
    hats = modified_features(features, verdicts.steps, k)
    return hats is not None and bool(subject == Subject.of(hats))
