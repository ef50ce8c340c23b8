"""Exports put one after the other, or one conversation a line, are read like the exports."""

import json

import pytest

from tests.ingest_memory import Memory


def chatgpt(name):
    message = {
        "id": name,
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": [f"Why {name}?"]},
    }
    node = {"id": name, "message": message}
    return {"conversation_id": name, "current_node": name, "mapping": {name: node}}


def claude(name):
    said = {"uuid": f"m{name}", "sender": "human", "text": f"Why {name}?"}
    return {"uuid": name, "name": "", "chat_messages": [said]}


def lines(talks):
    return "".join(json.dumps(one) + "\n" for one in talks)


def pretty_lists(talks):
    return "".join(json.dumps([one], indent=2) + "\n" for one in talks)


def pretty_objects(talks):
    return "".join(json.dumps(one, indent=2) + "\n" for one in talks)


def lists_on_lines(talks):
    return "".join(json.dumps([one]) + "\n" for one in talks)


@pytest.mark.parametrize("make", [chatgpt, claude])
@pytest.mark.parametrize("write", [lines, pretty_lists, pretty_objects, lists_on_lines])
def test_every_conversation_is_read_in_a_folder_and_named(tmp_path, make, write):
    names = ("k1", "k2", "k3")
    file = tmp_path / "in" / "x.json"
    file.parent.mkdir()
    file.write_text(write([make(name) for name in names]))
    apart = Memory()
    for name in names:
        (tmp_path / f"{name}.json").write_text(json.dumps([make(name)]))
        apart.ingest(tmp_path / f"{name}.json")
    for path in (file, file.parent):
        store = Memory()
        report = store.ingest(path)
        assert store.told() == apart.told()
        assert (report.new, report.exit_code, report.codes) == (3, 0, ())


def test_a_line_that_is_broken_is_a_loss_of_its_own(tmp_path):
    talks = lines([chatgpt("k1"), chatgpt("k2")])
    (tmp_path / "x.jsonl").write_text(talks + '{"mapping": oops}\n' + lines([{"other": 1}]))
    report = Memory().ingest(tmp_path)
    assert (report.new, report.exit_code) == (2, 1)
    assert [one.code for one in report.codes] == ["bad_conversation", "bad_json"]


def test_one_record_of_many_makes_no_export(tmp_path):
    (tmp_path / "x.jsonl").write_text(lines([{"mapping": 1}, *({"a": at} for at in range(9))]))
    report = Memory().ingest(tmp_path)
    assert [one.name for one in report.ignored] == ["unknown_format"]


def test_a_footnote_at_the_beginning_makes_no_document(tmp_path):
    (tmp_path / "x.md").write_text("[\n1]\n[\n2] is where the tides are told of.\n")
    report = Memory().ingest(tmp_path / "x.md")
    assert [(row.format, row.new) for row in report.carriers] == [("note", 1)]
