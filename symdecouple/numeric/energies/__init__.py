"""Quadratic features that commute: convex problems over the power spectrum, level by level."""

from symdecouple.numeric.energies.normalization import Energies, EnergyLevel

__all__ = ["Energies", "EnergyLevel"]
