r"""Gradient fields, by reverse accumulation over pointwise and filtered nodes.

For f = F(Mean(phi_1), ..., Mean(phi_r)):

.. math:: N\,\partial f/\partial x_n = v_f(x_n), \qquad v_f = \sum_a \frac{\partial F}{\partial s_a}\, v_{s_a}

and the field of an average is the pullback of the weight 1 through its body: a pointwise node multiplies the weight
by its derivative, a filtered node h(e) sends the weight w on to e as h~(w) (the adjoint), and an inner average, which
is a constant for the outer one, collects Mean(w) times its own field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Add, Derivative, Dummy, Expr, S, Subs

from symdecouple.calculus.field import VectorField
from symdecouple.language.canonical import canonical
from symdecouple.language.feature import Feature
from symdecouple.language.filters import Filtered
from symdecouple.language.kinks import has_kinks, in_sides, in_signs
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["SLOPES", "gradient", "leaves", "mean_field", "placed"]

SLOPES = frozenset({"Abs", "sign"})
"""Who accepts a kink accepts its slopes, which are written with these."""


def gradient(feature: Any) -> VectorField:
    """Return the gradient field of a feature: v = N grad f for averages, grad f for coordinates.

    Parameters
    ----------
    feature : Feature or Expr

    Returns
    -------
    VectorField
        In the sample, with averages as coefficients; or in the feature's coordinates.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.language.filters import Filter
    >>> print(gradient(Mean((x - Mean(x))**2)))
    N grad f = 2*x - 2*Mean(x)
    >>> print(gradient(Mean(Filter("h")(x)**2)))
    N grad f = h~(2*h(x))
    """
    feature = feature if isinstance(feature, Feature) else Feature(feature)
    allowed, expr = feature.allow_nonsmooth, feature.expr
    if has_kinks(expr):
        allowed, expr = allowed | SLOPES, in_sides(expr)
    if feature.kind == "coordinates":
        symbols = feature.coordinates
        return VectorField([in_signs(expr.diff(s)) for s in symbols], symbols, gradient_of=feature,
                           allow_nonsmooth=allowed)
    return VectorField(in_signs(mean_field(expr, feature.sample)), gradient_of=feature, allow_nonsmooth=allowed)


def mean_field(expr: Expr, sample: Sample) -> Expr:
    """Return N times the gradient of an expression of averages, as a function of the sample."""
    opened, nodes = leaves(expr)
    return Add(*(placed(opened.diff(dummy), nodes) * _pullback(node.opened(sample), S.One, sample)
                 for dummy, node in nodes.items()))


def _pullback(body: Expr, weight: Expr, sample: Sample) -> Expr:
    """Return v with Mean(v u) = Mean(weight * (derivative of the body along u)) for every field u."""
    opened, nodes = leaves(body)
    field = weight * opened.diff(sample)
    for dummy, node in nodes.items():
        inner = placed(weight * opened.diff(dummy), nodes)
        if isinstance(node, Filtered):
            field += _pullback(node.argument, node.filter.adjoint(inner, sample), sample)
        else:
            field += _shorter(Mean(inner), sample) * _pullback(node.opened(sample), S.One, sample)
    return field.xreplace(nodes)


def _shorter(mean: Expr, sample: Sample) -> Expr:
    """Return an average in canonical form where that is shorter: Mean(x - Mean(x)) is 0."""
    other = canonical(mean, sample)
    return other if other.count_ops() < mean.count_ops() else mean


def leaves(expr: Expr) -> tuple[Expr, dict[Dummy, Expr]]:
    """Return the expression with its outermost averages and filtered nodes replaced by symbols, and these."""
    nodes: dict[Expr, Dummy] = {}

    def cut(node: Expr) -> Expr:
        if isinstance(node, (Mean, Filtered)):
            return nodes.setdefault(node, Dummy(f"node{len(nodes)}", real=True, positive=node.is_positive))
        if not node.args or not node.has(Mean, Filtered):
            return node
        return node.func(*(cut(arg) for arg in node.args))

    opened = cut(expr)
    return opened, {dummy: node for node, dummy in nodes.items()}


def placed(expr: Expr, nodes: Mapping[Dummy, Expr]) -> Expr:
    """Put averages and filtered nodes in the place of their symbols.

    SymPy differentiates by symbols and averages only: the slope of an undefined function at a filtered node is m'(t)
    with t = the node.
    """
    slopes = {}
    for slope in expr.atoms(Derivative):
        for dummy in nodes.keys() & set(slope.variables):
            if nodes[dummy]._diff_wrt:
                continue
            t = Dummy("xi_1")  # what SymPy's chain rule calls it
            slopes[slope] = Subs(slope.xreplace({dummy: t}), t, nodes[dummy])
    return expr.xreplace(slopes).xreplace(nodes)
