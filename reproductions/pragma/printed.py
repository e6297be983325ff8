"""What the PRAGMA paper prints, in per cent; table 4 stands in `reproductions.slips`, which checks its arithmetic."""

from __future__ import annotations

# Table 1 (Autos): classes as the data have them (the paper's _3 is 3, __1 is -1), then the means of the priority
# classes, of the others, and of all, weighted by class sizes.
TABLE_1_COLUMNS = ("3", "2", "1", "0", "-1", "-2", "priority", "others", "all")
TABLE_1 = {
    ("forest", "recall"): (81.4, 68.7, 74.1, 85.1, 81.8, 33.3, 74.6, 79.4, 78.0),
    ("forest", "precision"): (84.6, 84.6, 72.7, 77.0, 81.8, 50.0, 84.6, 75.6, 78.2),
    ("tuned", "recall"): (92.6, 71.9, 74.1, 83.6, 68.2, 66.7, 81.4, 77.4, 78.5),
    ("tuned", "precision"): (80.6, 82.1, 76.9, 75.7, 83.3, 100.0, 81.5, 77.8, 78.8),
}

# Table 2 (Letters): means of consonants, of vowels, and of all, weighted by class sizes.
TABLE_2_COLUMNS = ("others", "priority", "all")
TABLE_2 = {
    ("forest", "recall"): (88.0, 88.5, 88.1),
    ("forest", "precision"): (87.9, 90.8, 88.5),
    ("tuned", "recall"): (84.8, 95.0, 87.1),
    ("tuned", "precision"): (90.9, 78.9, 88.1),
}

# Table 3: rows, variables, share of the minority class. Mammo is confidential; nothing of ours stands beside it.
TABLE_3 = {"hypothyroid": (3772, 27, 7.71), "satimage": (6435, 36, 9.73)}

PAPER_NAMES = {"hypothyroid": "Hypothyroid", "satimage": "Satimage"}
PAPER_METHODS = {"C4.5": "C4.5", "forest": "RF classique", "tuned": "RF optimisée"}
