"""Arrays of any kind, and hosts of any kind: on every road the same numbers, the same tags, or the same refusal."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import ma

from symdecouple import InvalidInput
from tests.laws.rows import FUNCTIONS, Array, Function, drawn
from tests.processes import printed

each = pytest.mark.parametrize("name", FUNCTIONS)


def read_only(rows: Array) -> Array:
    rows = rows.copy()
    rows.setflags(write=False)
    return rows


def mapped(rows: Array, folder: Path) -> Array:
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode="r")  # type: ignore[no-any-return]


# The same numbers, lying elsewhere.
VIEWS: dict[str, Callable[[Array], Any]] = {
    "every second": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "backwards": lambda rows: rows[:, ::-1].copy()[:, ::-1], "by columns": np.asfortranarray,
    "of a broadcast": lambda rows: np.broadcast_to(rows[:1], rows.shape), "read-only": read_only,
    "big-endian": lambda rows: rows.astype(">f8"), "masked nowhere": ma.masked_array,
    "a matrix of one": lambda rows: rows[:1],
}
# What rows of a type or size are refused with, by every function; and what it is of which none can be made a row.
ROWS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "no entries": (np.empty((2, 0)), ("no samples",)), "one entry": (np.ones((2, 1)), ("one sample",)),
    "missing": (np.array([[1.0, np.nan, 3, 2, 9, 4, 4, 1, 0, 5, 2, 7]]), ("nan in the input",)),
    "infinite": (np.array([[1.0, -np.inf, 3, 2, 9, 4, 4, 1, 0, 5, 2, 7]]), ("infinite value",)),
    "equal": (np.full((2, 12), 0.1), ("zero variance",)),
}
TYPES: dict[str, Any] = {
    "booleans": np.eye(3, 12) > 0, "complex": np.eye(3, 12) * 1j, "text": np.array([["a"] * 12]),
    "bytes": np.array([[b"a"] * 12]), "dates": np.arange(12).astype("M8[s]")[None],
    "spans": np.arange(12).astype("m8[s]")[None], "none": np.full((2, 12), None),
    "objects, text": np.array([["1", *range(11)]], dtype=object),
    "objects, booleans": np.array([[True, *range(11)]], dtype=object),
    "objects, spans": np.array([[np.timedelta64(3, "ns"), *range(11)]], dtype=object),
    "records": np.zeros((2, 12), dtype=[("a", float)]),
}


def asked(function: Function, rows: Any) -> tuple[Array, list[str], list[bool]]:
    values, outcomes = function.answer(rows)
    return values, [outcome.reason for outcome in outcomes], [outcome.ok for outcome in outcomes]


@each
def test_where_the_numbers_lie_is_not_felt(name: str, tmp_path: Path) -> None:
    """Nor is an array written to, whoever owns it."""
    function = FUNCTIONS[name]
    rows = np.concatenate([drawn(law, 1, function.middle, 5) for law in function.laws])
    kept = rows.copy()
    whole = asked(function, rows)
    for view in (*VIEWS.values(), lambda rows: mapped(rows, tmp_path)):
        seen = view(rows)
        which = [np.flatnonzero((rows == row).all(axis=1))[0] for row in np.asarray(seen)]
        found, told, _ = asked(function, seen)
        assert np.array_equal(found, whole[0][which], equal_nan=True) and told == [whole[1][i] for i in which]
        assert np.array_equal(rows, kept)


@each
def test_rows_without_an_answer_have_the_same_tags(name: str) -> None:
    function = FUNCTIONS[name]
    if function.sizes == (3,):
        return  # its rows have three entries
    for rows, tags in ROWS.values():
        values, told, ok = asked(function, rows)
        assert not any(ok) and np.isnan(values).any(axis=1).all()
        assert set(told) <= set(tags), told


@pytest.mark.parametrize("name", ["plan of four moments", "relaxed path", "parallel path", "broad path"])
def test_equal_values_have_no_variance_whatever_their_mean_is_rounded_to(name: str) -> None:
    for n in (3, 12, 16):
        assert asked(FUNCTIONS[name], np.full((2, n), 0.1))[1] == ["zero variance"] * 2


@each
def test_other_types_are_invalid_input_and_none_is_an_error_of_numpy(name: str) -> None:
    for rows in TYPES.values():
        with pytest.raises(InvalidInput, match="real numbers are expected"):
            FUNCTIONS[name].answer(rows)


# They ask where an entry lies.
OF_PLACES = ("energies", "energies behind the mean", "filter moments", "black box", "coordinates")


def test_masked_entries_are_left_out_or_their_rows_refused() -> None:
    """By statistics and by plans alike; features of places have nothing to put into one that is masked."""
    rows = drawn("normal", 3, 24, 5)
    kept = np.arange(24) % 3 != 1
    hidden = ma.masked_array(rows, mask=~kept + np.zeros((3, 1)))
    hidden[:, ~kept] = 1e300
    hidden[:, ~kept] = ma.masked
    for name, function in FUNCTIONS.items():
        if name in OF_PLACES:
            some = ma.masked_array(rows, mask=[~kept, 0 * kept, ~kept])[:, : 3 if function.sizes == (3,) else 24]
            values, told, _ = asked(function, some)
            (alone,), (outcome,) = function.answer(ma.getdata(some)[1:2])
            assert told == ["masked entries", outcome.reason, "masked entries"]
            assert np.array_equal(values[1], alone, equal_nan=True)
        elif not name.startswith("weighted"):
            assert np.array_equal(function.answer(hidden)[0], function.answer(rows[:, kept])[0])
            _, told, _ = asked(function, ma.masked_all((2, 24)))
            assert told == ["no samples"] * 2


def test_what_plans_return_of_masked_samples_is_masked_where_they_are() -> None:
    plan, rng = FUNCTIONS["plan of four moments"].plan(), np.random.default_rng(8)  # type: ignore[misc]
    rows = ma.masked_array(rng.normal(size=(2, 3, 12)), mask=rng.random((2, 3, 12)) < 0.3)
    ends, gradients, values = plan.normalize(rows), plan.gradients(rows), plan.transform(rows)
    assert (ends.mask == rows.mask).all() and (gradients.mask == ma.getmaskarray(rows)[:, :, None]).all()
    for i in np.ndindex(2, 3):
        alone = rows[i].compressed()
        assert np.array_equal(values[i], plan.transform(alone))
        assert np.array_equal(ends[i].compressed(), plan.normalize(alone))
        assert np.array_equal(gradients[i].compressed().reshape(4, -1), plan.gradients(alone))
    assert abs(plan.denormalize(ends, values) - rows).max() < 1e-13
    turned = np.moveaxis(rows, -1, 0)
    assert np.array_equal(plan.transform(turned, axis=0), values)
    assert np.array_equal(plan.normalize(turned, axis=0).filled(0), np.moveaxis(ends, -1, 0).filled(0))
    precise = plan.transform(rows, dps=20)
    assert precise.residual.shape == (2, 3) and abs(precise - values).max() < 1e-12
    with pytest.raises(InvalidInput, match="whole samples"):
        plan.transform(rows, checkpoint="none")


# Large enough for threads and compiled kernels, before and after a fork; a child that waits for a thread of its parent
# would wait for ever.
HOST = """
import hashlib, os, sys
import numpy as np
from symdecouple import decouple, families, stats

rows = np.random.default_rng(0).normal(size=(600, 200))

def numbers():
    found = stats.orthokurtosis(rows, axis=1), stats.decoupled_moments(rows[:520], 4, axis=1)
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in found)).hexdigest()

for place in sys.argv[1:]:
    os.environ["NUMBA_CACHE_DIR"] = place
    print(numbers(), "numba" in sys.modules)
if sys.argv[1:]:
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    print(numbers(), False)
    sys.exit()
plan = decouple(families.raw_moments(4))
both = lambda: numbers() + hashlib.sha256(plan.transform(rows[:50]).tobytes()).hexdigest()
both()  # kernels that have been used serve small samples from then on
print(both(), flush=True)
child = os.fork()
if child == 0:
    print(both(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(both(), flush=True)
"""


FORKS = "ignore:.*fork:DeprecationWarning"


def hosted(*arguments: str) -> list[str]:
    return printed(HOST, *arguments, warnings=FORKS, timeout=200).splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_answers_as_its_parent() -> None:
    before, *after = hosted()
    assert after == [before, before]


DIGITS = """
import os, signal, threading, time
import mpmath
from symdecouple.language.precision import at_digits

inside = threading.Event()

def hold():
    with at_digits(40):
        inside.set()
        time.sleep(0.5)

thread = threading.Thread(target=hold)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    print(mpmath.mp.dps, flush=True)
    with at_digits(20):
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
with at_digits(20):
    print(mpmath.mp.dps)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_a_thread_has_the_digits_waits_for_nobody() -> None:
    assert printed(DIGITS, warnings=FORKS, timeout=60).split() == ["15", "20"]


def test_without_a_folder_for_kernels_numpy_answers(tmp_path: Path) -> None:
    """One that is not there yet, and one that cannot be made; numba is not loaded to find out."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    missing, file, without = hosted(*(str(tmp_path / place / "folder") for place in ("missing", "file")))
    assert missing == file == without
