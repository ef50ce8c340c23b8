import json
import zipfile
from datetime import UTC, datetime
from itertools import permutations

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import slack
from ingest.sniff import choose
from ingest.walk import Found, find
from tests.ingest_memory import Memory

T0 = 1767225600
"""2026-01-01T00:00:00Z."""
ANA = {"id": "U1", "name": "ana", "profile": {"real_name": "Ana A", "display_name": "Anna"}}
BO = {"id": "U2", "name": "bo", "real_name": "Bo B", "deleted": True}
HELPER = {"id": "U3", "name": "helper", "is_bot": True}
PEOPLE = [ANA, BO, HELPER]
ROOMS = {"channels.json": [{"id": "C1", "name": "general"}]}


def at(seconds):
    return f"{T0 + seconds}.000100"


def said(seconds, text, user="U1", **more):
    return {"type": "message", "user": user, "text": text, "ts": at(seconds), **more}


def reply(seconds, root, text, user="U2", **more):
    return said(seconds, text, user, thread_ts=at(root), **more)


def export(root, days, people=PEOPLE, rooms=ROOMS):
    """Write an export; ``days`` maps a path below it to the messages of a day."""
    for name, value in {"users.json": people, **rooms, **days}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = value if isinstance(value, str) else json.dumps(value)
        file.write_text(text, "utf-8")
    return root


def day(*messages, date="2026-01-01", room="general"):
    return {f"{room}/{date}.json": list(messages)}


def taken(tmp_path, days, people=PEOPLE, rooms=ROOMS, **options):
    store = Memory()
    report = store.ingest(export(tmp_path / "export", days, people, rooms), **options)
    return store, {one.code: one.count for one in report.codes}


def words(store):
    return {
        key: [(turn.role.value, turn.text) for turn in thread.turns]
        for key, thread in sorted(store.threads.items())
    }


def one(tmp_path, *messages, **options):
    """Words of the only thread."""
    store, _ = taken(tmp_path, day(*messages), **options)
    (found,) = words(store).values()
    return found


# --- threads and runs


def test_replies_of_all_days_are_one_thread(tmp_path):
    days = {
        **day(reply(90000, 0, "late"), date="2026-01-02"),
        **day(said(0, "root", thread_ts=at(0), reply_count=2), reply(60, 0, "soon")),
    }
    store, codes = taken(tmp_path, days)
    assert words(store) == {
        f"slack:C1:{at(0)}": [("human", "root"), ("human", "soon"), ("human", "late")]
    }
    assert codes == {}
    (thread,) = store.threads.values()
    assert thread.participants == ("Anna", "Bo B")
    assert thread.project == "#general"
    assert thread.turns[0].anchor.file.endswith("general/2026-01-01.json")
    assert thread.turns[0].at == datetime(2026, 1, 1, 0, 0, 0, 100, tzinfo=UTC)


def test_a_root_is_known_by_its_replies_alone(tmp_path):
    store, _ = taken(tmp_path, day(said(0, "root"), reply(9000, 0, "late"), said(60, "next")))
    assert words(store) == {
        f"slack:C1:{at(0)}": [("human", "root"), ("human", "late")],
        f"slack:C1:{at(60)}": [("human", "next")],
    }


@pytest.mark.parametrize(("gap", "count"), [(1800, 1), (1801, 2)])
def test_silence_of_half_an_hour_parts_what_stands_in_no_thread(gap, count, tmp_path):
    store, _ = taken(tmp_path, day(said(0, "a"), said(gap, "b")))
    assert len(store.threads) == count


def test_a_run_goes_on_over_midnight(tmp_path):
    days = {**day(said(86300, "a")), **day(said(86500, "b"), date="2026-01-02")}
    assert list(words(taken(tmp_path, days)[0]).values()) == [[("human", "a"), ("human", "b")]]


def test_rooms_do_not_mix(tmp_path):
    rooms = {"channels.json": [{"id": "C1", "name": "general"}, {"id": "C2", "name": "ideas"}]}
    days = {**day(said(0, "a")), **day(said(1, "b"), room="ideas"), **day(said(2, "c"), room="new")}
    store, _ = taken(tmp_path, days, rooms=rooms)
    assert list(words(store)) == [
        f"slack:C1:{at(0)}",
        f"slack:C2:{at(1)}",
        f"slack:new:{at(2)}",
    ]


def test_private_rooms_are_named_by_name_and_talks_of_two_by_id(tmp_path):
    rooms = {
        "groups.json": [{"id": "G1", "name": "plans"}],
        "mpims.json": [{"id": "M1", "name": "mpdm-ana--bo-1"}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    }
    days = {
        **day(said(0, "a"), room="plans"),
        **day(said(0, "b"), room="mpdm-ana--bo-1"),
        **day(said(0, "c"), room="D1"),
    }
    store, _ = taken(tmp_path, days, rooms=rooms)
    assert [(key, thread.project) for key, thread in sorted(store.threads.items())] == [
        (f"slack:D1:{at(0)}", None),
        (f"slack:G1:{at(0)}", "#plans"),
        (f"slack:M1:{at(0)}", None),
    ]


def test_a_reply_sent_to_the_room_too_counts_once(tmp_path):
    broadcast = reply(60, 0, "too", subtype="thread_broadcast")
    days = day(said(0, "root", thread_ts=at(0)), reply(60, 0, "too"), broadcast)
    store, codes = taken(tmp_path, days)
    assert list(words(store).values()) == [[("human", "root"), ("human", "too")]]
    assert codes == {"duplicate_record": 1}


def test_an_edited_copy_replaces_the_first(tmp_path):
    edited = said(0, "new", edited={"user": "U1", "ts": at(5)})
    assert one(tmp_path / "a", said(0, "old"), edited) == [("human", "new")]
    assert one(tmp_path / "b", edited, said(0, "old")) == [("human", "new")]


def test_the_order_of_files_and_messages_says_nothing(tmp_path):
    messages = [said(0, "root", thread_ts=at(0)), reply(50, 0, "x"), said(60, "y"), said(70, "z")]
    told = set()
    for place, order in enumerate(permutations(messages)):
        days = {**day(*order[:2], date="2026-01-03"), **day(*order[2:], date="2026-01-01")}
        store, _ = taken(tmp_path / str(place), days)
        told.add(json.dumps(words(store)))
    assert len(told) == 1


# --- who speaks


def test_people_in_no_list_are_side_turns(tmp_path):
    assert one(tmp_path, said(0, "a"), said(1, "b", "U9")) == [("human", "a"), ("other", "b")]


def test_without_a_list_everyone_is_a_person(tmp_path):
    found = one(tmp_path, said(0, "a"), said(1, "b", "U9"), people=[])
    assert found == [("human", "a"), ("human", "b")]


@pytest.mark.parametrize("name", ["U1", "ana", "@Ana", "Anna", "ana a"])
def test_with_me_only_the_named_are_persons(name, tmp_path):
    found = one(tmp_path, said(0, "a"), said(1, "b", "U2"), me=(name,))
    assert found == [("human", "a"), ("other", "b")]


def test_several_names_of_the_owner(tmp_path):
    found = one(tmp_path, said(0, "a"), said(1, "b", "U2"), me=("ana", "bo"))
    assert found == [("human", "a"), ("human", "b")]


def test_a_bot_answers_in_a_thread_and_posts_outside_it(tmp_path):
    days = day(
        said(0, "q", thread_ts=at(0)),
        reply(1, 0, "answer", "U3"),
        said(2, "build 7 is green", None, subtype="bot_message", bot_id="B1"),
    )
    store, _ = taken(tmp_path, days)
    assert list(words(store).values()) == [[("human", "q"), ("assistant", "answer")]]
    kept, _ = taken(tmp_path / "kept", days, keep_context=True)
    (post,) = (turn for one in kept.threads.values() for turn in one.turns if "7" in turn.text)
    assert (post.role, post.taint) == ("other", "tool")


def test_a_bot_that_opens_a_thread_posts(tmp_path):
    days = day(
        said(0, "alarm", "U3", thread_ts=at(0)), reply(1, 0, "I look"), reply(2, 0, "ok", "U3")
    )
    assert list(words(taken(tmp_path, days)[0]).values()) == [
        [("human", "I look"), ("assistant", "ok")]
    ]


def test_alone_with_a_person_a_bot_needs_no_thread_to_answer(tmp_path):
    rooms = {"dms.json": [{"id": "D1", "members": ["U1", "U3"]}]}
    days = day(said(0, "q"), said(1, "answer", "U3"), room="D1")
    store, _ = taken(tmp_path, days, rooms=rooms)
    assert list(words(store).values()) == [[("human", "q"), ("assistant", "answer")]]


def test_a_person_may_speak_through_an_app(tmp_path):
    assert one(tmp_path, said(0, "a", bot_id="B1", app_id="A1")) == [("human", "a")]


def test_a_bot_speaks_by_its_attachments(tmp_path):
    shown = {"pretext": "Deployed", "title": "v1", "text": "to <https://x.example|there>"}
    bot = {"subtype": "bot_message", "username": "Deploy", "attachments": [shown]}
    card = reply(1, 0, "", None, **bot)
    store, _ = taken(tmp_path, day(said(0, "q", thread_ts=at(0)), card))
    (thread,) = store.threads.values()
    assert (thread.turns[1].role, thread.turns[1].speaker) == ("assistant", "Deploy")
    assert thread.turns[1].text == "Deployed\nv1\nto there"


# --- words


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("<@U1> and <@U9> and <@U8|joe>", "@ana and @U9 and @joe"),
        ("<#C1|general>, <#C1>, <#C9>", "#general, #general, #C9"),
        ("<https://x.example/a|here>", "here"),
        ("<https://x.example/a?b=1&amp;c=2>", "https://x.example/a?b=1&c=2"),
        ("<mailto:a@x.example>", "a@x.example"),
        ("<!here> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @team today"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_marks_are_shown_as_people_see_them(written, meant, tmp_path):
    assert one(tmp_path, said(0, written)) == [("human", meant)]


def test_addresses_behind_words_are_links(tmp_path):
    store, _ = taken(tmp_path, day(said(0, "see <https://x.example/a?b=1&amp;c=2|this>")))
    (thread,) = store.threads.values()
    assert thread.turns[0].links == ("https://x.example/a?b=1&c=2",)


def test_words_may_stand_in_blocks_alone(tmp_path):
    blocks = [
        {"type": "rich_text", "elements": [
            {"type": "rich_text_section", "elements": [
                {"type": "user", "user_id": "U1"}, {"type": "text", "text": " look at "},
                {"type": "link", "url": "https://x.example", "text": "it"},
                {"type": "emoji", "name": "eyes"}, {"type": "channel", "channel_id": "C1"},
                {"type": "broadcast", "range": "here"}]},
            {"type": "rich_text_list", "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "two"}]}]}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "<@U2>!"}},
    ]  # fmt: skip
    store, _ = taken(tmp_path, day(said(0, "", blocks=blocks)))
    (thread,) = store.threads.values()
    assert thread.turns[0].text == "@ana look at it:eyes:#general@here\none\ntwo\n@bo!"
    assert "https://x.example" in thread.turns[0].links


def test_files_are_attachments(tmp_path):
    files = [{"name": "a.png", "mimetype": "image/png", "size": 7}, {"title": "b"}, {"mode": "x"}]
    message = said(0, "look", subtype="file_share", files=files)
    store, _ = taken(tmp_path, day(message, said(1, "", files=files)))
    (thread,) = store.threads.values()
    (turn,) = thread.turns
    assert [(a.name, a.media_type, a.size) for a in turn.attachments] == [
        ("a.png", "image/png", 7),
        ("b", None, None),
    ]


def test_pages_that_a_message_unfolds_are_kept_only_if_asked_for(tmp_path):
    message = said(0, "see", attachments=[{"title": "T", "text": "page"}, {"fallback": "x"}])
    assert one(tmp_path / "a", message) == [("human", "see")]
    store, _ = taken(tmp_path / "b", day(message), keep_context=True)
    (thread,) = store.threads.values()
    assert [(turn.taint, turn.text) for turn in thread.turns[1:]] == [("web", "T\npage")]


# --- what is left out, and what is lost


@pytest.mark.parametrize(
    "subtype",
    ["channel_join", "channel_topic", "group_leave", "bot_add", "pinned_item", "tombstone",
     "huddle_thread", "reminder_add", "message_deleted", "sh_room_created"],
)  # fmt: skip
def test_what_nobody_said_is_no_turn(subtype, tmp_path):
    store, codes = taken(tmp_path, day(said(0, "a"), said(1, "noise", subtype=subtype)))
    assert list(words(store).values()) == [[("human", "a")]]
    assert codes == {}


def test_an_unknown_kind_is_told(tmp_path):
    store, codes = taken(tmp_path, day(said(0, "a"), said(1, "b", subtype="brand_new")))
    assert (list(words(store).values()), codes) == ([[("human", "a")]], {"unknown_record": 1})


def test_hidden_records_and_other_types_are_no_turns(tmp_path):
    days = day(said(0, "a"), said(1, "b", hidden=True), {"type": "event", "ts": at(2)})
    store, codes = taken(tmp_path, days)
    assert (list(words(store).values()), codes) == ([[("human", "a")]], {})


@pytest.mark.parametrize("ts", [None, "", "soon", True, {"a": 1}])
def test_a_message_without_a_time_is_lost_and_the_rest_stays(ts, tmp_path):
    store, codes = taken(tmp_path, day({**said(0, "a"), "ts": ts}, "text", said(1, "b")))
    assert list(words(store).values()) == [[("human", "b")]]
    assert codes == {"bad_message": 2}


def test_a_time_may_be_a_number(tmp_path):
    days = day({**said(0, "a"), "ts": T0 + 0.5, "thread_ts": T0 + 0.5})
    assert list(words(taken(tmp_path, days)[0])) == [f"slack:C1:{T0}.5"]


def test_a_broken_day_costs_that_day(tmp_path):
    days = {"general/2026-01-01.json": '[{"type": "mess', **day(said(0, "a"), date="2026-01-02")}
    store, codes = taken(tmp_path, days)
    assert (list(words(store).values()), codes) == ([[("human", "a")]], {"bad_json": 1})


@pytest.mark.parametrize("broken", ["users.json", "channels.json"])
def test_a_broken_list_is_told_and_the_messages_stay(broken, tmp_path):
    root = export(tmp_path, day(said(0, "a")))
    (root / broken).write_text("{", "utf-8")
    store = Memory()
    report = store.ingest(root)
    assert list(words(store).values()) == [[("human", "a")]]
    assert [one.code for one in report.codes] == ["unreadable_file"]


def test_a_day_that_cannot_be_opened_costs_that_day(tmp_path):
    def broken():
        raise OSError

    days = {**day(said(0, "a")), **day(said(90000, "b"), date="2026-01-02")}
    (src,) = find((str(export(tmp_path, days)),), Found())
    assert isinstance(src, Source)
    for name, one in src.inside or ():
        if name.endswith("01.json"):
            one.opener = broken
    failure, thread = slack.read(src, Tally("x"))
    assert isinstance(failure, ReadFailure)
    assert isinstance(thread, RawThread)
    assert (failure.code, thread.turns[0].blocks) == ("unreadable_file", ("b",))


def test_a_time_out_of_range_is_told_and_the_message_stays(tmp_path):
    store, codes = taken(tmp_path, day({**said(0, "a"), "ts": "1.5"}, said(0, "b")))
    assert (len(store.threads), codes) == (1, {"bad_timestamp": 1})


def test_entries_of_lists_without_an_id_are_passed(tmp_path):
    people = [{"name": "x"}, 5, {"id": "U1"}]
    rooms = {"channels.json": [{"name": "y"}, {"id": "C1", "name": "general"}]}
    store, _ = taken(tmp_path, day(said(0, "hi <@U1>")), people, rooms)
    (thread,) = store.threads.values()
    assert (thread.turns[0].text, thread.turns[0].speaker) == ("hi @U1", "U1")


@pytest.mark.parametrize("key", ["user_profile", "bot_profile"])
def test_a_speaker_in_no_list_may_bring_a_name(key, tmp_path):
    message = said(0, "a", "U9", **{key: {"display_name": "", "real_name": "Zoe Z"}})
    store, _ = taken(tmp_path, day(message))
    (thread,) = store.threads.values()
    assert thread.turns[0].speaker == "Zoe Z"


# --- where it lies


def zipped(root, archive, prefix=""):
    with zipfile.ZipFile(archive, "w") as opened:
        for file in sorted(root.rglob("*.json")):
            opened.write(file, prefix + file.relative_to(root).as_posix())
    return archive


@pytest.mark.parametrize("prefix", ["", "Team export 2026/"])
def test_a_zip_gives_what_the_folder_gives(prefix, tmp_path):
    days = {**day(said(0, "root", thread_ts=at(0))), **day(reply(1, 0, "b"), date="2026-01-02")}
    root = export(tmp_path / "e", days)
    folder, archive = Memory(), Memory()
    first = folder.ingest(root)
    second = archive.ingest(zipped(root, tmp_path / "e.zip", prefix))
    assert archive.told() == folder.told()
    assert (first.side_files, second.side_files) == (2, 2)
    (turn, _) = next(iter(archive.threads.values())).turns
    assert turn.anchor.file == f"{tmp_path}/e.zip!{prefix}general/2026-01-01.json"


def test_folder_and_zip_together_are_one(tmp_path):
    root = export(tmp_path / "e", day(said(0, "a")))
    store = Memory()
    report = store.ingest(root, zipped(root, tmp_path / "e.zip"))
    assert len(store.threads) == 1
    assert {one.code for one in report.codes} == {"duplicate_carrier"}


def test_an_export_inside_a_folder_is_found_beside_other_files(tmp_path):
    export(tmp_path / "all" / "team", day(said(0, "a")))
    (tmp_path / "all" / "b.json").write_text('{"messages": [{"role": "user", "content": "q"}]}')
    store = Memory()
    store.ingest(tmp_path / "all")
    assert sorted(one.source for one in store.threads.values()) == ["generic", "slack"]


def test_a_second_run_changes_nothing_and_a_new_day_grows(tmp_path):
    root = export(tmp_path / "e", day(said(0, "root", thread_ts=at(0))))
    store = Memory()
    store.ingest(root)
    assert store.ingest(root).carriers[0].skipped
    export(root, day(reply(90000, 0, "late"), date="2026-01-02"))
    report = store.ingest(root)
    assert (report.grown, len(store.threads)) == (1, 1)
    assert list(words(store).values()) == [[("human", "root"), ("human", "late")]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("at_once", [True, False])
def test_exports_of_several_times_are_one_thread(order, at_once, tmp_path):
    days = [
        day(said(0, "root", thread_ts=at(0)), said(5, "x", thread_ts=at(5))),
        day(reply(90000, 0, "a"), reply(90001, 5, "y"), date="2026-01-02"),
        day(reply(180000, 0, "b"), date="2026-01-03"),
    ]
    roots = [export(tmp_path / str(place), some) for place, some in enumerate(days)]
    store = Memory()
    paths = [roots[place] for place in (order if at_once else (0, 1, 2))]
    for some in [paths] if at_once else [[path] for path in paths]:
        assert store.ingest(*some).codes == ()
    thread = store.threads[f"slack:C1:{at(0)}"]
    assert [turn.text for turn in thread.on_path()] == ["root", "a", "b"]
    assert len(store.threads) == 2


@pytest.mark.parametrize("missing", ["users.json", "channels.json", "general/2026-01-01.json"])
def test_a_folder_without_one_of_the_parts_is_no_export(missing, tmp_path):
    root = export(tmp_path, day(said(0, "a")))
    (root / missing).unlink()
    assert not any(getattr(src, "inside", None) for src in find((str(root),), Found()))


def test_a_day_alone_is_no_export(tmp_path):
    file = tmp_path / "2026-01-01.json"
    file.write_text(json.dumps([said(0, "a")]), "utf-8")
    chosen = choose(Source.of_file(file, explicit=True))
    assert isinstance(chosen, ReadFailure)
    assert chosen.code == "no_conversation"


def test_every_message_is_accounted_for(tmp_path):
    days = day(
        said(0, "a"),
        said(0, "a"),
        said(1, "", files=[]),
        said(2, "j", subtype="channel_join"),
        said(3, "post", "U3"),
        {"text": "no time"},
        7,
    )
    (src,) = find((str(export(tmp_path, days)),), Found())
    assert isinstance(src, Source)
    tally = Tally("x")
    for found in slack.read(src, tally):
        assert isinstance(found, RawThread)
        tally.drop("turn", sum(turn.records for turn in found.turns))
    assert tally.balanced
    assert tally.dispositions == {"duplicate": 1, "meta": 1, "lost": 2, "tool": 1, "turn": 2}
