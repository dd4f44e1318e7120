"""The power of transforms at the frequencies that are told apart, as loops that `jit` compiles."""

from __future__ import annotations

import math

from symdecouple.numeric.samples.batch import FloatArray, IntArray

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
        Power of which the same part is none.
    rounding : float
        Power up to this part of the largest one, that at frequency zero aside, is none.
    out : array (R, S, n)
    bits : int array (R, S, n)
        The same memory: numbers that are not negative have the order of their bits.
    log_power : array (R,)
        Gets logarithms of the sums.
    silent : int array (R,)
        Gets how many shares are 0.
    """
    (count, lines, n), inside, least, most = out.shape, (n_samples + 1) // 2, math.inf, 0.0
    for r in range(count):
        transform, shares, total, active, top, at = transforms[r], out[r], 0.0, 0, 0, 0
        largest = ceiling[r] if len(ceiling) > 0 else 0.0
        for s in range(lines):
            into = shares[s]
            for t in range(n):
                into[t] = 0.0
        for k in range(len(transform)):
            line, into = transform[k], shares[index[k]]
            for t in range(n):
                into[t] += line[2 * t] * line[2 * t] + line[2 * t + 1] * line[2 * t + 1]
        at_zero, shares[0, 0] = shares[0, 0], 0.0  # the mean is taken out of transforms: no rounding of it is in them
        for s in range(lines):
            into = shares[s]
            for t in range(1, inside):
                into[t] *= 2
            here = _top(bits[r, s])
            if here > top:
                top, at = here, s
        for t in range(n):
            largest = max(largest, shares[at, t])
        largest = max(largest, at_zero) if at_zero == math.inf else largest
        shares[0, 0] = at_zero
        for s in range(lines):
            part, some = _cut(shares[s], rounding * largest)
            total += part
            active += some
        share = 1.0 / total if total > 0 else 1.0
        for s in range(lines):
            into = shares[s]
            for t in range(n):
                into[t] *= share
        least, most, silent[r] = min(least, total), max(most, total), lines * n - active
        log_power[r] = math.log(total) + log_unit if total > 0 else -math.inf
    return least, most


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
