"""Nine filter energies of an image, all levels and all gradients, beside the Fourier transform of the same image.

The unit is one `scipy.fft.rfft2` of the image, measured beside each row, both in time of this thread: the smallest of
many runs. "decouple" gives all nine decoupled energies; "gradients" are all nine as images, at least one transform
each. "by hand" is the projected gradient flow through `scipy.integrate.solve_ivp`, level by level, with transforms
inside, to rtol 1e-9. After `symdecouple compile`, images from 64 x 64 on are solved compiled;
without, by NumPy. "memory" is what Python allocates in a call at most beyond the input, over the input: of "decouple",
of the gradients, of "level 9".

    OPENBLAS_NUM_THREADS=1 python -m benchmarks energies
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.ndimage import gaussian_filter

from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies

Array = NDArray[np.float64]
TAPS = [np.array([1, 1, 1]) / 3, np.array([-1, 0, 1]) / 6**0.5, np.array([-1, 2, -1]) / 18**0.5]


def tils(n: int) -> Array:
    """Squared responses of the nine bands, kernels of energy 1."""
    angle = 2 * np.pi * np.arange(n) / n
    waves = np.exp(-1j * np.outer(np.arange(3), angle))
    gains = [np.abs(taps @ waves) ** 2 / (taps @ taps) for taps in TAPS]
    return np.array([np.outer(a, b)[:, : n // 2 + 1] for a in gains for b in gains])


def image(kind: str, n: int) -> Array:
    noise = np.random.default_rng(1).normal(size=(n, n))
    if kind == "smooth":
        noise = gaussian_filter(noise, 1.5, mode="wrap")
        return np.asarray(np.round(128 + 40 * noise / noise.std()))
    if kind == "texture":  # amplitudes as of photographs, in 256 steps, standardized as patches are: no mean
        frequency = np.hypot(np.fft.fftfreq(n)[:, None], np.fft.rfftfreq(n))
        frequency[0, 0] = np.inf
        noise = np.fft.irfft2(np.fft.rfft2(noise) / frequency, s=(n, n))
        noise = np.round(128 + 40 * noise / noise.std())
        return np.asarray((noise - noise.mean()) / noise.std())
    return noise


def by_hand(picture: Array, responses: Array, targets: Array) -> Array:
    """The narrow path of the energies, without closed forms."""
    n = picture.size
    shape = picture.shape
    y = picture.ravel()
    for k in range(len(targets)):

        def gradients(y: Array, k: int = k) -> Array:
            spectrum = scipy.fft.rfft2(y.reshape(shape)) * responses[: k + 1]
            return np.asarray(scipy.fft.irfft2(spectrum, s=shape)).reshape(k + 1, n) * 2 / n

        distance = targets[k] - float(gradients(y)[k] @ y) / 2

        def slope(_: float, y: Array, distance: float = distance, gradients: Any = gradients) -> Array:
            found = gradients(y)
            basis = np.linalg.qr(found[:-1].T)[0]
            across = found[-1] - basis @ (basis.T @ found[-1])
            return np.asarray(distance * across / (across @ found[-1]))

        y = solve_ivp(slope, (0, 1), y, method="DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    return y


def seconds(function: Callable[[], Any], times: int) -> tuple[float, Any]:
    spent = []
    for _ in range(times):
        start = time.thread_time()
        result = function()
        spent.append(time.thread_time() - start)
    return min(spent), result


def memory(function: Callable[[], Any], size: int) -> float:
    """The peak of a call beyond what is there, over so many float64 numbers."""
    tracemalloc.start()
    result = function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak / (8 * size)


def main() -> None:
    print(f"{'image':>14}{'rfft2':>12}{'decouple':>10}{'gradients':>10}{'level 9':>9}{'by hand':>9}"
          f"{'distance':>10}{'memory':>17}")
    for n in (64, 256, 512, 1024):
        responses = tils(n)
        energies = Energies(Bands(responses, (n, n)))
        targets = np.ones(9)
        for kind in ("white", "smooth", "texture"):
            picture = image(kind, n)
            row = picture.reshape(1, -1)
            times = 9 if n > 256 else 41
            energies.decouple(row, targets)
            unit, _ = seconds(partial(scipy.fft.rfft2, picture), times)
            all_levels, found = seconds(partial(energies.decouple, row, targets), times)
            gradients, _ = seconds(found.gradients, times)
            top, level = seconds(partial(energies.normalize, row, targets), times)
            hand, apart = np.nan, np.nan
            peaks = [memory(partial(energies.decouple, row, targets), n * n), memory(found.gradients, n * n),
                     memory(partial(energies.normalize, row, targets), n * n)]
            if n == 64 and kind == "white":
                hand, other = seconds(partial(by_hand, picture, responses, targets), 1)
                apart = float(np.abs(other - level.values[0]).max())
            print(f"{kind:>7}{n:>7}{unit * 1e3:10.3f}ms" + "".join(f"{t / unit:10.1f}" for t in (
                all_levels, gradients)) + f"{top / unit:9.1f}{hand / unit:9.0f}{apart:10.1e}"
                + "".join(f"{x:7.2f}" for x in peaks), flush=True)


if __name__ == "__main__":
    main()
