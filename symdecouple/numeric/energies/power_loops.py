"""The power of transforms at the frequencies that are told apart, as loops that `jit` compiles."""

from __future__ import annotations

import math

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["FAST", "powers_of"]

FAST = ("_cut",)  # sums in any order


def powers_of(transforms: FloatArray, index: IntArray, n_samples: int, log_unit: float, ceiling: FloatArray,
              rounding: float, out: FloatArray, bits: IntArray, log_power: FloatArray, silent: IntArray
              ) -> tuple[float, float]:
    """Write the shares of the power, 0 where it is rounding, and return the smallest and the largest sum.

    Where squares overflow there are no shares, and the sum is 0.

    Parameters
    ----------
    transforms : array (R, K, 2 n)
        Real and imaginary parts, the last axis halved.
    index : int array (K,)
        The row of `out` to which each line adds.
    n_samples : int
        Along the last axis.
    log_unit : float
        Added to logarithms of the sums.
    ceiling : float array, (R,) or (0,)
        Power that was there before.
    rounding : float
        Power up to this part of the largest one is none.
    out : array (R, S, n)
    bits : int array (R, S, n)
        The same memory: numbers that are not negative have the order of their bits.
    log_power : array (R,)
        Gets logarithms of the sums.
    silent : int array (R,)
        Gets how many shares are 0.
    """
    least, most = math.inf, 0.0
    for r in range(len(out)):
        before = ceiling[r] if len(ceiling) > 0 else 0.0
        total, active = _power_of(transforms[r], index, n_samples, before, rounding, out[r], bits[r])
        least, most = min(least, total), max(most, total)
        log_power[r] = math.log(total) + log_unit if total > 0 else -math.inf
        silent[r] = out.shape[1] * out.shape[2] - active
    return least, most


def _power_of(transform: FloatArray, index: IntArray, n_samples: int, ceiling: float, rounding: float,
              out: FloatArray, bits: IntArray) -> tuple[float, int]:
    """The same for one signal; returns the sum, and how many shares are not 0."""
    n, inside, largest, total, active, top, at = out.shape[1], (n_samples + 1) // 2, ceiling, 0.0, 0, 0, 0
    for s in range(len(out)):
        into = out[s]
        for t in range(n):
            into[t] = 0.0
    for k in range(len(transform)):
        line, into = transform[k], out[index[k]]
        for t in range(n):
            into[t] += line[2 * t] * line[2 * t] + line[2 * t + 1] * line[2 * t + 1]
    for s in range(len(out)):
        into = out[s]
        for t in range(1, inside):
            into[t] *= 2
        here = _top(bits[s])
        if here > top:
            top, at = here, s
    for t in range(n):
        largest = max(largest, out[at, t])
    for s in range(len(out)):
        part, count = _cut(out[s], rounding * largest)
        total += part
        active += count
    share = 1.0 / total if total > 0 else 1.0
    for s in range(len(out)):
        into = out[s]
        for t in range(n):
            into[t] *= share
    return total, active


def _top(bits: IntArray) -> int:
    top = 0
    for t in range(len(bits)):
        top = max(top, bits[t])
    return top


def _cut(line: FloatArray, floor: float) -> tuple[float, int]:
    """Drop what is no larger; add up the rest, and count it."""
    total, active = 0.0, 0
    for t in range(len(line)):
        kept = line[t] if line[t] > floor else 0.0
        active += 1 if line[t] > floor else 0
        line[t] = kept
        total += kept
    return total, active
