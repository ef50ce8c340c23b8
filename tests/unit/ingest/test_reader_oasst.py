import json
from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import oasst
from ingest.sniff import choose
from tests.ingest_memory import Memory


def said(key, role, *replies, **more):
    return {"message_id": key, "text": key.upper(), "role": role, "replies": list(replies), **more}


def tree(prompt, name="t"):
    return {"message_tree_id": name, "tree_state": "ready_for_export", "prompt": prompt}


def read(*trees, content=None):
    tally = Tally("f")
    raw = content or b"".join(json.dumps(one).encode() + b"\n" for one in trees)
    found = list(oasst.read(Source.of_bytes(raw, "f"), tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def marked(found):
    return [(turn.key, turn.parent, turn.alternative) for turn in found.turns]


def test_the_lowest_rank_goes_on_the_main_line():
    prompt = said(
        "p", "prompter",
        said("a", "assistant", said("d", "prompter"), rank=1),
        said("b", "assistant", said("e", "prompter", rank=2), said("f", "prompter", rank=0),
             rank=0),
        said("c", "assistant"),
    )  # fmt: skip
    (found,), tally = read(tree(prompt))
    assert (found.native_id, found.tree, found.source) == ("t", True, "oasst")
    assert [one[0] for one in marked(found) if not one[2]] == ["p", "b", "f"]
    assert sorted(marked(found)) == [
        ("a", "p", True), ("b", "p", False), ("c", "p", True), ("d", "a", True),
        ("e", "b", True), ("f", "b", False), ("p", None, False),
    ]  # fmt: skip
    assert (tally.records, tally.codes) == (7, {})


def test_no_rank_is_the_last_and_the_first_of_equals_wins():
    first = said("p", "prompter", said("a", "assistant"), said("b", "assistant", rank=7))
    second = said("p", "prompter", said("a", "assistant"), said("b", "assistant"))
    (one, two), _ = read(tree(first), tree(second, "u"))
    assert [turn.key for turn in one.turns if not turn.alternative] == ["p", "b"]
    assert [turn.key for turn in two.turns if not turn.alternative] == ["p", "a"]


@pytest.mark.parametrize("rank", [True, "0", None, [], {}, 10**400, float("nan")])
def test_a_rank_that_is_no_number_is_none(rank):
    prompt = said(
        "p", "prompter", said("a", "assistant", rank=rank), said("b", "assistant", rank=9)
    )
    (found,), _ = read(tree(prompt))
    assert [turn.key for turn in found.turns if not turn.alternative] == ["p", "b"]


def test_deleted_words_are_dropped_and_their_replies_stay():
    gone = said("x", "assistant", said("c", "prompter"), deleted=True, rank=0)
    (found,), tally = read(tree(said("p", "prompter", gone, said("b", "assistant", rank=1))))
    assert sorted(marked(found)) == [("b", "p", False), ("c", "p", True), ("p", None, False)]
    assert tally.dispositions["empty"] == 1
    (rootless,), _ = read(tree(said("x", "prompter", said("b", "assistant"), deleted=True)))
    assert marked(rootless) == [("b", None, False)]


@pytest.mark.parametrize(
    "bad", [7, None, {"role": "assistant"}, {"text": "x"}, {"text": "x", "role": ["y"]},
            {"text": "x", "role": "system"}],
)  # fmt: skip
def test_a_bad_message_costs_one_message(bad):
    prompt = said("p", "prompter", said("b", "assistant"))
    prompt["replies"].append(bad)
    (found,), tally = read(tree(prompt))
    assert marked(found) == [("p", None, False), ("b", "p", False)]
    assert tally.codes == {"bad_message": 1}


def test_what_is_no_tree_is_a_bad_conversation():
    (bad, good), tally = read({"message_tree_id": "x"}, tree(said("p", "prompter")))
    assert (bad.code, bad.where) == ("bad_conversation", "f:1")
    assert isinstance(good, RawThread)
    assert tally.dispositions["lost"] == 1


def test_times_and_places_are_kept():
    prompt = said("p", "prompter", said("b", "assistant", created_date="soon"),
                  created_date="2023-02-03T04:05:06+00:00")  # fmt: skip
    (_, found), tally = read(tree(said("q", "prompter"), "s"), tree(prompt))
    assert found.turns[0].at == datetime(2023, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert {turn.line for turn in found.turns} == {2}
    assert tally.codes == {"bad_timestamp": 1}


def test_a_list_of_trees_is_read_as_lines_are():
    trees = [tree(said("p", "prompter"), "s"), tree(said("q", "prompter"), "t")]
    found, _ = read(content=json.dumps(trees, indent=1).encode())
    assert [one.native_id for one in found] == ["s", "t"]


def test_a_huge_tree_is_cut(monkeypatch):
    monkeypatch.setattr(oasst, "NODES", 3)
    prompt = said("p", "prompter", *[said(f"a{n}", "assistant") for n in range(5)])
    (found,), tally = read(tree(prompt))
    assert len(found.turns) == 3
    assert tally.codes == {"bad_message": 3}


def test_a_run_numbers_and_orders_a_tree(tmp_path):
    file = tmp_path / "trees.txt"
    prompt = said("p", "prompter", said("a", "assistant", rank=1), said("b", "assistant", rank=0))
    file.write_text(json.dumps(tree(prompt)))
    store = Memory()
    store.ingest(file)
    thread = store.threads["oasst:t"]
    assert [turn.text for turn in thread.clean()] == ["P", "B"]
    assert len(thread.turns) == 3


def test_it_is_known_by_its_keys():
    chosen = choose(Source.of_bytes(json.dumps(tree(said("p", "prompter"))).encode(), "x.bin"))
    assert chosen is oasst
    decoy = {"message_tree_id": "t", "prompt": "a prompt"}
    other = choose(Source.of_bytes(json.dumps(decoy).encode(), "x.bin"))
    assert isinstance(other, ReadFailure)
