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
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from symdecouple.calculus.certificates import Claim
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.span import independent_rows
from symdecouple.calculus.subject import Size
from symdecouple.decoupling.routes.energies import EnergyRoute
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.decoupling.verdicts.spectral_minor import (
    EnclosedSpectrum,
    classes_of,
    have_taps,
    size_without_wrapping,
)
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.families.quadratic import QuadraticForms, recognize_quadratic
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "ModifiedEnergies", "decide_energies"]

DIGITS = 40  # of enclosures in the search; verify() takes twice as many
SEED = 20262  # any, but always the same
TRIES = 4  # spectra: what fails to commute does so at almost all
_FINEST = 10**6  # denominators of the spectrum


def decide_energies(subject: ModifiedSubject) -> Verdict | None:
    """Refute C2 of the modified sets of quadratic features at one size; None where nothing is found."""
    start, forms, rng = time.perf_counter(), _forms(subject), np.random.default_rng(SEED)
    if forms is None:
        return None
    for _ in range(TRIES if _pairs(subject, forms) else 0):
        with suppress(Irrational, OutsideDomain, UnsupportedExpression, ZeroDivisionError):
            if (found := _attempt(subject, forms, rng)) is not None:
                independence = Verdict("C1", Status.UNDECIDED, subject.texts(), reason="not asked: C2 is refuted")
                return Verdict("C2", Status.REFUTED, subject.texts(), n_samples=None, certificate=found,
                               independence=independence, seconds=time.perf_counter() - start)
    return None


@dataclass(frozen=True, slots=True)
class ModifiedEnergies(Claim):
    """A spectrum at which a bracket of modified gradients leaves their span, for one size (C2 violated).

    Attributes
    ----------
    grid : tuple of int
    spectrum : tuple of Fraction
        P of each class {xi, -xi} of frequencies, as `classes_of` has them; those of `pivots` are not looked at, they
        follow from the references.
    pivots : tuple of int
    pair : tuple of int
        Counted from 1.
    rows : tuple of int
        The classes of the minor.
    """

    subject: ModifiedSubject
    grid: tuple[int, ...]
    spectrum: tuple[Fraction, ...]
    pivots: tuple[int, ...]
    pair: tuple[int, int]
    rows: tuple[int, ...]
    kind: ClassVar[str] = "modified energies"
    takes_levels: ClassVar[bool] = True
    answers: ClassVar[tuple[str, Status]] = ("C2", Status.REFUTED)

    @property
    def n_samples(self) -> int | tuple[int, ...]:
        """The size that the claim is about."""
        return self.grid[0] if len(self.grid) == 1 else self.grid

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        subject, forms = self.subject, _forms(self.subject)
        yield Check("quadratic forms that commute, with taps", forms is not None)
        assert forms is not None
        yield Check("the pair", self.pair in _pairs(subject, forms))
        count = len(classes_of(self.grid, forms))
        yield Check("the classes", len(self.rows) == len(forms.products) + 1 and len(self.spectrum) == count
                    and len(self.pivots) == _place(subject, forms, len(subject))[1]
                    and all(len(set(some)) == len(some) and all(0 <= n < count for n in some)
                            for some in (self.rows, self.pivots)))
        at = EnclosedSpectrum(FeatureSet(subject.items), self.grid, subject.values, self.spectrum, self.pivots,
                              World(2 * DIGITS))
        yield Check("references are held by a positive spectrum", bool(at.least.a > 0),
                    f"least power {float(at.least.a):.3g}")
        one, two = (_place(subject, forms, k) for k in self.pair)
        minor = at.minor(one, two, self.rows)
        yield Check("minor", not (minor.a <= 0 <= minor.b), f"in [{float(minor.a):.6g}, {float(minor.b):.6g}]")

    def reason(self, n_samples: Size | None) -> str:
        i, j = self.pair
        return (f"[v{i}, v{j}] is not in the span of the gradients, claimed for N = {' x '.join(map(str, self.grid))} "
                "only")

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
    return ModifiedEnergies(ModifiedSubject.from_dict(data["subject"]), grid, tuple(map(Fraction, data["spectrum"])),
                            tuple(map(int, data["pivots"])), (int(i), int(j)), tuple(map(int, data["rows"])))


READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {ModifiedEnergies.kind: _read}


def _forms(subject: ModifiedSubject) -> QuadraticForms | None:
    """Return the forms that all features are, with taps; None where they are not."""
    found = recognize_quadratic(FeatureSet(subject.items))
    return found if found is not None and len(found) == len(subject) and have_taps(found) else None


def _pairs(subject: ModifiedSubject, forms: QuadraticForms) -> list[tuple[int, int]]:
    """Return the pairs of quadratic features, counted from 1, of which the second is taken where the first is held."""
    first = 1 + len(forms) - len(forms.products)
    return [(i, j) for i, j in combinations(range(first, len(subject) + 1), 2) if i <= subject.starts[j - 1]]


def _place(subject: ModifiedSubject, forms: QuadraticForms, k: int) -> tuple[int, int]:
    """Return which weights feature k has, counted from 0, and how many are held where it is taken."""
    means = len(forms) - len(forms.products)  # the mean may come before them
    return k - 1 - means, max(0, subject.starts[k - 1] - means)


def _attempt(subject: ModifiedSubject, forms: QuadraticForms, rng: np.random.Generator) -> ModifiedEnergies | None:
    """Bring noise to the references, round its spectrum, and look for a pair and classes with a minor."""
    grid = size_without_wrapping(forms, len(subject))
    row = rng.normal(size=(1, int(np.prod(grid))))
    at = EnergyRoute(forms, grid).impose(row, subject.starts[-1], list(map(float, subject.values)))
    if at.refusals:
        return None
    transform = np.abs(np.fft.fftn(at.values.reshape(grid))) ** 2 / np.prod(grid) ** 2
    spectrum = tuple(Fraction(float(transform[xi])).limit_denominator(_FINEST) for xi, _ in classes_of(grid, forms))
    exact = EnclosedSpectrum(FeatureSet(subject.items), grid, subject.values, spectrum, None, World(DIGITS))
    for pair in _pairs(subject, forms) if exact.least.a > 0 else ():
        classes = independent_rows(exact.rows_of(*(_place(subject, forms, k) for k in pair)), exact.world)
        if classes is not None:
            return ModifiedEnergies(subject, grid, spectrum, exact.pivots, pair, tuple(classes))
    return None
