"""What is released: metadata that is true, a README without dead links, archives with all of it and nothing else."""

from __future__ import annotations

import importlib.util
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

build = pytest.importorskip("hatchling.build")
ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
JUNK = re.compile(r"__pycache__|\.py[co]$|\.nb[ic]$|\.warm$|\.venv|\.git/|_build|\.DS_Store|~$|\.orig$")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str], str]:
    """The files of the source archive and of the wheel, and the metadata."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        source, wheel = build.build_sdist(str(folder)), build.build_wheel(str(folder))
    with tarfile.open(folder / source) as archive:
        files = [name.partition("/")[2] for name in archive.getnames()]
    with zipfile.ZipFile(folder / wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith("METADATA"))
        return files, archive.namelist(), archive.read(metadata).decode("utf-8")


def test_the_source_archive_has_what_tests_and_pages_need_and_no_more(archives: Any) -> None:
    files, _, _ = archives
    for folder in ("symdecouple", "tests", "docs", "notebooks", "benchmarks", ".ci", "conda"):
        here = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}
        assert not {name for name in here if not JUNK.search(name)} - set(files)
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"} <= set(files)
    assert not [name for name in files if JUNK.search(name)]


def test_the_wheel_has_the_package_alone(archives: Any) -> None:
    _, files, _ = archives
    assert {name.split("/")[0] for name in files} == {"symdecouple", next(
        name.split("/")[0] for name in files if "dist-info" in name)}
    assert {"py.typed", "__init__.pyi", "cli/data/michelson.csv", "cli/data/SOURCE.md"} <= {
        name.partition("/")[2] for name in files}
    assert not [name for name in files if JUNK.search(name)]


def test_links_of_the_readme_lead_somewhere(archives: Any) -> None:
    """In the repository and in the source archive to files; on a package index to addresses."""
    files, _, metadata = archives
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = [link.partition("#")[0] for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)]
    assert relative and set(relative) <= set(files)
    _, _, shown = metadata.partition("\n\n")
    assert shown.startswith(text[:20]) and len(shown) > len(text) / 2
    assert not [link for link in LINK.findall(shown) if not re.match(r"https?:|#", link)]


@pytest.mark.parametrize(("text", "without", "with_address"), [
    ("[the guide](docs/guide.md#top).", "the guide.", "[the guide](https://e.org/s/blob/main/docs/guide.md#top)."),
    ("[a](https://b.c) [d](#e) [m](mailto:x@y)", None, None), ("![alt](https://b.c/p.png) `f[0](x)`", None, None),
    ("![alt](docs/p.png)", "", "![alt](https://e.org/s/raw/main/docs/p.png)"),
    ('<img alt="a" src="p.png" width="9">', "", '<img alt="a" src="https://e.org/s/raw/main/p.png" width="9">'),
    ("[![alt](p.png)](a.md)", "", "[![alt](https://e.org/s/raw/main/p.png)](https://e.org/s/blob/main/a.md)"),
])
def test_links_are_absolute_once_there_is_an_address(text: str, without: str | None, with_address: str | None) -> None:
    spec = importlib.util.spec_from_file_location("readme", ROOT / ".ci" / "readme.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.shown(text, "") == (text if without is None else without)
    assert module.shown(text, "https://e.org/s") == (text if with_address is None else with_address)


def test_classifiers_are_the_pythons_that_are_required(archives: Any) -> None:
    _, _, metadata = archives
    listed = re.findall(r"^Classifier: Programming Language :: Python :: (3\.\d+)$", metadata, flags=re.MULTILINE)
    assert listed == ["3.11", "3.12", "3.13"] and "Requires-Python: >=3.11" in metadata


def test_the_recipe_says_what_the_project_says() -> None:
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{PROJECT["version"]}"' in recipe and f"license: {PROJECT['license']}" in recipe
    run = re.findall(r"^    - (.*)$", recipe.partition("  run:\n")[2].partition("\n\n")[0], flags=re.MULTILINE)
    wanted = [re.sub(r"(?<=\w)>=", " >=", text) for text in PROJECT["dependencies"]]
    assert run == [f"python {PROJECT['requires-python']}", *wanted]
    assert f"symdecouple = {PROJECT['scripts']['symdecouple']}" in recipe and PROJECT["description"] in recipe
