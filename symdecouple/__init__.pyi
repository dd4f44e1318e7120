from . import (
    analysis as analysis,
    calculus as calculus,
    cli as cli,
    decoupling as decoupling,
    errors as errors,
    families as families,
    flows as flows,
    language as language,
    lazy as lazy,
    numeric as numeric,
    sklearn as sklearn,
    stats as stats,
    verdict as verdict,
)
from .analysis.citations import citation as citation
from .calculus.bracket import (
    derivative_along as derivative_along,
    inner_product as inner_product,
    lie_bracket as lie_bracket,
)
from .calculus.certificates import verdict_from_json as verdict_from_json
from .calculus.closure import InvolutiveClosure as InvolutiveClosure, involutive_closure as involutive_closure
from .calculus.field import VectorField as VectorField
from .calculus.forms import OneForm as OneForm
from .calculus.frobenius import check_frobenius as check_frobenius
from .calculus.gradient import gradient as gradient
from .calculus.independence import check_independence as check_independence
from .decoupling.plan import Plan as Plan, decouple as decouple
from .decoupling.reference import Reference as Reference
from .decoupling.storage import plan_from_json as plan_from_json
from .decoupling.transferred import Transferred as Transferred
from .errors import (
    BudgetExceeded as BudgetExceeded,
    InvalidInput as InvalidInput,
    MissingPackage as MissingPackage,
    NoClosedForm as NoClosedForm,
    Outcome as Outcome,
    PerturbedWarning as PerturbedWarning,
    RefusalWarning as RefusalWarning,
    Refused as Refused,
    SymdecoupleError as SymdecoupleError,
    UnsupportedExpression as UnsupportedExpression,
)
from .families.bank import FilterBank as FilterBank
from .flows.first_integrals import FirstIntegrals as FirstIntegrals, first_integrals as first_integrals
from .flows.holonomic import holonomic as holonomic
from .flows.normalizer import Normalizer as Normalizer, normalizers as normalizers
from .language.feature import Feature as Feature
from .language.feature_set import FeatureSet as FeatureSet, Group as Group
from .language.filters import Filter as Filter, Filtered as Filtered, shift as shift
from .language.mean import Mean as Mean
from .language.sample import Sample as Sample, coordinates as coordinates, sample as sample, x as x
from .language.statistics import (
    central_moment as central_moment,
    kurtosis as kurtosis,
    skewness as skewness,
    standard_deviation as standard_deviation,
    variance as variance,
)
from .language.text import parse as parse, to_text as to_text
from .numeric.paths.narrow_path_adjoint import GradientCheck as GradientCheck, check_gradient as check_gradient
from .numeric.perturbing import Perturbation as Perturbation
from .verdict import Status as Status, Verdict as Verdict
from .versions import show_versions as show_versions

__version__: str

__all__ = [
    "BudgetExceeded",
    "Feature",
    "FeatureSet",
    "Filter",
    "FilterBank",
    "Filtered",
    "FirstIntegrals",
    "GradientCheck",
    "Group",
    "InvalidInput",
    "InvolutiveClosure",
    "Mean",
    "MissingPackage",
    "NoClosedForm",
    "Normalizer",
    "OneForm",
    "Outcome",
    "Perturbation",
    "PerturbedWarning",
    "Plan",
    "Reference",
    "RefusalWarning",
    "Refused",
    "Sample",
    "Status",
    "SymdecoupleError",
    "Transferred",
    "UnsupportedExpression",
    "VectorField",
    "Verdict",
    "__version__",
    "central_moment",
    "check_frobenius",
    "check_gradient",
    "check_independence",
    "citation",
    "coordinates",
    "decouple",
    "derivative_along",
    "first_integrals",
    "gradient",
    "holonomic",
    "inner_product",
    "involutive_closure",
    "kurtosis",
    "lie_bracket",
    "normalizers",
    "parse",
    "plan_from_json",
    "sample",
    "shift",
    "show_versions",
    "skewness",
    "standard_deviation",
    "to_text",
    "variance",
    "verdict_from_json",
    "x",
]
