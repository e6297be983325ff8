"""Fitting a tuned classifier to a table of text columns, and deciding with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compromis.deployment.decision import Decision
from compromis.engines.table import Table
from compromis.errors import InputError
from compromis.estimators.ballots import votes_of
from compromis.estimators.model_file import TableModel
from compromis.estimators.table_model import describe_columns, encode, make_classifier
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.estimators.tuning import Tuned
from compromis.preferences import Preferences
from compromis.reporting.change import Change


def fit_table(
    table: Table, target: str, preferences: Preferences, *, name: str, trees: int, random_state: int, n_jobs: int | None
) -> tuple[TableModel, Change, Tuned]:
    """Fit the classifier called `name` to the table; return the model, what tuning changed on honest votes, and the tuning."""
    names = [column for column in table.columns if column != target]
    if not names:
        raise InputError(f"{table.source} has no column besides {target!r} to learn from")
    columns = describe_columns(table, names)
    classifier = make_classifier(name, columns, trees=trees, random_state=random_state, n_jobs=n_jobs)
    tuned = TunedDecisionClassifier(classifier, preferences=preferences, n_jobs=n_jobs, random_state=random_state)
    tuned.fit(encode(table, columns), np.array(table.columns[target]), sample_weight=table.weights)
    decision = Decision(tuple(tuned.classes_.tolist()), tuned.weights_, tuned.smoothing_)
    model = TableModel(tuned.estimator_, decision, columns, target, tuned.votes_are_hard_)
    assert tuned.tuning_ is not None
    return model, change_by_tuning(tuned, preferences), tuned.tuning_


def change_by_tuning(tuned: TunedDecisionClassifier, preferences: Preferences) -> Change:
    """Return what the weights changed on the honest votes they were searched on."""
    assert tuned.patterns_ is not None
    assert tuned.tuning_ is not None
    return Change(tuned.patterns_.counts(np.ones(len(tuned.classes_))), tuned.tuning_.counts, preferences)


def vote_table(model: TableModel, table: Table) -> NDArray[np.float64]:
    """Return the shares of the votes for each class, in the order of the decision's classes."""
    classes = np.array(model.decision.classes)
    return votes_of(model.classifier, encode(table, model.columns), classes, hard=model.hard)
