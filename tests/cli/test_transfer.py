"""`symdecouple transfer`: what is written has the target's features by another formula; nothing is lost unsaid."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli import main
from symdecouple.cli.exit_codes import ExitCode

Image = pytest.importorskip("PIL.Image")

TWO = ("--features", "moments:2")
LUMA = np.array([0.299, 0.587, 0.114])


def levels(seed: int, *shape: int, low: int = 90, high: int = 160) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape)


def saved(path: Path, values: np.ndarray, dtype: str = "uint8") -> str:
    """A picture by Pillow, or an NPY array."""
    if path.suffix == ".npy":
        np.save(path, values)
    else:
        Image.fromarray(values.astype(dtype)).save(path)
    return str(path)


def loaded(path: Path) -> np.ndarray:
    if path.suffix == ".npy":
        return np.asarray(np.load(path))
    with Image.open(path) as image:
        return np.asarray(image).astype(float)


def moved(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Mean and variance of the target by the affine map that has them: the oracle for moments:2."""
    source = np.asarray(source, float)
    return np.asarray((source - source.mean()) / source.std() * np.std(target) + np.mean(target))


def transfer(*arguments: str) -> int:
    return main(["transfer", *arguments])


# --- formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "output"), [
    (".png", ".png"), (".png", ".TIF"), (".tif", ".tiff"), (".tif", ".npy")])
def test_grey_of_8_bits_is_rounded_in_pictures_and_exact_in_npy(source: str, output: str, tmp_path: Path,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    one, other = levels(1, 16, 20), levels(2, 18, 16, low=60, high=140)
    done = tmp_path / f"done{output}"
    assert transfer(saved(tmp_path / f"a{source}", one), saved(tmp_path / "b.png", other), "-o", str(done), *TWO) == 0
    expected = moved(one, other)
    got = loaded(done)
    assert got.shape == one.shape
    assert np.abs(got - expected).max() < (1e-10 if output == ".npy" else 0.5 + 1e-10)
    out, err = capsys.readouterr()
    assert err == ""
    assert ("before rounding to levels" in out) == (output != ".npy")


@pytest.mark.parametrize("output", [".png", ".tif"])
def test_16_bits_stay_16_bits_and_levels_of_the_target_are_scaled(output: str, tmp_path: Path) -> None:
    one, other = levels(3, 16, 16, low=20_000, high=40_000), levels(4, 16, 16)
    done = tmp_path / f"done{output}"
    assert transfer(saved(tmp_path / "a.png", one, "uint16"), saved(tmp_path / "b.png", other), "-o", str(done),
                    *TWO) == 0
    with Image.open(done) as image:
        assert image.mode.startswith("I;16")
    assert np.abs(loaded(done) - moved(one, 257 * other)).max() < 0.5 + 1e-6


def test_8_bits_take_the_features_of_16(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = levels(5, 16, 16), levels(6, 16, 16, low=25_000, high=38_000)
    done = tmp_path / "done.npy"
    assert transfer(saved(tmp_path / "a.png", one), saved(tmp_path / "b.tif", other, "uint16"), "-o", str(done),
                    *TWO) == 0
    np.testing.assert_allclose(loaded(done), moved(one, other / 257), rtol=1e-12)
    assert "levels times 0.00389105" in capsys.readouterr().out


def test_floating_point_is_kept_as_float32_in_tiff(tmp_path: Path) -> None:
    one, other = np.random.default_rng(7).normal(size=(2, 16, 16)) * [[[1]], [[3]]]
    source = saved(tmp_path / "a.tif", one, "float32")
    done = tmp_path / "done.tif"
    assert transfer(source, saved(tmp_path / "b.npy", other), "-o", str(done), *TWO) == 0
    with Image.open(done) as image:
        assert image.mode == "F"
    np.testing.assert_allclose(loaded(done), moved(one.astype(np.float32), other), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("features", ["moments:4", "energies", "energies,moments:3", "moments:2,energies"])
def test_signals_in_npy(features: str, tmp_path: Path) -> None:
    """A signal of other length; plain moments of the result are those of the target where all are imposed."""
    generator = np.random.default_rng(8)
    one, other = generator.normal(size=32), 2 * generator.normal(size=40) + 1
    done = tmp_path / "done.npy"
    assert transfer(saved(tmp_path / "a.npy", one), saved(tmp_path / "b.npy", other), "-o", str(done),
                    "--features", features) == 0
    got = loaded(done)
    assert got.shape == one.shape
    order = 4 if features == "moments:4" else 3 if "moments:3" in features else 2
    for k in range(1, order + 1):
        assert np.mean(got**k) == pytest.approx(np.mean(other**k), rel=1e-11)


def test_a_palette_two_levels_and_a_jpeg_are_read_as_what_they_show(tmp_path: Path) -> None:
    grey = levels(9, 16, 16)
    palette = tmp_path / "palette.png"
    Image.fromarray(np.stack([grey] * 3, -1).astype(np.uint8)).quantize(256).save(palette)
    bits = tmp_path / "bits.png"
    Image.fromarray(grey > 120).save(bits)
    jpeg = tmp_path / "a.jpg"
    Image.fromarray(grey.astype(np.uint8)).save(jpeg)
    done = tmp_path / "done.npy"
    for target, seen in ((palette, grey), (jpeg, loaded(jpeg))):
        assert transfer(str(bits), str(target), "-o", str(done), "--colour", "grey", *TWO) == 0
        np.testing.assert_allclose(loaded(done), moved(255 * (grey > 120), seen), rtol=1e-12)


@pytest.mark.parametrize("colour", ["auto", "channels", "opponent", "grey"])
def test_colours(colour: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = levels(12, 16, 16, 3), levels(13, 18, 20, 3, low=100, high=150)
    done = tmp_path / "done.npy"
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.tif", other)
    assert transfer(*names, "-o", str(done), "--colour", colour, *TWO) == 0
    got, said = loaded(done), capsys.readouterr().out
    if colour in ("auto", "channels"):
        for k, name in enumerate(("red", "green", "blue")):
            np.testing.assert_allclose(got[..., k], moved(one[..., k], other[..., k]), rtol=1e-12)
            assert f"\n{name}: kernel equal" in said
    elif colour == "opponent":
        for axis in ([1, 1, 1], [1, -1, 0], [1, 1, -2]):
            np.testing.assert_allclose(got @ axis, moved(one @ axis, other @ axis), rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(got @ LUMA, moved(one @ LUMA, other @ LUMA), rtol=1e-12)
        np.testing.assert_allclose(got - got[..., :1], one - one[..., :1], atol=1e-11)


def test_grey_and_colour_meet_in_grey(tmp_path: Path) -> None:
    one, other = levels(14, 16, 16), levels(15, 16, 16, 3)
    done = tmp_path / "done.npy"
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", other)
    assert transfer(*names, "-o", str(done), *TWO) == 0
    np.testing.assert_allclose(loaded(done), moved(one, other @ LUMA), rtol=1e-12)


def test_other_numbers_of_channels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generator = np.random.default_rng(16)
    two, three = (generator.normal(size=(16, 16, n)) for n in (2, 3))
    one = saved(tmp_path / "two.npy", two)
    done = tmp_path / "done.npy"
    assert transfer(one, saved(tmp_path / "b.npy", two[::-1] * 2 + 1), "-o", str(done), *TWO) == 0
    np.testing.assert_allclose(loaded(done)[..., 1], moved(two[..., 1], two[..., 1] * 2 + 1), atol=1e-12)
    assert "channel 2: kernel equal" in capsys.readouterr().out
    other = saved(tmp_path / "three.npy", three)
    for colour, match in (("auto", "2 channels, the target 3"), ("grey", "one or three channels")):
        assert transfer(one, other, "-o", str(tmp_path / "no.npy"), "--colour", colour) == ExitCode.BAD_INPUT
        assert match in capsys.readouterr().err
    assert transfer(one, one, "-o", str(tmp_path / "no.npy"), "--colour", "opponent") == ExitCode.BAD_INPUT
    assert "opponent is for three channels" in capsys.readouterr().err
    assert not (tmp_path / "no.npy").exists()


@pytest.mark.parametrize("reference", ["target", "gaussian", "white", " Gaussian ", "1,3", "1/2, 0.75"])
def test_mean_and_variance_do_not_depend_on_the_reference(reference: str, tmp_path: Path) -> None:
    one, other = levels(17, 16, 16), levels(18, 16, 16)
    done = tmp_path / "done.npy"
    assert transfer(saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", other), "-o", str(done), *TWO,
                    "--reference", reference) == 0
    np.testing.assert_allclose(loaded(done), moved(one, other), rtol=1e-12)


def test_json_tells_what_was_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = levels(19, 16, 16), levels(20, 16, 16)
    done = tmp_path / "done.png"
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", other)
    assert transfer(*names, "-o", str(done), *TWO, "--json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    (channel,) = told["channels"]
    assert err == ""
    assert (told["format"], told["features"], told["range"]) == (
        "symdecouple.transfer", ["mean(x)", "mean(x^2)"], [0, 255])
    assert (told["output"], told["limited"], told["rounded"]) == (str(done), 0, True)
    expected = [other.mean(), np.mean(other**2)]
    np.testing.assert_allclose(channel["wanted"], expected, rtol=1e-12)
    np.testing.assert_allclose(channel["achieved"], expected, rtol=1e-12)
    assert channel["kernel_gap"] < 1e-12
    assert (channel["refused"], channel["perturbed"], channel["target_perturbed"]) == (None, None, None)


def test_numbers_outside_of_the_range_are_limited_and_counted(tmp_path: Path,
                                                             capsys: pytest.CaptureFixture[str]) -> None:
    one, other = levels(21, 16, 16), 255 * levels(22, 16, 16, low=0, high=2)
    expected = np.rint(moved(one, other))
    outside = int(((expected < 0) | (expected > 255)).sum())
    assert outside > 0
    done = tmp_path / "done.png"
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", other)
    assert transfer(*names, "-o", str(done), *TWO) == 0
    assert f"{outside} of 256 numbers were outside of 0 to 255" in capsys.readouterr().err
    assert (loaded(done) == np.clip(expected, 0, 255)).all()


# --- refused: 4, and nothing is written -------------------------------------------------------------------------------


def silent() -> np.ndarray:
    """A wave of four pixels: most frequencies have no power, and energies no room."""
    return np.tile(np.rint(120 + 40 * np.cos(np.pi / 2 * np.arange(16)))[:, None], (1, 16))


@pytest.mark.parametrize(("source", "target", "features", "perturb", "match"), [
    (np.full((16, 16), 7), levels(23, 16, 16), "moments:3", "ramp", "zero variance"),
    (levels(24, 16, 16), np.full((16, 16), 7), "moments:3", "ramp", "all its values are 7"),
    (200 * levels(25, 16, 16, low=0, high=2), levels(26, 16, 16), "moments:4", "ramp", "two-valued"),
    (silent(), levels(27, 16, 16), "energies", "spectral", "too few active frequencies"),
    (silent(), levels(27, 16, 16), "moments:2,energies", "both", "too few active frequencies"),
], ids=["constant source", "constant target", "two values", "silent frequencies", "both"])
def test_what_is_refused_is_not_written_and_perturbed_where_asked(
    source: np.ndarray, target: np.ndarray, features: str, perturb: str, match: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = tmp_path / "done.npy"
    given = (saved(tmp_path / "a.png", source), saved(tmp_path / "b.png", target), "-o", str(done), "--features",
             features)
    assert transfer(*given) == ExitCode.PARTIAL
    out, err = capsys.readouterr()
    assert f"grey: refused: {'the target' if 'all its' in match else match}" in out
    assert match in out
    assert "--perturb ramp" in out
    assert "nothing is written, 1 of 1 channels refused" in err
    assert not done.exists()
    assert transfer(*given, "--perturb", perturb) == 0
    out, err = capsys.readouterr()
    assert "perturbed: " in out
    assert err == ""
    got = loaded(done)
    assert got.mean() == pytest.approx(target.mean(), rel=1e-12)
    assert got.std() == pytest.approx(target.std(), rel=1e-10, abs=1 / np.sqrt(3))  # what a ramp within a step adds


def test_one_refused_channel_stops_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = levels(28, 16, 16, 3)
    one[..., 1] = 9
    done = tmp_path / "done.png"
    done.write_bytes(b"before")
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", levels(29, 16, 16, 3))
    assert transfer(*names, "-o", str(done), *TWO) == ExitCode.PARTIAL
    out, err = capsys.readouterr()
    assert "green: refused: zero variance" in out
    assert "red: kernel equal" in out
    assert "1 of 3 channels refused" in err
    assert done.read_bytes() == b"before"
    assert transfer(*names, "-o", str(done), *TWO, "--json") == ExitCode.PARTIAL
    told = json.loads(capsys.readouterr().out)
    assert told["output"] is None
    assert [channel["refused"] is None for channel in told["channels"]] == [True, False, True]


# --- bad input: 3 -----------------------------------------------------------------------------------------------------


def png_of_16_bits_in_colour(path: Path) -> str:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + np.arange(12, dtype=">u2").tobytes() for _ in range(4))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 16, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return str(path)


def given_file(kind: str, folder: Path) -> str:
    """A file that is no source, of each kind."""
    path, rgb = folder / "bad.png", levels(30, 16, 16, 3).astype(np.uint8)
    arrays = {"nan": np.where(np.eye(16) > 0, np.nan, 1.0), "infinite": np.full(8, np.inf), "empty": np.zeros((0, 3)),
              "four axes": np.zeros((2, 2, 2, 2)), "complex": np.ones(8, complex)}
    if kind in arrays:
        return saved(folder / "bad.npy", arrays[kind])
    if kind == "objects":
        np.save(folder / "bad.npy", np.array([{}]), allow_pickle=True)
        return str(folder / "bad.npy")
    if kind == "floating NaN":
        return saved(folder / "bad.tif", np.full((8, 8), np.nan), "float32")
    if kind == "several pictures":
        first = Image.fromarray(rgb)
        first.save(folder / "bad.tif", save_all=True, append_images=[first])
        return str(folder / "bad.tif")
    if kind == "16 bits in colour":
        return png_of_16_bits_in_colour(path)
    if kind == "truncated":
        path.write_bytes(Path(saved(folder / "whole.png", rgb)).read_bytes()[:200])
    elif kind == "text":
        path.write_text("1,2,3\n")
    elif kind == "nothing":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    elif kind == "transparent colour":
        Image.fromarray(rgb).save(path, transparency=(1, 2, 3))
    elif kind == "CMYK":
        path = folder / "bad.tif"
        Image.fromarray(rgb).convert("CMYK").save(path)
    elif kind != "missing":
        Image.fromarray(rgb).convert(kind).save(path)
    return str(path)


@pytest.mark.parametrize(("kind", "match"), [
    ("RGBA", "transparency"), ("LA", "transparency"), ("transparent colour", "transparency"), ("CMYK", "mode is CMYK"),
    ("16 bits in colour", "16 bits in colour"), ("several pictures", "holds 2 pictures"), ("nan", "16 of 256 numbers"),
    ("infinite", "8 of 8 numbers"), ("floating NaN", "NaN or infinite"), ("empty", "empty"),
    ("four axes", "(2, 2, 2, 2)"), ("complex", "real"), ("objects", "Python objects"), ("truncated", "truncated"),
    ("text", "no PNG, TIFF, JPEG or NPY"), ("nothing", "no PNG, TIFF, JPEG or NPY"), ("missing", "no such file"),
    ("folder", "folder"),
])
def test_files_that_are_no_source_or_target(kind: str, match: str, tmp_path: Path,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = given_file(kind, tmp_path), saved(tmp_path / "good.png", levels(31, 16, 16))
    done = tmp_path / "done.npy"
    for names in ((bad, good), (good, bad)):
        assert transfer(*names, "-o", str(done)) == ExitCode.BAD_INPUT
        out, err = capsys.readouterr()
        assert (out, err.startswith(f"symdecouple: {bad}: "), match in err) == ("", True, True), err
    assert not done.exists()


@pytest.mark.parametrize(("source", "output", "match"), [
    ("grey.png", "done.jpg", "JPEG would change"), ("grey.png", "done", "written as"), ("grey.png", "done.gif", ".npy"),
    ("grey.png", "none/done.png", "no folder"), ("grey.png", "folder.png", "is a folder"),
    ("grey.png", "grey.png", "is a file that is read"), ("grey.png", "target.png", "is a file that is read"),
    ("signal.npy", "done.png", "a signal"), ("float.npy", "done.png", "floating point has no place in PNG"),
    ("floats.npy", "done.tif", "floating point has no place in TIFF in colour"),
    ("wide.npy", "done.tif", "no colours of 16 bits"), ("huge.npy", "done.tif", "write .npy"),
])
def test_outputs_that_cannot_hold_the_result(source: str, output: str, match: str, tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    values = {"grey.png": levels(32, 16, 16), "signal.npy": levels(32, 32) * 1.0, "float.npy": levels(32, 16, 16) / 3,
              "floats.npy": levels(32, 16, 16, 3) / 3, "wide.npy": levels(32, 16, 16, 3).astype(np.uint16),
              "huge.npy": levels(32, 16, 16) * 1e40}[source]
    (tmp_path / "folder.png").mkdir()
    target = tmp_path / ("target.npy" if source.endswith("npy") else "target.png")
    one, other = saved(tmp_path / source, values), saved(target, np.flip(values))
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert transfer(one, other, "-o", str(tmp_path / output), *TWO) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert (out, match in err) == ("", True), err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("features", ["", "moments", "moments:0", "moments:13", "moments:x", "moments:2,moments:3",
                                      "energies,energies", "mean(x)", "moments:2,", "energies:2"])
def test_bad_features(features: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = saved(tmp_path / "a.png", levels(33, 16, 16))
    assert transfer(name, name, "-o", str(tmp_path / "o.png"), "--features", features) == ExitCode.BAD_INPUT
    assert "moments:K with K from 1 to 12" in capsys.readouterr().err


@pytest.mark.parametrize(("reference", "match"), [
    ("0", "2 features take 2 numbers, got 1"), ("0,1,2", "got 3"), ("0,foo", "number 2: a finite real number"),
    ("0,mean(x)", "number 2: a finite real number"), ("", "number 1: "), ("0,,1", "number 2: "),
    ("0,1/0", "number 2: division by zero"), ("nan,1", "number 1: nan"), ("0,oo", "number 2: oo"),
    ("0,I", "number 2: "), ("0,(", "number 2: "), ("0,-1", "the variance would be -1"), ("2,4", "variance"),
])
def test_bad_references(reference: str, match: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, done = saved(tmp_path / "a.png", levels(34, 16, 16)), tmp_path / "done.png"
    assert transfer(name, name, "-o", str(done), *TWO, "--reference", reference) == ExitCode.BAD_INPUT
    assert match in capsys.readouterr().err
    assert not done.exists()


def test_a_signal_takes_no_features_of_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signal, picture = saved(tmp_path / "a.npy", levels(35, 32)), saved(tmp_path / "b.png", levels(35, 16, 16))
    for names in ((signal, picture), (picture, signal), (signal, signal, "--colour", "channels")):
        assert transfer(*names, "-o", str(tmp_path / "done.npy")) == ExitCode.BAD_INPUT
        assert "the features of a signal" in capsys.readouterr().err


def test_errors_are_json_where_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert transfer(str(tmp_path / "a.png"), str(tmp_path / "b.png"), "-o", "o.png", "--json") == ExitCode.BAD_INPUT
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["exit_code"]) == ("InvalidInput", 3)


@pytest.mark.parametrize("arguments", [(), ("-o", "o.png", "--perturb", "noise"), ("-o", "o.png", "--colour", "lab"),
                                       ("-o", "o.png", "--budget", "0")])
def test_arguments_that_do_not_fit(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert transfer("a.png", "b.png", *arguments) == ExitCode.BAD_INPUT
    assert "symdecouple transfer --help" in capsys.readouterr().err
