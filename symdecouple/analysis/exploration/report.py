"""What an exploration shows: its features, the sets that matter, the longest exact orders, and the ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from symdecouple.analysis.exploration.chain import listed
from symdecouple.analysis.exploration.measured import MeasuredOrder
from symdecouple.analysis.exploration.tables import Table
from symdecouple.shown import clipped
from symdecouple.verdict import Status

__all__ = ["tables_of"]

MANY = 20  # sets; of more, those that are refuted are counted only
SHOWN = 12  # orders

_EXACT = {Status.PROVED: "yes", Status.REFUTED: "no", Status.UNDECIDED: "not decided"}


def tables_of(found: Any) -> list[Table]:
    """Return the tables of an `Exploration`."""
    return [table for table in (_features(found), _sets(found), _orders(found), _ranking(found)) if table is not None]


def _features(found: Any) -> Table:
    rows = [(str(k), clipped(f.name, 60), "" if v is None else f"reference {clipped(str(v), 20)}")
            for k, (f, v) in enumerate(zip(found.features, found.reference, strict=True), 1)]
    return Table(f"{_counted(len(rows), 'feature')}, {found.count} sets and orders", ("", "", ""), rows,
                 tuple(_left_open(found)))


def _left_open(found: Any) -> Iterator[str]:
    if found.interrupted:
        yield "interrupted: what follows was decided until then; resume() goes on"
    elif not found.complete:
        yield "the budget was spent: what is not listed was not asked; resume() goes on"


def _sets(found: Any) -> Table | None:
    sets = [one for one in found.sets if len(one.numbers) > 1]
    if not sets:
        return None
    shown = sets if len(sets) <= MANY else [one for one in sets if one.c2 is not Status.REFUTED]
    rows = [(listed(one.numbers), one.c1.name, f"{one.c2.name} {one.scope}" if one.c2 is not Status.UNDECIDED
             else one.c2.name, _scenarios(found.scenarios(*one.numbers))) for one in shown]
    notes = () if len(shown) == len(sets) else (
        f"the other {_counted(len(sets) - len(shown), 'set')} of two or more features are REFUTED, and all their "
        "orders in scenario 2",)
    return Table("sets: independent gradients (C1), involutive span (C2, in whatever order), scenarios of the orders",
                 ("features", "C1", "C2", "scenario (orders)"), rows, notes)


def _scenarios(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items(), reverse=True))


def _orders(found: Any) -> Table:
    chains = found.longest
    if not chains:
        so_far = "" if found.complete else "so far "
        return Table(f"{so_far}no two features are proved to be decoupled, in whatever order", (), ())
    size = len(chains[0].numbers)
    rows = [(listed(chain.numbers), str(chain.scenario), chain.path, _EXACT[chain.next_is_exact],
             clipped(chain.why, 80)) for chain in chains[:SHOWN]]
    return Table(f"longest exact orders: {_counted(size, 'feature')}, each proved decoupled from all before it",
                 ("order", "scenario", "then along", "any further one exact", "because"), rows, _more(chains))


def _more(rows: Sequence[Any]) -> tuple[str, ...]:
    return () if len(rows) <= SHOWN else (f"and {len(rows) - SHOWN} more",)


def _ranking(found: Any) -> Table | None:
    ranking = found.ranking
    if not ranking:
        return None
    rows = [(listed(one.numbers), _degrees(one), f"{one.count}" + (f", {one.refused} refused" if one.refused else ""))
            for one in ranking[:SHOWN]]
    before = next((f"; as declared {one.original:.3g}" for one in ranking if one.count), "")
    return Table(f"orders ranked by the deviation from orthogonality of decoupled features, in degrees{before}",
                 ("order", "|DO|", "samples"), rows, _more(ranking))


def _degrees(one: MeasuredOrder) -> str:
    if one.is_exact:
        return "0 to rounding"
    if not one.count:
        return clipped(one.obstacle, 60)
    return f"{one.average:.3g} ± {one.spread:.2g}, at most {one.largest:.3g}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
