"""What is known of a step beside its formula: its trend along the flow, ties that decide, conditions to exist."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy import Dummy, Expr, S

from symdecouple.flows.steps import composed, is_root
from symdecouple.language.canonical import canonical, close, decompose, open_statistics, statistics_of
from symdecouple.language.closed_forms import simplify, solutions
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.gate import factor
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["conditions", "skewness_asked", "spans_moebius", "tie_rule", "trend_of"]


def _lead(features: FeatureSet, generators: Sequence[Expr]) -> Expr | None:
    """Return c_k with v_k = c_k u_k + a combination of the generators before, in statistics."""
    sample, k = features.sample, len(features)
    fields = [decompose(u, sample) for u in generators[:k]]
    wanted = decompose(close(features[k - 1].gradient.expr, sample), sample)
    basis = list(dict.fromkeys(psi for form in (*fields, wanted) for psi in form))
    matrix = sp.Matrix([[form.get(psi, S.Zero) for psi in basis] for form in fields])
    pivots = matrix.rref()[1]
    if len(pivots) < k:
        return None
    weights = sp.Matrix([[wanted.get(basis[c], S.Zero) for c in pivots]]) * matrix[:, list(pivots)].inv()
    return factor(weights[k - 1])


def trend_of(features: FeatureSet, generators: Sequence[Expr], before: Expr) -> int:
    """Return the sign of c_k on the samples on which the features before k are at their values; 0 if not known."""
    lead, sample = _lead(features, generators), features.sample
    if lead is None:
        return 0
    value = simplify(close(composed(open_statistics(lead), before, sample), sample))
    value = value.replace(is_root, lambda e: Dummy(nonnegative=True, zero=False if e.exp < 0 else None))
    return 1 if value.is_positive else -1 if value.is_negative else 0


def spans_moebius(generators: Sequence[Expr], sample: Sample) -> bool:
    """True where three independent generators are the polynomials 1, x, x^2 in some basis."""
    return len(generators) == 3 and all(u.is_polynomial(sample) and sp.degree(u, sample) <= 2 for u in generators)


def skewness_asked(features: FeatureSet, value: Expr, generators: Sequence[Expr], before: Expr) -> Expr | None:
    """Return the one standardized third moment at which the third feature has its value, mean and variance fixed."""
    sample = features.sample
    mean, square = (simplify(canonical(Mean(before**p), sample)) for p in (1, 2))
    if not spans_moebius(generators, sample) or not (mean.is_number and square.is_number and square > mean**2):
        return None
    cubed = sp.Dummy("c", real=True)
    inner = close(composed(features[2].expr, mean + sp.sqrt(square - mean**2) * sample, sample), sample)
    known = {sample: S.Zero, sample**2: S.One, sample**3: cubed}
    inner = inner.xreplace({s: known[s.psi] for s in statistics_of(inner) if s.psi in known})
    if inner.free_symbols - {cubed}:
        return None
    try:
        roots = [r for r in solutions(inner - value, cubed) if r.is_real]
    except NotImplementedError:
        return None
    return simplify(roots[0]) if len(roots) == 1 else None


def tie_rule(skewness: Expr) -> str:
    """Say which samples reach a standardized third moment on the leaf of their Moebius images (Theorem C)."""
    if skewness == 0:
        return ("Proved (Theorem C): t exists iff at least three values are distinct, fewer than half of the samples "
                "are tied at the minimum, and fewer than half at the maximum")
    return ("Proved (Theorem C): with at least three distinct values, q the share of samples tied at the minimum and p "
            f"that at the maximum, t exists iff -(1 - 2*q)/sqrt(q*(1 - q)) < {skewness} < (1 - 2*p)/sqrt(p*(1 - p))")


def conditions(formula: Expr) -> list[str]:
    """Return what averages must satisfy for a formula to exist: its denominators, roots and logarithms."""
    found = (_condition(node) for node in sp.preorder_traversal(formula))
    return [text for text in dict.fromkeys(found) if text]


def _condition(node: Expr) -> str:
    """Say when a power or logarithm of statistics exists; empty where it always does."""
    if isinstance(node, sp.log) and node.has(Mean) and not node.args[0].is_positive:
        return f"{node.args[0]} > 0"
    if not (isinstance(node, sp.Pow) and node.base.has(Mean) and node.base != sp.E) or node.base.is_positive:
        return ""
    base = node.base.args[0] if isinstance(node.base, sp.Abs) else node.base
    if not node.exp.is_integer and base == node.base:
        return f"{base} {'>' if node.exp.is_negative else '>='} 0"
    return f"{base} != 0" if node.exp.is_negative else ""
