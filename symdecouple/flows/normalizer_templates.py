r"""Templates: functions of arrays that stand in the text of a normalizer as they stand here.

Each uses NumPy and those above it only, and knows nothing of features; ValueError says why there is no answer.

A leaf of the Moebius images of a sample holds the images under

.. math:: z = g\,\frac{1 + h}{1 + h g}, \qquad g = \frac{x - \min x}{\max x - \min x},\quad h \ge 0

and the same for -x. Along h the skewness falls strictly, from that of x to that of samples that are all tied but the
smallest (Theorem C); no z lies near a pole, and differences of neighbouring samples keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["apart", "average", "checked", "ends_tied", "intake", "joint_steps", "newton_on_leaf", "on_moebius_leaf",
           "on_triple_leaf", "prepared", "root_between", "root_from_zero", "step_inside", "triple_image"]


def ends_tied(row: Any) -> Any:
    """Return how many numbers are at the minimum, and how many at the maximum."""
    ordered = np.sort(row)  # min and max warn of objects that are NaN
    return int(np.sum(row == ordered[0])), int(np.sum(row == ordered[-1]))


def intake(x: Any, shifts: Any) -> Any:
    """Return samples as floats, what is masked, the type of the answer, and the ties of exact rows before rounding; a
    shift by the median of what is not masked loses nothing of integers and fractions."""
    if not isinstance(getattr(x, "dtype", None), np.dtype):  # that of pandas may be none of NumPy
        each = np.array(x, dtype=object)  # NumPy would round large integers beside floats
        x = each.astype(np.float64) if all(isinstance(v, float) for v in each.flat) else each
    x = np.asanyarray(x)  # np.ma would ask pandas for what is its own
    hidden, x = np.ma.getmaskarray(x), np.asarray(np.ma.getdata(x))
    if x.dtype.kind not in "iufO":
        raise ValueError(f"samples are {x.dtype}, real numbers are expected")
    if x.ndim == 0 or x.shape[-1] < 2:
        raise ValueError(f"{'no samples' if x.size == 0 else 'one sample'}: sample vectors are expected, (..., N) with "
                         f"N at least 2, got {x.shape}")
    kind = np.float32 if x.dtype.kind == "f" and x.dtype.itemsize < 8 else np.float64
    if x.dtype.kind == "f" and x.dtype.itemsize <= 8:
        return x.astype(np.float64), hidden, kind, {}
    out, ties = np.full(x.shape, np.nan), {}
    for index in np.ndindex(x.shape[:-1]):
        row = x[index][~hidden[index]].astype(object)
        try:
            if any(v is None or isinstance(v, (bool, str, bytes)) for v in row):
                raise TypeError("not of None, text or booleans")
            if row.size:
                ties[index] = ends_tied(row)
            if shifts and row.size:
                row[:] = [int(v) if isinstance(v, float) and v.is_integer() else v for v in row]
                middle = np.sort(row)[row.size // 2]
                row = row - middle if abs(middle) < np.inf else row
            out[index][~hidden[index]] = row
            if row.size > ties.get(index, (row.size,))[0] and len(set(out[index][~hidden[index]])) == 1:
                raise ValueError("beyond float64: values of the sample that differ came to one number")
        except OverflowError:
            raise ValueError("out of range: numbers, or differences between them, are beyond float64; change the "
                             "unit") from None
        except TypeError as error:
            raise ValueError(f"real numbers are expected ({error})") from None
    return out, hidden, kind, ties


def prepared(x: Any, shifts: Any, scales: Any) -> Any:
    """Return a sample vector of the same leaf, without an offset and with numbers below 1 where that is allowed."""
    if x.size < 2:
        raise ValueError("fewer than two samples are left")
    if np.any(np.isinf(x)):
        raise ValueError("infinite value")
    exponent = np.frexp(np.max(np.abs(x)))[1]
    x = np.ldexp(x, -exponent)
    if shifts:
        x = x - x[0]
        x = x - x.mean()
    if not scales:
        return np.ldexp(x, exponent)
    if shifts and not np.any(x):
        raise ValueError("zero variance (all values are equal)")
    return np.ldexp(x, -np.frexp(np.max(np.abs(x)))[1])


def average(values: Any, x: Any) -> Any:
    """Average over the samples, on the last axis."""
    return np.broadcast_to(values, x.shape).mean(axis=-1, keepdims=True)


def checked(found: Any, error: Any, features: Any, values: Any, begins_with_mean: Any) -> Any:
    """Return a sample vector whose features are at their values and whose rounding error is small."""
    if not np.all(np.isfinite(found)):
        raise ValueError("the normalization does not exist (zero denominator, pole of a flow, or a value that is "
                         "not attained)")
    reached = features(found)
    slack = 2.0**-26 * (1 + np.abs(values))
    slack[0] += begins_with_mean * 2.0**-50 * np.mean(np.abs(found))  # a mean is as good as its samples are rounded
    if not np.all(np.abs(reached - values) <= slack):
        raise ValueError(f"the features came to {reached.tolist()}, {values.tolist()} was asked for: not attained")
    if not np.max(error) <= 2.0**-34 * np.max(np.abs(found)):
        raise ValueError("rounding leaves too few digits (the answer lies next to a pole of the flow)")
    return found


def apart(found: Any, x: Any) -> Any:
    """Return a sample vector whose entries that differed have not come to one number, or to what rounding makes of it:
    their order turns."""
    ordered, most = found[np.argsort(x, kind="stable")], np.max(found) - np.min(found)
    is_turned = np.max(np.maximum.accumulate(ordered) - ordered) > most / 4 and most < 2.0**-34 * np.max(np.abs(found))
    if (most == 0 or is_turned) and np.min(x) < np.max(x):
        raise ValueError("out of range: all entries of the sample come to one number; take another unit")
    return found


def root_between(gap: Any, a: Any, at_a: Any, b: Any, at_b: Any) -> Any:
    """Return the root in a bracket to the last digit: secants through halved values, every third step a bisection."""
    weight_a, weight_b = at_a, at_b
    for count in range(400):
        if at_a == 0 or at_b == 0 or abs(b - a) <= 2.0**-52 * max(abs(a), abs(b)):
            break
        c = a + (b - a) / 2
        if count % 3 < 2:
            secant = a + (b - a) * (weight_a / (weight_a - weight_b))
            c = secant if min(a, b) < secant < max(a, b) else c
        at_c = gap(c)
        if (at_c > 0) == (at_a > 0) and at_c != 0:
            a, at_a, weight_a, weight_b = c, at_c, at_c, weight_b / 2
        else:
            b, at_b, weight_b, weight_a = c, at_c, at_c, weight_a / 2
    return a if abs(at_a) < abs(at_b) else b


def root_from_zero(gap: Any, step: Any, is_monotone: Any) -> Any:
    """Return the first root on the way from 0 in the direction of a step; gap is NaN where a flow has ended.

    Where gap is not known as monotone the way is taken in half secants, so as not to leap over two roots, and again in
    shorter ones where that failed.
    """
    start = gap(0.0)
    if start == 0:
        return 0.0
    for share in (1.0,) if is_monotone else (0.5, 0.05, 0.005):
        near, value, ended, pace = 0.0, start, None, share * step
        for _ in range(4000):
            trial = near + pace if ended is None else near + (ended - near) / 2
            if trial in (near, ended) or not np.isfinite(trial):
                break
            found = gap(trial)
            if np.isfinite(found) and (found == 0 or (found > 0) != (value > 0)):
                return root_between(gap, near, value, trial, found)
            if not abs(found) < abs(value):  # it has ended, or the feature has turned
                ended = trial
                continue
            secant = found * (trial - near) / (value - found)
            pace = 2 * pace if is_monotone else secant * (2 if abs(found) < abs(start) / 16 else 0.5)
            near, value = trial, found
    raise ValueError(f"not attained: at t = {float(near):.6g} the feature is {float(value):.6g} off its value, and "
                     "gets no closer (the flow ends, or the feature turns)")


def on_moebius_leaf(x: Any, skewness: Any, ties: Any) -> Any:
    """Return the sample vector of this skewness on the leaf of x/(1 + h x), and another for the error of rounding.

    Ties that put it out of reach are those that were counted before x was rounded, never judged by a rounded number.
    """
    for low, high in (ties, ends_tied(x)):
        if low == x.size:
            raise ValueError("zero variance (all values are equal)")
        least = (2 * low - x.size) / np.sqrt(low * (x.size - low))
        most = (x.size - 2 * high) / np.sqrt(high * (x.size - high))
        if ties[0] + ties[1] == x.size:
            if abs(least - skewness) > 2.0**-48 * (1 + abs(skewness)):
                raise ValueError("the skewness of fewer than three distinct values does not move from "
                                 f"{least:.6g}")
            return x, x
        if not least < skewness < most:
            if (low, high) != ties:
                raise ValueError("beyond float64: values of the sample are so near to each other that they came to one "
                                 "number")
            raise ValueError(f"with {low} samples tied at the minimum and {high} at the maximum the skewness lies "
                             f"strictly between {least:.6g} and {most:.6g}, {skewness:.6g} was asked for")

    def moved(h: Any) -> Any:
        return sign * (g * ((1 + h) / (1 + h * g)))

    def gap(h: Any) -> Any:
        z = moved(h)
        z = z - z.mean()
        return sign * (np.mean(z**3) / np.mean(z * z) ** 1.5 - skewness)

    sign, g = 1.0, (x - x.min()) / (x.max() - x.min())
    start = gap(0.0)
    if start < 0:
        sign, g = -1.0, (x.max() - x) / (x.max() - x.min())
        start = gap(0.0)
    near, value, far, end = 0.0, start, 1.0, gap(1.0)
    while end > 0 and far < 2.0**1000:
        near, value, far = far, end, 16 * far
        end = gap(far)
    if not end <= 0:
        raise ValueError("rounding leaves too few digits (the skewness is within rounding of its bound)")
    h = root_between(gap, near, value, far, end)
    step = 2.0**-12 * (1 + h)
    slope = abs(gap(h + step) - gap(h)) / step
    if not slope > 0:
        raise ValueError("rounding leaves too few digits (the skewness is within rounding of its bound)")
    return moved(h), moved(h + 2.0**-50 / slope)


def joint_steps(x: Any, values: Any, features: Any, gradients: Any, flows: Any, slopes: Any, fields: Any) -> Any:
    """Return the sample vector on the leaf at which all features are at their values, and what rounding made of it.

    One feature more is taken in at a time, and all that are in are led by Newton's method along as many fields, from
    wherever the flows have brought the sample so far; steps are halved until the features come nearer to their values.
    """
    def off(z: Any) -> Any:
        return np.max(np.abs(features(z) - values)[:k] / (1 + np.abs(values[:k])))

    def moved(z: Any, error: Any, step: Any) -> Any:
        for t, flow, slope in zip(step, flows, slopes, strict=False):
            rate, z = slope(z, t), flow(z, t)
            error = error * np.abs(rate) + 2.0**-52 * np.abs(z)
        return z, error, off(z)

    y, error = x, np.zeros_like(x)
    for k in range(1, len(values) + 1):
        rest = off(y)
        for _ in range(200):
            rows = gradients(y)[:k] @ np.array([field(y) for field in fields[:k]]).T / y.size
            scale = np.abs(rows).max(axis=1)
            try:
                step = np.linalg.solve(rows / scale[:, None], (values - features(y))[:k] / scale)
            except np.linalg.LinAlgError:
                break
            trials = (moved(y, error, step / 2.0**halving) for halving in range(60))
            found = next((trial for trial in trials if trial[2] < rest), None)
            if found is None:
                break
            y, error, rest = found
    return y, error


def triple_image(g: Any, h: Any, at: Any) -> Any:
    """Return a Moebius image, its derivatives by alpha, beta and log(lambda), and that by g.

    g and h are y measured from its smallest and from its largest number, in units of its range.
    """
    alpha, beta, stretch = at
    small = np.exp(-abs(stretch))
    up, down = (1.0, small) if stretch > 0 else (small, 1.0)
    total = down * h + up * g
    u, rest = up * g / total, down * h / total
    along = np.array([rest, u, (beta - alpha) * u * rest])
    return alpha * rest + beta * u, along, (beta - alpha) * up * down / total**2


def step_inside(at: Any, step: Any, ends: Any) -> Any:
    """Return the share of a step that keeps low < alpha < beta < high, and the stretch in reach."""
    share = min(1.0, 2 / max(2.0, abs(step[2])))
    for gap, rate in ((at[0] - ends[0], step[0]), (ends[1] - at[1], -step[1]), (at[1] - at[0], step[1] - step[0])):
        if rate < 0 and np.isfinite(gap):
            share = min(share, -0.9 * gap / rate)
    return share


def newton_on_leaf(start: Any, count: int, gaps: Any, ends: Any) -> Any:
    """Return where the first gaps vanish, by Newton's method in halved steps; None where they do not."""
    at, (gap, jacobian) = start, gaps(start)
    size = np.max(np.abs(gap[:count]))
    for _ in range(25):
        if not size > 2.0**-50:  # True for NaN
            break
        step = np.zeros(3)
        try:
            step[:count] = np.linalg.solve(jacobian[:count, :count], -gap[:count])
        except np.linalg.LinAlgError:
            break
        share, better = step_inside(at, step, ends), None
        for _ in range(8):
            trial = at + share * step
            found = gaps(trial)
            after = np.max(np.abs(found[0][:count]))
            if after < (1 - 0.1 * share) * size:
                better = trial, found, after
                break
            share = share / 2
        if better is None:
            break
        at, (gap, jacobian), size = better
    return at if size < 2.0**-34 else None


def on_triple_leaf(y: Any, values: Any, moved: Any, ends: Any) -> Any:
    """Return alpha, beta and log(lambda) at which features have their values, searched on the whole leaf; None without.

    `moved` returns the features of a Moebius image and their derivatives along the three numbers. From several
    stretches the first two features are brought to their values, then the third one is led to its own: along the curve
    that is left it is strictly monotone as long as the fields are independent.
    """
    count, scale, left = len(values), 1 + np.abs(values), [2500]  # looks; most samples take a hundred

    def gaps_to(aim: Any) -> Any:
        def gaps(at: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                return np.full(count, np.nan), np.zeros((count, 3))
            reached, along = moved(at)
            return (reached - aim) / scale, along / scale[:, None]

        return gaps

    for stretch in (0.0, 1.0, -1.0, 2.5, -2.5, 5.0, -5.0, 10.0, -10.0)[: 9 if count == 3 else 1]:
        start = np.array([y.min(), y.max(), stretch])
        at = newton_on_leaf(start, 2, gaps_to(values), ends)
        if count == 2:
            return at
        if at is None:
            if (found := newton_on_leaf(start, 3, gaps_to(values), ends)) is not None:
                return found
            continue
        first, way, stride = moved(at)[0], 0.0, 1.0
        first[:2] = values[:2]
        while way < 1 and stride > 2.0**-8:
            share = min(way + stride, 1.0)
            aim = values if share == 1 else first + share * (values - first)
            found = newton_on_leaf(at, 3, gaps_to(aim), ends)
            if found is None:
                stride = stride / 2
            else:
                at, way, stride = found, share, 2 * stride
        if way == 1:
            return at
    return None
