"""Random verdicts against an oracle that shares nothing with the package: ``python -m tests.laws.fuzz --seed 1``.

Each random set is decided within a budget. What is claimed is compared with jets of 60 digits (`plain_jets`) at samples
of the size that is claimed; certificates are verified, verdicts go through JSON, and the processor time is taken. Cases
run in a process of their own, so that one that never returns is found and named. Budgets are seconds of the clock: on a
machine that others use too, ``--slowdown 5`` gives five times as many, and what takes more processor time than the
budget counts as undecided.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

from symdecouple import Status, SymdecoupleError, Verdict, check_frobenius
from tests.laws.corpus import Row, answers, build
from tests.laws.plain_jets import Answer, grid_size
from tests.laws.random_sets import draw_row
from tests.laws.report import unverified

LARGEST = 10  # samples that the oracle takes
HANGS = 90.0  # seconds without an answer


def case(seed: int, number: int) -> tuple[Row, Any]:
    """Return the set of this number; what the package refuses to declare is drawn again."""
    rng = random.Random(f"{seed}/{number}")
    while True:
        row = draw_row(rng)
        try:
            return row, build(row)
        except SymdecoupleError:
            continue


def examine(seed: int, number: int, budget: float = 2.0, slowdown: float = 1.0) -> dict[str, Any]:
    """Decide one case and report: status, seconds, and what is wrong with it, empty where nothing is."""
    row, features = case(seed, number)
    out: dict[str, Any] = {"number": number, "text": row.text, "kind": row.family, "n": row.n_samples, "wrong": ""}
    start = time.process_time()
    try:
        verdict = check_frobenius(features, n_samples=None if row.coordinates else row.n_samples,
                                  budget=budget * slowdown)
        out |= {"status": verdict.status.name, "seconds": time.process_time() - start, "scope": verdict.scope}
        out["reason"] = verdict.reason if verdict.status is Status.UNDECIDED else ""
        out["late"] = out["seconds"] > budget * slowdown + 1
        if verdict.certificate is not None and out["seconds"] > budget:
            out |= {"status": "UNDECIDED", "reason": f"{verdict.status.name}, but after the budget"}
        start = time.process_time()
        out["wrong"] = unverified(verdict)
        out["verifying"] = time.process_time() - start
    except Exception as error:
        return out | {"status": "ERROR", "seconds": time.process_time() - start,
                      "wrong": f"raised {type(error).__name__}: {str(error)[:100]}"}
    out["wrong"] = out["wrong"] or _contradiction(row, verdict, out)
    return out


def _contradiction(row: Row, verdict: Verdict, out: dict[str, Any]) -> str:
    """Return what the oracle says against a verdict; where it cannot say anything, that is noted."""
    for one, name in ((verdict.independence, "C1"), (verdict, "C2")):
        if one is None or one.certificate is None:
            continue
        found = [a.independent if name == "C1" else a.involutive for a in _answers(row, one)]
        if not found:
            out["unchecked"] = True
            continue
        general = one.status is (Status.PROVED if name == "C2" else Status.REFUTED)  # an identity, else one witness
        claimed = one.status is Status.PROVED
        ok = all(f is claimed for f in found) if general or not row.kinks else any(f is claimed for f in found)
        if not ok:
            return f"WRONG: {name} {one.status.name} {one.scope}, the oracle finds {found}"
    return ""


def _answers(row: Row, verdict: Verdict) -> list[Answer]:
    asked = verdict.n_samples if verdict.n_samples is not None else getattr(verdict.certificate, "n_samples", None)

    def size(row: Row, seed: int) -> int:
        least = len(row.texts) + 2 if row.family != "filters" else 7
        n = max(verdict.n0 or 0, least + seed % 2) if asked is None else grid_size(asked)
        return n if n <= LARGEST else 0

    count = 24 if row.kinks else 2
    return answers(row, count, size, "(-6,6)" if row.kinks else "", 3 * count)  # on both sides of every kink


# --- many of them, in processes of their own ------------------------------------------------------------------------


def run(seed: int, count: int, budget: float, start: int = 0, slowdown: float = 1.0) -> list[dict[str, Any]]:
    """Examine cases in turn; a case that gives no answer for long ends its process, and is named."""
    out: list[dict[str, Any]] = []
    while start + len(out) < start + count:
        done = start + len(out)
        child = subprocess.Popen([sys.executable, "-m", "tests.laws.fuzz", "--child", "--seed", str(seed),
                                  "--start", str(done), "--count", str(start + count - done), "--budget", str(budget),
                                  "--slowdown", str(slowdown)], stdout=subprocess.PIPE,
                                 text=True)
        assert child.stdout is not None
        timer = _timer(child)
        for line in child.stdout:
            timer.cancel()
            out.append(json.loads(line))
            _tell(out[-1])
            timer = _timer(child)
        timer.cancel()
        child.wait()
        if start + len(out) < start + count:
            number = start + len(out)
            out.append({"number": number, "text": case(seed, number)[0].text, "status": "HANG", "seconds": HANGS,
                        "wrong": f"no answer in {HANGS:g} s, or the process ended with {child.returncode}"})
            _tell(out[-1])
    return out


def _timer(child: subprocess.Popen[str]) -> threading.Timer:
    timer = threading.Timer(HANGS, child.kill)
    timer.start()
    return timer


def _tell(found: dict[str, Any]) -> None:
    if found["wrong"] or found.get("late") or found["status"] == "UNDECIDED":
        remark = found["wrong"] or found.get("reason", "")
        print(f"{found['number']:4} {found['status']:9} {found['seconds']:6.2f} s n={found.get('n')} {found['text']}\n"
              f"       {'LATE ' * bool(found.get('late'))}{remark[:170]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--budget", type=float, default=2.0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--slowdown", type=float, default=1.0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        for number in range(given.start, given.start + given.count):
            print(json.dumps(examine(given.seed, number, given.budget, given.slowdown)), flush=True)
        return
    found = run(given.seed, given.count, given.budget, given.start, given.slowdown)
    tally = Counter(f["status"] for f in found)
    tally.update({"WRONG": sum(f["wrong"].startswith("WRONG") for f in found),
                  "raised": sum(f["wrong"].startswith("raised") for f in found),
                  "unverified": sum(f["wrong"].startswith("unverified") for f in found),
                  "late": sum(bool(f.get("late")) for f in found),
                  "not checked by the oracle": sum(bool(f.get("unchecked")) for f in found)})
    print(f"seed {given.seed}, {given.count} sets, budget {given.budget:g} s: "
          + ", ".join(f"{key} {value}" for key, value in sorted(tally.items())))
    print(f"undecided {tally['UNDECIDED'] / given.count:.1%}; slowest {max(f['seconds'] for f in found):.2f} s, "
          f"slowest to verify {max(f.get('verifying', 0) for f in found):.2f} s")


if __name__ == "__main__":
    main()
