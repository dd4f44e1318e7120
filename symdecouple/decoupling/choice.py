"""Which way each level of a plan takes, and why: the closed form asked for, the narrow path, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import takewhile
from typing import Any, Literal, TypeVar, get_args

import mpmath
from sympy import I, S, oo
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from symdecouple.decoupling.leading import Borrowed, about_mean, felt_digits, in_any_order, is_scaled, on_the_line
from symdecouple.decoupling.motions.joint_steps import ConcatenatedFlows, StrictSteps
from symdecouple.decoupling.motions.nested_roots import Automatic, NestedRoots
from symdecouple.decoupling.motions.orbit import OrbitMotion
from symdecouple.decoupling.offsets import about_middles, feels_no_offset
from symdecouple.decoupling.routes.energies import EnergyRoute
from symdecouple.decoupling.routes.moments import MomentRoute
from symdecouple.decoupling.routes.narrow import NarrowRoute
from symdecouple.decoupling.routes.precise_energies import PreciseEnergyRoute
from symdecouple.decoupling.routes.route import BorrowedRoute, Levels, OrbitRoute, Route
from symdecouple.decoupling.verdicts.modified import first_features, modified_features
from symdecouple.decoupling.verdicts.scenario import Verdicts
from symdecouple.errors import BudgetExceeded, InvalidInput, NoClosedForm
from symdecouple.families.moments import recognize_moments
from symdecouple.families.quadratic import recognize_quadratic
from symdecouple.flows.flow import Flow
from symdecouple.flows.generators import generators
from symdecouple.flows.normalizer import Normalizer, normalizers
from symdecouple.flows.separable import flow
from symdecouple.flows.spectral import SpectralFlow
from symdecouple.flows.steps import make_steps
from symdecouple.language.budget import Budget
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.precision import at_digits
from symdecouple.numeric.moments.levels import HIGHEST
from symdecouple.numeric.paths.black_box_rows import path_of
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.verdict import Status

__all__ = ["Choice", "Closed", "PathName"]

PathName = Literal["auto", "broad", "relaxed", "narrow", "parallel"]
Made = TypeVar("Made")


_COORDINATES = "functions of explicit coordinates have no flows in closed form here"
_KEPT = 8  # levels and grids: a call on one image would wait longer for them than for its numbers
_DIGITS = 30  # of a reference before it is rounded to float64
FLOW_BUDGET = 10.0  # seconds for one flow, or to write features out along it; then the narrow path is taken


@dataclass(frozen=True, slots=True)
class Closed:
    """The closed forms of leading features, and why there are no more of them; empty if all have one."""

    motion: OrbitMotion
    stopped: str


class Choice:
    """The ways of one plan; `values` are the references, and a verdict takes `budget` seconds.

    Attributes
    ----------
    floats : list of float or None
        The references in float64.
    leading : MomentCoordinates or None
        Of as many leading features as are moments; the mean alone is one.
    moments : MomentCoordinates or None
        The same where these are two at least.
    in_order : MomentCoordinates or None
        The same in groups too.
    spread, borrowed : list of Borrowed
        The mean and leading features that feel no offset, the variance first: levels are reached about the mean. And
        that with moments in another order: samples end where those bring them.
    energies : QuadraticForms or None
        Where the features are quadratic forms of a signal, and are not asked to take the narrow path.
    spans : list of tuple
        (first, last + 1) of each group of features that are normalized together; mostly single features.
    is_of_sets : bool
        Whether features are known as functions of sets of numbers, wherever these lie in a sample.
    levels : callable
        Returns the levels up to one, or, for features (None), all; in mpmath numbers or in float64; for samples on a
        grid. The last few are kept, and an ordinary sample reads no file for them.
    feels_no_shift : bool
        True iff level 1 takes the mean away, so that from there on no offset of a sample is felt.
    reach : int
        Degree of what waves and exponentials are taken of: so often they feel the digits of a large number.
    is_growing : bool
        Whether there are exponentials.
    own : int
        Levels up to here are reached by shift and scale on any path: all of them end there.
    """

    def __init__(self, features: FeatureSet, values: tuple[Any, ...], path: PathName, budget: float) -> None:
        check_choice("path", path, get_args(PathName))
        Budget(budget)
        self.features, self.values, self.path = features, values, path
        with at_digits(_DIGITS):  # SymPy sets the precision of mpmath for some functions
            self.floats = [None if v is None else float(v.evalf(_DIGITS)) for v in values]
        found = recognize_moments(features, 1)
        self.leading = None if found is None else found.of_references(values)
        self.moments = self.leading if self.leading is not None and len(self.leading) > 1 else None
        self.energies = None if path == "narrow" else recognize_quadratic(features)
        self.spans = [(group[0], group[-1] + 1) for group in features.groups]
        self.filter_ndim, self.n_coordinates = features.filter_ndim, len(features.coordinates)
        self.is_of_sets = len(features.symbolic) == len(features) and not (self.filter_ndim or self.n_coordinates)
        self.has_waves = any(f.expr.has(TrigonometricFunction) for f in features.symbolic)
        self.reach, self.is_growing = felt_digits(features)
        ends = set(features.sample.interval)
        self.interval = None if ends == {-oo, oo} else features.sample.interval
        self.in_order, self.borrowed, self.spread = self.moments, list[Borrowed](), list[Borrowed]()
        most = {"auto": 3, "narrow": 2}.get(path, 0) if self.interval is None else 0
        if self.moments is None and self.filter_ndim is None and not self.n_coordinates:
            self.in_order, self.borrowed = in_any_order(features, values, most)
        if most and self.is_of_sets and not (self.energies or self.leading):
            self.spread = about_mean(features, values, most)
        self.borrowed = self.spread + self.borrowed
        self.own = min(len(self.leading), 2) if self.leading is not None else len(self.spread)
        if path == "narrow" and self.leading is None and ends <= {-oo, S.Zero, oo}:
            self.own = self.own or int(is_scaled(features))
        self.feels_no_shift = self.leading is not None
        self._flat: int | None = None
        self._narrow = NarrowRoute(path_of(features), self.in_order)
        self._last = self.spans[-1][0]
        self._first = self.in_order or self.leading
        self._free = features if self.interval is None or self._first is None else on_the_line(
            features, len(self._first))
        self._closed = lru_cache(None)(_closed)
        self.levels: Callable[[int | None, bool, tuple[int, ...]], Levels] = lru_cache(_KEPT)(self._levels)
        self.budget = budget
        if path not in ("auto", "narrow") and not self._is_covered(len(features)):
            self.closed(self._last)  # refused now where there is none; else made when it is needed

    def __reduce__(self) -> tuple[Any, ...]:  # as of a plan
        return Choice, (self.features, self.values, self.path, self.budget)

    def feel_differences(self, grid: tuple[int, ...]) -> bool:
        """Tell whether a level may take the offset of samples on a grid away, or it cancels in some feature."""
        return 0 not in grid and (len(self.spans) > 1 or any(feels_no_offset(f, grid) or about_middles(
            f.expr, f.sample) for f in self.features))

    def feel_no_offset(self, grid: tuple[int, ...]) -> bool:
        """Tell whether no feature feels an offset of samples on a grid; where a mean does, `feels_no_shift` tells."""
        return self._flat_on(grid) == len(self.features)

    def takes_offset(self, level: int) -> bool:
        """Tell whether a closed form on the way to a level takes the offset of samples away: it feels none then."""
        if level == 0 or self.path == "narrow" or self._is_covered(level) or not self.closed(level).motion.undone[0]:
            return False
        return any(self.is_closed(k) for k in range(1, level + 1))

    def _flat_on(self, grid: tuple[int, ...]) -> int:
        """Return how many leading features feel no offset."""
        if 0 in grid:
            return 0
        if self._flat is None:
            self._flat = sum(1 for _ in takewhile(lambda f: feels_no_offset(f, grid), self.features))
        return self._flat

    @cached_property
    def hidden_digits(self) -> int:
        """How many digits the references of moments lose to a mean far above the deviation, and those of energies as
        they lift power elsewhere."""
        if self.energies is not None:
            known = (mpmath.mpmathify(v.evalf(15)) for v in self.values[: len(self.energies)] if v is not None)
            return max((math.ceil(abs(mpmath.log10(abs(v))) / 2) for v in known if v), default=0)
        if self.moments is None or any(v is None for v in self.values[:2]):
            return 0
        mean, deviation = (abs(complex(c)) for c in self.moments.coordinates(self.floats[:2]))
        return len(self.moments) * math.ceil(math.log10(1 + mean / deviation)) if 0 < deviation < math.inf else 0

    @cached_property
    def all_at_once(self) -> MomentRoute | None:
        """The route that has all features at once, as `stats` has them; None where they are no moments, or go another
        way."""
        count, moments = len(self.features), self.leading
        if self.path != "auto" or moments is None or not len(moments) == count <= HIGHEST or self.interval:
            return None
        return MomentRoute(moments, 3 if count > 1 else 1)

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts that the ways rest on; nothing is decided yet."""
        first = self.closed(self._last)
        return Verdicts(self.features, first.motion.steps, self.values, stopped=first.stopped, budget=self.budget)

    def closed(self, level: int) -> Closed:
        """Return the closed forms up to a level; those of the last features are looked for when they are asked for."""
        found = self._closed(self.features, self.values, self.path, self._last)
        is_all = level <= self._last or found.stopped  # what ends before the last features does not go on with them
        return found if is_all else self._closed(self.features, self.values, self.path, len(self.features))

    def level(self, level: int | None) -> int:
        """Return the level that is asked for, by default what comes before the last group.

        One that lacks a reference or a way is refused.
        """
        k = self._last if level is None else level
        if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= self.spans[-1][1]:
            raise InvalidInput(f"level is 0 to {len(self.features)} (or None for {self._last}), got {level!r}")
        if any(value is None for value in self.values[:k]):
            raise InvalidInput(f"feature {k} has no reference value; give {len(self.features)} of them")
        if any(start < k < end for start, end in self.spans):
            raise InvalidInput(f"level {k} is inside a group of features, which are normalized together; "
                               f"levels are {', '.join(str(end) for _, end in self.spans)}")
        for _, end in self.spans:
            if end <= k and self.path != "auto":
                self.is_closed(end)
        return k

    def normalizer(self, level: int) -> Normalizer:
        """Return the closed form of a level, as in `Plan.normalizer`."""
        k = self.level(level)
        if k == 0:
            raise InvalidInput("level 0 changes nothing; closed forms begin with level 1")
        if obstacle := self.obstacle(k):
            raise NoClosedForm(f"level {k}: {obstacle}")
        if spectral := self.spectral(k):
            raise NoClosedForm(f"level {k} is reached in the frequency domain: {spectral.formula}; plan.explain() "
                               "shows it, with its equations")
        return normalizers(first_features(self.features, k), list(self.values[:k]), budget=self.budget)[-1]

    def _levels(self, wanted: int | None, precise: bool, grid: tuple[int, ...]) -> Levels:
        level, known = self.level(wanted), len(self.features.symbolic)
        if precise and (len(self.features) if wanted is None else wanted) > known:
            raise NoClosedForm(f"{self.features[known]} is a black box, known in float64 only: leave dps out, or "
                               f"normalize to levels up to {known}")
        narrow, closed = replace(self._narrow, flat=partial(self._flat_on, grid)), list[tuple[float, Route]]()
        if self.filter_ndim is not None:
            narrow = narrow.on(grid, self.features, precise)
        if self.energies is not None:
            closed.append((len(self.energies), PreciseEnergyRoute(self.energies, grid, self.features) if precise else
                           EnergyRoute(self.energies, grid)))
        own = self.own if precise or self.path != "auto" or self.in_order is None else 3
        if own and not precise and self._first is not None:
            own = min(own, len(self._first))
            closed.append((own, MomentRoute(self._first, own)))
        orbit = list[tuple[float, Route]]()
        if self.path != "narrow" and not self._is_covered(level):
            if self.interval is not None and self._first is not None:
                last = min(level, len(self._first))
                orbit.append((last, OrbitRoute(
                    partial(self._motion, self._free, self.values, self.path, last), self.in_order)))
            orbit.append((math.inf, OrbitRoute(lambda: self.closed(level).motion, self.in_order)))
        elif self.path == "narrow" and own and (precise or self.leading is None):
            orbit.append((own, OrbitRoute(partial(self._motion, self._free, self.values, "auto", self.own))))
        for other in self.borrowed:
            count = other.levels[-1] + other.places.count(None)
            route = MomentRoute(other.coordinates, count) if not precise else OrbitRoute(
                partial(self._motion, other.features, other.values, "auto", count), other.coordinates)
            closed += [(other.levels[0] - 1, before) for _, before in orbit]
            closed.append((other.levels[-1], BorrowedRoute(route, other.places)))
        closed += orbit
        return Levels(closed[0][1] if closed else narrow, closed, narrow,
                      lambda k: k <= own or self.is_borrowed(k) or self.is_closed(k), self.interval)

    def _motion(self, *asked: Any) -> OrbitMotion:
        return self._closed(*asked).motion

    def is_borrowed(self, k: int) -> bool:
        """Tell whether samples end at level k where moments do that are not the features in their order."""
        return any(k in other.levels for other in self.borrowed)

    def _is_covered(self, level: int) -> bool:
        """True iff the frequency domain has all levels up to one, the mean included: no flow is looked for."""
        return self.energies is not None and level <= len(self.energies)

    def spectral(self, k: int) -> SpectralFlow | None:
        """Return how level k is reached in the frequency domain; None where it is not."""
        if self.energies is None or not int(self.energies.mean is not None) < k <= len(self.energies):
            return None
        return SpectralFlow(tuple(self.features)[:k], self.energies.mean is not None)

    def is_closed(self, k: int) -> bool:
        """Return whether level k is reached by a closed form; NoClosedForm where the path asked for needs one."""
        if self.path == "narrow":
            return False
        obstacle = self.obstacle(k)
        if obstacle and self.path != "auto":
            raise NoClosedForm(f'level {k} along path "{self.path}": {obstacle}')
        return not obstacle

    def obstacle(self, k: int) -> str:
        """Say why level k has no closed form; return nothing where it has."""
        if self._is_covered(k):
            return ""
        closed = self.closed(k)
        if k > len(closed.motion.steps):
            return closed.stopped
        sets = {"S": self.verdicts.original, **({"hat S": self.verdicts.modified} if self.path == "broad" else {})}
        for name, decisions in sets.items():
            if k > 1 and (verdict := decisions[k]).status is not Status.PROVED:
                return (f"{name}_{k}, the {'modified ' if name != 'S' else ''}features 1 to {k}, is not proved "
                        f"involutive ({verdict.status.name}: {verdict.reason}), so that no closed form brings all of "
                        "them to their references")
        return ""


def _closed(features: FeatureSet, values: tuple[Any, ...], path: PathName, count: int) -> Closed:
    first = list(features.symbolic)[:count]
    flows, stopped = _flows(first, features) if not features.coordinates else ([], _COORDINATES)
    if not stopped and len(first) < count:
        stopped = f"feature {len(first) + 1}, {features[len(first)]}, is a black box: it has no expression"
    count, steps = _longest(len(flows), "writing features out along flows", lambda n: tuple(make_steps(
        first[:n], [f.expr for f in flows[:n]], list(values[:n]), features.sample)))
    if count < len(flows):
        stopped = f"feature {count + 1}, {first[count]}, was not written out along the flows within {FLOW_BUDGET:g} s"
    steps, flows = steps or (), flows[:count]
    if path != "broad":
        kinds: dict[str, type[OrbitMotion]] = {"relaxed": NestedRoots, "parallel": ConcatenatedFlows}
        return Closed(kinds.get(path, Automatic)(features, steps, flows), stopped)
    count, modified = _longest(len(steps), "writing the modified features out",
                               lambda n: modified_features(features, steps, n))
    if modified is None:
        return Closed(StrictSteps(features, (), ()), stopped)
    flows, why = _flows(list(modified), modified)
    if count < len(steps):
        stopped = (f"the modified feature {count + 1} has no closed formula, level {count} being implicit: the strict "
                   'broad path ends here; path="relaxed" follows the flows of the original features')
    return Closed(StrictSteps(features, steps[: len(flows)], flows), why or stopped)


def _longest(count: int, doing: str, make: Callable[[int], Made | None]) -> tuple[int, Made | None]:
    """Make something of the first features, of fewer where that takes too long: of how many, and what; 0 and None."""
    for n in range(count, 0, -1):
        with suppress(BudgetExceeded), Budget(FLOW_BUDGET).running(doing):
            if (made := make(n)) is not None:
                return n, made
    return 0, None


def _flows(first: list[Feature], features: FeatureSet) -> tuple[list[Flow], str]:
    """Find generators and flows for as many leading features as have them."""
    flows: list[Flow] = []
    for k in range(1, len(first) + 1):
        try:
            field = generators(first[:k], budget=FLOW_BUDGET).fields[-1]
            found = flow(field, sample=features.sample, budget=FLOW_BUDGET)
            if found.expr.has(I):
                raise NoClosedForm(f"the flow of {field} is written with complex numbers, whose rounding is not real")
            flows.append(found)
        except (NoClosedForm, BudgetExceeded) as error:
            return flows, str(error)
    return flows, ""
