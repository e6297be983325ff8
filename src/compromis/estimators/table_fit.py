"""Fit a classifier to a table of texts, tuned to what matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis.errors import InputError
from compromis.estimators.model_file import TableModel, describe_table, encode_table, make_classifier
from compromis.estimators.tuned_decision import TunedDecisionClassifier
from compromis.preferences import Preferences


def fit_table(
    texts: Mapping[str, Any],
    target: str,
    preferences: Preferences,
    *,
    source: str = "the table",
    sample_weight: ArrayLike | None = None,
    model: str = "forest",
    trees: int = 100,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> tuple[TableModel, TunedDecisionClassifier]:
    """Fit a classifier to columns of text, and tune its decision to the preferences.

    Parameters
    ----------
    texts : mapping of str to list
        The columns, None where a value is missing. Columns of numbers are numbers, all others are nominal.
    target : str
        The column of classes to learn.
    preferences : Preferences
        What matters.
    source : str
        What messages call the table.
    sample_weight : array-like, optional
        A weight per row.
    model : {"forest", "extra-trees", "boosting", "logistic"}
        The classifier.
    trees : int
        The number of trees, or of rounds of boosting.
    random_state, n_jobs
        As in scikit-learn.

    Returns
    -------
    model : TableModel
        What `save_model` writes; its `vote_shares` votes for rows.
    tuned : TunedDecisionClassifier
        How it was tuned.

    Examples
    --------
    >>> import compromis as cp
    >>> texts = {"x": [str(k % 7) for k in range(60)], "class": ["bad" if k % 7 > 4 else "good" for k in range(60)]}
    >>> model, tuned = cp.estimators.fit_table(texts, "class", cp.Preferences.prioritise(["bad"]), trees=5)
    >>> model.decision.decide(model.vote_shares(texts, "parts")).tolist()[:6]
    ['good', 'good', 'good', 'good', 'good', 'bad']
    """
    names = [column for column in texts if column != target]
    if not names:
        raise InputError(f"{source} has no column besides {target!r} to learn from")
    columns = describe_table(texts, names, source)
    classifier = make_classifier(model, columns, trees=trees, random_state=random_state, n_jobs=n_jobs)
    tuned = TunedDecisionClassifier(classifier, preferences=preferences, n_jobs=n_jobs, random_state=random_state)
    tuned.fit(encode_table(texts, columns, source), np.array(texts[target]), sample_weight=sample_weight)
    fitted = TableModel(
        classifier=tuned.estimator_,
        decision=tuned.decision_,
        columns=columns,
        target=target,
        hard=tuned.votes_are_hard_,
    )
    return fitted, tuned
