"""`symdecouple transfer`: what is refused, with what would help, and input that is bad."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli.exit_codes import ExitCode
from tests.cli.conftest import Told, Transferred
from tests.cli.pictures import ARRAYS, TWO, Image, levels, saved

# --- refused: 4, and nothing is written -------------------------------------------------------------------------------


def silent() -> np.ndarray:
    """A wave of four pixels: most frequencies have no power, and energies no room."""
    return np.tile(np.rint(120 + 40 * np.cos(np.pi / 2 * np.arange(16)))[:, None], (1, 16))


@pytest.mark.parametrize(("source", "target", "features", "perturb", "match", "offered"), [
    (np.full((16, 16), 7), levels(23, 16, 16), "moments:3", "ramp", "zero variance", "ramp"),
    (levels(24, 16, 16), np.full((16, 16), 7), "moments:3", "ramp", "all its values are 7", "ramp"),
    (200 * levels(25, 16, 16, low=0, high=2), levels(26, 16, 16), "moments:3", "ramp", "two-valued", "ramp"),
    (silent(), levels(27, 16, 16), "energies", "spectral", "too few active frequencies", "spectral"),
    (silent(), levels(27, 16, 16), "moments:2,energies", "both", "too few active frequencies", "spectral"),
], ids=["constant source", "constant target", "two values", "silent frequencies", "both"])
def test_what_is_refused_is_not_written_and_perturbed_where_asked(source: np.ndarray, target: np.ndarray, features: str,
                                                                  perturb: str, match: str, offered: str,
                                                                  transferred: Transferred) -> None:
    given = (source, target, "--features", features, "--reference", "target")
    written, (out, err) = transferred(*given, code=ExitCode.PARTIAL)
    assert f"grey: refused: {'the target' if 'all its' in match else match}" in out
    assert match in out
    assert [f"--perturb {kind} helps" in out for kind in ("ramp", "spectral", "both")] == [
        kind == offered for kind in ("ramp", "spectral", "both")]
    assert "nothing is written, 1 of 1 channels refused" in err
    assert written is None
    got, (out, err) = transferred(*given, "--perturb", perturb)
    assert "perturbed: " in out
    assert err == ""
    assert got.mean() == pytest.approx(target.mean(), rel=1e-12)
    assert got.std() == pytest.approx(target.std(), rel=1e-10, abs=1 / np.sqrt(3))  # what a ramp within a step adds


@pytest.mark.parametrize(("source", "target"), [((1, 24), (16, 16)), ((1, 1), (16, 16)), ((16, 16), (1, 1))],
                         ids=["one row", "one pixel", "target of one pixel"])
def test_a_perturbation_is_not_offered_where_none_helps(source: tuple[int, int], target: tuple[int, int],
                                                        transferred: Transferred) -> None:
    given = levels(36, *source), levels(37, *target), "--features", "energies"
    out = transferred(*given, to="done.png", code=ExitCode.PARTIAL)[1].out
    assert "grey: refused" in out and "--perturb" not in out
    for kind in ("ramp", "spectral", "both"):
        transferred(*given, "--perturb", kind, to="done.png", code=ExitCode.PARTIAL)


def test_a_target_beyond_float64_is_refused(transferred: Transferred) -> None:
    arrays = levels(39, 16, 16) * 1.0, levels(38, 16, 16) * 1e-300
    _, said = transferred(*arrays, *TWO, "--reference", "target", names=ARRAYS, code=ExitCode.PARTIAL)
    assert "take other units" in said.out


def test_one_refused_channel_stops_the_picture(tmp_path: Path, told: Told) -> None:
    one = levels(28, 16, 16, 3)
    one[..., 1] = 9
    done = tmp_path / "done.png"
    done.write_bytes(b"before")
    names = saved(tmp_path / "a.png", one), saved(tmp_path / "b.png", levels(29, 16, 16, 3))
    out, err = told("transfer", *names, "-o", str(done), *TWO, code=ExitCode.PARTIAL)
    assert "green: refused: zero variance" in out
    assert "red: kernel equal" in out
    assert "1 of 3 channels refused" in err
    assert done.read_bytes() == b"before"
    found = json.loads(told("transfer", *names, "-o", str(done), *TWO, "--json", code=ExitCode.PARTIAL).out)
    assert found["output"] is None
    assert [channel["refused"] is None for channel in found["channels"]] == [True, False, True]


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
    elif kind == "header":
        path.write_bytes(Path(saved(folder / "whole.png", rgb)).read_bytes()[:20])
    elif kind == "text":
        path.write_text("1,2,3\n")
    elif kind == "nothing":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    elif kind == "transparent colour":
        Image.fromarray(rgb).save(path, transparency=tuple(map(int, rgb[3, 4])))
    elif kind == "CMYK":
        path = folder / "bad.tif"
        Image.fromarray(rgb).convert("CMYK").save(path)
    elif kind in ("RGBA", "LA"):
        Image.fromarray(np.dstack([rgb, 9 * rgb[..., 0]])).convert(kind).save(path)
    elif kind != "missing":
        Image.fromarray(rgb).convert(kind).save(path)
    return str(path)


@pytest.mark.parametrize(("kind", "match"), [
    ("RGBA", "transparency"), ("LA", "transparency"), ("transparent colour", "transparency"), ("CMYK", "mode is CMYK"),
    ("16 bits in colour", "16 bits in colour"), ("several pictures", "holds 2 pictures"), ("nan", "16 of 256 numbers"),
    ("infinite", "8 of 8 numbers"), ("floating NaN", "NaN or infinite"), ("empty", "empty"),
    ("four axes", "(2, 2, 2, 2)"), ("complex", "real"), ("objects", "Python objects"), ("truncated", "truncated"),
    ("text", "no PNG, TIFF, JPEG or NPY"), ("nothing", "the file is empty"), ("missing", "no such file"),
    ("folder", "folder"), ("header", "cannot be read"),
])
def test_files_that_are_no_source_or_target(kind: str, match: str, tmp_path: Path, told: Told) -> None:
    bad, good = given_file(kind, tmp_path), saved(tmp_path / "good.png", levels(31, 16, 16))
    done = tmp_path / "done.npy"
    for names in ((bad, good), (good, bad)):
        out, err = told("transfer", *names, "-o", str(done), code=ExitCode.BAD_INPUT)
        assert (out, err.startswith(f"symdecouple: {bad}: "), match in err) == ("", True, True), err
    assert not done.exists()


@pytest.mark.parametrize(("source", "output", "match"), [
    ("grey.png", "done.jpg", "JPEG would change"), ("grey.png", "done", "written as"), ("grey.png", "done.gif", ".npy"),
    ("grey.png", "none/done.png", "no folder"), ("grey.png", "folder.png", "is a folder"),
    ("grey.png", "grey.png", "is a file that is read"), ("grey.png", "target.png", "is a file that is read"),
    ("signal.npy", "done.png", "a signal"), ("float.npy", "done.png", "no place in PNG"),
    ("floats.npy", "done.tif", "no place in TIFF in colour"),
    ("wide.npy", "done.tif", "no colours of 16 bits"), ("huge.npy", "done.tif", "write .npy"),
])
def test_outputs_that_cannot_hold_the_result(source: str, output: str, match: str, tmp_path: Path, told: Told) -> None:
    values = {"grey.png": levels(32, 16, 16), "signal.npy": levels(32, 32) * 1.0, "float.npy": levels(32, 16, 16) / 3,
              "floats.npy": levels(32, 16, 16, 3) / 3, "wide.npy": levels(32, 16, 16, 3).astype(np.uint16),
              "huge.npy": levels(32, 16, 16) * 1e40}[source]
    (tmp_path / "folder.png").mkdir()
    target = tmp_path / ("target.npy" if source.endswith("npy") else "target.png")
    one, other = saved(tmp_path / source, values), saved(target, np.flip(values))
    before = sorted(path.name for path in tmp_path.rglob("*"))
    out, err = told("transfer", one, other, "-o", str(tmp_path / output), *TWO, code=ExitCode.BAD_INPUT)
    assert (out, match in err) == ("", True), err
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("options", "match"), [
    *((("--features", features), "moments:K with K from 1 to 12") for features in (
        "", "moments", "moments:0", "moments:13", "moments:x", "moments:2,moments:3", "energies,energies", "mean(x)",
        "moments:2,", "energies:2")),
    *(((*TWO, "--reference", reference), match) for reference, match in (
        ("0", "2 features take 2 numbers, got 1"), ("0,1,2", "got 3"), ("0,foo", "number 2: a finite real number"),
        ("0,mean(x)", "number 2: a finite real number"), ("", "number 1: "), ("0,,1", "number 2: "),
        ("0,1/0", "number 2: division by zero"), ("nan,1", "number 1: nan"), ("0,oo", "number 2: oo"),
        ("0,I", "number 2: "), ("0,(", "number 2: "), ("0,-1", "the variance would be -1"), ("2,4", "variance"))),
    *((options, "symdecouple transfer --help") for options in (
        ("--perturb", "noise"), ("--colour", "lab"), ("--budget", "0"), ("--nonsense",))),
])
def test_options_that_do_not_fit(options: tuple[str, ...], match: str, transferred: Transferred) -> None:
    one = levels(34, 16, 16)
    written, said = transferred(one, one, *options, to="done.png", code=ExitCode.BAD_INPUT)
    assert written is None and match in said.err


def test_a_signal_takes_no_features_of_a_picture(tmp_path: Path, transferred: Transferred) -> None:
    signal, picture = saved(tmp_path / "a.npy", levels(35, 32)), saved(tmp_path / "b.png", levels(35, 16, 16))
    for given in ((signal, picture), (picture, signal), (signal, signal, "--colour", "channels")):
        assert "the features of a signal" in transferred(*given, code=ExitCode.BAD_INPUT)[1].err


def test_errors_are_json_where_it_is_asked_for(tmp_path: Path, told: Told) -> None:
    found = json.loads(told("transfer", str(tmp_path / "a.png"), str(tmp_path / "b.png"), "-o", "o.png", "--json",
                            code=ExitCode.BAD_INPUT).out)
    assert (found["kind"], found["exit_code"]) == ("InvalidInput", 3)
    assert "symdecouple transfer --help" in told("transfer", "a.png", "b.png", code=ExitCode.BAD_INPUT).err  # no -o
