"""What pictures hold beside levels: signs, white as zero, alpha, previews, colour profiles and resolution."""

import io
import re
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdecouple import InvalidInput, decouple
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.image_features import listed_features
from symdecouple.cli.image_files import read_picture
from tests.cli.conftest import Transferred
from tests.cli.pictures import ARRAYS, SHARED, Image, levels, loaded, moved, saved, transfer

ImageCms = pytest.importorskip("PIL.ImageCms")
GREY = levels(1, 6, 8).astype(np.uint8)
WIDE = levels(2, 6, 8, low=1000, high=60000).astype(np.uint16)


def tiff(array: np.ndarray, photometric: int = 1, sample_format: int = 1, bits: int = 0, order: str = "<",
         subfile: int = 0, at: int = 0, further: int = 0) -> bytes:
    """One strip without compression, as the standard lays it out."""
    data = array.astype(array.dtype.newbyteorder(order)).tobytes()
    height, width, *others = array.shape
    samples = others[0] if others else 1
    tags = {254: subfile, 256: width, 257: height, 258: bits or 8 * array.itemsize, 259: 1, 262: photometric,
            273: 8 + at, 277: samples, 278: height, 279: len(data), 339: sample_format}
    if others:  # the bits of each sample, before the picture
        data, tags = struct.pack(f"{order}{samples}H", *[8] * samples) + data, tags | {
            258: 8 + at, 273: 8 + at + 2 * samples} | ({338: 0} if further else {})
    entries = b"".join(struct.pack(order + "HHII", tag, 3 if tag in (258, 338) and others else 4,
                                   samples if tag == 258 and others else further if tag == 338 else 1, value)
                       for tag, value in tags.items())
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return (mark + struct.pack(order + "I", 8 + at + len(data)) + data + struct.pack(order + "H", len(tags)) + entries
            + bytes(4))


def written(folder: Path, content: bytes, name: str = "a.tif") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def by_pillow(array: np.ndarray, kind: str, mode: str | None = None, **more: Any) -> bytes:
    out = io.BytesIO()
    image = Image.fromarray(array)
    (image.convert(mode) if mode else image).save(out, kind, **more)
    return out.getvalue()


@pytest.mark.parametrize(("content", "expected"), [
    (tiff(GREY), GREY), (tiff(GREY, 0), 255 - GREY.astype(int)), (tiff(WIDE), WIDE),
    (tiff(WIDE, 0), 65535 - WIDE.astype(int)), (tiff(WIDE, 0, order=">"), "does not read a TIFF"),
    (tiff(WIDE, order=">"), WIDE), (tiff(WIDE / np.float32(3), 1, 3), WIDE / np.float32(3)),
    (by_pillow(WIDE, "TIFF", compression="tiff_lzw"), WIDE), (by_pillow(WIDE, "PNG"), WIDE),
    (tiff((GREY - 128).view(np.int8), 1, 2), "signed"), (tiff(WIDE.view(np.int16), 1, 2), "signed"),
    (tiff(WIDE.astype(np.int32), 1, 2), "signed"), (tiff(WIDE / np.float32(3), 0, 3), "white is zero"),
    (tiff(WIDE[:, :6], bits=12), "12 bits"), (tiff(WIDE.astype(np.uint32)), "mode is I"),
    (tiff(GREY.astype(np.float64), 1, 3), "does not read a TIFF"), (tiff(GREY)[:60], "does not read a TIFF"),
])
def test_levels_are_right_or_refused_by_name(content: bytes, expected: Any, tmp_path: Path) -> None:
    path = written(tmp_path, content, "a.png" if content[1:4] == b"PNG" else "a.tif")
    if isinstance(expected, str):
        with pytest.raises(InvalidInput, match=f"{path.name}: .*{expected}"):
            read_picture(path)
        return
    np.testing.assert_array_equal(read_picture(path).values, expected)


@pytest.mark.parametrize(("samples", "further", "said"), [
    (3, 0, "8 bits$"), (4, 1, "a further sample of each pixel, of no stated meaning, is left out"),
    (5, 2, "2 further samples of each pixel, of no stated meaning, are left out"),
])
def test_further_samples_are_not_left_out_unsaid(samples: int, further: int, said: str, tmp_path: Path) -> None:
    array = levels(8, 6, 8, samples).astype(np.uint8)
    found = read_picture(written(tmp_path, tiff(array, 2, further=further)))
    assert re.search(said, found.described)
    np.testing.assert_array_equal(found.values, array[..., :3])


def with_alpha(alpha: int, mode: str) -> bytes:
    image = Image.fromarray(levels(3, 6, 8, 3).astype(np.uint8)).convert(mode)
    mask = np.full((6, 8), 255, np.uint8)
    mask[2, 3] = alpha
    image.putalpha(Image.fromarray(mask))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


KEY = tuple(int(v) for v in levels(3, 6, 8, 3)[2, 3])


@pytest.mark.parametrize(("content", "opaque"), [
    (with_alpha(255, "RGB"), True), (with_alpha(254, "RGB"), False), (with_alpha(0, "RGB"), False),
    (with_alpha(255, "L"), True), (with_alpha(254, "L"), False),
    (by_pillow(levels(3, 6, 8, 3).astype(np.uint8), "PNG", transparency=(1, 2, 3)), True),
    (by_pillow(levels(3, 6, 8, 3).astype(np.uint8), "PNG", transparency=KEY), False),
    (by_pillow(GREY, "PNG", transparency=3), True), (by_pillow(GREY, "PNG", transparency=int(GREY[1, 1])), False),
    (by_pillow(GREY, "PNG", "P", transparency=bytes([255] * 256)), True),
    (by_pillow(GREY, "PNG", "P", transparency=bytes([0] * 256)), False),
    (by_pillow(levels(3, 6, 8, 3).astype(np.uint8), "TIFF", "RGBA"), True),
    (by_pillow(WIDE, "PNG", transparency=3), True), (by_pillow(WIDE, "PNG", transparency=int(WIDE[1, 1])), False),
])
def test_alpha_that_hides_nothing_is_left_out_and_said(content: bytes, opaque: bool, tmp_path: Path) -> None:
    path = written(tmp_path, content, "a.tif" if content[:2] == b"II" else "a.png")
    if not opaque:
        with pytest.raises(InvalidInput, match="transparency"):
            read_picture(path)
        return
    found = read_picture(path)
    assert "alpha hides nothing" in found.described
    with Image.open(path) as image:
        bands = np.asarray(image.convert("RGBA") if image.mode == "P" else image)
    np.testing.assert_array_equal(found.values, bands if bands.ndim == 2 else bands[..., 0] if bands.shape[2] == 2
                                  else bands[..., :3])


def test_previews_are_not_the_picture(tmp_path: Path) -> None:
    first, small = (Image.fromarray(levels(k, 8 * k, 8 * k, 3).astype(np.uint8)) for k in (2, 1))
    path = tmp_path / "camera.jpg"
    first.save(path, "MPO", save_all=True, append_images=[small])
    found = read_picture(path)
    assert found.described == "16 x 16 pixels, colour, JPEG, 8 bits, the first of 2 pictures"
    np.testing.assert_array_equal(found.values, loaded(path))
    whole = tiff(GREY)
    for subfile in (1, 0):
        page = tiff(GREY[::2, ::2], subfile=subfile, at=len(whole) - 8)
        link = page[4:8]
        both = written(tmp_path, whole[:-4] + link + page[8:])
        if subfile:
            np.testing.assert_array_equal(read_picture(both).values, GREY)
        else:
            with pytest.raises(InvalidInput, match="holds 2 pictures"):
                read_picture(both)
            width = struct.pack("<HHII", 256, 4, 1, 4)
            with pytest.raises(InvalidInput, match="it is damaged"):
                read_picture(written(tmp_path, both.read_bytes().replace(width, bytes(12))))


def profile(name: str) -> bytes:
    return bytes(ImageCms.ImageCmsProfile(ImageCms.createProfile(name)).tobytes())


@pytest.mark.parametrize(("first", "second", "said", "output"), [
    (b"", b"", "", "done.png"), (profile("sRGB"), b"", "", "done.png"), (b"", profile("sRGB"), "", "done.tif"),
    (b"damaged", b"", "source: one of 7 bytes, target: none", "done.tif"),
    (profile("sRGB"), b"another", "target: one of 7 bytes", "done.tif"), (b"another", b"another", "", "done.png"),
])
def test_profile_and_resolution_are_carried_over(first: bytes, second: bytes, said: str, output: str, tmp_path: Path,
                                                 transferred: Transferred) -> None:
    one, other = levels(4, 16, 12, 3).astype(np.uint8), levels(5, 10, 12, 3).astype(np.uint8)
    about = [{"icc_profile": data} if data else {} for data in (first, second)]
    source = written(tmp_path, by_pillow(one, "TIFF", dpi=(300, 150), **about[0]))
    target = written(tmp_path, by_pillow(other, "PNG", **about[1]), "b.png")
    got, (_, err) = transferred(str(source), str(target), *SHARED, to=output)
    assert (said in err) and err.count("\n") == bool(said)
    with Image.open(tmp_path / output) as image:
        assert image.info.get("icc_profile", b"") == first
        assert image.info["dpi"] == pytest.approx((300, 150), rel=1e-4)
    assert np.abs(got[..., 0] - moved(one[..., 0], other[..., 0])).max() < 0.5 + 1e-9


def test_a_turned_picture_turns_its_resolution(tmp_path: Path) -> None:
    assert read_picture(written(tmp_path, tiff(GREY))).dpi is None
    exif = Image.Exif()
    exif[0x0112] = 6
    path = written(tmp_path, by_pillow(GREY, "JPEG", dpi=(300, 150), exif=exif), "a.jpg")
    found = read_picture(path)
    assert (found.values.shape, found.dpi) == ((8, 6), (150, 300))


@pytest.mark.parametrize("names", ["moments:3", "energies"])
def test_the_reference_is_that_of_python(names: str, transferred: Transferred) -> None:
    one, other = np.random.default_rng(8).normal(size=(2, 12, 12)) * [[[1]], [[3]]]
    got, _ = transferred(one, other, "--features", names, names=ARRAYS)
    plan = decouple(listed_features(names, 2).features)
    np.testing.assert_allclose(got, plan.transfer(one, other, axis=(0, 1)).values, rtol=1e-9, atol=1e-12)


def test_nothing_is_warned_of_and_the_old_result_stays(tmp_path: Path) -> None:
    """A result that cannot be written leaves the old one; a link stays a link, permissions stay."""
    one, other = saved(tmp_path / "a.png", levels(6, 8, 8)), saved(tmp_path / "b.png", levels(7, 8, 8))
    old, link = tmp_path / "old.png", tmp_path / "link.png"
    old.write_bytes(b"old")
    old.chmod(0o640)
    link.symlink_to(old)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert transfer(one, other, "-o", str(link), *SHARED) == 0
    assert link.is_symlink() and old.stat().st_mode & 0o777 == 0o640
    assert np.abs(loaded(old) - moved(loaded(Path(one)), loaded(Path(other)))).max() < 0.5 + 1e-9
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png", "link.png", "old.png"]
    assert transfer(one, other, "-o", "/dev/full", *SHARED) == ExitCode.BAD_INPUT
