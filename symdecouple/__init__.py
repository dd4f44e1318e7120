"""Decoupling of global features: exact verdicts, closed-form normalizers, accurate numbers.

A *feature* is a real function of a sample vector, declared symbolically for every number of samples at
once, such as ``Mean(x**2) - Mean(x)**2``. Two features are *decoupled* where their gradients are orthogonal.

>>> import symdecouple as sd
>>> from symdecouple import Mean, x
>>> verdict = sd.check_frobenius(sd.FeatureSet([Mean(x), Mean(x**2), Mean(x**3)]))
>>> verdict.status is sd.Status.PROVED
True

Names load on first use (PEP 562): importing the package loads neither NumPy nor SymPy. Type checkers read
the stub beside this file; a test keeps the two alike.
"""

from importlib import import_module

_MODULE_OF = {
    "BudgetExceeded": "errors",
    "InvalidInput": "errors",
    "MissingPackage": "errors",
    "NoClosedForm": "errors",
    "Outcome": "errors",
    "PerturbedWarning": "errors",
    "RefusalWarning": "errors",
    "Refused": "errors",
    "SymdecoupleError": "errors",
    "UnsupportedExpression": "errors",
    "Status": "verdict",
    "Verdict": "verdict",
    "Sample": "language.sample",
    "coordinates": "language.sample",
    "sample": "language.sample",
    "x": "language.sample",
    "Mean": "language.mean",
    "Filter": "language.filters",
    "Filtered": "language.filters",
    "shift": "language.filters",
    "central_moment": "language.statistics",
    "kurtosis": "language.statistics",
    "skewness": "language.statistics",
    "standard_deviation": "language.statistics",
    "variance": "language.statistics",
    "Feature": "language.feature",
    "FeatureSet": "language.feature_set",
    "Group": "language.feature_set",
    "parse": "language.text",
    "to_text": "language.text",
    "OneForm": "calculus.forms",
    "VectorField": "calculus.field",
    "gradient": "calculus.gradient",
    "derivative_along": "calculus.bracket",
    "inner_product": "calculus.bracket",
    "lie_bracket": "calculus.bracket",
    "check_independence": "calculus.independence",
    "check_frobenius": "calculus.frobenius",
    "InvolutiveClosure": "calculus.closure",
    "involutive_closure": "calculus.closure",
    "verdict_from_json": "calculus.certificates",
    "FirstIntegrals": "flows.first_integrals",
    "first_integrals": "flows.first_integrals",
    "holonomic": "flows.holonomic",
    "Normalizer": "flows.normalizer",
    "normalizers": "flows.normalizer",
    "GradientCheck": "numeric.paths.narrow_path_adjoint",
    "check_gradient": "numeric.paths.narrow_path_adjoint",
    "FilterBank": "families.bank",
    "Reference": "decoupling.reference",
    "Perturbation": "numeric.perturbing",
    "Transferred": "decoupling.transferred",
    "Plan": "decoupling.plan",
    "decouple": "decoupling.plan",
    "plan_from_json": "decoupling.storage",
    "citation": "analysis.citations",
    "show_versions": "versions",
}

# Attributes too, but not of a star import: `verdict` and `stats` are what a user calls a variable.
_SUBMODULES = frozenset(
    "analysis calculus cli decoupling errors families flows language lazy numeric sklearn stats verdict".split()
)

__all__ = ["__version__", *sorted(_MODULE_OF)]  # noqa: PLE0604 - built from the table


def __getattr__(name: str) -> object:
    value: object
    if name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"{__name__}.{name}")
    elif name == "__version__":
        value = _version()
    else:
        raise import_module(f"{__name__}.names").unknown_name(__name__, name)
    globals()[name] = value
    return value


def _version() -> str:
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version(__name__))
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
