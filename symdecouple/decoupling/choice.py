"""Which way each level of a plan takes, and why: the closed form asked for, the narrow path, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from symdecouple.decoupling.concatenated import Concatenated
from symdecouple.decoupling.leaf import Leaf
from symdecouple.decoupling.modified import modified_features
from symdecouple.decoupling.moment_route import MomentRoute
from symdecouple.decoupling.narrow_route import NarrowRoute
from symdecouple.decoupling.nested import Automatic, Nested
from symdecouple.decoupling.nesting import Nesting
from symdecouple.decoupling.orbit import Orbit
from symdecouple.decoupling.routes import ClosedRoute, Route
from symdecouple.decoupling.scenario import Verdicts
from symdecouple.errors import BudgetExceeded, InvalidInput, NoClosedForm
from symdecouple.families.moments import recognize_moments
from symdecouple.flows.flow import Flow
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import Step, make_steps
from symdecouple.language.feature import Feature, FeatureSet
from symdecouple.numeric.black_box import path_of
from symdecouple.verdict import Status

__all__ = ["Choice", "Closed", "PathName"]

PathName = Literal["auto", "broad", "relaxed", "narrow", "parallel"]


_COORDINATES = "functions of explicit coordinates have no flows in closed form here"
FLOW_BUDGET = 10.0  # seconds for one flow; what is not found by then takes the narrow path


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
    moments : MomentCoordinates or None
        Where the features are moments.
    verdicts : Verdicts
    """

    def __init__(self, features: FeatureSet, values: tuple[Any, ...], path: PathName, budget: float) -> None:
        if path not in get_args(PathName):
            raise InvalidInput(f"path={path!r} was given, one of {', '.join(map(repr, get_args(PathName)))} is "
                               "expected")
        self.features, self.values, self.path = features, values, path
        self.moments = recognize_moments(features)
        self._narrow = NarrowRoute(path_of(features), self.moments)
        self._last = features.groups[-1][0]
        self._closed: dict[int, Closed] = {}
        first = self.closed(self._last)
        self.verdicts = Verdicts(features, first.leaf.steps, values, stopped=first.stopped, budget=budget)

    def closed(self, level: int) -> Closed:
        """Return the closed forms up to a level; those of the last features are looked for when they are asked for."""
        count = self._last if level <= self._last else len(self.features)
        if count not in self._closed:
            self._closed[count] = _closed(self.features, self.values, self.path, count)
        return self._closed[count]

    def nesting(self, level: int, precise: bool) -> Nesting:
        """Return the levels up to one, in float64 or in mpmath numbers."""
        closed: Route = ClosedRoute(self.closed(level).leaf)
        if not precise and self.path == "auto" and self.moments is not None:
            closed = MomentRoute(self.moments, closed)
        return Nesting(closed, self._narrow, self.is_closed)

    def is_closed(self, k: int) -> bool:
        """Return whether level k is reached by a closed form.

        Raises
        ------
        NoClosedForm
            If it has none and the path asked for needs one.
        """
        if self.path == "narrow":
            return False
        obstacle = self.obstacle(k)
        if obstacle and self.path != "auto":
            raise NoClosedForm(f'level {k} along path "{self.path}": {obstacle}')
        return not obstacle

    def obstacle(self, k: int) -> str:
        """Say why level k has no closed form; return nothing where it has."""
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
        if k == 1:
            return "closed form: the gradient has a multiple that does not depend on the sample, and its flow a formula"
        return (f"closed form: features 1 to {k} are proved involutive, and their span has generators that do not "
                "depend on the sample, with flows that have formulas")


def _closed(features: FeatureSet, values: tuple[Any, ...], path: PathName, count: int) -> Closed:
    first = list(features.symbolic)[:count]
    flows, stopped = _flows(first, features) if not features.coordinates else ([], _COORDINATES)
    if not stopped and len(first) < count:
        stopped = f"feature {len(first) + 1}, {features[len(first)]}, is a black box: it has no expression"
    steps = tuple(make_steps(first[: len(flows)], [f.expr for f in flows], list(values[: len(flows)]), features.sample))
    if path == "broad":
        return _strict(features, steps, stopped)
    kinds: dict[str, type[Leaf]] = {"relaxed": Nested, "parallel": Concatenated}
    return Closed(kinds.get(path, Automatic)(features, steps, flows), stopped)


def _strict(features: FeatureSet, steps: tuple[Step, ...], stopped: str) -> Closed:
    """Follow the flows of the modified features, as far as these can be written out."""
    for count in range(len(steps), 0, -1):
        modified = modified_features(features, steps, count)
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
