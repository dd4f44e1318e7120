"""Loops over many fields of one sample that `jit` compiles: their inner products, and projections by these.

A matrix product does the same, but what lies around it is dozens of calls on rows of a few thousand numbers, which two
threads cannot make at once, and its own threads wait for each other. Columns are treated one like the other: entries
that are tied in all fields stay tied.
"""

from __future__ import annotations

from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["CLEAR", "FAST", "across", "combined", "factored", "last_direction", "least_move", "products_with"]

FAST = ("_products_of_four", "_products_in_four", "_inner_of_four", "_inner")  # sums in any order

_BLOCK = 704  # columns that stay in the first cache, a few fields at a time
CLEAR = 2.0**-7  # of the least pivot squared times what is left: one projection leaves some 1e-12 of rounding at most


def last_direction(fields: FloatArray, sure: float, factor: FloatArray, lengths: FloatArray, shares: FloatArray,
                   rest: FloatArray) -> float:
    """Write the part of the last field across the others to `rest`, at length 1; return its length, 0 if not sure.

    `factor` is (m, m), `lengths` and `shares` are (m,), m a multiple of 4 from the number of fields on.
    """
    if not factored(fields, sure, factor, lengths):
        return 0.0
    return across(fields, sure, CLEAR, factor, lengths, shares, rest)


def least_move(fields: FloatArray, sure: float, gaps: FloatArray, factor: FloatArray, lengths: FloatArray,
               shares: FloatArray, move: FloatArray) -> bool:
    """Write the shortest vector whose products with the fields are `gaps` to `move`; return whether it is sure."""
    if not factored(fields, sure, factor, lengths):
        return False
    combined(fields, gaps, factor, lengths, shares, move)
    return True


def factored(fields: FloatArray, sure: float, factor: FloatArray, lengths: FloatArray) -> bool:
    """Write the lengths of the fields, and L of their normalized inner products.

    False where a field is zero or not finite, or L is nearly singular.
    """
    count = len(fields)
    _products(fields, factor)
    for j in range(count):
        lengths[j] = factor[j, j] ** 0.5
        if not 0.0 < lengths[j] < 1e300:
            return False
    for first in range(0, count, 4):
        a, b, c, d = factor[first], factor[first + 1], factor[first + 2], factor[first + 3]
        end = min(first + 4, count)
        for j in range(first):  # four rows at once: most of these sums are short; beyond the last are copies of it
            one, two, three, four = _inner_of_four(factor[j, :j], a, b, c, d)
            size, inverse = lengths[j], 1.0 / factor[j, j]
            a[j] = (a[j] / (size * lengths[first]) - one) * inverse
            b[j] = (b[j] / (size * lengths[min(first + 1, end - 1)]) - two) * inverse
            c[j] = (c[j] / (size * lengths[min(first + 2, end - 1)]) - three) * inverse
            d[j] = (d[j] / (size * lengths[end - 1]) - four) * inverse
        for i in range(first, end):
            row = factor[i]
            for j in range(first, i):
                row[j] = (row[j] / (lengths[i] * lengths[j]) - _inner(row[:j], factor[j, :j])) / factor[j, j]
            left = 1.0 - _inner(row[:i], row[:i])
            if not left > sure * sure:
                return False
            row[i] = left**0.5
    return True


def across(fields: FloatArray, sure: float, clear: float, factor: FloatArray, lengths: FloatArray, shares: FloatArray,
           rest: FloatArray) -> float:
    """Do what `last_direction` does, for fields that are factored."""
    last = len(fields) - 1
    length = lengths[last]
    least, left, inverse = 1.0, factor[last, last], 1.0 / length
    for j in range(last):
        least = min(least, factor[j, j])
        shares[j] = factor[last, j]
    for m in range(len(rest)):
        rest[m] = inverse * fields[last, m]
    for sweep in range(2):
        if sweep:
            if least * least * left > clear:
                break
            products_with(fields[:last], rest, shares)
            for j in range(last):
                shares[j] /= lengths[j]
            _solve(factor, last, shares)
        _solve_turned(factor, last, shares)
        for j in range(last):
            shares[j] = -shares[j] / lengths[j]
        _add(fields, last, shares, rest)
        left = _inner(rest, rest) ** 0.5
    if not left > sure:
        return 0.0
    inverse = 1.0 / left
    for m in range(len(rest)):
        rest[m] *= inverse
    size: float = left * length
    return size


def combined(fields: FloatArray, gaps: FloatArray, factor: FloatArray, lengths: FloatArray, shares: FloatArray,
             move: FloatArray) -> None:
    """Do what `least_move` does, for fields that are factored."""
    count = len(fields)
    for j in range(count):
        shares[j] = gaps[j] / lengths[j]
    _solve(factor, count, shares)
    _solve_turned(factor, count, shares)
    for j in range(count):
        shares[j] /= lengths[j]
    for m in range(len(move)):
        move[m] = 0.0
    _add(fields, count, shares, move)


def products_with(fields: FloatArray, plane: FloatArray, out: FloatArray) -> None:
    """Write the inner products of fields and a plane."""
    for j in range(len(fields)):
        out[j] = _inner(fields[j], plane)


def _solve(factor: FloatArray, count: int, shares: FloatArray) -> None:
    """Put the solution of L z = shares in their place."""
    for i in range(count):
        shares[i] = (shares[i] - _inner(factor[i, :i], shares[:i])) / factor[i, i]


def _solve_turned(factor: FloatArray, count: int, shares: FloatArray) -> None:
    """Put the solution of L' c = shares in their place."""
    for i in range(count - 1, -1, -1):
        shares[i] /= factor[i, i]
        for j in range(i):
            shares[j] -= factor[i, j] * shares[i]


def _products(fields: FloatArray, out: FloatArray) -> None:
    """Write the inner products of fields (k, N), the lower triangle of them in blocks of four times four.

    A block that would leave the fields has the last one again.
    """
    count, n = fields.shape
    for i in range(len(out)):
        for j in range(len(out)):
            out[i, j] = 0.0
    last = count - 1
    for begin in range(0, n, _BLOCK):
        end = min(n, begin + _BLOCK)
        for i in range(0, count, 4):
            one, two, three, four = (fields[i, begin:end], fields[min(i + 1, last), begin:end],
                                     fields[min(i + 2, last), begin:end], fields[min(i + 3, last), begin:end])
            for j in range(0, i, 4):
                _products_of_four(one, two, three, four, fields[j, begin:end], fields[j + 1, begin:end],
                                  fields[j + 2, begin:end], fields[j + 3, begin:end], out[i : i + 4, j : j + 4])
            _products_in_four(one, two, three, four, out[i : i + 4, i : i + 4])


def _products_of_four(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, e: FloatArray, f: FloatArray,
                      g: FloatArray, h: FloatArray, out: FloatArray) -> None:
    """Add the products of (a, b, c, d) and (e, f, g, h): sixteen sums in registers for eight numbers from memory."""
    ae = be = ce = de = af = bf = cf = df = ag = bg = cg = dg = ah = bh = ch = dh = 0.0
    for m in range(len(a)):
        one, two, three, four = a[m], b[m], c[m], d[m]
        other = e[m]
        ae += one * other
        be += two * other
        ce += three * other
        de += four * other
        other = f[m]
        af += one * other
        bf += two * other
        cf += three * other
        df += four * other
        other = g[m]
        ag += one * other
        bg += two * other
        cg += three * other
        dg += four * other
        other = h[m]
        ah += one * other
        bh += two * other
        ch += three * other
        dh += four * other
    out[0, 0] += ae
    out[1, 0] += be
    out[2, 0] += ce
    out[3, 0] += de
    out[0, 1] += af
    out[1, 1] += bf
    out[2, 1] += cf
    out[3, 1] += df
    out[0, 2] += ag
    out[1, 2] += bg
    out[2, 2] += cg
    out[3, 2] += dg
    out[0, 3] += ah
    out[1, 3] += bh
    out[2, 3] += ch
    out[3, 3] += dh


def _products_in_four(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, out: FloatArray) -> None:
    """Add the products of (a, b, c, d) with each other, the lower triangle of them."""
    aa = ba = ca = da = bb = cb = db = cc = dc = dd = 0.0
    for m in range(len(a)):
        one, two, three, four = a[m], b[m], c[m], d[m]
        aa += one * one
        ba += two * one
        ca += three * one
        da += four * one
        bb += two * two
        cb += three * two
        db += four * two
        cc += three * three
        dc += four * three
        dd += four * four
    out[0, 0] += aa
    out[1, 0] += ba
    out[2, 0] += ca
    out[3, 0] += da
    out[1, 1] += bb
    out[2, 1] += cb
    out[3, 1] += db
    out[2, 2] += cc
    out[3, 2] += dc
    out[3, 3] += dd


def _inner(one: FloatArray, other: FloatArray) -> float:
    total = 0.0
    for m in range(len(one)):
        total += one[m] * other[m]
    return total


def _inner_of_four(one: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray
                   ) -> tuple[float, float, float, float]:
    """The inner products of one line with the beginnings of four."""
    first = second = third = fourth = 0.0
    for m in range(len(one)):
        first += one[m] * a[m]
        second += one[m] * b[m]
        third += one[m] * c[m]
        fourth += one[m] * d[m]
    return first, second, third, fourth


def _add(fields: FloatArray, count: int, shares: FloatArray, out: FloatArray) -> None:
    """Add the sum of share times field, four fields a sweep over a block."""
    n = len(out)
    for begin in range(0, n, _BLOCK):
        here = out[begin : min(n, begin + _BLOCK)]
        whole = count - count % 4
        for j in range(0, whole, 4):
            _add_four(fields[j, begin:], fields[j + 1, begin:], fields[j + 2, begin:], fields[j + 3, begin:],
                      shares[j], shares[j + 1], shares[j + 2], shares[j + 3], here)
        for j in range(whole, count):
            _add_one(fields[j, begin:], shares[j], here)


def _add_four(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, one: float, two: float, three: float,
              four: float, out: FloatArray) -> None:
    for m in range(len(out)):
        out[m] += one * a[m] + two * b[m] + three * c[m] + four * d[m]


def _add_one(a: FloatArray, one: float, out: FloatArray) -> None:
    for m in range(len(out)):
        out[m] += one * a[m]
