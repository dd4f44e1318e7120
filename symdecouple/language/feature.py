"""Features, declared symbolically.

A feature is a smooth expression of averages, ``Mean(x**2) - Mean(x)**2``, for every sample size at once, or an
expression of explicit coordinates, for one sample size; ``at(n_samples=N)`` turns the first into the second.
Declarations are checked here, once: what passes is smooth (or named as not), depends on the sample, and is exact. A
callable can be a feature too, as a black box: it has values and no expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sympy import Abs, Basic, DiracDelta, Expr, Heaviside, Max, Min, Mod, Piecewise, ceiling, floor, frac, latex, sign

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.binding import bind, on_grid, parameters_of, spread
from symdecouple.language.black_box import BlackBox
from symdecouple.language.disguise import folds, unmasked
from symdecouple.language.filtered import dimension_of
from symdecouple.language.mean import Mean, exact, free_sample
from symdecouple.language.sample import Coordinate, Sample, coordinates, x
from symdecouple.shown import Shown

if TYPE_CHECKING:
    from symdecouple.calculus.field import VectorField

__all__ = ["Feature", "check_smooth"]

_NONSMOOTH = {cls.__name__: cls for cls in
              (Abs, sign, Max, Min, Piecewise, floor, ceiling, frac, Mod, Heaviside, DiracDelta)}


class Feature(Shown):
    """One real function of a sample vector.

    Parameters
    ----------
    expr : Expr
        A smooth expression of `Mean` atoms, or of `coordinates`. Text is read by `symdecouple.parse`.
    allow_nonsmooth : iterable of str
        Names of non-smooth functions that are accepted ("Abs", "sign", "Max", "Piecewise", ...): everything that
        is derived then holds away from their kinks.
    name : str, optional
        What tables, pictures and columns call it; default its formula. It is no part of what the feature is: features
        with the same formula are equal.

    Raises
    ------
    InvalidInput
        If the expression does not depend on the sample, or mixes averages and coordinates.
    UnsupportedExpression
        If it is not smooth and that was not allowed by name.

    Examples
    --------
    >>> Feature(Mean(x**2) - Mean(x)**2).kind
    'mean'
    """

    __slots__ = ("_content", "_name", "allow_nonsmooth")
    _content: Any
    _name: str
    allow_nonsmooth: frozenset[str]

    def __init__(self, expr: Any, *, allow_nonsmooth: Iterable[str] = (), name: str | None = None) -> None:
        if isinstance(expr, Feature):
            name = expr._name if name is None else name
            expr, allow_nonsmooth = expr._content, {*expr.allow_nonsmooth, *allow_nonsmooth}
        allowed = frozenset([allow_nonsmooth] if isinstance(allow_nonsmooth, str) else allow_nonsmooth)
        if not isinstance(expr, BlackBox):
            expr = exact(expr, "Feature")
            _check_declared(expr)
            check_smooth(expr, allowed)
        if name is not None and not (isinstance(name, str) and name.strip() == name and name.isprintable()):
            raise InvalidInput(f"the name of a feature is text of one line, without spaces at its ends, got {name!r}")
        object.__setattr__(self, "_content", expr)
        object.__setattr__(self, "_name", name or "")
        object.__setattr__(self, "allow_nonsmooth", allowed)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Feature is immutable; build a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        from symdecouple.language.pickled import as_written

        allowed, points = tuple(sorted(self.allow_nonsmooth)), self.coordinates
        written = None if self.black_box is not None else as_written(
            self.expr, self.sample, points[0].size if points else None)
        return ((_restore, (self._content, allowed, self._name)) if written is None
                else (_restored, (*written, allowed, self._name)))

    @classmethod
    def from_callable(cls, f: Callable[[Any], Any], gradient: Callable[[Any], Any] | None = None,
                      name: str | None = None, *, vectorized: bool = False) -> Feature:
        """Return a black box: a smooth function of a sample vector that is known by its values only.

        Parameters
        ----------
        f : callable
            From a sample vector (N,) to a number.
        gradient : callable, optional
            From (N,) to (N,): the plain gradient in 64 bits, as anything that NumPy takes for an array (JAX, autograd).
            Without one it comes from extrapolated differences, 10 N calls of `f` each.
        name : str, optional
            What it prints as; default the name of `f`.
        vectorized : bool
            `f` takes sample vectors as rows, (R, N), and returns (R,); `gradient` returns (R, N) then.

        Examples
        --------
        >>> Feature.from_callable(lambda v: v.max(), name="largest")
        Feature(largest)
        """
        return cls(BlackBox(f, gradient, "" if name is None else name, vectorized))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Feature) and bool(self._content == other._content)

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        return f"Feature({self})"

    def __str__(self) -> str:
        return str(self._content)

    def latex(self) -> str:
        """Return the feature as LaTeX, without the dollar signs."""
        box = self.black_box
        return str(latex(self.expr)) if box is None else box.latex()

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    @property
    def name(self) -> str:
        """What it is called: the name that was given, else its formula."""
        return self._name or str(self)

    @property
    def is_named(self) -> bool:
        """Whether a name was given; black boxes have one."""
        return bool(self._name) or self.black_box is not None

    @property
    def expr(self) -> Expr:
        """The expression; asking a black box for it raises `UnsupportedExpression`."""
        if self.black_box is not None:
            raise UnsupportedExpression(f"{self} is a black box: it has values and no expression; declare it as one of "
                                        "Mean(...) where a formula is needed")
        return self._content

    @property
    def black_box(self) -> BlackBox | None:
        """The callable of a black box; None for a feature with an expression."""
        return self._content if isinstance(self._content, BlackBox) else None

    @property
    def kind(self) -> str:
        """"mean" (averages, any sample size), "coordinates" (one sample size) or "black box"."""
        return "black box" if self.black_box is not None else "coordinates" if self.coordinates else "mean"

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates (x1, ..., xn) of a feature of the second kind; empty otherwise."""
        found = self._atoms(Coordinate)
        return coordinates(next(iter(found)).size) if found else ()

    @property
    def sample(self) -> Sample:
        """The generic sample, with its domain."""
        means = self._atoms(Mean)
        return next(iter(means)).sample if means else x

    @property
    def parameters(self) -> frozenset[Basic]:
        """Everything that must be bound before numbers: parameters, symbolic filters, undefined functions."""
        return frozenset() if self.black_box is not None else parameters_of(self.expr)

    def _atoms(self, kind: type[Any]) -> set[Any]:
        return set() if self.black_box is not None else self.expr.atoms(kind)

    @property
    def gradient(self) -> VectorField:
        """The gradient as a `VectorField`: v = N grad f for averages, grad f for coordinates."""
        from symdecouple.calculus.gradient import gradient

        return gradient(self)

    def bind(self, values: Mapping[Any, Any]) -> Feature:
        """Return the feature with parameters, filters and undefined functions replaced; see `FeatureSet.bind`."""
        if self.black_box is not None:
            return self
        return Feature(bind(self.expr, values), allow_nonsmooth=self.allow_nonsmooth, name=self._name)

    def at(self, *, n_samples: int | tuple[int, ...]) -> Feature:
        """Return the feature in explicit coordinates, for one sample size or the shape of a grid (in C order).

        Examples
        --------
        >>> Feature(Mean(x**2)).at(n_samples=2)
        Feature(x1**2/2 + x2**2/2)
        """
        if self.kind == "mean":
            points, shape = on_grid(n_samples)
            there = spread(self.expr, points, shape=shape)
            return Feature(there, allow_nonsmooth=self.allow_nonsmooth, name=self._name)
        if self.coordinates and on_grid(n_samples)[0] != self.coordinates:
            raise InvalidInput(f"{self} is a function of {len(self.coordinates)} coordinates, not {n_samples}")
        return self


def check_smooth(expr: Expr, allowed: Iterable[str] = ()) -> None:
    """Refuse functions that have kinks, unless named as allowed."""
    allowed = frozenset(allowed)
    if unknown := allowed - set(_NONSMOOTH):
        raise InvalidInput(f"allow_nonsmooth names {sorted(unknown)}, known are {sorted(_NONSMOOTH)}")
    found = {name for name, cls in _NONSMOOTH.items() if expr.has(cls)}
    if (shown := unmasked(expr)) != expr:
        found |= {name for name, cls in _NONSMOOTH.items() if shown.has(cls)}
    if found := found - allowed:
        disguised = f", which is {shown}," * (shown != expr)
        raise UnsupportedExpression(f"{expr}{disguised} contains {', '.join(sorted(found))}, which is not smooth; if "
                                    f"the samples stay away from the kinks, say allow_nonsmooth={sorted(found)}")
    if folded := folds(expr):
        raise UnsupportedExpression(f"{', '.join(map(str, folded))} has kinks or jumps where its argument turns round "
                                    "or has a pole: write what it is on the samples in use (acos(cos(x)) is x on "
                                    "(0, pi))")


def _check_declared(expr: Expr) -> None:
    if (symbol := free_sample(expr)) is not None:
        raise InvalidInput(f"{expr} depends on the single sample {symbol}: average it, Mean({expr})")
    sizes = {c.size for c in expr.atoms(Coordinate)}
    if len(sizes) > 1:
        raise InvalidInput(f"{expr} mixes coordinates of samples of sizes {sorted(sizes)}")
    if sizes and expr.atoms(Mean):
        raise InvalidInput(f"{expr} mixes averages and explicit coordinates; use one kind, see Feature.at(n_samples=)")
    if not sizes and not expr.atoms(Mean):
        raise InvalidInput(f"{expr} does not depend on the sample: a feature is an expression of Mean(...) of "
                           "symdecouple.x, or of coordinates(n)")
    if len({mean.sample.interval for mean in expr.atoms(Mean)}) > 1:
        raise InvalidInput(f"{expr} averages over samples of different domains")
    dimension_of([expr])


def _restored(text: str, domain: str, size: int | None, responses: Any, allowed: tuple[str, ...],
              name: str = "") -> Feature:
    from symdecouple.language.pickled import read_back

    return Feature(read_back(text, domain, size, responses), allow_nonsmooth=allowed, name=name)


def _restore(expr: Any, allowed: tuple[str, ...], name: str = "") -> Feature:
    return Feature(expr, allow_nonsmooth=allowed, name=name)
