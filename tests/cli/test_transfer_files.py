"""`symdecouple transfer --preview --cube`: what is in the files, and what is refused before anything is computed."""

import re
from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli.exit_codes import ExitCode
from tests.cli.conftest import Told, Transferred
from tests.cli.pictures import ARRAYS, LUMA, SHARED, TWO, levels, loaded, moved, saved, transfer


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return (saved(tmp_path / "a.png", levels(1, 16, 20, 3)), saved(tmp_path / "b.png", levels(2, 18, 16, 3, low=60)))


@pytest.mark.parametrize(("names", "said"), [
    (["-o", "c.png", "--preview", "a.png"], "--preview .*a.png is a file that is read"),
    (["-o", "c.png", "--preview", "./b.png"], "--preview .*b.png is a file that is read"),
    (["-o", "c.png", "--preview", "c.png"], "--preview .*c.png is the file of --output"),
    (["-o", "a.png", "--preview", "p.png"], "--output .*a.png is a file that is read"),
])
def test_nothing_is_written_over_a_picture_or_another_result(names: list[str], said: str, pair: tuple[str, str],
                                                             tmp_path: Path, told: Told) -> None:
    before = [Path(name).read_bytes() for name in pair]
    where = [name if name.startswith("-") else str(tmp_path / name) for name in names]
    assert re.search(said, told("transfer", *pair, *where, *TWO, code=ExitCode.BAD_INPUT).err)
    assert [Path(name).read_bytes() for name in pair] == before
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "b.png"}


@pytest.mark.parametrize("colour", ["channels", "grey", "opponent"])
def test_the_table_is_the_affine_map_of_two_moments(colour: str, pair: tuple[str, str], tmp_path: Path) -> None:
    cube, one, other = tmp_path / "look.cube", levels(1, 16, 20, 3), levels(2, 18, 16, 3, low=60)
    assert transfer(*pair, "-o", str(tmp_path / "c.png"), "--cube", str(cube), "--colour", colour, *SHARED) == 0
    rows = [line.split() for line in cube.read_text().splitlines() if line[0] in "-0123456789"]
    table = np.array(rows, dtype=float).reshape(33, 33, 33, 3).transpose(2, 1, 0, 3)
    nodes = 255 * np.stack(np.meshgrid(*(np.linspace(0, 1, 33),) * 3, indexing="ij"), axis=-1)

    def curve(values: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.interp(values, [-1e4, 1e4], moved(source, target)[0, 0] + (
            np.array([-1e4, 1e4]) - source[0, 0]) * target.std() / source.std())
        return found

    if colour == "channels":
        wanted = np.stack([curve(nodes[..., c], one[..., c], other[..., c]) for c in range(3)], axis=-1)
    elif colour == "grey":
        wanted = nodes + (curve(nodes @ LUMA, one @ LUMA, other @ LUMA) - nodes @ LUMA)[..., None]
    else:
        turn = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])
        turned = [v @ turn.T for v in (nodes, one.astype(float), other.astype(float))]
        wanted = np.stack([curve(*(v[..., c] for v in turned)) for c in range(3)], axis=-1) @ turn
    inside = (wanted > -255) & (wanted < 510)  # -1 to 2 of the table
    np.testing.assert_allclose(255 * table[inside], wanted[inside], atol=2e-4)


@pytest.mark.parametrize("name", ["look.png", "look.svg"])
def test_a_preview_shows_three_pictures(name: str, pair: tuple[str, str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert transfer(*pair, "-o", str(tmp_path / "c.png"), "--preview", str(tmp_path / name), *SHARED) == 0
    if name.endswith("svg"):
        assert (tmp_path / name).read_text().count("<image") == 3
    else:
        assert loaded(tmp_path / name).shape[1] > 640
    grey = saved(tmp_path / "grey.png", levels(3, 16, 20))
    assert transfer(grey, pair[1], "-o", str(tmp_path / "d.png"), "--preview", str(tmp_path / name), *SHARED) == 0


@pytest.mark.parametrize(("power", "code", "words"), [
    (2.0, ExitCode.OK, "look.cube has 65 nodes a side: 33 are more than half a level"),
    (3.0, ExitCode.PARTIAL, "look.cube is not written: a table of 65 nodes a side is"),
])
def test_a_bent_map_takes_more_nodes_or_none(power: float, code: int, words: str, tmp_path: Path,
                                             transferred: Transferred) -> None:
    rough, other = (levels(k, 40, 40, low=1, high=1000) / 1000 for k in (4, 5))
    cube = tmp_path / "look.cube"
    got, said = transferred(255 * rough**power, 255 - 255 * other**2, "--cube", str(cube), "--features", "moments:3",
                            to="c.png", code=code)
    assert words in said.err and got is not None
    assert cube.exists() == (code == ExitCode.OK) and (not cube.exists() or "LUT_3D_SIZE 65" in cube.read_text())


@pytest.mark.parametrize(("options", "said"), [
    (["--cube", "x.cube", "--features", "energies"], "with energies a transfer is a filter"),
    (["--cube", "x.cube", "--features", "moments:2", "--perturb", "ramp"], "leave --perturb out"),
    (["--cube", "x.png", "--features", "moments:2"], "written as .cube"),
    (["--cube", "none/x.cube", "--features", "moments:2"], "there is no folder none"),
    (["--preview", "x.doc"], "written as .png"),
    (["--preview", "none/x.png"], "there is no folder none"),
])
def test_what_cannot_be_is_said_at_once(options: list[str], said: str, pair: tuple[str, str], tmp_path: Path,
                                        told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out, err = told("transfer", *pair, "-o", "c.png", *options, code=ExitCode.BAD_INPUT)
    assert out == "" and said in err and len(err.splitlines()) == 1 and not Path("c.png").exists()


def test_signals_have_no_table(tmp_path: Path, transferred: Transferred) -> None:
    one, other = (np.random.default_rng(k).normal(size=30) for k in (1, 2))
    _, said = transferred(one, other, "--cube", str(tmp_path / "x.cube"), *TWO, names=ARRAYS, to="c.npy",
                          code=ExitCode.BAD_INPUT)
    assert "one or three channels" in said.err
