"""The folder of pictures: what is found, and what is said where something is missing."""

from pathlib import Path

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.reproduction.brodatz import blocks, plate, plates

image = pytest.importorskip("PIL.Image")


def save(path: Path, size: tuple[int, int] = (640, 640), mode: str = "L") -> Path:
    image.new(mode, size).save(path)
    return path


def test_names(tmp_path: Path) -> None:
    for name in ("D1.png", "D002.gif", "d3.tif", "D10.png", "notes.txt", "D4.jpg"):
        (tmp_path / name).touch()
    assert [path.name for path in plates(tmp_path, 3).values()] == ["D1.png", "D002.gif", "d3.tif"]
    with pytest.raises(InvalidInput, match=r"has 4 plates; 1 of the first 4 are missing, such as D4"):
        plates(tmp_path, 4)
    with pytest.raises(InvalidInput, match="108 of the first 112 are missing"):
        plates(tmp_path)


@pytest.mark.parametrize(("given", "said"), [(None, "needs pictures.*--data"), ("nothing", "is no folder.*D1.png")])
def test_no_folder(tmp_path: Path, given: str | None, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        plates(None if given is None else tmp_path / given)


def test_a_plate_is_grey_and_large(tmp_path: Path) -> None:
    assert plate(save(tmp_path / "D1.png")).shape == (640, 640)
    for name, size, mode in (("D2.png", (512, 640), "L"), ("D3.png", (640, 640), "RGB")):
        with pytest.raises(InvalidInput, match=f"{size[0]} x {size[1]} pixels of mode {mode}.*is expected"):
            plate(save(tmp_path / name, size, mode))
    (tmp_path / "D4.png").write_bytes(b"no picture")
    with pytest.raises(InvalidInput, match="no picture that can be read"):
        plate(tmp_path / "D4.png")


def test_blocks_are_disjoint_and_in_order() -> None:
    picture = np.arange(7 * 9.0).reshape(7, 9)
    found = blocks(picture, 3)
    assert found.shape == (6, 3, 3)
    for k, block in enumerate(found):
        i, j = 3 * (k // 3), 3 * (k % 3)
        assert (block == picture[i : i + 3, j : j + 3]).all()
