"""`symdecouple decouple` along a plan: decoupled features, normalized samples, explanations, formulas, digits."""

import csv
import io
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.stats

from symdecouple.cli.cells import read_cell
from symdecouple.cli.samples import arrange
from symdecouple.cli.text_file import read_grid
from symdecouple.errors import InvalidInput
from tests.cli.conftest import Told
from tests.stats.oracle import TABLE

MICHELSON = str(Path(__file__).parents[2] / "symdecouple" / "cli" / "data" / "michelson.csv")
RUNS = np.loadtxt(MICHELSON, delimiter=",")
NAMES = ["mean", "variance", "skewness", "orthokurtosis", "moment_5", "moment_6"]


@pytest.fixture
def told(tmp_path: Path, told: Told) -> Told:
    """What `decouple` says about a file with this content (None: no file): exit code, output, errors."""

    def run(content: str | None, *options: str, code: int = 0) -> tuple[str, str]:
        files = []
        if content is not None:
            (tmp_path / "data.csv").write_text(content)
            files = [str(tmp_path / "data.csv")]
        return told("decouple", *files, *options, code=code)

    return run


def rows_of(samples: list) -> str:
    return "\n".join(",".join(map(str, sample)) for sample in samples)


# --- decoupled features -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLE["decoupled_moments"], ids=lambda case: str(len(case["sample"])))
def test_moments_are_those_of_the_oracle(told, case: dict) -> None:
    (sample,) = json.loads(told(rows_of([case["sample"]]), "--moments", "6", "--json").out)["samples"]
    data = np.array(case["sample"], dtype=float)
    assert [name for name in sample if name in NAMES] == NAMES
    assert sample["mean"] == pytest.approx(data.mean(), rel=1e-15)
    assert sample["variance"] == pytest.approx(data.var(), rel=1e-14)
    assert sample["skewness"] == pytest.approx(scipy.stats.skew(data), rel=1e-13)
    for name, order in zip(NAMES[3:], ("order4", "order5", "order6"), strict=True):
        assert sample[name] == pytest.approx(float(case[order]), rel=1e-9)


def test_features_in_the_order_given_file_last(told: Told) -> None:
    answer = json.loads(told(None, "--json", "--features", "mean(x)", "variance()", "skewness()", MICHELSON).out)
    assert (answer["reference"], answer["path"], answer["dps"]) == (["0", "1", "0"], "auto", None)
    for sample, run in zip(answer["samples"], RUNS, strict=True):
        found = [sample[name] for name in ("mean(x)", "variance()", "skewness()")]
        assert found == pytest.approx([run.mean(), run.var(), scipy.stats.skew(run)], rel=1e-12)


def test_a_reference_moves_the_second_moment(told) -> None:
    """Along the flow of the mean, Mean(x^2) at Mean(x) = m is the variance plus m^2."""
    text = rows_of([[1, 2, 4, 9], [3, 5, 5, 6]])
    for reference, m in (("0.5,2", 0.5), ("-1/4,3,0", -0.25)):
        out = told(text, "--moments", "3", "--reference", reference, "--json").out
        for sample, data in zip(json.loads(out)["samples"], ([1, 2, 4, 9], [3, 5, 5, 6]), strict=True):
            assert sample["mean(x**2)"] == pytest.approx(np.var(data) + m**2, rel=1e-14)


def test_the_legend_names_the_features_in_the_table(told) -> None:
    lines = told("1,2,4\n", "--features", "mean(x)", "mean(x^2)").out.splitlines()
    head = lines.index("each feature decoupled from those before it:")
    assert lines[head + 1 : head + 4] == ["  f1  mean(x)", "  f2  mean(x^2)", ""]
    assert lines[head + 4].split() == ["sample", "N", "f1", "f2"]
    assert lines[head + 5].split() == ["row", "1", "3", "2.33333", "1.55556"]


def test_rows_that_lack_a_level_say_so(told) -> None:
    text = "constant,7,7,7,7\ntwo,0,0,1,1\nmissing,1,,4,5\nthree,1,2,4\none,5\n"
    out = told(text, "--features", "mean(x)", "mean(x^2)", "mean(x^3)", "mean(x^4)", "--json", code=4).out
    constant, two, missing, three, one = json.loads(out)["samples"]
    names = ["mean(x)", "mean(x^2)", "mean(x^3)", "mean(x^4)"]
    assert set(constant["refused"]) == set(names[2:])
    assert (constant["mean(x)"], constant["mean(x^2)"]) == (7, 0)
    assert two["mean(x^4)"] == pytest.approx(1)  # half ones, half zeros: symmetric as they are
    assert set(missing["refused"]) == set(names)
    assert set(one["refused"]) == set(names[2:]) and (one["mean(x)"], one["mean(x^2)"]) == (5, 0)
    assert "--nan-policy omit" in missing["refused"]["mean(x)"]
    assert three["mean(x^4)"] == pytest.approx(1.5, rel=1e-12)  # three values without skewness are -1, 0, 1
    for sample in (constant, two, missing, three, one):
        assert {name for name in names if sample[name] is None} == set(sample["refused"])
    table = told(text, "--features", "mean(x)", "mean(x^2)", "mean(x^3)", code=4).out
    assert "nan" not in table.replace("--nan-policy", "").lower()
    assert "  - no f3 for constant: zero variance" in table


def test_integers_past_2_53_keep_their_digits(told) -> None:
    values = [2**60 + k for k in (1, 2, 9, 4, 23, 0, -1, -6)]
    small = np.array([1.0, 2, 9, 4, 23, 0, -1, -6])
    for option in (("--moments", "4"), ("--features", "mean(x)", "variance()", "skewness()")):
        (sample,) = json.loads(told(rows_of([values]), *option, "--json").out)["samples"]
        found = list(sample.values())[3:6]
        assert found[1:] == pytest.approx([small.var(), scipy.stats.skew(small)], rel=1e-13)
        assert found[0] == float(Fraction(sum(values), 8))


# --- digits -----------------------------------------------------------------------------------------------------------


def test_decimals_are_exact_where_digits_are_asked_for(told) -> None:
    values = [Fraction(1, 10), Fraction(2, 10), Fraction(-4, 10), Fraction(9, 10)]
    mean = sum(values) / 4
    variance = sum((v - mean) ** 2 for v in values) / 4
    for text in ("0.1,0.2,-.4,9e-1\n", "0,1;0,2;-0,4;0,9\n"):
        (sample,) = json.loads(told(text, "--dps", "40", "--json").out)["samples"]
        with mpmath.workdps(45):
            for name, wanted in (("mean", mean), ("variance", variance)):
                assert isinstance(sample[name], str)
                exact = mpmath.mpf(wanted.numerator) / wanted.denominator
                assert abs(mpmath.mpf(sample[name]) - exact) <= abs(exact) * mpmath.mpf(10) ** -39


def test_json_tells_residual_and_error_where_digits_are_asked_for(told) -> None:
    text = "1,2,3,5,8,13\n0.1,0.2,-1,4,4,6\n,,,,,\n"
    for options in ((), ("--normalize",)):
        common = ("--moments", "4", "--axis", "rows", "--json", *options)
        one, two, missing = json.loads(told(text, *common, "--dps", "25", code=4).out)["samples"]
        for sample in (one, two):
            assert 0 <= mpmath.mpf(sample["residual"]) < 1e-25
            assert 1e-26 < mpmath.mpf(sample["error"]) < 1e-24  # a unit in the last digit at least
        assert missing.get("error") is None
        plain = json.loads(told(text, *common, code=4).out)["samples"]
        assert "error" not in plain[0] and "residual" not in plain[0]


def test_thirty_digits_of_the_orthokurtosis(told) -> None:
    cases = TABLE["orthokurtosis"][:3]
    options = ("--moments", "4", "--axis", "rows", "--dps", "30", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(told(rows_of([case["sample"] for case in cases]), *options).out)))
    for row, case in zip(found, cases, strict=True):
        assert len(row["orthokurtosis"].replace(".", "")) == 30
        with mpmath.workdps(40):
            gap = abs(mpmath.mpf(row["orthokurtosis"]) - mpmath.mpf(case["orthokurtosis"]))
            assert gap < mpmath.mpf(10) ** -28


def test_an_exact_cell_is_bounded() -> None:
    assert read_cell("1e-300", is_exact=True) == Fraction(1, 10**300)
    assert read_cell("9007199254740993", is_exact=True) == 9007199254740993
    for text in ("1e4001", "1e-999999999", "9" * 5000, "0." + "1" * 5000):
        for is_exact in (True, False):
            with pytest.raises(InvalidInput, match="more than 4000 digits"):
                read_cell(text, is_exact=is_exact)
    (vector,) = arrange(read_grid("0.1,NA,2", is_exact=True)).vectors
    assert vector[0] == Fraction(1, 10)
    assert vector[1] != vector[1]


# --- normalized samples -----------------------------------------------------------------------------------------------


def test_normalized_samples_have_the_reference(told) -> None:
    out, err = told(rows_of(RUNS.tolist()), "--moments", "4", "--normalize")
    assert "5 samples, the rows" in err
    rows = list(csv.reader(io.StringIO(out)))
    assert [row[0] for row in rows] == [f"row {k}" for k in range(1, 6)]
    for row, run in zip(rows, RUNS, strict=True):
        z = np.array(row[1:], dtype=float)
        assert [z.mean(), z.var(), (z**3).mean()] == pytest.approx([0, 1, 0], abs=1e-13)
        assert (np.argsort(z, kind="stable") == np.argsort(run, kind="stable")).all()


def test_a_level_and_the_columns_of_the_file(told) -> None:
    out, _ = told("a,b\n1,2\n2,NA\n4,9\n7,4\n", "--normalize", "--level", "1", "--nan-policy", "omit")
    names, *rows = csv.reader(io.StringIO(out))
    assert names == ["a", "b"]
    assert [float(row[0]) for row in rows] == [-2.5, -1.5, 0.5, 3.5]
    assert [row[1] and float(row[1]) for row in rows] == [-3, "", 4, -1]  # 2, 9, 4 less their mean
    out, _ = told("1,2,9\n", "--normalize", "--level", "0", "--json")
    assert json.loads(out)["samples"] == [{"label": "row 1", "values": [1, 2, 9], "refused": None}]


def test_a_sample_that_cannot_be_normalized(told, tmp_path: Path) -> None:
    text = "a,1,2,4,9\nb,7,7,7\n"
    out, err = told(text, "--normalize", code=4)
    assert out.splitlines()[1] == "b,,,"
    assert "b is not normalized: zero variance" in err
    answer = json.loads(told(text, "--normalize", "--json", code=4).out)
    assert answer["samples"][1]["values"] is None
    assert answer["samples"][1]["refused"].startswith("zero variance")
    told(text, "--normalize", "-o", str(tmp_path / "out.csv"), code=4)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 2


# --- what the plan is -------------------------------------------------------------------------------------------------


def test_explain_tells_levels_verdicts_and_scenario(told) -> None:
    out, err = told(None, "--explain")
    assert err == ""
    assert out.startswith('path "auto", scenario 2\nlevel 1: Mean(x) = 0, explicit')
    assert "level 3: Mean(x**3) = 0, implicit" in out
    assert "level 4: Mean(x**4) = 3, narrow path" in out
    assert "REFUTED (3, 4) for every N >= 5" in out
    assert "the first 4 decoupled features are proved mutually decoupled" in out
    assert max(map(len, out.splitlines())) <= 88
    answer = json.loads(told(None, "--explain", "--json").out)
    assert answer["format"] == "symdecouple.plan"
    levels, verdicts = answer["plan"]["levels"], answer["plan"]["verdicts"]
    assert [level["method"] for level in levels] == ["explicit", "explicit", "implicit", "narrow path"]
    assert verdicts[3]["original"] | {"reason": ""} == {"status": "REFUTED", "failing_pair": [3, 4], "reason": ""}


def test_explain_beside_the_numbers(told) -> None:
    out, _ = told("1,2,4\n", "--features", "mean(x)", "variance()", "--explain")
    assert out.index("sample") < out.index('path "auto", scenario 4')
    answer = json.loads(told("1,2,4\n", "--features", "mean(x)", "variance()", "--explain", "--json").out)
    assert answer["samples"][0]["variance()"] == pytest.approx(14 / 9)
    plan = answer["plan"]
    assert [level["method"] for level in plan["levels"]] == ["explicit", "explicit"]
    assert [verdict["original"]["status"] for verdict in plan["verdicts"]] == ["PROVED", "PROVED"]
    assert (plan["scenario"]["lowest"], plan["exact"]) == (4, 2)


def test_formulas(told) -> None:
    text, _ = told(None, "--formulas", "--moments", "4")
    assert "  x -> (x - Mean(x))/sqrt(-Mean(x)**2 + Mean(x**2))\n" in text
    assert "level 4: Mean(x**4) = 3\n  no closed form: S_4, the features 1 to 4, is not proved involutive" in text
    latex = told(None, "--formulas", "latex").out.splitlines()
    assert latex[0] == r"\[ N_{1}(x) = x - \overline{x} \]"
    assert all(line.startswith(r"\[ N_") and line.endswith(r" \]") for line in latex[:3])
    assert latex[3].startswith("% level 4: no closed form")
    assert told(None, "--formulas", "text", "--level", "1").out.splitlines()[1] == "  x -> x - Mean(x)"
    assert told(None, "--formulas", "--path", "narrow").out.count("no closed form") == 4


def test_the_code_runs_alone(told, tmp_path: Path) -> None:
    source, _ = told(None, "--moments", "4", "--formulas", "code")
    head = source.partition("\n\n")[0]
    assert head.startswith("# normalize(x) brings samples to level 3: ")
    assert "# Level 4, Mean(x**4) = 3: no closed form" in head
    (tmp_path / "made.py").write_text(source + "\nimport sys, json\n"
                                      "print(json.dumps([normalize([1.0, 2, 3, 5, 8, 13]).tolist(),\n"
                                      "                  sorted(m for m in sys.modules if m.startswith('symd'))]))\n")
    done = subprocess.run([sys.executable, "-I", str(tmp_path / "made.py")], check=True, capture_output=True,
                          timeout=120)
    values, loaded = json.loads(done.stdout)
    z = np.array(values)
    assert loaded == []
    assert [z.mean(), z.var(), (z**3).mean()] == pytest.approx([0, 1, 0], abs=1e-13)
    assert (z**4).mean() == pytest.approx(float(TABLE["orthokurtosis"][0]["orthokurtosis"]), rel=1e-12)


def test_code_as_json_says_where_there_is_none(told) -> None:
    first, second, third = json.loads(told(None, "--features", "mean(x)", "mean(x^3)", "mean(x^2)", "--formulas",
                                           "--json").out)["plan"]["levels"]
    assert "def normalize(x):" in first["code"]
    for level in (second, third):
        assert (level["code"] is None) == ("no_code" in level) == (level["latex"] is None)
    assert "no closed form" in second["no_code"]


# --- what does not go together, and what is light ---------------------------------------------------------------------


@pytest.mark.parametrize(("options", "said"), [
    (["--features", "__import__('os').system('true')"], "formula 1: "), (["--features", "mean(x^10^10)"], "exponent"),
    (["--features", "mean(x)", "mean(a*x^2)"], "the parameter a must have a value"),
    (["--features", "mean(x)", "2*mean(x)+mean(x)-2*mean(x)"], "the same"),
    (["--features", "mean(x1)"], "formula 1"), (["--features", "mean(1/x)"], "reference value"),
    (["--moments", "13"], "from 1 to 12"), (["--moments", "2", "--features", "mean(x)"], "name one"),
    (["--reference", "0,-1"], "take 4 reference values"), (["--reference", "0,-1,0"], "must be positive"),
    (["--reference", "0,1,0,1"], "must be above 1"), (["--reference", "0,1/0,0"], "number 2"),
    (["--reference", "0,x,0"], "number 2"), (["--reference", "0,1e999999999,0"], "number 2"),
    (["--reference", "0,oo,0"], "number 2"), (["--reference", "cauchy,1,2"], "number 1"),
    (["--dps", "0"], "from 1 to 1000"), (["--dps", "1e3"], "from 1 to 1000"), (["--level", "2"], "--level belongs"),
    (["--normalize", "--level", "5"], "above the number"), (["--normalize", "--format", "table"], "CSV or JSON"),
    (["--explain", "--format", "csv"], "take --json"), (["--formulas", "code"], "stands alone"),
    (["--normalize", "--explain"], "take --json"), (["--path", "broad", "--moments", "6"], "level 4"),
    (["--at", "a=1"], "--features"), (["--domain", "x=positive"], "--domain belongs"), (["--path", "short"], "--path"),
])
def test_what_cannot_be_done_is_told(told, options: list[str], said: str) -> None:
    out, err = told("1,2,4,9,5\n", *options, code=3)
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert len(err) < 600
    if "--json" not in said and "JSON" not in said and "alone" not in said:  # those are refused in other formats only
        answer = json.loads(told("1,2,4,9,5\n", *options, "--json", code=3).out)
        assert answer["exit_code"] == 3
        assert said in answer["error"]


@pytest.mark.parametrize(("options", "said"), [
    ([], "a FILE is needed"), (["--moments", "3"], "a FILE is needed"), (["--explain", "--normalize"], "name a FILE"),
    (["--explain", "--dps", "9"], "name a FILE"), (["--formulas", "code", "--path", "narrow"], "there is no code"),
    (["--formulas", "--level", "0"], "there is no level 0"), (["--features", "mean(x)"], "a FILE is needed"),
    (["--formulas", "pdf"], "no such file"),
])
def test_what_needs_a_file_or_a_formula(told, options: list[str], said: str) -> None:
    out, err = told(None, *options, code=3)
    assert out == ""
    assert said in err


def test_negative_numbers_and_formulas_are_no_options(told) -> None:
    out, _ = told("1,2,4\n", "--features", "-mean(x)", "mean(x^2)", "--reference", "-1,2", "--json")
    (sample,) = json.loads(out)["samples"]
    assert sample["-mean(x)"] == pytest.approx(-7 / 3)
    assert sample["mean(x^2)"] == pytest.approx(14 / 9 + 1)
