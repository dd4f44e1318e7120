r"""A normalizer as NumPy source text that runs alone: ``normalize(x)`` for sample vectors on the last axis.

The text does what the plan does: explicit levels from the innermost outwards, each parameter computed from samples on
which the features before are at their values already (no cancellation under a large offset), then a bracketed root
search in t, or Newton's method in t_1, ..., t_k while the values are moved to their place in steps. What it finds is
tried: features off their values, and samples of which rounding leaves less than two thirds of the digits, are refused
with a ValueError.

The functions of this module that take arrays are templates: they stand in the text as they stand here, use NumPy only,
and know nothing of features. No name and no symbol of the user's reaches the text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy import Expr, oo

from symdecouple.errors import InvalidInput
from symdecouple.flows.chart import X
from symdecouple.flows.evaluation import T, split_means
from symdecouple.flows.flow import Flow
from symdecouple.flows.source import function_text, kernels_for, numpy_text
from symdecouple.flows.steps import TARGET, Step
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean

__all__ = ["Recipe", "average", "checked", "concatenated", "newton_times", "root_between", "root_from_zero",
           "source_of_normalizer", "tied_ends"]


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
        "explicit", "implicit" or "parallel".
    is_monotone : bool
        The feature is known as monotone along the scalar parameter.
    skewness : Expr or None
        The standardized third moment that is asked for on a leaf of Moebius images, where ties decide (Theorem C).
    """

    features: FeatureSet
    values: tuple[Expr, ...]
    steps: tuple[Step, ...]
    flows: tuple[Flow, ...]
    explicit: int
    kind: str
    is_monotone: bool = False
    skewness: Expr | None = None


# --- templates: they stand in the text as they stand here ---------------------------------------------------------


def average(values: Any, x: Any) -> Any:
    """Average over the samples, on the last axis."""
    return np.broadcast_to(values, x.shape).mean(axis=-1, keepdims=True)


def checked(found: Any, error: Any, features: Any, values: Any) -> Any:
    """Return a sample vector whose features are at their values and whose rounding error is small."""
    if not np.all(np.isfinite(found)):
        raise ValueError("the normalization does not exist (zero denominator, pole of a flow, or a value that is "
                         "not attained)")
    reached = features(found)
    if not np.max(np.abs(reached - values) / (1 + np.abs(values))) <= 2.0**-26:
        raise ValueError(f"the features came to {reached.tolist()}, {values.tolist()} was asked for: not attained")
    if not np.max(error) <= 2.0**-34 * np.max(np.abs(found)):
        raise ValueError("rounding leaves too few digits (the answer lies next to a pole of the flow)")
    return found


def root_from_zero(gap: Any, step: Any, is_monotone: Any) -> Any:
    """Return the first root on the way from 0 in the direction of a step; gap is NaN where a flow has ended.

    Where gap is not known as monotone the way is taken in half secants, so as not to leap over two roots, and again in
    shorter ones where that failed.
    """
    start = gap(0.0)
    if start == 0:
        return 0.0
    for share in (1.0,) if is_monotone else (0.5, 0.05, 0.005):
        near, value, ended, pace = 0.0, start, None, share * step
        for _ in range(4000):
            trial = near + pace if ended is None else near + (ended - near) / 2
            if trial in (near, ended) or not np.isfinite(trial):
                break
            found = gap(trial)
            if np.isfinite(found) and (found == 0 or (found > 0) != (value > 0)):
                return root_between(gap, near, value, trial, found)
            if not abs(found) < abs(value):  # it has ended, or the feature has turned
                ended = trial
                continue
            secant = found * (trial - near) / (value - found)
            pace = 2 * pace if is_monotone else secant * (2 if abs(found) < abs(start) / 16 else 0.5)
            near, value = trial, found
    raise ValueError(f"not attained: at t = {float(near):.6g} the feature is {float(value):.6g} off its value, and "
                     "gets no closer (the flow ends, or the feature turns)")


def root_between(gap: Any, a: Any, at_a: Any, b: Any, at_b: Any) -> Any:
    """Return the root in a bracket to the last digit: secants through halved values, every third step a bisection."""
    weight_a, weight_b = at_a, at_b
    for count in range(400):
        if at_a == 0 or at_b == 0 or abs(b - a) <= 2.0**-52 * max(abs(a), abs(b)):
            break
        c = a + (b - a) / 2
        if count % 3 < 2:
            secant = a + (b - a) * (weight_a / (weight_a - weight_b))
            c = secant if min(a, b) < secant < max(a, b) else c
        at_c = gap(c)
        if (at_c > 0) == (at_a > 0) and at_c != 0:
            a, at_a, weight_a, weight_b = c, at_c, at_c, weight_b / 2
        else:
            b, at_b, weight_b, weight_a = c, at_c, at_c, weight_a / 2
    return a if abs(at_a) < abs(at_b) else b


def concatenated(x: Any, times: Any, flows: Any, slopes: Any, fields: Any) -> Any:
    """Follow the flows one after the other; return the end, its derivative by x, and by each of the times."""
    carried, total = np.empty((0, x.size)), np.ones_like(x)
    for t, flow, slope, field in zip(times, flows, slopes, fields, strict=False):
        rate = slope(x, t)
        x, total = flow(x, t), total * rate
        carried = np.vstack([carried * rate, field(x)])
    return x, total, carried


def newton_times(x: Any, values: Any, features: Any, gradients: Any, flows: Any, slopes: Any, fields: Any) -> Any:
    """Return the times at which concatenated flows bring the features to their values, taking in one after another.

    The values are approached on a straight line, in steps as long as Newton's method follows.
    """
    def followed(times: Any, aim: Any) -> Any:
        best, size = None, np.inf
        for _ in range(200):
            y, _, carried = concatenated(x, times, flows, slopes, fields)
            gap = (aim - features(y)[:k]) / (1 + np.abs(aim))
            if not np.max(np.abs(gap)) < 0.9 * size:  # True for NaN
                break
            best, size = times, np.max(np.abs(gap))
            rows = (gradients(y)[:k] @ carried.T / x.size) / (1 + np.abs(aim))[:, None]
            scale = np.abs(rows).max(axis=1)
            try:
                times = times + np.linalg.solve(rows / scale[:, None], gap / scale)
            except np.linalg.LinAlgError:
                break
        return best if size < 2.0**-30 else None

    times = np.zeros(0)
    for k in range(1, len(values) + 1):
        times = np.append(times, 0.0)
        start = features(concatenated(x, times, flows, slopes, fields)[0])[:k]
        reached, step = 0.0, 1.0
        for _ in range(300):
            share = min(reached + step, 1.0)
            found = followed(times, start + share * (values[:k] - start) if share < 1 else values[:k])
            if found is None:
                step = step / 2
            else:
                times, reached, step = found, share, 2 * step
            if reached == 1 or reached + step == reached:
                break
    return times


def tied_ends(x: Any, skewness: Any) -> Any:
    """Refuse samples whose ties put the skewness out of reach: decided by counting, never by a rounded number."""
    low, high = np.sum(x == x.min()), np.sum(x == x.max())
    if len(np.unique(x)) < 3:
        raise ValueError("the skewness of samples with fewer than three distinct values does not move")
    least = (2 * low - x.size) / np.sqrt(low * (x.size - low))
    most = (x.size - 2 * high) / np.sqrt(high * (x.size - high))
    if not least < skewness < most:
        raise ValueError(f"with {low} samples tied at the minimum and {high} at the maximum the skewness lies strictly "
                         f"between {least:.6g} and {most:.6g}, {skewness:.6g} was asked for")


# --- the text -----------------------------------------------------------------------------------------------------

_TEMPLATES: dict[str, tuple[Callable[..., Any], ...]] = {
    "explicit": (average, checked), "implicit": (average, checked, root_between, root_from_zero),
    "parallel": (average, checked, concatenated, newton_times)}


def source_of_normalizer(recipe: Recipe) -> str:
    """Return the text of ``normalize(x)``; it imports NumPy only.

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
    used = range(1, k + 1) if kind == "parallel" else [*range(1, recipe.explicit + 1), k]
    bodies = [function_text(f"flow_{j}", f"y(t) along dy/dt = {_plain(recipe, recipe.flows[j - 1].velocity)}",
                            recipe.flows[j - 1].pieces, recipe.flows[j - 1].rests) for j in sorted(set(used))]
    if kind != "parallel":
        bodies += [_level(recipe, j) for j in range(1, (k if kind == "explicit" else recipe.explicit) + 1)]
    bodies.append(_rows("features", "The features of one sample vector.", recipe,
                        [_plain(recipe, f.expr) for f in recipe.features], "[0]"))
    if kind != "explicit":
        bodies.append(_rows("gradients", "N times the gradients of the features.", recipe,
                            [_plain(recipe, f.gradient.expr) for f in recipe.features], ""))
        bodies += [_generator(recipe, j) for j in range(1, k + 1)]
        bodies += [_slope(recipe, j) for j in (range(1, k + 1) if kind == "parallel" else [k])]
    values = ", ".join(repr(float(value.evalf(20))) for value in recipe.values)
    bodies.append(f"VALUES = np.array([{values}])\n")
    bodies.append(_ENDS[kind](recipe))
    bodies.append(_normalize(recipe))
    templates = [*_TEMPLATES[kind], *([tied_ends] if recipe.skewness is not None else [])]
    copied = [*(inspect.getsource(template) for template in templates), *kernels_for("\n".join(bodies))]
    return "import numpy as np\n\n\n" + "\n\n".join([*map(_without_types, copied), *bodies])


def _without_types(text: str) -> str:
    return re.sub(r"(: (Any|float)(?=[,)\n=]))|( -> Any)", "", text)


def _plain(recipe: Recipe, expr: Expr) -> Expr:
    """Return an expression in our own sample: the name of the user's does not reach the text."""
    sample = recipe.features.sample
    return _in_x(expr, sample) if sample != X or expr.has(Mean) else expr


def _in_x(expr: Expr, sample: Expr) -> Expr:
    if isinstance(expr, Mean):
        return Mean(_in_x(expr.opened(sample), sample))
    return X if expr == sample else expr.func(*(_in_x(a, sample) for a in expr.args)) if expr.args else expr


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
        f"    return checked(level_{len(recipe.features)}(x), 0.0, features, VALUES)",
        "",
    ])


def _implicit_end(recipe: Recipe) -> str:
    k, before = len(recipe.features), f"level_{recipe.explicit}" if recipe.explicit else ""
    return "\n".join([
        "def normalized(x):",
        '    """One sample vector."""',
        *([f"    tied_ends(x, {float(recipe.skewness)!r})"] if recipe.skewness is not None else []),
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
        "    return checked(found, error / scale * np.max(np.abs(found)), features, VALUES)",
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
        "    times = newton_times(x, VALUES, features, gradients, *PARTS)",
        "    found, slope, _ = concatenated(x, times, *PARTS)",
        "    error = 2.0**-52 * np.abs((x - x.mean()) * slope)",
        "    return checked(found, error, features, VALUES)",
        "",
    ])


_ENDS: dict[str, Callable[[Recipe], str]] = {"explicit": _explicit_end, "implicit": _implicit_end,
                                             "parallel": _parallel_end}


def _normalize(recipe: Recipe) -> str:
    low, high = recipe.features.sample.interval
    inside = " & ".join([*([f"(x > {float(low)!r})"] if low != -oo else []),
                         *([f"(x < {float(high)!r})"] if high != oo else [])])
    wanted = ", ".join(f"{_plain(recipe, f.expr)} = {v}" for f, v in zip(recipe.features, recipe.values, strict=True))
    return "\n".join([
        "def normalize(x):",
        '    """Move sample vectors, (..., N), on their leaves to where',
        "",
        f"    {wanted}.",
        '    """',
        "    x = np.asarray(x, dtype=np.float64)",
        "    if x.ndim == 0 or x.size == 0 or not np.all(np.isfinite(x)):",
        '        raise ValueError("expected finite samples, one sample vector or an array (..., N)")',
        *([f"    if not np.all({inside}):",
           f'        raise ValueError("samples must lie in ({low}, {high})")'] if inside else []),
        "    out = np.empty_like(x)",
        "    for index in np.ndindex(x.shape[:-1]):",
        "        try:",
        '            with np.errstate(all="ignore"):',
        "                out[index] = normalized(x[index])",
        "        except ValueError as error:",
        '            raise ValueError(f"sample vector {index}: {error}") from None',
        "    return out",
        "",
    ])
