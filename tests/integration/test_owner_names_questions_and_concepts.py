"""The owner says which questions ask the same and which concepts are one, and may undo it."""

import json
import shutil
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from cli.main import app
from graphstore import open_store
from graphstore.errors import NotFound
from graphstore.ids import concept_id, question_id
from graphstore.model.knowledge import Concept, Links, LinkType
from graphstore.model.record import ReviewRecord
from ingest.derive import Derivation
from service import operations, settings
from service.moments import WrongValue
from service.reviewing import NotPossible
from service.session import Session
from tests.fake_derive import everything
from tests.talk import START, a_thread, record_of

THEN = START + timedelta(days=50)
WHEEL = "What stops the escape wheel after every spring tide?"
AGAIN = "Why does the escape wheel stop after every spring tide?"
CLOCK = "Is our harbour clock dead whenever the moon is full?"
STACK = "Is the vent stack to blame for the salt film?"
SAID = {
    "wheel": (WHEEL, "> The escape wheel: the spring tide."),
    "again": (AGAIN, "> The escape wheel, the spring tide."),
    "clock": (CLOCK, "> The harbour clock. The escapement wheel of the harbour clock."),
    "late": (CLOCK, "> The escapement wheel of the harbour clock, again."),
    "stack": (STACK, "> The vent stack. Salt film."),
    "film": (STACK, "> The salt film is on the escape wheel. The vent stack."),
    **{f"rest{n}": ("The quay wall is old.", "> Yes.") for n in range(6)},
}
IDS = {text: question_id(text) for text in (WHEEL, AGAIN, CLOCK, STACK)}
MINE, OTHER = "escapement wheel", "escape wheel"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    derive = Derivation()
    with open_store(folder / "default", derive) as store, store.deferred():
        for day, (name, turns) in enumerate(SAID.items()):
            store.commit(record_of(a_thread(name, *turns, day=day)), THEN)
        store.commit(derive.epoch(store.threads(), store.roots()), THEN)
    return folder


@pytest.fixture
def session(made, tmp_path):
    """A session on a copy of the store, for one test alone."""
    shutil.copytree(made, tmp_path / "own")
    return session_at(tmp_path / "own")


@pytest.fixture(scope="module")
def untouched(made):
    """A session on the store that the others copy; for what changes nothing."""
    return session_at(made)


def session_at(folder):
    loaded = settings.load({"store.home": str(folder)}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: THEN)


@pytest.fixture
def held(session):
    """Everything in the graph, which is always what a rebuild would make of the ledger."""

    def read():
        with session.store("test") as store:
            assert store.verify() == ()
            return {**everything(store), "Meta": ()}  # it counts the records

    return read


def links(session):
    with session.store("test") as store:
        return {frozenset((row.src, row.dst)): row.link_type for row in store.edges(Links)}


def pair(one, other):
    return frozenset((IDS[one], IDS[other]))


def labels(session):
    with session.store("test") as store:
        return {one.label: one for one in store.nodes(Concept)}


def tell(session, name, *turns, day=40):
    with session.store("test") as store:
        store.commit(record_of(a_thread(name, *turns, day=day)), THEN)


class TestQuestions:
    def test_what_the_owner_calls_the_same_recurs_until_it_is_taken_back(self, session, held):
        before = held()
        rows = operations.settle(session, "same", WHEEL, IDS[CLOCK][:9])
        assert {row.question_id: row.recurs for row in rows} == {IDS[WHEEL]: 2, IDS[CLOCK]: 1}
        assert links(session)[pair(WHEEL, CLOCK)] is LinkType.RECURRING
        assert held() != before
        operations.settle(session, "unsay", CLOCK, WHEEL)
        assert held() == before

    def test_what_the_owner_calls_different_is_never_linked(self, session, held):
        assert links(session)[pair(WHEEL, AGAIN)] is LinkType.RECURRING
        operations.settle(session, "different", AGAIN, WHEEL)
        assert pair(WHEEL, AGAIN) not in links(session)
        # somebody asks it once more: it is compared again, and the word holds
        tell(session, "more", AGAIN, "> The escape wheel.")
        assert pair(WHEEL, AGAIN) not in links(session)
        held()
        operations.settle(session, "unsay", AGAIN, WHEEL)
        assert pair(WHEEL, AGAIN) in links(session)

    def test_the_last_word_counts(self, session):
        operations.settle(session, "same", WHEEL, STACK)
        operations.settle(session, "different", STACK, WHEEL)
        assert pair(WHEEL, STACK) not in links(session)
        operations.settle(session, "same", STACK, WHEEL)
        assert pair(WHEEL, STACK) in links(session)

    def test_saying_it_twice_leaves_one_record(self, session):
        for _ in range(2):
            operations.settle(session, "same", WHEEL, CLOCK)
        with session.store("test") as store:
            assert len([each for each in store.dreams() if isinstance(each, ReviewRecord)]) == 1

    def test_a_word_said_before_the_epoch_holds_after_it(self, session, held):
        operations.settle(session, "same", WHEEL, CLOCK)
        operations.settle(session, "different", WHEEL, AGAIN)
        with session.store("test") as store:
            derive = Derivation()
            tell_all = derive.epoch(store.threads(), store.roots()).replace(pmi_floor=9.0)
            store.commit(tell_all, THEN)
        found = links(session)
        assert pair(WHEEL, CLOCK) in found
        assert pair(WHEEL, AGAIN) not in found
        held()

    def test_three_askings_that_the_owner_joined_are_one_journey(self, session):
        def begun():
            with session.store("test") as store:
                epoch = store.epoch()
                assert epoch is not None
                found = Derivation().journeys(store.ground(), (), epoch)
            return {record.core_inquiry: set(record.questions) for record in found}

        assert not any(IDS[CLOCK] in names for names in begun().values())
        operations.settle(session, "same", WHEEL, CLOCK)
        assert [names for names in begun().values() if IDS[CLOCK] in names] == [
            {IDS[WHEEL], IDS[AGAIN], IDS[CLOCK]}
        ]
        # chained by the first question, and torn by the owner
        operations.settle(session, "different", AGAIN, CLOCK)
        assert not any({IDS[AGAIN], IDS[CLOCK]} <= names for names in begun().values())

    def test_resonance_hears_it(self, session):
        def rhymes():
            found = operations.resonance(session, IDS[WHEEL]).found
            return {each.thread_id for each in found if each.group == "same_question"}

        assert "test:clock" not in rhymes()
        operations.settle(session, "same", WHEEL, CLOCK)
        assert "test:clock" in rhymes()

    def test_what_was_answered_in_other_words_is_answered_until_it_is_asked_again(self, session):
        def row():
            found = operations.questions(session)
            return next(each for each in found if each.question_id == IDS[WHEEL])

        assert (row().status, row().answers) == ("open", ())
        tell(session, "solved", AGAIN, "> The pivot is dry.", "That worked.")
        assert (row().status, row().answers) == ("answered", ("thread:test:solved#turn:3",))
        assert row() in operations.questions(session, status="answered")
        tell(session, "later", WHEEL, "> The pivot.", day=45)
        assert (row().status, row().answers) == ("open", ())

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (("same", WHEEL, WHEEL), NotPossible),
            (("same", WHEEL, "What is no question here?"), NotFound),
            (("unsay", WHEEL, CLOCK), NotPossible),
            (("alike", WHEEL, CLOCK), WrongValue),
            (("", WHEEL, CLOCK), WrongValue),
            (("same", WHEEL, ""), NotFound),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, untouched, words, error):
        with pytest.raises(error):
            operations.settle(untouched, *words)


class TestConcepts:
    def test_a_merged_concept_is_a_spelling_of_the_other_until_it_is_told_apart(
        self, session, held
    ):
        before, known = held(), labels(session)
        assert known[OTHER].df == 3
        assert known[MINE].df == 2
        (row,) = operations.unite(session, "merge", MINE, OTHER)
        assert (row.label, row.df, row.cf) == (OTHER, 5, known[OTHER].cf + known[MINE].cf)
        assert MINE in row.aliases
        assert MINE not in labels(session)
        assert held() != before
        rows = operations.unite(session, "unmerge", MINE)
        assert {each.label for each in rows} == {MINE, OTHER}
        assert held() == before

    def test_a_later_thread_is_read_with_it(self, session, held):
        operations.unite(session, "merge", concept_id(MINE), OTHER)
        tell(session, "more", STACK, f"> The `vent_stack` and the {MINE}; the {OTHER}.")
        assert labels(session)[OTHER].df == 6
        assert MINE not in labels(session)
        held()

    def test_merges_may_follow_each_other(self, session, held):
        before = held()
        operations.unite(session, "merge", MINE, OTHER)
        operations.unite(session, "merge", OTHER, "spring tide")
        assert {MINE, OTHER} <= set(labels(session)["spring tide"].aliases)
        operations.unite(session, "unmerge", OTHER)
        assert labels(session)[OTHER].df == 5
        operations.unite(session, "unmerge", concept_id(MINE)[:12])
        assert held() == before

    def test_a_spelling_alone_keeps_the_name_of_what_it_was_merged_into(self, session, held):
        operations.unite(session, "merge", MINE, OTHER)
        with session.store("test") as store:
            store.forget(["test:wheel", "test:again", "test:film"], THEN, session.salt())
        # nobody says the other name any more, so the word on it went with it
        assert MINE in labels(session)
        assert OTHER not in labels(session)
        held()

    def test_the_scout_sees_one_concept(self, session):
        def seen():
            with session.store("test") as store:
                return set(store.view().labels)

        assert {MINE, OTHER} <= seen()
        operations.unite(session, "merge", MINE, OTHER)
        assert MINE not in seen()

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            (("merge", MINE, MINE), NotPossible),
            (("merge", MINE, "no such thing"), NotFound),
            (("merge", MINE), NotFound),
            (("unmerge", MINE), NotFound),
            (("join", MINE, OTHER), WrongValue),
            (("", MINE, OTHER), WrongValue),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, untouched, words, error):
        with pytest.raises(error):
            operations.unite(untouched, *words)


def test_words_on_what_is_forgotten_are_forgotten(session, held):
    operations.settle(session, "same", WHEEL, CLOCK)
    operations.settle(session, "different", WHEEL, AGAIN)
    operations.settle(session, "different", STACK, CLOCK)
    operations.unite(session, "merge", MINE, OTHER)
    with session.store("test") as store:
        store.forget(["test:wheel"], THEN, session.salt())
        words = [each for each in store.dreams() if isinstance(each, ReviewRecord)]
    # its question is gone; the other questions and both concepts are still named
    assert [(each.act, {each.target, each.other}) for each in words] == [
        ("different", {IDS[STACK], IDS[CLOCK]}),
        ("merge_concept", {concept_id(MINE), concept_id(OTHER)}),
    ]
    held()
    assert labels(session)[OTHER].df == 4


def test_the_command(session):
    def run(*words, code=0):
        home = str(session.settings.store.home)
        done = CliRunner().invoke(app, ["--home", home, *words, "--json"])
        assert (done.exit_code == 0) is (code == 0), done.output
        return json.loads(done.output) if code == 0 else None

    rows = run("questions", "same", WHEEL, CLOCK)
    assert {row["text"] for row in rows} == {WHEEL, CLOCK}
    run("questions", "unsay", WHEEL, CLOCK)
    run("questions", "same", WHEEL, code=1)
    assert len(run("questions")) == len(IDS)
    merged = run("concepts", "merge", MINE, OTHER)
    assert MINE in merged[0]["aliases"]
    assert {row["label"] for row in run("concepts", "unmerge", MINE)} == {MINE, OTHER}
    run("concepts", "unmerge", MINE, code=1)
