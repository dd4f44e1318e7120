r"""The joint flow of quadratic features that commute, in closed form: multipliers in the frequency domain.

With w_j the eigenvalues of f_j = x'A_j x/N (|H_j|^2 for the energy of a filter), the generators A_j x integrate to

.. math:: \varphi_a(x) = \mathcal F^{-1}\Bigl[ e^{\frac12 \sum_j a_j w_j}\, \mathcal F x \Bigr], \qquad
    \frac{\partial \varphi_a}{\partial a_j} = \tfrac12 A_j \varphi_a = \tfrac{N}{4} \nabla f_j(\varphi_a)

for all a at once, in any order: circular filters commute. Where the mean comes first, frequency zero is set apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Expr, latex

from symdecouple.errors import InvalidInput
from symdecouple.language.filtered import Filtered
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample
from symdecouple.shown import clipped

__all__ = ["SpectralFlow"]


@dataclass(frozen=True, slots=True)
class SpectralFlow:
    """The flow of the quadratic features of a set, and the level that it reaches.

    Parameters
    ----------
    features : sequence of Feature
        Features 1, ..., k of a level.
    mean : bool
        Whether feature 1 is the mean, and the others alone are quadratic.

    Examples
    --------
    >>> from symdecouple.language.feature_set import FeatureSet
    >>> from symdecouple.language.filters import Filter
    >>> from symdecouple.language.sample import x
    >>> h = Filter("h")
    >>> flow = SpectralFlow(tuple(FeatureSet([Mean(x), Mean(h(x)**2), Mean(x**2)])), mean=True)
    >>> print(flow.formula)
    v1 + ifft(exp((a1*abs(H2)**2 + a2)/2) * fft(x - Mean(x))), H2 the response of h
    """

    features: Sequence[Any]
    mean: bool = False

    def __post_init__(self) -> None:
        if len(self.features) < 1 + self.mean:
            raise InvalidInput(f"{len(self.features)} features were given, at least one quadratic feature is expected"
                               + (" after the mean" if self.mean else ""))

    @property
    def formula(self) -> str:
        """What is done to the sample, as text; a is where the features have their values."""
        return ", ".join([self._moved([_times(f"a{i}", w.text) for i, w in enumerate(self._weights, 1)]),
                          *self._legend(self._weights)])

    def short(self, latest: int) -> str:
        """Return the formula with the names of the last few features only, a long sum as its ends."""
        parts = [_times(f"a{i}", w.text) for i, w in enumerate(self._weights, 1)]
        return ", ".join([self._moved(_ends(parts)), *self._legend(self._weights[-latest:])])

    def _moved(self, parts: list[str]) -> str:
        exponent = f"({' + '.join(parts)})/2" if len(parts) > 1 or "*" in parts[0] else f"{parts[0]}/2"
        x = self._sample
        moved = f"ifft(exp({exponent}) * fft({f'{x} - Mean({x})' if self.mean else x}))"
        return f"v1 + {moved}" if self.mean else moved

    def _legend(self, weights: list[_Weight]) -> list[str]:
        return [f"{w.name} the response of {clipped(str(w.filter), 60)}" if w.filter is not None else
                f"{w.text} the weights of {clipped(w.feature, 60)}"
                for w in weights if w.filter is not None or w.feature]

    def latex(self, values: Sequence[Any] | None = None, latest: int | None = None) -> str:
        """Return the level and its equations as LaTeX, without the dollar signs.

        Parameters
        ----------
        values : sequence, optional
            Default v1, v2, ...
        latest : int, optional
            Write out only so many features, the last ones; default all.
        """
        k, x, weights = len(self.features), latex(self._sample), self._weights
        parts = [rf"a_{{{i}}} {w.latex}".strip() for i, w in enumerate(weights, 1)]
        unknowns = [rf"a_{{{i}}}" for i in range(1, len(weights) + 1)]
        wanted = [rf"v_{{{j}}}" for j in range(1, k + 1)] if values is None else [latex(v) for v in values]
        if latest is not None and latest < len(weights):
            parts, unknowns, weights = _ends(parts, r"\cdots"), _ends(unknowns, r"\ldots"), weights[-latest:]
            wanted[0], equations = "v_{1}", rf"f_{{j}}(N_{{{k}}}({x})) = v_{{j}},\ j \le {k}"
        else:
            equations = r",\ ".join(rf"{latex(f.expr)}\Big|_{{N_{{{k}}}({x})}} = {v}" for f, v in
                                    zip(self.features[self.mean :], wanted[self.mean :], strict=True))
        inside = rf"{x} - {latex(Mean(self._sample))}" if self.mean else x
        factor = rf"e^{{\frac{{1}}{{2}}\left({' + '.join(parts)}\right)}}"
        moved = rf"\mathcal{{F}}^{{-1}}\left[{factor} \mathcal{{F}}\left({inside}\right)\right]"
        shown = rf"{wanted[0]} + {moved}" if self.mean else moved
        legend = "".join(rf",\quad {w.name_latex} = \mathcal{{F}} {latex(w.filter)}" for w in weights
                         if w.filter is not None)
        return rf"N_{{{k}}}({x}) = {shown},\quad {', '.join(unknowns)}:\ {equations}{legend}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    @property
    def _sample(self) -> Any:
        return next(iter(self.features[-1].expr.atoms(Mean))).sample

    @property
    def _weights(self) -> list[_Weight]:
        return [_Weight.of(f.expr, j) for j, f in enumerate(self.features, 1)][self.mean :]


@dataclass(frozen=True, slots=True)
class _Weight:
    """How the eigenvalues of one feature are written."""

    text: str
    latex: str
    name: str = ""
    name_latex: str = ""
    filter: Any = None
    feature: str = ""

    @classmethod
    def of(cls, expr: Expr, j: int) -> _Weight:
        if isinstance(expr, Mean):
            base, power = expr.opened().as_base_exp()
            if power == 2 and isinstance(base, Sample):
                return cls("1", "")
            if power == 2 and isinstance(base, Filtered) and isinstance(base.argument, Sample):
                return cls(f"abs(H{j})**2", rf"\left|H_{{{j}}}\right|^{{2}}", f"H{j}", f"H_{{{j}}}", base.filter)
        return cls(f"w{j}", f"w_{{{j}}}", feature=str(expr))


def _times(a: str, weight: str) -> str:
    return a if weight == "1" else f"{a}*{weight}"


def _ends(parts: list[str], dots: str = "...") -> list[str]:
    return parts if len(parts) <= 3 else [parts[0], dots, parts[-1]]
