"""
A result that looks good, and what it is worth
==============================================

A screening finds 23 cancers in 1,000 women. A model that is right in 97 % of the cases sounds good; whether it *is* good
depends on what a missed cancer and a false alarm mean to you. Two answers per class say so.
"""

# %%
# Data as rare and as mixed as in a screening, and a forest judged on rows it has not seen.
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import compromis as cp

X, y = make_classification(6000, 6, n_informative=4, weights=[0.977], class_sep=1.2, flip_y=0.01, random_state=0)
y = np.where(y == 1, "cancer", "healthy")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
forest = RandomForestClassifier(50, random_state=0).fit(X_train, y_train)
predicted = forest.predict(X_test)
print(f"accuracy {np.mean(predicted == y_test):.3f}; of deciding 'healthy' always: {np.mean(y_test == 'healthy'):.3f}")

# %%
# The two questions. *What precision would you accept for a recall of 1?* Ten examinations for each cancer found: 0.10. *What recall
# would you accept for a precision of 1?* At least nine of ten cancers: 0.90. And finding cancers matters ten times as much as the rest.
preferences = cp.Preferences(
    {"cancer": cp.Preference(importance=10, precision_at_full_recall=0.10, recall_at_full_precision=0.90)}, metric="f"
)
cp.plots.PreferenceDisplay.from_preferences(preferences)

# %%
# The dashed line joins the two answers: they are worth the same. Evaluated by these preferences:
result = cp.evaluate(y_test, predicted, preferences=preferences, confidence=0.95)
print(result.verdict)
print("recall of cancer:", result.intervals.per_class["cancer"]["recall"])
print("loss:            ", result.intervals.summary["loss"])

# %%
# The whole report, in Weka's layout, with the section on the preferences:
print(result)
