"""Forty-five moments at the outputs of nine bands, orders 2 to 6, decoupled on 64x64 patches: seconds a patch.

"one" is a patch by itself, "batch" is all of them at once, a patch, on all cores. "by hand" is the projected gradient
by least squares, `numpy.linalg.lstsq`, in `scipy.integrate.solve_ivp` with DOP853 to rtol 1e-9, level by level, on the
noise; "distance" is how far its features are apart, relative to the largest. With the plates of Brodatz in a folder,
20 patches of them follow, and how many were refused.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.filter_moments --data FOLDER
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.ndimage import convolve1d

from symdecouple import decouple, families
from symdecouple.numeric import bank_rows, gram

Array = NDArray[np.float64]
SIDE, ORDERS = 64, (2, 3, 4, 5, 6)
TAPS = [np.array(taps) / np.linalg.norm(taps) for taps in ([1.0, 1, 1], [-1.0, 0, 1], [-1.0, 2, -1])]
BANDS = [(a, b) for a in TAPS for b in TAPS]
POWERS = np.repeat(ORDERS, len(BANDS))


def standardized(images: Array) -> Array:
    centred = images - images.mean(axis=(1, 2), keepdims=True)
    return np.asarray(centred / centred.std(axis=(1, 2), keepdims=True))


def output(image: Array, band: tuple[Array, Array], turned: int = 1) -> Array:
    along = convolve1d(image, band[0][::turned], 0, mode="wrap")
    return np.asarray(convolve1d(along, band[1][::turned], 1, mode="wrap"))


def by_hand(image: Array, targets: Array) -> Array:
    """Decoupled features along the projected gradients."""
    found, y = [], image.ravel()
    for k in range(len(POWERS)):

        def gradients(y: Array, k: int = k) -> Array:
            bands = [output(y.reshape(image.shape), band) for band in BANDS]
            return np.array([p * output(bands[j % 9] ** (p - 1), BANDS[j % 9], -1).ravel()
                             for j, p in enumerate(POWERS[: k + 1])])

        begin = float(np.mean(output(y.reshape(image.shape), BANDS[k % 9]) ** POWERS[k]))
        found.append(begin)

        def slope(_: float, y: Array, distance: float = targets[k] - begin, gradients: Any = gradients) -> Array:
            fields = gradients(y)
            across = fields[-1] - fields[:-1].T @ np.linalg.lstsq(fields[:-1].T, fields[-1], rcond=None)[0]
            return np.asarray(distance * across / (across @ fields[-1] / y.size))

        if k < len(POWERS) - 1:
            y = solve_ivp(slope, (0, 1), y, method="DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    return np.array(found)


def plates(folder: Path, count: int) -> Array:
    from PIL import Image

    names = sorted(folder.glob("D*.png"))[:count]
    return np.array([np.asarray(Image.open(name), dtype=float)[300:364, 300:364] for name in names])


def row(name: str, plan: Any, images: Array) -> tuple[float, Array]:
    start = time.perf_counter()
    values, _ = plan.transform(images[:1], on_refusal="return")
    one = time.perf_counter() - start
    start = time.perf_counter()
    _, outcomes = plan.transform(images, on_refusal="return")
    batch = (time.perf_counter() - start) / len(images)
    refused = sum(not outcome.ok for outcome in outcomes)
    print(f"{name:>10}{len(images):9d}{one:9.2f}s{batch:9.2f}s{refused:9d}", flush=True)
    return one, values[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of the plates D001.png, ...")
    parser.add_argument("--patches", type=int, default=20)
    parser.add_argument("--by-hand", action="store_true", help="minutes")
    asked = parser.parse_args()
    for module in (bank_rows, gram):
        if not module.KERNELS.are_warm():
            module.warm()
    plan = decouple(families.filter_moments(families.tils(), ORDERS))
    noise = standardized(np.random.default_rng(1).normal(size=(8, SIDE, SIDE)))
    plan.transform(noise[0])
    print(f"{'image':>10}{'patches':>9}{'one':>10}{'batch':>10}{'refused':>9}")
    one, values = row("noise", plan, noise)
    if asked.data is not None:
        row("plates", plan, standardized(plates(asked.data, asked.patches)))
    if asked.by_hand:
        start = time.perf_counter()
        other = by_hand(noise[0], np.array([float(v or 0) for v in plan.reference]))
        spent = time.perf_counter() - start
        apart = np.abs(other - values).max() / np.abs(other).max()
        print(f"   by hand: {spent:.1f} s, {spent / one:.0f} times as long, distance {apart:.1e}")


if __name__ == "__main__":
    main()
