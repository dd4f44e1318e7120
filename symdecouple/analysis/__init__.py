"""Questions about a plan: how far from orthogonal its gradients are; and perturbations of degenerate samples."""

from symdecouple.analysis.deviations import Deviations
from symdecouple.analysis.orthogonality import Orthogonality, orthogonality
from symdecouple.numeric.perturbation import (
    Perturbed,
    both_perturbations,
    quantisation_step,
    ramp_perturbation,
    spectral_perturbation,
)

__all__ = [
    "Deviations",
    "Orthogonality",
    "Perturbed",
    "both_perturbations",
    "orthogonality",
    "quantisation_step",
    "ramp_perturbation",
    "spectral_perturbation",
]
