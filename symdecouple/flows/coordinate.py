r"""The coordinate y = phi(x) in which an algebra of fields on a line is the one of shift, scale and inversion.

A Lie algebra V of fields a(x), with [a, b] = a b' - b a', has dimension 3 at most where it is analytic, and is then,
near each point where it does not vanish (Theorem A),

.. math:: V = \{1, y, y^2\}\,\partial_y \text{ cut to its dimension}, \qquad y = \phi(x)

No integral is needed to find phi from two dimensions on. Let u be the derived field (dimension 2), or one on which the
Killing form vanishes (dimension 3: u is nilpotent), and h a field with [u, h] = u. Then u is 1/phi', h is phi/phi', and

.. math:: \phi = h/u

Another u, or h + c u, gives a Moebius image of the same phi. Of several, one without a pole inside the interval of the
samples is taken (zeros of u are poles of phi), and the shortest one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Expr, Matrix, S, oo

from symdecouple.errors import SymdecoupleError
from symdecouple.language.canonical import decompose
from symdecouple.language.closed_forms import antiderivative, simplify
from symdecouple.language.failures import sympy_failures
from symdecouple.language.sample import Sample

__all__ = ["LineCoordinate", "coordinate_of", "double_angles", "poles_inside", "slope_squared"]

_CANDIDATES = 4  # fields u of dimension 3 that are looked at, unless the first one is as simple as can be
_ORDER = (0, 1, -1, 2, -2)
"""Weights of basis fields that are tried for u before the quadratic equation of the Killing form is solved."""


@dataclass(frozen=True, slots=True)
class LineCoordinate:
    """phi, and how many of the fields 1/phi', phi/phi', phi^2/phi' there are.

    Attributes
    ----------
    phi : Expr
        In the sample; up to a Moebius map in dimension 3, and up to shift and scale in dimension 2.
    sample : Sample
    dimension : int
    poles : tuple of Expr
        Where phi is infinite inside the interval of the samples, as far as that was decided: phi is a coordinate
        between two of them.
    """

    phi: Expr
    sample: Sample
    dimension: int
    poles: tuple[Expr, ...] = ()

    @property
    def fields(self) -> tuple[Expr, ...]:
        """1/phi', phi/phi', phi^2/phi', as many as the dimension."""
        slope = self.phi.diff(self.sample)
        return tuple(double_angles(simplify(self.phi**n / slope)) for n in range(self.dimension))


def coordinate_of(fields: Sequence[Expr], structure: Mapping[tuple[int, int], Sequence[Expr]],
                  sample: Sample) -> LineCoordinate | None:
    """Return the coordinate of a Lie algebra of functions of the sample; None where it is not found.

    Parameters
    ----------
    fields : sequence of Expr
        A basis: one to three independent functions of the sample.
    structure : mapping
        (i, j), counted from 1, to the constants c with [a_i, a_j] = sum_k c^k a_k.
    sample : Sample

    Notes
    -----
    In dimension 1 phi is the integral of 1/a, left as it is where it has no closed form.

    Examples
    --------
    >>> from sympy import cos, sin
    >>> from symdecouple.language.sample import x
    >>> coordinate_of([1, cos(x), sin(x)], {(1, 2): (0, 0, -1), (1, 3): (0, 1, 0), (2, 3): (1, 0, 0)}, x).phi
    tan(x/2)
    """
    fields = [sp.sympify(a) for a in fields]
    if len(fields) == 1:
        phi = antiderivative(simplify(1 / fields[0]), sample)
        found_phi = sp.Integral(1 / fields[0], sample) if phi is None else _without_constants(phi, sample)
        return LineCoordinate(found_phi, sample, 1, poles_inside(fields[0], sample) or ())
    found: list[tuple[tuple[int, int, int, int], LineCoordinate]] = []
    for place, (u, h) in enumerate(_pairs(fields, structure)):
        with sympy_failures("the coordinate of an algebra"):
            phi = _without_constants(_shortened(h / u, sample), sample)
            poles = poles_inside(u, sample)
        made = LineCoordinate(phi, sample, len(fields), poles or ())
        found.append(((len(poles or ()), int(sp.count_ops(phi)), len(str(phi)), place), made))
        if found[-1][0][:2] == (0, 0):
            break
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _pairs(fields: Sequence[Expr], structure: Mapping[tuple[int, int], Sequence[Expr]]) -> Iterator[tuple[Expr, Expr]]:
    """Yield u and h with [u, h] = u."""
    size = len(fields)
    ad = _adjoint(structure, size)
    for weights in _nilpotent(ad):
        u = Matrix(weights)
        acts: Matrix = sum((w * ad[k] for k, w in enumerate(weights)), sp.zeros(size))
        try:
            (h,) = sp.linsolve((acts, u))
        except ValueError:
            continue
        h = [w.xreplace(dict.fromkeys(w.free_symbols - _symbols(structure, fields), S.Zero)) for w in h]
        yield (Add(*(w * a for w, a in zip(weights, fields, strict=True))),
               Add(*(w * a for w, a in zip(h, fields, strict=True))))


def _symbols(structure: Mapping[tuple[int, int], Sequence[Expr]], fields: Sequence[Expr]) -> set[Expr]:
    """Return the parameters: what else is in a solution is free."""
    return {s for e in itertools.chain(fields, *structure.values()) for s in sp.sympify(e).free_symbols}


def _adjoint(structure: Mapping[tuple[int, int], Sequence[Expr]], size: int) -> list[Matrix]:
    """Return the matrices of [a_i, .]."""
    out = [sp.zeros(size) for _ in range(size)]
    for (i, j), row in structure.items():
        for k, c in enumerate(row):
            out[i - 1][k, j - 1], out[j - 1][k, i - 1] = sp.sympify(c), -sp.sympify(c)
    return out


def _nilpotent(ad: list[Matrix]) -> Iterator[tuple[Expr, ...]]:
    """Yield the weights of fields u that may be 1/phi', simple ones first."""
    size = len(ad)
    if size == 2:
        bracket = ad[0][:, 1]
        if any(bracket):
            yield tuple(bracket)
        return
    killing = Matrix(size, size, lambda i, j: (ad[i] * ad[j]).trace())
    if simplify(killing.det()) == 0:
        return
    tried = (w for w in itertools.product(_ORDER, repeat=size) if next((a for a in w if a), 0) == 1)
    seen = 0
    for weights in sorted(tried, key=lambda w: sum(map(abs, w))):
        vector = Matrix(weights)
        if seen < _CANDIDATES and simplify((vector.T * killing * vector)[0]) == 0:
            seen += 1
            yield tuple(vector)
    if not seen:
        w = sp.Dummy()
        for i, j in itertools.permutations(range(size), 2):
            vector = sp.zeros(size, 1)
            vector[i], vector[j] = S.One, w
            roots = sp.solve((vector.T * killing * vector)[0], w)
            yield from (tuple(vector.xreplace({w: root})) for root in roots if root.is_real)


def _shortened(quotient: Expr, sample: Sample) -> Expr:
    forms = [simplify(quotient)]
    if forms[0].has(sp.sin, sp.cos, sp.tan):  # sin/(1 + cos) is the tangent of half the angle
        half = sp.trigsimp(sp.expand_trig(quotient.xreplace({sample: 2 * sample}))).xreplace({sample: sample / 2})
        forms.append(sp.trigsimp(half))
    return min(forms, key=lambda e: (int(sp.count_ops(e)), str(e)))


def double_angles(expr: Expr) -> Expr:
    """Return products of sines and cosines as sums, of which the antiderivatives are short."""
    if not expr.has(sp.sin, sp.cos, sp.tan):
        return expr

    def length(e: Expr) -> tuple[bool, bool, int]:
        return e.has(sp.tan), e.has(sp.Pow), int(sp.count_ops(e))

    return min((expr, sp.expand(sp.fu(expr, measure=length))), key=length)


def _without_constants(phi: Expr, sample: Sample) -> Expr:
    """Return phi without an added and a multiplied constant, which are a shift and a scale of y."""
    varying = phi.as_independent(sample, as_Add=True)[1]
    return varying.as_independent(sample, as_Add=False)[1]


def poles_inside(u: Expr, sample: Sample) -> tuple[Expr, ...] | None:
    """Return zeros of a field inside the interval of the samples, three at most; None where that is not decided."""
    if u.is_positive or u.is_negative or u.is_nonzero:
        return ()
    low, high = sample.interval
    domain = sp.Interval.open(low, high)
    try:
        zeros = sp.solveset(u, sample, domain)
    except (NotImplementedError, ValueError, TypeError):
        return None
    if zeros is S.EmptySet:
        return ()
    if isinstance(zeros, sp.FiniteSet):
        return tuple(sorted(zeros, key=sp.default_sort_key))[:3]
    near = zeros.intersect(sp.Interval(max(low, -10), min(high, 10))) if {low, high} & {oo, -oo} else zeros
    return tuple(sorted(near, key=sp.default_sort_key))[:3] if isinstance(near, sp.FiniteSet) else None


def slope_squared(phi: Expr, sample: Sample, y: Expr) -> Expr | None:
    """Return the polynomial P(y) of degree 4 at most with phi'^2 = P(phi); None where there is none.

    Then x = phi^-1(y) has the rate 1/sqrt(P(y)), and what is integrated over x becomes rational in y.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> slope_squared(sp.sinh(x), x, sp.Symbol("y")), slope_squared(sp.atan(x), x, sp.Symbol("y"))
    (y**2 + 1, None)
    """
    unknowns = sp.symbols("c:5", cls=sp.Dummy)
    try:
        gap = decompose(phi.diff(sample) ** 2, sample)
        for power, c in enumerate(unknowns):
            for psi, factor in decompose(phi**power, sample).items():
                gap[psi] = gap.get(psi, S.Zero) - c * factor
    except SymdecoupleError:
        return None
    for found in sp.linsolve(list(gap.values()), *unknowns):
        return Add(*(c * y**power for power, c in enumerate(found))).xreplace(dict.fromkeys(unknowns, S.Zero))
    return None
