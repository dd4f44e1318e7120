"""The power of one transform at the frequencies that are told apart, as loops that `jit` compiles."""

from __future__ import annotations

from symdecouple.numeric.batch import FloatArray, IntArray

__all__ = ["FAST", "power_of"]

FAST = ("_cut",)  # sums in any order


def power_of(transform: FloatArray, index: IntArray, n_samples: int, ceiling: float, rounding: float,
             out: FloatArray, bits: IntArray) -> float:
    """Write the shares of the power, 0 where it is rounding, and return its sum.

    Parameters
    ----------
    transform : array (K, 2 n)
        Real and imaginary parts, the last axis halved.
    index : int array (K,)
        The row of `out` to which each line adds.
    n_samples : int
        Along the last axis.
    ceiling : float
        Power that was there before.
    rounding : float
        Power up to this part of the largest one is none.
    out : array (S, n)
    bits : int array (S, n)
        The same memory: numbers that are not negative have the order of their bits.
    """
    n, inside, largest, total, top, at = out.shape[1], (n_samples + 1) // 2, ceiling, 0.0, 0, 0
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
        total += _cut(out[s], rounding * largest)
    share = 1.0 / total if total > 0 else 1.0
    for s in range(len(out)):
        into = out[s]
        for t in range(n):
            into[t] *= share
    return total


def _top(bits: IntArray) -> int:
    top = 0
    for t in range(len(bits)):
        top = max(top, bits[t])
    return top


def _cut(line: FloatArray, floor: float) -> float:
    """Drop what is no larger, and add up the rest."""
    total = 0.0
    for t in range(len(line)):
        kept = line[t] if line[t] > floor else 0.0
        line[t] = kept
        total += kept
    return total
