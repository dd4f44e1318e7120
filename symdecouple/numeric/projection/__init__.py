"""Gradients projected off each other, by Gram-Schmidt or by their inner products."""
