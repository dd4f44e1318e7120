"""Ordinary differential equations for many vectors at once, each with its own steps."""

from symdecouple.numeric.runge_kutta.integration import Path, Step, integrate, pull_back

__all__ = ["Path", "Step", "integrate", "pull_back"]
