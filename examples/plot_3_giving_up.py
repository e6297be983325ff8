"""
When the plane is met by giving up
==================================

PRAGMA's plane (metric ``kulczynski``) adds weighted recall and precision. Where recall weighs most and a class is rare, *always*
deciding that class has a small loss, and tuning may find just that. The weight sweep shows it, and shows two cures.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

import compromis as cp

X, y = make_classification(6000, 6, n_informative=4, weights=[0.98], class_sep=0.7, flip_y=0.01, random_state=1)
y = np.where(y == 1, "fault", "sound")
shares = cross_val_predict(RandomForestClassifier(50, random_state=0), X, y, cv=3, method="predict_proba")
votes = cp.Votes.from_proba(y, shares, labels=["fault", "sound"])

plane = cp.Preferences(
    {"fault": cp.Preference(importance=10, precision_at_full_recall=0.10, recall_at_full_precision=0.90)}
)
bounded = cp.Preferences(
    {"fault": cp.Preference(10, precision_at_full_recall=0.10, recall_at_full_precision=0.90, min_precision=0.10)}
)
settings = {"the plane": plane, "metric f": plane.with_metric("f"), "the plane, min_precision 0.10": bounded}

# %%
# The loss over the weight of faults. Half a vote of smoothing makes every decision reachable, the constant ones too.
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, preferences), line in zip(list(settings.items())[:2], ("-", "--"), strict=True):
    sweep = cp.weights.weight_sweep(votes, label="fault", preferences=preferences, smoothing=0.01)
    ax.plot(sweep.ratio, sweep.loss, line, color="#1d3f58", label=name)
ax.set(xscale="log", xlabel="weight of a vote for 'fault' against one for 'sound'", ylabel="PRAGMA loss", ylim=(0, 1))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The plane falls to the right and ends at its lowest: every row is predicted to be a fault. Metric f has its minimum inside. What the
# search finds for each setting, and what it says about it:
for name, preferences in settings.items():
    found = cp.search_weights(votes, preferences=preferences, smoothing=0.01, random_state=0)
    rates = cp.evaluate(found.counts).per_class["fault"]
    predicted = found.counts.predicted[0] / found.counts.rows
    print(
        f"{name}: recall {rates.recall:.2f}, precision {rates.precision:.2f}, predicted {predicted:.0%}\n   {found.verdict}\n"
    )
