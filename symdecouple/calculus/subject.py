"""What a verdict is about: features or fields of one kind, in order, with their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from sympy import Expr, Symbol, nan, zoo
from sympy.core.function import UndefinedFunction

from symdecouple.calculus.field import VectorField, is_matrix, matrix_remedy, one_sample
from symdecouple.calculus.forms import OneForm, kernel, without_zero_forms
from symdecouple.calculus.gradient import mean_field
from symdecouple.calculus.jets import Point, field_at
from symdecouple.errors import InvalidInput, SymdecoupleError, UnsupportedExpression
from symdecouple.language.budget import Budget
from symdecouple.language.disguise import is_analytic
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filtered import DcGain, Filtered, dimension_of
from symdecouple.language.filters import Filter
from symdecouple.language.kinks import has_kinks
from symdecouple.language.mean import free_sample
from symdecouple.language.sample import Coordinate, Sample, x
from symdecouple.language.text import domain_to_text, parse, parse_domain, parse_expression, to_text

__all__ = ["Size", "Subject", "count", "expressions", "forms_of", "without_gains"]

SECONDS = 10.0
"""For the kernel of forms, where no earlier deadline is running."""

Size = int | tuple[int, ...]
"""A number of samples, or the shape of a grid of them."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An ordered set of features or of vector fields."""

    items: tuple[Any, ...]
    cell: Any = dataclasses.field(default=None, kw_only=True)
    """The `Cell` that the samples are restricted to, for items with kinks; None for all samples."""
    forms: tuple[OneForm, ...] = dataclasses.field(default=(), kw_only=True)
    """The 1-forms whose kernel the items span, where the set was given by forms."""
    has_levels: ClassVar[bool] = False
    """Whether items are evaluated at levels of a plan: few claims are about that, and none about every size at once."""

    @classmethod
    def of(cls, value: Any) -> Subject:
        """Accept a FeatureSet, a list of features and expressions, or a list of vector fields."""
        if isinstance(value, Subject):
            return value
        if isinstance(value, FeatureSet):
            return cls(value.features)
        for part in (value, *(value if isinstance(value, (list, tuple)) else ())):
            if is_matrix(part):
                raise InvalidInput(f"{matrix_remedy(part)}, a list of VectorField(components, coordinates)")
        if isinstance(value, OneForm):
            return cls.of_forms([value])
        if isinstance(value, (VectorField, Feature, Expr, str)) or not isinstance(value, Iterable):
            raise InvalidInput(f"give a FeatureSet or a list of vector fields, got {type(value).__name__} {value!r}")
        items = list(value)
        if any(isinstance(item, OneForm) for item in items):
            return cls.of_forms(items)
        if not any(isinstance(item, VectorField) for item in items):
            return cls(FeatureSet(items).features)
        fields = tuple(item if isinstance(item, VectorField) else Feature(item).gradient for item in items)
        if not any(field.coordinates for field in fields):
            sample = one_sample(fields)
            fields = tuple(field.in_sample(sample) for field in fields)
        _check_fields(fields)
        return cls(fields)

    @classmethod
    def of_forms(cls, forms: Sequence[Any], coordinates: tuple[Symbol, ...] = ()) -> Subject:
        """Return a basis of the fields that 1-forms annihilate; the field 0 where they annihilate no other one."""
        if strange := [form for form in forms if not isinstance(form, OneForm)]:
            raise InvalidInput("a set is of 1-forms or of fields and features, got forms with "
                               f"{type(strange[0]).__name__} {strange[0]}")
        symbols = forms[0].coordinates if forms else coordinates
        with (clock := Budget(SECONDS)).running("the kernel of forms"):
            fields = kernel(forms, clock) if forms else tuple(
                VectorField([int(q == k) for q in symbols], symbols) for k in symbols)
        return cls(fields or (VectorField([0] * len(symbols), symbols),), forms=tuple(forms))

    @property
    def duals(self) -> Subject:
        """The fields with the components of the forms."""
        return Subject(tuple(form.dual for form in self.forms))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def framed(self) -> tuple[Any, ...]:
        """The items; on a cell their fields as they are there, free of kinks."""
        if self.cell is None:
            return self.items
        return tuple(_on_cell(item, self.cell, self.coordinates or None, self.sample) for item in self.items)

    @property
    def kind(self) -> str:
        """"mean" or "coordinates"."""
        return str(self.items[0].kind)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        """The explicit coordinates; empty for the mean kind."""
        return tuple(self.items[0].coordinates)

    @property
    def sample(self) -> Sample:
        """The generic sample with its domain (mean kind)."""
        return x if self.coordinates else one_sample(self.items)

    @property
    def parameters(self) -> frozenset[Any]:
        """Parameters, symbolic filters and undefined functions of all items."""
        return frozenset().union(*(item.parameters for item in (*self.items, *(form.dual for form in self.forms))))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The parameters that are plain symbols, in a fixed order."""
        return tuple(sorted((p for p in self.parameters if isinstance(p, Symbol)), key=str))

    @property
    def named(self) -> dict[str, Symbol]:
        """What the parameters of a witness are, by name."""
        return {s.name: s for s in self.symbols}

    @property
    def functions(self) -> tuple[UndefinedFunction, ...]:
        """The undefined functions."""
        return tuple(sorted((p for p in self.parameters if isinstance(p, UndefinedFunction)), key=str))

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters without taps, whether or not they have a frequency response."""
        return tuple(sorted({h.declared for h in self.all_filters if h.is_symbolic}, key=str))

    @property
    def is_filtered(self) -> bool:
        """True iff a filter occurs."""
        return any(e.has(Filtered) for item in self.items for e in expressions(item))

    @property
    def all_filters(self) -> tuple[Filter, ...]:
        """All filters, with a name or with taps, in a fixed order."""
        found = {h for item in self.items for e in expressions(item) for h in e.atoms(Filter)}
        return tuple(sorted(found, key=str))

    @property
    def ndim(self) -> int:
        """The number of axes of a sample, which the filters tell: 1 without any."""
        return dimension_of([e for item in self.items for e in expressions(item)])

    @property
    def is_circular(self) -> bool:
        """True iff all filters, if any, are circular at the boundary."""
        return all(h.boundary == "circular" for h in self.all_filters)

    @property
    def is_smooth(self) -> bool:
        """True iff all functions are known to be analytic, each one function on the samples that it is defined at."""
        exprs = [e for item in self.items for e in expressions(item)]
        return is_analytic(exprs if self.cell is None else map(self.cell.resolved, exprs))

    @property
    def has_kinks(self) -> bool:
        """True iff a function with kinks or jumps occurs in an item."""
        return any(has_kinks(e) for item in self.items for e in expressions(item))

    def bind(self, values: Mapping[Any, Any]) -> Subject:
        """Return the subject with parameters replaced; see `FeatureSet.bind`. A gain h.dc may be bound to 0."""
        values = without_gains(values)
        if self.forms:
            return self.of_forms(without_zero_forms(self.forms, values), self.coordinates)
        if all(isinstance(item, Feature) for item in self.items):
            return Subject(FeatureSet(self.items).bind(values).features)
        return Subject(tuple(item.bind(values) for item in self.items))

    @property
    def zero_field(self) -> VectorField:
        """The field 0 in the space of the subject: the gradient of a constant."""
        return VectorField([0] * len(self.coordinates), self.coordinates) if self.coordinates else VectorField(0)

    def at(self, n_samples: Size) -> Subject:
        """Return the subject in explicit coordinates, as gradient fields where a feature is constant at this size."""
        if self.cell is not None:
            raise UnsupportedExpression("functions with kinks are decided on their cells for averages, or in "
                                        "coordinates from the start: features.at(n_samples=N)")
        try:
            return Subject(tuple(item.at(n_samples=n_samples) for item in self.items))
        except InvalidInput:
            if not all(isinstance(item, Feature) for item in self.items):
                raise
        fields = tuple(item.gradient.at(n_samples=n_samples) for item in self.items)
        if any(e.has(nan, zoo) for field in fields for e in field.components):
            raise UnsupportedExpression(f"a feature is not defined for N = {n_samples}: something is divided by 0")
        return Subject(fields)

    def fields_at(self, numbers: Iterable[int], point: Point) -> dict[int, tuple[list[Any], list[dict[int, Any]]]]:
        """Return the components of fields, counted from 1, and their Jacobians at a point; see `field_at`."""
        return {k: field_at(self.items[k - 1], point) for k in numbers}

    @property
    def noun(self) -> str:
        """What is spoken of: "gradients" of features, or "fields"."""
        return "gradients" if isinstance(self.items[0], Feature) else "fields"

    def texts(self) -> tuple[str, ...]:
        """Return one line of text per item, in the package's grammar where it has one."""
        return tuple(item.body if isinstance(item, VectorField) else str(item) for item in self.items)

    def is_told_by(self, texts: Sequence[str], n_samples: Size | None) -> bool:
        """True iff these are the texts of the subject, or of a set of averages that it is, written out for a size."""
        if tuple(texts) == self.texts():
            return True
        try:
            return len(texts) == len(self) and all(
                _is_told_by(item, text, n_samples) for text, item in zip(texts, self.items, strict=True))
        except SymdecoupleError:
            return False

    def shown(self, weights: Iterable[Expr]) -> tuple[Expr, ...]:
        """Return functions of averages as they are shown: on a cell with signs in the place of indicators."""
        return tuple(weights) if self.cell is None else tuple(map(self.cell.written, weights))

    def written(self, expr: Expr) -> str:
        """Return an expression about the subject as text, in which its coordinates are x1, x2, ..."""
        return to_text(expr.xreplace(dict(zip(self.coordinates, _numbered(self.coordinates), strict=True))))

    def read(self, text: str) -> Expr:
        """Read what `written` wrote."""
        if not self.coordinates:
            return parse_expression(text, sample=self.sample)
        expr = parse_expression(text, n_samples=len(self.coordinates))
        return expr.xreplace(dict(zip(_numbered(self.coordinates), self.coordinates, strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """Return the subject as JSON-ready data."""
        features = isinstance(self.items[0], Feature)
        out: dict[str, Any] = {"kind": "features" if features else "fields",
                               "items": [[self.written(e) for e in expressions(item)] for item in self.items],
                               "allow_nonsmooth": [sorted(item.allow_nonsmooth) for item in self.items]}
        if self.cell is not None:
            out["cell"] = self.cell.to_dict(self)
        if self.forms:
            out["forms"] = [[self.written(a) for a in form.components] for form in self.forms]
        if self.kind == "mean":
            return out | {"domain": domain_to_text(self.sample)}
        return out | {"coordinates": [_symbol_to_json(s) for s in self.coordinates]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Subject:
        """Read what `to_dict` wrote."""
        given = data.get("coordinates")
        symbols = None if given is None else tuple(_symbol_from_json(s, k, len(given)) for k, s in enumerate(given, 1))
        if data["kind"] not in ("features", "fields"):
            raise InvalidInput(f"a subject is of features or of fields, got {data['kind']!r}")
        items: list[Any] = []
        for texts, allowed in zip(data["items"], data["allow_nonsmooth"], strict=True):
            exprs = [_read(text, symbols, data.get("domain")) for text in texts]
            if data["kind"] == "features":
                items.append(Feature(exprs[0], allow_nonsmooth=allowed))
            else:
                items.append(VectorField(exprs if symbols else exprs[0], symbols, allow_nonsmooth=allowed))
        allowed = {name for names in data["allow_nonsmooth"] for name in names}
        forms = (OneForm([_read(a, symbols, None) for a in texts], symbols, allow_nonsmooth=allowed)
                 for texts in data.get("forms", ()))
        return cls(tuple(items), forms=tuple(forms))


def forms_of(value: Any) -> tuple[OneForm, ...]:
    """Return the 1-forms that a set is given by; none for features and fields."""
    if isinstance(value, OneForm):
        return (value,)
    return tuple(item for item in value if isinstance(item, OneForm)) if isinstance(value, (list, tuple)) else ()


def count(n_samples: Size) -> int:
    """Return the number of samples of a vector or a grid."""
    return prod(n_samples) if isinstance(n_samples, tuple) else n_samples


def _on_cell(item: Any, cell: Any, coordinates: tuple[Symbol, ...] | None, sample: Sample) -> VectorField:
    if isinstance(item, VectorField) and not coordinates:
        return VectorField(cell.resolved_field(item.expr))
    resolved = [cell.resolved(e) for e in expressions(item)]
    if isinstance(item, VectorField):
        return VectorField(resolved, coordinates)
    if coordinates:
        return VectorField([resolved[0].diff(s) for s in coordinates], coordinates)
    return VectorField(mean_field(resolved[0], sample))


def _is_told_by(item: Any, text: str, n_samples: Size | None) -> bool:
    allowed = item.allow_nonsmooth
    if isinstance(item, Feature):
        size = len(item.coordinates) or None
        read = parse(text, sample=item.sample, n_samples=size, allow_nonsmooth=allowed)
        return bool((read.at(n_samples=n_samples) if read.kind == "mean" and size and n_samples else read) == item)
    if not item.coordinates or n_samples is None:
        return False
    read = parse_expression(text)
    field = VectorField(read, allow_nonsmooth=allowed) if free_sample(read) else Feature(
        read, allow_nonsmooth=allowed).gradient
    return bool(field.at(n_samples=n_samples) == item)


def without_gains(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return values with each gain, bound to 0, as its kernel bound to one without gain."""
    return dict(_without_gain(key, value) if isinstance(key, DcGain) else (key, value)
                for key, value in values.items())


def _without_gain(gain: DcGain, value: Any) -> tuple[Filter, Filter]:
    h: Filter = gain.args[0]
    if value != 0:
        raise InvalidInput(f"the gain {gain} of a kernel without taps can be bound to 0, not to {value}; "
                           f"bind the kernel {h} itself")
    return h, Filter(h.args[0], boundary=h.boundary, zero_dc=True, ndim=h.ndim)


def _read(text: str, symbols: tuple[Symbol, ...] | None, domain: Any) -> Expr:
    if symbols is None:
        return parse_expression(text, sample=parse_domain(domain))
    expr = parse_expression(text, n_samples=len(symbols))
    return expr.xreplace(dict(zip(_numbered(symbols), symbols, strict=True)))


def _numbered(symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Return coordinates(n), as which any n coordinates are written."""
    return tuple(Coordinate(k, len(symbols)) for k in range(1, len(symbols) + 1))


def _symbol_to_json(symbol: Symbol) -> Any:
    if isinstance(symbol, Coordinate):
        return symbol.name
    return {"name": symbol.name, "assumptions": dict(symbol._assumptions_orig)}


def _symbol_from_json(data: Any, index: int, size: int) -> Symbol:
    if isinstance(data, str):
        return Coordinate(index, size)
    name, assumptions = data["name"], data["assumptions"]
    if not isinstance(name, str) or not set(assumptions) <= _ASSUMPTIONS:
        raise InvalidInput(f"a coordinate has a name and some of the assumptions {sorted(_ASSUMPTIONS)}, got {data}")
    return Symbol(name, **{key: bool(value) for key, value in assumptions.items()})


_ASSUMPTIONS = {"real", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "finite", "extended_real"}


def expressions(item: Any) -> tuple[Expr, ...]:
    """Return the expression of a feature, the components of a field."""
    return item.components if isinstance(item, VectorField) else (item.expr,)


def _check_fields(fields: tuple[VectorField, ...]) -> None:
    if len({field.coordinates for field in fields}) > 1:
        raise InvalidInput("the fields live in different spaces: "
                           + ", ".join(sorted({str(f.coordinates or "the sample") for f in fields})))
    seen: dict[VectorField, int] = {}
    for k, field in enumerate(fields, 1):
        if field in seen:
            raise InvalidInput(f"fields {seen[field]} and {k} are the same: {field}")
        seen[field] = k
