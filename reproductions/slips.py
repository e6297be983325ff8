"""Print the arithmetic of docs/paper_slips.md: where the papers' own figures do not follow from their method.

Standard library only; every printed figure of a paper stands here as a constant. Run: python reproductions/slips.py
"""

from __future__ import annotations

from itertools import product
from math import prod

# 000, tables 3 and 4: data set -> (rows, minority share in percent); method -> recall, precision, accuracy.
SIZES = {"Hypothyroid": (3772, 7.71), "Satimage": (6435, 9.73), "Mammo": (3528, 5.00)}
TABLE_4 = {
    ("Hypothyroid", "C4.5"): (96.9, 95.2, 99.4),
    ("Hypothyroid", "RF classique"): (95.1, 94.2, 99.1),
    ("Hypothyroid", "RF optimisée"): (99.5, 97.7, 99.2),
    ("Satimage", "C4.5"): (55.0, 59.0, 91.9),
    ("Satimage", "RF classique"): (50.9, 83.2, 94.2),
    ("Satimage", "RF optimisée"): (62.0, 73.9, 94.3),
    ("Mammo", "C4.5"): (8.3, 66.7, 98.1),
    ("Mammo", "RF classique"): (29.2, 84.5, 98.5),
    ("Mammo", "RF optimisée"): (43.5, 82.0, 98.7),
}
# 000, table 1 (Autos): support, right decisions, decisions per class; the last two read off recall and precision.
AUTOS_SUPPORT = (27, 32, 54, 67, 22, 3)
AUTOS = {
    "RF classique": ((22, 22, 40, 57, 18, 1), (26, 26, 55, 74, 22, 2)),
    "RF optimisée": ((25, 23, 40, 56, 15, 2), (31, 28, 52, 74, 18, 2)),
}
LETTERS = 20000
VOWELS = {"A": 789, "E": 768, "I": 755, "O": 753, "U": 813, "Y": 786}


def heading(text: str) -> None:
    print(f"\n== {text}")


def accuracy(recall: float, precision: float, share: float) -> float:
    """Accuracy in percent: 1 - share (1 - r) - share r (1 - p) / p, all arguments in percent."""
    r, p, q = recall / 100, precision / 100, share / 100
    return 100 * (1 - q * ((1 - r) + r * (1 - p) / p))


def two_class_pragma(recall: float, precision: float, share: float) -> tuple[float, float, float]:
    """The f of the minority (l = 0.9), that of the majority (l = 0.5), and the loss with importances 10 and 1."""
    r, p, q = recall / 100, precision / 100, share / 100
    false_alarms, missed = q * r * (1 - p) / p, q * (1 - r)
    right = 1 - q - false_alarms
    minority = 1 - 0.9 * r - 0.1 * p
    majority = 1 - 0.5 * right / (1 - q) - 0.5 * right / (right + missed)
    return minority, majority, (10 * minority + majority) / 11


def table_4_accuracies() -> None:
    heading("000 table 4: the accuracy that follows from recall, precision (table 4) and prevalence (table 3)")
    for (data, method), (r, p, printed) in TABLE_4.items():
        q = SIZES[data][1]
        corners = [accuracy(r + 0.05 * a, p + 0.05 * b, q + 0.005 * c) for a, b, c in product((-1, 1), repeat=3)]
        rounds = min(corners) <= printed + 0.05 and max(corners) >= printed - 0.05
        cut = min(corners) < printed + 0.1 and max(corners) >= printed
        verdict = "agrees" if rounds else "agrees if cut off, not rounded" if cut else "CONTRADICTS"
        implied = 100 * (100 - printed) / (100 - accuracy(r, p, 100))
        print(
            f"{data:12} {method:13} r {r:5} p {p:5} -> {accuracy(r, p, q):6.2f} [{min(corners):.2f},"
            f" {max(corners):.2f}] printed {printed}  {verdict}; prevalence that would fit {implied:.2f} %"
        )
    print(
        "Hypothyroid optimised as a mean over ten folds of 29 minority rows: 99.2 means at least 29 errors, at most 2"
        " of them missed rows, so 27 false alarms; all in one fold, the mean precision is at most"
        f" {10 * (9 + 29 / (29 + 27)):.1f}, printed 97.7"
    )
    right = 0.995 * 291
    print(
        f"Hypothyroid, false alarms: classic 294 - 277 = {294 - 277}, optimised {right:.1f} / 0.977 - {right:.1f} ="
        f" {right / 0.977 - right:.1f}; a larger weight only adds to the rows predicted as its class"
    )
    print(
        f"Hypothyroid in table 3: 7.71 % is {194 + 95 + 2}/3772 = {29100 / 3772:.2f} %, all sick classes (194, 95,"
        f" 2) merged; the one smallest class has {200 / 3772:.2f} %"
    )


def table_4_whole_numbers() -> None:
    heading("000 table 4: recalls as whole numbers of minority rows (k / m rounded, or cut off, to one digit)")
    for data, m in (("Hypothyroid", 291), ("Satimage", 626)):
        for (name, method), (r, _, _) in TABLE_4.items():
            if name == data:
                rounded = [k for k in range(m + 1) if abs(100 * k / m - r) <= 0.05]
                cut = [k for k in range(m + 1) if r <= 100 * k / m < r + 0.1]
                print(f"{data:12} {method:13} {r} = k / {m}: rounded {rounded or 'none'}, cut off {cut or 'none'}")
    print(
        f"Hypothyroid 99.5: 289/291 = {28900 / 291:.2f}, 290/291 = {29000 / 291:.2f}; one row missed in one of ten"
        f" folds of 29 or 30 rows gives {100 - 10 / 29:.2f} or {100 - 10 / 30:.2f}, two give {100 - 20 / 29:.2f}"
        f" to {100 - 20 / 30:.2f}"
    )


def mammo() -> None:
    heading("000 tables 3 and 4: how many rows has Mammo?")
    rows = [TABLE_4["Mammo", method] for method in ("C4.5", "RF classique", "RF optimisée")]
    for m in range(10, 336):
        fits = [
            [
                (k, d)
                for k in range(1, m + 1)
                if abs(100 * k / m - r) <= 0.0501
                for d in range(k, 2 * k + 1)
                if abs(100 * k / d - p) <= 0.0501
            ]
            for r, p, _ in rows
        ]
        if prod(map(len, fits)):
            print(f"the only minority size below 336 that gives all six rates: {m}, (right, predicted) = {fits}")
    print(
        f"table 3: 5.00 % of 3528 = {0.05 * 3528:.1f} rows, not whole (176: {17600 / 3528:.2f} %, 177:"
        f" {17700 / 3528:.2f} %); 168 / (3528 - 168) = {16800 / 3360:.2f} %, 168 / 3528 = {16800 / 3528:.2f} %"
    )
    low, high = 0.0, float("inf")
    for (right, chosen), (_, _, a) in zip([(14, 21), (49, 58), (73, 89)], rows, strict=True):
        errors = 168 - right + chosen - right
        bounds = errors / (1 - (a - 0.05) / 100), errors / (1 - (a + 0.05) / 100)
        low, high = max(low, bounds[0]), min(high, bounds[1])
        print(
            f"{errors} errors: accuracy of 3528 rows {100 - 100 * errors / 3528:.1f}, printed {a},"
            f" which needs {bounds[0]:.0f} to {bounds[1]:.0f} rows"
        )
    print(f"all three need {low:.0f} to {high:.0f} rows: a minority of {16800 / high:.2f} to {16800 / low:.2f} %")


def table_4_pragma() -> None:
    heading("000 table 4: the f terms and PRAGMA (importance 10, l 0.9 for the minority; 1, l 0.5 for the majority)")
    for (data, method), (r, p, _) in TABLE_4.items():
        q = SIZES[data][1]
        minority, majority, loss = two_class_pragma(r, p, q)
        always = (10 * (1 - 0.9 - 0.1 * q / 100) + 1) / 11
        print(
            f"{data:12} {method:13} f minority {minority:.4f}, f majority {majority:.4f}, PRAGMA {loss:.4f};"
            f" always deciding the minority {always:.4f}{'  <- better' if always < loss else ''}"
        )
    for prevalence in (16800 / 3528, 1.97):
        print(
            f"Mammo optimised at prevalence {prevalence:.2f} %: {two_class_pragma(43.5, 82, prevalence)[2]:.4f},"
            f" always {(10 * (0.1 - prevalence / 1000) + 1) / 11:.4f}"
        )
    print(f"Satimage at recall 95, precision 33: PRAGMA {two_class_pragma(95, 33, 9.73)[2]:.4f}")


def autos() -> None:
    heading("000 table 1 (Autos): whole numbers behind the rates")
    for method, (right, chosen) in AUTOS.items():
        print(
            f"{method}: recall "
            + ", ".join(f"{k}/{n} = {100 * k / n:.2f}" for k, n in zip(right, AUTOS_SUPPORT, strict=True))
        )
        print(
            "   precision "
            + ", ".join(f"{k}/{n} = {100 * k / n:.2f}" for k, n in zip(right, chosen, strict=True))
            + f"; decisions {sum(chosen)}, accuracy {sum(right)}/205 = {sum(right) / 2.05:.2f},"
            f" MA recall {sum(right[2:])}/146 = {sum(right[2:]) / 1.46:.2f}"
        )
        f = [
            1 - w * k / n - (1 - w) * k / d
            for w, k, n, d in zip((0.9, 0.9, 0.5, 0.5, 0.5, 0.5), right, AUTOS_SUPPORT, chosen, strict=True)
        ]
        print(f"   PRAGMA {(10 * f[0] + 10 * f[1] + sum(f[2:])) / 24:.4f}")


def letters() -> None:
    heading("000 table 2 (Letters): which letters are vowels, and the accuracy")
    means = {
        "class. recall": (88.0, 88.5, 88.1),
        "class. precision": (87.9, 90.8, 88.5),
        "opt. recall": (84.8, 95.0, 87.1),
        "opt. precision": (90.9, 78.9, 88.1),
    }
    for vowels in ("AEIOU", "AEIOUY"):
        share = sum(VOWELS[v] for v in vowels) / LETTERS
        for name, (consonants, vowel, printed) in means.items():
            mean = (1 - share) * consonants + share * vowel
            fits = mean - 0.05 <= printed + 0.05 and mean + 0.05 >= printed - 0.05
            print(f"{vowels:6} {name:16} {mean:.2f} +- 0.05, printed {printed} {'' if fits else 'CONTRADICTS'}")
    print("The support-weighted mean recall is the accuracy (sum n_k r_k / n = right / n): printed 87.1 and 87.2.")


def tradeoff_space() -> None:
    heading("002 section 2: printed formulas against table 1 (l = 0.2)")
    for p, r, table in ((0.5, 0.9, (0.58, 0.55, 0.56)), (0.9, 0.5, (0.82, 0.77, 0.80))):
        print(
            f"p {p} r {r}: table 1 {table}; Folke as printed p^(l/2) r^(1-l/2) = {p**0.1 * r**0.9:.4f}, p^(1-l) r^l ="
            f" {p**0.8 * r**0.2:.4f}; F = {1 / (0.2 / r + 0.8 / p):.4f}; Kulczynski printed in R ="
            f" {(0.25 * p + r) / 1.25:.2f} at R = l/(1-l) = 0.25, in l = {0.8 * p + 0.2 * r:.2f}"
        )
    print(f"Folke as printed at l = 1/2, p 0.9 r 0.5: {0.9**0.25 * 0.5**0.75:.4f}, sqrt(p r) = {0.45**0.5:.4f}")

    heading("002 section 3: the unreachable zone, all groups of |D| = 20, |T| = 5")
    groups = [(t, f) for t in range(1, 6) for f in range(16)]
    q = 5 / 20
    sharp = sum(abs(t / (t + f) - q * t / 5 / (q * t / 5 + 1 - q)) < 1e-12 for t, f in groups)
    line = [(t, f) for t, f in groups if abs(t / (t + f) - q * t / 5) < 1e-12]
    below = sum(t / (t + f) < q * t / 5 / (q * t / 5 + 1 - q) - 1e-12 for t, f in groups)
    print(
        f"on the printed line p = q r with r > 0: (in T, outside T) = {line}, the whole of D only; below the curve"
        f" q r / (q r + 1 - q): {below}, on it: {sharp} (each t with all 15 others)"
    )

    heading("002 section 3: 'F and Jaccard are compatible' away from l = 1/2 (l = 0.2)")
    for p, r in ((0.9, 0.2), (0.4, 0.9)):
        print(f"p {p} r {r}: F {1 / (0.2 / r + 0.8 / p):.3f}, Jaccard {p * r / (0.4 * p + r - 0.4 * p * r):.3f}")


def lecture_notes() -> None:
    heading("003 example 2.9")
    print(
        f"15 % flagged, 5 % of ALL rows right: {100 - 10} %; 5 % OF THE FLAGGED right: TP 0.75, FP 14.25, FN 4.25 ->"
        f" {100 - 14.25 - 4.25} %"
    )
    heading("003 section 2.5.2: AUROC of a constant score")
    print("strictly ordered pairs: 0; area under the line (0,0)-(1,1): 0.5, as 003 says of a non-informative one")
    heading("004: SVM report")
    print(
        f"accuracy (94 + 23) / 165 = {11700 / 165:.2f}, slides: 70.1; weighted F ="
        f" {(105 * 188 / 236 + 60 * 46 / 94) / 165:.3f} (left out of the first table)"
    )
    priors = [(105 - 165 * (48 / 165) / rae) / 45 for rae in (0.6268035, 0.6268045)]
    print(f"RAE 62.6804 % fixes the prior of good between {priors[0]:.6f} and {priors[1]:.6f}; 12/19 = {12 / 19:.6f}")
    heading("004: ROC of 20 rows")
    flags = "+++-+--+---+--------"
    rates = [flags[: i + 1].count("+") / 6 for i in range(20)]
    ordered = sum(flags[i + 1 :].count("-") for i in range(20) if flags[i] == "+")
    print(
        f"1/6 = {1 / 6:.3f}, printed 0.2 (0.167 a slide later); AUC = {ordered}/84 = {ordered / 84:.4f}, mean TVP"
        f" over the 20 thresholds ('probability that a positive is classified positive') = {sum(rates) / 20:.4f}"
    )
    heading("004: screening")
    print(f"false alarms: FP rate 210/3800 = {21000 / 3800:.1f} %, 1 - precision = 210/400 = {21000 / 400:.1f} %")


if __name__ == "__main__":
    for section in (
        table_4_accuracies,
        table_4_whole_numbers,
        mammo,
        table_4_pragma,
        autos,
        letters,
        tradeoff_space,
        lecture_notes,
    ):
        section()
