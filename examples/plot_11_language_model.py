"""
Your language model sorts tickets: which classes may go live?
=============================================================

Five answers of a language model to each ticket are five votes. Here they are simulated, with the confusion, the refusals and the loose
wording of a real one; nothing is asked of any service.
"""

import matplotlib.pyplot as plt
import numpy as np

import compromis as cp

TOPICS = {
    "billing": 18, "invoice": 9, "refund": 7, "login": 10, "password": 8, "bug": 13, "crash": 5, "outage": 2,
    "feature": 9, "shipping": 8, "privacy": 2, "cancel": 4, "other": 5,
}  # fmt: skip
ALIKE = [
    ("billing", "invoice", "refund"),
    ("login", "password"),
    ("bug", "crash", "outage"),
    ("privacy", "other", "feature"),
]
labels, share = list(TOPICS), np.array([*TOPICS.values()]) / 100
rng = np.random.default_rng(1)


def ask(truth: np.ndarray, samples: int = 5, skill: float = 0.6) -> np.ndarray:
    """Return answers in words; a model takes like topics for each other, and names popular ones too often."""
    belief = np.tile(0.1 * share, (len(labels), 1)) + skill * np.eye(len(labels))
    for group in ALIKE:
        members = [labels.index(name) for name in group]
        belief[np.ix_(members, members)] += (0.9 - skill) * share[members] / share[members].sum()
    own = rng.gamma(8 * belief[[labels.index(name) for name in truth]] + 1e-9)
    chosen = [rng.choice(labels, samples, p=row) for row in own / own.sum(axis=1, keepdims=True)]
    forms = rng.choice(["{}", "{}.", "**{}**", "The topic is {}"], (len(truth), samples), p=[0.7, 0.15, 0.1, 0.05])
    texts = [
        [form.format(name.title()) for form, name in zip(*row, strict=True)] for row in zip(forms, chosen, strict=True)
    ]
    return np.where(rng.random((len(truth), samples)) < 0.04, None, np.array(texts, dtype=object))


tickets = rng.choice(labels, 6000, p=share)
answers = ask(tickets)
answers[0].tolist()

# %%
# Somebody labels 400 of the tickets. How were the answers read? Nothing is guessed: what names no class is counted and shown, and a
# function says what it means.
labelled = rng.permutation(6000)[:400]
votes = cp.Votes.from_answers(answers[labelled], labels=labels, y_true=tickets[labelled])
print(votes.answers.sentences()[1])
reading = {"labels": labels, "mapping": lambda text: text.removeprefix("The topic is "), "unanswered": "even"}
votes = cp.Votes.from_answers(answers[labelled], y_true=tickets[labelled], **reading)
print(votes.answers.sentences()[0])

# %%
# An outage that is missed is worse than all else; a topic goes live if 70 % of what is sorted into it belongs there.
preferences = cp.Preferences({"outage": cp.Preference(10, 0.1, 0.9), "privacy": cp.Preference(5, 0.2, 0.9)})
tuned = cp.estimators.tune_votes(votes, preferences=preferences, random_state=0)
print(tuned.verdict)

# %%
# On the 5,600 tickets that nobody labelled (here their topics are known, so that the promise can be checked):
others = np.setdiff1d(np.arange(6000), labelled)
matrix = cp.Votes.from_answers(answers[others], **reading).votes
decided = {
    "majority": cp.Decision(labels, np.ones(13)).decide(matrix),
    "tuned": tuned.decision.decide(matrix),
}
for name, predicted in decided.items():
    print(f"{name}: loss {cp.pragma_loss(tickets[others], predicted, preferences=preferences):.3f}")
print(f"expected by the 400 labels: {tuned.promised}")

# %%
# Which topics may go live, as far as 400 labels tell: each fifth of them is judged by weights of the others, which are of fewer rows and so
# a little worse than the decision itself.
live = cp.Preferences(default=cp.Preference(min_precision=0.7))
judged = cp.evaluate(tuned.judged, preferences=live, confidence=0.95)
result = cp.check(judged)
states = {condition.label: condition.state for condition in result.conditions}
for state in dict.fromkeys(states.values()):
    print(f"{state}: {', '.join(name for name in states if states[name] == state)}")

# %%
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
colours = {"surely met": "#2e7d4f", "surely missed": "#b3372b"}
for place, name in enumerate(labels):
    interval = judged.intervals.per_class[name]["precision"]
    colour = colours.get(states[name], "#7a7a7a")
    ax.plot([interval.low, interval.high], [place, place], color=colour, linewidth=5, solid_capstyle="butt", alpha=0.6)
    true = (tickets[others] == name)[decided["tuned"] == name].mean()
    ax.plot(true, place, marker="o", color="black", markersize=4)
ax.axvline(0.7, color="black", linestyle=":", linewidth=1)
ax.set(
    yticks=range(13),
    yticklabels=labels,
    xlabel="precision: interval of 400 labels, and the truth of 5,600 tickets (dot)",
    xlim=(0, 1),
)
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Three prompts, one answer each, on 1,500 labelled tickets: which earn what they cost?
known = tickets[:1500]
panel = {"long prompt": ask(known, 1, 0.65), "short prompt": ask(known, 1, 0.5), "old model": ask(known, 1, 0.0)}
costs = {"long prompt": 3, "short prompt": 1, "old model": 1}
committee = cp.model_selection.evaluate_members(
    known, panel, preferences=preferences, mapping=reading["mapping"], costs=costs
)
print(committee)
