"""Questions about a plan: how far from orthogonal its gradients are, where they are critical; and distributions."""

from symdecouple.analysis.critical_point import CriticalPoint, CriticalPoints
from symdecouple.analysis.critical_points import critical_points
from symdecouple.analysis.deviations import Deviations
from symdecouple.analysis.discriminability import Discriminability, discriminability, local_covariance
from symdecouple.analysis.discriminability_gaussian import GaussianClasses
from symdecouple.analysis.enclosures import Enclosure, enclose
from symdecouple.analysis.orthogonality import Orthogonality, orthogonality
from symdecouple.analysis.population_law import Density
from symdecouple.analysis.populations import Population, population
from symdecouple.numeric.perturbation import (
    Perturbed,
    both_perturbations,
    quantisation_step,
    ramp_perturbation,
    spectral_perturbation,
)

__all__ = [
    "CriticalPoint",
    "CriticalPoints",
    "Density",
    "Deviations",
    "Discriminability",
    "Enclosure",
    "GaussianClasses",
    "Orthogonality",
    "Perturbed",
    "Population",
    "both_perturbations",
    "critical_points",
    "discriminability",
    "enclose",
    "local_covariance",
    "orthogonality",
    "population",
    "quantisation_step",
    "ramp_perturbation",
    "spectral_perturbation",
]
