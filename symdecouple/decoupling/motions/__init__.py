"""Samples moved along flows: one level, several at once, with their derivatives."""
