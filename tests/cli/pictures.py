"""Pictures in files for tests of ``symdecouple transfer``, and what mean and variance make of them."""

from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli import main

Image = pytest.importorskip("PIL.Image")

TWO = ("--features", "moments:2")
SHARED = (*TWO, "--reference", "gaussian")  # one plan for all pictures, decided once
ARRAYS = ("a.npy", "b.npy")  # names of files
LUMA = np.array([0.299, 0.587, 0.114])


def levels(seed: int, *shape: int, low: int = 90, high: int = 160) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape)


def saved(path: Path, values: np.ndarray, dtype: str = "uint8") -> str:
    """A picture by Pillow, or an NPY array."""
    if path.suffix == ".npy":
        np.save(path, values)
    else:
        Image.fromarray(values.astype(dtype)).save(path)
    return str(path)


def loaded(path: Path) -> np.ndarray:
    if path.suffix == ".npy":
        return np.asarray(np.load(path))
    with Image.open(path) as image:
        return np.asarray(image).astype(float)


def moved(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Mean and variance of the target by the affine map that has them: the oracle for moments:2."""
    source = np.asarray(source, float)
    return np.asarray((source - source.mean()) / source.std() * np.std(target) + np.mean(target))


def transfer(*arguments: str) -> int:
    return main(["transfer", *arguments])
