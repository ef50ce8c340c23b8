"""The full-text index: what finds a turn, what leaves the index, what no cue can break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.ids import fingerprint
from graphstore.ledger import Ledger
from graphstore.model.conversation import Role, Taint, Turn
from graphstore.search import SearchIndex, by_score, columns_of, fuse, match_any
from graphstore.threads import Threads


def write(ledger, thread, number, text, *, role="human", speaker=None, position=None, off=False):
    turn = Turn(
        number=number,
        role=Role(role),
        taint=Taint(role),
        text=text,
        fingerprint=fingerprint(role, text),
        speaker=speaker,
    )
    ref = f"thread:{thread}#turn:{number}"
    place = None if off else position or number
    with ledger.transaction() as connection:
        connection.execute(
            "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (ref, thread, number, role, text, None, place, int(off), turn.model_dump_json()),
        )
    return ref


@pytest.fixture
def ledger(tmp_path):
    opened = Ledger(tmp_path / "ledger.db")
    Threads(opened)
    yield opened
    opened.close()


@pytest.fixture
def index(ledger):
    return SearchIndex(ledger)


def found(index, cue, **options):
    return [hit.ref for hit in index.find(cue, **options)]


def test_finds_other_forms_of_a_word(ledger, index):
    ref = write(ledger, "a", 1, "She keeps painting the boats")
    index.index([ref])
    assert found(index, "painted boat") == [ref]


def test_finds_chinese_by_pairs_of_characters(ledger, index):
    ref = write(ledger, "a", 1, "为什么缓存总是失效")
    other = write(ledger, "a", 2, "天气很好")
    index.index([ref, other])
    assert found(index, "缓存失效") == [ref]


def test_finds_hindi_words_with_their_vowel_signs(ledger, index):
    ref = write(ledger, "a", 1, "यह क्यों होता है")
    index.index([ref])
    assert index.terms("क्यों") == index.terms("यह क्यों")[1:]
    assert found(index, "क्यों") == [ref]


def test_finds_the_words_inside_an_identifier(ledger, index):
    ref = write(ledger, "a", 1, "then readTideTable failed")
    index.index([ref])
    assert found(index, "tide") == [ref]
    assert found(index, "readTideTable") == [ref]


def test_a_single_character_is_its_own_pair():
    assert columns_of("猫 cat") == ("  cat", "猫")


def test_more_matching_words_rank_higher_and_ties_go_by_reference(ledger, index):
    refs = [
        write(ledger, "b", 1, "anchor chain"),
        write(ledger, "a", 1, "anchor rope"),
        write(ledger, "a", 2, "anchor rope"),
    ]
    index.index(refs)
    assert found(index, "anchor chain") == [refs[0], refs[1], refs[2]]
    assert found(index, "anchor chain", limit=1) == [refs[0]]
    assert found(index, "anchor", limit=0) == []


def test_turns_off_the_main_line_are_not_found(ledger, index):
    ref = write(ledger, "a", 1, "an earlier wording", off=True)
    index.index([ref])
    assert found(index, "wording") == []


def test_narrows_by_thread_and_role(ledger, index):
    one = write(ledger, "a", 1, "harbour")
    two = write(ledger, "b", 1, "harbour", role="assistant")
    index.index([one, two])
    assert found(index, "harbour", threads=["b"]) == [two]
    assert found(index, "harbour", role="human") == [one]


def test_indexing_twice_is_indexing_once(ledger, index):
    ref = write(ledger, "a", 1, "lantern lantern")
    index.index([ref, ref])
    index.index([ref])
    assert len(index.postings("lantern")) == 2
    assert len(index.docs()) == 1


def test_a_turn_that_is_not_there_is_not_indexed(index):
    index.index(["thread:x#turn:1"])
    assert index.docs() == []


def test_a_removed_turn_leaves_no_word_behind(ledger, index):
    kept, gone = write(ledger, "a", 1, "walnut"), write(ledger, "a", 2, "walnut 缓存 goneAway")
    index.index([kept, gone])
    index.remove([gone, "thread:x#turn:9"])
    assert found(index, "walnut") == [kept]
    assert index.frequencies(["walnut", "away", "缓存"]) == {"walnut": 1, "away": 0, "缓存": 0}


def test_made_again_it_is_the_same_index(ledger, index):
    refs = [write(ledger, "a", n, text) for n, text in enumerate(("red kite", "kite", "blue"), 1)]
    index.index(refs)
    before = index.find("red kite")
    index.rebuild()
    assert index.find("red kite") == before
    ledger.connection.execute("DELETE FROM turn")
    index.rebuild()
    assert index.find("red kite") == ()


def test_docs_come_in_reading_order_with_off_path_turns_last(ledger, index):
    refs = [
        write(ledger, "a", 1, "one", position=2, speaker="Ines"),
        write(ledger, "a", 2, "two", position=1),
        write(ledger, "a", 3, "three", off=True),
    ]
    index.index(refs)
    docs = index.docs()
    assert [doc.number for doc in docs] == [2, 1, 3]
    assert [doc.speaker for doc in docs] == [None, "Ines", None]


def test_texts_come_in_the_order_asked(ledger, index):
    write(ledger, "a", 1, "one")
    write(ledger, "a", 2, "two")
    asked = ["thread:a#turn:2", "thread:a#turn:7", "thread:a#turn:1"]
    assert index.texts(asked) == ["two", "", "one"]


def test_the_version_changes_with_the_turns(ledger, index):
    before = index.version()
    index.index([write(ledger, "a", 1, "one")])
    assert index.version() != before


def test_terms_are_stemmed_once_each_in_order(index):
    assert index.terms("Boats, boat! sailing") == ("boat", "sail")


def test_fusion_rewards_what_several_rankings_agree_on():
    scores = fuse([["a", "b", "c"], ["b", "d"]])
    assert by_score(scores)[0] == "b"
    assert scores["a"] == pytest.approx(1 / 61)


def test_fusion_weighs_rankings_and_breaks_ties_by_name():
    scores = fuse([["b"], ["a"]])
    assert by_score(scores) == ("a", "b")
    assert by_score(fuse([["b"], ["a"]], [2, 1])) == ("b", "a")


def test_a_cue_of_marks_asks_for_nothing():
    assert match_any(" \t\n") == ""


@pytest.fixture(scope="module")
def one_turn(tmp_path_factory):
    ledger = Ledger(tmp_path_factory.mktemp("cues") / "ledger.db")
    Threads(ledger)
    index = SearchIndex(ledger)
    index.index([write(ledger, "a", 1, "near or not and the star*")])
    yield index
    ledger.close()


@given(
    cue=st.text() | st.from_regex(r'[\w"*^:(){}+\-]{0,12}( (AND|OR|NOT|NEAR|") ?)*', fullmatch=True)
)
def test_no_cue_can_raise(one_turn, cue):
    one_turn.find(cue)
    one_turn.terms(cue)
