"""
Which models can be dropped?
============================

The hull of all ROC curves holds the models that are best for *some* costs and some shares of the classes. What does not touch the hull
never is.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import compromis as cp

X, y = make_classification(4000, 6, n_informative=4, weights=[0.8], class_sep=0.8, flip_y=0.05, random_state=2)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "forest": RandomForestClassifier(50, random_state=0),
    "logistic": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
display = cp.plots.RocHullDisplay.from_estimator(models, X_test, y_test, pos_label=1)

# %%
hull = display.hull
print("on the hull:", ", ".join(hull.models), "; can be dropped:", ", ".join(hull.droppable) or "none")

# %%
# With costs known, the hull gives the best model and its operating point:
for miss in (1, 5, 50):
    part = hull.best(cost_false_positive=1, cost_false_negative=miss)
    print(f"a miss costs {miss:2d} false alarms: {part.models[0]}, at fpr {part.fpr:.3f}, tpr {part.tpr:.3f}")
