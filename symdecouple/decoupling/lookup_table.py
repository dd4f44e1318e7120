r"""A map of colours as a table of n x n x n nodes, which other programs read as a ``.cube`` file and interpolate.

Nodes are at red, green, blue = 0, 1/(n-1), .., 1, black to white. They go below 0 and above 1, as the map does: a table
of limited values would bend the map in the cells where it leaves the range, so the picture is limited *after* the
table. Where each channel has a curve of its own, nodes are chosen so that the largest distance of the broken line from
it is as small as it can be (a linear program), half of that of a line through the curve; elsewhere they are the map.
Where the map has ended, or is infinite, nodes hold its limit, from -1 to 2.

How far interpolation is from the map, both limited to 0..1, is measured: at all grey levels of 8 bits, in the middle of
all cells, where a smooth map is missed most, and at random colours of 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Refused
from symdecouple.replacing import replacing
from symdecouple.shown import Card, Shown

__all__ = ["LookupTable"]

FloatArray = NDArray[np.float64]

_LEVELS = 255  # of 8 bits
_HALF = 0.5  # a level: what rounding does anyway
_LOW, _HIGH = -1.0, 2.0  # of a node: lines reach black and white inside a cell by nodes beyond
_RANDOM = 20_000  # colours, beside the middles of all cells: a fraction of a second
_NEAR = 1e-3  # what the distance of nodes from the curve counts beside that of the line
_LARGEST = 129  # two million nodes: a larger cube is slower to write than the pixels
_LARGER = 65  # tried where a table is not enough


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LookupTable(Shown):
    """A map of colours at nodes.

    Attributes
    ----------
    nodes : array (n, n, n, 3)
        Red, green and blue where red, green and blue are those of the node; 0 is black, 1 is white.
    white : float
        The value of the map that is 1 here.
    error : float
        Largest distance from the map that was measured, in levels of 8 bits.
    """

    nodes: FloatArray
    white: float
    error: float

    @classmethod
    def of(cls, of_colours: Callable[[FloatArray], FloatArray], size: int, white: float, *,
           is_separable: bool = False) -> LookupTable:
        """Return the table of a map of colours, (k, 3) to (k, 3); `is_separable` where each channel has its own curve.

        `Refused` if it is more than half a level of 8 bits off, `InvalidInput` for sizes and whites that are none.
        """
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 2 <= size <= _LARGEST:
            raise InvalidInput(f"size={size!r} was given; the nodes a side are 2 to {_LARGEST}, 33 mostly")
        if isinstance(white, bool) or not isinstance(white, int | float | np.number) or not 0 < float(white) < np.inf:
            raise InvalidInput(f"white={white!r} was given; the value of white is a number above 0, 255 for 8 bits")
        made = cls._made(of_colours, int(size), float(white), is_separable)
        if made.error > _HALF:
            larger = cls._made(of_colours, _LARGER, float(white), is_separable) if size < _LARGER else None
            helps = [] if larger is None else [f"size={_LARGER} is {larger.error:.2f} off"]
            if larger is None or larger.error > _HALF:
                helps.append("the map is too steep for a table, or ends inside of it; apply the transfer itself")
            raise Refused(f"a table of {size} nodes a side is {made.error:.2f} levels of 8 bits off, and half a level "
                          f"is allowed; {'; '.join(helps)}", made, ())
        return made

    @classmethod
    def _made(cls, of_colours: Callable[[FloatArray], FloatArray], size: int, white: float, is_separable: bool
              ) -> LookupTable:
        axis = np.linspace(0, 1, size)
        levels = np.arange(_LEVELS + 1.0) / _LEVELS
        if is_separable:
            places = np.union1d(levels, (axis[1:] + axis[:-1]) / 2)
            curves = of_colours(white * np.repeat(places[:, None], 3, axis=1)) / white
            lines = [_nearest_line(places, curve, size) for curve in curves.T]
            nodes = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
        else:
            there = of_colours(white * _grid(axis)) / white
            nodes = np.clip(there, _LOW, _HIGH).reshape(size, size, size, 3)
        made = cls(nodes, white, 0.0)
        random = np.random.default_rng(0).integers(0, _LEVELS + 1, (_RANDOM, 3)) / _LEVELS
        tried = np.concatenate([_grid((axis[1:] + axis[:-1]) / 2), random,
                                np.repeat(levels[:, None], 3, axis=1)])
        direct = np.clip(of_colours(white * tried) / white, 0, 1)
        error = _LEVELS * float(np.abs(np.clip(made(tried), 0, 1) - direct).max())
        return cls(nodes, white, error)

    def __call__(self, colours: Any) -> FloatArray:
        """Return colours, (..., 3) from 0 to 1, after trilinear interpolation: what programs do with the file."""
        from scipy.interpolate import interpn

        given = np.asarray(colours, dtype=np.float64)
        axes = (np.linspace(0, 1, len(self.nodes)),) * 3
        return np.asarray(interpn(axes, self.nodes, np.clip(given, 0, 1))).reshape(given.shape)

    def _card(self) -> Card:
        return Card("LookupTable", [("nodes", " x ".join([str(len(self.nodes))] * 3)), ("white", f"{self.white:g}"),
                                    ("error", f"{self.error:.2g} levels of 8 bits"),
                                    ("values", f"{self.nodes.min():.3g} to {self.nodes.max():.3g}")])

    def text(self, title: str = "symdecouple") -> str:
        """Return the table as the text of a ``.cube`` file: red runs first.

        Examples
        --------
        >>> print(LookupTable.of(lambda colours: colours / 2, 2, 1.0).text().replace("\\n", " / "))
        TITLE "symdecouple" / # limit values to 0..1 after the table / LUT_3D_SIZE 2 / DOMAIN_MIN 0.0 0.0 0.0 / \
DOMAIN_MAX 1.0 1.0 1.0 / 0.0000000 0.0000000 0.0000000 / 0.5000000 0.0000000 0.0000000 / 0.0000000 0.5000000 0.0000000 \
/ 0.5000000 0.5000000 0.0000000 / 0.0000000 0.0000000 0.5000000 / 0.5000000 0.0000000 0.5000000 / \
0.0000000 0.5000000 0.5000000 / 0.5000000 0.5000000 0.5000000 /
        """
        name = "".join(c for c in title if c.isprintable() and c != '"')
        head = [f'TITLE "{name}"', "# limit values to 0..1 after the table", f"LUT_3D_SIZE {len(self.nodes)}",
                "DOMAIN_MIN 0.0 0.0 0.0", "DOMAIN_MAX 1.0 1.0 1.0"]
        rows = (self.nodes.transpose(2, 1, 0, 3).reshape(-1, 3) + 0.0).tolist()
        return "\n".join([*head, *(f"{r:.7f} {g:.7f} {b:.7f}" for r, g, b in rows)]).replace("-0.0000000", "0.0000000"
                                                                                            ) + "\n"

    def write(self, path: str | PathLike[str], title: str = "symdecouple") -> None:
        """Write the ``.cube`` file; an old one is replaced when the new one is complete.

        Raises
        ------
        InvalidInput
            If the file does not end in ``.cube``, or cannot be written.
        """
        if not isinstance(path, str | PathLike):
            raise InvalidInput(f"the name of a file is expected, got {path!r}")
        place = Path(path)
        if place.suffix.lower() != ".cube":
            raise InvalidInput(f"{place}: a table of colours is written as .cube")
        try:
            with replacing(place) as file:
                file.write(self.text(title).encode())
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{place} cannot be written ({getattr(error, 'strerror', None) or error})") from None


def _nearest_line(places: FloatArray, curve: FloatArray, size: int) -> FloatArray:
    """Nodes of the broken line whose largest distance from a curve is least, both limited to 0..1.

    Above 1 the line may be anywhere above 1, and below 0 likewise; among such lines nodes are near the curve.
    """
    from scipy.optimize import linprog

    exact = np.interp(np.linspace(0, 1, size), places, np.clip(curve, _LOW, _HIGH))
    cell = np.minimum((places * (size - 1)).astype(np.intp), size - 2)
    share, rows = places * (size - 1) - cell, np.arange(len(places))
    line = np.zeros((len(places), 2 * size + 1))  # nodes, their distances from the curve, and that of the line
    line[rows, cell], line[rows, cell + 1] = 1 - share, share
    distance, unit, goal = np.eye(2 * size + 1)[-1], np.eye(size), np.clip(curve, 0, 1)
    from_above, from_below = curve < 1, curve > 0  # where the line may not be higher, or lower
    beside = [np.hstack([side * unit, -unit, np.zeros((size, 1))]) for side in (1, -1)]
    found = linprog(
        np.concatenate([np.zeros(size), np.full(size, _NEAR / size), [1]]), method="highs",
        bounds=[(_LOW, _HIGH)] * size + [(0, None)] * (size + 1),
        A_ub=np.vstack([(line - distance)[from_above], (-line - distance)[from_below], *beside]),
        b_ub=np.concatenate([goal[from_above], -goal[from_below], exact, -exact]))
    return np.asarray(exact if found.x is None else found.x[:size])


def _grid(axis: FloatArray) -> FloatArray:
    """All colours with red, green and blue from one list, (n^3, 3), blue first."""
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
