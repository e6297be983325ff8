"""The state of a studio: files, models and preferences; load, tune, compare and save."""

from __future__ import annotations

import itertools
import secrets
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np

import compromis as cp
from compromis.reports import panel_document, preferences_document
from compromis.studio.forms import PreferencesForm, form_of
from compromis.studio.jobs import Job, Jobs, Progress
from compromis.studio.loading import Columns, fit_votes, load_model_votes, load_votes
from compromis.studio.storage import Places, Source
from compromis.weights import Sweep, WeightSearch, search_weights

SAMPLE = 40_000
"""Patterns that the first descent sees at most."""
MOST_MODELS = 50
MOST_UPLOAD = 2_000_000_000
"""Bytes of an upload."""
MOST_PANEL = 64_000_000
"""Bytes of evidence that a page takes; beyond them votes are binned for its curves."""
MOST_ROWS = 1_000_000
"""Patterns that a page takes."""
MOST_VOTES = 100_000
"""Votes up to which the page searches by itself; beyond them the server does, which is quicker."""
GRID = np.linspace(0.0, 1.0, 101)
"""The recall weights of a compared curve."""
SUFFIXES = {"preferences": ".toml", "weights": ".json", "report": ".html"}
"""The kinds of files that can be saved."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model was loaded, so that it can be loaded again."""

    source: str
    name: str
    columns: Columns
    model: str | None = None
    """The model file whose votes are wanted; without it the columns hold votes."""
    fit: str | None = None
    """The kind of model to fit to the table, whose columns hold no votes."""


class SaveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to save under which name: the preferences and weights that the page shows."""

    model: str
    preferences: PreferencesForm
    weights: list[float]
    kind: str
    name: str
    replace: bool = False


class InterviewForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The classes that matter, and the answers given so far."""

    classes: tuple[str, ...]
    metric: str = "f"
    answers: tuple[str, ...] = ()


class Model(msgspec.Struct, kw_only=True):
    """A loaded model: its votes, and the present decision."""

    id: str
    recipe: Recipe
    name: str
    votes: cp.Votes
    dropped: int
    """Rows that were left out because their class is missing."""
    decision: cp.Decision
    document: dict[str, Any]
    """What the panel shows, without the present preferences and weights."""
    interview: cp.tradeoffs.Interview | None = None
    """The interview without answers, which keeps the results it asks about."""

    def counts(self) -> cp.Counts:
        """Return the confusion counts of the present decision."""
        return self.votes.counts(self.decision.weights, smoothing=self.decision.smoothing)

    def shown(self) -> dict[str, Any]:
        """Return the model for the page."""
        return {
            "id": self.id,
            "name": self.name,
            "classes": list(self.votes.classes),
            "support": self.votes.support.astype(float).tolist(),
            "rows": self.votes.rows,
            "patterns": len(self.votes),
            "left_out": self.votes.left_out,
            "dropped": self.dropped,
            "recipe": msgspec.to_builtins(self.recipe),
            "weights": self.decision.weights.tolist(),
            "smoothing": self.decision.smoothing,
            "to_review": self.to_review,
        }

    @property
    def to_review(self) -> int:
        """The rows that the present decision sends to a person."""
        return 0 if self.decision.review is None else self.decision.review_on(self.votes).asked.rows


class Workspace:
    """The state of one studio; changes are short and under a lock, work happens outside it."""

    def __init__(self, places: Places, *, eager: bool = False, most_upload: int = MOST_UPLOAD) -> None:
        self.places = places
        self.most_upload = most_upload
        self._eager = eager
        self.jobs = Jobs()
        self.boot = secrets.token_hex(8)
        self.preferences: PreferencesForm | None = None
        self.warm = threading.Event()
        """Set when the compiled kernels are loaded."""
        self._models: dict[str, Model] = {}
        self._numbers = itertools.count(1)
        self._saved: dict[str, Path] = {}
        self._lock = threading.Lock()

    def shown(self) -> dict[str, Any]:
        """Return everything that a page needs when it opens."""
        return {
            "boot": self.boot,
            "eager": self._eager,
            "most_upload": self.most_upload,
            "folder": str(self.places.output),
            "sources": [source.shown() for source in self.places.sources()],
            "unreadable": self.places.unreadable(),
            "models": [model.shown() for model in self.models()],
            "jobs": [job.shown() for job in self.jobs.unfinished()],
            "preferences": None if self.preferences is None else msgspec.to_builtins(self.preferences),
        }

    def model(self, number: str) -> Model:
        """Return the model of that number."""
        model = self._models.get(number)
        if model is None:
            raise cp.InputError("this model is not loaded (any more); load it again")
        return model

    def models(self) -> list[Model]:
        """Return the models in the order they were loaded."""
        return list(self._models.values())

    def remove(self, number: str) -> None:
        """Forget a model."""
        with self._lock:
            self._models.pop(number, None)

    def load(self, recipe: Recipe, progress: Progress) -> dict[str, Any]:
        """Read a file into votes, and keep them as a model."""
        source = self.places.source(recipe.source)
        model_file = None if recipe.model is None else self.places.source(recipe.model)
        votes, dropped, decision = _read(source, model_file, recipe, progress)
        progress(0.98, "preparing the panel")
        document = _document(votes, decision.smoothing)
        progress(0.99, "preparing the panel")
        with self._lock:
            if len(self._models) >= MOST_MODELS:
                raise cp.InputError(f"there are {MOST_MODELS} models already; remove one first")
            number = str(next(self._numbers))
            self._models[number] = Model(
                id=number,
                recipe=recipe,
                name=_unique(recipe.name or source.name, {model.name for model in self.models()}),
                votes=votes,
                dropped=dropped,
                decision=decision,
                document=document,
            )
        return self._models[number].shown()

    def tune(self, model: Model, form: PreferencesForm, job: Job) -> dict[str, Any]:
        """Search the weights that serve the preferences best, and keep both."""
        getting_ready = "getting ready; after an installation this takes half a minute, once"
        job.report(0.0, "searching" if self.warm.is_set() else getting_ready)
        search = tune(model.votes, form.preferences(model.votes.classes), model.decision, job)
        with self._lock:
            model.decision, self.preferences = search.decision, form
        return search_shown(search)

    def ask(self, model: Model, asked: InterviewForm) -> dict[str, Any]:
        """Return the question that follows the answers given so far, what they tell, and the preferences they stand for."""
        before = model.interview
        if before is None or (before.classes, before.metric.name) != (asked.classes, asked.metric):
            before = model.interview = cp.tradeoffs.Interview(model.votes, asked.classes, metric=asked.metric)
        now = before.taken_up(asked.answers)
        return {
            "question": None if now.question is None else question_shown(now.question),
            "known": [known_shown(one) for one in now.known],
            "most": now.most,
            "preferences": form_of(now.preferences(), model.votes.classes) if now.known else None,
        }

    def opened(self, number: str) -> Path:
        """Return a file that was saved, by the number that its link has."""
        path = self._saved.get(number)
        if path is None or not path.is_file() or path.resolve().parent != self.places.output:
            raise cp.InputError("this file is not here (any more); save it again")
        return path

    def hold(self, model: Model, form: PreferencesForm, weights: list[float]) -> None:
        """Keep preferences, and weights that the page found."""
        decision = with_weights(model.decision, weights)
        form.preferences(model.votes.classes)  # raises where they do not fit
        with self._lock:
            model.decision, self.preferences = decision, form

    def compare(self, label: str, metric: str, progress: Progress) -> dict[str, Any]:
        """Compare all models that know a class, over all recall weights."""
        models = {model.name: model for model in self.models() if label in model.votes.classes}
        if not models:
            raise cp.InputError(f"no model is loaded that knows the class {label!r}")
        points = {}
        for number, (name, model) in enumerate(models.items()):
            progress(number / (len(models) + 1), f"reading the votes of {name}")
            points[name] = model.votes.points([label])[label]
        progress(len(models) / (len(models) + 1), "comparing")
        comparison = cp.compare_curves(points, metric)
        now = {name: cp.evaluate(model.counts()).per_class[label] for name, model in models.items()}
        return {
            "label": label,
            "metric": metric,
            "recall_weight": GRID.tolist(),
            "curves": [
                {
                    "id": models[name].id,
                    "name": name,
                    "value": curve.value(GRID).tolist(),
                    "area": comparison.areas[name],
                    "share": comparison.shares[name],
                    "at": {rate: getattr(now[name], rate) for rate in ("recall", "precision")},
                }
                for name, curve in comparison.curves.items()
            ],
            "winners": [
                {"low": winner.low, "high": winner.high, "best": list(winner.best)} for winner in comparison.intervals
            ],
            "verdict": str(comparison.verdict),
        }

    def panel(self, model: Model) -> dict[str, Any]:
        """Return the panel's document with the present preferences and weights."""
        labels = model.votes.classes
        preferences = cp.Preferences() if self.preferences is None else self.preferences.preferences(labels)
        return model.document | {
            "preferences": preferences_document(preferences, labels),
            "weights": model.decision.weights.tolist(),
            "counts": model.counts().matrix.tolist(),
        }

    def save(self, asked: SaveRequest, progress: Progress) -> dict[str, Any]:
        """Write a file into the output folder, whole or not at all, and return its path."""
        model = self.model(asked.model)
        decision = with_weights(model.decision, asked.weights)
        preferences = asked.preferences.preferences(model.votes.classes)
        progress(0.1, "")
        if asked.kind == "preferences":
            write: Any = preferences.to_toml
        elif asked.kind == "weights":
            write = decision.to_json
        else:
            write = cp.report(
                model.votes,
                preferences=preferences,
                weights=decision.weights,
                smoothing=decision.smoothing,
                review=decision.review,
                confidence=0.95,
                title=model.name,
            ).save
        path = self.places.save(asked.name, SUFFIXES[asked.kind], write, replace=asked.replace)
        number = secrets.token_urlsafe(24)
        self._saved[number] = path
        return {"path": str(path), "bytes": path.stat().st_size, "link": f"/saved/{number}/{quote(path.name)}"}

    def close(self) -> None:
        """Stop all work, and remove the temporary files."""
        self.jobs.close()
        self.places.close()


def tune(votes: cp.Votes, preferences: cp.Preferences, before: cp.Decision, job: Job) -> WeightSearch:
    """Return the best search; the result of a quick descent from the weights `before` is offered to those who wait.

    If preferences changed a little, the best weights are near. Of many patterns the first descent sees a sample; its weights
    are counted on all of them.
    """

    def descend(some: cp.Votes, start: cp.Decision) -> WeightSearch:
        return search_weights(
            some,
            preferences=preferences,
            smoothing=before.smoothing,
            random_state=0,
            method=Sweep(rounds=0, start=tuple(start.weights.tolist())),
            progress=lambda _, loss: job.report(0.0, f"loss {loss:.4f}"),
        )

    start = before
    if len(votes) > SAMPLE:
        start = descend(sampled(votes, SAMPLE), before).decision
        job.offer(_offered(votes, preferences, start))
    near = descend(votes, start)
    if job.result is None:
        job.offer(search_shown(near))
    full = search_weights(
        votes,
        preferences=preferences,
        smoothing=before.smoothing,
        random_state=0,
        progress=lambda share, loss: job.report(0.95 * share, f"loss {loss:.4f}"),
    )
    return min(
        full, near, key=lambda search: (sum(missed.distance for missed in search.verdict.constraints), search.loss)
    )


def sampled(votes: cp.Votes, most: int) -> cp.Votes:
    """Return about `most` patterns, equally many of each class; the sample of a class has the weight of the class."""
    generator = np.random.default_rng(0)
    each = max(1, most // len(votes.classes))
    rows, weights = [], []
    for k in range(len(votes.classes)):
        own = np.flatnonzero((votes.truth == k) & (votes.multiplicity > 0))
        kept = own if len(own) <= each else np.sort(generator.choice(own, each, replace=False))
        rows.append(kept)
        total = votes.multiplicity[kept].sum()
        if total > 0:
            weights.append(votes.multiplicity[kept] * (votes.multiplicity[own].sum() / total))
    chosen = np.concatenate(rows)
    return replace(
        votes,
        votes=votes.votes[chosen],
        truth=votes.truth[chosen],
        multiplicity=np.concatenate(weights),
        rows=len(chosen),
        left_out=0,
        merged=False,
        squares=None,
    )


def with_weights(decision: cp.Decision, weights: Any) -> cp.Decision:
    """Return the decision with other weights, as it is where they are its own."""
    given = np.asarray(weights, dtype=np.float64)
    if np.array_equal(given, decision.weights):
        return decision
    # a review is planned for its weights: beside others it would keep no cap
    return cp.Decision(decision.classes, given, smoothing=decision.smoothing)


def search_shown(search: WeightSearch) -> dict[str, Any]:
    """Return a search for the page."""
    return {
        "weights": search.weights.tolist(),
        "counts": search.counts.matrix.tolist(),
        "loss": search.loss,
        "feasible": search.feasible,
        "optimal": search.optimal,
        "method": search.method,
        "message": search.message,
        "seconds": search.seconds,
        "verdict": str(search.verdict),
    }


def question_shown(question: cp.tradeoffs.Question) -> dict[str, Any]:
    """Return a question for the page."""
    return {
        "number": question.number,
        "topic": question.topic,
        "label": question.label,
        "beside": question.beside,
        "sides": [[asdict(one) for one in side] for side in (question.first, question.second)],
    }


def known_shown(known: cp.tradeoffs.Known) -> dict[str, Any]:
    """Return what the answers tell of one number, for the page."""
    return asdict(known) | {"name": known.name, "shares": known.shares}


def _offered(votes: cp.Votes, preferences: cp.Preferences, decision: cp.Decision) -> dict[str, Any]:
    counts = votes.counts(decision.weights, smoothing=decision.smoothing)
    verdict = cp.evaluate(counts, preferences=preferences).verdict
    assert verdict is not None
    return {
        "weights": decision.weights.tolist(),
        "counts": counts.matrix.tolist(),
        "loss": verdict.loss,
        "feasible": not verdict.constraints,
        "verdict": str(verdict),
    }


def _document(votes: cp.Votes, smoothing: float) -> dict[str, Any]:
    """Return the panel's document; the page searches if it has all votes and they are few, else the server."""
    document = panel_document(votes, smoothing=smoothing, most_bytes=MOST_PANEL, most_patterns=MOST_ROWS)
    entries = document["evidence"]["patterns"] * len(votes.classes)
    document["remote"] = document["binning"] is not None or entries > MOST_VOTES
    return document


def _read(
    source: Source, model_file: Source | None, recipe: Recipe, progress: Progress
) -> tuple[cp.Votes, int, cp.Decision]:
    """Return votes, the number of rows left out, and the decision to start from; errors name the files as the user does."""
    try:
        if model_file is not None:
            return load_model_votes(model_file, source, recipe.columns, progress)
        if recipe.fit is not None:
            votes, dropped = fit_votes(source, recipe.columns, recipe.fit, progress)
        else:
            votes, dropped = load_votes(source, recipe.columns, progress)
    except cp.InputError as error:
        message = source.renamed(str(error))
        raise cp.InputError(message if model_file is None else model_file.renamed(message)) from error
    return votes, dropped, cp.Decision(votes.classes, np.ones(len(votes.classes)))


def _unique(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(other for number in itertools.count(2) if (other := f"{name} ({number})") not in taken)
