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
from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.families.moments import MomentCoordinates, recognize_moments
from symdecouple.flows.flow import Flow
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import Step, make_steps
from symdecouple.language.feature import FeatureSet
from symdecouple.numeric.narrow_path import NarrowPath
from symdecouple.verdict import Status

__all__ = ["Choice", "PathName", "choose"]

PathName = Literal["auto", "broad", "relaxed", "narrow", "parallel"]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The ways of one plan.

    Attributes
    ----------
    path : str
    steps : tuple of Step
        One per feature that can be imposed along a closed-form flow.
    stopped : str
        Why there are no more.
    moments : MomentCoordinates or None
        Where the features are moments.
    verdicts : Verdicts
    precise, floats : Nesting
        For mpmath numbers and for float64.
    """

    path: PathName
    steps: tuple[Step, ...]
    stopped: str
    moments: MomentCoordinates | None
    verdicts: Verdicts
    leaf: Leaf
    narrow: NarrowRoute

    def nesting(self, precise: bool) -> Nesting:
        """Return the levels in float64, or in mpmath numbers."""
        closed: Route = ClosedRoute(self.leaf)
        if not precise and self.path == "auto" and self.moments is not None:
            closed = MomentRoute(self.moments, closed)
        return Nesting(closed, self.narrow, self.is_closed)

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
        if k > len(self.steps):
            return self.stopped
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
            return f"narrow path, because {obstacle}"
        if k == 1:
            return "closed form: the gradient has a multiple that does not depend on the sample, and its flow a formula"
        return (f"closed form: features 1 to {k} are proved involutive, and their span has generators that do not "
                "depend on the sample, with flows that have formulas")


def choose(features: FeatureSet, values: tuple[Any, ...], path: PathName, budget: float) -> Choice:
    """Return the ways of a plan; decides nothing yet.

    Raises
    ------
    InvalidInput
        If there is no such path.
    NoClosedForm
        If a closed form was asked for by name and no feature has one.
    """
    if path not in get_args(PathName):
        raise InvalidInput(f"path={path!r} was given, one of {', '.join(map(repr, get_args(PathName)))} is expected")
    flows, stopped = _flows(features)
    count = len(flows)
    steps = tuple(make_steps(list(features)[:count], [f.expr for f in flows], list(values[:count]), features.sample))
    moments = recognize_moments(features)
    verdicts = Verdicts(features, steps, values, stopped=stopped, budget=budget)
    leaf, stopped = _leaf(features, steps, flows, path, stopped)
    return Choice(path, leaf.steps, stopped, moments, verdicts, leaf, NarrowRoute(NarrowPath(features), moments))


def _leaf(features: FeatureSet, steps: tuple[Step, ...], flows: list[Flow], path: PathName, stopped: str
          ) -> tuple[Leaf, str]:
    if path == "broad":
        return _strict(features, steps, stopped)
    kinds: dict[str, type[Leaf]] = {"relaxed": Nested, "parallel": Concatenated}
    return kinds.get(path, Automatic)(features, steps, flows), stopped


def _strict(features: FeatureSet, steps: tuple[Step, ...], stopped: str) -> tuple[Leaf, str]:
    """Follow the flows of the modified features, as far as these can be written out."""
    for count in range(len(steps), 0, -1):
        modified = modified_features(features, steps, count)
        if modified is not None:
            flows, why = _flows(modified)
            return Orbit(features, steps[: len(flows)], flows, formulas=False), why or (
                f"the modified feature {count + 1} has no closed formula, level {count} being implicit: the strict "
                'broad path ends here; path="relaxed" follows the flows of the original features')
    raise NoClosedForm(f"no modified feature has a flow in closed form: {stopped}")


def _flows(features: FeatureSet) -> tuple[list[Flow], str]:
    """Find generators and flows for as many leading features as have them."""
    flows: list[Flow] = []
    for k in range(1, len(features) + 1):
        try:
            field = generators(list(features)[:k]).fields[-1]
            flows.append(flow(field, sample=features.sample))
        except NoClosedForm as error:
            return flows, str(error)
    return flows, ""
