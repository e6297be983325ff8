"""compromis demo: the main job on data that ships with scikit-learn."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Show what compromis does, on the breast cancer data that ships with scikit-learn."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    import compromis as cp

    data = load_breast_cancer()
    truth = data.target_names[data.target].astype(str)
    train, test, y_train, y_test = train_test_split(data.data, truth, test_size=0.4, stratify=truth, random_state=0)
    preferences = cp.Preferences(
        {
            "malignant": cp.Preference(
                10, precision_at_full_recall=0.50, recall_at_full_precision=0.95, min_precision=0.50
            )
        },
        metric="f",
    )
    click.echo("A screening: 569 tumours, 30 measurements each. A missed cancer is worse than a false alarm.\n")
    click.echo("THE PREFERENCES\n" + preferences.describe() + "\n")
    click.echo(
        f"A forest of 20 trees learns from {len(train)} tumours; its vote weights are tuned on out-of-bag votes:"
    )
    tuned = cp.TunedDecisionClassifier(
        RandomForestClassifier(20, random_state=0), preferences=preferences, random_state=0
    )
    tuned.fit(train, y_train)
    assert tuned.tuning_ is not None
    click.echo(str(tuned.tuning_) + "\n")
    click.echo("OUT-OF-BAG, BEFORE AND AFTER\n" + str(cp.estimators.Change.by_tuning(tuned, preferences)))
    plain, after = (
        cp.evaluate(y_test, model.predict(test), preferences=preferences) for model in (tuned.estimator_, tuned)
    )
    click.echo(
        f"ON {len(test)} TUMOURS NEVER SEEN, BEFORE AND AFTER\n"
        + str(cp.estimators.Change(plain.counts, after.counts, preferences))
    )
    click.echo(f"loss before {plain.summary.loss:.4f}, after {after.summary.loss:.4f}\nVerdict: {after.verdict}.\n")
    click.echo("THE TUNED FOREST ON THE TUMOURS NEVER SEEN\n\n" + str(after))
