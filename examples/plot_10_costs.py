"""
When a decision costs the amount of the row
===========================================

A fraud that passes costs what was stolen, a false alarm the minutes of a person. No share and no cost matrix says that;
``"amount"`` among the costs does, and one number per row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import compromis as cp

rng = np.random.default_rng(0)


def transactions(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is known of transactions, whether each is a fraud, and its amount: frauds are larger."""
    fraud = rng.random(rows) < 0.03
    amount = rng.lognormal(np.where(fraud, 5.0, 3.5), 1.0)
    return np.column_stack([np.log(amount), fraud + rng.normal(0, 0.7, rows)]), np.where(fraud, "fraud", "ok"), amount


X, y, amount = transactions(8000)
X_new, y_new, amount_new = transactions(8000)

# %%
# A missed fraud costs its amount, a look at a transaction costs 5, and the team can look at 4 % of them.
costs = cp.Preferences({"fraud": {"max_share": 0.04}}, cost={("fraud", "ok"): "amount", ("ok", "fraud"): 5})
model = HistGradientBoostingClassifier(max_depth=3, random_state=0)
tuned = cp.TunedDecisionClassifier(model, preferences=costs, random_state=0).fit(X, y, amount=amount)
result = cp.evaluate(y_new, tuned.predict(X_new), preferences=costs, amount=amount_new, confidence=0.95)
print(result.verdict)

# %%
# The average cost of every threshold on new rows; the line is the threshold that was tuned on the others.
score = tuned.predict_proba(X_new)[:, 0]
thresholds = np.geomspace(0.005, 0.9, 120)
paid = [
    np.where(y_new == "fraud", np.where(score >= cut, 0, amount_new), np.where(score >= cut, 5, 0)).mean()
    for cut in thresholds
]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(thresholds, paid, color="#1d3f58")
ax.axvline(tuned.threshold_, color="#c2571a", linestyle="--", label="tuned")
ax.set(xscale="log", xlabel="threshold on the probability of fraud", ylabel="average cost of a transaction")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
