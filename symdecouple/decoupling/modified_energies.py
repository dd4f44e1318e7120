r"""C2 of the modified sets of quadratic features that commute: refuted in the spectrum.

At a sample whose first features are at their references, with spectrum P, let b_1, ..., b_k be the eigenvalues
w_1, ..., w_k of the features, each less its projection on those at whose references it is taken, in the inner product
sum of P u w. Modulo the span of the gradients,

.. math:: [v_{\hat f_i}, v_{\hat f_j}] \equiv -2\, \mathcal F^{-1}\bigl[b_i b_j\, \mathcal F x\bigr]

up to constants (P6 of the page on paths). So hat S_k is not involutive where b_i b_j is not in the span of
w_1, ..., w_k on the frequencies with P > 0: a minor over k + 1 frequencies that is not zero.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr
from sympy import Expr, Rational, S, nsimplify

from symdecouple.calculus.certificates import Claim
from symdecouple.calculus.elementary import World
from symdecouple.calculus.subject import Subject
from symdecouple.decoupling.energy_route import of_forms
from symdecouple.decoupling.modified import ModifiedSubject
from symdecouple.errors import InvalidInput
from symdecouple.families.quadratic import QuadraticForms, recognize_quadratic
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "ModifiedEnergies", "decide_energies"]

DIGITS = 40
SEED = 20262
TRIES = 4
_FINEST = 10**6  # denominators of the spectrum


def decide_energies(subject: ModifiedSubject) -> Verdict | None:
    """Refute C2 of the modified sets of quadratic features at one size; None where nothing is found.

    Parameters
    ----------
    subject : ModifiedSubject
        The mean perhaps, then quadratic forms of circular convolutions with taps.
    """
    start = time.perf_counter()
    forms = _forms(subject)
    if forms is None or any(_lags(terms) is None for terms in forms.products):
        return None
    offset = int(forms.mean is not None)
    pairs = [(i, j) for i, j in combinations(range(offset, len(subject)), 2) if i < subject.starts[j]]
    rng = np.random.default_rng(SEED)
    for _ in range(TRIES if pairs else 0):
        found = _attempt(subject, forms, _grid(forms, len(subject)), pairs, rng)
        if found is not None:
            i, j = found.pair
            independence = Verdict("C1", Status.UNDECIDED, subject.texts(), reason="not asked: C2 is refuted")
            return Verdict("C2", Status.REFUTED, subject.texts(), n_samples=None, certificate=found,
                           independence=independence, seconds=time.perf_counter() - start,
                           reason=f"[v{i}, v{j}] is not in the span of the gradients, claimed for N = "
                           f"{' x '.join(map(str, found.grid))} only")
    return None


@dataclass(frozen=True, slots=True)
class ModifiedEnergies(Claim):
    """A spectrum at which a bracket of modified gradients leaves their span, for one size (C2 violated).

    Attributes
    ----------
    grid : tuple of int
    spectrum : tuple of Fraction
        P of each class {xi, -xi} of frequencies, as `_classes` has them; those of `pivots` are not looked at, they
        follow from the references.
    pivots : tuple of int
    pair : tuple of int
        Counted from 1.
    rows : tuple of int
        The classes of the minor.
    """

    grid: tuple[int, ...]
    spectrum: tuple[Fraction, ...]
    pivots: tuple[int, ...]
    pair: tuple[int, int]
    rows: tuple[int, ...]
    kind: ClassVar[str] = "modified energies"
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.REFUTED)

    @property
    def n_samples(self) -> int | tuple[int, ...]:
        """The size that the claim is about."""
        return self.grid[0] if len(self.grid) == 1 else self.grid

    def _checks(self, rng: random.Random) -> Iterable[Check]:
        subject, forms = self.subject, None
        if isinstance(subject, ModifiedSubject):
            forms = _forms(subject)
        yield Check("quadratic forms that commute", forms is not None)
        assert forms is not None and isinstance(subject, ModifiedSubject)
        i, j = (n - 1 for n in self.pair)
        offset = int(forms.mean is not None)
        yield Check("the pair", offset <= i < j < len(subject) and i < subject.starts[j])
        yield Check("the classes", len(set(self.rows)) == len(self.rows) == len(subject) - offset + 1
                    and len(self.spectrum) == len(_classes(self.grid, offset)))
        minor, least = _minor(subject, forms, self, World(2 * DIGITS))
        yield Check("references are held by a positive spectrum", bool(least.a > 0),
                    f"least power {float(least.a):.3g}")
        yield Check("minor", not (minor.a <= 0 <= minor.b), f"in [{float(minor.a):.6g}, {float(minor.b):.6g}]")

    def summary(self) -> tuple[str, ...]:
        i, j = self.pair
        powers = ", ".join("*" if n in self.pivots else str(p) for n, p in enumerate(self.spectrum))
        return (f"[v{i}, v{j}] leaves the span", f"witness: a sample of {' x '.join(map(str, self.grid))} with the "
                f"power spectrum ({powers}), where * follows from the references")

    def latex(self) -> str:
        i, j = self.pair
        return rf"[v_{{{i}}}, v_{{{j}}}] \notin \operatorname{{span}}"

    def to_dict(self) -> dict[str, Any]:
        return self._head() | {
            "grid": list(self.grid), "spectrum": [str(p) for p in self.spectrum], "pivots": list(self.pivots),
            "pair": list(self.pair), "rows": list(self.rows), "n_samples": self.n_samples}


def _read(data: Mapping[str, Any]) -> ModifiedEnergies:
    i, j = data["pair"]
    grid = tuple(map(int, data["grid"]))
    if not all(1 < n < 10**4 for n in grid) or np.prod(grid) > 10**5:
        raise InvalidInput(f"a grid of {grid} is out of bounds")
    subject: Subject = ModifiedSubject.from_dict(data["subject"])
    return ModifiedEnergies(subject, grid, tuple(map(Fraction, data["spectrum"])), tuple(map(int, data["pivots"])),
                            (int(i), int(j)), tuple(map(int, data["rows"])))


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {ModifiedEnergies.kind: _read}


# --- the spectrum -----------------------------------------------------------------------------------------------


def _forms(subject: ModifiedSubject) -> QuadraticForms | None:
    groups: dict[int, list[Any]] = {}
    for feature, start in zip(subject.items, subject.starts, strict=True):
        groups.setdefault(start, []).append(feature)
    features = FeatureSet([g[0] if len(g) == 1 else Group(*g) for g in groups.values()])
    found = recognize_quadratic(features)
    return found if found is not None and len(found) == len(subject) else None


def _lags(terms: Iterable[tuple[Expr, Any, Any]]) -> dict[tuple[int, ...], Expr] | None:
    """Write the eigenvalues as a sum of c_k cos(2 pi k xi/N), by lag; None where taps are not known."""
    total: dict[tuple[int, ...], Expr] = {}
    for coefficient, one, two in terms:
        left, right = one.lags(), two.lags()
        if left is None or right is None:
            return None
        for (one_lag, p), (two_lag, q) in product(left.items(), right.items()):
            a, b = (() if k is None else k if isinstance(k, tuple) else (k,) for k in (one_lag, two_lag))
            n = max(len(a), len(b))
            lag = tuple(s - t for s, t in zip(a or (0,) * n, b or (0,) * n, strict=True))
            total[lag] = total.get(lag, S.Zero) + coefficient * p * q
    return total


def _classes(grid: tuple[int, ...], skip: int) -> list[tuple[tuple[int, ...], int]]:
    """Return one frequency of each class {xi, -xi} and how many it has; without zero where the mean is apart."""
    out = []
    for xi in product(*map(range, grid)):
        mirrored = tuple(-f % n for f, n in zip(xi, grid, strict=True))
        if xi <= mirrored and (any(xi) or not skip):
            out.append((xi, 1 + (xi != mirrored)))
    return out


def _grid(forms: QuadraticForms, count: int) -> tuple[int, ...]:
    """A size at which no lag wraps around and frequencies outnumber features."""
    lags = [lag for terms in forms.products for lag in (_lags(terms) or {})]
    ndim = max(map(len, lags))
    widest = max((abs(n) for lag in lags for n in lag), default=0)
    return (max(2 * widest + 1, 2 * count + 3),) if ndim <= 1 else (max(2 * widest + 1, 4),) * ndim


def _weights(forms: QuadraticForms, grid: tuple[int, ...], world: World, frequencies: Sequence[Any]) -> list[list[Any]]:
    """Enclose w of each quadratic feature at some frequencies."""
    iv, out = world.iv, []
    for terms, extra in zip(forms.products, forms.at_zero, strict=True):
        lags = _lags(terms) or {}
        row = []
        for xi in frequencies:
            value = _enclosed(world, extra) if not any(xi) else iv.mpf(0)
            for lag, c in lags.items():
                phase = sum((Fraction(f * k, n) for f, k, n in zip(xi, lag, grid, strict=False)), Fraction(0)) % 1
                value += _enclosed(world, c) * iv.cos(2 * iv.pi * world.number(phase))
            row.append(value)
        out.append(row)
    return out


def _enclosed(world: World, number: Expr) -> Any:
    exact = number if isinstance(number, Rational) else nsimplify(number)
    if isinstance(exact, Rational):
        return world.number(Fraction(int(exact.p), int(exact.q)))
    digits = int(world.digits or DIGITS)
    value = Fraction(str(number.evalf(digits + 20)))
    slack = abs(value) / 10**digits
    return world.iv.mpf([world.number(value - slack).a, world.number(value + slack).b])


def _minor(subject: ModifiedSubject, forms: QuadraticForms, found: ModifiedEnergies, world: World) -> tuple[Any, Any]:
    """Enclose the minor, and the least power of the spectrum."""
    iv, offset = world.iv, int(forms.mean is not None)
    frequencies = _classes(found.grid, offset)
    zero = (0,) * len(found.grid)
    *w, = _weights(forms, found.grid, world, [xi for xi, _ in frequencies])
    counts = [n for _, n in frequencies]
    held = subject.starts[-1] - offset
    goals = [_enclosed(world, v) - _enclosed(world, c) for v, c in zip(subject.values[offset:], forms.constants,
                                                                      strict=False)]
    if forms.mean is not None and held > 0:
        slope, shift = (_enclosed(world, c) for c in forms.mean)
        mean = (_enclosed(world, subject.values[0]) - shift) / slope
        at_zero = _weights(forms, found.grid, world, [zero])
        goals = [g - row[0] * mean**2 for g, row in zip(goals, at_zero, strict=False)]
    power = [world.number(p) for p in found.spectrum]
    rest = [g - sum((w[m][n] * counts[n] * power[n] for n in range(len(power)) if n not in found.pivots), iv.mpf(0))
            for m, g in enumerate(goals[:held])]
    solved = _solved([[w[m][n] * counts[n] for n in found.pivots] for m in range(held)], rest)
    for n, p in zip(found.pivots, solved, strict=True):
        power[n] = p
    weighed = [c * p for c, p in zip(counts, power, strict=True)]
    i, j = (n - 1 - offset for n in found.pair)
    one, two = (_off(w, m, subject.starts[m + offset] - offset, weighed) for m in (i, j))
    columns = [[row[n] for n in found.rows] for row in w] + [[one[n] * two[n] for n in found.rows]]
    return _determinant(columns), min(power, key=lambda p: p.a)


def _off(w: Sequence[Sequence[Any]], m: int, before: int, weighed: Sequence[Any]) -> list[Any]:
    """Return w_m less its projection on those before it."""
    if before <= 0:
        return list(w[m])

    def inner(a: Sequence[Any], b: Sequence[Any]) -> Any:
        return sum(p * s * t for p, s, t in zip(weighed, a, b, strict=True))

    solved = _solved([[inner(w[a], w[b]) for b in range(before)] for a in range(before)],
                     [inner(w[a], w[m]) for a in range(before)])
    return [w[m][n] - sum(c * w[a][n] for a, c in enumerate(solved)) for n in range(len(weighed))]


def _solved(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Solve by elimination in intervals; ZeroDivisionError where a pivot may be zero."""
    rows, size = [[*row, r] for row, r in zip(matrix, right, strict=True)], len(right)
    for n in range(size):
        best = max(range(n, size), key=lambda r: abs(rows[r][n].mid))
        rows[n], rows[best] = rows[best], rows[n]
        if rows[n][n].a <= 0 <= rows[n][n].b:
            raise ZeroDivisionError("the equations of the references are dependent")
        for r in range(size):
            if r != n:
                factor = rows[r][n] / rows[n][n]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[n], strict=True)]
    return [rows[n][size] / rows[n][n] for n in range(size)]


def _determinant(rows: list[list[Any]]) -> Any:
    rows, size = [list(row) for row in rows], len(rows)
    total = rows[0][0] * 0 + 1
    for n in range(size):
        best = max(range(n, size), key=lambda r: abs(rows[r][n].mid))
        if rows[best][n].a <= 0 <= rows[best][n].b:
            return rows[best][n]
        if best != n:
            rows[n], rows[best], total = rows[best], rows[n], -total
        total = total * rows[n][n]
        for r in range(n + 1, size):
            factor = rows[r][n] / rows[n][n]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[n], strict=True)]
    return total


def _attempt(subject: ModifiedSubject, forms: QuadraticForms, grid: tuple[int, ...],
             pairs: Sequence[tuple[int, int]], rng: np.random.Generator) -> ModifiedEnergies | None:
    """Bring noise to the references, round its spectrum, and look for a pair and classes with a minor."""
    offset, held = int(forms.mean is not None), subject.starts[-1]
    row = rng.normal(size=(1, int(np.prod(grid))))
    goals = np.array([[float(v) for v in subject.values[:held]]])
    for m, c in enumerate(forms.constants[: held - offset], offset):
        goals[0, m] -= float(c)
    if offset and held:
        slope, shift = map(float, forms.mean or (1, 0))
        goals[0, 0] = (goals[0, 0] - shift) / slope
    at = of_forms(forms, grid).normalize(row, goals)
    if at.refusals:
        return None
    frequencies = _classes(grid, offset)
    transform = np.abs(np.fft.fftn(at.values.reshape(grid))) ** 2 / np.prod(grid) ** 2
    power = np.array([transform[xi] for xi, _ in frequencies])
    world = World(DIGITS)
    w = np.array([[float(v.mid) for v in line] for line in _weights(forms, grid, world, [xi for xi, _ in frequencies])])
    pivots = tuple(map(int, qr(w[: held - offset] * np.sqrt(power), pivoting=True)[2][: held - offset]))
    spectrum = tuple(Fraction(float(p)).limit_denominator(_FINEST) for p in power)
    weighed = power * np.array([n for _, n in frequencies])
    for i, j in pairs:
        one, two = (_float_off(w, m - offset, subject.starts[m] - offset, weighed) for m in (i, j))
        columns = np.vstack([w, one * two])
        columns /= np.linalg.norm(columns, axis=1, keepdims=True) + np.finfo(float).tiny
        order = qr(columns, pivoting=True)
        if abs(order[1][-1, len(columns) - 1]) < 1e-8:
            continue
        rows = tuple(map(int, order[2][: len(columns)]))
        found = ModifiedEnergies(subject, grid, spectrum, pivots, (i + 1, j + 1), rows)
        try:
            minor, least = _minor(subject, forms, found, world)
        except ZeroDivisionError:
            continue
        if least.a > 0 and not (minor.a <= 0 <= minor.b):
            return found
    return None


def _float_off(w: Any, m: int, before: int, weighed: Any) -> Any:
    if before <= 0:
        return w[m]
    root = np.sqrt(weighed)
    return w[m] - w[:before].T @ np.linalg.lstsq((w[:before] * root).T, w[m] * root, rcond=None)[0]
