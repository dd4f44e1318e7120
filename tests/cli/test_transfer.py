"""`symdecouple transfer`: what is written has the target's features by another formula; nothing is lost unsaid."""

import json
from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli.exit_codes import ExitCode
from symdecouple.decoupling.plan import decouple
from tests.cli.conftest import Told, Transferred
from tests.cli.pictures import ARRAYS, LUMA, SHARED, TWO, Image, levels, loaded, moved, saved

# --- formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "output"), [
    (".png", ".png"), (".png", ".TIF"), (".tif", ".tiff"), (".tif", ".npy")])
def test_grey_of_8_bits_is_rounded_in_pictures_and_exact_in_npy(source: str, output: str,
                                                                transferred: Transferred) -> None:
    one, other = levels(1, 16, 20), levels(2, 18, 16, low=60, high=140)
    got, (out, err) = transferred(one, other, *TWO, names=(f"a{source}", "b.png"), to=f"done{output}")
    assert got.shape == one.shape
    assert np.abs(got - moved(one, other)).max() < (1e-10 if output == ".npy" else 0.5 + 1e-10)
    assert err == ""
    assert ("before rounding to levels" in out) == (output != ".npy")


@pytest.mark.parametrize("output", [".png", ".tif"])
def test_16_bits_stay_16_bits_and_levels_of_the_target_are_scaled(output: str, tmp_path: Path,
                                                                  transferred: Transferred) -> None:
    one, other = levels(3, 16, 16, low=20_000, high=40_000), levels(4, 16, 16)
    got, _ = transferred(saved(tmp_path / "a.png", one, "uint16"), other, *SHARED, to=f"done{output}")
    with Image.open(tmp_path / f"done{output}") as image:
        assert image.mode.startswith("I;16")
    assert np.abs(got - moved(one, 257 * other)).max() < 0.5 + 1e-6


def test_8_bits_take_the_features_of_16(tmp_path: Path, transferred: Transferred) -> None:
    one, other = levels(5, 16, 16), levels(6, 16, 16, low=25_000, high=38_000)
    got, said = transferred(one, saved(tmp_path / "b.tif", other, "uint16"), *SHARED)
    np.testing.assert_allclose(got, moved(one, other / 257), rtol=1e-12)
    assert "levels times 0.00389105" in said.out


def test_floating_point_is_kept_as_float32_in_tiff(tmp_path: Path, transferred: Transferred) -> None:
    one, other = np.random.default_rng(7).normal(size=(2, 16, 16)) * [[[1]], [[3]]]
    got, _ = transferred(saved(tmp_path / "a.tif", one, "float32"), other, *SHARED, names=("", "b.npy"), to="done.tif")
    with Image.open(tmp_path / "done.tif") as image:
        assert image.mode == "F"
    np.testing.assert_allclose(got, moved(one.astype(np.float32), other), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("features", ["moments:4", "energies", "energies,moments:3", "moments:2,energies"])
def test_signals_in_npy(features: str, transferred: Transferred) -> None:
    """A signal of other length; plain moments of the result are those of the target where all are imposed."""
    generator = np.random.default_rng(8)
    one, other = generator.normal(size=32), 2 * generator.normal(size=40) + 1
    got, _ = transferred(one, other, "--features", features, "--reference", "target", names=ARRAYS)
    assert got.shape == one.shape
    order = 4 if features == "moments:4" else 3 if "moments:3" in features else 2
    for k in range(1, order + 1):
        assert np.mean(got**k) == pytest.approx(np.mean(other**k), rel=1e-11)


def test_a_palette_two_levels_and_a_jpeg_are_read_as_what_they_show(tmp_path: Path, transferred: Transferred) -> None:
    grey = levels(9, 16, 16)
    palette, bits, jpeg = (str(tmp_path / name) for name in ("palette.png", "bits.png", "a.jpg"))
    Image.fromarray(np.stack([grey] * 3, -1).astype(np.uint8)).quantize(256).save(palette)
    Image.fromarray(grey > 120).save(bits)
    Image.fromarray(grey.astype(np.uint8)).save(jpeg)
    for target, seen in ((palette, grey), (jpeg, loaded(Path(jpeg)))):
        got, _ = transferred(bits, target, "--colour", "grey", *SHARED)
        np.testing.assert_allclose(got, moved(255 * (grey > 120), seen), rtol=1e-12)


@pytest.mark.parametrize("colour", ["auto", "channels", "opponent", "grey"])
def test_colours(colour: str, transferred: Transferred) -> None:
    one, other = levels(12, 16, 16, 3), levels(13, 18, 20, 3, low=100, high=150)
    got, said = transferred(one, other, "--colour", colour, *SHARED, names=("a.png", "b.tif"))
    if colour in ("auto", "channels"):
        for k, name in enumerate(("red", "green", "blue")):
            np.testing.assert_allclose(got[..., k], moved(one[..., k], other[..., k]), rtol=1e-12)
            assert f"\n{name}: kernel equal" in said.out
    elif colour == "opponent":
        for axis in ([1, 1, 1], [1, -1, 0], [1, 1, -2]):
            np.testing.assert_allclose(got @ axis, moved(one @ axis, other @ axis), rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(got @ LUMA, moved(one @ LUMA, other @ LUMA), rtol=1e-12)
        np.testing.assert_allclose(got - got[..., :1], one - one[..., :1], atol=1e-11)


def test_grey_and_colour_meet_in_grey(transferred: Transferred) -> None:
    one, other = levels(14, 16, 16), levels(15, 16, 16, 3)
    np.testing.assert_allclose(transferred(one, other, *SHARED)[0], moved(one, other @ LUMA), rtol=1e-12)


def test_an_axis_of_one_channel_is_grey_and_stays(transferred: Transferred) -> None:
    one, other, names = levels(43, 8, 9, 1).astype(np.uint8), levels(44, 7, 7), ("a.npy", "b.png")
    np.testing.assert_allclose(transferred(one, other, *SHARED, names=names)[0], moved(one, other), rtol=1e-12)
    shown, _ = transferred(one, other, *SHARED, names=names, to="done.png")
    assert np.abs(shown - moved(one, other)[..., 0]).max() < 0.5 + 1e-9
    np.testing.assert_allclose(transferred(one, one, *SHARED, names=("a.npy", "a.npy"))[0], one, rtol=1e-12)


def test_names_that_no_file_can_have(tmp_path: Path, told: Told) -> None:
    good = saved(tmp_path / "a.png", levels(45, 8, 8))
    for names, output in (((good, "b\0.png"), "done.npy"), ((good, good), "d\0.npy")):
        assert "no name of a file" in told("transfer", *names, "-o", output, *SHARED, code=ExitCode.BAD_INPUT).err


def test_other_numbers_of_channels(transferred: Transferred) -> None:
    generator = np.random.default_rng(16)
    two, three = (generator.normal(size=(16, 16, n)) for n in (2, 3))
    got, said = transferred(two, two[::-1] * 2 + 1, *TWO, names=ARRAYS)
    np.testing.assert_allclose(got[..., 1], moved(two[..., 1], two[..., 1] * 2 + 1), atol=1e-12)
    assert "channel 2: kernel equal" in said.out
    for target, colour, match in ((three, "auto", "2 channels, the target 3"), (three, "grey", "one or three channels"),
                                  (two, "opponent", "opponent is for three channels")):
        written, said = transferred(two, target, "--colour", colour, names=ARRAYS, to="no.npy", code=ExitCode.BAD_INPUT)
        assert written is None and match in said.err


@pytest.mark.parametrize("reference", ["target", "gaussian", "white", " Gaussian ", "1,3", "1/2, 0.75"])
def test_mean_and_variance_do_not_depend_on_the_reference(reference: str, transferred: Transferred) -> None:
    one, other = levels(17, 16, 16), levels(18, 16, 16)
    got, _ = transferred(one, other, *TWO, "--reference", reference)
    np.testing.assert_allclose(got, moved(one, other), rtol=1e-12)


def test_json_tells_what_was_reached(tmp_path: Path, transferred: Transferred) -> None:
    one, other = levels(19, 16, 16), levels(20, 16, 16)
    _, (out, err) = transferred(one, other, *TWO, "--reference", "target", "--json", to="done.png")
    found = json.loads(out)
    (channel,) = found["channels"]
    assert err == ""
    assert (found["format"], found["features"], found["range"]) == (
        "symdecouple.transfer", ["mean(x)", "mean(x^2)"], [0, 255])
    assert (found["output"], found["limited"], found["rounded"]) == (str(tmp_path / "done.png"), 0, True)
    expected = [other.mean(), np.mean(other**2)]
    np.testing.assert_allclose(channel["wanted"], expected, rtol=1e-12)
    np.testing.assert_allclose(channel["achieved"], expected, rtol=1e-12)
    assert channel["kernel_gap"] < 1e-12
    assert (channel["refused"], channel["perturbed"], channel["target_perturbed"]) == (None, None, None)


def test_numbers_outside_of_the_range_are_limited_and_counted(transferred: Transferred) -> None:
    one, other = levels(21, 16, 16), 255 * levels(22, 16, 16, low=0, high=2)
    expected = np.rint(moved(one, other))
    outside = int(((expected < 0) | (expected > 255)).sum())
    assert outside > 0
    got, said = transferred(one, other, *SHARED, to="done.png")
    assert f"{outside} of 256 numbers were outside of 0 to 255" in said.err
    assert (got == np.clip(expected, 0, 255)).all()


def test_a_mean_alone_is_taken_from_a_constant_and_by_one(transferred: Transferred) -> None:
    flat, other, mean = np.full((4, 5), 7), levels(40, 6, 6), ("--features", "moments:1")
    np.testing.assert_allclose(transferred(flat, other, *mean)[0], np.full((4, 5), other.mean()), rtol=1e-14)
    np.testing.assert_allclose(transferred(other, flat, *mean)[0], other - other.mean() + 7, rtol=1e-13)


@pytest.mark.parametrize(("reference", "plans"), [("gaussian", 1), ("0,2", 1), ("target", 3)])
def test_what_all_channels_share_is_decided_once(reference: str, plans: int, transferred: Transferred,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*given: object, **options: object) -> object:
        made.append(given)
        return decouple(*given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("symdecouple.cli.channel.decouple", counted)
    one, other = levels(41, 8, 8, 3), levels(42, 8, 8, 3)
    got, _ = transferred(one, other, *TWO, "--reference", reference)
    assert len(made) == plans
    for c in range(3):
        np.testing.assert_allclose(got[..., c], moved(one[..., c], other[..., c]), rtol=1e-10)
