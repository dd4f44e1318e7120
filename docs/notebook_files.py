"""Notebooks for Sphinx and for Jupyter.

They lie beside docs/, as text, where a reader looks for them; Sphinx reads only what lies below its source. So each is
copied, and unchanged ones keep their time stamp and are not run again. Beside the copy lies the same as .ipynb, without
outputs and without links that only Sphinx understands, for readers to download.
"""

import re
from pathlib import Path

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

HERE = Path(__file__).resolve().parent
FROM, TO = HERE.parent / "notebooks", HERE / "notebooks"
NAMED = re.compile(r"\{(?:doc|ref|term)\}`([^`<]+?)\s*<[^`>]*>`")
BARE = re.compile(r"\{doc\}`/?(?:\w+/)*(\w+)`")


def provide() -> None:
    """Bring docs/notebooks to what is in notebooks."""
    (TO / "download").mkdir(parents=True, exist_ok=True)
    names = {path.stem for path in FROM.glob("*.md")}
    for path in (*TO.glob("*.md"), *TO.glob("download/*")):
        if path.stem not in names:
            path.unlink()
    for name in names:
        text = (FROM / f"{name}.md").read_text("utf-8")
        write(TO / f"{name}.md", text)
        write(TO / "download" / f"{name}.ipynb", for_jupyter(text))


def for_jupyter(text: str) -> str:
    """The notebook as JSON, with identifiers of cells that do not change from one build to the next."""
    notebook = read_myst_markdown_notebook(text, MdParserConfig(), "{code-cell}", "{raw-cell}")
    notebook.metadata.pop("jupytext", None)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "markdown":
            cell.source = BARE.sub(lambda found: f"*{found[1].replace('_', ' ')}*", NAMED.sub(r"\1", cell.source))
    return str(nbformat.writes(notebook, version=nbformat.NO_CONVERT)) + "\n"


def write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
