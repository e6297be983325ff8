"""
Tune a forest to preferences
============================

A forest decides by most votes. Give the votes of each class a weight and it decides otherwise; no tree is grown again.
``TunedDecisionClassifier`` searches the weights that serve preferences best, on out-of-bag votes.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import compromis as cp

X, y = make_classification(6000, 6, n_informative=4, weights=[0.977], class_sep=1.2, flip_y=0.01, random_state=0)
y = np.where(y == 1, "cancer", "healthy")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

preferences = cp.Preferences(
    {"cancer": cp.Preference(importance=10, precision_at_full_recall=0.10, recall_at_full_precision=0.90)}, metric="f"
)
tuned = cp.TunedDecisionClassifier(RandomForestClassifier(50, random_state=0), preferences=preferences, random_state=0)
tuned.fit(X_train, y_train)
print(tuned.tuning_)

# %%
# How the trees vote on rows they have not seen, by true class. Most cancers get fewer than half of the votes: by majority they are missed.
cp.plots.VoteDisplay.from_votes(tuned.patterns_, label="cancer")

# %%
# Recall and precision of both classes on the test rows, by majority and by the tuned weights.
before = cp.Counts.from_predictions(y_test, tuned.estimator_.predict(X_test))
after = cp.Counts.from_predictions(y_test, tuned.predict(X_test))
cp.plots.ClassBalanceDisplay.from_counts(before, after, preferences=preferences)

# %%
# The verdict on the rows that neither the forest nor the search has seen:
for name, counts in {"majority": before, "tuned": after}.items():
    print(f"{name:8s} {cp.evaluate(counts, preferences=preferences).verdict}")
