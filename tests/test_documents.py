"""Every ``>>>`` example of the Markdown documents prints what it says; one namespace a document.

The theory and the pages on modules are slow: `make docs` runs them, beside building the pages.
"""

import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from symdecouple.cli import main

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
BUILT = {"_build", "notebooks"}


def documents() -> list[str]:
    pages = [page.relative_to(ROOT) for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]]
    written = [page for page in pages if not BUILT & set(page.parts)]
    return sorted(str(page) for page in written if ">>> " in (ROOT / page).read_text("utf-8"))


def examples(text: str) -> str:
    """The fenced blocks that hold a session, each at its line, and nothing else."""
    kept = [""] * (text.count("\n") + 2)
    for block in FENCE.finditer(text):
        if ">>> " in block[2]:
            first = text.count("\n", 0, block.start(2))
            for offset, line in enumerate(block[2].splitlines()):
                kept[first + offset] = line
    return "\n".join(kept)


@pytest.mark.parametrize("document", [
    pytest.param(page, marks=[pytest.mark.slow] * page.startswith(("docs/theory", "docs/api"))) for page in documents()
])
def test_examples_print_what_they_say(document: str) -> None:
    session = examples((ROOT / document).read_text("utf-8"))
    for library in re.findall(r"^>>> (?:import|from) (pandas|sklearn|xarray|dask)\b", session, re.MULTILINE):
        pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(session, {}, document, document, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.append)
    assert test.examples, f"{document} has a >>> outside of a fenced block"
    assert not report, "".join(report)


def test_a_wrong_example_is_found() -> None:
    session = examples("```pycon\n>>> 1 + 1\n3\n```\n")
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(session, {}, "wrong", None, 0), out=lambda text: None)
    assert runner.summarize(verbose=False).failed == 1


@pytest.mark.parametrize("module", [
    "symdecouple", "symdecouple.stats", "symdecouple.families", "symdecouple.analysis", "symdecouple.sklearn",
    "symdecouple.lazy",
])
def test_the_page_of_public_names_has_each_one(module: str) -> None:
    page = (ROOT / "docs/api/public.md").read_text("utf-8")
    blocks = re.findall(rf"^```{{public}} {re.escape(module)}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    listed = [line.partition(":")[0] for block in blocks for line in block.splitlines()]
    public = set(import_module(module).__all__) - {"__version__"}
    assert len(listed) == len(set(listed))
    assert (public - set(listed), set(listed) - public) == (set(), set()), "not on the page; not public"


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.md")), ids=lambda path: path.stem)
def test_a_notebook_is_on_a_page_and_ends_in_a_comparison(notebook: Path) -> None:
    named = ("tutorials", "gallery", "explanation")
    pages = "".join((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in named)
    assert f"<notebooks/{notebook.stem}>" in pages
    cells = re.findall(r"^```\{code-cell\}.*?^```$", notebook.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert "assert " in cells[-1]


@pytest.mark.parametrize("name", re.findall(
    r"^[^|`\n]+ <notebooks/(\w+)>$", (ROOT / "docs/gallery.md").read_text("utf-8"), re.MULTILINE))
def test_an_example_of_the_gallery_fits_on_its_screen(name: str) -> None:
    """Read from top to bottom without scrolling: in a longer one the job is no longer seen at a glance."""
    _, _, page = (ROOT / "notebooks" / f"{name}.md").read_text("utf-8").split("---\n", 2)
    cells = "".join(re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    lines = {"page": page.strip().splitlines(), "code": [line for line in cells.splitlines() if line.strip()]}
    pictures = re.findall(r"\.(?:plot|plot_\w+|hist|imshow|diagram)\(|\bdraw_\w+\(", cells)
    sizes = {kind: len(found) for kind, found in lines.items()} | {"pictures": len(pictures)}
    assert sizes["page"] <= 45 and sizes["code"] <= 25 and sizes["pictures"] <= 1, (
        f"{sizes}: 45 lines, 25 of them code, and one picture fit on a screen; the gallery has one job a page, and "
        "what else is good to know belongs on the pages of docs/guide")
    assert max(map(len, cells.splitlines())) <= 79, "longer lines of code are broken, or cut off, on the page"


def test_the_gallery_has_ten_examples() -> None:
    page = (ROOT / "docs/gallery.md").read_text("utf-8")
    listed = re.findall(r"^\| \{doc\}`[^`]+ <notebooks/(\w+)>` \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE)
    assert listed == re.findall(r"^[^|`\n]+ <notebooks/(\w+)>$", page, re.MULTILINE)
    assert len(set(listed)) == 10


@pytest.mark.parametrize("document", ["README.md", "docs/tutorial.md"])
def test_commands_print_what_a_new_user_reads(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    blocks = [block[2] for block in FENCE.finditer((ROOT / document).read_text("utf-8"))]
    (table,) = (block for block in blocks if block.startswith("north,south\n"))
    (tmp_path / "temperatures.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    sessions = [block.removeprefix("$ symdecouple ").partition("\n") for block in blocks if block.startswith("$ ")]
    assert sessions
    for command, _, printed in sessions:
        assert main(shlex.split(command)) == 0
        found = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(printed, found, doctest.ELLIPSIS), found
