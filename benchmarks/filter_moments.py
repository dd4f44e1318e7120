"""Forty-five moments at the outputs of nine bands, orders 2 to 6, decoupled on 64x64 patches: seconds a patch.

"one" is a patch by itself, "batch" is all of them at once, a patch, on all cores; "cpu" is the time of one core that a
patch of the batch takes. With the plates of Brodatz in a folder, 20 patches of them follow, and how many were refused.

"by hand" is the projected gradient by least squares, `numpy.linalg.lstsq`, in `scipy.integrate.solve_ivp` with DOP853
to rtol 1e-9, level by level: on a patch of 24x24 numbers and orders 2 to 4, where that takes seconds; a slope with k
features of N numbers costs k^2 N. "distance" is how far its features are apart from ours, relative to the largest.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.filter_moments --data FOLDER --by-hand
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
from symdecouple.numeric.features import bank

Array = NDArray[np.float64]
SIDE, ORDERS = 64, (2, 3, 4, 5, 6)
HAND_SIDE, HAND_ORDERS = 24, (2, 3, 4)
TAPS = [np.array(taps) / np.linalg.norm(taps) for taps in ([1.0, 1, 1], [-1.0, 0, 1], [-1.0, 2, -1])]
BANDS = [(a, b) for a in TAPS for b in TAPS]


def standardized(images: Array) -> Array:
    centred = images - images.mean(axis=(1, 2), keepdims=True)
    return np.asarray(centred / centred.std(axis=(1, 2), keepdims=True))


def output(image: Array, band: tuple[Array, Array], turned: int = 1) -> Array:
    along = convolve1d(image, band[0][::turned], 0, mode="wrap")
    return np.asarray(convolve1d(along, band[1][::turned], 1, mode="wrap"))


def by_hand(image: Array, targets: Array, powers: NDArray[np.intp]) -> Array:
    """Decoupled features along the projected gradients."""
    found, y = [], image.ravel()
    for k in range(len(powers)):

        def gradients(y: Array, k: int = k) -> Array:
            bands = [output(y.reshape(image.shape), band) for band in BANDS]
            return np.array([p * output(bands[j % 9] ** (p - 1), BANDS[j % 9], -1).ravel()
                             for j, p in enumerate(powers[: k + 1])])

        begin = float(np.mean(output(y.reshape(image.shape), BANDS[k % 9]) ** powers[k]))
        found.append(begin)

        def slope(_: float, y: Array, distance: float = targets[k] - begin, gradients: Any = gradients) -> Array:
            fields = gradients(y)
            across = fields[-1] - fields[:-1].T @ np.linalg.lstsq(fields[:-1].T, fields[-1], rcond=None)[0]
            return np.asarray(distance * across / (across @ fields[-1] / y.size))

        if k < len(powers) - 1:
            y = solve_ivp(slope, (0, 1), y, method="DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    return np.array(found)


def plates(folder: Path, count: int) -> Array:
    from PIL import Image

    names = sorted(folder.glob("D*.png"))[:count]
    return np.array([np.asarray(Image.open(name), dtype=float)[300:364, 300:364] for name in names])


def row(name: str, plan: Any, images: Array) -> None:
    start = time.perf_counter()
    plan.transform(images[:1], on_refusal="return")
    one = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    _, outcomes = plan.transform(images, on_refusal="return")
    batch, cpu = (time.perf_counter() - start) / len(images), (time.process_time() - cpu) / len(images)
    refused = sum(not outcome.ok for outcome in outcomes)
    print(f"{name:>10}{len(images):9d}{one:9.2f}s{batch:9.2f}s{cpu:9.2f}s{refused:9d}", flush=True)


def beside_by_hand() -> None:
    plan = decouple(families.filter_moments(families.tils(), HAND_ORDERS))
    image = standardized(np.random.default_rng(1).normal(size=(1, HAND_SIDE, HAND_SIDE)))[0]
    plan.transform(image)
    start = time.perf_counter()
    values = plan.transform(image)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    other = by_hand(image, np.array([float(v or 0) for v in plan.reference]), np.repeat(HAND_ORDERS, len(BANDS)))
    spent = time.perf_counter() - start
    apart = np.abs(other - values).max() / np.abs(other).max()
    print(f"\n{HAND_SIDE}x{HAND_SIDE}, orders {HAND_ORDERS}: ours {ours:.2f} s, by hand {spent:.1f} s, "
          f"{spent / ours:.0f} times as long, distance {apart:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of the plates D001.png, ...")
    parser.add_argument("--patches", type=int, default=20)
    parser.add_argument("--by-hand", action="store_true", help="some seconds more")
    asked = parser.parse_args()
    if not bank.KERNELS.are_warm():
        bank.warm()
    plan = decouple(families.filter_moments(families.tils(), ORDERS))
    noise = standardized(np.random.default_rng(1).normal(size=(8, SIDE, SIDE)))
    plan.transform(noise[0])
    print(f"{'image':>10}{'patches':>9}{'one':>10}{'batch':>10}{'cpu':>10}{'refused':>9}")
    row("noise", plan, noise)
    if asked.data is not None:
        row("plates", plan, standardized(plates(asked.data, asked.patches)))
    if asked.by_hand:
        beside_by_hand()


if __name__ == "__main__":
    main()
