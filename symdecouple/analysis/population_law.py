"""Laws of one number, however they are given: frozen `scipy.stats`, `sympy.stats`, densities, and atoms.

A law is read once into pieces with a density and atoms with a mass, in a standard place and scale, X = loc + scale Y.
What is known exactly stays exact: parameters become rational numbers as they are written, 0.1 is 1/10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import sympy as sp
import sympy.stats
from sympy import Expr, lambdify, oo
from sympy.calculus.util import function_range

from symdecouple.analysis.population_densities import PLACE, POLE, Standard, standard_law
from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.language.mean import exact

__all__ = ["Density", "Law", "Piece", "law_of"]

_FARTHEST = 10**7  # of an exponent: beyond, a density is 0 or infinite to any digits that are asked for
_ATOMS = 20_000  # of a law on whole numbers, before the tail counts as too heavy
_TAIL = {True: 1e-60, False: 1e-30}  # of the masses of whole numbers that are left away, exact ones and floats


def _exp(value: Any) -> Any:
    """The exponential, which mpmath would write out to millions of digits far out."""
    if isinstance(value, mpmath.mpf) and abs(value) > _FARTHEST:
        return mpmath.inf if value > 0 else mpmath.mpf(0)
    return mpmath.exp(value)


_FAR = {"exp": _exp, "cosh": lambda v: (_exp(v) + _exp(-v)) / 2, "sinh": lambda v: (_exp(v) - _exp(-v)) / 2}


@dataclass(frozen=True, slots=True)
class Density:
    r"""A law given by its density on an interval, with atoms beside it.

    .. math:: P(dx) = f(x)\,dx + \sum_i q_i\,\delta_{a_i}(dx)

    Parameters
    ----------
    pdf : Expr or callable
        In one symbol, exact; or a function of one number, which is called with floats.
    support : pair of numbers
        The ends of the smallest interval that holds the law; infinite ones with ``float("inf")`` or ``oo``.
    points : sequence of numbers
        Where the density is not smooth inside, or leaves a gap.
    atoms : mapping
        From places to masses.

    Examples
    --------
    >>> from sympy.abc import u
    >>> Density(2*u, (0, 1))
    Density(pdf=2*u, support=(0, 1), points=(), atoms={})
    """

    pdf: Any
    support: tuple[Any, Any]
    points: Sequence[Any] = ()
    atoms: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Piece:
    """A density on an interval; `density` takes and returns mpmath numbers."""

    low: Expr
    high: Expr
    density: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Law:
    """A law that was read.

    Attributes
    ----------
    name : str
    pieces : tuple of Piece
        One behind the other.
    atoms : tuple of pairs
        Places, in order, and masses.
    loc, scale : Expr
        X = loc + scale Y, all else is of Y.
    low, high : Expr
        The ends of its hull.
    is_exact : bool
        False for densities that are known in float64 only.
    standard : Standard or None
        Where it is in the table.
    left_out : float
        Mass of atoms far out that are left away.
    """

    name: str
    pieces: tuple[Piece, ...]
    atoms: tuple[tuple[Expr, Expr], ...] = ()
    loc: Expr = sp.S.Zero
    scale: Expr = sp.S.One
    low: Expr = -oo
    high: Expr = oo
    is_exact: bool = True
    standard: Standard | None = None
    left_out: float = 0.0

    def atom_at(self, place: Expr) -> Expr:
        """Return the mass at a place."""
        return next((mass for value, mass in self.atoms if value == place), sp.S.Zero)

    @property
    def support_size(self) -> float:
        """How many places carry mass."""
        return math.inf if self.pieces else len(self.atoms)

    @property
    def transform(self) -> Expr | None:
        """E 1/(X - p) in `POLE`; None where it has no closed form here."""
        place = (POLE - self.loc) / self.scale
        if not self.pieces and not self.left_out:
            return sp.Add(*(q / (v - place) for v, q in self.atoms)) / self.scale
        found = None if self.standard is None else self.standard.transform
        return None if found is None else found.xreplace({POLE: place}) / self.scale

    def exact_moment(self, order: int, pole: Expr | None = None) -> Expr | None:
        """Return E Y^order, or E (Y - pole)^-order, exactly; None where it is not known or not finite."""
        if not self.pieces and not self.left_out:
            base, power = (0, order) if pole is None else (pole, -order)
            return sp.simplify(sum(((v - base) ** power * m for v, m in self.atoms), sp.S.Zero))
        if self.standard is None or self.standard.moment is None or pole not in (None, 0):
            return None
        if pole == 0 and not (self.low > 0 or self.high < 0):
            return None
        found = self.standard.moment(order if pole is None else -order)
        return None if found is None or not found.is_finite else found


def law_of(distribution: Any) -> Law:
    """Return the law that was given, whatever its kind.

    Raises
    ------
    InvalidInput
        If it is no law of one real number.
    """
    if isinstance(distribution, Law):
        return distribution
    if isinstance(distribution, Density):
        return _of_density(distribution)
    if isinstance(distribution, Expr) and distribution.has(sympy.stats.rv.RandomSymbol):
        return _of_sympy(distribution)
    if hasattr(distribution, "dist") and hasattr(distribution, "kwds"):
        return _of_scipy(distribution)
    if hasattr(distribution, "xk") and hasattr(distribution, "pk"):  # scipy.stats.rv_discrete(values=...)
        return _of_atoms("the given law", dict(zip(map(_number, distribution.xk), map(_number, distribution.pk),
                                                   strict=True)))
    if hasattr(distribution, "freeze"):
        raise InvalidInput(f"a frozen scipy.stats law is expected: scipy.stats.{distribution.name}(...)")
    if hasattr(distribution, "pdf") and hasattr(distribution, "support"):
        low, high = map(_number, distribution.support())
        return _in_floats(type(distribution).__name__, distribution.pdf, low, high, (), is_vector=True)
    raise InvalidInput(f"a distribution is a frozen scipy.stats law, a sympy.stats random variable or "
                       f"analysis.Density(pdf, (low, high)), got {type(distribution).__name__}")


# --- densities ----------------------------------------------------------------------------------------------------


def _of_density(given: Density) -> Law:
    try:
        low, high = map(_number, given.support)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"support is a pair of numbers, got {given.support!r}") from error
    if not low <= high:
        raise InvalidInput(f"support is (low, high) with low < high, got {given.support!r}")
    points = sorted({_number(v) for v in given.points}, key=float)
    if outside := [v for v in points if not low < v < high]:
        raise InvalidInput(f"points are inside the support ({low}, {high}), got {outside[0]}")
    atoms = tuple(sorted(((_number(v), _number(m)) for v, m in given.atoms.items()), key=lambda a: float(a[0])))
    if bad := [m for _, m in atoms if not 0 < m <= 1]:
        raise InvalidInput(f"the masses of atoms are in (0, 1], got {bad[0]}")
    if given.pdf is None or given.pdf == 0:
        return Law("the given law", (), atoms, low=atoms[0][0] if atoms else low, high=atoms[-1][0] if atoms else high)
    low, high = sp.Min(low, *(v for v, _ in atoms)), sp.Max(high, *(v for v, _ in atoms))
    ends = [*map(_number, given.support)]
    if not isinstance(given.pdf, Expr):
        if not callable(given.pdf):
            raise InvalidInput(f"pdf is an expression in one symbol or a function, got {type(given.pdf).__name__}")
        return _in_floats("the given density", given.pdf, ends[0], ends[1], points, atoms, low, high)
    symbols = sorted(given.pdf.free_symbols, key=str)
    if len(symbols) > 1:
        raise InvalidInput(f"pdf has one symbol, {given.pdf} has {', '.join(map(str, symbols))}")
    body = given.pdf.xreplace({s: PLACE for s in symbols}).xreplace(
        {f: exact(f, "a number of a density") for f in given.pdf.atoms(sp.Float)})
    return Law("the given density", _pieces(body, ends[0], ends[1], points), atoms, low=low, high=high)


def _pieces(body: Expr, low: Expr, high: Expr, points: Sequence[Expr]) -> tuple[Piece, ...]:
    """One smooth piece between two breaks, those of a `Piecewise` and of kinks included; none where it is zero."""
    kinks: set[Expr] = set()
    for part in body.atoms(sp.Piecewise):
        kinks |= {end for _, where in part.args for relation in where.atoms(sp.core.relational.Relational)
                  for end in [_solved(relation.lhs - relation.rhs)] if end is not None}
    kinks |= {end for part in body.atoms(sp.Abs, sp.sign, sp.Heaviside) for end in [_solved(part.args[0])]
              if end is not None}
    inner = sorted({*points, *(k for k in kinks if k.is_real and low < k < high)}, key=float)
    found = []
    for a, b in pairwise([low, *inner, high]):
        inside = _chosen(body, a, b)
        if inside != 0:
            found.append(Piece(a, b, lambdify(PLACE, inside, [_FAR, "mpmath"])))
    return tuple(found)


def _solved(expr: Expr) -> Expr | None:
    """Where an affine function vanishes."""
    slope = sp.diff(expr, PLACE)
    return None if slope == 0 or slope.has(PLACE) else -expr.subs(PLACE, 0) / slope


def _chosen(body: Expr, low: Expr, high: Expr) -> Expr:
    """A piecewise body between two neighbouring breaks."""
    middle = (low + high) / 2 if low.is_finite and high.is_finite else (
        low + 1 if low.is_finite else high - 1 if high.is_finite else sp.S.Zero)
    rule = {}
    for part in body.atoms(sp.Piecewise):
        rule[part] = next((e for e, where in part.args if where.subs(PLACE, middle) == sp.true), sp.S.Zero)
    return body.xreplace(rule)


class _Floats:
    """A density in float64: of mpmath numbers one by one, or of many at once where it takes arrays."""

    def __init__(self, pdf: Callable[[Any], Any], is_vector: bool) -> None:
        self.pdf = pdf
        if is_vector:
            self.many = lambda places: list(map(mpmath.mpf, np.asarray(pdf(np.array(places, dtype=float))).tolist()))

    def __call__(self, value: Any) -> Any:
        return mpmath.mpf(float(self.pdf(float(value))))


def _in_floats(name: str, pdf: Callable[[Any], Any], low: Expr, high: Expr, points: Sequence[Expr],
               atoms: tuple[tuple[Expr, Expr], ...] = (), lowest: Expr | None = None, highest: Expr | None = None,
               is_vector: bool = False) -> Law:
    density = _Floats(pdf, is_vector)
    pieces = tuple(Piece(a, b, density) for a, b in pairwise([low, *points, high]))
    return Law(name, pieces, atoms, low=low if lowest is None else lowest, high=high if highest is None else highest,
               is_exact=False)


def _number(value: Any) -> Expr:
    if isinstance(value, Expr):
        return sp.nsimplify(value) if value.is_Float else value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return oo if value > 0 else -oo
    found: Expr = exact(value, "a number of a law")
    return found


# --- scipy.stats --------------------------------------------------------------------------------------------------


def _of_scipy(law: Any) -> Law:
    shapes, loc, scale = _parameters(law)
    name = law.dist.name
    if hasattr(law.dist, "pmf") or (hasattr(law, "pmf") and not hasattr(law.dist, "pdf")):
        if name in _FINITE:
            return _of_atoms(name, _FINITE[name](*map(_number, shapes)), _number(loc))
        low, high = map(_number, law.support())
        if name in _COUNTED and loc == 0:
            return _counted(name, _COUNTED[name](*map(_number, shapes)), low, high)
        return _counted(name, lambda k: _number(float(law.pmf(k))), low, high, is_exact=False)
    standard = standard_law(name, tuple(map(_number, shapes))) if all(_is_one(s) for s in shapes) else None
    if standard is not None:
        if name == "chi2":
            scale = 2 * _number(scale)
        return _standard(name, standard, _number(loc), _number(scale))
    low, high = map(_number, law.support())
    return _in_floats(name or "a law", law.pdf, low, high, (), is_vector=True)


def _is_one(value: Any) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "ndim") and value.ndim == 0)


def _parameters(law: Any) -> tuple[list[Any], Any, Any]:
    """Shapes, place and scale of a frozen law, however they were passed."""
    names = [s.strip() for s in (law.dist.shapes or "").split(",") if s.strip()]
    given = dict(zip([*names, "loc", "scale"], law.args, strict=False)) | dict(law.kwds)
    return [given[n] for n in names], given.get("loc", 0), given.get("scale", 1)


def _standard(name: str, standard: Standard, loc: Expr, scale: Expr) -> Law:
    pieces = _pieces(standard.density, standard.low, standard.high, standard.breaks)
    return Law(name, pieces, (), loc, scale, standard.low, standard.high, True, standard)


_FINITE: Mapping[str, Callable[..., Any]] = {
    "bernoulli": lambda p: {0: 1 - p, 1: p},
    "binom": lambda n, p: {k: sp.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(int(n) + 1)},
    "randint": lambda low, high: {k: 1 / (high - low) for k in range(int(low), int(high))},
}
"""Masses of `scipy.stats` laws in exact numbers."""


def _of_atoms(name: str, masses: Mapping[Any, Expr], loc: Expr = sp.S.Zero) -> Law:
    atoms = tuple(sorted(((v + loc, q) for v, q in masses.items() if q != 0), key=lambda a: float(a[0])))
    return Law(name, (), atoms, low=atoms[0][0], high=atoms[-1][0])


_COUNTED: Mapping[str, Callable[..., Any]] = {
    "poisson": lambda mu: lambda k: sp.exp(-mu) * mu**k / sp.factorial(k),
    "geom": lambda p: lambda k: p * (1 - p) ** (k - 1),
    "nbinom": lambda n, p: lambda k: sp.binomial(n + k - 1, k) * p**n * (1 - p) ** k,
}


def _counted(name: str, mass: Callable[[int], Expr], low: Expr, high: Expr, is_exact: bool = True) -> Law:
    """A law on whole numbers; far out, what is left of it is left away."""
    if not low.is_finite:
        raise NoClosedForm(f"{name} has no smallest number; laws on whole numbers that are bounded below are read")
    atoms: list[tuple[Expr, Expr]] = []
    left, k = 1.0, int(low)
    while k <= high and len(atoms) < _ATOMS:
        q = mass(k)
        if q > 0:
            atoms.append((sp.Integer(k), q))
            left -= float(q)
        if high == oo and left < 1e-10 and float(q) < _TAIL[is_exact]:
            break
        k += 1
    else:
        if high == oo:
            raise NoClosedForm(f"the tail of {name} is too heavy: {left:.2g} of its mass lies beyond {k}; give a "
                               "density, or a bounded law")
    return Law(name, (), tuple(atoms), low=atoms[0][0], high=oo if high == oo else atoms[-1][0],
               left_out=_TAIL[is_exact] if high == oo else 0.0, is_exact=is_exact)


# --- sympy.stats --------------------------------------------------------------------------------------------------


_SCIPY_NAMES = {
    "UniformDistribution": "uniform", "ExponentialDistribution": "expon", "GammaDistribution": "gamma",
    "BetaDistribution": "beta", "ParetoDistribution": "pareto", "NormalDistribution": "norm",
    "LaplaceDistribution": "laplace", "LogisticDistribution": "logistic", "ArcsinDistribution": "arcsine",
}
"""Those whose arguments are read below; others by their densities."""


def _of_sympy(variable: Expr) -> Law:
    symbols = [s for s in variable.atoms(sympy.stats.rv.RandomSymbol)]
    if len(symbols) == 1 and variable == symbols[0]:
        known = symbols[0].pspace.distribution
        if (read := _read_sympy(known)) is not None:
            return read
    if free := variable.free_symbols - set(symbols) - {s.symbol for s in symbols}:
        raise InvalidInput(f"{', '.join(map(str, free))} must be numbers in the law {variable}")
    density = sympy.stats.density(variable)
    if isinstance(density, Mapping) or hasattr(density, "dict"):
        return _of_atoms(str(variable), density if isinstance(density, Mapping) else density.dict)
    domain = sympy.stats.rv.pspace(variable).domain.set
    if isinstance(domain, sp.ProductSet):
        raise InvalidInput(f"the law of one number is expected, {variable} has {len(symbols)}")
    if domain.is_subset(sp.S.Integers):
        return _counted(str(variable), lambda k: sp.nsimplify(density(k)), domain.inf, domain.sup)
    body = density(PLACE)
    if variable != symbols[0]:
        try:
            domain = function_range(variable.xreplace({symbols[0]: PLACE}), PLACE, domain)
        except NotImplementedError as error:
            raise InvalidInput(f"the range of {variable} is not known; give analysis.Density(pdf, (low, high))"
                               ) from error
    low, high = domain.inf, domain.sup
    return Law(str(variable), _pieces(body, low, high, ()), low=low, high=high)


def _placed(a: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr, Expr]:
    return (), a[0], a[1]


def _read_sympy(known: Any) -> Law | None:
    name = _SCIPY_NAMES.get(type(known).__name__)
    if name is None or not all(a.is_number for a in known.args):
        return None
    a = [_number(v) for v in known.args]
    shapes, loc, scale = {
        "uniform": lambda a: ((), a[0], a[1] - a[0]), "expon": lambda a: ((), sp.S.Zero, 1 / a[0]),
        "gamma": lambda a: ((a[0],), sp.S.Zero, a[1]), "beta": lambda a: ((a[0], a[1]), sp.S.Zero, sp.S.One),
        "pareto": lambda a: ((a[1],), sp.S.Zero, a[0]), "arcsine": lambda a: ((), a[0], a[1] - a[0]),
    }.get(name, _placed)(a)  # type: ignore[no-untyped-call]
    standard = standard_law(name, shapes)
    return None if standard is None else _standard(name, standard, loc, scale)

