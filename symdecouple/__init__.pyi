from . import calculus as calculus
from . import cli as cli
from . import errors as errors
from . import language as language
from . import stats as stats
from . import verdict as verdict
from .calculus.bracket import derivative_along as derivative_along
from .calculus.bracket import inner_product as inner_product
from .calculus.bracket import lie_bracket as lie_bracket
from .calculus.certificates import verdict_from_json as verdict_from_json
from .calculus.field import VectorField as VectorField
from .calculus.frobenius import check_frobenius as check_frobenius
from .calculus.gradient import gradient as gradient
from .calculus.independence import check_independence as check_independence
from .errors import BudgetExceeded as BudgetExceeded
from .errors import InvalidInput as InvalidInput
from .errors import NoClosedForm as NoClosedForm
from .errors import Outcome as Outcome
from .errors import RefusalWarning as RefusalWarning
from .errors import Refused as Refused
from .errors import SymdecoupleError as SymdecoupleError
from .errors import UnsupportedExpression as UnsupportedExpression
from .language.feature import Feature as Feature
from .language.feature import FeatureSet as FeatureSet
from .language.feature import Group as Group
from .language.filters import Filter as Filter
from .language.filters import Filtered as Filtered
from .language.filters import shift as shift
from .language.mean import Mean as Mean
from .language.sample import Sample as Sample
from .language.sample import coordinates as coordinates
from .language.sample import sample as sample
from .language.sample import x as x
from .language.text import parse as parse
from .language.text import to_text as to_text
from .verdict import Status as Status
from .verdict import Verdict as Verdict

__version__: str

__all__ = [
    "__version__",
    "BudgetExceeded",
    "Feature",
    "FeatureSet",
    "Filter",
    "Filtered",
    "Group",
    "InvalidInput",
    "Mean",
    "NoClosedForm",
    "Outcome",
    "RefusalWarning",
    "Refused",
    "Sample",
    "Status",
    "SymdecoupleError",
    "UnsupportedExpression",
    "VectorField",
    "Verdict",
    "check_frobenius",
    "check_independence",
    "coordinates",
    "derivative_along",
    "gradient",
    "inner_product",
    "lie_bracket",
    "parse",
    "sample",
    "shift",
    "to_text",
    "verdict_from_json",
    "x",
]
