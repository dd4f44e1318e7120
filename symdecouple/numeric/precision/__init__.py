"""The narrow path, its gradients and the convex problems to any number of digits."""

from symdecouple.numeric.precision.path import PreciseImposed, Track, follow_mp

__all__ = ["PreciseImposed", "Track", "follow_mp"]
