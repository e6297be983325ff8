"""compromis demo: the main job on data that ships with scikit-learn."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Show what compromis does, on the breast cancer data that ships with scikit-learn."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_predict

    from compromis.evaluation.evaluate import evaluate
    from compromis.preferences import Preference, Preferences

    data = load_breast_cancer()
    truth = data.target_names[data.target].astype(str)
    wish = Preferences(
        {"malignant": Preference(10, accept_precision=0.30, accept_recall=0.95, min_precision=0.30)}, index="f"
    )
    click.echo("A screening: 569 tumours, 30 measurements each. A missed cancer is worse than a false alarm.\n")
    click.echo("The wish:\n" + wish.describe() + "\n")
    forest = RandomForestClassifier(n_estimators=20, random_state=0)
    decided = cross_val_predict(forest, data.data, truth, cv=10)
    click.echo("A forest of 20 trees, judged by 10-fold cross-validation:\n")
    click.echo(str(evaluate(truth, decided, preferences=wish)))
