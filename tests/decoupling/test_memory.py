"""What a plan takes beside its samples and its answers, and that samples stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sympy import exp

import symdecouple as sd
from symdecouple import FeatureSet, Mean, x
from symdecouple.decoupling import running
from symdecouple.families import raw_moments, second_order_moments, tils
from symdecouple.language.black_box import BlackBox
from tests.traced import peak

Array = NDArray[Any]
ENERGIES = sd.decouple(FeatureSet([Mean(x), *list(second_order_moments(tils()))[:4]]))
METHODS = ("transform", "normalize", "gradients")


def test_one_image() -> None:
    """A transform and half of one; with the answer in its memory, with its kernel and what powers need of a transform;
    or the gradients of the mean and four energies."""
    image = np.random.default_rng(0).standard_normal((1024, 1024))
    values = ENERGIES.transform(image)  # with what is made once for all images
    normal: list[Array] = []
    for images, ask in (
            (2.1, lambda: ENERGIES.transform(image)), (2.1, lambda: normal.append(ENERGIES.normalize(image))),
            (4, lambda: ENERGIES.denormalize(normal[0], values)), (6.6, lambda: ENERGIES.gradients(image))):
        assert peak(ask) < images * image.nbytes


@pytest.mark.parametrize(("method", "results"), [("transform", 0), ("normalize", 1), ("gradients", 5)])
def test_a_batch_takes_one_image_at_a_time(monkeypatch: pytest.MonkeyPatch, method: str, results: int) -> None:
    monkeypatch.setattr(running, "_CHUNK", 2**12)
    images = np.random.default_rng(1).standard_normal((40, 64, 64))
    ENERGIES.transform(images[0])
    few = peak(lambda: getattr(ENERGIES, method)(images[:8]))
    many = peak(lambda: getattr(ENERGIES, method)(images))
    assert many - few < (1.1 * 32 * results + 2) * images[0].nbytes


LONG = 300_000
RNG = np.random.default_rng(3)
SAMPLES: dict[str, Any] = {
    "normal": RNG.normal(size=LONG), "Cauchy": RNG.standard_cauchy(size=LONG), "two": RNG.exponential(size=(2, LONG)),
    "integers": RNG.integers(-999, 999, size=LONG), "float32": RNG.exponential(size=LONG).astype(np.float32),
    "masked": np.ma.masked_array(RNG.normal(size=LONG), np.arange(LONG) % 7 == 0)}
SAMPLES["weighted"] = SAMPLES["normal"]
WEIGHTS = RNG.uniform(0.5, 2, size=LONG)
ROADS = [  # order, method, sample; what is returned, and what is taken beside it, both in float64 samples
    (4, "transform", "normal", 0, 2.4), (6, "transform", "Cauchy", 0, 1.5), (4, "transform", "weighted", 0, 2.8),
    (6, "transform", "weighted", 0, 2), (6, "transform", "masked", 0, 3), (4, "normalize", "normal", 1, 1.6),
    (6, "normalize", "normal", 1, 2.4), (6, "normalize", "Cauchy", 1, 2.4), (6, "normalize", "two", 1, 2),
    (6, "normalize", "float32", 0.5, 2.8), (6, "normalize", "integers", 1, 3.3), (6, "normalize", "masked", 1.125, 3.1),
    (4, "normalize", "weighted", 1, 1.8), (6, "normalize", "weighted", 1, 2.4), (4, "gradients", "normal", 4, 1.7),
    (6, "gradients", "normal", 6, 1.7), (4, "gradients", "weighted", 4, 2.8), (6, "gradients", "weighted", 6, 2.8),
    (6, "denormalize", "normal", 1, 2.4), (4, "match", "normal", 1, 2.4)]


@pytest.mark.parametrize(("order", "method", "name", "answers", "beside"), ROADS)
def test_long_samples(order: int, method: str, name: str, answers: float, beside: float) -> None:
    """Their entries follow no path, or an answer of order 6 would take thirty of them beside it."""
    plan, sample, options = sd.decouple(raw_moments(order)), SAMPLES[name], dict[str, Any]()
    given, more = sample.copy(), tuple[Any, ...]()
    given.flags.writeable = WEIGHTS.flags.writeable = False
    if name == "weighted":
        options["weights"] = WEIGHTS
    if method == "denormalize":
        more, given = (plan.transform(given),), plan.normalize(given)
        sample, given.flags.writeable = given.copy(), False
    elif method == "match":
        more = ([0.1, 1.5, 0.3, 6],)
    ask = partial(getattr(plan, method), given, *more, **options)
    assert np.isfinite(ask()).all()  # numba is loaded now
    assert peak(ask) < (answers + beside) * 8 * given.size
    assert (given == sample).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_refused_image_takes_next_to_nothing(value: float) -> None:
    image = np.zeros((512, 512))
    image[511, 511] = value
    assert peak(lambda: ENERGIES.transform(image, on_refusal="return")) < 0.5 * image.nbytes


PLANS: dict[str, tuple[Callable[[], sd.Plan], tuple[int, ...]]] = {
    "energies": (lambda: ENERGIES, (2, 8, 9)),
    "images along the narrow path": (
        lambda: sd.decouple(list(second_order_moments(tils()))[:2], path="narrow"), (2, 4, 4)),
    "moments": (lambda: sd.decouple(raw_moments(4)), (3, 12)),
    "narrow": (lambda: sd.decouple(raw_moments(3), path="narrow"), (3, 12)),
    "perturbed": (lambda: sd.decouple(raw_moments(3), perturb="ramp"), (3, 12)),
    "black box": (
        lambda: sd.decouple([Mean(x), BlackBox(lambda v: np.multiply(v, v, out=v).mean(), name="b")], [0, 1]), (3, 12))}


def asked(plan: sd.Plan, samples: Array) -> list[Array]:
    """Return all answers, those of level 0 and of single samples included."""
    last = len(plan.features) - 1
    levels = sorted({0, 1, last})
    normal = [plan.normalize(batch, k) for batch in (samples, samples[0]) for k in levels]
    back = plan.denormalize(normal[levels.index(last)], plan.transform(samples))
    return [*normal, back, plan.denormalize(samples, np.zeros((len(samples), last + 1)), 0),
            *(getattr(plan, method)(batch) for batch in (samples, samples[0]) for method in METHODS)]


@pytest.mark.filterwarnings("ignore::symdecouple.errors.PerturbedWarning")
@pytest.mark.parametrize("name", PLANS)
def test_samples_are_read_only_and_answers_are_not_theirs(name: str) -> None:
    make, shape = PLANS[name]
    plan = make()
    samples = np.random.default_rng(3).standard_normal(shape)
    if name == "perturbed":
        samples = np.floor(samples)
        samples[1] = 4 * (np.arange(shape[1]) > 9)
    given = samples.copy()
    given.flags.writeable = False
    first = asked(plan, given)
    assert np.array_equal(given, samples)
    for answer in first:
        assert answer.flags.writeable and not np.may_share_memory(answer, given)
    kept = [answer.copy() for answer in first]
    for answer in first:
        answer[...] = 7  # nothing that a plan keeps is in them
    for again, before in zip(asked(plan, given), kept, strict=True):
        np.testing.assert_array_equal(again, before)


# --- one very long sample: the room it takes, and that its type does not matter ---

N = 2**17 + 1
MOMENTS = sd.decouple(raw_moments(4), [3, 13, 63, 380])
OTHERS = sd.decouple([Mean(x), Mean(exp(-x / 4096))], [3000, 0.5])


def test_room_beside_one_long_sample() -> None:
    """Samples at a level: the answer, the level before it, a slope or a part."""
    row = 1e3 + np.random.default_rng(1).laplace(size=N)
    values, normal = MOMENTS.transform(row), MOMENTS.normalize(row)
    assert peak(lambda: MOMENTS.transform(row)) < 3 * row.nbytes + 2**20
    assert peak(lambda: MOMENTS.normalize(row)) < 4 * row.nbytes
    back = MOMENTS.denormalize(normal, values)
    assert np.abs(back - row).max() <= 1e-9 * row.std()


@pytest.mark.parametrize("kind", ["uint16", "float32"])
def test_narrow_samples_move_as_wide_ones(kind: str) -> None:
    """Beside a constant one, to no level too, and through a plan of other features than moments."""
    rng = np.random.default_rng(5)
    rows = np.round(3000 + np.clip(rng.laplace(0, 200, (2, N)), -2500, 2500)).astype(kind)
    rows[1] = 7
    wide = rows.astype(np.float64)
    digits = {"rtol": 1e-5, "atol": 1e-5} if kind == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    levels = [partial(MOMENTS.normalize, level=level) for level in (0, 1, 3)]
    for ask in (MOMENTS.transform, OTHERS.transform, MOMENTS.gradients, *levels):
        (found, outcomes), (expected, reasons) = ask(rows, on_refusal="return"), ask(wide, on_refusal="return")
        assert [one.reason for one in outcomes] == [one.reason for one in reasons]
        assert outcomes[0].ok
        np.testing.assert_allclose(found, expected, **digits)
