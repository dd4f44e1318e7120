r"""The checks that certificates are made of, by routes that do not trust the decision procedure.

* A minor is evaluated anew by jets.
* An identity B = sum_k c_k v_k (B a bracket, or zero) is checked twice: in mean form, on public expressions, and in N
  explicit coordinates by exact jets at random rational samples for several N, one of them at least N0. If it failed,
  the numerator of one of its components would be a nonzero polynomial of some degree d in the coordinates and the
  parameters, and each sample drawn from a set of T values would expose it except with probability d/T (Schwartz,
  Zippel). The degree is bounded over all components and weights (`extent`); where something is no rational function,
  or kernels and functions are drawn from few values, no chance is stated.

What comes from a stranger is measured before it is multiplied out or evaluated, and a clock runs on the way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import chain
from math import inf, prod
from typing import Any

from sympy import Add, Expr, Rational, S, oo

from symdecouple.calculus.bracket import as_field, raw_bracket
from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.convolution import TooManyTerms, Words
from symdecouple.calculus.convolution_frame import kinds_of_operators
from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.extent import Degrees, bracket_degrees, check_extent, degrees, product, total
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.forms import annihilates
from symdecouple.calculus.jets import Point, bracket_at, field_at
from symdecouple.calculus.kernels import draw_kernels, kernels_by_filter
from symdecouple.calculus.sample_chart import chart_of
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.span import independent_rows
from symdecouple.calculus.subject import Size, Subject, count
from symdecouple.calculus.witness import PATIENCE, SHARP, Witness, draws
from symdecouple.errors import BudgetExceeded, SymdecoupleError
from symdecouple.language.binding import bind
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import decompose
from symdecouple.language.kinks import Within
from symdecouple.language.mean import Mean
from symdecouple.verdict import Check

__all__ = ["basis_check", "identity_checks", "jet_check", "kernel_check", "minor_check", "size_check"]

Identity = tuple[tuple[int, int] | None, Sequence[Expr]]

SPREAD = 10**6
SEED = 77
TRIES = 6
DIGITS = (60, 180, 540)
NARROW = 30
MAX_DIGITS = 300  # of the intervals of a witness; those that we make have 30 or 90
MAX_KERNEL = 1000
MAX_BITS = 4000  # of a number of a witness
MAX_SIZE = 1000  # larger samples are not written out; claims about them are claims for every N


def size_check(subject: Subject, n_samples: Size | None) -> Check:
    """Check that the claim is about sizes that the subject has: coordinates fix it, filters its number of axes."""
    size = len(subject.coordinates)
    if n_samples is None:
        fits = not size and not subject.has_levels
    else:
        axes = n_samples if isinstance(n_samples, tuple) else (n_samples,)
        fits = all(type(n) is int and n > 0 for n in axes) and isinstance(n_samples, tuple) == (subject.ndim > 1)
        fits = fits and len(axes) == subject.ndim and min(2, size or 2) <= prod(axes) <= MAX_SIZE
        fits = fits and prod(axes) == (size or prod(axes))
    return Check("sample size", fits, "every N" if n_samples is None else f"N = {n_samples}")


def minor_check(subject: Subject, witness: Witness, columns: Sequence[int], pair: tuple[int, int] | None,
                size: Size | None, clock: Budget | None = None) -> Check:
    """Check that the witness is about these columns and this size, and that its minor is what it says, not zero."""
    name = f"minor at the witness, {witness.sample and len(witness.sample)} samples"
    clock = Budget(inf) if clock is None else clock
    shape = (len(witness.sample) <= MAX_SIZE and tuple(witness.columns) == tuple(columns)
             and witness.pair == pair and len(set(witness.sample)) > (len(witness.sample) > 1)
             and len(witness.rows) == len(columns) + (pair is not None) and len(set(witness.rows)) == len(witness.rows)
             and set(witness.rows) <= set(range(1, len(witness.sample) + 1))
             and (size is None or len(witness.sample) == count(size))
             and witness.grid == (size if isinstance(size, tuple) else ())
             and (witness.digits is None or (type(witness.digits) is int and 0 < witness.digits <= MAX_DIGITS))
             and all(len(kernel.taps) <= MAX_KERNEL for kernel in witness.kernels))
    if not shape:
        return Check(name, False, "columns, pair, rows or size are not those of the claim")
    numbers = [*witness.sample, *(v for _, v in witness.parameters), *(t for k in witness.kernels for t in k.taps)]
    if any(max(v.numerator.bit_length(), v.denominator.bit_length()) > MAX_BITS for v in numbers):
        return Check(name, False, f"a number of the witness has more than {MAX_BITS} bits")
    if subject.cell is not None and not subject.cell.holds(
            witness.sample, {s: v for s in subject.symbols for name, v in witness.parameters if s.name == name},
            subject.coordinates):
        return Check(name, False, "the sample is not in the cell")
    low, high = (-oo, oo) if subject.coordinates else subject.sample.interval
    if not all(low < Rational(v.numerator, v.denominator) < high for v in witness.sample):
        return Check(name, False, f"the sample is not in the domain ({low}, {high})")
    try:
        found = witness.recomputed(subject, World(witness.digits))
    except BudgetExceeded:
        raise
    except (SymdecoupleError, Irrational, OutsideDomain, ArithmeticError, LookupError, ValueError) as error:
        return Check(name, False, f"cannot be evaluated: {type(error).__name__} {error}")
    claimed = witness.minor
    if witness.digits is None:
        same = found == claimed
    else:
        width = (found.high - found.low) + (claimed.high - claimed.low)
        same = found.low <= claimed.high and claimed.low <= found.high and width * SHARP <= abs(found.low)
    return Check(name, same and found.excludes_zero() and claimed.excludes_zero(), f"recomputed {found}")


def identity_checks(subject: Subject, identities: Sequence[Identity], n_samples: Size | None,
                    rng: random.Random, clock: Budget | None = None) -> Iterator[Check]:
    """Check [v_i, v_j] = sum_k c_k v_k for each (pair, c), or 0 = ... without a pair, by jets and in mean form.

    Jets come first: they are quick to expose what is false.
    """
    if not identities:
        return
    clock = Budget(inf) if clock is None else clock
    check_extent((c for _, weights in identities for c in weights), "a weight")
    fields = [as_field(item) for item in subject.framed]
    sizes = [n_samples] if n_samples is not None else _sizes(subject, identities)
    for n in sizes:
        yield (check := jet_check(subject, identities, n, rng))
        if not check.passed:
            return
    vanishes = _vanishing(subject, n_samples, clock)
    for pair, weights in identities:
        clock.check("an identity in mean form")
        yield _symbolic_check(fields, vanishes, pair, _on_cell(subject, weights))


def kernel_check(subject: Subject, rng: random.Random) -> Check:
    """Check that the fields are a basis of the kernel of the forms: annihilated, independent, and n - rank of them."""
    name = f"the fields are the kernel of {len(subject.forms)} forms"
    fields = [as_field(item) for item in subject.items]
    if not annihilates(subject.forms, fields):
        return Check(name, False, "a form does not vanish on a field")
    many = 0 if fields == [subject.zero_field] else len(fields)
    for sample, parameters in draws(subject, len(subject.coordinates), rng, TRIES, more=PATIENCE):
        for digits in (None, *DIGITS):
            point = Point(sample, parameters, World(digits), subject.coordinates)
            try:
                columns = [field_at(item, point)[0] for item in fields[:many]]
                rank = _rank([field_at(form.dual, point)[0] for form in subject.forms], point.world)
            except Irrational:
                continue
            except (OutsideDomain, ZeroDivisionError):
                break
            if rank + many == len(subject.coordinates) and (
                    not many or independent_rows(columns, point.world) is not None):
                return Check(name, True, f"rank {rank} and {many} fields in {rank + many} coordinates")
            break
    return Check(name, False, "no sample was found at which ranks of forms and fields make up the dimension")


def _rank(columns: Sequence[Sequence[Any]], world: World) -> int:
    """Return a rank that columns have for certain."""
    kept: list[Sequence[Any]] = []
    for column in columns:
        if independent_rows([*kept, column], world) is not None:
            kept.append(column)
    return len(kept)


def basis_check(subject: Subject, frame: Any, forms: Sequence[Any], sample: Sequence[Fraction]) -> Check:
    """Check that basis functions, and the statistics' gradients, are independent at some points as many as a sample's.

    Where the witness is special (all sines of one frequency vanish at 0), or the parameters are (x^(a - 3) at a = 3),
    others are tried: what is independent at some points is so at generic ones.
    """
    basis, gradients = frame.basis(forms), frame.slopes(forms)
    name = "basis functions and statistics are independent"
    if len(sample) > MAX_SIZE:
        return Check(name, False, f"{len(sample)} points are more than {MAX_SIZE}")
    others = (points for points, _ in draws(subject, len(sample), random.Random(SEED), TRIES))
    for k, points in enumerate(chain([sample], others)):
        if (failed := _dependent_at(points, subject, frame, (basis, gradients), 3 + 4 * k)) == "":
            return Check(name, True, f"{len(basis)} basis functions, {len(gradients)} statistics, N0 = {len(sample)}")
    return Check(name, False, failed)


def _dependent_at(sample: Sequence[Fraction], subject: Subject, frame: Any, groups: Iterable[Sequence[Expr]],
                  first: int) -> str:
    """Say what is not seen to be independent at the points of a sample; nothing where all is.

    Parameters are whole numbers from the first one on: what is independent for some is so for generic ones.
    """
    symbols = {s: Fraction(first + 2 * k) for k, s in enumerate(subject.symbols)}
    numbers = {s: Rational(v.numerator, v.denominator) for s, v in symbols.items()}
    parts = None if subject.cell is None else subject.cell.parts_at(sample, symbols)
    for group in groups:
        for digits in (None, DIGITS[0]):
            world = World(digits)
            at = ValuesAt(sample, (len(sample),), world)
            try:
                columns = [_column(psi.xreplace(numbers), at, subject, frame, parts) for psi in group]
            except Irrational:
                continue
            except BudgetExceeded:
                raise
            except (SymdecoupleError, OutsideDomain, ZeroDivisionError) as error:
                return f"{type(error).__name__} {error}"
            if group and independent_rows(columns, world) is None:
                return f"{len(group)} functions on {len(sample)} points"
            break
    return ""


def _column(psi: Expr, at: ValuesAt, subject: Subject, frame: Any, parts: Sequence[int] | None) -> list[Any]:
    """Return the values of a basis function at the samples, 0 outside of the part that it is about."""
    within = psi.atoms(Within)
    function = frame.opened(psi.xreplace(dict.fromkeys(within, S.One)))
    if subject.cell is None:
        return at.everywhere(function)
    function = subject.cell.written(function)
    if not within or parts is None:
        return at.everywhere(function)
    part = int(within.pop().args[0])
    return at.everywhere(function, [p == part for p in parts])


def _on_cell(subject: Subject, weights: Sequence[Expr]) -> Sequence[Expr]:
    return weights if subject.cell is None else [subject.cell.resolved(c) for c in weights]


def _symbolic_check(fields: Sequence[VectorField], vanishes: Callable[[Expr], bool], pair: tuple[int, int] | None,
                    weights: Sequence[Expr]) -> Check:
    name = f"{_label(pair)}, symbolically"
    zero = tuple(S.Zero for _ in fields[0].components)
    left = raw_bracket(fields[pair[0] - 1], fields[pair[1] - 1]) if pair else zero
    for k, component in enumerate(left):
        terms = Add(*(c * field.components[k] for c, field in zip(weights, fields, strict=True)))
        if not vanishes(component - terms):
            return Check(name, False, "the difference does not vanish identically")
    return Check(name, True, "identically zero")


def _vanishing(subject: Subject, n_samples: Size | None, clock: Budget) -> Callable[[Expr], bool]:
    """Return the test whether an expression about the subject is identically zero."""
    if subject.coordinates:
        return lambda expr: _all_zero([expr])
    sample = subject.sample
    if not subject.is_filtered:
        chart = chart_of([item.expr for item in subject.framed], sample)
        return lambda expr: _all_zero(decompose(chart.close(expr), chart.sample).values())
    kinds = kinds_of_operators(subject, n_samples)

    def vanishes(expr: Expr) -> bool:
        for make in kinds:
            with suppress(TooManyTerms):
                if _all_zero(Words(sample, make(), clock).form(expr).values()):
                    return True
        return False

    return vanishes


def _all_zero(exprs: Iterable[Expr]) -> bool:
    found = list(exprs)
    coefficients = CoefficientField(found)
    return all(map(coefficients.vanishes, found))


def jet_check(subject: Subject, identities: Sequence[Identity], n: Size, rng: random.Random) -> Check:
    """Check them by jets at random samples of one size."""
    about, claims = _concrete(subject, identities, rng)
    shape = n if isinstance(n, tuple) else None
    name = f"{', '.join(_label(pair) for pair, _ in identities[:3])}{', ...' * (len(identities) > 3)} by jets, N = {n}"
    degree = cache(lambda: _degree([as_field(item) for item in subject.framed], identities, count(n)))
    wide = SPREAD if subject.symbols and degree() is not None else None  # parameters in exponents stay small
    for digits in (None, *DIGITS):
        world, spread = World(digits), None if digits else SPREAD
        done = 0
        try:
            for k, (sample, parameters) in enumerate(draws(about, count(n), rng, TRIES, spread, more=PATIENCE,
                                                              parameters=None if digits else wide)):
                if k >= TRIES:
                    if done:
                        break
                    about, claims = _concrete(subject, identities, rng)  # other kernels may have one sign
                point = Point(sample, parameters, world, subject.coordinates, shape)
                try:
                    failed = _failing(about, claims, point)
                except (OutsideDomain, ZeroDivisionError):
                    continue
                if failed is not None:
                    return Check(name, False, f"{failed} fails at x = ({', '.join(map(str, sample[:4]))}, ...)")
                done += 1
                if done == 2:
                    break
        except Irrational:
            continue
        if not done and world.iv is None:
            continue  # large numbers may be outside, where enclosures find smaller ones
        if not done:
            return Check(name, False, "no sample inside the domain was found")
        return Check(name, True, f"{world.digits}-digit enclosures of zero" if world.iv is not None
                     else f"exactly zero at {done} random samples{_chance(subject, degree(), done)}")
    return Check(name, False, "the values are neither rational nor enclosed")


def _failing(subject: Subject, identities: Sequence[Identity], point: Point) -> str | None:
    """Return the first identity that fails at a point, None if all hold; Irrational where enclosures are too wide."""
    fields = [field_at(item, point) for item in subject.items]
    zero = [point.world.number(Fraction(0))] * point.size
    for pair, weights in identities:
        values = [point.jet(c).value for c in weights]
        if any(value is None for value in values):
            raise Irrational
        rest = bracket_at(fields[pair[0] - 1], fields[pair[1] - 1], point) if pair else zero
        for value, (vector, _) in zip(values, fields, strict=True):
            rest = [a - value * b for a, b in zip(rest, vector, strict=True)]
        trivial = pair is None and all(point.world.is_zero(value) for value in values)
        if trivial or not all(point.world.is_zero(r) for r in rest):
            return _label(pair)
        scale = _scale([vector for vector, _ in fields], pair, values, point.world)
        if not all(_narrow(r, scale, point.world) for r in rest):
            raise Irrational
    return None


def _label(pair: tuple[int, int] | None) -> str:
    return f"[v{pair[0]}, v{pair[1]}] = sum c_k v_k" if pair else "0 = sum c_k v_k"


def _scale(vectors: Sequence[Sequence[Any]], pair: tuple[int, int] | None, values: Sequence[Any], world: World) -> Any:
    """Return a bound of the size of what cancels in an identity, at least 1: enclosures are narrow compared with it."""
    if world.iv is None:
        return 1
    sizes = [max(abs(v).b for v in vector) for vector in vectors]
    terms = [abs(value).b * size for value, size in zip(values, sizes, strict=True)]
    largest = max(world.iv.mpf(1), *terms, *([sizes[pair[0] - 1] * sizes[pair[1] - 1]] if pair else [])).b
    return largest if largest - largest == 0 else 1  # not for a bound that is infinite


def _narrow(value: Any, scale: Any, world: World) -> bool:
    return world.iv is None or bool(value.delta.b < scale * world.iv.mpf(10) ** (-NARROW))


def _concrete(subject: Subject, identities: Sequence[Identity],
              rng: random.Random) -> tuple[Subject, Sequence[Identity]]:
    """Put random polynomials in the place of undefined functions, random taps in that of filters with a name."""
    values: dict[Any, Any] = {f: Add(*(rng.randint(1, 9) * subject.sample**k for k in range(1, 6)))
                              for f in subject.functions}
    values |= kernels_by_filter(subject, draw_kernels(subject, rng))
    if not values:
        return subject, identities
    return subject.bind(values), [(pair, [bind(c, values) for c in weights]) for pair, weights in identities]


def _sizes(subject: Subject, identities: Sequence[Identity]) -> list[Size]:
    """Three sizes, the largest with at least as many coordinates as statistics occur, within reason."""
    statistics = {s for _, weights in identities for c in weights for s in c.atoms(Mean)}
    if subject.ndim > 1:
        *axes, last = (3,) * subject.ndim
        return [(2,) * subject.ndim, (*axes, last + 1), (*(n + 1 for n in axes), last + 2)]
    largest = max(len(subject) + 3, min(len(statistics), 12), 5)
    if subject.cell is not None:
        largest = max(largest, subject.cell.size + 2)
    return [max(largest - 2, 2), largest - 1, largest]


def _degree(fields: Sequence[VectorField], identities: Sequence[Identity], n: int) -> int | None:
    """Bound the degrees of any component of any identity, denominators too; None if one is no rational function."""
    found = [[degrees(c, n) for c in field.components] for field in fields]
    worst = 1  # a constant that is not zero is always exposed
    for pair, weights in identities:
        bracket: Degrees | None = Degrees(0, 0)
        if pair is not None:
            u, v = (found[k - 1] if fields[0].coordinates else found[k - 1] * n for k in pair)
            bracket = bracket_degrees(u, v)
        factors = [degrees(c, n) for c in weights]
        for r in range(len(found[0])):
            part = total([bracket, *(product((c, field[r])) for c, field in zip(factors, found, strict=True))])
            if part is None:
                return None
            worst = max(worst, *part)
    return worst


def _chance(subject: Subject, degree: int | None, done: int) -> str:
    """State the chance that a false identity passes: degree over the number of values, for each sample drawn."""
    if degree is None or subject.functions or subject.filters or 2 * degree >= SPREAD:
        return ""
    return f"; a false identity would pass with probability < {(2 * degree / SPREAD) ** done:.1g}"
