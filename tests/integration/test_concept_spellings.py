"""Concepts in two spellings are shown to the owner, and never joined by themselves."""

import json

from typer.testing import CliRunner

from cli.main import app
from graphstore import open_store
from ingest.derive import Derivation
from tests.talk import START, a_thread, record_of


def test_pairs_of_spellings_are_listed_and_both_stay(tmp_path):
    derive = Derivation()
    said = "> Use `{}` for the sheet. `{}` draws it; `escape_wheel`, `escape_wheel`."
    with open_store(tmp_path / "default", derive) as store, store.deferred():
        for n, form in enumerate(("TideTable", "tide_table", "TideTable", "tide_table")):
            thread = a_thread(f"t{n}", "How is it drawn?", said.format(form, form), day=n)
            store.commit(record_of(thread), START)
        store.commit(derive.epoch(store.threads(), store.roots()), START)

    def run(*words):
        done = CliRunner().invoke(app, ["--home", str(tmp_path), "concepts", *words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    (pair,) = [row for row in run("--aliases") if {row["one"], row["other"]} >= {"TideTable"}]
    assert {pair["one"], pair["other"]} == {"TideTable", "tide_table"}
    assert pair["score"] >= 0.9
    assert {"TideTable", "tide_table"} <= {row["label"] for row in run()}
