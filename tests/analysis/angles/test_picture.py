"""What the picture shows, read back from its artists; and what is said where Matplotlib is absent."""

import sys

import numpy as np
import pytest

from symdecouple import InvalidInput, Outcome
from symdecouple.analysis import Deviations, Orthogonality


def result(size: int = 3, rows: int = 4, *, ok: bool = True) -> Orthogonality:
    degrees = np.random.default_rng(0).uniform(-80, 80, (rows, size, size))
    degrees = (degrees + degrees.swapaxes(1, 2)) / 2 if ok else np.full_like(degrees, np.nan)
    original, decoupled, cross = (Deviations(title, degrees * factor, tuple(range(1, size + 1)), ("f", "f"))
                                  for title, factor in (("original", 1), ("decoupled", 0.1), ("cross", 0.2)))
    return Orthogonality(original, decoupled, cross, ("f",) * size, (Outcome(ok),) * rows)


@pytest.fixture
def pyplot():  # type: ignore[no-untyped-def]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    yield pyplot
    pyplot.close("all")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "symdecouple\[plot\]"'):
        result().plot()


def test_nothing_to_draw() -> None:
    with pytest.raises(InvalidInput, match="all 4 samples were refused"):
        result(ok=False).plot()


@pytest.mark.parametrize("ax", ["axes", [1, 2, 3]])
def test_what_is_no_axes(ax: object) -> None:
    with pytest.raises(InvalidInput, match="one Matplotlib Axes"):
        result().plot(ax)


def test_error_bars_and_maps_show_the_numbers(pyplot) -> None:  # type: ignore[no-untyped-def]
    found = result()
    bars, *maps = found.plot()
    for container, each in zip(bars.containers, (found.original, found.decoupled), strict=True):
        line, _, (segments,) = container
        means = [each.signed_mean[1, 0], each.signed_mean[2, 0], each.signed_mean[2, 1]]
        np.testing.assert_allclose(line.get_ydata(), means)
        half = [np.ptp(segment[:, 1]) / 2 for segment in segments.get_segments()]
        np.testing.assert_allclose(half, [each.signed_std[1, 0], each.signed_std[2, 0], each.signed_std[2, 1]])
    assert [label.get_text() for label in bars.get_xticklabels()] == ["1-2", "1-3", "2-3"]
    for one, each in zip(maps, (found.original, found.decoupled), strict=True):
        shown = one.images[0].get_array()
        assert shown.mask.tolist() == np.eye(3, dtype=bool).tolist()
        np.testing.assert_allclose(shown.data, each.mean)
        assert one.images[0].get_clim() == (0, 90) and len(one.texts) == 6
    bars.figure.canvas.draw()


def test_given_axes_are_used(pyplot) -> None:  # type: ignore[no-untyped-def]
    _, one = pyplot.subplots()
    assert result().plot(one) == (one,) and len(one.containers) == 2
    _, three = pyplot.subplots(1, 3)
    assert result().plot(three) == tuple(three)


def test_many_features_keep_readable_labels(pyplot) -> None:  # type: ignore[no-untyped-def]
    bars, first, _ = result(30, 2).plot()
    assert len(bars.get_xticklabels()) <= 15 and len(first.get_xticklabels()) <= 15 and not first.texts
