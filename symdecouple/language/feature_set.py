"""Ordered sets of features, and groups of features that are normalized together.

All features of a set are of one kind: averages do not mix with explicit coordinates, though black boxes may follow
either. A set is checked here, once: what passes has no feature twice, and one domain and one size of samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import takewhile
from typing import Any

from sympy import Basic, Expr

from symdecouple.errors import InvalidInput
from symdecouple.language.binding import name_of, named_in
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Filtered, dimension_of
from symdecouple.language.sample import Coordinate, Sample, x
from symdecouple.shown import Card, Cell, Maths, Shown

__all__ = ["FeatureSet", "Group", "in_groups"]


class Group(Shown):
    """Features that are normalized together: one level of a plan, not decoupled from each other."""

    __slots__ = ("features",)

    def __init__(self, *features: Any) -> None:
        if not features:
            raise InvalidInput("a Group needs at least one feature; for instance Group(Mean(x), Mean(x**2))")
        self.features = tuple(f if isinstance(f, Feature) else Feature(_read(f)) for f in features)

    def __repr__(self) -> str:
        return f"Group({', '.join(map(str, self.features))})"

    def latex(self) -> str:
        """Return the features as LaTeX, without the dollar signs."""
        body = r",\ ".join(f.latex() for f in self.features)
        return rf"\left\{{{body}\right\}}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


class FeatureSet(Shown):
    """An ordered set of features of one kind, and black boxes among them.

    Parameters
    ----------
    features : iterable of Feature, Expr, str or Group
        In the order in which they are to be decoupled: each from all before it.
    allow_nonsmooth : iterable of str
        As in `Feature`, for all of them.
    names : sequence of str, optional
        What tables, pictures and columns call them; default the names that they have, else their formulas.

    Raises
    ------
    InvalidInput
        For an empty set, duplicates, features of both kinds, of different sample domains or sizes; for names that do
        not fit.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> features = FeatureSet([Mean(x), Mean(x**2)])
    >>> len(features), features[1]
    (2, Feature(Mean(x**2)))
    >>> FeatureSet(["mean(x)", "variance()"], names=["m", "v"]).names
    ('m', 'v')
    """

    __slots__ = ("features", "groups")
    features: tuple[Feature, ...]
    groups: tuple[tuple[int, ...], ...]

    def __init__(self, features: Iterable[Any], *, allow_nonsmooth: Iterable[str] = (),
                 names: Sequence[str] | None = None) -> None:
        if callable(features) and not isinstance(features, (Expr, Feature)):
            Feature(features)  # which says what to write
        if isinstance(features, (str, bytes, Expr, Feature, Set)) or not isinstance(features, Iterable):
            raise InvalidInput(f"FeatureSet takes a list of features, got {features!r}; write FeatureSet([...])"
                               " or FeatureSet.parse('mean(x)', 'mean(x^2)')")
        flat: list[Feature] = []
        groups: list[tuple[int, ...]] = []
        for item in features:
            members = item.features if isinstance(item, Group) else (item,)
            groups.append(tuple(range(len(flat), len(flat) + len(members))))
            flat += [Feature(_read(member, allow_nonsmooth), allow_nonsmooth=allow_nonsmooth) for member in members]
        if names is not None:
            flat = _named(flat, names)
        _check_set(flat)
        object.__setattr__(self, "features", tuple(flat))
        object.__setattr__(self, "groups", tuple(groups))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a FeatureSet is immutable; build a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return in_groups, (self._parts(self.features),)

    @classmethod
    def parse(cls, *texts: str, **options: Any) -> FeatureSet:
        """Read the features from text, one argument each; options as in `symdecouple.parse`."""
        from symdecouple.language.text import parse

        return cls([parse(text, **options) for text in texts])

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, index: int) -> Feature:
        return self.features[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureSet) and (self.features, self.groups) == (other.features, other.groups)

    def __hash__(self) -> int:
        return hash((self.features, self.groups))

    def __repr__(self) -> str:
        return f"FeatureSet([{', '.join(str(_member(part)) for part in self._parts(self.features))}])"

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called: its name, or its formula where it has none, or the name is that of another one too."""
        counts = Counter(f.name for f in self.features)
        return tuple(f.name if counts[f.name] == 1 else str(f) for f in self.features)

    def _card(self) -> Card:
        rows: list[list[Cell]] = [[str(k), *([name] if self.is_named else []), Maths(str(f), f.latex())]
                                  for k, (name, f) in enumerate(zip(self.names, self.features, strict=True), 1)]
        header = ("", *(("name",) * self.is_named), "feature")
        return Card(f"{len(self)} feature{'s' * (len(self) > 1)}", (), header, rows)

    @property
    def is_named(self) -> bool:
        """Whether any of them has a name of its own."""
        return any(f.is_named for f in self.features)

    def latex(self) -> str:
        """Return the features as LaTeX, without the dollar signs."""
        body = r",\ ".join(f.latex() for f in self.features)
        return rf"\left({body}\right)"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    @property
    def kind(self) -> str:
        """"mean" or "coordinates", common to all features; "black box" as soon as one is."""
        return "black box" if len(self.symbolic) < len(self) else self.features[0].kind

    @property
    def symbolic(self) -> tuple[Feature, ...]:
        """The features before the first black box."""
        return tuple(takewhile(lambda f: f.black_box is None, self.features))

    @property
    def sample(self) -> Sample:
        """The generic sample, with its domain."""
        return next((f.sample for f in self.features if f.black_box is None), x)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The explicit coordinates; empty for averages."""
        return _coordinates(self)

    @property
    def parameters(self) -> frozenset[Basic]:
        """Everything that must be bound before numbers; a filter given by its frequency response is."""
        return frozenset().union(*(f.parameters for f in self.features))

    @property
    def sample_ndim(self) -> int:
        """The number of axes of a sample: the dimension of the filters; 1 without filters."""
        return dimension_of(f.expr for f in self.features if f.black_box is None)

    @property
    def filter_ndim(self) -> int | None:
        """The dimension of the filters; None without filters, where a sample may have any number of axes."""
        return _filter_ndim(self)

    def bind(self, values: Mapping[Any, Any]) -> FeatureSet:
        """Return the set with parameters, filters and undefined functions replaced.

        Parameters
        ----------
        values : mapping
            Parameter (symbol or its name) to number or expression; filter with a name (or with a frequency response)
            to filter or taps; undefined function ``m`` or ``m(x)`` to an expression in the sample.

        Raises
        ------
        InvalidInput
            If a key does not occur, or the features coincide or lose the sample once bound.

        Examples
        --------
        >>> from sympy import Symbol
        >>> from symdecouple.language.mean import Mean
        >>> FeatureSet([Mean(x), Mean(x**2 + Symbol("a")*x**3)]).bind({"a": 0})
        FeatureSet([Mean(x), Mean(x**2)])
        """
        _check_occurs(frozenset().union(*(named_in(f.expr) for f in self if f.black_box is None)), values)
        return in_groups(self._parts([f.bind(values) for f in self.features]))

    def at(self, *, n_samples: int | tuple[int, ...]) -> FeatureSet:
        """Return the set in explicit coordinates, for one sample size or the shape of a grid."""
        return in_groups(self._parts([f.at(n_samples=n_samples) for f in self.features]))

    def _parts(self, features: Sequence[Feature]) -> list[list[Feature]]:
        return [[features[k] for k in group] for group in self.groups]


def in_groups(parts: Iterable[Sequence[Feature]]) -> FeatureSet:
    """Return the set of the features of all parts, those of one part in a group; empty parts are left out."""
    return FeatureSet([_member(part) for part in parts if part])


def _member(part: Sequence[Feature]) -> Feature | Group:
    return part[0] if len(part) == 1 else Group(*part)


def _read(member: Any, allow_nonsmooth: Iterable[str] = ()) -> Any:
    """A feature that is given as text, read; anything else as it is."""
    if not isinstance(member, str):
        return member
    from symdecouple.language.text import parse

    return parse(member, allow_nonsmooth=allow_nonsmooth)


def _named(features: list[Feature], names: Sequence[str]) -> list[Feature]:
    given = [names] if isinstance(names, str) else list(names)
    if len(given) != len(features) or len(set(given)) < len(given) or "" in given:
        raise InvalidInput(f"{len(given)} names were given for {len(features)} features, {given!r}; one for each is "
                           "expected, no two alike")
    return [Feature(f, name=name) for f, name in zip(features, given, strict=True)]


def _check_occurs(parameters: frozenset[Basic], values: Mapping[Any, Any]) -> None:
    names = {name_of(p) for p in parameters}
    unknown = [name for name in map(name_of, values) if name not in names]
    if unknown:
        raise InvalidInput(f"nothing named {', '.join(unknown)} occurs in the features; their parameters are "
                           f"{', '.join(sorted(names)) or 'none'}")


def _check_set(features: list[Feature]) -> None:
    if not features:
        raise InvalidInput("a FeatureSet needs at least one feature; for instance FeatureSet([Mean(x), Mean(x**2)])")
    seen: dict[Feature, int] = {}
    for k, feature in enumerate(features, 1):
        if feature in seen:
            raise InvalidInput(f"features {seen[feature]} and {k} are the same: {feature}")
        seen[feature] = k
    features = [f for f in features if f.black_box is None]
    if len({f.kind for f in features}) > 1:
        raise InvalidInput("averages and functions of coordinates do not mix in one set; "
                           "turn the averages into coordinates with .at(n_samples=N)")
    if len({f.coordinates for f in features}) > 1:
        raise InvalidInput(f"the features have different numbers of coordinates: "
                           f"{sorted({len(f.coordinates) for f in features})}")
    dimension_of(f.expr for f in features)
    domains = {f.sample.interval for f in features}
    if len(domains) > 1:
        raise InvalidInput(f"the features average over samples of different domains: {sorted(map(str, domains))}")


@lru_cache(maxsize=64)
def _coordinates(features: FeatureSet) -> tuple[Coordinate, ...]:
    return next((f.coordinates for f in features if f.coordinates), ())


@lru_cache(maxsize=64)
def _filter_ndim(features: FeatureSet) -> int | None:
    is_filtered = any(f.expr.has(Filtered) for f in features if f.black_box is None)
    return features.sample_ndim if is_filtered else None
