"""Results have types: what a type checker sees of calls, and that no public function answers `Any` without a reason."""

import inspect
import os
import subprocess
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator
from importlib import import_module, resources
from pathlib import Path

import pytest

import symdecouple

ROOT = Path(symdecouple.__file__).parents[1]

# As much of libraries as tells their objects apart: they need not be here, and mypy does not read the real ones.
STUBS = {
    "pandas": """
        from typing import Any
        class Series:
            @property
            def iloc(self) -> Any: ...
        class DataFrame:
            @property
            def iloc(self) -> Any: ...
            @property
            def columns(self) -> Any: ...
    """,
    "xarray": """
        from typing import Any
        class DataArray:
            @property
            def chunks(self) -> Any: ...
            def compute(self, **kwargs: Any) -> DataArray: ...
    """,
}
READ = [  # of the package; the rest is Any, and read in no time
    "stats.*", "lazy.*", "tables.*", "numeric.samples.*", "errors", "shown",
    *(f"decoupling.{module}" for module in ("plan", "plan_facts", "running", "matching", "transferred")),
]
CONFIG = f"""
    [mypy]
    strict = True
    follow_imports = silent
    [mypy-symdecouple.*,sympy.*,mpmath.*,scipy.*,numba.*,matplotlib.*,dask.*]
    follow_imports = skip
    ignore_missing_imports = True
    [mypy-{",".join(f"symdecouple.{module}" for module in READ)}]
    follow_imports = silent
"""
HEAD = """
    from collections.abc import Callable, Iterator
    from typing import Any, assert_type

    import numpy as np
    import pandas as pd
    import xarray as xr
    from numpy.typing import NDArray

    from symdecouple import lazy, stats
    from symdecouple.decoupling.plan import Plan
    from symdecouple.decoupling.transferred import Transferred
    from symdecouple.errors import Outcome
    from symdecouple.stats import CircularShape, Matched, MomentEstimates, Range, ShapeTest

    Vectors = NDArray[np.floating[Any]]
    Outcomes = tuple[Outcome, ...]

    def calls(flat: list[float], nested: list[list[float]], array: NDArray[np.float64], series: pd.Series,
              frame: pd.DataFrame, data: xr.DataArray, plan: Plan, transferred: Transferred) -> None:
"""
NUMBERS = "skewness", "kurtosis", "orthokurtosis", "log_shape"
VECTORS = "decoupled_moments", "standardized_moments", "blest"
RECORDS = {"circular_shape": "CircularShape", "skewness_range": "Range", "kurtosis_range": "Range",
           "orthokurtosis_range": "Range", "orthokurtosis_test": "ShapeTest", "normality_test": "ShapeTest",
           "estimate_moments": "MomentEstimates"}
METHODS = {"transform": "{}", "normalize": "{}, 2", "denormalize": "{}, values=[0, 1]", "gradients": "{}",
           "match": "{}, [0, 1]"}


def lines() -> Iterator[tuple[str, str]]:
    """Calls, and the types of what they return."""
    for name in NUMBERS:
        yield f"stats.{name}(flat)", "np.float64"
        yield f"stats.{name}(nested)", "Vectors | Any"
        yield f"stats.{name}(array, 1, 'omit')", "Vectors | Any"
        yield f"stats.{name}(series)", "np.float64"
        yield f"stats.{name}(frame, axis=1)", "pd.Series"
        yield f"stats.{name}(frame, axis=None)", "Vectors | Any"
        yield f"stats.{name}(flat, keepdims=True)", "Vectors"
        yield f"stats.{name}(data, dim='time')", "xr.DataArray"
        yield f"stats.{name}(array, on_refusal='return')", "tuple[Vectors | Any, Outcomes]"
        yield f"stats.{name}(frame, on_refusal='return')", "tuple[Any, Outcomes]"
        yield f"stats.{name}(flat, groups=[1, 2])", "Any"
    for name in VECTORS:
        yield f"stats.{name}(flat, 4)", "Vectors"
        yield f"stats.{name}(array, order=4, axis=None)", "Vectors"
        yield f"stats.{name}(series)", "pd.Series"
        yield f"stats.{name}(frame)", "pd.DataFrame"
        yield f"stats.{name}(frame, axis=None)", "pd.Series"
        yield f"stats.{name}(data)", "xr.DataArray"
        yield f"stats.{name}(array, on_refusal='return')", "tuple[Vectors, Outcomes]"
        yield f"stats.{name}(frame, on_refusal='return')", "tuple[pd.DataFrame, Outcomes]"
        yield f"stats.{name}(frame, groups='name')", "Any"
    for name, kind in RECORDS.items():
        for given in ("flat", "array", "frame"):
            yield f"stats.{name}({given}, on_refusal='raise')", kind
            yield f"stats.{name}({given}, on_refusal='return')", f"tuple[{kind}, Outcomes]"
    yield "stats.skewness(a=flat)", "np.float64"
    for names, kind in (("skewness orthokurtosis log_shape", "np.float64"), ("decoupled_moments blest", "Vectors"),
                        ("skewness_range kurtosis_range", "Range")):
        yield f"[f(flat) for f in ({', '.join(f'stats.{name}' for name in names.split())})]", f"list[{kind}]"
    yield "stats.match(sample=flat, mean=0)", "Any"
    yield "stats.match(array, mean=0, skewness=[1, 2], axis=1)", "Matched"
    yield "stats.match(frame, variance=1, on_refusal='return')", "tuple[Matched, Outcomes]"
    yield "stats.rolling(flat, 3)", "Vectors | Any"
    yield "stats.rolling(array, 3, 'skewness', on_refusal='return')", "tuple[Vectors | Any, Outcomes]"
    yield "stats.rolling(frame, 3)", "Any"
    for method, call in METHODS.items():
        yield f"plan.{method}({call.format('flat')})", "NDArray[Any]"
        yield f"plan.{method}({call.format('array')}, axis=0)", "NDArray[Any]"
        yield f"plan.{method}({call.format('frame')})", "pd.DataFrame"
        yield f"plan.{method}({call.format('data')})", "xr.DataArray"
        yield f"plan.{method}({call.format('array')}, on_refusal='return')", "tuple[NDArray[Any], Outcomes]"
        yield f"plan.{method}({call.format('frame')}, on_refusal='return')", "tuple[pd.DataFrame, Outcomes]"
    yield "plan.own_values(flat)", "NDArray[Any]"
    yield "plan.own_values(array, on_refusal='return')", "tuple[NDArray[Any], Outcomes]"
    yield "plan.transfer(flat, array)", "Transferred"
    yield "transferred.apply(array)", "NDArray[Any]"
    yield "transferred.apply(array, on_refusal='return')", "tuple[NDArray[Any], Outcomes]"
    yield "lazy.MomentState().finalize()", "lazy.MomentSummary"
    yield "lazy.MomentState().finalize('return')", "tuple[lazy.MomentSummary, Outcomes]"
    yield "lazy.moments([array])", "lazy.MomentState"
    yield "lazy.decoupled_moments([array])", "Vectors"
    yield "lazy.decoupled_moments([array], on_refusal='return')", "tuple[Vectors, Outcomes]"
    yield "lazy.normalize([array])", "Callable[[], Iterator[Vectors]]"
    yield "lazy.normalize(data)", "xr.DataArray"


WRONG = {  # a call, and what is said of it
    "stats.skewness(flat, fischer=True)": "call-overload",
    "stats.log_shape(flat, bias=False)": "call-overload",
    "stats.decoupled_moments(flat, order='four')": "call-overload",
    "stats.skewness(flat, nan_policy='leave')": "call-overload",
    "plan.transform(flat, on_refusal='ignore')": "call-overload",
    "stats.skewness(flat).loc": "attr-defined",
    "plan.normalize(array, on_refusal='return').shape": "attr-defined",
}


def mypy(folder: Path, body: Iterator[str]) -> list[str]:
    """What mypy says of a function with this body."""
    (folder / "mypy.ini").write_text(textwrap.dedent(CONFIG), encoding="utf-8")
    for name, stub in STUBS.items():
        (folder / f"{name}.pyi").write_text(textwrap.dedent(stub), encoding="utf-8")
    source = textwrap.dedent(HEAD) + "".join(f"    {line}\n" for line in body)
    (folder / "calls.py").write_text(source, encoding="utf-8")
    path = {} if "site-packages" in ROOT.parts else {"MYPYPATH": str(ROOT)}  # mypy refuses it to be there twice
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir=cache", "--no-error-summary", "calls.py"],
        cwd=folder, env=os.environ | path, capture_output=True, text=True, timeout=300, check=False)
    assert not done.stderr, done.stderr
    return [f"{said}    {source.splitlines()[int(said.split(':')[1]) - 1].strip()}"
            for said in done.stdout.splitlines() if ": error:" in said or said.startswith("mypy")]


def test_what_a_type_checker_sees(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    right = [f"assert_type({call}, {kind})" for call, kind in lines()]
    wrong = [f"{call}  # type: ignore[{code}]" for call, code in WRONG.items()]  # one that is not needed is an error
    said = mypy(tmp_path, iter([*right, *wrong]))
    assert not said, "\n".join(["", *said])


# --- annotations ---

DOORS = ["", "analysis", "calculus", "cli", "decoupling", "errors", "families", "flows", "language", "lazy", "numeric",
         "sklearn", "stats", "verdict"]
ANY = {
    "symdecouple.verdict.Verdict.witness": "each kind of certificate has its own",
    "symdecouple.stats.estimates.MomentEstimates.standard_error": "of the type of the estimates: array, or frame",
    "symdecouple.stats.rolling.rolling": "of a Series or a frame: either, as the statistic is",
}


def public_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    """Functions, methods and properties of all public names, by where they are defined."""
    for door in DOORS:
        module = import_module(f"symdecouple.{door}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            public = getattr(module, name)
            names = [name for name in dir(public) if not name.startswith("_")] if inspect.isclass(public) else []
            for value in [inspect.getattr_static(public, name) for name in names] or [public]:
                inner = (getattr(value, kind, None) for kind in ("fget", "__func__", "func"))
                function = inspect.unwrap(next(filter(None, inner), value))
                if inspect.isfunction(function) and function.__module__.startswith("symdecouple"):
                    yield f"{function.__module__}.{function.__qualname__}", function


def test_no_public_function_answers_any() -> None:
    functions = dict(public_functions())
    assert len(functions) > 200
    untyped = {name for name, function in functions.items()
               if {"Any", inspect.Signature.empty} & {inspect.signature(declared).return_annotation
                                                      for declared in typing.get_overloads(function) or [function]}}
    assert untyped == set(ANY)


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("symdecouple").joinpath("py.typed").is_file()
