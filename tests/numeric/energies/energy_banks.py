"""Filter banks and signals for tests of energies, written down from their definitions."""

from __future__ import annotations

import numpy as np

from symdecouple.numeric.energies.cone import Membership, cone_membership_of
from symdecouple.numeric.energies.eigenvalues import Columns

TAPS = [np.array([1, 1, 1]) / 3, np.array([-1, 0, 1]) / 6**0.5, np.array([-1, 2, -1]) / 18**0.5]  # l, m, h
SQUARE = np.array([[1.0, 1, -1, -1], [1, -1, 1, -1], [1, 1, 1, 1]])  # the cone over a square, by its rays


def kernels() -> list[np.ndarray]:
    """The nine tensor products of the TILs bank, low first, each over its norm."""
    products = [np.outer(rows, columns) for rows in TAPS for columns in TAPS]
    return [kernel / np.linalg.norm(kernel) for kernel in products]


def responses(taps: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Squared responses on the frequencies of rfftn, of kernels that start at the origin."""
    out = []
    for kernel in taps:
        padded = np.zeros(shape)
        padded[tuple(slice(0, n) for n in kernel.shape)] = kernel
        out.append(np.abs(np.fft.rfftn(padded)) ** 2)
    return np.array(out)


def convolved(signal: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Circular convolution, tap by tap."""
    out = np.zeros_like(signal)
    for lag in np.ndindex(*kernel.shape):
        out += kernel[lag] * np.roll(signal, lag, axis=tuple(range(signal.ndim)))
    return out


def pictures(n: int = 32) -> dict[str, np.ndarray]:
    """Images that lack frequencies, and some that do not."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:n, :n]
    delta = np.zeros((n, n))
    delta[0, 0] = 1
    return {
        "constant": np.full((n, n), 7.3),
        "black": np.zeros((n, n)),
        "delta": delta,
        "checkerboard": ((x + y) % 2).astype(float),
        "stripes": np.cos(2 * np.pi * 5 * x / n) + 0.3,
        "square wave": (x // (n // 4) % 2).astype(float),
        "ramp": x + 0.0,
        "sinusoid": np.sin(2 * np.pi * (3 * x + 5 * y) / n),
        "levels": rng.integers(0, 256, (n, n)).astype(float),
    }


def cone_membership(rows: np.ndarray, target: np.ndarray) -> Membership:
    """Where a vector lies with respect to the cone of columns."""
    return cone_membership_of(Columns(rows, rows.shape[1:]), slice(None), slice(None), target)
