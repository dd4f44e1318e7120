"""Slices of the experiments that recompute the source, beside straightforward code for the same numbers.

"by hand" moves one sample at a time along the gradient of one feature after the other, projected by least squares, with
`scipy.integrate.solve_ivp`, to a relative tolerance of 1e-6, as a user would write it from the paper; gradients are
central differences of that, of which a few entries are taken and the time multiplied. "apart" is how far its features
are from ours, relative to the largest. Times are CPU seconds of one sample.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks reproduction
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from benchmarks.filter_moments import BANDS, HAND_ORDERS, HAND_SIDE, output, standardized
from symdecouple import decouple, families
from symdecouple.analysis import orthogonality
from symdecouple.numeric.features import bank
from symdecouple.numeric.moments import moment_path_kernel
from symdecouple.stats import decoupled_moments

Array = NDArray[np.float64]
Fields = Callable[[Array, int], tuple[float, Array]]  # the value of a feature at a sample, and N times its gradient

TOLERANCE = 1e-6
ENTRIES = 4  # of a gradient by differences


def by_hand(fields: Fields, targets: list[float], y: Array) -> Array:
    """Decoupled features of one sample: the value of each where those before it have their references."""
    found = []
    for k, target in enumerate(targets):
        begin = fields(y, k)[0]
        found.append(begin)

        def slope(_: float, y: Array, k: int = k, distance: float = target - begin) -> Array:
            gradients = [fields(y, j)[1] for j in range(k + 1)]
            before = np.array(gradients[:-1]).reshape(k, y.size).T
            across = gradients[-1] - before @ np.linalg.lstsq(before, gradients[-1], rcond=None)[0]
            return np.asarray(distance * across / (across @ gradients[-1] / y.size))

        if k < len(targets) - 1:
            y = solve_ivp(slope, (0, 1), y, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:, -1]
    return np.array(found)


def moment(y: Array, k: int) -> tuple[float, Array]:
    return float(np.mean(y ** (k + 1))), (k + 1) * y**k


def band_moment(y: Array, k: int) -> tuple[float, Array]:
    order, band = HAND_ORDERS[k // len(BANDS)], BANDS[k % len(BANDS)]
    image = y.reshape(HAND_SIDE, HAND_SIDE)
    values = output(image, band)
    return float(np.mean(values**order)), order * output(values ** (order - 1), band, -1).ravel()


def normal_moments(order: int) -> list[float]:
    return [float(np.prod(np.arange(k - 1, 0, -2))) if k % 2 == 0 else 0.0 for k in range(1, order + 1)]


def cpu(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def row(name: str, ours: tuple[float, Any], hand: tuple[float, Any], times: float = 1.0) -> None:
    spent = hand[0] * times
    apart = np.abs(np.ravel(hand[1]) - np.ravel(ours[1])).max() / np.abs(ours[1]).max()
    print(f"{name:58}{ours[0]:10.4f}{spent:10.2f}{spent / ours[0]:8.0f}{apart:10.1e}", flush=True)


def main() -> None:
    for kernels in (moment_path_kernel, bank):
        if not kernels.KERNELS.are_warm():
            kernels.warm()
    rng = np.random.default_rng(1)
    print(f"{'':58}{'ours':>10}{'by hand':>10}{'ratio':>8}{'apart':>10}")
    for name, order, count, size in (("regression: moments to 6, N = 512", 6, 256, 512),
                                     ("textures-marginal: moments to 10, N = 4096", 10, 64, 4096)):
        vectors = rng.gamma(4.0, size=(count, size))
        unit = (vectors - vectors.mean(axis=1, keepdims=True)) / vectors.std(axis=1, keepdims=True)
        decoupled_moments(unit, order, axis=1)
        spent, found = cpu(partial(decoupled_moments, unit, order, axis=1))
        row(name, (spent / count, found[0]), cpu(partial(by_hand, moment, normal_moments(order), unit[0])))
    plan = decouple(families.filter_moments(families.tils(), HAND_ORDERS))
    image = standardized(rng.standard_normal((1, HAND_SIDE, HAND_SIDE)))[0]
    targets = [float(value or 0) for value in plan.reference]
    plan.transform(image)
    row(f"textures-joint: {len(targets)} moments of bands, {HAND_SIDE} x {HAND_SIDE}",
        cpu(lambda: plan.transform(image)), cpu(lambda: by_hand(band_moment, targets, image.ravel())))
    plan = decouple(families.standardized_moments(6))
    vectors = rng.standard_normal((32, 512))
    orthogonality(plan, vectors)
    spent, _ = cpu(lambda: orthogonality(plan, vectors))
    gradients = np.asarray(plan.gradients(vectors[0]))
    steps = 1e-3 * np.eye(512)[:ENTRIES]

    def differences() -> Array:
        pairs = [[by_hand(moment, normal_moments(6), vectors[0] + sign * step) for sign in (1, -1)] for step in steps]
        return np.array([(up - down) / 2e-3 for up, down in pairs]).T

    row("orthogonality: gradients of moments to 6, N = 512", (spent / len(vectors), gradients[:, :ENTRIES]),
        cpu(differences), 512 / ENTRIES)


if __name__ == "__main__":
    main()
