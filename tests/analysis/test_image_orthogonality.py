"""Deviations between nine filter energies: the tables of the source, and gradients by shifted images."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import symdecouple as sd
from symdecouple import InvalidInput
from symdecouple.analysis import Orthogonality
from symdecouple.families.quadratic import second_order_moments
from symdecouple.families.tils import tils

BANK = tils()
PLAN = sd.decouple(second_order_moments(BANK))
BRODATZ = Path(os.environ.get("BRODATZ", Path(__file__).resolve().parents[3] / "shared" / "data" / "brodatz"))
KERNELS = {"l": [1, 1, 1], "m": [-1, 0, 1], "h": [-1, 2, -1]}


def noise(count: int, seed: int = 0, shape: tuple[int, int] = (23, 23)) -> NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal((count, *shape))


def filtered(image: NDArray[np.float64], name: str, reverse: int = 1) -> NDArray[np.float64]:
    """Circular convolution by shifts: sum of taps times the image moved by the lag."""
    for axis, letter in enumerate(name):
        image = sum((tap * np.roll(image, reverse * lag, axis) for lag, tap in zip((-1, 0, 1), KERNELS[letter],
                                                                                  strict=True)), np.zeros(image.shape))
    return image


def rest(found: Orthogonality) -> float:
    """Root mean square of DO over pairs without the first feature."""
    rows, columns = np.tril_indices(8, -1)
    return float(np.sqrt(np.mean(found.decoupled.degrees[:, rows + 1, columns + 1] ** 2)))


def test_white_noise_as_in_the_table_of_the_source() -> None:
    """The source prints 13 ± 10 and 0.2 ± 0.3."""
    found = sd.analysis.orthogonality(PLAN, noise(100), names=BANK.names)
    assert found.count == 100
    assert abs(found.original.average - 12.7) < 0.2 and abs(found.original.spread - 10.1) < 0.2
    assert abs(found.decoupled.average - 0.18) < 0.02 and abs(found.decoupled.spread - 0.30) < 0.03
    assert abs(rest(found) - 0.40) < 0.04
    # f_1 alone is involutive, so that all others are decoupled from it; and from the declared ones before them
    assert np.abs(found.decoupled.degrees[:, 1:, 0]).max() < 1e-12
    assert found.cross.largest < 1e-12


@pytest.mark.slow
@pytest.mark.skipif(not BRODATZ.is_dir(), reason="the Brodatz plates are not here; BRODATZ=folder names theirs")
def test_brodatz_patches_as_in_the_table_of_the_source() -> None:
    """The source prints 12 ± 11 and 2 ± 3."""
    image = pytest.importorskip("PIL.Image")
    plates = sorted(BRODATZ.glob("D*.png"))
    patches = []
    for plate in plates:
        with image.open(plate) as opened:
            patch = np.asarray(opened, dtype=float)[300:323, 300:323]
        patches.append((patch - patch.mean()) / patch.std())
    found = sd.analysis.orthogonality(PLAN, np.array(patches))
    assert found.count == len(plates) == 112
    assert abs(found.original.average - 11.9) < 0.05 and abs(found.original.spread - 11.2) < 0.05
    assert abs(found.decoupled.average - 2.2) < 0.05 and abs(found.decoupled.spread - 3.5) < 0.05
    assert np.abs(found.decoupled.degrees[:, 1:, 0]).max() < 1e-12


@pytest.mark.parametrize("shape", [(23, 23), (8, 12), (5, 6)], ids=lambda s: "x".join(map(str, s)))
def test_declared_gradients_are_those_by_shifts(shape: tuple[int, int]) -> None:
    image = noise(1, 3, shape)[0]
    fields = [filtered(filtered(image, name), name, -1).ravel() for name in BANK.names]
    unit = np.array([f / np.linalg.norm(f) for f in fields])
    found = sd.analysis.orthogonality(PLAN, image)
    below = np.tril_indices(9, -1)
    wanted = np.degrees(np.arcsin((unit @ unit.T)[below]))
    np.testing.assert_allclose(found.original.degrees[below], wanted, rtol=0, atol=1e-12)


def test_sample_axes_of_images() -> None:
    images = noise(6, 4, (9, 10)).reshape(2, 3, 9, 10)
    found = sd.analysis.orthogonality(PLAN, images)
    assert found.decoupled.degrees.shape == (2, 3, 9, 9)
    last = sd.analysis.orthogonality(PLAN, np.moveaxis(images, (2, 3), (0, 1)), axis=(0, 1))
    assert np.array_equal(last.original.degrees, found.original.degrees)
    one = sd.analysis.orthogonality(PLAN, images[1, 2])
    np.testing.assert_allclose(one.decoupled.degrees, found.decoupled.degrees[1, 2], rtol=0, atol=1e-11)


def test_units_do_not_matter_to_declared_directions() -> None:
    images = noise(2, 5)
    plan = sd.decouple(second_order_moments([BANK["ll"], BANK["hh"]]))
    plain = sd.analysis.orthogonality(plan, images)
    for factor in (1e150, 1e-150):
        found = sd.analysis.orthogonality(plan, images * factor, on_refusal="return")[0]
        fine = ~np.isnan(found.original.degrees).any(axis=(1, 2))
        np.testing.assert_allclose(found.original.degrees[fine], plain.original.degrees[fine], rtol=0, atol=1e-11)
        assert np.abs(found.decoupled.degrees[fine][:, 1, 0]).max(initial=0) < 1e-12


def test_a_refused_image_is_left_out() -> None:
    images = noise(4, 6)
    images[1] = 7
    images[2, 3, 4] = np.nan
    found, outcomes = sd.analysis.orthogonality(PLAN, images, on_refusal="return", names=BANK.names)
    assert [o.reason for o in outcomes] == ["", "zero variance", "nan in the input", ""]
    clean = sd.analysis.orthogonality(PLAN, images[[0, 3]])
    assert (found.count, found.refused) == (2, 2)
    np.testing.assert_allclose(found.decoupled.average, clean.decoupled.average, rtol=1e-9)


def test_signals_of_one_dimension() -> None:
    bank = tils(1)
    found = sd.analysis.orthogonality(sd.decouple(second_order_moments(bank)), noise(5, 7, (1, 64))[:, 0])
    assert found.original.degrees.shape == (5, 3, 3)
    assert np.abs(found.decoupled.degrees[:, 1:, 0]).max() < 1e-12


def test_names_of_bands() -> None:
    images = noise(3, 8)
    found = sd.analysis.orthogonality(PLAN, images, names=BANK.names)
    assert found.labels == found.names == BANK.names
    lines = str(found).splitlines()
    assert not any("taps" in line for line in lines)
    assert lines[3].split() == list(BANK.names[:-1])
    assert [line.split()[0] for line in lines[4:12]] == list(BANK.names[1:])
    assert r"$f_{\mathrm{lm}}$" in found.latex() and "<th>hh</th>" in found.html() and "taps" not in found.html()
    assert found.select(2, 9).labels == ("lm", "hh")
    assert sd.analysis.orthogonality(PLAN, images).labels == BANK.names  # those of the features themselves
    features = sd.FeatureSet([f.expr for f in PLAN.features][:2])  # which have none
    plain = sd.analysis.orthogonality(sd.decouple(features), images)
    assert plain.labels == ("1", "2") and plain.names[0].startswith("Mean(taps(")
    with pytest.raises(InvalidInput, match="names of 9 features are expected, 2 were given"):
        sd.analysis.orthogonality(PLAN, images, names=["a", "b"])
