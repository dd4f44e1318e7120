"""The same numbers on a local cluster of two processes: rows to the bit, one vector in chunks to its bound."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = '''
import numpy as np
import dask.array as da
from dask.distributed import Client, LocalCluster

import symdecouple as sd
from symdecouple import lazy, stats
from symdecouple.families.moments import raw_moments


def main():
    rows = np.random.default_rng(0).exponential(size=(40, 200))
    plan = sd.decouple(raw_moments(4))
    plan.transform(rows)  # a used plan travels
    cut, whole = da.from_array(rows.ravel(), chunks=777), da.from_array(rows, chunks=(7, -1))
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      host="127.0.0.1") as cluster, Client(cluster):
        for found, expected in (
            (stats.orthokurtosis(whole, axis=1), stats.orthokurtosis(rows, axis=1)),
            (stats.decoupled_moments(whole, 5, axis=1), stats.decoupled_moments(rows, 5, axis=1)),
            (stats.skewness_range(whole, axis=1).low, stats.skewness_range(rows, axis=1).low),
            (plan.transform(whole), plan.transform(rows)),
            (plan.normalize(whole), plan.normalize(rows)),
        ):
            assert np.array_equal(found.compute(), expected)
        np.testing.assert_allclose(stats.decoupled_moments(cut, 4).compute(),
                                   stats.decoupled_moments(rows, 4, axis=None), rtol=1e-12)
        chunks = np.array_split(rows.ravel(), 9)
        np.testing.assert_allclose(lazy.moments(cut, 6).compute().finalize().moments,
                                   lazy.moments(chunks, 6).finalize().moments, rtol=1e-13)
        z = lazy.normalize(cut, 3).compute()
        np.testing.assert_allclose(z, np.concatenate(list(lazy.normalize(chunks, 3)())), rtol=0, atol=1e-12)
        persisted = cut.persist()
        np.testing.assert_allclose(stats.decoupled_moments(persisted, 5).compute(), lazy.decoupled_moments(chunks, 5),
                                   rtol=1e-8)
    print("same")


if __name__ == "__main__":
    main()
'''


@pytest.mark.slow
def test_a_local_cluster_gives_the_same(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "on_a_cluster.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0 and done.stdout.split() == ["same"], done.stderr[-2000:]
