"""
C4.5 and a tree that splits by the preferences
==============================================

``C45Classifier`` is Quinlan's C4.5 as Weka's J48 has it, with text columns and missing values as they are.
``PragmaTreeClassifier`` splits by what matters.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import compromis as cp

rng = np.random.default_rng(0)
rows = 400
machines = pd.DataFrame(
    {
        "oil": rng.choice(["fresh", "old", "none"], rows, p=[0.6, 0.35, 0.05]),
        "hours": rng.integers(0, 2000, rows),
        "temperature": rng.normal(60, 8, rows).round(1),
    }
)
worn = (machines["oil"] == "old") & (machines["hours"] > 1200)
risk = 0.03 + 0.9 * (machines["oil"] == "none") + 0.8 * worn
state = np.where(rng.random(rows) < risk, "fails", "runs")
machines.loc[::17, "temperature"] = np.nan

print(cp.C45Classifier().fit(machines, state).export_text())

# %%
# A failure missed is worse than a stop in vain: importance 5, and recall weighs most.
preferences = cp.Preferences(
    {"fails": cp.Preference(5, precision_at_full_recall=0.3, recall_at_full_precision=0.9)}, metric="f"
)
tree = cp.PragmaTreeClassifier(preferences=preferences, max_depth=2, min_samples_leaf=10).fit(machines, state)
figure, ax = plt.subplots(figsize=(13, 3.8), layout="constrained")
tree.plot(ax=ax)

# %%
print(tree.export_text())
