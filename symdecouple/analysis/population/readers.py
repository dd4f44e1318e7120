"""Laws as others write them: frozen laws of `scipy.stats`, random variables of `sympy.stats`, densities.

Laws of the table keep exact parameters; others are read by their densities, in float64 or exactly, and laws on whole
numbers by their masses, as far out as these count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
import sympy.stats
from sympy import Expr, oo
from sympy.calculus.util import function_range

from symdecouple.analysis.population.densities import PLACE, Standard, standard_law
from symdecouple.analysis.population.law import Density, Law, exact_number, in_floats, of_density, pieces_of
from symdecouple.errors import InvalidInput, NoClosedForm

__all__ = ["law_of"]

_ATOMS = 20_000  # of a law on whole numbers, before the tail counts as too heavy
_TAIL = {True: 1e-60, False: 1e-30}  # of the masses of whole numbers that are left away, exact ones and floats


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
        return of_density(distribution)
    if isinstance(distribution, Expr) and distribution.has(sympy.stats.rv.RandomSymbol):
        return _of_sympy(distribution)
    if hasattr(distribution, "dist") and hasattr(distribution, "kwds"):
        return _of_scipy(distribution)
    if hasattr(distribution, "xk") and hasattr(distribution, "pk"):  # scipy.stats.rv_discrete(values=...)
        places, masses = (map(exact_number, values) for values in (distribution.xk, distribution.pk))
        return _of_atoms("the given law", dict(zip(places, masses, strict=True)))
    if hasattr(distribution, "freeze"):
        raise InvalidInput(f"a frozen scipy.stats law is expected: scipy.stats.{distribution.name}(...)")
    if hasattr(distribution, "pdf") and hasattr(distribution, "support"):
        low, high = map(exact_number, distribution.support())
        return in_floats(type(distribution).__name__, distribution.pdf, low, high, is_vector=True)
    raise InvalidInput(f"a distribution is a frozen scipy.stats law, a sympy.stats random variable or "
                       f"analysis.Density(pdf, (low, high)), got {type(distribution).__name__}")


# --- scipy.stats --------------------------------------------------------------------------------------------------


def _of_scipy(law: Any) -> Law:
    shapes, loc, scale = _parameters(law)
    name = law.dist.name
    if not all(map(_is_one, (*shapes, loc, scale))):
        raise InvalidInput(f"one law is expected, the parameters of {name} are arrays")
    if np.isnan(law.support()).any():
        raise InvalidInput(f"scipy.stats.{name} takes no such parameters: {(*law.args, *law.kwds.values())}")
    if hasattr(law.dist, "pmf") or (hasattr(law, "pmf") and not hasattr(law.dist, "pdf")):
        if name in _FINITE:
            return _of_atoms(name, _FINITE[name](*map(exact_number, shapes)), exact_number(loc))
        low, high = map(exact_number, law.support())
        if name in _COUNTED and loc == 0:
            return _counted(name, _COUNTED[name](*map(exact_number, shapes)), low, high)
        return _counted(name, lambda k: exact_number(float(law.pmf(k))), low, high, is_exact=False)
    standard = standard_law(name, tuple(map(exact_number, shapes)))
    if standard is not None:
        if name == "chi2":
            scale = 2 * exact_number(scale)
        return _standard(name, standard, exact_number(loc), exact_number(scale))
    low, high = map(exact_number, law.support())
    return in_floats(name or "a law", law.pdf, low, high, is_vector=True)


def _is_one(value: Any) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "ndim") and value.ndim == 0)


def _parameters(law: Any) -> tuple[list[Any], Any, Any]:
    """Shapes, place and scale of a frozen law, however they were passed."""
    names = [s.strip() for s in (law.dist.shapes or "").split(",") if s.strip()]
    given = dict(zip([*names, "loc", "scale"], law.args, strict=False)) | dict(law.kwds)
    return [given[n] for n in names], given.get("loc", 0), given.get("scale", 1)


def _standard(name: str, standard: Standard, loc: Expr, scale: Expr) -> Law:
    pieces = pieces_of(standard.density, standard.low, standard.high, standard.breaks)
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
    symbols = list(variable.atoms(sympy.stats.rv.RandomSymbol))
    if len(symbols) != 1:
        raise InvalidInput(f"the law of one random variable is expected, {variable} has {len(symbols)}; give its "
                           "density")
    if len(symbols) == 1 and variable == symbols[0]:
        known = symbols[0].pspace.distribution
        if (read := _read_sympy(known)) is not None:
            return read
    parameters = {p for s in symbols for p in s.pspace.distribution.free_symbols}
    if free := parameters | (variable.free_symbols - set(symbols) - {s.symbol for s in symbols}):
        raise InvalidInput(f"{', '.join(map(str, free))} must be numbers in the law {variable}")
    density = sympy.stats.density(variable)
    if isinstance(density, Mapping) or hasattr(density, "dict"):
        return _of_atoms(str(variable), density if isinstance(density, Mapping) else density.dict)
    domain = sympy.stats.rv.pspace(variable).domain.set
    if isinstance(domain, sp.ProductSet):
        raise InvalidInput(f"the law of one number is expected, {variable} has {len(symbols)}")
    if domain.is_subset(sp.S.Integers):
        return _counted(str(variable), lambda k: exact_number(density(k)), domain.inf, domain.sup)
    body = density(PLACE)
    if variable != symbols[0]:
        try:
            domain = function_range(variable.xreplace({symbols[0]: PLACE}), PLACE, domain)
        except NotImplementedError as error:
            raise InvalidInput(f"the range of {variable} is not known; give analysis.Density(pdf, (low, high))"
                               ) from error
    low, high = domain.inf, domain.sup
    return Law(str(variable), pieces_of(body, low, high, ()), low=low, high=high)


def _placed(a: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr, Expr]:
    return (), a[0], a[1]


def _read_sympy(known: Any) -> Law | None:
    name = _SCIPY_NAMES.get(type(known).__name__)
    if name is None or not all(a.is_number for a in known.args):
        return None
    a = [exact_number(v) for v in known.args]
    shapes, loc, scale = {
        "uniform": lambda a: ((), a[0], a[1] - a[0]), "expon": lambda a: ((), sp.S.Zero, 1 / a[0]),
        "gamma": lambda a: ((a[0],), sp.S.Zero, a[1]), "beta": lambda a: ((a[0], a[1]), sp.S.Zero, sp.S.One),
        "pareto": lambda a: ((a[1],), sp.S.Zero, a[0]), "arcsine": lambda a: ((), a[0], a[1] - a[0]),
    }.get(name, _placed)(a)  # type: ignore[no-untyped-call]
    standard = standard_law(name, shapes)
    return None if standard is None else _standard(name, standard, loc, scale)

