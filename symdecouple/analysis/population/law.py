"""Laws of one number, however they are given: frozen `scipy.stats`, `sympy.stats`, densities, and atoms.

A law is read once into pieces with a density and atoms with a mass, in a standard place and scale, X = loc + scale Y.
What is known exactly stays exact: parameters become rational numbers as they are written, 0.1 is 1/10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy import Expr, lambdify, latex, oo

from symdecouple.analysis.population.densities import PLACE, POLE, Standard
from symdecouple.errors import InvalidInput
from symdecouple.language.mean import exact
from symdecouple.shown import Card, Cell, Maths, Shown

__all__ = ["Density", "Law", "Piece", "as_a_law", "exact_number", "in_floats", "of_density", "of_expression",
           "pieces_of"]

_FARTHEST = mpmath.mpf(10) ** 100  # of an exponent: beyond, a density is 0 or infinite to any digits asked for


def _exp(value: Any) -> Any:
    """The exponential, whose argument mpmath would write out to millions of digits far out."""
    if isinstance(value, mpmath.mpf) and abs(value) > _FARTHEST:
        return mpmath.inf if value > 0 else mpmath.mpf(0)
    return mpmath.exp(value)


_FAR = {"exp": _exp, "cosh": lambda v: (_exp(v) + _exp(-v)) / 2, "sinh": lambda v: (_exp(v) - _exp(-v)) / 2}


@dataclass(frozen=True, slots=True, repr=False)
class Density(Shown):
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
    Density on (0, 1)
      density  2*u
    """

    pdf: Any
    support: tuple[Any, Any]
    points: Sequence[Any] = ()
    atoms: Mapping[Any, Any] = field(default_factory=dict)

    def _card(self) -> Card:
        pdf = self.pdf if isinstance(self.pdf, Expr) else getattr(self.pdf, "__name__", repr(self.pdf))
        lines = [("density", str(pdf))]
        points, atoms = self.points, self.atoms  # nobody has looked at them before they are read
        lines += [("points", ", ".join(map(str, points)) if isinstance(points, Iterable) else str(points))]
        lines += [("atoms", ", ".join(f"{mass} at {place}" for place, mass in atoms.items())
                   if isinstance(atoms, Mapping) else str(atoms))]
        lines = [line for line in lines if line[1]]
        rows: list[tuple[Cell, Cell]] = [(name, text) for name, text in lines]
        if isinstance(pdf, Expr):
            rows[0] = "density", Maths(str(pdf), latex(pdf))
        ends = self.support
        between = f"({', '.join(map(str, ends))})" if isinstance(ends, Iterable) else str(ends)
        return Card(f"Density on {between}", lines, ("", ""), rows)


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
        if not self.pieces and not self.left_out and self.is_exact:
            base, power = (0, order) if pole is None else (pole, -order)
            return sp.simplify(sum(((v - base) ** power * m for v, m in self.atoms), sp.S.Zero))
        if self.standard is None or self.standard.moment is None or pole not in (None, 0):
            return None
        if pole == 0 and self.low < 0 < self.high:
            return None
        found = self.standard.moment(order if pole is None else -order)
        return None if found is None or not found.is_finite else found

    def exact_moments(self, order: int, pole: Expr | None = None) -> list[Expr] | None:
        """Return E Y^k for k = 1..order, or E (Y - pole)^-k; None where one of them is not known."""
        found = [self.exact_moment(k, pole) for k in range(1, order + 1)]
        known = [m for m in found if m is not None]
        return known if len(known) == order else None


# --- densities ----------------------------------------------------------------------------------------------------


def of_density(given: Density) -> Law:
    try:
        low, high = map(exact_number, given.support)
        points = sorted({exact_number(v) for v in given.points}, key=float)
        masses = [(exact_number(v), exact_number(m)) for v, m in given.atoms.items()]
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput("a density has a support that is a pair of numbers, points= that are numbers and atoms= "
                           f"from places to masses, got {given!r} ({error})") from error
    numbers = [low, high, *points, *(v for atom in masses for v in atom)]
    if odd := [v for v in numbers if not (v.is_number and v.is_extended_real)]:
        raise InvalidInput(f"support, points and atoms of a density are real numbers, got {odd[0]}")
    if not low <= high:
        raise InvalidInput(f"support is (low, high) with low < high, got {given.support!r}")
    if outside := [v for v in points if not low < v < high]:
        raise InvalidInput(f"points are inside the support ({low}, {high}), got {outside[0]}")
    if bad := [m for _, m in masses if not 0 < m <= 1]:
        raise InvalidInput(f"the masses of atoms are in (0, 1], got {bad[0]}")
    if far := [v for v, _ in masses if not v.is_finite]:
        raise InvalidInput(f"an atom is at a finite place, got {far[0]}")
    atoms = tuple(sorted(masses, key=lambda atom: float(atom[0])))
    pdf = given.pdf if (callable(given.pdf) and not isinstance(given.pdf, sp.Basic)) or given.pdf is None else (
        exact(given.pdf, "pdf, an expression in one symbol or a function,"))
    if pdf is None or pdf == 0:
        if not atoms:
            raise InvalidInput("a density was given that is 0, without atoms; a law has the mass 1")
        return Law("the given law", (), as_a_law(atoms), low=atoms[0][0], high=atoms[-1][0])
    if not isinstance(pdf, Expr):
        law = in_floats("the given density", pdf, low, high, points)
    else:
        if len(symbols := sorted(pdf.free_symbols, key=str)) > 1:
            raise InvalidInput(f"pdf has one symbol, {pdf} has {', '.join(map(str, symbols))}")
        law = of_expression("the given density", pdf.xreplace({s: PLACE for s in symbols}), low, high, points)
    return replace(law, atoms=atoms, low=sp.Min(law.low, *(v for v, _ in atoms)),
                   high=sp.Max(law.high, *(v for v, _ in atoms)))


def as_a_law(atoms: Sequence[tuple[Expr, Expr]]) -> tuple[tuple[Expr, Expr], ...]:
    """Divide masses by their total where they are floats that miss 1 by roundings: three times 1/3."""
    total = sp.Add(*(q for _, q in atoms))
    if total == 1 or not total.is_Rational or abs(total - 1) > sp.Rational(1, 10**14) * len(atoms):
        return tuple(atoms)
    return tuple((v, q / total) for v, q in atoms)


def of_expression(name: str, body: Expr, low: Expr, high: Expr, points: Sequence[Expr] = ()) -> Law:
    """A law with a density in `PLACE`; its hull ends where the density does."""
    pieces = pieces_of(sp.powsimp(body), low, high, points)
    if not pieces:
        raise InvalidInput(f"the density of {name} is 0 between {low} and {high}; a law has the mass 1")
    return Law(name, pieces, low=pieces[0].low, high=pieces[-1].high)


def pieces_of(body: Expr, low: Expr, high: Expr, points: Sequence[Expr]) -> tuple[Piece, ...]:
    """One smooth piece between two breaks, those of a `Piecewise` and of kinks included; none where it is zero."""
    try:
        return tuple(Piece(a, b, lambdify(PLACE, inside, [_FAR, "mpmath"])) for a, b, inside in
                     _smooth(body, low, high, points))
    except (TypeError, KeyError, NotImplementedError) as error:
        raise InvalidInput(f"a density is a real function of one number; {body} has no numbers ({error})") from error


_KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise)


def _smooth(body: Expr, low: Expr, high: Expr, points: Sequence[Expr] = ()) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Intervals in order, without kinks inside, and the body there; kinks that SymPy does not solve stay inside."""
    domain = sp.Interval(low, high)
    cases = [(body, domain)]
    if body.has(*_KINKED):
        folded = sp.piecewise_fold(body.rewrite(sp.Piecewise))
        with suppress(NotImplementedError):
            cases = folded.as_expr_set_pairs(domain) if isinstance(folded, sp.Piecewise) else cases
    parts = [(inside, part) for inside, where in cases if inside != 0
             for part in (where.args if isinstance(where, sp.Union) else (where,)) if isinstance(part, sp.Interval)]
    for inside, part in sorted(parts, key=lambda case: float(case[1].start)):
        for a, b in pairwise([part.start, *(v for v in points if part.start < v < part.end), part.end]):
            yield a, b, inside


class _Floats:
    """A density in float64: of mpmath numbers one by one, or of many at once where it takes arrays."""

    def __init__(self, pdf: Callable[[Any], Any], is_vector: bool) -> None:
        self.pdf = pdf
        if is_vector:
            self.many = self._many

    def _many(self, places: Sequence[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            return list(map(mpmath.mpf, np.asarray(self.pdf(np.array(places, dtype=float))).tolist()))

    def __call__(self, value: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return mpmath.mpf(float(self.pdf(float(value))))
        except ZeroDivisionError:
            return mpmath.inf
        except OverflowError:
            return mpmath.mpf(0)
        except Exception as error:  # of a function that was given
            raise InvalidInput(f"a density is a function of one number with values of 0 or more; at {float(value):.6g} "
                               f"the given one raised {type(error).__name__}: {error}") from error


def in_floats(name: str, pdf: Callable[[Any], Any], low: Expr, high: Expr, points: Sequence[Expr] = (), *,
              is_vector: bool = False) -> Law:
    density = _Floats(pdf, is_vector)
    pieces = tuple(Piece(a, b, density) for a, b in pairwise([low, *points, high]))
    return Law(name, pieces, low=low, high=high, is_exact=False)


def exact_number(value: Any) -> Expr:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return oo if value > 0 else -oo
    found: Expr = exact(value, "a number of a law")
    return found
