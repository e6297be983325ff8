"""
Which model for which trade-off?
================================

If you do not know yet how much recall you would give for precision, look at all answers at once: the trade-off space draws the best
value of every model over the recall weight, from precision alone (0) to recall alone (1).
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import compromis as cp

X, y = make_classification(4000, 6, n_informative=4, weights=[0.9], class_sep=0.9, flip_y=0.03, random_state=5)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "forest": RandomForestClassifier(50, random_state=0),
    "logistic": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)

# %%
# The band under the axis says who is best where; the shaded zone is no better than predicting all as positive.
display = cp.plots.TradeoffDisplay.from_estimator(models, X_test, y_test, pos_label=1, metric="f")

# %%
# The same in words, from the operating points:
points = {name: cp.OperatingPoints.from_estimator(model, X_test, y_test, pos_label=1) for name, model in models.items()}
print(cp.compare_curves(points, metric="f").verdict)

# %%
# The precision-recall space with the isolines of the metric, what cannot be reached, and what needs no skill.
cp.plots.PrecisionRecallSpaceDisplay({name: points[name] for name in ("forest", "naive Bayes")}, metric="f").plot()

# %%
# Which threshold, once the recall weight is known, with a minimal precision?
curve = cp.TradeoffCurve(points["forest"], metric="f")
for minimum in (None, 0.8, 0.95):
    choice = curve.best(0.7, min_precision=minimum)
    print(f"least precision {minimum}: threshold {choice.threshold:.2f}, value {choice.value:.3f}")
