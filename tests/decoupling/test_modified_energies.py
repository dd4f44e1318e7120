"""C2 of modified energies: refuted at a sample, and the lemma on spectra against differences of gradients."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sympy import S

from symdecouple import FeatureSet, Filter, FilterBank, Group, Mean, Plan, decouple, variance, verdict_from_json, x
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.decoupling.verdicts.refutation import decide_modified
from symdecouple.families import autocorrelation, second_order_moments, tils
from symdecouple.verdict import Status

BANK = FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]], names="lmh")
N = 9


def brackets(plan: Plan, at: np.ndarray) -> tuple[np.ndarray, dict[tuple[int, int], np.ndarray]]:
    """N times the gradients of decoupled features, and their brackets by central differences."""
    def fields(y: np.ndarray) -> np.ndarray:
        return len(at) * plan.gradients(y)

    own, step = fields(at), 1e-5
    along = [(fields(at + step * v) - fields(at - step * v)) / (2 * step) for v in own]
    return own, {(i, j): along[i][j] - along[j][i] for i, j in combinations(range(len(own)), 2)}


def distance(vector: np.ndarray, fields: np.ndarray) -> float:
    rest = vector - fields.T @ np.linalg.lstsq(fields.T, vector, rcond=None)[0]
    return float(np.linalg.norm(rest) / np.linalg.norm(vector))


@pytest.mark.parametrize("level", [2, 3])
def test_the_lemma_on_the_level(level: int) -> None:
    plan = decouple(second_order_moments(FilterBank([*BANK.filters[:2], [1, 2, 4]])))
    sample = plan.normalize(np.random.default_rng(level).normal(size=N), level)
    fields, found = brackets(plan, sample)
    shown = np.fft.fft(fields, axis=1) / np.fft.fft(sample)  # 2 b_j where the features before are at their references
    for i, j in combinations(range(3), 2):
        said = np.fft.ifft(-2 * shown[i] * shown[j] * np.fft.fft(sample)).real
        gap = said - found[i, j]
        rest = gap - fields.T @ np.linalg.lstsq(fields.T, gap, rcond=None)[0]
        assert np.linalg.norm(rest) < 1e-6 * np.linalg.norm(found[i, j])


@pytest.mark.parametrize("features", [
    FeatureSet([Mean(x), variance(), Mean(Filter([-1, 2, -1])(x) ** 2), Mean(Filter([1, 2, 3])(x) ** 2)]),
    FeatureSet([Mean(x**2), Mean(Filter([-1, 2, -1])(x) ** 2), Mean(Filter([1, 2, 3])(x) ** 2)]),
    autocorrelation([0, 1, 2]), second_order_moments(FilterBank.from_wavelet(
        type("Haar", (), {"dec_lo": [0.5**0.5] * 2, "dec_hi": [-(0.5**0.5), 0.5**0.5]}), levels=2)),
], ids=["mean and variance", "second moment", "autocorrelation", "wavelet"])
def test_what_is_not_shift_and_scale_fails(features: FeatureSet) -> None:
    plan = decouple(features, [1, 0.5, 0.25] if "shift" in str(features[1]) else "gaussian")
    last = len(features)
    found = plan.verdicts.modified[last]
    assert found.status is Status.REFUTED and found.certificate.verify()
    again = verdict_from_json(found.to_json())
    assert again.certificate == found.certificate and again.certificate.verify()
    sample = np.random.default_rng(7).normal(size=16)
    fields, differences = brackets(plan, sample)
    i, j = found.failing_pair
    assert distance(differences[i - 1, j - 1], fields) > 1e-4


def test_images() -> None:
    features = second_order_moments(FilterBank(list(tils(low=False))[:2]))
    found = decouple(features).verdicts.modified[2]
    assert found.status is Status.REFUTED and found.certificate.verify()
    assert len(found.certificate.n_samples) == 2


def test_scale_alone_is_proved() -> None:
    h = Filter([-1, 2, -1])
    plan = decouple([Mean(x**2), Mean(h(x) ** 2)])
    fields, found = brackets(plan, np.random.default_rng(3).normal(size=N))
    assert distance(found[0, 1], fields) < 1e-6  # homogeneous of degree 0: the bracket is a multiple of the second
    assert plan.verdicts.modified[2].status is Status.PROVED


def test_inside_a_group_no_level_lies_between() -> None:
    plan = decouple(FeatureSet([Group(*(Mean(h(x) ** 2) for h in BANK.filters[:2])), Mean(BANK["h"](x) ** 2)]))
    assert plan.verdicts.modified[2] is plan.verdicts.original[2]
    found = plan.verdicts.modified[3]
    assert found.status is Status.REFUTED and found.failing_pair in ((1, 3), (2, 3))


def test_a_pair_that_stays_in_the_span_does_not_verify() -> None:
    features = FeatureSet([Mean(x**2), *list(second_order_moments(BANK))[:2]])
    found = decide_modified(ModifiedSubject.first(features, 3, [S(1), S(3), S(2)]), ()).certificate
    assert found.pair == (2, 3) and found.verify()
    for pair in ((1, 2), (1, 3)):
        assert not replace(found, pair=pair, witness=replace(found.witness, pair=pair)).verify()


@pytest.mark.slow
def test_nine_bands_fail_on_a_grid_that_tells_them_apart() -> None:
    """On 5 x 5 samples nine energies span all symmetric circular operators, and no bracket leaves that."""
    found = decouple(second_order_moments(tils())).verdicts.modified[9]
    assert found.status is Status.REFUTED and found.certificate.n_samples == (6, 6)
    assert found.certificate.verify(60)


def test_frequency_responses_have_no_exact_weights() -> None:
    bank = FilterBank.from_responses([[1, 0.5, 0, 0.5], [0, 1, 1, 1]])
    found = decouple(second_order_moments(bank)).verdicts.modified[2]
    assert found.status is Status.UNDECIDED and "frequency domain" in found.reason
