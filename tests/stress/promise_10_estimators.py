"""10. scikit-learn's own checks on every estimator, with metadata routing off and on."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import compromis as cp
from tests.estimators import test_pragma_forest, test_tuned_decision
from tests.stress.outcome import Outcome, Progress, silent

TITLE = "scikit-learn's checks on every estimator, routing off and on"
QUICK = 0.05


def estimators(*, routing: bool) -> list[tuple[Any, dict[str, str]]]:
    """Return every estimator with the checks it cannot pass, and why; with routing, those inside others ask for weights.

    scikit-learn refuses to hand weights to an estimator that says neither that it wants them nor that it does not.
    """
    votes = [LogisticRegression(), DecisionTreeClassifier(random_state=0), RandomForestClassifier(5, random_state=0)]
    if routing:
        with config_context(enable_metadata_routing=True):
            votes = [one.set_fit_request(sample_weight=True) for one in votes]
    return [
        (cp.PragmaTreeClassifier(), {}),
        (cp.PragmaTreeClassifier(criterion="gini", max_leaf_nodes=8), {}),
        (cp.C45Classifier(), {}),
        *(
            (forest, test_pragma_forest.explained(forest))
            for forest in (cp.PragmaForestClassifier(10, tune=False), cp.PragmaForestClassifier(10))
        ),
        *(
            (cp.TunedDecisionClassifier(one, random_state=0), test_tuned_decision.EXPLAINED[type(one).__name__])
            for one in votes
        ),
    ]


def run(scale: float, progress: Progress = silent) -> Outcome:
    """Count the checks; below full scale only the first of the estimators are checked, with routing off and on."""
    wanted = []
    for routing in (False, True):
        every = estimators(routing=routing)
        wanted += [(routing, *one) for one in every[: max(1, round(scale * len(every)))]]
    total = Outcome(0)
    for done, (routing, estimator, explained) in enumerate(wanted):
        total += checked(estimator, explained, routing=routing)
        progress(done + 1, len(wanted))
    return total


def checked(estimator: Any, explained: dict[str, str], *, routing: bool) -> Outcome:
    """Run all checks of one estimator."""
    with warnings.catch_warnings(), config_context(enable_metadata_routing=routing):
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=explained, on_fail=None, on_skip=None)
    ran = [one for one in results if one["status"] != "skipped"]
    notes = Counter(f"explained: {explained[one['check_name']]}" for one in ran if one["status"] == "xfail")
    name = f"{estimator!r}, routing {'on' if routing else 'off'}"
    failures = [f"{name}: {one['check_name']}: {one['exception']}" for one in ran if one["status"] == "failed"]
    return Outcome(len(ran), tuple(failures), notes)
