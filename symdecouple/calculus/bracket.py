r"""Derivatives along a field, Lie brackets and inner products.

.. math::

    D_u\,\mathrm{Mean}(\varphi) = \mathrm{Mean}(D_u \varphi), \qquad D_u\,h(e) = h(D_u e), \qquad
    D_u v = v_x\, u + \sum_a \frac{\partial v}{\partial s_a} D_u s_a, \qquad [u, v] = D_u v - D_v u

D_u of a gradient field v_f is N times the product of the Hessian of f with u.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, overload

from sympy import Add, Expr, S, factor

from symdecouple.calculus.field import VectorField, one_sample
from symdecouple.calculus.gradient import SLOPES, gradient, leaves, placed
from symdecouple.errors import InvalidInput
from symdecouple.language.canonical import close, decompose, open_statistics
from symdecouple.language.feature import Feature, check_smooth
from symdecouple.language.filters import Filtered
from symdecouple.language.kinks import has_kinks, in_sides, in_signs
from symdecouple.language.mean import Mean, exact, free_sample
from symdecouple.language.sample import Coordinate, Sample

__all__ = ["as_field", "derivative_along", "inner_product", "lie_bracket", "raw_bracket", "tidy"]


def as_field(value: Any) -> VectorField:
    """Return a field as it is, and the gradient field of a feature."""
    return value if isinstance(value, VectorField) else gradient(value)


@overload
def derivative_along(field: VectorField | Feature, target: VectorField) -> VectorField: ...


@overload
def derivative_along(field: VectorField | Feature, target: Feature | Expr) -> Expr: ...


def derivative_along(field: Any, target: Any) -> Any:
    """Return the derivative of a feature, an expression or a field along a field.

    Parameters
    ----------
    field : VectorField or Feature
        A feature stands for its gradient field.
    target : Feature, Expr or VectorField
        An expression of averages, or in the coordinates of the field, whichever symbols these are.

    Returns
    -------
    Expr or VectorField
        D_u f is an expression of averages (or coordinates); D_u v is a field.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> derivative_along(VectorField(x**2), Feature(Mean(x**3)))
    3*Mean(x**4)
    >>> from sympy import symbols
    >>> p, theta = symbols("p theta")
    >>> derivative_along(VectorField([theta, -p], [p, theta]), p**2 + theta**2)
    0

    Raises
    ------
    InvalidInput
        If target and field live in different spaces.
    """
    u = as_field(field)
    if isinstance(target, VectorField):
        u, target, sample = _in_one_space(u, target)
        components = [in_signs(_along(_flat(u), in_sides(c), sample)) for c in target.components]
        return VectorField(components if u.coordinates else components[0], u.coordinates or None,
                           allow_nonsmooth=_allowed(u, target))
    expr = target.expr if isinstance(target, Feature) else exact(target, "derivative_along")
    own = set(u.coordinates)
    strange = [*expr.atoms(Mean, Sample), *(expr.atoms(Coordinate) - own)] if own else expr.atoms(Coordinate)
    if strange:
        raise InvalidInput(f"{expr} is a function of {min(map(str, strange))}, and the field lives in "
                           f"{u.coordinates or 'the sample'}; averages are written out by .at(n_samples=N)")
    if not own and (symbol := free_sample(expr)) is not None:
        raise InvalidInput(f"{expr} depends on the single sample {symbol}: average it, Mean({expr}), or make it a "
                           "field, VectorField(...)")
    if not isinstance(target, Feature):
        check_smooth(expr)
    return tidy(in_signs(_along(_flat(u), in_sides(expr), None if own else u.sample)), None)


def lie_bracket(u: Any, v: Any) -> VectorField:
    """Return the Lie bracket [u, v] = D_u v - D_v u, in canonical form.

    Parameters
    ----------
    u, v : VectorField or Feature
        In the same space; features stand for their gradient fields.

    Returns
    -------
    VectorField

    Raises
    ------
    InvalidInput
        If one is in the sample and the other in coordinates, or the coordinates differ.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> lie_bracket(Mean(x**3), Mean(x**4))
    VectorField(12*x**4)
    """
    u, v = as_field(u), as_field(v)
    u, v, sample = _in_one_space(u, v)
    allowed = _allowed(u, v)
    components = [tidy(c, sample) for c in raw_bracket(u, v)]
    return VectorField(components if u.coordinates else components[0], u.coordinates or None, allow_nonsmooth=allowed)


def raw_bracket(u: VectorField, v: VectorField) -> tuple[Expr, ...]:
    """Return the components of D_u v - D_v u as they come, without canonical form."""
    u, v, sample = _in_one_space(u, v)
    u, v = _flat(u), _flat(v)
    return tuple(in_signs(_along(u, b, sample) - _along(v, a, sample))
                 for a, b in zip(u.components, v.components, strict=True))


def inner_product(u: Any, v: Any) -> Expr:
    """Return <u, v>: Mean(u v) for fields in the sample, the sum of products for coordinates.

    Gradients are orthogonal iff it vanishes: grad f . grad g = <v_f, v_g>/N.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> inner_product(Mean(x), Mean((x - Mean(x))**2))
    0
    """
    u, v = as_field(u), as_field(v)
    u, v, _ = _in_one_space(u, v)
    if u.coordinates:
        return tidy(reduce(add, (a * b for a, b in zip(u.components, v.components, strict=True)), S.Zero), None)
    return tidy(Mean(u.expr * v.expr), None)


def tidy(expr: Expr, sample: Sample | None) -> Expr:
    """Return the expression in the canonical basis of the sample, with factored coefficients."""
    if sample is None:
        sample = next((mean.sample for mean in expr.atoms(Mean)), None)
        if sample is None:
            return factor(expr) if expr.count_ops() < 300 else expr
    parts = decompose(close(in_sides(expr), sample), sample)
    return in_signs(Add(*(open_statistics(factor(c) if c.count_ops() < 300 else c) * open_statistics(psi)
                          for psi, c in parts.items())))


def _flat(field: VectorField) -> VectorField:
    """Return a field with signs whose derivative is 0."""
    components = tuple(map(in_sides, field.components))
    if components == field.components:
        return field
    return VectorField(components if field.coordinates else components[0], field.coordinates or None,
                       allow_nonsmooth=field.allow_nonsmooth)


def _allowed(u: VectorField, v: VectorField) -> frozenset[str]:
    kinked = any(has_kinks(c) for field in (u, v) for c in field.components)
    return u.allow_nonsmooth | v.allow_nonsmooth | (SLOPES if kinked else frozenset())


def _along(u: VectorField, expr: Expr, sample: Sample | None) -> Expr:
    """Return the derivative of an expression along u: the chain rule over coordinates, averages and filters."""
    if sample is None:
        return Add(*(expr.diff(s) * c for s, c in zip(u.coordinates, u.components, strict=True)))
    opened, nodes = leaves(expr)
    total = opened.diff(sample) * u.expr.xreplace({u.sample: sample})
    for dummy, node in nodes.items():
        if isinstance(node, Filtered):
            inner = node.filter(_along(u, node.argument, sample), sample)
        else:
            inner = Mean(_along(u, node.opened(sample), sample))
        total += opened.diff(dummy) * inner
    return placed(total, nodes)


def _in_one_space(u: VectorField, v: VectorField) -> tuple[VectorField, VectorField, Sample | None]:
    """Return two fields of one space, written in one and the same sample, and that sample."""
    if u.kind != v.kind or u.coordinates != v.coordinates:
        raise InvalidInput(f"the fields live in different spaces: {u.coordinates or 'the sample'} and "
                           f"{v.coordinates or 'the sample'}; use .at(n_samples=N) on the one in the sample")
    if u.coordinates:
        return u, v, None
    sample = one_sample((u, v))
    return u.in_sample(sample), v.in_sample(sample), sample
