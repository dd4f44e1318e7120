"""Questions about a plan: how far from orthogonal its gradients are, where they are critical, what distributions have;
perturbations; and the question before any plan, which features can be decoupled in which order."""

from typing import TYPE_CHECKING

from symdecouple.analysis.angles.deviations import Deviations
from symdecouple.analysis.critical.point import CriticalPoint, CriticalPoints
from symdecouple.analysis.critical_points import critical_points
from symdecouple.analysis.discriminability import (
    Discriminability,
    discriminability,
    gradient_covariance,
    local_covariance,
)
from symdecouple.analysis.discrimination.gaussian import GaussianClasses
from symdecouple.analysis.discrimination.scatter import draw_scatter
from symdecouple.analysis.enclosures import Enclosure, enclose
from symdecouple.analysis.explained import Explained, explain
from symdecouple.analysis.exploration.chain import Chain
from symdecouple.analysis.exploration.measured import MeasuredOrder
from symdecouple.analysis.exploration.orders import ModifiedSet
from symdecouple.analysis.exploration.sets import ExploredSet
from symdecouple.analysis.flow_lines import draw_flow_lines, draw_path
from symdecouple.analysis.orthogonality import Orthogonality, orthogonality
from symdecouple.analysis.planner import Exploration, explore
from symdecouple.analysis.population.law import Density
from symdecouple.analysis.populations import Population, population
from symdecouple.analysis.spectrum_picture import draw_spectrum
from symdecouple.analysis.spheres import draw_spheres
from symdecouple.names import unknown_name
from symdecouple.numeric.perturbation import (
    Perturbed,
    both_perturbations,
    quantisation_step,
    ramp_perturbation,
    spectral_perturbation,
)

__all__ = [
    "Chain",
    "CriticalPoint",
    "CriticalPoints",
    "Density",
    "Deviations",
    "Discriminability",
    "Enclosure",
    "Explained",
    "Exploration",
    "ExploredSet",
    "GaussianClasses",
    "MeasuredOrder",
    "ModifiedSet",
    "Orthogonality",
    "Perturbed",
    "Population",
    "both_perturbations",
    "critical_points",
    "discriminability",
    "draw_flow_lines",
    "draw_path",
    "draw_scatter",
    "draw_spectrum",
    "draw_spheres",
    "enclose",
    "explain",
    "explore",
    "gradient_covariance",
    "local_covariance",
    "orthogonality",
    "population",
    "quantisation_step",
    "ramp_perturbation",
    "spectral_perturbation",
]

if not TYPE_CHECKING:  # for type checkers a name that is not here stays an error

    def __getattr__(name: str) -> object:
        raise unknown_name(__name__, name)
