r"""Critical points of filter energies: spectra with few active frequencies.

In the powers P_c >= 0 of the frequencies c (a frequency and its negative together) energies are linear,

.. math:: f_j = \sum_c w_{jc} P_c, \qquad \nabla f_k = \sum_{j<k} \lambda_j \nabla f_j
    \iff w_{kc} = \sum_{j<k} \lambda_j w_{jc} \ \text{wherever}\ P_c > 0 .

So the reference manifold is a polyhedron in P, and critical points are its vertices (and faces on which f_k is
constant): as many active frequencies as references. At a silent frequency the feature changes at the rate
w_kc - sum_j lambda_j w_jc, the *reduced cost*: all of one sign make an extremum, which is global, as linear programs
have no others; both signs a saddle. The Morse index, on the complement of the phases that nothing depends on, counts
the real dimensions of frequencies with negative reduced cost. Frequencies of which no weight is different from 0 (the
null space of all filters) are free, and are left silent in the samples that are returned.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Float, Integer, Rational, expand

from symdecouple.analysis.critical.claims import EverySize, bounded, found_numerically, proved, readers
from symdecouple.analysis.critical.point import CriticalPoint
from symdecouple.analysis.critical.tie_patterns import Kind
from symdecouple.calculus.subject import Subject
from symdecouple.families.quadratic import QuadraticForms, recognize_quadratic
from symdecouple.language.budget import Budget
from symdecouple.language.feature_set import FeatureSet
from symdecouple.verdict import Check, Status, Verdict

__all__ = ["READERS", "SpectralLevel", "spectral_level"]

LARGEST = 20_000
TINY = 1e-10
"""Relative to the largest weight: a reduced cost that is rounding, a sum of a few products of weights."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SpectralLevel:
    """The last of some energies, those before (and perhaps the mean) at their references, for N samples."""

    features: FeatureSet
    references: tuple[Expr, ...]
    n_samples: int
    forms: QuadraticForms

    def points(self) -> Iterator[CriticalPoint]:
        """Yield one sample for each set of active frequencies: no others occur, but for phases and constant faces."""
        weights, fixed, places = self._problem()
        constraints, last = weights[:-1], weights[-1]
        wanted = np.array([float(r) for r in self.references[len(self.references) - len(constraints):]]) - fixed[:-1]
        scale = float(np.abs(weights).max(initial=1.0))
        for active in map(list, combinations(range(len(places)), len(constraints))):
            square = constraints[:, active]
            if len(active) and np.linalg.cond(square) > 1 / TINY:
                continue
            powers = np.asarray(np.linalg.solve(square, wanted) if len(active) else np.zeros(0))
            if (powers <= TINY * np.abs(wanted).max(initial=0)).any():
                continue
            multipliers = np.linalg.solve(square.T, last[active]) if len(active) else np.zeros(0)
            costs = np.delete(last - multipliers @ constraints, active)
            silent = np.delete(places, active)
            yield self._point(places[active], powers, float(last[active] @ powers) + fixed[-1], costs / scale, silent)

    def verdicts(self) -> tuple[Verdict, Verdict, Verdict]:
        """Return what is known: numerically that these are all; B1 and B2 follow from the features alone."""
        subject = Subject(self.features.features)
        first = found_numerically(subject.texts(), self.n_samples, "every set of as many active frequencies as "
                                  "references was solved, in floats; sets with more of them are critical only where "
                                  "weights depend on each other", TINY)
        b1, b2 = proved((LinearExtrema(subject), LinearBasins(subject)), self.n_samples)
        return first, b1, b2

    def _problem(self) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
        """Return the weights of the frequencies that have any, the constant parts, and where these frequencies are."""
        weights = self.forms.weights((self.n_samples,))
        fixed = np.array([float(c) for c in self.forms.constants])
        places = np.arange(weights.shape[1])
        if self.forms.mean is not None:  # the power at frequency zero is that of the mean
            fixed = fixed + weights[:, 0] * self._mean() ** 2
            places = places[1:]
        places = places[(np.abs(weights[:, places]) > TINY * np.abs(weights).max()).any(axis=0)]
        return weights[:, places], fixed, places

    def _mean(self) -> float:
        assert self.forms.mean is not None
        rate, offset = self.forms.mean
        return float((self.references[0] - offset) / rate)

    def _point(self, active: NDArray[np.intp], powers: FloatArray, value: float, costs: FloatArray,
               silent: NDArray[np.intp]) -> CriticalPoint:
        spectrum = np.zeros(self.n_samples // 2 + 1, dtype=complex)
        spectrum[active] = self.n_samples * np.sqrt(powers / self._dimensions(active))
        if self.forms.mean is not None:
            spectrum[0] = self.n_samples * self._mean()
        sample = np.fft.irfft(spectrum, self.n_samples)
        up, down = costs > TINY, costs < -TINY
        kind: Kind = ("saddle" if up.any() and down.any() else "minimum" if up.any() else "maximum" if down.any()
                      else "degenerate")
        index = None if kind == "degenerate" else int(self._dimensions(silent[down]).sum())
        share = Rational(1, self.n_samples)
        return CriticalPoint(Float(value), kind, index, tuple(map(Float, sample.tolist())), (share,) * self.n_samples,
                             self.n_samples, True if kind in ("minimum", "maximum") else None, True,
                             1e-12 * max(1.0, abs(value)))

    def _dimensions(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return 2 for each frequency, 1 for frequency zero and for the highest one of an even N."""
        return np.where((places == 0) | (2 * places == self.n_samples), 1, 2)


def spectral_level(features: FeatureSet, references: Sequence[Expr | None], n_samples: int) -> SpectralLevel | None:
    """Return the level whose last feature is that of the set; None if they are no energies of circular filters."""
    forms: Any = recognize_quadratic(features)
    if forms is None or len(forms) < len(features) or features.sample_ndim != 1:
        return None
    bounded(comb(n_samples // 2 + 1, len(forms.constants) - 1), LARGEST, "sets of active frequencies", "solved")
    return SpectralLevel(features, tuple(v for v in references if v is not None), n_samples, forms)


@dataclass(frozen=True, slots=True)
class LinearExtrema(EverySize):
    """B1 of energies: they are linear in the powers of the frequencies, so that extrema are global."""

    kind: ClassVar[str] = "critical points: spectra, extrema"
    answers: ClassVar[tuple[str, Status]] = ("B1", Status.PROVED)
    because = "the features are linear in the powers of the frequencies, and extrema of linear programs are global"
    findings = "at any references: these are shift invariant quadratic forms, linear in the powers"
    formula = r"f_j = \sum_\xi w_j(\xi)\, P(\xi),\ P \ge 0"

    def _checks(self, rng: random.Random, clock: Budget) -> Iterable[Check]:
        forms = recognize_quadratic(FeatureSet(self.subject.items))
        yield Check("energies of circular filters", forms is not None and len(forms) == len(self.subject))
        assert forms is not None
        for n_samples in (5, 6):
            at = self.subject.at(n_samples)
            u, v = (np.array([Integer(rng.randint(-9, 9)) for _ in range(n_samples)], dtype=object) for _ in range(2))
            for k, feature in enumerate(at.items):
                rows = (u, np.roll(u, 1), v, u + v, u - v, 0 * u)
                fu, turned, fv, plus, minus, zero = (
                    expand(feature.expr.xreplace(dict(zip(at.coordinates, row, strict=True)))) for row in rows)
                yield Check(f"feature {k + 1} does not change with a circular shift", fu == turned, str(turned))
                is_mean = k == 0 and forms.mean is not None
                # f(u + v) + f(u - v) is 2 f(u) for affine functions, 2 f(u) + 2 f(v) - 2 f(0) for quadratic forms
                law = plus + minus - 2 * fu - (0 if is_mean else 2 * fv - 2 * zero)
                yield Check(f"feature {k + 1} is {'affine' if is_mean else 'a quadratic form'}", expand(law) == 0)


@dataclass(frozen=True, slots=True)
class LinearBasins(LinearExtrema):
    """B2 of energies: only samples with silent frequencies flow to saddles."""

    kind: ClassVar[str] = "critical points: spectra, basins"
    answers: ClassVar[tuple[str, Status]] = ("B2", Status.PROVED)
    because = "only samples with silent frequencies flow to a saddle: powers change at rates that add up to a constant"


READERS = readers(LinearExtrema, LinearBasins)
