"""Laws as others write them: frozen laws of `scipy.stats`, random variables of `sympy.stats`, densities.

Laws of the table keep exact parameters; others are read by their densities, in float64 or exactly, and laws on whole
numbers by their masses, as far out as these count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp
import sympy.stats
from sympy import Expr, oo
from sympy.calculus.util import function_range

from symdecouple.analysis.population.densities import PLACE, Standard, standard_law
from symdecouple.analysis.population.law import (
    Density,
    Law,
    as_a_law,
    exact_number,
    in_floats,
    of_density,
    of_expression,
    pieces_of,
)
from symdecouple.errors import InvalidInput, NoClosedForm, SymdecoupleError

__all__ = ["law_of"]

_ATOMS = 20_000  # of a law on whole numbers, before the tail counts as too heavy
_LOOK = 512  # atoms after which it is told how many there will be
_GUARD = 45  # digits more than are asked for that masses left away do not touch
_FLOAT_TAIL = 30  # digits, of masses known in float64


def law_of(distribution: Any, dps: int = 15) -> Law:
    """Return the law that was given, whatever its kind; on whole numbers, as far out as `dps` digits feel.

    Raises
    ------
    InvalidInput
        If it is no law of one real number.
    """
    if isinstance(distribution, Law):
        return distribution
    if isinstance(distribution, Density):
        return of_density(distribution)
    if isinstance(distribution, Expr) and distribution.has(sympy.stats.rv.RandomSymbol):
        return _of_sympy(distribution, dps)
    if hasattr(distribution, "dist") and hasattr(distribution, "kwds"):
        return _of_scipy(distribution, dps)
    if hasattr(distribution, "xk") and hasattr(distribution, "pk"):  # scipy.stats.rv_discrete(values=...)
        return _of_values(distribution)
    if type(distribution).__name__ == "rv_histogram":
        raise InvalidInput("the density of a histogram jumps; name the edges of its bins: analysis.Density(law.pdf, "
                           "law.support(), points=edges[1:-1])")
    if hasattr(distribution, "freeze"):
        raise InvalidInput(f"a frozen scipy.stats law is expected: scipy.stats.{distribution.name}(...)")
    if hasattr(distribution, "pdf") and hasattr(distribution, "support"):
        if any(np.ndim(v) for v in distribution.support()):
            raise InvalidInput(f"one law is expected, the parameters of {type(distribution).__name__} are arrays")
        low, high = map(exact_number, distribution.support())
        return in_floats(type(distribution).__name__, distribution.pdf, low, high, is_vector=True)
    raise InvalidInput(f"a distribution is a frozen scipy.stats law, a sympy.stats random variable or "
                       f"analysis.Density(pdf, (low, high)), got {type(distribution).__name__}")


# --- scipy.stats --------------------------------------------------------------------------------------------------


def _of_scipy(law: Any, dps: int) -> Law:
    shapes, loc, scale = _parameters(law)
    name = law.dist.name or "the given law"
    if not all(map(_is_one, (*shapes, loc, scale))):
        raise InvalidInput(f"one law is expected, the parameters of {name} are arrays or no numbers")
    with np.errstate(all="ignore"):
        ends = law.support()
    if np.isnan(ends).any() or np.isnan(shapes).any() or not all(map(np.isfinite, (loc, scale))):
        raise InvalidInput(f"scipy.stats.{name} takes no such parameters: {(*law.args, *law.kwds.values())}")
    place, size = exact_number(loc), exact_number(scale)
    if hasattr(law.dist, "xk"):
        return replace(_of_values(law.dist), loc=place)
    if hasattr(law.dist, "pmf") or (hasattr(law, "pmf") and not hasattr(law.dist, "pdf")):
        if name in _FINITE:
            return replace(_of_atoms(name, _FINITE[name](*map(exact_number, shapes))), loc=place)
        low, high = (exact_number(v) for v in law.dist.support(*shapes))
        if name in _COUNTED:
            rounded = (exact_number(v).evalf(2 * dps + _GUARD) for v in shapes)
            found = _counted(name, _COUNTED[name](*rounded), low, high, dps + _GUARD,
                             first=_COUNTED[name](*map(exact_number, shapes))(int(low)))
        else:
            found = _counted(name, lambda k: exact_number(float(law.dist.pmf(k, *shapes))), low, high, _FLOAT_TAIL,
                             near=int(law.dist.median(*shapes)), is_exact=False)
        return replace(found, loc=place)
    standard = standard_law(name, tuple(map(exact_number, shapes)))
    if standard is not None:
        return _standard(name, standard, place, 2 * size if name == "chi2" else size)
    if name == "vonmises":
        raise InvalidInput("vonmises is a law of angles, whose density goes round; take scipy.stats.vonmises_line")
    low, high = map(exact_number, law.dist.support(*shapes))
    points = (sp.S.Zero,) if low < 0 < high else ()  # where many of them have a kink, or a pole
    floats = in_floats(name, lambda v: law.dist.pdf(v, *shapes), low, high, points, is_vector=True)
    return replace(floats, loc=place, scale=size)


def _is_one(value: Any) -> bool:
    return (isinstance(value, (int, float)) or (hasattr(value, "ndim") and value.ndim == 0)) and not np.iscomplex(value)


def _parameters(law: Any) -> tuple[list[Any], Any, Any]:
    """Shapes, place and scale of a frozen law, however they were passed."""
    names = [s.strip() for s in (law.dist.shapes or "").split(",") if s.strip()]
    given = dict(zip([*names, "loc", "scale"], law.args, strict=False)) | dict(law.kwds)
    return [given[n] for n in names], given.get("loc", 0), given.get("scale", 1)


def _of_values(law: Any) -> Law:
    places, masses = (list(map(exact_number, values)) for values in (law.xk, law.pk))
    return _of_atoms("the given law", dict(zip(places, masses, strict=True)))


def _standard(name: str, standard: Standard, loc: Expr, scale: Expr) -> Law:
    pieces = pieces_of(standard.density, standard.low, standard.high, ())
    return Law(name, pieces, (), loc, scale, standard.low, standard.high, True, standard)


_FINITE: Mapping[str, Callable[..., Any]] = {
    "bernoulli": lambda p: {0: 1 - p, 1: p},
    "binom": lambda n, p: {k: sp.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(int(n) + 1)},
    "randint": lambda low, high: {k: 1 / (high - low) for k in range(int(low), int(high))},
}
"""Masses of `scipy.stats` laws in exact numbers."""


def _of_atoms(name: str, masses: Mapping[Any, Expr]) -> Law:
    atoms = tuple(sorted(((sp.sympify(v), q) for v, q in masses.items() if q != 0), key=lambda a: float(a[0])))
    return Law(name, (), as_a_law(atoms), low=atoms[0][0], high=atoms[-1][0])


_COUNTED: Mapping[str, Callable[..., Any]] = {
    "poisson": lambda mu: lambda k: sp.exp(-mu) * mu**k / sp.factorial(k),
    "geom": lambda p: lambda k: p * (1 - p) ** (k - 1),
    "nbinom": lambda n, p: lambda k: sp.binomial(n + k - 1, k) * p**n * (1 - p) ** k,
}


def _counted(name: str, mass: Callable[[int], Expr], low: Expr, high: Expr, digits: int, *, near: int = 0,
             first: Expr | None = None, is_exact: bool = True) -> Law:
    """A law on whole numbers; far out, masses below 10^-digits are left away. `near` is about where a law is that has
    no ends; `first` is the exact mass at the lower end."""
    start = int(low) if low.is_finite else int(high) + 1 if high.is_finite else near
    is_half = not (low.is_finite or high.is_finite)
    up = _one_way(name, mass, start, high, digits, is_half)
    down = [] if low.is_finite else _one_way(name, lambda k: mass(-k), 1 - start, oo, digits, is_half)
    if first is not None:
        up[0] = start, first
    atoms = tuple((sp.Integer(k), q) for k, q in [*((-k, q) for k, q in reversed(down)), *up] if q > 0)
    if not atoms:
        raise InvalidInput(f"{name} has no mass on the whole numbers from {low} to {high}")
    is_cut = not (low.is_finite and high.is_finite)
    return Law(name, (), atoms, low=atoms[0][0] if low.is_finite else low, high=atoms[-1][0] if high.is_finite else
               high, left_out=10.0**-digits if is_cut else 0.0, is_exact=is_exact)


def _one_way(name: str, mass: Callable[[int], Expr], start: int, end: Expr, digits: int, is_half: bool
             ) -> list[tuple[int, Expr]]:
    """Masses of whole numbers upward, until those of a falling tail are too small; with `is_half` all of them fall."""
    found: list[tuple[int, Expr]] = []
    k, before, total = start, mpmath.inf, 0.0
    while k <= end:
        found.append((k, mass(k)))
        total += float(found[-1][1])
        if end == oo:
            size = _size(found[-1][1])
            fall, before = before - size, size
            if size < -digits and fall > 0 and (total > 0.4 or (is_half and len(found) > 1)):
                return found
            if len(found) % _LOOK == 0 and total > 0.4 and (fall <= 0 or (digits + size) / fall > _ATOMS):
                k = _ATOMS + start
        if k - start >= _ATOMS:
            raise NoClosedForm(f"{name} has masses above 10^-{digits} on more than {_ATOMS} whole numbers; give a "
                               "density, or a bounded law")
        k += 1
    return found


def _size(mass: Expr) -> Any:
    """The decimal logarithm; that of float64's last zero is finite."""
    return mpmath.log10(mpmath.mpmathify(mass.evalf(15))) if mass != 0 else mpmath.mpf(-400)


# --- sympy.stats --------------------------------------------------------------------------------------------------


_KNOWN: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "UniformDistribution": ("uniform", lambda a, b: ((), a, b - a)),
    "ExponentialDistribution": ("expon", lambda rate: ((), sp.S.Zero, 1 / rate)),
    "GammaDistribution": ("gamma", lambda k, theta: ((k,), sp.S.Zero, theta)),
    "BetaDistribution": ("beta", lambda a, b: ((a, b), sp.S.Zero, sp.S.One)),
    "ParetoDistribution": ("pareto", lambda low, b: ((b,), sp.S.Zero, low)),
    "ArcsinDistribution": ("arcsine", lambda a, b: ((), a, b - a)),
    **{f"{name}Distribution": (other, lambda place, size: ((), place, size)) for name, other in (
        ("Normal", "norm"), ("Laplace", "laplace"), ("Logistic", "logistic"))},
}
"""What others call them, and their shapes, place and scale; all others are read by their densities."""


def _of_sympy(variable: Expr, dps: int) -> Law:
    symbols = list(variable.atoms(sympy.stats.rv.RandomSymbol))
    if len(symbols) != 1:
        raise InvalidInput(f"the law of one random variable is expected, {variable} has {len(symbols)}; give its "
                           "density")
    known = getattr(symbols[0].pspace, "distribution", None)
    if variable == symbols[0] and (read := _read_sympy(known)) is not None:
        return read
    parameters = known.free_symbols if isinstance(known, sp.Basic) else set()
    if free := parameters | (variable.free_symbols - set(symbols) - {s.symbol for s in symbols}):
        raise InvalidInput(f"{', '.join(sorted(map(str, free)))} must be numbers in the law {variable}")
    try:
        return _by_density(variable, symbols[0], dps)
    except SymdecoupleError:
        raise
    except Exception as error:  # SymPy raises anything where it has no density
        raise InvalidInput(f"SymPy gives no density of {variable} ({type(error).__name__}: {error}); give "
                           "analysis.Density(pdf, (low, high))") from error


def _by_density(variable: Expr, symbol: Expr, dps: int) -> Law:
    density = sympy.stats.density(variable)
    if isinstance(density, Mapping) or hasattr(density, "dict"):
        masses = density if isinstance(density, Mapping) else density.dict
        if odd := [v for v in masses if not (sp.sympify(v).is_number and sp.sympify(v).is_real)]:
            raise InvalidInput(f"a law of numbers is expected, {variable} takes the value {odd[0]}")
        return _of_atoms(str(variable), masses)
    domain = sympy.stats.rv.pspace(variable).domain.set
    if isinstance(domain, sp.ProductSet):
        raise InvalidInput(f"the law of one number is expected, {variable} has several components")
    if domain.is_subset(sp.S.Integers):
        if variable != symbol:
            raise InvalidInput(f"laws on whole numbers are read as they are, {variable} is a function of one; give "
                               "the atoms of a finite law, analysis.Density(None, (low, high), atoms={...})")
        return _counted(str(variable), lambda k: exact_number(density(k)), domain.inf, domain.sup, dps + _GUARD)
    body = density(PLACE)
    if variable != symbol:
        try:
            domain = function_range(variable.xreplace({symbol: PLACE}), PLACE, domain)
        except NotImplementedError as error:
            raise InvalidInput(f"the range of {variable} is not known; give analysis.Density(pdf, (low, high))"
                               ) from error
    low, high = domain.inf, domain.sup
    return of_expression(str(variable), body, low, high)


def _read_sympy(known: Any) -> Law | None:
    name, read = _KNOWN.get(type(known).__name__, ("", None))
    if read is None or not all(a.is_number for a in known.args):
        return None
    shapes, loc, scale = read(*map(exact_number, known.args))
    standard = standard_law(name, shapes)
    return None if standard is None else _standard(name, standard, loc, scale)
