"""A Dask cluster of two worker processes that prints its address and lives until standard input ends."""

from __future__ import annotations

import sys

from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
