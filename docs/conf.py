"""Sphinx configuration. Builds without a network: mathematics from local files, no links to other projects' docs."""

import re
import sys
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from notebook_files import provide  # noqa: E402 - found beside this file

provide()

project = "symdecouple"
author = "symdecouple developers"
copyright = f"2026, {author}"
release = version = metadata.version("symdecouple")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_nb",
    "public_names",
]
exclude_patterns = ["_build", "results", "notebooks/download", "**.ipynb_checkpoints"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Tables that notebooks show have their formulas between dollar signs, as Jupyter reads them.
myst_mathjax_classes = "tex2jax_process|mathjax_process|math|output_area|text_html"
mathjax3_config = {"tex": {"inlineMath": [["\\(", "\\)"], ["$", "$"]]}}

nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "notebook-cache")
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name types and shapes
numpydoc_show_class_members = False  # autodoc lists them already

html_theme = "pydata_sphinx_theme"
html_title = f"symdecouple {release}"
html_theme_options = {
    "logo": {"text": "symdecouple"},
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"changelog": []}  # no section to navigate
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["tables.css", "code.css"]
html_js_files = ["copy.js"]


def prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    """Leave out the empty line that ends a session; below the title of a notebook, offer it as .ipynb."""
    source[0] = re.sub(r"\n\n(```+)$", r"\n\1", source[0], flags=re.MULTILINE)
    if docname.startswith("notebooks/"):
        name = docname.removeprefix("notebooks/")
        link = f"Run it yourself: {{download}}`{name}.ipynb <download/{name}.ipynb>`"
        source[0] = re.sub(r"^(# .*\n)", lambda title: f"{title[0]}\n{link}\n", source[0], count=1, flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    app.connect("source-read", prepare)
