"""Code of normalizers runs alone, agrees with the plan and with mpmath, and refuses what has no normalization."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy import ma
from sympy import Rational, exp

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.errors import Refused, SymdecoupleError
from symdecouple.flows.normalizer import normalizers
from symdecouple.flows.normalizer_templates import joint_steps, on_moebius_leaf, root_between, root_from_zero
from symdecouple.language.feature_set import FeatureSet, Group
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, x
from symdecouple.language.statistics import skewness, variance
from tests.flows.sets import SETS, made

M = Mean(x)
EACH = [(name, level) for name, case in SETS.items() for level, _ in case.kinds]

# Every import of ours, and of what we stand on, fails in there.
ALONE = """
import json, sys
for name in ("symdecouple", "sympy", "mpmath", "scipy"):
    sys.modules[name] = None
space = {}
text, samples = json.load(sys.stdin)
exec(text, space)
print(json.dumps(space["normalize"](samples).tolist()))
"""


@lru_cache(maxsize=64)
def code_of(name: str, level: int) -> Any:
    space: dict[str, Any] = {}
    exec(next(n for n in made(name) if n.level == level).code(), space)
    return space["normalize"]


def batch_of(name: str) -> Any:
    rng = np.random.default_rng(3)
    points = np.array(SETS[name].points)
    rows = points + (rng.uniform(-0.1, 0.1, size=(2, 2, len(points))))
    rows[0, 0] = points
    return rows


@cache
def plan_of(name: str) -> Plan:
    return decouple(SETS[name].features, reference=list(SETS[name].values))


@pytest.mark.parametrize(("name", "level"), EACH)
def test_code_agrees_with_the_plan(name: str, level: int) -> None:
    samples = batch_of(name)
    wanted = plan_of(name).normalize(samples, level=level, on_refusal="raise")
    assert code_of(name, level)(samples) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["raw moments", "exponentials", "circle in a group", "logarithm second"])
def test_code_runs_alone(name: str) -> None:
    last, samples = made(name)[-1], batch_of(name)
    done = subprocess.run([sys.executable, "-I", "-c", ALONE], input=json.dumps([last.code(), samples.tolist()]),
                          capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == code_of(name, last.level)(samples).tolist()


@pytest.mark.parametrize(("name", "level"), EACH)
def test_code_imports_numpy_and_nothing_else(name: str, level: int) -> None:
    tree = ast.parse(next(n for n in made(name) if n.level == level).code())
    imported = [n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)]
    assert imported == ["numpy"] and not any(isinstance(n, ast.ImportFrom) for n in ast.walk(tree))
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    called = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert len(set(defined)) == len(defined) and set(defined) <= called | {"normalize"}


def test_names_of_the_user_do_not_reach_the_text() -> None:
    hostile = Sample('y"""\nraise SystemExit\n"""')
    for normalizer in normalizers([Mean(hostile), Mean(hostile**2), Mean(hostile**3)], [0, 1, 0]):
        assert "SystemExit" not in normalizer.code()
        space: dict[str, Any] = {}
        exec(normalizer.code(), space)
        reference = code_of("raw moments", normalizer.level)
        assert space["normalize"]([1, 2, 4, 9]).tolist() == reference([1, 2, 4, 9]).tolist()


STANDARD = [(name, level) for name in ("raw moments", "raw moments elsewhere", "standardized moments", "deviation")
            for level in (1, 2, 3)]
SOME = np.array([0.25, -1.25, 2.0, 0.75, -0.5, 1.5, -2.25])
ODD: dict[str, Any] = {
    "tiny": 1e-200 * SOME, "huge": 1e200 * SOME, "subnormal": np.ldexp([0, 1, 3, 8, 9, 11, 20], -1074),
    "of all sizes": [1e200, -1e200, 1e-200, 3], "far from zero": SOME + 2.0**40,
    "long integers": 2**60 + np.arange(4) ** 2,
    "long integers far from the first": [0, 2**60 + 1, 2**60 + 3, 2**60 + 7, 2**60 + 40, 2**61],
    "long integers beside floats": [2**60 + 1, 2**60 + 3.0, 2**60 + 7, 5, 9],
    "extended": np.longdouble(2**60) + np.arange(5) ** 2,
    "long integers, the first masked": ma.masked_array([-5, *(2**60 + np.arange(5) ** 2)], mask=[1, 0, 0, 0, 0, 0]),
    "fractions beside what is masked": ma.masked_array([None, *map(Fraction, (1, 3, 4, 9)), "a"],
                                                       mask=[1, 0, 0, 0, 0, 1]),
    "Python's integers": [10**30 + k for k in (1, 5, 7, 8)], "two values": [0, 1, 1, 0], "two numbers": [3, 8],
    "ties": [0, 0, 1, 2, 3], "outlier": [0, 1, 2, 3, 1e9], "far outlier": [0, 1, 2, 3, 1e15],
    "low outlier": [-1e12, 3, 1, 2], "clusters": [1, 1 + 1e-9, 2, 2 + 1e-9, 1 + 2e-9],
    "single": SOME.astype(np.float32), "half": SOME.astype(np.float16), "big-endian": SOME.astype(">f8"),
    "masked": ma.masked_array([*SOME[:6], 1e9, np.nan], mask=[0] * 6 + [1, 1]),
    "masked here and there": ma.masked_array([SOME, SOME**2], mask=[SOME > 1, SOME < -1]),
    "nothing masked": ma.masked_array(SOME), "missing": [1, np.nan, 2, 4], "rows": [SOME, SOME**2],
    "every second": SOME[::2], "column": np.asfortranarray([SOME, SOME**2, -SOME]),
}
BAD: dict[str, Any] = {
    "all masked": ma.masked_all(5), "one left": ma.masked_array(SOME, mask=SOME < 2), "one": [5.0], "none": [],
    "infinite": [1, np.inf, 2, 4], "booleans": [True, False, True], "booleans beside floats": [True, 1.5, 2, 7],
    "text in objects": np.array(["1", 2, 5, 7], dtype=object), "complex": [1j, 2, 3], "text": ["a", "b"],
    "objects": [1, 2, None, 3], "beyond floats": [10**400, 10**401, 3], "a number": 1.0,
}
REFUSED_FROM: dict[str, tuple[int, Any]] = {  # the level, and samples
    "equal": (2, [0.1, 0.1, 0.1]), "half at the minimum": (3, [0, 0, 1, 2]), "half at the maximum": (3, [0, 1, 2, 2]),
    "most at the minimum": (3, [0, 0, 0, 1, 2]), "two values that are skew": (3, [0, 1, 0, 1, 1]),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_samples_are_answered_as_the_plan_answers(case: str) -> None:
    sample = ODD[case]
    for name, level in STANDARD:
        try:
            wanted = plan_of(name).normalize(sample, level=level, on_refusal="raise")
        except Refused:
            assert name != "raw moments"  # ties leave another skewness out of reach; a mean far off is all that is left
            with pytest.raises(ValueError):
                code_of(name, level)(sample)
            continue
        found = code_of(name, level)(sample)
        bound = 1e-12 if found.dtype == np.float64 else 1e-6
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        assert (ma.getmaskarray(found) == ma.getmaskarray(wanted)).all()
        found, wanted = ma.filled(found, 0), ma.filled(wanted, 0)
        assert found == pytest.approx(wanted, rel=bound, abs=bound * max(1, float(np.max(np.abs(wanted)))), nan_ok=True)


@pytest.mark.parametrize("case", [*BAD, *REFUSED_FROM])
def test_bad_samples_are_refused_as_the_plan_refuses(case: str) -> None:
    level, sample = REFUSED_FROM.get(case, (1, BAD.get(case)))
    for name, k in STANDARD:
        if k >= level and (level < 3 or name in ("raw moments")):
            with pytest.raises(SymdecoupleError):
                plan_of(name).normalize(sample, level=k, on_refusal="raise")
            with pytest.raises(ValueError):
                code_of(name, k)(sample)


@pytest.mark.parametrize(("name", "level"), [e for e in EACH if e[0].split()[-1] in ("power", "skewness", "second")])
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_unit_is_not_felt_where_a_generator_is_a_scaling(name: str, level: int, scale: float) -> None:
    points = np.array(SETS[name].points)
    if (name, level) == ("squared skewness", 1):
        points, scale = points - points.mean(), 1.0
    assert code_of(name, level)(scale * points) == pytest.approx(code_of(name, level)(points), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("sample", [[2**60 + k * k for k in range(9)], np.uint64(2**63) + np.arange(5, dtype="u8")])
def test_what_rounding_makes_one_number_is_refused_as_the_plan_refuses_it(sample: Any) -> None:
    features, space = FeatureSet([Mean(x**2)]), dict[str, Any]()
    with pytest.raises(Refused, match=r"beyond float64|out of range"):
        decouple(features, [2]).normalize(sample, 1, on_refusal="raise")
    exec(normalizers(features, [2])[0].code(), space)
    with pytest.raises(ValueError, match="beyond float64"):
        space["normalize"](sample)
    assert space["normalize"]([2**60] * 4) == pytest.approx(np.full(4, 2**0.5))


def test_code_takes_the_types_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    for kind in ("Float64", "Float32", "Int64", "float64"):
        sample = pd.Series([1, 2, 4, 9, 3], dtype=kind)
        assert code_of("raw moments", 3)(sample) == pytest.approx(plan_of("raw moments").normalize(sample, 3), rel=1e-6)


@pytest.mark.parametrize(("points", "match"), [
    ([0, 0, 0, 1, 2], "3 samples tied at the minimum and 1 at the maximum the skewness lies strictly between 0.408248"),
    ([0, 0, 1, 2], "between 0 and"), ([0, 1, 2, 2], "tied"), ([0, 1, 0, 1, 1], "of fewer than three distinct values"),
    ([1, 1, 1], "zero variance"), ([1, np.inf, 2, 3], "infinite value"), ([], "no samples"), (1.0, "one sample"),
    (BAD["one left"], "fewer than two samples are left"), (["a", "b"], "real numbers"), ([1, None], "real numbers"),
    ([[1, 2, 4, 9], [0, 0, 0, 1]], r"sample vector \(1,\): the skewness of fewer"),
])
def test_refusals_say_why(points: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        code_of("raw moments", 3)(points)


@pytest.mark.parametrize(("name", "level", "points", "match"), [
    ("squared mean", 1, [-1, 1], "does not exist"), ("even and odd power", 1, [0, 0], "does not exist"),
    ("logarithm first", 1, [1, -2, 3], r"samples must lie in \(0, oo\)"),
    ("even and odd power", 2, [1, 2, 3, 5], "not attained: at t = .* gets no closer"),
    ("exponentials", 3, [1, 1, 1, 1], "not attained|critical"), ("circle", 3, [0.5, 0.5, 0.5], "not attained|critical"),
    ("even and odd power", 2, [1, -1, 1, -1, 0.5], None),
])
def test_what_does_not_exist_is_refused(name: str, level: int, points: list[float], match: str | None) -> None:
    if match is None:
        assert np.mean(code_of(name, level)(points) ** 5) == pytest.approx(0, abs=1e-14)
        return
    with pytest.raises(ValueError, match=match):
        code_of(name, level)(points)


def test_the_sign_of_the_mean_is_kept_where_two_signs_solve() -> None:
    normalize = code_of("squared mean", 2)
    points = np.array([1.0, 2.0, 4.0, 9.0])
    assert np.mean(normalize(points)) == pytest.approx(2, rel=1e-14)
    assert normalize(-points) == pytest.approx(-normalize(points), rel=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_squared_skewness_goes_to_the_near_root(sign: int) -> None:
    points = sign * np.array([1.0, 2.0, 4.0, 9.0, 20.0, 3.0])
    moved = code_of("squared skewness", 3)(points)
    assert np.mean(moved**3) == pytest.approx(sign / 3, rel=1e-13)


def test_concatenated_flows_in_a_bad_order_miss_what_the_other_order_reaches() -> None:
    """Scale and Riccati flow on samples that are not centred: the reachable skewness is 0.280 to 1.789."""
    points = [1, 1.1, 1.3, 2, 9, 60]
    space: dict[str, Any] = {}
    exec(normalizers(FeatureSet([M, Group(variance(), skewness())]), [0, 1, 0])[-1].code(), space)
    moved = space["normalize"](points)
    assert [float(np.mean(moved**k)) for k in (1, 2, 3)] == pytest.approx([0, 1, 0], abs=1e-13)


def test_the_whole_leaf_is_searched_off_the_centre_too() -> None:
    """t ends before the skewness -1, which the leaf has; at a mean of 20 the variance loses (1 + 20^2) roundings."""
    space: dict[str, Any] = {}
    exec(normalizers([M, variance(), skewness()], [20, 1, -1])[-1].code(), space)
    moved = space["normalize"]([1, 1.1, 1.3, 2, 9, 60]) - 20
    assert [float(np.mean(moved**k)) for k in (1, 2, 3)] == pytest.approx([0, 1, -1], abs=5e-13)


def test_next_to_a_pole_too_few_digits_are_refused() -> None:
    space: dict[str, Any] = {}
    last = normalizers([M, variance(), skewness()], [0, 1, Rational(2) / 3 ** Rational(1, 2) - Rational(1, 10**13)])[-1]
    exec(last.code(), space)
    with pytest.raises(ValueError, match=r"rounding leaves too few digits|not attained"):
        space["normalize"]([1.0, 2.0, 4.0, 7.0])


T = 10**20


@pytest.mark.parametrize(("points", "match"), [
    ([3, 14, 20, T, T + 1, T + 7], "came to one number"), ([5, 6, 2**62, 2**62 + 1], "came to one number"),
    ([1e300, 1e-300, 2e-300, 3e-300, 4e300], "came to one number"),
    ([3, 14, 20, T, T, T], "3 at the maximum the skewness lies strictly between -1.78885 and 0"),
    ([3, 3, 14, 14, 2 * T, T], None), ([10**400, 2 * 10**400, 3], "out of range: numbers, or differences"),
])
def test_ties_are_those_of_the_numbers_that_were_given(points: list[int], match: str | None) -> None:
    """Theorem C on exact numbers: three of six tied at the maximum reach zero in the limit only, two of six do."""
    if match is None:
        moved = code_of("raw moments", 3)(points)
        assert [float(np.mean(moved**k)) for k in (1, 2, 3)] == pytest.approx([0, 1, 0], abs=1e-13)
        return
    with pytest.raises(ValueError, match=match):
        code_of("raw moments", 3)(points)


@pytest.mark.parametrize("mean", [20, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("features", [[M, Mean(x**2), Mean(x**3)], [M, variance(), skewness()],
                                      [M, variance() ** Rational(1, 2), Mean(x**3)]])
def test_a_reference_mean_far_above_the_deviation(mean: int, features: Any) -> None:
    """The moments of what comes out, exactly, and Theorem B: level 2 is affine, and cross ratios stay at level 3."""
    points, elsewhere = [1.0, 2.0, 4.0, 8.0, 9.0], [0, 1, Fraction(-1, 4)]
    slack = 3e-16 * mean + 1e-13
    raw = {"0": mean, "1": mean**2 + 1, "2": mean**3 + 3 * mean - Rational(1, 4)}
    values = [raw[str(j)] if f == Mean(x**(j + 1)) else elsewhere[j] for j, f in enumerate(features)]
    for level in (1, 2, 3):
        space: dict[str, Any] = {}
        exec(normalizers(features[:level], values[:level])[-1].code(), space)
        plan = decouple(features[:level], values[:level])
        for found in (space["normalize"](points), plan.normalize(points, level=level)):
            off = [Fraction(v) - mean for v in found.tolist()]
            moments = [float(sum(v**k for v in off) / 5 - elsewhere[k - 1]) for k in range(1, level + 1)]
            assert np.abs(moments).max() <= 5 * slack
            if level < 3:
                unit = 1.0 if level == 1 else np.std(points)
                assert np.abs(np.array(off, dtype=float) - (np.array(points) - 4.8) / unit).max() <= 2 * slack
            else:
                a, b, c, d, _ = off
                assert float((a - c) * (b - d) / ((a - d) * (b - c))) == pytest.approx(9 / 7, abs=100 * slack)


def test_a_deviation_below_the_last_bit_of_the_mean() -> None:
    space: dict[str, Any] = {}
    exec(normalizers([M, Mean(x**2)], [10**17, 10**34 + 1])[-1].code(), space)
    with pytest.raises(ValueError, match="out of range: all entries of the sample come to one number"):
        space["normalize"]([1.0, 2.0, 4.0, 8.0, 9.0])


# --- templates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "root"), [
    (lambda t: t**3 - 2, 2 ** (1 / 3)), (lambda t: np.exp(-t) - 1e-9, 9 * np.log(10)),
    (lambda t: np.tan(t) - 1e6 if t < np.pi / 2 else np.nan, np.arctan(1e6)), (lambda t: t - 1e-200, 1e-200),
    (lambda t: t, 0.0)])
def test_roots_are_found_to_the_last_digits(gap: Any, root: float) -> None:
    with np.errstate(all="ignore"):
        assert root_from_zero(gap, 1.0, True) == pytest.approx(root, rel=1e-14, abs=0)


def test_no_root_before_the_end() -> None:
    with pytest.raises(ValueError, match="gets no closer"):
        root_from_zero(lambda t: t - 2 if t < 1 else np.nan, 1.0, True)
    with pytest.raises(ValueError, match="gets no closer"):
        root_from_zero(lambda t: 1 + (t - 1) ** 2, 1.0, False)


def test_of_two_roots_the_first_is_taken() -> None:
    assert root_from_zero(lambda t: (t - 1) * (t - 1.2), 3.0, False) == pytest.approx(1, rel=1e-14)


def test_bracket_of_a_step_function_closes() -> None:
    assert root_between(lambda t: -1.0 if t < 0.3 else 1e-3, 0.0, -1.0, 1.0, 1e-3) == pytest.approx(0.3, rel=1e-15)


def test_ties_at_the_bounds() -> None:
    points = np.array([0.0, 1, 2])
    for bound in (2**-0.5, -(2**-0.5)):  # three distinct values: -(1 - 2/3)/sqrt(2/9) to its negative
        with pytest.raises(ValueError, match="strictly"):
            on_moebius_leaf(points, bound * (1 + 1e-15), (1, 1))
        near, other = on_moebius_leaf(points, bound * (1 - 1e-9), (1, 1))
        assert np.abs(near - other).max() < 1e-6 * np.abs(near).max()
    assert on_moebius_leaf(points, 0.0, (1, 1))[0] == pytest.approx([0, 0.5, 1])


def test_newton_solves_a_linear_system_in_one_step() -> None:
    """Flows that add t to one number each, and linear features: one step of Newton's method is exact."""
    flows = [lambda x, t: x + t * np.array([1.0, 0]), lambda x, t: x + t * np.array([0, 1.0])]
    fields = [lambda x: np.array([1.0, 0]), lambda x: np.array([0, 1.0])]
    slopes = [lambda x, t: np.ones(2)] * 2
    matrix = np.array([[2.0, 1], [1, 3]])
    found, error = joint_steps(np.zeros(2), np.array([1.0, 2]), lambda x: matrix @ x, lambda x: 2 * matrix, flows,
                               slopes, fields)
    assert error.max() <= 2**-51
    assert found == pytest.approx(np.linalg.solve(matrix, [1.0, 2]), rel=1e-14)


@pytest.mark.parametrize("offset", [10, -300, 10**6, 2.0**50])
def test_code_of_exponentials_feels_no_offset(offset: float) -> None:
    """exp(y) is a Moebius image of exp(x - c), whatever c: it has the cross ratios of it, and y has the features."""
    features = FeatureSet([M, Mean(exp(x)), Mean(exp(-x))])
    space: dict[str, Any] = {}
    exec(normalizers(features, [0, 2, Rational(5, 2)])[-1].code(), space)
    sample = np.array([1.0, 2, 4, 4.5, 6])
    found = space["normalize"](offset + sample)
    with mpmath.workdps(40):
        means = [mpmath.fsum(mpmath.exp(k * mpmath.mpf(v)) for v in found) / 5 for k in (1, -1)]
        assert means == pytest.approx([2, 2.5], rel=1e-13) and abs(found.sum()) < 1e-14
        ratios = [[(a - c) * (b - d) / ((a - d) * (b - c)) for a, b, c, d in (row[:4], row[1:])]
                  for row in ([mpmath.exp(mpmath.mpf(v)) for v in each] for each in (sample, found))]
        assert ratios[1] == pytest.approx(ratios[0], rel=1e-12)


def test_code_of_moments_stays_in_the_domain() -> None:
    """The answer has the moments, is positive, and is a Moebius image of the sample: it has the cross ratios of it."""
    y = Sample("y", positive=True)
    space: dict[str, Any] = {}
    exec(normalizers(FeatureSet([Mean(y), Mean(y**2), Mean(y**3)]), [3, 18, 150])[-1].code(), space)
    sample = [0.5, 1, 2, 3, 0.1, 0.7, 4, 9]
    found = space["normalize"](sample)
    assert [np.mean(found**k) for k in (1, 2, 3)] == pytest.approx([3, 18, 150], rel=1e-12) and found.min() > 0
    ratios = [[(a - c) * (b - d) / ((a - d) * (b - c)) for a, b, c, d in (row[k : k + 4] for k in range(5))]
              for row in (sample, found.tolist())]
    assert ratios[1] == pytest.approx(ratios[0], rel=1e-10)


@pytest.mark.parametrize("offset", [10.0**9, 10.0**12, 10.0**15])
def test_order_that_rounding_turned_is_refused(offset: float) -> None:
    """x/(1 - t x) takes all numbers of such a sample to about 1, nearer to each other than float64 tells."""
    features = FeatureSet([Mean(x**3)])
    row, space = np.array([1.0, 2, 3, 5, 8, 13]) + offset, {}
    exec(normalizers(features, [1])[-1].code(), space)
    with pytest.raises(ValueError, match="out of range: all entries of the sample come to one number"):
        space["normalize"](row)
    with mpmath.workdps(60):  # 1/y = 1/x - t with mean cube 1: the order is kept
        inverse = [1 / mpmath.mpf(v) for v in row]
        spread = max(inverse) - min(inverse)
    assert spread < 2**-52
