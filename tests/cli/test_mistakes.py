"""Every mistake is one sentence and exit code 2, and prints nothing else; mistakes.txt holds the sentences."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import compromis as cp
from tests.command_line import run

LINES = (Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8").splitlines()
SENTENCES = {command.removeprefix("$ "): sentence for command, sentence in zip(LINES[::3], LINES[1::3], strict=True)}


@pytest.fixture
def folder(tmp_path, table, files, rows, votes):
    """Files for every command."""
    (tmp_path / "three.csv").write_text("true,a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n")
    (tmp_path / "scores.csv").write_text("truth,a,b\nill,0.9,0.2\nwell,0.4,0.6\nill,0.6,0.7\nwell,0.1,0.3\n")
    (tmp_path / "probabilities.csv").write_text("t,p,w\na,0.1,-1\nb,0.25,1\na,0.75,1\n")
    (tmp_path / "commas.csv").write_text("t;p_a;p_b;x\na;0,9;0,1;3\nb;0.4;0.6;1,5\n")
    (tmp_path / "capital.csv").write_text("t,p_Ill,p_b\nill,0.9,0.1\nb,0.4,0.6\n")
    (tmp_path / "infinite.csv").write_text("t,p,c\n1,inf,t\n2,2,p\n")
    (tmp_path / "other.json").write_text('{"a": 1}')
    cp.Preferences().to_toml("plain.toml")
    document = json.loads(cp.Decision(("bad", "good"), [1.0, 1.0]).to_json())
    (tmp_path / "newer.json").write_text(json.dumps(document | {"version": 9}))
    cp.Decision(("bad", "ugly"), [1.0, 1.0]).to_json("ugly.json")
    cp.evidence.write(cp.Counts.from_predictions(["a", "b"], ["a", "a"]), "counts.json")
    cp.evidence.write(cp.Votes.from_proba(["a", "b"], [[1, 2], [2, 1]]), "votes.json")


@pytest.mark.parametrize("command", SENTENCES)
def test_one_sentence(folder, command):
    before = sorted(Path().iterdir())
    done = run(*shlex.split(command), input="")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == SENTENCES[command]
    assert done.stdout == ""
    assert sorted(Path().iterdir()) == before
