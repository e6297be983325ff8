"""Files that several commands read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import compromis as cp
from tests.cli.files import AUTUMN, PREDICTED, SPRING, TRUTH, WEIGHT, WORSE, write


@pytest.fixture
def table(tmp_path):
    """results.csv, six rows."""
    rows = zip(TRUTH, PREDICTED, WEIGHT, strict=True)
    path = tmp_path / "results.csv"
    path.write_text("truth,predicted,weight\n" + "".join(f"{t},{d},{w}\n" for t, d, w in rows))
    return path


@pytest.fixture
def files(_in_an_empty_folder):
    for name, counts in {"spring.csv": SPRING, "autumn.csv": AUTUMN, "worse.csv": WORSE}.items():
        write(name, counts)
    write("unlabelled.csv", AUTUMN, truth=False)
    cp.Preferences({"bad": cp.Preference(10, min_precision=0.5, min_recall=0.8)}, metric="f").to_toml(
        "preferences.toml"
    )
    cp.Decision(("bad", "good"), [1.0, 1.0]).to_json("w.json")


@pytest.fixture
def rows(tmp_path, rng):
    truth = rng.choice(["01", "NA", "good one"], 300, p=[0.2, 0.3, 0.5])
    decision = np.where(rng.random(300) < 0.7, truth, rng.choice(["01", "NA", "good one"], 300))
    votes = rng.multinomial(10, [0.3, 0.3, 0.4], 300)
    frame = pl.DataFrame(
        {"truth": truth, "decision": decision, "score": rng.integers(0, 50, 300) / 50, "w": rng.integers(1, 4, 300)}
    )
    frame = frame.with_columns(**{f"p_{name}": votes[:, k] for k, name in enumerate(["01", "NA", "good one"])})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    return tmp_path


@pytest.fixture
def votes(tmp_path, rng):
    truth = rng.choice(["a", "b"], 120, p=[0.8, 0.2])
    share = np.clip(rng.normal(np.where(truth == "b", 0.5, 0.2), 0.15), 0, 1).round(3)
    path = tmp_path / "votes.csv"
    path.write_text(
        "truth,p_a,p_b\n" + "".join(f"{t},{1 - s:.3f},{s:.3f}\n" for t, s in zip(truth, share, strict=True))
    )
    return path, truth, np.column_stack([(1 - share).round(3), share])
