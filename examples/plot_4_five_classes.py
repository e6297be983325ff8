"""
Five kinds of faults, two of which matter
=========================================

Nothing here is for two classes only. Five kinds of faults; two of them stop the machine, and a minimal precision holds for one that may not
be raised in vain.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import compromis as cp

X, y = make_classification(
    5000, 10, n_informative=6, n_classes=5, weights=[0.45, 0.3, 0.15, 0.06], class_sep=1.2, random_state=3
)
y = np.array(["dust", "wear", "noise", "leak", "crack"])[y]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

preferences = cp.Preferences(
    {
        "crack": cp.Preference(importance=10, precision_at_full_recall=0.2, recall_at_full_precision=0.9),
        "leak": cp.Preference(
            importance=5, precision_at_full_recall=0.4, recall_at_full_precision=0.8, min_precision=0.6
        ),
    },
    metric="f",
)
tuned = cp.TunedDecisionClassifier(RandomForestClassifier(60, random_state=0), preferences=preferences, random_state=0)
tuned.fit(X_train, y_train)
print({label: round(float(weight), 2) for label, weight in zip(tuned.classes_.tolist(), tuned.weights_, strict=True)})
print("constraint met on out-of-bag votes:", tuned.search_.feasible)

# %%
before = cp.Counts.from_predictions(y_test, tuned.estimator_.predict(X_test))
after = cp.Counts.from_predictions(y_test, tuned.predict(X_test))
cp.plots.ClassBalanceDisplay.from_counts(before, after, preferences=preferences)

# %%
# The classes that matter gain recall; the others pay. What each class adds to the loss:
result = cp.evaluate(after, preferences=preferences)
print(result)
