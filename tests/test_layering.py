"""The house's order: a module imports only from what is listed above it.

`ROOMS` and `ORDER` below are that order, written once. To add a module, put its name where it belongs: after
everything it imports, before everything that imports it. Every import counts, those inside functions and
under ``TYPE_CHECKING`` too. Where a room is a package, its ``__init__`` is the room's face: it may import the
whole room, other rooms may import from it, the room's own modules may not. A room may have rooms inside:
``moments.ties`` is the module ``ties`` in the room ``moments`` of the room it is listed for.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "symdecouple"
ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400
NAMES_OF_NOTHING = {"utils", "util", "helpers", "common", "tools", "misc"}

ROOMS = (
    "shown waiting replacing errors names verdict figures language calculus flows numeric tables families decoupling "
    "analysis versions stats sklearn lazy pandas reproduction cli"
).split()

ORDER = {
    "language": (
        "precision failures gamma_shifts sample budget polynomials gate closed_forms limits mean boundaries "
        "convolution taps  filter_notation filter_arrays filtered filters statistics binding black_box waves radicands "
        "disguise kinks  feature feature_set lags partial_fractions exponentials circle canonical printer "
        "syntax reader text pickled"
    ),
    "calculus": (
        "common_zeros arguments lattice field_generators common_denominator coefficients coincidences outcomes "
        "gamma_functions elementary sample_chart extent field gradient bracket span forms jets subject specialization "
        "kernels operators compositions matrices symmetric_operators elements composites leading rewriting pointwise "
        "convolution frame convolution_frame membership near_dependence left_out sample_values segments cell "
        "witness coordinate_frame minor_conditions candidates exceptional evidence audit windows locality "
        "every_size claims cells cellwise sample_rank sample_claims ties certificates filtered sample_independence "
        "by_cells independence frobenius verification bracket_growth closure_claims closure_up_to_integrals "
        "closure_search "
        "point_growth closure"
    ),
    "flows": (
        "generators projective coordinate kernels chart quadrature catalogue source evaluation flow verification "
        "separable spectral steps domains leaf about_mean normalizer_templates normalizer_source normalizer "
        "linear_relations symmetries darboux conics ansatz reduction characteristics constancy integral_search "
        "first_integrals holonomic"
    ),
    "numeric": (  # seven rooms, one after the other
        "samples.kinds samples.frames samples.intake samples.matrix samples.weights samples.batch samples.exact_means "
        "samples.mapped samples.vectors samples.asked "
        ""
        "kernels.compile kernels.parallel "
        "features.differences features.black_box features.fourier features.filtering features.expressions "
        "features.features features.coordinates features.bank_kernel features.bank "
        "energies.eigenvalues energies.tilting energies.tilting_kernel energies.frequencies energies.power_spectrum "
        "energies.cone energies.problems energies.gradients "
        "energies.normalization "
        "energies.inverse "
        "paths.runge_kutta paths.integrate paths.projection "
        "paths.narrow_path paths.narrow_path_adjoint paths.black_box_rows paths.empirical "
        "moments.power_sums moments.hankel moments.hankel_kernel "
        "moments.tied_edges moments.tied_range moments.kurtosis_ends moments.out_of_reach moments.attainable "
        "moments.skewness_series moments.ties moments.skewness_root moments.skewness_flow moments.skewness_kernel "
        "moments.moment_path moments.moment_path_adjoint moments.nodes_kernel moments.moment_path_kernel "
        "moments.bins moments.long_rows moments.levels moments.gradients moments.influence "
        "moments.shaped moments.matched moments.correlated moments.value_map moments.normal_null "
        "precision.collocation precision.certain_refusals precision.path precision.path_adjoint "
        "precision.tilting precision.energies "
        "barycentre perturbation perturbing"
    ),
    "tables": "row_functions labels groups grouped labelled",
    "families": "moments linear_forms bank tils filter_moments quadratic exact recognition circular",
    "decoupling": (  # the plan and what it is made of, and four rooms behind it
        "expectations reference attainable.reference motions.motion offsets motions.orbit "
        "motions.joint_steps motions.nested_roots routes.route routes.moments routes.energies "
        "routes.precise_energies routes.narrow verdicts.at_references verdicts.modified "
        "verdicts.refutation verdicts.decisions verdicts.scenario verdicts.closures inner_order leading choice "
        "attainable.levels application dependence explanation precise progress counted "
        "running attainable.ranges "
        "report denormalizing carrying colour_channels lookup_table transfer_picture transferred transfer "
        "decoupled_names plan_picture plan_facts matching plan storage"
    ),
    "analysis": (  # its faces, and a room behind each
        "angles.deviations angles.tables angles.directions angles.picture angles.pair_picture orthogonality "
        "critical.tie_patterns critical.value_boxes "
        "critical.exact_values critical.pattern_solutions critical.claims critical.point critical.moment_level "
        "critical.certificate critical.two_values critical.chebyshev critical.interval_newton "
        "critical.chebyshev_level critical.spectral_level critical.local_extrema critical.multiplier_equations "
        "critical.searched_level critical.readers critical_points critical.sphere critical.picture spheres "
        "flow_lines spectrum_picture explained document.typesetting document.proofs documents citations "
        "exploration.remembered "
        "exploration.sets exploration.orders exploration.chain exploration.measured exploration.tables "
        "exploration.report planner population.densities population.law population.readers population.quadrature "
        "population.settling population.leaf population.levels population.symmetric population.higher "
        "population.node_paths population.averages populations "
        "discrimination.influence discrimination.gaussian discrimination.picture discriminability "
        "discrimination.scatter enclosure.numbers enclosure.root enclosure.series enclosure.climb "
        "enclosure.expressions enclosure.written enclosures"
    ),
    "stats": (
        "shape coordinates perturbed orders moments interval_picture estimates normality ranges columns matching "
        "rolling"
    ),
    "sklearn": "checked answered moments declared images",
    "lazy": "chunks summary state measure vectors levels dask_arrays recordings xarray_objects dispatch ",
    "pandas": "",
    "reproduction": (
        "setup result brodatz regressors mutual_information classifiers texture_features laws orthogonality "
        "orthokurtosis discrimination regression redundancy textures_marginal textures_joint transfer scenarios "
        "regressor_variants ablations catalogue"
    ),
    "cli": (
        "exit_codes help_texts streams argument_types arguments waiting declaration exact_numbers cells text_head "
        "text_file samples sample_rows shape_rows moment_rows plan_rows matched_samples report sample_file "
        "normalized_report "
        "plan_report pictures image_files image_features decouple colours channel transfer_files transfer check "
        "explore explain "
        "reproduce demo compile_kernels command"
    ),
}

# Methods of the contract that hand on to a later module (module, target): why. Inside a function or under
# TYPE_CHECKING only, so that nothing is loaded in a circle; a door that nobody uses any more is an error.
DOORS = {
    ("numeric.samples.intake", "lazy.dispatch"): "an object of dask or xarray among the samples is answered there",
    ("verdict", "calculus.verification"): "Verdict.verify recomputes what the verdict says",
    ("decoupling.plan_facts", "analysis.citations"): "Plan.citation asks about the whole plan",
    ("verdict", "analysis.documents"): "Verdict.document writes the theorem and its proof",
    ("analysis.critical.point", "analysis.critical.picture"): "CriticalPoints.plot draws where Matplotlib is",
    ("decoupling.plan_facts", "decoupling.storage"): "Plan.to_json writes the whole plan",
    ("calculus.frobenius", "numeric.paths.empirical"): "check_frobenius(samples=X): black boxes are not exact",
    ("language.feature", "calculus.field"): "the type of Feature.gradient",
    ("language.feature", "calculus.gradient"): "Feature.gradient is the vector field",
    ("language.filtered", "language.filters"): "the type of Filtered.filter",
    ("language.feature", "language.pickled"): "a feature pickles as the text that makes it anew",
    ("language.feature_set", "language.text"): "features of a set may be given as text",
}

# These load neither SymPy nor anything of ours that does; `errors` stands on the standard library alone.
SYMPY_FREE = {
    "shown",
    "waiting",
    "replacing",
    "errors",
    "names",
    "verdict",
    "figures",
    "language.boundaries",
    "language.convolution",
    "numeric",  # the face of the room: importing numeric.samples.batch runs it
    "numeric.energies",
    "numeric.kernels",
    "numeric.moments",
    "numeric.paths",  # the face; of its modules, those of ordinary differential equations
    "numeric.paths.runge_kutta",
    "numeric.paths.integrate",
    "numeric.barycentre",
    "numeric.perturbation",
    "numeric.perturbing",
    "numeric.samples",
    "lazy",
    "stats",
    "tables",
}


def name_of(path: Path, package_root: Path) -> str:
    """The module's name below the package: ``language/mean.py`` is ``language.mean``, a face is its room."""
    parts = path.relative_to(package_root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources() -> dict[str, str]:
    root = ROOT / PACKAGE
    return {name_of(path, root): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}


def at_import_time(tree: ast.Module) -> set[ast.AST]:
    """The statements that run when the module is imported: those of no function and not under TYPE_CHECKING."""
    reached: set[ast.AST] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        reached.add(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return reached


def imports(name: str, source: str, modules: set[str]) -> Iterator[tuple[str, bool]]:
    """What the module imports, by absolute name, and whether already when it is imported itself.

    ``from package import module`` counts as that module.
    """
    is_face = any(other.startswith(f"{name}.") for other in modules) or name == ""
    here = [PACKAGE, *filter(None, name.split("."))]
    package = here if is_face else here[:-1]
    tree = ast.parse(source)
    eager = at_import_time(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in eager) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                if (origin, alias.name) == (PACKAGE, "__version__"):
                    continue  # read from the metadata: loads no room
                full = f"{origin}.{alias.name}"
                yield full if full.removeprefix(f"{PACKAGE}.") in modules else origin, node in eager


def position(name: str) -> tuple[int, int]:
    """Where the module stands: its room, then its place inside; a room's face stands below its modules."""
    room, *rest = name.split(".")
    if room not in ROOMS:
        raise LookupError(f"{PACKAGE}.{name}: no such room; add it to the order in tests/test_layering.py")
    order, inside = ORDER.get(room, "").split(), ".".join(rest)
    if inside in order:
        return ROOMS.index(room), 2 * order.index(inside)
    behind = [i for i, other in enumerate(order) if not inside or other.startswith(f"{inside}.")]
    if inside and not behind:
        raise LookupError(f"{PACKAGE}.{name}: add it to the order in tests/test_layering.py")
    return ROOMS.index(room), 2 * max(behind, default=0) + 1


def is_sympy_free(name: str) -> bool:
    outer = name.rpartition(".")[0]
    return name in SYMPY_FREE or (outer not in ("", "numeric", "numeric.paths") and is_sympy_free(outer))


def violations(modules: dict[str, str]) -> list[str]:
    """One sentence for each import, name or length that breaks the order."""
    found = []
    for name, source in modules.items():
        if name in ("", "__main__"):  # the public table, checked in test_public_names, and the command line's door
            continue
        try:
            place = position(name)
        except LookupError as unknown:
            found.append(str(unknown))
            continue
        for target, eager in sorted(set(imports(name, source, set(modules)))):
            top, *rest = target.split(".")
            if top == "sympy" and is_sympy_free(name):
                found.append(f"{PACKAGE}.{name} imports {target}, and must load without SymPy")
            if top != PACKAGE:
                continue
            inner = ".".join(rest)
            if (name, inner) in DOORS and not eager:
                continue
            if not inner:
                found.append(f"{PACKAGE}.{name} imports from {PACKAGE} itself: name the module instead")
                continue
            try:
                is_above = position(inner) < place
            except LookupError:
                found.append(f"{PACKAGE}.{name} imports {target}, which is nowhere in the order")
                continue
            if not is_above:
                found.append(f"{PACKAGE}.{name} imports {target}, which is not listed above it")
            elif is_sympy_free(name) and not is_sympy_free(inner):
                found.append(f"{PACKAGE}.{name} imports {target}, which may load SymPy")
    return found


def test_every_module_imports_only_from_above() -> None:
    found = violations(sources())
    assert not found, "\n".join(["", *found])


def test_every_door_is_used() -> None:
    modules = sources()
    used = {
        (name, target.removeprefix(f"{PACKAGE}."))
        for name in {name for name, _ in DOORS}
        for target, _ in imports(name, modules[name], set(modules) | {target for _, target in DOORS})
    }
    assert used >= set(DOORS), "close the door: remove it from DOORS"


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("errors", "from symdecouple.verdict import Status", "not listed above"),
        ("language.sample", "from .mean import Mean", "not listed above"),
        ("language.sample", "def f():\n    from symdecouple.language import mean", "not listed above"),
        ("language.mean", "from symdecouple.language import x", "not listed above"),
        ("language.mean", "if TYPE_CHECKING:\n    import symdecouple.calculus.field", "not listed above"),
        ("language.mean", "from ..calculus.field import VectorField", "not listed above"),
        ("language.mean", "from symdecouple import x", "name the module"),
        ("language.feature", "from symdecouple.calculus.gradient import gradient", "not listed above"),
        ("language.helpful", "", "add it to the order in tests/test_layering.py"),
        ("kitchen.sink", "", "add it to the order in tests/test_layering.py"),
        ("stats", "import sympy as sp", "without SymPy"),
        ("numeric.samples.batch", "def f():\n    from sympy.core import Expr", "without SymPy"),
        ("numeric.moments.skewness_root", "from symdecouple.language.mean import Mean", "may load SymPy"),
        ("numeric.moments.ties", "from symdecouple.numeric import moments", "not listed above"),
        ("numeric.moments.ties", "from symdecouple.numeric.moments.skewness_root import f", "not listed above"),
        ("numeric.samples.batch", "from symdecouple.numeric.moments import ties", "not listed above"),
    ],
)
def test_a_violation_is_found(name: str, source: str, said: str) -> None:
    known = "errors language language.mean calculus.field verdict "
    known += "numeric.moments numeric.moments.skewness_root numeric.moments.ties"
    (sentence,) = violations(dict.fromkeys(known.split(), "") | {name: source})
    assert said in sentence


def test_what_is_allowed_is_not_a_violation() -> None:
    allowed = {
        "errors": "from dataclasses import dataclass",
        "language.sample": "import sympy\nfrom symdecouple.errors import InvalidInput",
        "language.mean": "from .sample import Sample\nfrom ..errors import InvalidInput",
        "language": "from .mean import Mean",
        "calculus.field": "from symdecouple.language import Mean, mean",
        "numeric": "",
        "numeric.samples.batch": "import numpy as np\nfrom symdecouple.errors import Outcome",
        "language.feature": "def gradient(self):\n    from symdecouple.calculus.gradient import gradient",
        "stats": "from symdecouple.numeric.samples import batch",
        "numeric.moments": "",
        "numeric.moments.ties": "",
        "numeric.moments.skewness_root": "from symdecouple.numeric.moments import ties",
        "numeric.moments.skewness_flow": "import symdecouple.numeric.moments.skewness_root",
    }
    assert violations(allowed) == []


def python_files() -> list[Path]:
    return [path for folder in (PACKAGE, "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_every_file_is_named_for_its_concept() -> None:
    nameless = [str(path.relative_to(ROOT)) for path in python_files() if path.stem in NAMES_OF_NOTHING]
    assert not nameless, f"{nameless}: name the file for its concept; without a better name it has no place yet"


def test_no_file_is_longer_than_a_concept() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in python_files()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert not long, f"more than {MAX_LINES} lines, split by concept: {long}"
