"""What decoupled features owe to their references, their order and the perturbation: each changed by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.bank import FilterBank
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.moments import raw_moments
from symdecouple.families.tils import tils
from symdecouple.language.feature_set import FeatureSet
from symdecouple.reproduction.brodatz import plates
from symdecouple.reproduction.classifiers import naive_errors
from symdecouple.reproduction.laws import drawn
from symdecouple.reproduction.regression import printed_error
from symdecouple.reproduction.regressors import errors
from symdecouple.reproduction.result import Result, Row
from symdecouple.reproduction.setup import Part, Setup
from symdecouple.reproduction.texture_features import bands_of, quarter
from symdecouple.reproduction.textures_joint import PRINTED
from symdecouple.stats.moments import decoupled_moments

__all__ = ["measure"]

FloatArray = NDArray[np.float64]

LAWS = ("GGD", "GMD", "GND")
REGRESSORS = ("ET", "NNR")
NORMAL, UNIFORM, LAPLACE = (0, 1, 0, 3, 0, 15), (0, 1, 0, 9 / 5, 0, 27 / 7), (0, 1, 0, 6, 0, 90)
USUAL = "references of a normal law"
OF_DATA = "references the averages over the data"
AS_PRINTED = "order by order, smooth band first"


def measure(setup: Setup) -> Result:
    """Repeat the regressions and the second texture experiment with other references and orders of the features."""
    laws, sizes, vectors = setup.choose((LAWS[:1], (64,), 256), (LAWS, (64, 512), 2048))
    count, patches, order = setup.choose((4, 4, 3), (20, 10, 6))
    runs, folds = setup.choose((4, 3), (50, 10))
    files = plates(setup.data, count)
    samples, grey = (np.concatenate([quarter(path, standardized=one)[:patches] for path in files.values()])
                     for one in (True, False))
    labels = np.repeat(list(files), patches)
    setup.expect(len(laws) * len(sizes) * 6 + 8 + 8 + 3)
    rows = list[Row]()
    for law in laws:
        for size in sizes:
            rows += _shapes(setup, law, size, vectors)
    rows += _bands(setup, samples, labels, order, (folds, runs))
    rows += _jointly(setup, samples, labels, order, (folds, runs))
    rows += _perturbed(setup, grey, labels, setup.choose(6, 10), (folds, runs))
    remarks = (
        "References are asked of each feature after those before it, so the averages over the data are those of "
        "standardized samples: a mixture of laws of mean 0 and variance 1, whose moments some sample always has.",
        "A row leaves out the samples whose features are refused; their number stands beside it.",
        "The spread is that over cross-validations of the same patches; other patches move an error by more. Printed "
        "figures of textures are those of 25 patches a plate.",
    )
    settings = {"vectors": vectors, "plates": count, "patches of each": patches, "orders of moments of bands":
                f"2 to {order}", "runs": runs, "folds": f"5 and {folds}", "seed": setup.seed}
    return Result("ablations", "errors with other references, other orders of the features and perturbed samples",
                  "beside the tables of regression and of the second texture experiment", settings, tuple(rows),
                  remarks, setup.seconds)


def _shapes(setup: Setup, law: str, size: int, vectors: int) -> list[Row]:
    """Rows of the regression of the shape of a law."""
    samples, targets = drawn(setup.seed, law, size, vectors)
    found = {kind: setup.part(f"ablation-{law}-{size}", _moments, samples, reference, 6)["features"]
             for kind, reference in _references(samples).items()}
    for numbers in ((1, 2, 4, 3, 6, 5), (1, 2, 4, 6, 3, 5)):
        plan = decouple(FeatureSet([raw_moments(6)[k - 1] for k in numbers]))
        found[f"order {', '.join(map(str, numbers[2:]))}"] = setup.part(
            f"ablation-{law}-{size}", _transformed, plan, samples)["features"]
    rows = list[Row]()
    for kind, features in found.items():
        fine = np.isfinite(features).all(axis=1)
        for name in REGRESSORS:
            error = errors(name, features[fine, 2:], targets[fine], 0) if fine.sum() > vectors / 2 else np.nan
            rows.append(_row(f"{law}, N = {size}, {name}, {kind}: rmse", error, fine,
                             printed_error(law, size, name) if kind == USUAL else None))
    return rows


def _references(samples: FloatArray) -> dict[str, tuple[float, ...]]:
    """Standardized moments 1 to 6 of laws, and of all samples together, those on the last axis."""
    unit = (samples - samples.mean(axis=-1, keepdims=True)) / samples.std(axis=-1, keepdims=True)
    return {USUAL: NORMAL, "references of a uniform law": UNIFORM, "references of a Laplace law": LAPLACE,
            OF_DATA: tuple(float(np.mean(unit**k)) for k in range(1, 7))}


def _bands(setup: Setup, samples: FloatArray, labels: Any, order: int, ways: tuple[int, int]) -> list[Row]:
    """Rows of the classification by moments that are decoupled in each band by itself."""
    bands = bands_of(samples, low=True)
    rows = list[Row]()
    for kind, reference in _references(bands).items():
        features = setup.part("ablation-bands", _moments, bands, reference, order)["features"][..., 1:]
        rows.append(_classified(setup, f"moments in each band, {kind}", features, labels, ways,
                                PRINTED["naive", "DF MSM"][0] if kind == USUAL and order == 6 else None))
    return rows


def _jointly(setup: Setup, samples: FloatArray, labels: Any, order: int, ways: tuple[int, int]) -> list[Row]:
    """Rows of the classification by moments of bands that are decoupled all together."""
    orders = tuple(range(2, order + 1))
    bank = tils()
    turned = FilterBank(bank.filters[::-1], bank.names[::-1])
    usual = filter_moments(bank, orders)
    count, steps = len(bank), len(orders)
    centred = samples - samples.mean(axis=(1, 2), keepdims=True)
    own = np.asarray(decouple(usual).own_values(centred)).mean(axis=0)
    plans = {
        AS_PRINTED: decouple(usual),
        "order by order, smooth band last": decouple(filter_moments(turned, orders)),
        "band by band": decouple(FeatureSet([usual[count * i + j] for j in range(count) for i in range(steps)])),
        f"order by order, {OF_DATA}": decouple(usual, reference=[float(value) for value in own]),
    }
    rows = list[Row]()
    for kind, plan in plans.items():
        features = setup.part("ablation-jointly", _transformed, plan, centred)["features"]
        rows.append(_classified(setup, f"moments of bands together, {kind}", features, labels, ways,
                                PRINTED["naive", "DF MF"][0] if plan is plans[AS_PRINTED] and order == 6 else None))
    return rows


def _perturbed(setup: Setup, grey: FloatArray, labels: Any, order: int, ways: tuple[int, int]) -> list[Row]:
    """Rows of the classification by moments of grey values, which have ties."""
    flat = grey.reshape(len(grey), -1)
    rows = list[Row]()
    for kind in (None, "ramp"):
        features = setup.part("ablation-ties", _moments, flat, "gaussian", order, kind)["features"]
        fine = np.isfinite(features).all(axis=1)
        name = "as they are" if kind is None else "refused ones perturbed"
        rows.append(Row(f"grey values {name}: refused patches, order {order} [%]", float(100 * np.mean(~fine))))
    rows.append(_classified(setup, f"moments of grey values to order {order}, refused ones perturbed", features, labels,
                            ways))
    return rows


def _classified(setup: Setup, name: str, features: FloatArray, labels: Any, ways: tuple[int, int],
                printed: float | None = None) -> Row:
    flat = features.reshape(len(features), -1)
    fine = np.isfinite(flat).all(axis=1)
    found = setup.part("ablation-naive", naive_errors, flat[fine], labels[fine], *ways, setup.seed)["errors"]
    return _row(f"{name}: naive Bayes [%]", float(found.mean()), fine, printed, float(found.std()))


def _row(name: str, value: float, fine: Any, printed: float | None, spread: float | None = None) -> Row:
    left_out = int(np.sum(~fine))
    return Row(name, value if np.isfinite(value) else "refused", printed, spread,
               remark=f"{left_out} of {len(fine)} refused" if left_out else "")


def _moments(samples: FloatArray, reference: Any, order: int, kind: Any = None) -> dict[str, Any]:
    return {"features": decoupled_moments(samples, order, axis=samples.ndim - 1, reference=reference, perturb=kind,
                                          on_refusal="return")[0]}


def _transformed(plan: Plan, samples: FloatArray) -> Part:
    return {"features": plan.transform(samples, on_refusal="return")[0]}
