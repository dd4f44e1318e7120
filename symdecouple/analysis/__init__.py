"""Questions about a plan: how far from orthogonal its gradients are."""

from symdecouple.analysis.deviations import Deviations
from symdecouple.analysis.orthogonality import Orthogonality, orthogonality

__all__ = ["Deviations", "Orthogonality", "orthogonality"]
