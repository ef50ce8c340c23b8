"""Recall: which turn answers, what is held back, and why a turn is given."""

from datetime import UTC, datetime, timedelta

import pytest

from graphstore import ids, vectors
from graphstore.ledger import Ledger
from graphstore.model.answers import Filters
from graphstore.model.conversation import Anchor, Role, Taint, Turn
from graphstore.model.record import EpochRecord, ReviewRecord, ThreadRecord
from graphstore.queries.meaning import load
from graphstore.queries.recall import recall
from graphstore.search import SearchIndex
from graphstore.threads import Threads

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
JUNE = datetime(2025, 6, 3, 9, tzinfo=UTC)


class Shelf:
    """A workspace without a graph."""

    def __init__(self, path):
        self.path = path
        self.ledger = Ledger(path / "ledger.db")
        self.threads = Threads(self.ledger)
        self.search = SearchIndex(self.ledger)
        self.figures = None

    def epoch(self):
        return self.figures

    def add(self, native, *said, at=JUNE, project=None, off=()):
        """Turns as text, or (speaker, text); human and assistant by turns."""
        turns = []
        for number, words in enumerate(said, start=1):
            speaker, text = words if isinstance(words, tuple) else (None, words)
            role = Role.HUMAN if speaker or number % 2 else Role.ASSISTANT
            turns.append(
                Turn(
                    number=number,
                    role=role,
                    taint=Taint(role.value),
                    text=text,
                    fingerprint=ids.fingerprint(role.value, text),
                    at=at,
                    speaker=speaker,
                    anchor=Anchor(file=f"{native}.jsonl", line=number),
                )
            )
        record = ThreadRecord(
            thread_id=ids.thread_id("test", native),
            source="test",
            native_id=native,
            title=f"Thread {native}",
            project=project,
            turns=tuple(turns),
            path=tuple(turn.number for turn in turns if turn.number not in off),
        )
        with self.ledger.transaction():
            seq = self.ledger.append(record, NOW)
            grown = self.threads.grow(record, seq)
            assert grown is not None
            self.search.index(grown.fresh)
        return [ids.ref(record.thread_id, turn.number) for turn in turns]


@pytest.fixture
def shelf(tmp_path):
    made = Shelf(tmp_path)
    yield made
    made.ledger.close()


def refs(found):
    return [hit.turn.ref for hit in found.hits]


def ask(shelf, cue, **options):
    return recall(shelf, cue, now=NOW, **options)


def test_an_empty_store_says_so(shelf):
    assert ask(shelf, "lamp").not_found_reason == "empty_store"


def test_a_cue_without_words_says_so(shelf):
    shelf.add("a", "the lamp")
    assert ask(shelf, "?! \U0001f600").not_found_reason == "empty_cue"


def test_the_turn_with_the_words_comes_first(shelf):
    a = shelf.add("a", "the lighthouse lamp went dark", "check the wick", "thanks")
    shelf.add("b", "bread rises slowly", "more yeast", "fine")
    found = ask(shelf, "why did the lamp go dark?")
    assert refs(found)[0] == a[0]
    assert found.hits[0].score == 1.0
    assert found.threads[0].thread_id == "test:a"
    assert found.threads[0].best == a[0]


def test_an_answer_inherits_the_words_of_its_question(shelf):
    a = shelf.add("a", "which oil burns longest in a lantern", "colza, by far", "x", "y", "z")
    shelf.add("b", "unrelated", "words", "stand", "here")
    found = ask(shelf, "lantern oil")
    assert a[1] in refs(found)
    hit = next(hit for hit in found.hits if hit.turn.ref == a[1])
    assert hit.reasons[0].startswith("beside a turn that says")
    assert hit.before.ref == a[0]
    assert hit.after.ref == a[2]


def test_words_do_not_leak_into_another_thread(shelf):
    shelf.add("a", "harbour", "harbour chain")
    b = shelf.add("b", "bread", "yeast")
    assert b[0] not in refs(ask(shelf, "harbour chain"))


def test_nothing_is_made_up_below_the_floor(shelf):
    shelf.add("a", *["the harbour was calm and the boats lay still"] * 3)
    found = ask(shelf, "calm quantum chromodynamics lattice gauge theory beyond perturbation")
    assert found.hits == ()
    assert found.not_found_reason == "below_floor"
    assert found.nearest.turn.ref.startswith("thread:test:a")


def test_no_word_in_common_finds_nothing(shelf):
    shelf.add("a", "harbour")
    assert ask(shelf, "zzyzx qqq").not_found_reason in ("no_match", "below_floor")


def test_filters_narrow_and_say_when_nothing_passes(shelf):
    a = shelf.add("a", "the lamp", project="light")
    b = shelf.add("b", "other", "the lamp burns", at=JUNE + timedelta(days=90))
    assert refs(ask(shelf, "lamp", filters=Filters(project="light"))) == [a[0]]
    assert refs(ask(shelf, "lamp", filters=Filters(threads=("test:b",))))[0] == b[1]
    assert refs(ask(shelf, "lamp", filters=Filters(role=Role.ASSISTANT))) == [b[1]]
    assert refs(ask(shelf, "lamp", filters=Filters(since=JUNE + timedelta(days=1))))[0] == b[1]
    assert refs(ask(shelf, "lamp", filters=Filters(until=JUNE + timedelta(days=1)))) == [a[0]]
    nothing = ask(shelf, "lamp", filters=Filters(source="elsewhere"))
    assert nothing.not_found_reason == "filtered_out"


def test_as_of_hides_what_was_said_later(shelf):
    a = shelf.add("a", "the lamp")
    shelf.add("b", "the lamp again", at=JUNE + timedelta(days=9))
    assert refs(ask(shelf, "lamp", as_of=JUNE + timedelta(days=1))) == [a[0]]


def test_turns_off_the_main_line_are_not_given(shelf):
    shelf.add("a", "the lamp in brass", "the lamp", off=(1,))
    assert refs(ask(shelf, "lamp")) == ["thread:test:a#turn:2"]


def test_a_named_speaker_is_preferred_and_the_name_is_no_search_word(shelf):
    a = shelf.add("a", ("Bo", "Ines, I sold the boat"), ("Ines", "I sold the boat"))
    found = ask(shelf, "which boat did Ines sell")
    assert refs(found)[0] == a[1]
    assert "said by Ines" in found.hits[0].reasons


def test_a_role_named_is_preferred(shelf):
    shelf.add("a", "seal the roof with tar", "x", "y")
    b = shelf.add("b", "x", "seal the roof with tar or felt", "y")
    assert refs(ask(shelf, "what did you suggest to seal the roof"))[0] == b[1]


def test_a_time_named_is_preferred(shelf):
    shelf.add("a", "the tide table was wrong today", at=datetime(2025, 2, 3, tzinfo=UTC))
    b = shelf.add("b", "a tide table was wrong today", at=JUNE)
    found = ask(shelf, "wrong tide table in June 2025")
    assert refs(found)[0] == b[0]
    assert "said at the time named" in found.hits[0].reasons


def test_the_same_words_are_given_once(shelf):
    shelf.add("a", "the lamp is lit")
    shelf.add("b", "the lamp is lit")
    assert refs(ask(shelf, "lamp lit")) == ["thread:test:a#turn:1"]


def test_a_hit_says_where_its_original_is(shelf):
    shelf.add("a", "the lamp is lit")
    (hit,) = ask(shelf, "lamp lit").hits
    assert (hit.turn.file, hit.turn.line, hit.turn.title) == ("a.jsonl", 1, "Thread a")
    assert hit.parts.lexical == 1.0
    assert 0 < hit.parts.recency < 1


def test_undated_turns_have_no_recency(shelf):
    shelf.add("a", "the lamp is lit", at=None)
    assert ask(shelf, "lamp in June 2025").hits[0].parts.recency == 0.0


def test_the_limit_is_kept_and_answers_do_not_depend_on_order(tmp_path):
    texts = [f"the lamp number {n} is lit" for n in range(12)]
    answers = []
    for name, order in (("one", texts), ("two", texts[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        shelf = Shelf(folder)
        for text in order:
            shelf.add(text.split()[3], text)
        answers.append(ask(shelf, "lamp lit", limit=5))
        shelf.ledger.close()
    assert len(answers[0].hits) == 5
    assert answers[0] == answers[1]


def test_what_was_read_is_kept_until_the_turns_change(shelf):
    shelf.add("a", "the lamp is lit")
    first = load(shelf)
    assert load(shelf)[0] is first[0]
    shelf.add("b", "the lamp is out")
    assert len(load(shelf)[0]) == 2


@pytest.mark.skipif(not vectors.available(), reason="wordllama is not installed")
def test_vectors_use_the_figures_of_a_telling_epoch(shelf):
    shelf.add("a", "the lamp is lit")
    shelf.figures = EpochRecord(extractor="x", lineages=9, vector_df=((500, 3),))
    assert load(shelf)[1].embedding.stamp == vectors.Static(9, {500: 3}).stamp


@pytest.mark.skipif(not vectors.available(), reason="wordllama is not installed")
def test_like_wording_is_found_without_a_shared_word(shelf):
    a = shelf.add("a", "my dogs love the beach", "x", "y")
    shelf.add("b", "compile the kernel module", "x", "y")
    found = ask(shelf, "puppy seaside")
    assert refs(found)[:1] in ([a[0]], [])
    assert found.basis == "lexical_static"


EPOCH = EpochRecord(extractor="x", lineages=9, vector_df=((500, 3),))


def opened_again(shelf):
    """The same workspace as another process reads it."""
    other = Shelf.__new__(Shelf)
    other.path, other.ledger, other.threads = shelf.path, shelf.ledger, shelf.threads
    other.search, other.figures = SearchIndex(shelf.ledger), shelf.figures
    return other


def columns(corpus):
    """What is known of each turn, by reference."""
    held = corpus.columns
    return {
        corpus.ref(row): (
            held.doc[row],
            held.key[row],
            corpus.role(row),
            held.speakers[held.speaker[row]] if held.speaker[row] >= 0 else None,
            held.main_line[row],
            held.words[row],
        )
        for row in range(len(corpus))
    }


def test_a_corpus_brought_up_to_date_is_that_of_a_fresh_reading(shelf):
    shelf.figures = EPOCH
    shelf.add("b", ("Ines", "the lamp is lit"), ("Noor", "who lit it?"))
    shelf.add("a", "salt on the film", "rinse it")
    before = load(shelf)[1]
    shelf.add("c", ("Ada", "the harbour chain"), "colza oil", "and a wick")
    shelf.add("b", ("Ines", "the lamp is lit"), ("Noor", "who lit it?"), "the keeper", off=(2,))
    corpus, meaning = load(shelf)
    again, fresh = load(opened_again(shelf))
    assert meaning.embedding is before.embedding
    assert columns(corpus) == columns(again)
    for cue in ("who lit the lamp", "harbour oil"):
        ours, theirs = meaning.cosines(cue), fresh.cosines(cue)
        assert {corpus.ref(row): v for row, v in enumerate(ours)} == {
            again.ref(row): v for row, v in enumerate(theirs)
        }
        assert ask(shelf, cue) == ask(opened_again(shelf), cue)


def test_a_record_that_changes_no_turn_leaves_the_corpus_as_it_was(shelf):
    shelf.add("a", "the lamp")
    corpus, _ = load(shelf)
    with shelf.ledger.transaction():
        shelf.ledger.append(ReviewRecord(act="helpful", target="h:a", at=NOW), NOW)
    assert load(shelf)[0] is corpus


def test_turns_that_went_from_the_index_are_gone_from_the_corpus(shelf):
    shelf.figures = EPOCH
    (lamp,) = shelf.add("a", "the lamp")
    load(shelf)
    shelf.search.remove([lamp])
    shelf.add("b", "salt")
    assert len(load(shelf)[0]) == 1


def test_an_index_made_again_is_read_again(shelf):
    shelf.figures = EPOCH
    shelf.add("a", "the lamp", "salt film")
    first, _ = load(shelf)
    shelf.search.rebuild()
    assert load(shelf)[0] is not first
    assert refs(ask(shelf, "salt"))[0] == "thread:test:a#turn:2"


def test_a_large_store_compares_the_vectors_of_candidates_and_finds_the_same(shelf, monkeypatch):
    from graphstore.queries import meaning

    shelf.figures = EPOCH
    for n in range(40):
        shelf.add(f"t{n}", f"lamp number{n} stands {n % 7} steps off", f"so does wick{n}", "fine")
    cues = ("where does number12 stand", "wick30 steps", "which lamp is off")
    exact = [refs(ask(shelf, cue)) for cue in cues]
    monkeypatch.setattr(meaning, "EXACT", 20)
    monkeypatch.setattr(meaning, "CANDIDATES", 30)
    large = opened_again(shelf)
    assert [refs(ask(large, cue))[:3] for cue in cues] == [found[:3] for found in exact]
    monkeypatch.setattr(meaning, "CANDIDATES", 200)
    assert [refs(ask(opened_again(shelf), cue)) for cue in cues] == exact


def test_common_words_are_passed_over_when_they_cost_too_much(shelf, monkeypatch):
    from graphstore.queries import corpus

    for n in range(6):
        shelf.add(f"t{n}", f"the lamp and number{n}")
    monkeypatch.setattr(corpus, "POSTINGS", 2)
    found = ask(shelf, "lamp number3")
    assert found.hits[0].turn.ref == "thread:test:t3#turn:1"
    assert [term for term, _ in load(shelf)[0].lexical(shelf.search, ("lamp", "number3")).held] == [
        "number3"
    ]


def test_hypotheses_stand_apart_and_threats_among_them(shelf):
    from graphstore.model.answers import HypothesisView
    from graphstore.model.hypothesis import Valid

    a = shelf.add("a", "the lamp is lit")
    asked = []

    def resting(refs):
        asked.extend(refs)
        return tuple(
            HypothesisView(hypothesis=a_hypothesis(mode), standing=Valid())
            for mode in ("replay", "threat")
        )

    found = ask(shelf, "lamp", hypotheses=resting)
    assert asked == a
    assert [view.hypothesis.mode for view in found.hypotheses] == ["replay"]
    assert [view.hypothesis.mode for view in found.threats] == ["threat"]


def a_hypothesis(mode):
    from graphstore.model.hypothesis import HypothesisState, Resonates

    return Resonates(
        src_table="Question",
        src="q:a",
        dst_table="Question",
        dst="q:b",
        hypothesis_id=f"h:{mode}",
        function="amplification",
        rule="r",
        mode=mode,
        method="deterministic",
        model=None,
        title="t",
        summary="s",
        why_not_fact="w",
        claims="[]",
        refs=("thread:test:a#turn:1",),
        ref_fingerprints=("b2:0",),
        counter_evidence="[]",
        counter_refs=(),
        source_fingerprint="b2:0",
        cues=(),
        voices=(),
        seed_id=None,
        shape=None,
        provenance="computed",
        pack_id="p",
        job_id="j",
        cycle_id="c",
        state=HypothesisState.ACCEPTED,
        start_points=50,
        points=50,
        confirmations=0,
        contradictions=0,
        validation_ids=(),
        retention=0.5,
        quality=0.5,
        declared_confidence=None,
        divergence=0.0,
        coefficients="conservative_v1",
        sensitivity="none",
        next_check="c",
        extras="{}",
        created_at=NOW,
        validated_at=None,
        review_after=NOW + timedelta(days=14),
        expires_at=NOW + timedelta(days=45),
        validated_by="",
        invalidation_triggers=(),
        supersedes=None,
        superseded_by=None,
        closed_at=None,
        closed_reason=None,
    )
