"""The directive ``public``: names with their first sentence and their neighbours, each linked to its full entry.

Content: one name a line, then, after a colon, what to see also: names of the same module or of ``symdecouple``, dotted
names below it, or pages, which begin with a slash. A name that is not public ends the build, and so does one that no
page documents.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)


def claim(public: object) -> list[nodes.Node]:
    """The first sentence of a docstring, with its code as code."""
    text = (inspect.getdoc(public) or "").split("\n\n")[0].replace("\n", " ")
    pieces = re.split(r"`+([^`]+)`+", text)
    return [nodes.literal(text=piece) if k % 2 else nodes.Text(piece) for k, piece in enumerate(pieces)]


def entry(module: str, name: str, shown: str = "") -> nodes.Node:
    """A link to where autodoc describes a public name: in its door, or where it is defined."""
    public = getattr(import_module(module), name)
    owner = public if hasattr(public, "__qualname__") else type(public)  # a sample is documented by its class
    defined = f"{owner.__module__}.{owner.__qualname__}"
    return addnodes.pending_xref("", nodes.literal(text=shown or name), refdomain="py", reftype="obj", refexplicit=True,
                                 reftarget=f"{module}.{name}", elsewhere=defined, refwarn=True)


def neighbour(module: str, text: str) -> nodes.Node:
    if text.startswith("/"):
        return addnodes.pending_xref("", nodes.inline(), refdomain="std", reftype="doc", refexplicit=False,
                                     reftarget=text, refwarn=True)
    where, _, name = text.rpartition(".")
    here = module if hasattr(import_module(module), name) else "symdecouple"
    return entry(f"symdecouple.{where}" if where else here, name, text)


class Public(Directive):
    """Names of one module, which is the argument."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        return [nodes.definition_list("", *self.items(self.arguments[0]), classes=["public"])]

    def items(self, module: str) -> Iterator[nodes.Node]:
        for line in filter(None, map(str.strip, self.content)):
            name, _, others = line.partition(":")
            public = getattr(import_module(module), name)
            text = nodes.paragraph("", "", *claim(public))
            for k, other in enumerate(others.split()):
                text += [nodes.Text(" See also " if k == 0 else ", "), neighbour(module, other.strip(","))]
            term = nodes.term("", "", entry(module, name))
            yield nodes.definition_list_item("", term, nodes.definition("", text))


def find_elsewhere(app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.Node) -> nodes.Node | None:
    """The entry where the name is defined, if its door has none."""
    if "elsewhere" not in node:
        return None
    python = env.get_domain("py")
    found = python.resolve_xref(env, node["refdoc"], app.builder, "obj", node["elsewhere"], node, content)
    if found is None:
        logger.warning("no page documents %s", node["elsewhere"], location=node)
        return content
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public", Public)
    app.connect("missing-reference", find_elsewhere)
    return {"parallel_read_safe": True}
