r"""A normalizer as NumPy source text that runs alone: ``normalize(x)`` for sample vectors on the last axis.

The text does what the plan does: explicit levels from the innermost outwards, each parameter computed from samples on
which the features before are at their values already, then a bracketed root search in t, or Newton's method along all
generators at once, from wherever the flows have brought the sample. Where three features fix mean, variance and
skewness, the root is searched on the whole leaf of Moebius images instead (see `normalizer_templates`). What it finds
is tried: features off their values, and samples of which rounding leaves less than two thirds of the digits, are
refused with a ValueError. Masked entries are left out, and masked in the answer.

N_k is constant along the flows of 1..k. So a sample vector is shifted first where the first of these is a shift, and
divided by a power of two where one that has a formula is a scaling: neither an offset nor a unit is felt. No name and
no symbol of the user's reaches the text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import Expr, oo

from symdecouple.errors import InvalidInput
from symdecouple.flows.chart import X
from symdecouple.flows.domains import skewness_asked
from symdecouple.flows.evaluation import T, split_means
from symdecouple.flows.flow import Flow
from symdecouple.flows.leaf import Leaf, Y, leaf_of
from symdecouple.flows.normalizer_templates import (
    apart,
    average,
    checked,
    ends_tied,
    intake,
    joint_steps,
    newton_on_leaf,
    on_moebius_leaf,
    on_triple_leaf,
    prepared,
    root_between,
    root_from_zero,
    step_inside,
    triple_image,
)
from symdecouple.flows.source import function_text, kernels_for, numpy_text
from symdecouple.flows.steps import TARGET, Step, composed, undone
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean

__all__ = ["Recipe", "source_of_normalizer"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the text is made of.

    Attributes
    ----------
    features : FeatureSet
        Features 1..k.
    values : tuple of Expr
        Their values, numbers.
    steps, flows : tuples
        One per feature: how it is imposed, and the flow of its generator.
    explicit : int
        Levels 1..explicit have a formula.
    kind : str
        "explicit", "implicit" or "parallel"; "moebius" where the whole leaf is searched for a skewness, "leaf" where it
        is searched for the values of features along any other coordinate.
    is_monotone : bool
        The feature is known as monotone along the scalar parameter.
    skewness : Expr or None
        The standardized third moment that is asked for on a leaf of Moebius images.
    leaf : Leaf or None
        What is searched.
    """

    features: FeatureSet
    values: tuple[Expr, ...]
    steps: tuple[Step, ...]
    flows: tuple[Flow, ...]
    explicit: int
    kind: str
    is_monotone: bool = False
    skewness: Expr | None = None
    leaf: Leaf | None = None

    @property
    def begins_with_mean(self) -> bool:
        """True where feature 1 is Mean(x)."""
        return bool(self.features[0].expr == Mean(self.features.sample))

    @property
    def shifts(self) -> bool:
        """True where N_k does not feel an offset."""
        return self._undone[0]

    @property
    def scales(self) -> bool:
        """True where N_k does not feel a positive factor."""
        return self._undone[1] > 0

    @property
    def _undone(self) -> tuple[bool, int]:
        return undone(self.steps, [flow.velocity for flow in self.flows], self.features.sample)


def recipe_of(features: FeatureSet, values: tuple[Expr, ...], steps: tuple[Step, ...], flows: tuple[Flow, ...],
              kind: str, is_monotone: bool) -> Recipe:
    """Return the recipe of a normalizer of that kind: on the whole leaf where a skewness is all that is left to ask."""
    level, parts = len(features), (features, values, steps, flows)
    before = steps[-2].formula if level > 1 and kind != "explicit" else None
    if before is not None and set(features.sample.interval) == {-oo, oo}:  # the whole leaf is in the domain
        skewness = skewness_asked(features, values[-1], [f.field.expr for f in flows], before)
        if skewness is not None:
            return Recipe(*parts, level - 1, "moebius", skewness=skewness)
    if kind == "parallel" and (leaf := leaf_of(tuple(f.field.expr for f in flows), features.sample)) is not None:
        return Recipe(*parts, 0, "leaf", leaf=leaf)
    return Recipe(*parts, {"explicit": level, "implicit": level - 1}.get(kind, 0), kind, is_monotone)


# --- the text -----------------------------------------------------------------------------------------------------

_TEMPLATES: dict[str, tuple[Any, ...]] = {
    "explicit": (), "implicit": (root_between, root_from_zero), "moebius": (root_between, on_moebius_leaf),
    "leaf": (triple_image, step_inside, newton_on_leaf, on_triple_leaf), "parallel": (joint_steps,)}


def source_of_normalizer(recipe: Recipe, added: Expr | None = None) -> str:
    """Return the text of ``normalize(x)``; it imports NumPy only. A number may be added in the end.

    Raises
    ------
    InvalidInput
        If values are symbols.
    NoClosedForm
        Where NumPy lacks a function that occurs.
    """
    if any(value.free_symbols for value in recipe.values):
        raise InvalidInput(f"code needs numbers, the values are {', '.join(map(str, recipe.values))}: "
                           "normalizers(features, values)")
    k, kind = len(recipe.features), recipe.kind
    used = [*range(1, (k if kind == "parallel" else recipe.explicit) + 1), *([k] if kind == "implicit" else [])]
    bodies = [function_text(f"flow_{j}", f"y(t) along dy/dt = {_plain(recipe, recipe.flows[j - 1].velocity)}",
                            recipe.flows[j - 1].pieces, recipe.flows[j - 1].rests) for j in used]
    if kind != "parallel":
        bodies += [_level(recipe, j) for j in range(1, recipe.explicit + 1)]
    bodies.append(_rows("features", "The features of one sample vector.", recipe,
                        [_plain(recipe, f.expr) for f in recipe.features], "[0]"))
    if kind in ("implicit", "parallel", "leaf"):
        bodies.append(_rows("gradients", "N times the gradients of the features.", recipe,
                            [_plain(recipe, f.gradient.expr) for f in recipe.features], ""))
    if kind in ("implicit", "parallel"):
        bodies += [_generator(recipe, j) for j in range(1, k + 1)]
        bodies += [_slope(recipe, j) for j in (range(1, k + 1) if kind == "parallel" else [k])]
    values = ", ".join(repr(float(value.evalf(20))) for value in recipe.values)
    bodies.append(f"VALUES = np.array([{values}])\nBEGINS_WITH_MEAN = {recipe.begins_with_mean}\n")
    bodies.append(_ENDS[kind](recipe))
    bodies.append(_normalize(recipe, added))
    templates: list[Any] = [ends_tied, intake, prepared, average, checked, apart, *_TEMPLATES[kind]]
    copied = [*(inspect.getsource(template) for template in templates), *kernels_for("\n".join(bodies))]
    return "import numpy as np\n\n\n" + "\n\n".join([*map(_without_types, copied), *bodies])


def _without_types(text: str) -> str:
    return re.sub(r"(: (Any|float)(?=[,)\n=]))|( -> Any)", "", text)


def _plain(recipe: Recipe, expr: Expr) -> Expr:
    """Return an expression in our own sample: the name of the user's does not reach the text."""
    return composed(expr, X, recipe.features.sample)


def _statements(exprs: Sequence[Expr]) -> tuple[list[str], list[str]]:
    """Return assignments of the averages, innermost first, and the texts of the expressions in them."""
    means: dict[Expr, Expr] = {}
    split = [split_means(expr, X, means) for expr in exprs]
    names: dict[Any, str] = {X: "x", **{dummy: f"m{n}" for n, dummy in enumerate(means)}}
    lines = [f"{names[dummy]} = average({numpy_text(body, names)}, x)" for dummy, body in means.items()]
    return lines, [numpy_text(expr, names) for expr in split]


def _level(recipe: Recipe, j: int) -> str:
    step, value = recipe.steps[j - 1], recipe.values[j - 1]
    time = _plain(recipe, step.time.xreplace({TARGET: value}) if step.time is not None else sp.nan)
    lines, (text,) = _statements([time])
    before = f"level_{j - 1}" if j > 1 else ""
    feature = _plain(recipe, step.feature.expr)
    rest = ", and with the features before it at their values" if j > 1 else ""
    return "\n".join([
        f"def level_{j}(x):",
        f'    """Samples with {feature} = {value}{rest}."""',
        *([f"    x = {before}(x)"] if before else []),
        *(f"    {line}" for line in lines),
        f"    return {before}(flow_{j}(x, {text}))" if before else f"    return flow_{j}(x, {text})",
        "",
    ])


def _rows(name: str, title: str, recipe: Recipe, exprs: Sequence[Expr], index: str) -> str:
    lines, texts = _statements(exprs)
    if index:
        rows = ", ".join(f"np.broadcast_to({text}, 1)[0]" for text in texts)
    else:
        rows = ", ".join(f"np.broadcast_to({text}, x.shape)" for text in texts)
    return "\n".join([f"def {name}(x):", f'    """{title}"""', *(f"    {line}" for line in lines),
                      f"    return np.array([{rows}])", ""])


def _generator(recipe: Recipe, j: int) -> str:
    _, (text,) = _statements([_plain(recipe, recipe.flows[j - 1].velocity)])
    return f"def field_{j}(x):\n    return np.broadcast_to({text}, x.shape)\n"


def _slope(recipe: Recipe, j: int) -> str:
    flow = recipe.flows[j - 1]
    expr = flow.derivative.xreplace({flow.sample: X, flow.time: T})
    text = numpy_text(expr, {X: "x", T: "t"})
    return f"def slope_{j}(x, t):\n    return np.broadcast_to({text}, x.shape)\n"


def _explicit_end(recipe: Recipe) -> str:
    return "\n".join([
        "def normalized(x):",
        '    """One sample vector."""',
        f"    return checked(level_{len(recipe.features)}(x), 0.0, features, VALUES, BEGINS_WITH_MEAN)",
        "",
    ])


def _implicit_end(recipe: Recipe) -> str:
    k, before = len(recipe.features), f"level_{recipe.explicit}" if recipe.explicit else ""
    return "\n".join([
        "def normalized(x):",
        '    """One sample vector."""',
        f"    y = {before}(x)",
        "    if not np.all(np.isfinite(y)):",
        f'        raise ValueError("the features before {k} cannot be brought to their values")',
        "",
        "    def gap(t):",
        f"        return (features({before}(flow_{k}(y, t))) - VALUES)[-1]",
        "",
        f"    fields = np.array([{', '.join(f'field_{j}(y)' for j in range(1, k + 1))}])",
        "    jacobian = gradients(y) @ fields.T / y.size",
        "    rows = np.abs(jacobian).max(axis=1)",
        "    try:",
        "        step = np.linalg.solve(jacobian / rows[:, None], (VALUES - features(y)) / rows)[-1]",
        "    except np.linalg.LinAlgError:",
        "        step = np.nan",
        "    if not np.isfinite(step):",
        '        raise ValueError("critical point: the gradients are dependent at this sample vector")',
        f"    t = root_from_zero(gap, step, {recipe.is_monotone})",
        f"    error = 2.0**-52 * np.abs(y * slope_{k}(y, t))",
        f"    scale = np.max(np.abs(flow_{k}(y, t)))",
        f"    found = {before}(flow_{k}(y, t))",
        "    return checked(found, error / scale * np.max(np.abs(found)), features, VALUES, BEGINS_WITH_MEAN)",
        "",
    ])


def _moebius_end(recipe: Recipe) -> str:
    return "\n".join([
        "def normalized(x, ties):",
        '    """One sample vector, of which the ends are so often tied."""',
        f"    near, next_to_it = on_moebius_leaf(x, {float(sp.N(recipe.skewness, 20))!r}, ties)",
        f"    found = level_{recipe.explicit}(prepared(near, True, True))",
        f"    error = np.abs(level_{recipe.explicit}(prepared(next_to_it, True, True)) - found)",
        "    return checked(found, error, features, VALUES, BEGINS_WITH_MEAN)",
        "",
    ])


def _leaf_end(recipe: Recipe) -> str:
    leaf = recipe.leaf
    assert leaf is not None
    phi = _plain(recipe, leaf.phi)
    texts = (numpy_text(phi, {X: "x"}), numpy_text(leaf.back, {Y: "y"}), numpy_text(phi.diff(X), {X: "x"}))
    ends = ", ".join("-np.inf" if e == -oo else "np.inf" if e == oo else repr(float(e)) for e in (leaf.low, leaf.high))
    return "\n".join([
        f"ENDS = ({ends})",
        "",
        "",
        "def coordinate(x):",
        f"    return {texts[0]}",
        "",
        "",
        "def inverse(y):",
        f"    return {texts[1]}",
        "",
        "",
        "def steepness(x):",
        f"    return np.broadcast_to({texts[2]}, x.shape)",
        "",
        "",
        "def normalized(x):",
        '    """One sample vector, on the leaf of the Moebius images of its coordinate."""',
        "    y = coordinate(x)",
        "    size = y.max() - y.min()",
        "    if not size > 0:",
        '        raise ValueError("not attained: all values are equal")',
        "    g, h = (y - y.min()) / size, (y.max() - y) / size",
        "",
        "    def moved(at):",
        "        image, along, _ = triple_image(g, h, at)",
        "        z = inverse(image)",
        "        return features(z), gradients(z) @ (along / steepness(z)).T / z.size",
        "",
        "    at = on_triple_leaf(y, VALUES, moved, ENDS)",
        "    if at is None:",
        '        raise ValueError("not attained: no image of the sample on its leaf was found at which the features "',
        '                         "have these values")',
        "    image, _, rate = triple_image(g, h, at)",
        "    found = inverse(image)",
        "    error = 2.0**-52 * (np.abs(y) * rate / size + np.abs(image)) / steepness(found)",
        "    return checked(found, error, features, VALUES, BEGINS_WITH_MEAN)",
        "",
    ])


def _parallel_end(recipe: Recipe) -> str:
    numbers = range(1, len(recipe.features) + 1)
    parts = [f"[{', '.join(f'{name}_{j}' for j in numbers)}]" for name in ("flow", "slope", "field")]
    return "\n".join([
        f"PARTS = {', '.join(parts)}",
        "",
        "",
        "def normalized(x):",
        '    """One sample vector."""',
        "    found, error = joint_steps(x, VALUES, features, gradients, *PARTS)",
        "    return checked(found, error, features, VALUES, BEGINS_WITH_MEAN)",
        "",
    ])


_ENDS: dict[str, Callable[[Recipe], str]] = {"explicit": _explicit_end, "implicit": _implicit_end,
                                             "moebius": _moebius_end, "leaf": _leaf_end, "parallel": _parallel_end}


def _normalize(recipe: Recipe, added: Expr | None) -> str:
    low, high = recipe.features.sample.interval
    outside = " | ".join([*([f"(x <= {float(low)!r})"] if low != -oo else []),
                          *([f"(x >= {float(high)!r})"] if high != oo else [])])
    first = f"prepared(x[index][kept], {recipe.shifts and recipe.kind != 'moebius'}, {recipe.scales})"
    wanted = ", ".join(f"{_plain(recipe, f.expr)} = {v}" for f, v in zip(recipe.features, recipe.values, strict=True))
    ties = ", ties.get(index) or ends_tied(x[index][kept])" if recipe.kind == "moebius" else ""
    rest = f" + {float(added.evalf(20))!r}" if added else ""
    return "\n".join([
        "def normalize(x):",
        '    """Move sample vectors, (..., N), on their leaves to where',
        "",
        f"    {wanted}{f', and add {added}' if added else ''}.",
        '    """',
        f"    x, hidden, kind, ties = intake(x, {recipe.shifts})",
        *([f"    if np.any(~hidden & ({outside})):",
           f'        raise ValueError("samples must lie in ({low}, {high})")'] if outside else []),
        "    out = np.full(x.shape, np.nan)",
        "    for index in np.ndindex(x.shape[:-1]):",
        "        kept = ~hidden[index]",
        "        if np.any(np.isnan(x[index][kept])):",
        "            continue",
        "        try:",
        '            with np.errstate(all="ignore"):',
        f"                out[index][kept] = apart(normalized({first}{ties}){rest}, x[index][kept])",
        "        except ValueError as error:",
        '            raise ValueError(f"sample vector {index}: {error}") from None',
        "    out = out.astype(kind)",
        "    return np.ma.masked_array(out, hidden) if np.any(hidden) else out",
        "",
    ])
