"""What plans and verdicts say that they rest on, and BibTeX that holds together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import symdecouple as sd
from symdecouple import InvalidInput, Mean, check_frobenius, check_independence, citation, decouple, holonomic, x
from symdecouple.analysis.citations import _TITLES
from symdecouple.families import raw_moments, second_order_moments, tils

ROOT = Path(__file__).parents[2]


def decided() -> Any:
    plan = decouple(raw_moments(3))
    plan.verdicts.modified[3]
    return plan


@pytest.mark.parametrize(("subject", "labels"), [
    (lambda: decouple(raw_moments(2)), ["Frobenius", "Theorem F"]),
    (lambda: decouple(raw_moments(4)), ["Frobenius", "Theorem A", "Theorem C", "Theorem F", "Theorem G", "Theorem J"]),
    (lambda: decouple(raw_moments(4), path="narrow"), []),
    (decided, ["Frobenius", "Theorem A", "Theorem C", "Theorem D", "Theorem F"]),
    (lambda: decouple(second_order_moments(tils())), ["Theorem E", "Theorem F"]),
    (lambda: decouple([Mean(x), Mean(1 / (1 + x**2)), Mean(x**4)]), ["Frobenius", "Theorem F"]),
    (lambda: check_frobenius(raw_moments(4)), ["Frobenius", "Theorem A"]),
    (lambda: check_frobenius(raw_moments(3), n_samples=3), []),
    (lambda: check_independence(raw_moments(3)), []),
    (lambda: check_frobenius([Mean(x), Mean(sd.gradient(Mean(x**7)).expr)], budget=1e-9), []),
    (lambda: holonomic([[1, 0]], None, sd.coordinates(2)), ["Theorem M"]), (lambda: None, []),
])
def test_theorems_follow_from_the_ways_and_the_verdicts(subject: Callable[[], Any], labels: list[str]) -> None:
    made = citation(subject())
    assert [label for label, _ in made.theorems if label in labels] == labels
    assert {label for label, _ in made.theorems} <= {*labels, "Theorem A"}
    assert all(why for _, why in made.theorems)


def test_bibtex_holds_together() -> None:
    text = decouple(raw_moments(4)).citation().bibtex()
    entries = re.findall(r"@(\w+)\{(\w+),\n((?:  \w+ += \{.*\},?\n)+)\}", text)
    assert [key for _, key, _ in entries] == ["martinezenriquez2022deterministic", "symdecouple", "frobenius1877",
                                              "lie1880"]
    assert text.count("{") == text.count("}") and text.isascii() and text.endswith("}\n")
    for _, _, fields in entries:
        assert re.search(r"title += \{", fields) and re.search(r"author += \{", fields)
    bibliography = (ROOT / "docs" / "theory" / "bibliography.md").read_text(encoding="utf-8")
    for known in re.findall(r"(?:eprint|doi) +=? \{(.*?)\}", text):
        assert known in bibliography
    assert sd.__version__ in text and str(citation()).startswith("@misc")


def test_labels_are_pages_of_the_documentation() -> None:
    for label, title in _TITLES.items():
        page = ROOT / "docs" / "theory" / f"{label.lower().replace(' ', '_')}.md"
        if page.exists():
            assert page.read_text(encoding="utf-8").startswith(f"# {label}: {title}\n")
        else:
            assert label in ("Frobenius", "Theorem O")


@pytest.mark.parametrize("wrong", [5, "plan", raw_moments(2)], ids=str)
def test_other_things_have_none(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="a plan, a verdict or nothing"):
        citation(wrong)
