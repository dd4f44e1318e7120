"""Filter banks as transformers of images: shapes, channels, sizes, and what is no image."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from symdecouple import InvalidInput, PerturbedWarning, RefusalWarning, Refused, decouple
from symdecouple.families import FilterBank, filter_moments, tils
from symdecouple.sklearn import DecoupledFilterBank

RNG = np.random.default_rng(2)
GREY = RNG.integers(0, 256, size=(4, 18, 20), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, size=(3, 18, 20, 3), dtype=np.uint8)
SMALL = FilterBank([[[1, 1, 1]], [[-1, 2, -1]]], names=["smooth", "rough"])


def test_numbers_and_names_are_those_of_the_plan() -> None:
    bank = DecoupledFilterBank().fit(GREY)
    plan = decouple(filter_moments(tils(), (2,)))
    np.testing.assert_array_equal(bank.transform(GREY), plan.transform(GREY))
    assert bank.get_feature_names_out().tolist() == ["ll", "lm", "lh", "ml", "mm", "mh", "hl", "hm", "hh"]
    assert (bank.n_channels_, bank.n_features_in_, tuple(bank.plan_.names)) == (1, 1, tuple(plan.names))


def test_channels_are_samples_of_their_own() -> None:
    bank = DecoupledFilterBank(SMALL).fit(COLOUR)
    assert bank.get_feature_names_out().tolist() == [f"channel{c}_{b}" for c in range(3) for b in ("smooth", "rough")]
    grey = DecoupledFilterBank(SMALL).fit(GREY)
    expected = np.hstack([grey.transform(COLOUR[..., c]) for c in range(3)])
    np.testing.assert_array_equal(bank.transform(COLOUR), expected)
    np.testing.assert_array_equal(grey.transform(COLOUR[..., :1]), expected[:, :2])


def test_images_of_different_sizes_keep_their_places() -> None:
    images = [GREY[0], GREY[1, :9, :12], GREY[2], GREY[3, :9, :12]]
    bank = DecoupledFilterBank().fit(images)
    expected = np.vstack([bank.transform(image[None]) for image in images])
    np.testing.assert_array_equal(bank.transform(images), expected)
    array = np.empty(4, dtype=object)
    array[:] = images
    np.testing.assert_array_equal(bank.transform(array), expected)


@pytest.mark.parametrize(("given", "kind"), [
    (GREY.astype(np.float32), "float32"), (GREY.astype(float), "float64"), (GREY > 99, "float64"),
    (GREY.tolist(), "float64"), (list(GREY.astype(np.float32)), "float32"),
    ([GREY[0].astype(np.float32), GREY[1]], "float64"), (np.ma.masked_array(GREY), "float64"),
    (GREY[:, ::-1, ::2], "float64")])
def test_types(given: Any, kind: str) -> None:
    found = DecoupledFilterBank(SMALL).fit_transform(given)
    rows = np.array(np.asarray(given).tolist(), dtype=float)
    smooth = np.mean(sum(np.roll(rows, k, axis=2) for k in (-1, 0, 1)) ** 2, axis=(1, 2))
    assert found.dtype == kind
    np.testing.assert_allclose(found[:, 0], smooth, rtol=1e-5 if kind == "float32" else 1e-12)


def test_orders_above_two() -> None:
    bank = DecoupledFilterBank(SMALL, orders=(2, 3)).fit(GREY[:, :8, :8])
    assert bank.get_feature_names_out().tolist() == ["smooth_2", "rough_2", "smooth_3", "rough_3"]
    expected = decouple(filter_moments(SMALL, (2, 3))).transform(GREY[:, :8, :8])
    np.testing.assert_array_equal(bank.transform(GREY[:, :8, :8]), expected)


def test_in_a_pipeline_with_frames() -> None:
    pytest.importorskip("pandas")
    pipeline = make_pipeline(DecoupledFilterBank(SMALL), StandardScaler()).set_output(transform="pandas")
    found = pipeline.fit_transform(GREY)
    assert found.columns.tolist() == ["smooth", "rough"] and found.shape == (4, 2)
    np.testing.assert_allclose(found.mean(), 0, atol=1e-12)


@pytest.mark.parametrize(("given", "said"), [
    (GREY[0], r"for one image write X\[None\]"), (COLOUR[0], r"looks like one image with channels: write X\[None\]"),
    (np.moveaxis(COLOUR, -1, 1), r"np\.moveaxis\(X, 1, -1\)"), (GREY[None, None], r"images are \(n, h, w\)"),
    ([], r"\[\] was given"), (None, "None was given"), (3, "3 was given"), ("a.png", "'a.png' was given"),
    ([GREY[0, 0]], "image 0 of the list has shape"),
    ([GREY[0], COLOUR[0]], "some images of the list have channels"), ([COLOUR[0], COLOUR[1, ..., :1]], "1, 3 channels"),
    ([GREY[0], None], "image 1 of the list is None"), (["a.png"], "read the file first"),
    ([[[1, 2], [3]]], "entry 0 has length 2"), (GREY[:0], "0 sample"), (GREY + 1j, "Complex data"),
    ([["a", "b"]], "numeric|convert"), (np.where(GREY > 250, np.inf, GREY), "infinity")])
def test_what_is_no_image(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DecoupledFilterBank().fit(given)


def test_the_number_of_channels_is_that_of_fit() -> None:
    with pytest.raises(ValueError, match="images of 3 channels were given; DecoupledFilterBank was fitted with 1"):
        DecoupledFilterBank(SMALL).fit(GREY).transform(COLOUR)


@pytest.mark.parametrize(("arguments", "said"), [
    ({"bank": "haar"}, "bank='haar'"), ({"bank": None}, "list of filters"), ({"bank": tils(1)}, "of 1 dimension "),
    ({"orders": ()}, "orders are different whole numbers"), ({"orders": 2}, "orders are different whole numbers"),
    ({"orders": (1, 2)}, "leave order 1 out"), ({"reference": "pink"}, "reference 'pink'"),
    ({"nan_policy": "omit"}, "a filter cannot leave pixels out"), ({"nan_policy": "x"}, "one of 'propagate', 'raise'"),
    ({"on_refusal": "return"}, "on_refusal='return'"), ({"perturb": "x"}, "perturb='x'"), ({"n_jobs": 0}, "n_jobs=0")])
def test_parameters_are_looked_at_by_fit(arguments: dict[str, Any], said: str) -> None:
    bank = DecoupledFilterBank(**arguments)
    with pytest.raises(InvalidInput, match=said):
        bank.fit(GREY)


def test_missing_pixels() -> None:
    images = GREY.astype(float)
    images[1, 3, 4] = np.nan
    found = DecoupledFilterBank(SMALL).fit_transform(images)
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2, 3]]).all()
    masked = np.ma.masked_array(GREY, np.isnan(images))
    np.testing.assert_array_equal(DecoupledFilterBank(SMALL).fit_transform(masked), found)
    with pytest.raises(ValueError, match="contains NaN"):
        DecoupledFilterBank(SMALL, nan_policy="raise").fit(images)


def test_a_refused_channel_is_named() -> None:
    images = COLOUR.copy()
    images[1, :, :, 2] = 9
    with pytest.warns(RefusalWarning, match=r"1 of 3 samples refused, at 1: zero variance \(channel 2: ") as caught:
        found = DecoupledFilterBank().fit_transform(images)
    assert len(caught) == 1
    assert np.isfinite(found[[0, 2]]).all() and np.isfinite(found[1, :18]).all()
    assert abs(found[1, 18] - 9 * 9**2) < 1e-9 and found[1, 19] == 0 and np.isnan(found[1, 20:]).all()  # two levels
    with pytest.raises(Refused, match="at 1: zero variance"):
        DecoupledFilterBank(on_refusal="raise").fit_transform(images)
    with pytest.warns(PerturbedWarning, match="1 of 3 samples perturbed, at 1: channel 2: spectral"):
        assert np.isfinite(DecoupledFilterBank(perturb="spectral").fit_transform(images)).all()


@pytest.mark.slow  # processes start anew
def test_processes_answer_the_same() -> None:
    expected = DecoupledFilterBank().fit_transform(GREY)
    np.testing.assert_array_equal(DecoupledFilterBank(n_jobs=2).fit_transform(GREY), expected)
