"""
Is the difference real?
=======================

Fifty rare rows do not tell much. Every number of a report has an interval, and two models judged on the same rows are compared pair by
pair, which is sharper than comparing two intervals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import compromis as cp

X, y = make_classification(2000, 6, n_informative=4, weights=[0.95], class_sep=1.0, random_state=4)
y = np.where(y == 1, "fraud", "honest")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
preferences = cp.Preferences(
    {"fraud": cp.Preference(importance=10, precision_at_full_recall=0.3, recall_at_full_precision=0.8)}, metric="f"
)
models = {
    name: cp.TunedDecisionClassifier(model, preferences=preferences, random_state=0).fit(X_train, y_train)
    for name, model in {"forest": RandomForestClassifier(50, random_state=0), "naive Bayes": GaussianNB()}.items()
}
decisions = {name: model.predict(X_test) for name, model in models.items()}

# %%
# Both models were tuned to the same preferences. Recall and precision of frauds with their 95 % intervals:
figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
for place, (_name, predicted) in enumerate(decisions.items()):
    intervals = cp.evaluate(y_test, predicted, preferences=preferences, confidence=0.95).intervals.per_class["fraud"]
    for shift, rate in ((0.1, "recall"), (-0.1, "precision")):
        one = intervals[rate]
        ax.plot([one.low, one.high], [place + shift] * 2, color="#1d3f58", linewidth=2)
        ax.plot(one.value, place + shift, "o" if rate == "recall" else "s", color="#1d3f58", markersize=7)
        ax.text(one.high + 0.01, place + shift, rate, va="center", fontsize=9, color="0.3")
ax.set(
    yticks=range(len(decisions)), yticklabels=decisions, xlim=(0, 1.15), ylim=(-0.5, 1.5), xticks=np.linspace(0, 1, 6)
)
ax.spines[["top", "right", "left"]].set_visible(False)

# %%
# The recalls cannot be told apart, the precisions can. What that means for the preferences, says the paired comparison:
print(cp.compare_models(y_test, decisions, preferences=preferences).verdict)

# %%
# How sure is a curve? A band for the ROC curve of the forest, for each point and for the whole curve at once:
points = cp.OperatingPoints.from_predictions(y_test, models["forest"].predict_proba(X_test)[:, 0], pos_label="fraud")
figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
for simultaneous, shade in ((True, "0.9"), (False, "0.78")):
    band = cp.uncertainty.roc_band(points, simultaneous=simultaneous)
    ax.fill_between(band.at, band.low, band.high, color=shade, label="whole curve" if simultaneous else "each point")
ax.plot(band.at, band.value, color="#1d3f58")
ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1.01))
ax.legend(frameon=False, loc="lower right")
