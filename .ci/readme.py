"""The README as package indexes show it: what leads to a file of the repository is absolute, or left out.

On an index nothing lies beside the README. As soon as pyproject.toml names a Repository among the URLs of the project,
links and pictures lead there; until then links are words, and there are no pictures.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_HERE = r"(?![a-z]+:|#)([^)\s\"]{2,})"  # a single letter is a call in an example
_PICTURE = re.compile(rf"!\[([^\]]*)\]\({_HERE}\)")
_TAG = re.compile(rf"<img\b([^>]*?)src=\"{_HERE}\"([^>]*)>")
_LINK = re.compile(rf"(?<!!)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))+)\]\({_HERE}\)")


def shown(text: str, address: str) -> str:
    """Return the text of a README with links to files of the repository at this address, empty where there is none."""
    if not address:
        return _TAG.sub("", _PICTURE.sub("", _LINK.sub(r"\1", text)))
    text = _PICTURE.sub(rf"![\1]({address}/raw/main/\2)", _LINK.sub(rf"[\1]({address}/blob/main/\2)", text))
    return _TAG.sub(rf'<img\1src="{address}/raw/main/\2"\3>', text)


class ReadmeHook(MetadataHookInterface):
    """Puts the README into the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the text of the README."""
        address = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown(text, address)}
