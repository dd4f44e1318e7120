r"""Fields that are independent by the last digits of floats only.

A float is taken for the decimal that it prints as, so that taps h and the rounded h/|h| are exactly independent. With
columns of length 1, pivoted Gram-Schmidt leaves lengths r_1 >= r_2 >= ...; where they fall at once,

.. math:: r_k < 10^{-12}, \qquad r_k < 10^{-10}\, r_{k-1},

and numbers of float length occur, what makes the fields independent is rounding. Ill-conditioned sets (many moments)
lose their lengths gradually, and sets of short exact numbers are meant as they are: neither is pointed out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
from sympy import Rational

from symdecouple.calculus.subject import Subject, expressions
from symdecouple.language.precision import at_digits

__all__ = ["has_floats", "near_dependence"]

LONG = 10**12
"""Numerators or denominators from which on a number may be a float that was rounded."""
NEAR, GAP = 1e-12, 1e-10
DIGITS = 60


def near_dependence(subject: Subject, columns: Sequence[Sequence[Any]], sample: Iterable[Fraction] = ()
                    ) -> tuple[str, ...]:
    """Return a note where fields are independent by rounding only; nothing where they are not.

    Parameters
    ----------
    subject : Subject
    columns : sequence of columns of Fraction or enclosures
        The fields at a sample.
    sample : iterable of Fraction
        The sample, where it was given and not chosen.
    """
    if not (source := _rounded(subject, sample)):
        return ()
    lengths = _left_over(columns)
    falls = [b for a, b in zip([mpmath.mpf(1), *lengths], lengths, strict=False) if b < NEAR and b < GAP * a]
    if not falls:
        return ()
    return (f"the {subject.noun} are dependent but for {float(falls[0]):.0e} of the "
            f"{source}: floats that differ by rounding are different numbers; leave one out, or give exact numbers",)


def has_floats(subject: Subject, sample: Iterable[Fraction] = ()) -> bool:
    """True iff a number occurs that is as long as a float that was rounded."""
    return bool(_rounded(subject, sample))


def _rounded(subject: Subject, sample: Iterable[Fraction]) -> str:
    """Say where numbers of float length occur: "taps", "coefficients", "sample", or nowhere."""
    if any(_is_long(number) for h in subject.all_filters for number in h.atoms(Rational)):
        return "taps"
    exprs = [e for item in subject.items for e in expressions(item)]
    if any(_is_long(number) for e in exprs for number in e.atoms(Rational)):
        return "coefficients"
    return "sample" if any(max(abs(v.numerator), v.denominator) > LONG for v in sample) else ""


def _is_long(number: Any) -> bool:
    return max(abs(int(number.p)), int(number.q)) > LONG


def _left_over(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return what is left of each column of length 1 beside those taken before, the longest first."""
    with at_digits(DIGITS):
        work = [mpmath.matrix(list(map(_number, column))) for column in columns]
        norms = [mpmath.norm(w) for w in work]
        if not all(mpmath.isfinite(n) and n > 0 for n in norms):
            return []
        work, out = [w / n for w, n in zip(work, norms, strict=True)], []
        while work:
            work.sort(key=mpmath.norm)
            longest = work.pop()
            out.append(mpmath.norm(longest))
            if out[-1] == 0:
                break
            q = longest / out[-1]
            work = [w - q * (q.T * w)[0] for w in work]
            work = [w - q * (q.T * w)[0] for w in work]
    return out


def _number(value: Any) -> Any:
    if isinstance(value, (int, Fraction)):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value.mid._mpi_[0])
