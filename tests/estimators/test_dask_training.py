"""Training and cross-validation on a Dask cluster through joblib, and a worker that dies."""

from __future__ import annotations

import os
import signal
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import compromis as cp
from compromis._rows import in_worker
from tests.frame_kinds import _client, start_dask

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.filterwarnings("ignore:.*Sending large graph.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*inplace keyword"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def data():
    return make_classification(400, n_features=6, n_informative=4, weights=[0.8], random_state=0)


@pytest.fixture
def _on_a_cluster():
    with _client().as_current(), joblib.parallel_config(backend="dask"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(10, random_state=0),
        cp.PragmaForestClassifier(10, random_state=0),
        cp.TunedDecisionClassifier(RandomForestClassifier(10, random_state=0), votes="proba", cv=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_cross_validation_on_a_cluster_is_the_same(data, model, request):
    X, y = data
    here = cp.cross_evaluate(model, X, y, cv=3)
    request.getfixturevalue("_on_a_cluster")
    there = cp.cross_evaluate(model, X, y, cv=3, n_jobs=2)
    assert np.array_equal(here.counts.matrix, there.counts.matrix)


@pytest.mark.slow
def test_a_forest_grown_on_a_cluster_is_the_same(data, request):
    X, y = data
    here = cp.PragmaForestClassifier(20, random_state=0).fit(X, y)
    request.getfixturevalue("_on_a_cluster")
    there = cp.PragmaForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(here.predict_proba(X), there.predict_proba(X))
    assert np.array_equal(here.weights_, there.weights_)


def test_a_criterion_travels():
    """What cannot be pickled makes joblib's tasks on Dask wait for ever."""
    import pickle

    from compromis.trees.criteria import find_criterion

    for criterion in ("pragma", "gini"):
        found = pickle.loads(pickle.dumps(find_criterion(criterion)))
        assert (found.number, found.source) == (find_criterion(criterion).number, criterion)


def test_one_thread_in_a_worker():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info()]

    before = threads()
    assert set(in_worker(threads)) == {1}
    assert threads() == before


@pytest.mark.slow
def test_a_worker_that_dies_gives_the_right_answer_or_a_clear_error():
    """Killed at several moments of a count over twelve parts; the scheduler runs its parts again, or gives up and says so."""
    import dask.dataframe as dd
    from distributed import Client

    rng = np.random.default_rng(0)
    truth, decision = rng.choice(["a", "b"], 1200), rng.choice(["a", "b"], 1200)
    rows = pd.DataFrame({"t": truth, "d": decision})
    expected = cp.Counts.from_predictions(truth, decision).matrix
    answers, said = 0, []
    for delay in (0.3, 0.8, 1.5):
        process, address = start_dask()
        try:
            with Client(address, set_as_default=False, timeout=60) as client, client.as_current():
                # a function of this module could not be imported there, one that travels as code can
                frame = dd.from_pandas(rows, npartitions=12).map_partitions(
                    lambda part: (time.sleep(0.3), part)[1], meta=rows.iloc[:0]
                )
                victims = list(client.run(os.getpid).values())
                timer = threading.Timer(delay, os.kill, (victims[0], signal.SIGKILL))
                timer.start()
                try:
                    counts = cp.Counts.from_frame(frame, truth="t", prediction="d")
                except cp.EngineError as error:
                    said.append(str(error))
                else:
                    assert np.array_equal(counts.matrix, expected)
                    answers += 1
                timer.join()
        finally:
            process.stdin.close()
            process.wait(30)
    assert all("dask could not run the query" in sentence for sentence in said)
    assert answers, said  # Dask runs lost parts again, so some run survives
