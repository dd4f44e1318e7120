"""Which way each level of a plan takes, and why: the closed form asked for, the narrow path, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from symdecouple.decoupling.concatenated import Concatenated
from symdecouple.decoupling.energy_route import EnergyRoute
from symdecouple.decoupling.leaf import Leaf
from symdecouple.decoupling.modified import modified_features
from symdecouple.decoupling.moment_route import MomentRoute
from symdecouple.decoupling.narrow_route import NarrowRoute
from symdecouple.decoupling.nested import Automatic, Nested
from symdecouple.decoupling.nesting import Nesting
from symdecouple.decoupling.orbit import Orbit
from symdecouple.decoupling.precise_energy_route import PreciseEnergyRoute
from symdecouple.decoupling.routes import ClosedRoute, Route
from symdecouple.decoupling.scenario import Verdicts
from symdecouple.errors import BudgetExceeded, InvalidInput, NoClosedForm
from symdecouple.families.moments import recognize_moments
from symdecouple.families.quadratic import recognize_quadratic
from symdecouple.flows.flow import Flow
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.spectral import SpectralFlow
from symdecouple.flows.steps import Step, make_steps
from symdecouple.language.budget import Budget
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.precision import at_digits
from symdecouple.numeric.paths.black_box_rows import path_of
from symdecouple.verdict import Status

__all__ = ["Choice", "Closed", "PathName"]

PathName = Literal["auto", "broad", "relaxed", "narrow", "parallel"]


_COORDINATES = "functions of explicit coordinates have no flows in closed form here"
_KEPT = 8  # levels and grids
_DIGITS = 30  # of a reference before it is rounded to float64
FLOW_BUDGET = 10.0  # seconds for one flow, or to write features out along it; then the narrow path is taken


@dataclass(frozen=True, slots=True)
class Closed:
    """The closed forms of leading features.

    Attributes
    ----------
    leaf : Leaf
        With one step for each feature that can be imposed along a closed-form flow.
    stopped : str
        Why there are no more steps; empty if there is one for every feature that was looked at.
    """

    leaf: Leaf
    stopped: str


class Choice:
    """The ways of one plan.

    Parameters
    ----------
    features : FeatureSet
    values : tuple of Expr or None
        References.
    path : str
    budget : float
        Seconds for each verdict.

    Attributes
    ----------
    floats : list of float or None
        The references in float64.
    moments : MomentCoordinates or None
        Where the features are moments.
    energies : QuadraticForms or None
        Where the features are quadratic forms of a signal, and are not asked to take the narrow path.
    """

    def __init__(self, features: FeatureSet, values: tuple[Any, ...], path: PathName, budget: float) -> None:
        if path not in get_args(PathName):
            raise InvalidInput(f"path={path!r} was given, one of {', '.join(map(repr, get_args(PathName)))} is "
                               "expected")
        self.features, self.values, self.path = features, values, path
        with at_digits(_DIGITS):  # SymPy sets the precision of mpmath for some functions
            self.floats = [None if v is None else float(v.evalf(_DIGITS)) for v in values]
        self.moments = recognize_moments(features)
        self.energies = None if path == "narrow" else recognize_quadratic(features)
        self._narrow = NarrowRoute(path_of(features), self.moments)
        self._last = features.groups[-1][0]
        self._closed: dict[int, Closed] = {}
        self._nestings: dict[tuple[int, bool, tuple[int, ...]], Nesting] = {}
        self.budget = budget
        if path != "narrow" and not self._is_covered(len(features)):
            self.closed(self._last)

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts that the ways rest on; nothing is decided yet."""
        first = self.closed(self._last)
        return Verdicts(self.features, first.leaf.steps, self.values, stopped=first.stopped, budget=self.budget)

    def closed(self, level: int) -> Closed:
        """Return the closed forms up to a level; those of the last features are looked for when they are asked for."""
        count = self._last if level <= self._last else len(self.features)
        if count != self._last and self.closed(self._last).stopped:
            return self.closed(self._last)  # what ends before the last features does not go on with them
        if count not in self._closed:
            self._closed[count] = _closed(self.features, self.values, self.path, count)
        return self._closed[count]

    def nesting(self, level: int, precise: bool, grid: tuple[int, ...]) -> Nesting:
        """Return the levels up to one for samples on a grid, in float64 or in mpmath numbers.

        The last few are kept: a call on one image would wait longer for them than for its numbers.
        """
        key = level, precise, grid
        if key not in self._nestings:
            self._nestings = {**dict(list(self._nestings.items())[1 - _KEPT :]), key: self._made(level, precise, grid)}
        return self._nestings[key]

    def _made(self, level: int, precise: bool, grid: tuple[int, ...]) -> Nesting:
        is_led = self.path == "narrow" or self._is_covered(level)
        closed: Route = ClosedRoute(Automatic(self.features, (), ()) if is_led else self.closed(level).leaf)
        if not precise and self.path == "auto" and self.moments is not None:
            closed = MomentRoute(self.moments, closed)
        if self.energies is not None:
            closed = (PreciseEnergyRoute if precise else EnergyRoute)(self.energies, grid, closed)
        narrow = self._narrow if self.features.filter_ndim is None else self._narrow.on(grid, self.features, precise)
        return Nesting(closed, narrow, self.is_closed)

    @property
    def feels_no_shift(self) -> bool:
        """True iff level 1 takes the mean away, so that from there on no offset of a sample is felt."""
        return self.moments is not None and len(self.features.groups[0]) == 1

    def _is_covered(self, level: int) -> bool:
        """True iff the frequency domain has all levels up to one, the mean included: no flow is looked for."""
        return self.energies is not None and level <= len(self.energies)

    def spectral(self, k: int) -> SpectralFlow | None:
        """Return how level k is reached in the frequency domain; None where it is not."""
        if self.energies is None or not int(self.energies.mean is not None) < k <= len(self.energies):
            return None
        return SpectralFlow(tuple(self.features)[:k], self.energies.mean is not None)

    def is_closed(self, k: int) -> bool:
        """Return whether level k is reached by a closed form.

        Raises
        ------
        NoClosedForm
            If it has none and the path asked for needs one.
        """
        if self.path == "narrow":
            return False
        if self._is_covered(k):
            return True
        obstacle = self.obstacle(k)
        if obstacle and self.path != "auto":
            raise NoClosedForm(f'level {k} along path "{self.path}": {obstacle}')
        return not obstacle

    def obstacle(self, k: int) -> str:
        """Say why level k has no closed form; return nothing where it has."""
        if self.spectral(k):
            return ""
        closed = self.closed(k)
        if k > len(closed.leaf.steps):
            return closed.stopped
        sets = {"S": self.verdicts.original, **({"hat S": self.verdicts.modified} if self.path == "broad" else {})}
        for name, decisions in sets.items():
            if k > 1 and (verdict := decisions[k]).status is not Status.PROVED:
                return (f"{name}_{k}, the {'modified ' if name != 'S' else ''}features 1 to {k}, is not proved "
                        f"involutive ({verdict.status.name}: {verdict.reason}), so that no closed form brings all of "
                        "them to their references")
        return ""

    def why(self, k: int) -> str:
        """Say in a sentence why level k goes the way it goes."""
        if self.path == "narrow":
            return 'path="narrow" was asked for'
        if obstacle := self.obstacle(k):
            return f"narrow path, because {obstacle}" if self.path == "auto" else obstacle
        if self.spectral(k):
            return (f"closed form: features 1 to {k} are quadratic forms of circular convolutions, which commute; one "
                    "convex problem in the frequency domain brings them to their references")
        if k == 1:
            return "closed form: the gradient has a multiple that does not depend on the sample, and its flow a formula"
        return (f"closed form: features 1 to {k} are proved involutive, and their span has generators that do not "
                "depend on the sample, with flows that have formulas")


def _closed(features: FeatureSet, values: tuple[Any, ...], path: PathName, count: int) -> Closed:
    first = list(features.symbolic)[:count]
    flows, stopped = _flows(first, features) if not features.coordinates else ([], _COORDINATES)
    if not stopped and len(first) < count:
        stopped = f"feature {len(first) + 1}, {features[len(first)]}, is a black box: it has no expression"
    steps, stopped = _steps(first, flows, values, features, stopped)
    flows = flows[: len(steps)]
    if path == "broad":
        return _strict(features, steps, stopped)
    kinds: dict[str, type[Leaf]] = {"relaxed": Nested, "parallel": Concatenated}
    return Closed(kinds.get(path, Automatic)(features, steps, flows), stopped)


def _steps(first: list[Feature], flows: list[Flow], values: tuple[Any, ...], features: FeatureSet, stopped: str
           ) -> tuple[tuple[Step, ...], str]:
    """Solve for the flow parameters, of fewer features where the composed flows are too long to be written out."""
    for count in range(len(flows), 0, -1):
        try:
            with Budget(FLOW_BUDGET).running("writing features out along flows"):
                return tuple(make_steps(first[:count], [f.expr for f in flows[:count]], list(values[:count]),
                                        features.sample)), stopped
        except BudgetExceeded:
            stopped = (f"feature {count}, {first[count - 1]}, was not written out along the flows within "
                       f"{FLOW_BUDGET:g} s")
    return (), stopped


def _strict(features: FeatureSet, steps: tuple[Step, ...], stopped: str) -> Closed:
    """Follow the flows of the modified features, as far as these can be written out."""
    for count in range(len(steps), 0, -1):
        try:
            with Budget(FLOW_BUDGET).running("writing the modified features out"):
                modified = modified_features(features, steps, count)
        except BudgetExceeded:
            modified = None
        if modified is not None:
            flows, why = _flows(list(modified), modified)
            ends = stopped if count == len(steps) else (
                f"the modified feature {count + 1} has no closed formula, level {count} being implicit: the strict "
                'broad path ends here; path="relaxed" follows the flows of the original features')
            return Closed(Orbit(features, steps[: len(flows)], flows, formulas=False), why or ends)
    return Closed(Orbit(features, (), (), formulas=False), stopped)


def _flows(first: list[Feature], features: FeatureSet) -> tuple[list[Flow], str]:
    """Find generators and flows for as many leading features as have them."""
    flows: list[Flow] = []
    for k in range(1, len(first) + 1):
        try:
            field = generators(first[:k], budget=FLOW_BUDGET).fields[-1]
            flows.append(flow(field, sample=features.sample, budget=FLOW_BUDGET))
        except (NoClosedForm, BudgetExceeded) as error:
            return flows, str(error)
    return flows, ""
