"""What a plan knows of itself: names, path, verdicts, closed forms, and how it shows all that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, latex

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.choice import Choice, PathName
from symdecouple.decoupling.decoupled_names import SHORT, declared_names, decoupled_names
from symdecouple.decoupling.dependence import Dependent
from symdecouple.decoupling.explanation import Explanation, explanation_of
from symdecouple.decoupling.plan_picture import LevelRow, draw_diagram
from symdecouple.decoupling.verdicts.scenario import Scenario, Verdicts
from symdecouple.figures import Axes
from symdecouple.flows.normalizer import Normalizer
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.perturbing import Perturbation
from symdecouple.shown import Card, Maths, Shown
from symdecouple.verdict import Status

if TYPE_CHECKING:
    from symdecouple.analysis.citations import Citation

__all__ = ["PlanFacts"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanFacts(Shown):
    """The questions about a plan that take no samples; the attributes are those of `Plan`."""

    features: FeatureSet
    reference: tuple[Expr | None, ...]
    choice: Choice
    _application: Application
    _order: tuple[int, ...]
    perturbation: Perturbation | None = None
    left_out: tuple[Dependent, ...] = ()
    added: tuple[Feature, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the decoupled features are called: "mean", "orthokurtosis", "decoupled_5", or as they were named."""
        return decoupled_names(self.features, self.reference)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return `names` as an array, as the transformers of scikit-learn do; inputs have no names here."""
        del input_features
        return np.array(self.names, dtype=object)

    def _card(self) -> Card:
        beside = [*([str(self.perturbation)] if self.perturbation else []),
                  *(f"left out: {each.feature}" for each in self.left_out)]
        reference = ("none" if v is None else str(v) if len(str(v)) <= SHORT else f"{float(v):.8g}"
                     for v in self.reference)
        lines = [("features", ", ".join(self.features.names)), ("decoupled", ", ".join(self.names)),
                 ("reference", ", ".join(reference)),
                 ("beside", "; ".join(beside)) if beside else ("more", "plan.explain(), plan.scenario, plan.verdicts")]
        rows = [(str(k), f.name if f.is_named else Maths(str(f), f.latex()), name,
                 "none" if v is None else Maths(str(v), latex(v)))
                for k, (f, name, v) in enumerate(zip(self.features, self.names, self.reference, strict=True), 1)]
        title = f'Plan of {len(rows)} feature{"s" * (len(rows) > 1)}, path "{self.path}"'
        return Card(title, lines, ("", "feature", "decoupled", "reference"), rows)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the plan as JSON text, with what was proved so far; `symdecouple.plan_from_json` is the inverse.

        Raises
        ------
        InvalidInput
            If a feature is a black box.
        """
        from symdecouple.decoupling.storage import plan_to_json

        return plan_to_json(self, indent)  # type: ignore[arg-type]

    def citation(self) -> Citation:
        """Return what to cite: the theorems that this plan rests on, and BibTeX; see `symdecouple.citation`."""
        from symdecouple.analysis.citations import citation

        return citation(self)

    @property
    def path(self) -> PathName:
        """The path that was asked for."""
        return self.choice.path

    @property
    def verdicts(self) -> Verdicts:
        """The C2 verdicts on the original sets S_k and the modified sets hat S_k; decided when they are asked for."""
        return self.choice.verdicts

    @property
    def scenario(self) -> Scenario:
        """Which of the four scenarios the features are in; decides what it needs."""
        return self.verdicts.scenario

    def normalizer(self, level: int) -> Normalizer:
        """Return the closed form of a level: formula, LaTeX, code, domain and certificate.

        Raises
        ------
        NoClosedForm
            If the level has none.

        Examples
        --------
        >>> from symdecouple.families.moments import raw_moments
        >>> from symdecouple.decoupling.plan import decouple
        >>> decouple(raw_moments(4)).normalizer(2).formula
        (x - Mean(x))/sqrt(-Mean(x)**2 + Mean(x**2))
        """
        return self.choice.normalizer(level)

    def diagram(self, ax: Any = None) -> Axes:
        """Draw the plan: the sample at each level, what brings it there, and the decoupled features read from it.

        Verdicts are those that the ways rest on; they are decided for it, within the budget of the plan. Of plans with
        more than 14 levels the first ones and the last are drawn.

        Parameters
        ----------
        ax : Axes, optional
            By default a figure is made.

        Returns
        -------
        Axes

        Raises
        ------
        MissingPackage
            Without Matplotlib, which is optional.
        """
        notes = {note.level: note for note in self.explain().notes}
        decided, declared = self.verdicts.original.decided, declared_names(self.features)
        rows = []
        for (before, _), (start, end) in zip([(0, 0), *self.choice.spans], self.choice.spans, strict=False):
            imposed = ", ".join(f"{declared[j]} = {self.reference[j]}" for j in range(before, start))
            method = notes[start].method if start else ""
            status = Status.PROVED if method == "spectral" else decided[start].status if start in decided else None
            rows.append(LevelRow(start, imposed, method, status, self.names[start:end]))
        return draw_diagram(rows, ax)

    def explain(self) -> Explanation:
        """Return what is done at each level and why: text, LaTeX, and HTML in notebooks."""
        return explanation_of(self)
