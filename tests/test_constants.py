"""Every number that tunes the numeric rooms says beside it why it is what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "symdecouple"
PLAIN = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)


def silent(source: str) -> Iterator[str]:
    """Lines of the numbers of a module with no comment beside or before them, and no text after them."""
    lines, nodes = source.splitlines(), ast.parse(source).body
    for node, after in zip(nodes, [*nodes[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not all(isinstance(part, PLAIN) for part in ast.walk(node.value)):
            continue
        numbers = [p for p in ast.walk(node.value) if isinstance(p, ast.Constant) and isinstance(p.value, int | float)]
        said = "#" in "".join(lines[node.lineno - 1 : node.end_lineno]) or lines[node.lineno - 2].startswith("#")
        if numbers and not said and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            yield lines[node.lineno - 1]


@pytest.mark.parametrize("room", ["numeric", "decoupling", "stats"])
def test_every_constant_says_why(room: str) -> None:
    found = {str(path.relative_to(ROOT)): lines for path in sorted((ROOT / room).rglob("*.py"))
             if (lines := list(silent(path.read_text(encoding="utf-8"))))}
    assert not found, f"say why, in a few words behind the number: {found}"


@pytest.mark.parametrize(("source", "count"), [
    ("A = 3\n", 1), ("A = 3  # tries\n", 0), ("# tries\nA = 3\n", 0), ('A = 3\n"""Tries."""\n', 0),
    ("A, B = 1, -2.0**4\n", 1), ("A = 'text'\nB = f(3)\n", 0),
])
def test_what_says_nothing_is_found(source: str, count: int) -> None:
    assert len(list(silent("import os\n" + source))) == count
