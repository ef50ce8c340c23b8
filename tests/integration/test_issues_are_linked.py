"""Numbers and addresses in texts become edges of the graph, once what they name is there."""

import json

import pytest

from graphstore import open_store
from graphstore.model.knowledge import Cites
from tests.fake_derive import NOW, FakeDerive, a_thread_record
from tests.ingest_memory import Memory


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "ws", FakeDerive()) as opened:
        yield opened


def issue(number, body, **more):
    found = {
        "number": number,
        "title": f"Issue {number}",
        "url": f"https://github.com/o/r/issues/{number}",
        "body": body,
        "comments": [],
    }
    return {**found, **more}


def take(store, tmp_path, memory, *issues):
    file = tmp_path / f"archive{len(memory.records)}.json"
    file.write_text(json.dumps(issues), "utf-8")
    done = len(memory.records)
    memory.ingest(file)
    for record in memory.records[done:]:
        store.commit(record, NOW)


def edges(store):
    return sorted((edge.src, edge.target, edge.dst) for edge in store.edges(Cites))


ONE, TWO, TEN = (f"issues:o%2Fr%23{number}" for number in (1, 2, 12))
ADDRESS = "https://github.com/o/r/pull/2#issuecomment-7"


def test_numbers_and_addresses_lead_to_issues(store, tmp_path):
    first = issue(1, "As #12 and #1 say", comments=[{"body": f"see {ADDRESS} and p/q#1"}])
    take(store, tmp_path, Memory(), first, issue(2, "Closes o/r#1"), issue(12, "so"))
    assert edges(store) == [(ONE, "#12", TEN), (ONE, ADDRESS, TWO), (TWO, "o/r#1", ONE)]
    assert store.verify() == ()


def test_an_edge_rests_on_the_turns_that_hold_it_and_on_no_others(store, tmp_path):
    comments = [{"body": "or #12"}, {"body": "I mean #1"}, {"body": "yes, #12"}]
    take(store, tmp_path, Memory(), issue(2, "no", comments=comments), issue(1, "a"))
    (edge,) = store.edges(Cites)
    assert (edge.target, edge.source_refs) == ("#1", (f"thread:{TWO}#turn:3",))


def test_an_issue_that_comes_later_is_linked_then(store, tmp_path):
    memory = Memory()
    take(store, tmp_path, memory, issue(1, "after #12"))
    assert edges(store) == []
    take(store, tmp_path, memory, issue(12, "first"))
    assert edges(store) == [(ONE, "#12", TEN)]


def test_people_who_are_no_members_cite_nothing(store, tmp_path):
    stranger = {"body": "like #12", "authorAssociation": "NONE", "author": {"login": "x"}}
    take(store, tmp_path, Memory(), issue(1, "a", comments=[stranger]), issue(12, "b"))
    assert edges(store) == []


def test_a_talk_cites_an_issue_by_its_address_and_not_by_a_bare_number(store, tmp_path):
    take(store, tmp_path, Memory(), issue(1, "a"), issue(2, "b"))
    chat = tmp_path / "chat.json"
    words = "read https://github.com/o/r/issues/1, not #2"
    chat.write_text(json.dumps({"id": "c", "messages": [{"role": "user", "content": words}]}))
    memory = Memory()
    memory.ingest(chat)
    for record in memory.records:
        store.commit(record, NOW)
    assert edges(store) == [("generic:c", "https://github.com/o/r/issues/1", ONE)]


def test_a_link_to_a_chat_leads_to_its_thread(store, tmp_path):
    key = "0d2b3c4e-1111-4222-8333-444455556666"
    cited = a_thread_record(key, "words", source="chatgpt", thread_id=f"chatgpt:{key}")
    link = f"https://chatgpt.com/c/{key}"
    take(store, tmp_path, Memory(), issue(1, f"as in {link}."))
    assert edges(store) == []
    store.commit(cited, NOW)
    assert edges(store) == [(ONE, link, f"chatgpt:{key}")]
