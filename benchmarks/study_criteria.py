"""Does a preference inside the split criterion help? The table behind PragmaForestClassifier's default criterion.

For each data set of COMPROMIS_DATA (the papers' and the study's), each criterion and the recall weights 0.1, 0.5 and 0.9 of the priority
classes (importance 10; the others: importance 1 and the answers 0.8, 0.8): PRAGMA loss under Kulczynski's metric (the paper's plane) and
under f, of the forest with equal vote weights and with weights tuned on its out-of-bag votes, on the pooled test rows of a
10-fold cross-validation, for 5 seeds. Sets of more than `--rows` rows are cut to as many, drawn at random but the same for all.

Results are added to the output file after each data set, and sets found there are not run again. `--report` prints the
tables of docs/trees.md from that file: mean ranks, Friedman's test, Nemenyi's critical difference, and a star for what Wilcoxon's test tells from gini.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold
from study_defaults import PRIORITY

import compromis as cp
from compromis.estimators.tuning import TuningOptions, tune
from compromis.measures.pragma import pragma
from compromis.weights import Sweep

RECALL_WEIGHTS = (0.1, 0.5, 0.9)
METRICS = ("kulczynski", "f")
RESAMPLES = 4  # the forest's default of 20 or 6 would take hours, for every criterion alike
FREE_OF_PREFERENCES = ("gini", "entropy", "gain_ratio", "hellinger", "off_centred")
BY_PREFERENCES = ("pragma_linear", "pragma_f", "pragma_phi2", "pragma_steady")
FIELDS = ("data", "criterion", "recall_weight", "metric", "seed", "untuned", "tuned")


def load(path, limit):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    y = frame.pop("class").to_numpy(dtype=str)
    for name in frame.columns:
        numbers = pd.to_numeric(frame[name], errors="coerce")
        numeric = numbers.notna().equals(frame[name].notna())
        frame[name] = numbers if numeric else frame[name].astype("category")
    frame = frame.loc[:, frame.notna().any()]  # an empty column teaches nothing
    if len(frame) > limit:
        picked = np.sort(np.random.default_rng(0).permutation(len(frame))[:limit])
        frame, y = frame.iloc[picked].reset_index(drop=True), y[picked]
    return frame, y


def settings(name, y):
    labels, sizes = np.unique(y, return_counts=True)
    priority = PRIORITY.get(name, [labels[sizes.argmin()]])
    return {
        (weight, metric): cp.Preferences(
            {label: cp.Preference(10, recall_weight=weight) for label in priority}, metric=metric
        )
        for weight, metric in product(RECALL_WEIGHTS, METRICS)
    }


def forests(by_case):
    """Yield criterion, the preferences it is grown by (None: any), and the cases it is judged in; phi2 reads importances alone."""
    for criterion in FREE_OF_PREFERENCES:
        yield criterion, None, list(by_case)
    yield "pragma_phi2", by_case[0.5, "kulczynski"], list(by_case)
    for criterion in ("pragma_linear", "pragma_f", "pragma_steady"):
        for weight in RECALL_WEIGHTS:
            # the criterion takes the recall weight as it is given, whatever the metric
            yield criterion, by_case[weight, "kulczynski"], [(weight, metric) for metric in METRICS]


def one_fold(X, y, train, test, by_case, trees, seed):
    """Return for each criterion and case the counts of the test rows, untuned and tuned."""
    labels = np.unique(y).tolist()
    found = {}
    for criterion, grown_by, cases in forests(by_case):
        forest = cp.PragmaForestClassifier(
            trees, criterion=criterion, preferences=grown_by, tune=False, n_jobs=1, random_state=seed
        ).fit(X.iloc[train], y[train])
        votes = forest.vote_shares(X.iloc[test])
        patterns = cp.Votes.from_proba(y[train], forest.oob_votes_, labels=forest.classes_.tolist())
        # descents without perturbations: the same effort for every criterion, and affordable for 26 classes
        method = "auto" if len(labels) == 2 else Sweep(rounds=0)
        options = {"method": method, "resamples": RESAMPLES}
        for case in cases:
            asked = TuningOptions(preferences=by_case[case], **options)
            weights = tune(patterns, asked, np.random.default_rng(seed)).weights
            found[(criterion, *case)] = [
                counted(y[test], forest.classes_, votes, by, labels) for by in (np.ones(len(weights)), weights)
            ]
    return found


def counted(truth, classes, votes, weights, labels):
    predicted = classes[np.argmax(votes * weights, axis=1)]
    return cp.Counts.from_predictions(truth, predicted, labels=labels)


def one_seed(name, X, y, by_case, trees, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of fewer rows than folds
        folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y)
        parts = [one_fold(X, y, train, test, by_case, trees, seed) for train, test in folds]
    rows = []
    for criterion, weight, metric in parts[0]:
        pooled = [
            sum((part[criterion, weight, metric][i] for part in parts[1:]), parts[0][criterion, weight, metric][i])
            for i in (0, 1)
        ]
        losses = [pragma(counts, by_case[weight, metric].on(counts.classes)).total for counts in pooled]
        rows.append((name, criterion, weight, metric, seed, f"{losses[0]:.6f}", f"{losses[1]:.6f}"))
    return rows


def run(paths, options):
    output = Path(options.output)
    done = {row["data"] for row in read(output)} if output.exists() else set()
    if not output.exists():
        output.write_text(",".join(FIELDS) + "\n")
    for path in paths:
        name = path.name.removesuffix(".csv.gz")
        if name in done:
            continue
        start = time.perf_counter()
        X, y = load(path, options.rows)
        by_case = settings(name, y)
        parts = Parallel(n_jobs=options.jobs)(
            delayed(one_seed)(name, X, y, by_case, options.trees, seed) for seed in range(options.seeds)
        )
        with output.open("a", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(row for part in parts for row in part)
        print(f"{name}: {len(y)} rows, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def read(path):
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def losses_of(rows, weight, metric, tuned):
    """Return criterion -> losses, one per data set, each the mean over seeds."""
    kept = [row for row in rows if float(row["recall_weight"]) == weight and row["metric"] == metric]
    sets = sorted({row["data"] for row in kept})
    return {
        criterion: [
            np.mean(
                [
                    float(row["tuned" if tuned else "untuned"])
                    for row in kept
                    if row["data"] == data and row["criterion"] == criterion
                ]
            )
            for data in sets
        ]
        for criterion in (*FREE_OF_PREFERENCES, *BY_PREFERENCES)
    }


def report(rows):
    """Print the tables of docs/trees.md."""
    print(f"{len({row['data'] for row in rows})} data sets, {len({row['seed'] for row in rows})} seeds")
    columns = [(tuned, weight) for tuned in (False, True) for weight in RECALL_WEIGHTS]
    for metric, name in zip(METRICS, ("plane", "f"), strict=True):
        tables = [losses_of(rows, weight, metric, tuned) for tuned, weight in columns]
        found = [cp.uncertainty.compare_over_data_sets(table) for table in tables]
        print(f"\n| {name} | untuned, l = 0.1 | 0.5 | 0.9 | tuned, l = 0.1 | 0.5 | 0.9 |")
        print("| --- |" + " ---: |" * len(columns))
        for criterion in (*FREE_OF_PREFERENCES, *BY_PREFERENCES):
            cells = [cell(criterion, *pair) for pair in zip(tables, found, strict=True)]
            print(f"| `{criterion}` | " + " | ".join(cells) + " |")
        print("| Friedman's p | " + " | ".join(f"{one.p_value:.2g}" for one in found) + " |")
        print(f"\nNemenyi's critical difference: {found[0].critical_difference:.2f}")


def cell(criterion, table, comparison):
    """Return mean rank, mean loss, and a star where Wilcoxon's test tells the losses from gini's."""
    rank = comparison.mean_ranks[comparison.models.index(criterion)]
    difference = np.array(table[criterion]) - table["gini"]
    star = "*" if difference.any() and wilcoxon(difference).pvalue < 0.05 else ""
    return f"{rank:.2f} ({np.mean(table[criterion]):.3f}){star}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", default=str(Path(__file__).parent / "results" / "study_criteria.csv"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        report(read(options.output))
        return
    folder = Path(os.environ["COMPROMIS_DATA"])
    paths = [*folder.glob("*.csv.gz"), *(folder / "study").glob("*.csv.gz")]
    run(sorted(paths, key=lambda path: path.stat().st_size), options)
    report(read(options.output))


if __name__ == "__main__":
    main()
