import json
from datetime import UTC, datetime, timedelta, timezone
from sys import getrefcount

import pytest

from graphstore.ids import fingerprint
from graphstore.model.conversation import Attachment, Event, Role, Taint
from ingest.clean import choose_title, clean, find_links, short_title
from ingest.model import RawThread, RawTurn, Summary, Tally, TitleCandidate
from ingest.options import CONTEXT_LIMIT, Options
from ingest.run import masker
from tests.ingest_memory import Memory

KEY = "sk-ant-" + "api03-" + "Zk3Qw9Lm2Xv7Tb5Rn8Hd" * 3
AT = datetime(2026, 1, 1)  # noqa: DTZ001 - a source that names no zone


def cleaned(*turns, options=None, **facts):
    raw = RawThread("generic", "x", turns=list(turns), **facts)
    tally = Tally("file")
    tally.read(sum(one.records for one in turns))
    asked = options or Options(salt=b"salt")
    thread = clean(raw, 0, tally, asked, masker(asked), closed=True)
    for turn in thread.turns:
        tally.drop("turn", turn.raw.records)
    assert tally.balanced
    return thread, tally


def human(*blocks, **facts):
    return RawTurn(Role.HUMAN, blocks, **facts)


def test_blocks_are_joined_with_a_blank_line_and_made_safe():
    thread, _ = cleaned(human(" a\r\nb\0", "", "e\u0301"))
    assert thread.turns[0].text == "a\nb\n\n\u00e9"
    assert thread.turns[0].raw.taint is Taint.HUMAN


@pytest.mark.parametrize(
    ("turn", "disposition"),
    [
        (human(""), "empty"),
        (human(" \n"), "empty"),
        (human("<system-reminder>x</system-reminder>"), "injected"),
        (human("<bash-input>ls</bash-input>"), "tool"),
        (human("<command-name>/clear</command-name>"), "command"),
        (human("[Request interrupted by user]"), "meta"),
        (RawTurn(Role.ASSISTANT, ("<think>hm</think>",)), "thinking"),
        (RawTurn(Role.ASSISTANT, (), calls=(("f", 1),)), "tool"),
        (RawTurn(Role.ASSISTANT, ()), "empty"),
        (RawTurn(Role.OTHER, ("page",), taint=Taint.WEB), "tool"),
        (RawTurn(Role.OTHER, ("",)), "empty"),
    ],
)
def test_a_message_without_words_counts_as_what_it_was(turn, disposition):
    turn.records = 2
    thread, tally = cleaned(turn)
    assert (thread.turns, tally.dispositions) == ([], {disposition: 2})


def test_context_is_kept_only_if_asked_for_and_cut():
    turn = RawTurn(Role.OTHER, ("p" * 5000,), taint=Taint.TOOL)
    thread, _ = cleaned(turn, options=Options(keep_context=True))
    assert len(thread.turns[0].text) == CONTEXT_LIMIT
    assert thread.turns[0].raw.taint is Taint.TOOL


def test_calls_of_silent_messages_go_to_the_next_answer():
    silent = RawTurn(Role.ASSISTANT, (), calls=(("f", 1),), touched=("/p/a.py",))
    answer = RawTurn(Role.ASSISTANT, ("done",), calls=(("g", 2),))
    thread, _ = cleaned(silent, human("hi"), answer, project="/p")
    assert thread.turns[1].calls == (("f", 1), ("g", 2))
    assert thread.turns[1].touched == ("a.py",)


def test_what_a_silent_message_spawned_belongs_to_the_one_before():
    silent = human("<command-name>/clear</command-name>", spawned=("agent",))
    thread, _ = cleaned(human("go"), RawTurn(Role.ASSISTANT, ("ok",)), silent)
    assert thread.turns[0].raw.spawned == ("agent",)


def test_secrets_are_masked_wherever_they_stand():
    thread, _ = cleaned(
        human(
            f"use {KEY}",
            f"and http://x/{KEY}",
            attachments=(Attachment(name=KEY),),
            speaker=KEY,
            touched=(f"/p/{KEY}",),
        ),
        titles=(TitleCandidate("native", KEY),),
        summaries=(Summary("l", KEY),),
        project=f"/p/{KEY}",
        participants=(KEY,),
        models=(KEY,),
        events=(Event(kind="x", detail=KEY), Event(kind="y")),
    )
    assert KEY not in repr(thread)
    (turn,) = thread.turns
    assert [span.kind for span in turn.masked] == ["anthropic_key", "anthropic_key"]
    assert turn.text.startswith("use [masked:anthropic_key]")


def test_titles_are_remembered_and_large_ones_are_not():
    def kept(title):
        before = getrefcount(title)
        thread, _ = cleaned(human("ask"), titles=(TitleCandidate("native", title),))
        assert thread.raw.titles[0].text
        del thread
        return getrefcount(title) > before

    assert kept("drum " * 10)
    assert not kept("drum " * 10_000)


def test_masking_can_be_left_out():
    thread, _ = cleaned(human(KEY), options=Options(mask=False))
    assert (thread.turns[0].text, thread.turns[0].masked) == (KEY, ())


def test_times_without_a_zone_get_the_one_of_the_owner():
    zone = timezone(timedelta(hours=2))
    thread, _ = cleaned(human("a", at=AT), options=Options(naive_zone=zone), started_at=AT)
    assert thread.naive
    assert thread.turns[0].at == thread.raw.started_at == datetime(2025, 12, 31, 22, tzinfo=UTC)
    assert not cleaned(human("a", at=AT.replace(tzinfo=UTC)))[0].naive


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/Users/me/p/src/a.py", "src/a.py"),
        ("/Users/me/other/b.py", "~/other/b.py"),
        ("C:\\Users\\me\\x.py", "~/x.py"),
        ("/etc/hosts", "/etc/hosts"),
    ],
)
def test_touched_paths_are_told_from_the_project_or_the_home_folder(path, told):
    turn = RawTurn(Role.ASSISTANT, ("ok",), touched=(path,))
    thread, _ = cleaned(turn, project="/Users/me/p")
    assert thread.turns[0].touched == (told,)
    assert thread.raw.project == "~/p"


def test_commands_are_told_as_events():
    said = "<command-name>/review</command-name><command-args>look at this first</command-args>"
    thread, _ = cleaned(human(said))
    assert thread.turns[0].text == "look at this first"
    assert [(one.kind, one.detail) for one in thread.raw.events] == [("command", "review")]
    thread, tally = cleaned(human("/add a.py"), human("/ask why is it"), slash_commands=True)
    assert [turn.text for turn in thread.turns] == ["why is it"]
    assert tally.dispositions == {"command": 1, "turn": 1}


def test_repairs_of_text_are_counted_where_they_were_made():
    _, tally = cleaned(human("x\udcb2", line=7))
    assert (tally.codes, tally.places) == ({"lone_surrogate": 1}, {"lone_surrogate": ["file:7"]})


def test_links_of_a_persons_words_outside_fences():
    text = (
        "See [[Cut points|cuts]] and ![[img.png]], https://x.org/a?b=1. #graph/topology #1\n"
        "a C# b&#x ^block\n```\n#define [[x]]\n```\n[[Cut points|cuts]] again"
    )
    assert find_links(text) == (
        "[[Cut points|cuts]]",
        "![[img.png]]",
        "https://x.org/a?b=1",
        "#graph/topology",
        "^block",
    )
    assert find_links("nothing here") == ()


@pytest.mark.parametrize("name", ["", "New chat", "untitled", " new  conversation "])
def test_a_title_that_says_nothing_is_none(name):
    thread, _ = cleaned(human("a"), titles=(TitleCandidate("native", name),))
    assert thread.raw.titles == ()


def test_the_best_kind_of_title_wins():
    every = [TitleCandidate(kind, kind) for kind in ("stem", "summary", "ai", "native", "user")]
    turns = ((Role.ASSISTANT, "hello"), (Role.HUMAN, "What is it?"))
    told = [choose_title(tuple(every[:count]), turns) for count in range(6)]
    assert told == ["What is it?", "stem", "summary", "ai", "native", "user"]
    assert choose_title((), ()) is None


def test_a_title_from_a_question_is_one_line_cut_at_a_word():
    assert short_title("\n  one   line\nsecond") == "one line"
    words = "seven letters " * 10
    assert short_title(words) == ("seven letters " * 5 + "seven").strip()
    assert short_title("x" * 100) == "x" * 80


def test_what_is_said_in_passing_is_spared_all_work_but_remembered():
    way = RawTurn(Role.ASSISTANT, (f"Let  me look {KEY}",), calls=(("f", 1),), calls_tool=True)
    answer = RawTurn(Role.ASSISTANT, ("Done",))
    thread, _ = cleaned(way, answer, agent=True)
    first, second = thread.turns
    assert (first.passing, first.text, second.passing) == (True, "", False)
    assert first.folded == fingerprint(Role.ASSISTANT, f"Let me look {KEY}")
    last, _ = cleaned(RawTurn(Role.ASSISTANT, ("Let me look",), calls_tool=True), agent=True)
    assert not last.turns[0].passing


@pytest.mark.parametrize("native", ["a\ud800", "a\0b", f"a\ud800 {KEY}"])
def test_an_id_that_is_no_text_is_kept_by_its_hash(native):
    raw = RawThread("generic", native, turns=[human("a", key=native), human("b", key="b")])
    thread = clean(raw, 0, Tally(), Options(), masker(Options()), closed=True)
    kept = thread.raw.native_id or ""
    assert kept == thread.turns[0].raw.key
    assert (len(kept), kept.isalnum()) == (32, True)
    assert thread.turns[1].raw.key == "b"


def test_an_id_that_is_no_text_ends_no_run(tmp_path):
    talk = {"messages": [{"role": "user", "content": "Why?"}]}
    lines = [json.dumps({"id": native, **talk}) for native in ("x\ud800", "y")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    report = Memory().ingest(tmp_path)
    assert (report.new, report.exit_code) == (2, 0)
