"""Honest votes: shares of votes for rows, cast by members or models that did not see them.

An ensemble that can vote on its training rows without another fit has the methods of `VotingEnsemble`; ensembles of other libraries
get them from `ADAPTERS`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from compromis._rows import for_workers
from compromis._typing import Floats, Ints
from compromis.errors import InputError
from compromis.evidence.scores import with_absent_classes


@runtime_checkable
class VotingEnsemble(Protocol):
    """A classifier whose members vote; columns of votes are in the order of ``classes_``."""

    def leaves_rows_out(self) -> bool:
        """Whether members leave rows out of their training, so that `oob_votes` can judge them; known before fit."""

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the members that decide for each class."""

    def oob_votes(self, X: Any, *, hard: bool = True) -> Floats:
        """Return for each training row the votes of the members that did not see it; zeros where all of them saw it.

        With `hard` shares of decisions, else mean probabilities. X is what the classifier was fitted on.
        """

    def with_hard_votes(self) -> Any:
        """Return a classifier whose ``predict_proba`` is `vote_shares`, for converters to other formats."""


class Members:
    """`VotingEnsemble` of scikit-learn's bagging, whose members are trained on the positions of the classes."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def leaves_rows_out(self) -> bool:
        """Whether members are trained on bootstrap samples."""
        return bool(self.estimator.bootstrap)

    def vote_shares(self, X: Any) -> Floats:
        """Return the share of the members that decide for each class."""
        counts = np.zeros((X.shape[0], len(self.estimator.classes_)))
        rows = np.arange(len(counts))
        for member, features in self._members():
            counts[rows, _decisions(member, _columns(X, features))] += 1
        return counts / len(self.estimator.estimators_)

    def oob_votes(self, X: Any, *, hard: bool = True) -> Floats:
        """Return for each training row the votes of the members that did not see it."""
        n_classes = len(self.estimator.classes_)
        counts = np.zeros((X.shape[0], n_classes))
        X, decide = self._checked_rows(X)
        for (member, features), seen in zip(self._members(), self._samples(), strict=True):
            left_out = np.ones(len(counts), dtype=bool)
            left_out[seen] = False
            out = np.flatnonzero(left_out)
            if out.size == 0:
                continue
            part = _columns(_safe_indexing(X, out), features)
            if hard:
                counts[out, decide(member, part)] += 1
            else:
                shares = member.predict_proba(part)
                counts[out] += with_absent_classes(shares, member.classes_.astype(int), range(n_classes))
        total = counts.sum(axis=1, keepdims=True)
        return np.divide(counts, total, out=counts, where=total > 0)

    def with_hard_votes(self) -> Any:
        """Refuse: members of any kind cannot be converted."""
        raise InputError(
            f"the decisions of the members of {type(self.estimator).__name__} cannot be converted; fit with votes='proba'"
        )

    def _members(self) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield the members, each with the columns it looks at (None: all)."""
        members = self.estimator.estimators_
        yield from zip(members, getattr(self.estimator, "estimators_features_", [None] * len(members)), strict=True)

    def _samples(self) -> Sequence[NDArray[Any]]:
        """Return the rows that each member saw."""
        samples: Sequence[NDArray[Any]] = self.estimator.estimators_samples_
        return samples

    def _checked_rows(self, X: Any) -> tuple[Any, Callable[[Any, Any], Ints]]:
        """Return training rows, and how a member decides them."""
        return X, _decisions


class ForestMembers(Members):
    """`VotingEnsemble` of scikit-learn's forests, whose members are trees."""

    def with_hard_votes(self) -> Any:
        """Return a copy of the forest whose probabilities are the shares of its trees' decisions."""
        twin = copy.deepcopy(self.estimator)
        for tree in twin.estimators_:
            leaves = tree.tree_.value  # a view of the tree's own numbers, shape (nodes, 1, classes)
            leaves[:, 0, :] = np.eye(leaves.shape[2])[leaves[:, 0, :].argmax(axis=1)]
        return twin

    def _checked_rows(self, X: Any) -> tuple[Any, Callable[[Any, Any], Ints]]:
        array = _columns(X, None)
        if isinstance(array, np.ndarray) and array.dtype.kind in "fiub":
            # The forest has checked these rows when it was fitted; trees need not check them again, each for itself.
            return np.ascontiguousarray(array, dtype=np.float32), _tree_decisions
        return X, _decisions


class BalancedForestMembers(ForestMembers):
    """`VotingEnsemble` of imbalanced-learn's forest, whose trees see what their samplers drew."""

    def leaves_rows_out(self) -> bool:
        """Whether members leave rows out: always, since samplers drop rows of the larger classes."""
        return True

    def _samples(self) -> Sequence[NDArray[Any]]:
        return [sampler.sample_indices_ for sampler in self.estimator.samplers_]


ADAPTERS: dict[tuple[str, str], Callable[[Any], VotingEnsemble]] = {
    ("sklearn", "BaggingClassifier"): Members,
    ("sklearn", "RandomForestClassifier"): ForestMembers,
    ("sklearn", "ExtraTreesClassifier"): ForestMembers,
    ("imblearn", "BalancedRandomForestClassifier"): BalancedForestMembers,
}
"""By package and name of a class or of one that it inherits from."""


LEAST_TO_STOP_EARLY = 10_000
"""The rows above which scikit-learn's boosting of histograms stops early by itself."""


def voting_ensemble(estimator: Any) -> VotingEnsemble | None:
    """Return the estimator as an ensemble whose members vote, or None if it is none."""
    if isinstance(estimator, VotingEnsemble):
        return estimator
    for kind in type(estimator).__mro__:
        adapter = ADAPTERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if adapter is not None:
            return adapter(estimator)
    return None


def fit_classifier(estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any]) -> NDArray[Any]:
    """Fit an estimator, and return the classes of its columns of probabilities.

    One that takes only the classes 0, 1, ..., or holds such a one, is fitted on their positions.
    """
    if not takes_positions_only(estimator):
        estimator.fit(X, y, **params)
        fitted: NDArray[Any] = estimator.classes_
        return fitted
    classes, positions = np.unique(y, return_inverse=True)
    estimator.fit(X, positions, **params)
    return classes


def takes_positions_only(estimator: Any) -> bool:
    """Whether it is or holds a classifier of XGBoost, which refuses all classes but 0, 1, ..."""
    parts = [estimator, *(estimator.get_params().values() if hasattr(estimator, "get_params") else ())]
    return any(kind.__module__.partition(".")[0] == "xgboost" for part in parts for kind in type(part).__mro__)


def votes_of(estimator: Any, X: Any, classes: NDArray[Any], *, hard: bool, found: NDArray[Any] | None = None) -> Floats:
    """Return the shares of the votes for each class: of the members' decisions if `hard`, else predicted probabilities.

    `found` are the classes of the estimator's columns; without it its ``classes_``.
    """
    shares = _voting(estimator).vote_shares(X) if hard else estimator.predict_proba(X)
    return with_absent_classes(shares, estimator.classes_ if found is None else found, classes.tolist())


def out_of_bag_votes(estimator: Any, X: Any, classes: NDArray[Any], *, hard: bool) -> Floats:
    """Return for each training row the votes of the members that did not see it; rows that all of them saw have none."""
    votes = _voting(estimator).oob_votes(X, hard=hard)
    found = classes if takes_positions_only(estimator) else estimator.classes_
    return with_absent_classes(votes, found, classes.tolist())


def out_of_fold_votes(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Iterable[tuple[NDArray[Any], NDArray[Any]]],
    classes: NDArray[Any],
    *,
    hard: bool,
    fit_params: dict[str, Any],
    n_jobs: int | None,
) -> Floats:
    """Return the mean votes of the models that were fitted without the row; rows that are in no test fold have none."""
    folds = list(splits)
    task = for_workers(_fold_votes, n_jobs)
    parts = Parallel(n_jobs=n_jobs)(
        delayed(task)(_for_fold(estimator, X.shape[0]), X, y, fold, classes, hard, fit_params) for fold in folds
    )
    votes, models = np.zeros((X.shape[0], len(classes))), np.zeros((X.shape[0], 1))
    for (_, test), part in zip(folds, parts, strict=True):
        votes[test] += part
        models[test] += 1
    return np.divide(votes, models, out=votes, where=models > 0)


def _for_fold(estimator: Any, rows: int) -> Any:
    """Return an unfitted copy that stops early in a fold if, and only if, the fit on all `rows` does.

    HistGradientBoostingClassifier decides that by the number of rows: between 10,000 rows and 12,500 five folds would vote with more
    rounds than the model that predicts, and weights, guarantees and reviews would be those of another model.
    """
    copied = last = clone(estimator)
    while type(last) is Pipeline:  # a subclass may add or drop rows
        last = last.steps[-1][1]
    if getattr(last, "early_stopping", None) == "auto":
        last.set_params(early_stopping=rows > LEAST_TO_STOP_EARLY)
    return copied


def check_votes_are_possible(estimator: Any, *, hard: bool) -> None:
    """Raise if the estimator cannot vote, and name the way out."""
    if hard:
        _voting(estimator)
    elif not hasattr(estimator, "predict_proba"):
        if not hasattr(estimator, "decision_function"):  # a regressor, or nothing: no calibration would help
            raise InputError(
                f"estimator is a classifier with predict_proba, got {type(estimator).__name__}", "estimator"
            )
        raise InputError(
            f"{type(estimator).__name__} has no predict_proba; wrap it in sklearn.calibration.CalibratedClassifierCV to get probabilities"
        )


def _voting(estimator: Any) -> VotingEnsemble:
    ensemble = voting_ensemble(estimator)
    if ensemble is None:
        raise InputError(
            f"votes='hard' needs an ensemble whose members vote (a forest or BaggingClassifier), "
            f"got {type(estimator).__name__}; use votes='proba'"
        )
    return ensemble


def _fold_votes(
    model: Any,
    X: Any,
    y: Any,
    fold: tuple[NDArray[Any], NDArray[Any]],
    classes: NDArray[Any],
    hard: bool,
    fit_params: dict[str, Any],
) -> Floats:
    train, test = fold
    rows = X.shape[0]
    own = {
        name: _safe_indexing(value, train) if _is_per_row(value, rows) else value for name, value in fit_params.items()
    }
    found = fit_classifier(model, _safe_indexing(X, train), _safe_indexing(y, train), own)
    return votes_of(model, _safe_indexing(X, test), classes, hard=hard, found=found)


def _is_per_row(value: Any, rows: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict)) and len(value) == rows


def _decisions(member: Any, X: Any) -> Ints:
    """Return the positions of the classes a member decides; members are trained on positions, not on labels."""
    return np.asarray(member.predict(X)).astype(np.int64)


def _tree_decisions(tree: Any, X: NDArray[np.float32]) -> Ints:
    """Return what `_decisions` does, for a tree of a forest and rows that were checked."""
    leaf_class: Ints = tree.classes_.astype(np.int64)[tree.tree_.value[:, 0, :].argmax(axis=1)]
    return leaf_class[tree.tree_.apply(X)]


def _columns(X: Any, features: NDArray[Any] | None) -> Any:
    """Return the columns as members know them: without names."""
    array = X.to_numpy() if hasattr(X, "to_numpy") else X
    return array if features is None else array[:, features]
