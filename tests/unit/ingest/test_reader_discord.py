import json
from datetime import UTC, datetime, timedelta

import pytest

from ingest.model import RawThread, Source, Tally
from ingest.readers import discord
from ingest.sniff import choose
from tests.ingest_memory import Memory

START = datetime(2026, 1, 1, 10, tzinfo=UTC)
GUILD = {"id": "10", "name": "Server"}
CHANNEL = {"id": "20", "type": "GuildTextChat", "name": "general"}


def said(key, minute, content, who="ana", **more):
    found = {
        "id": str(key),
        "type": "Default",
        "timestamp": (START + timedelta(minutes=minute)).isoformat(),
        "content": content,
        "author": {"id": f"4{who}", "name": who, "nickname": who.title(), "isBot": who == "bot"},
        "attachments": [],
        "embeds": [],
        "mentions": [],
    }
    return {**found, **more}


def reply(key, minute, to, content, who="bo", **more):
    reference = {"messageId": str(to), "channelId": "20", "guildId": "10"}
    return said(key, minute, content, who, type="Reply", reference=reference, **more)


def document(*messages, **more):
    head = {"guild": GUILD, "channel": CHANNEL, "dateRange": {}, **more}
    return {**head, "messages": list(messages), "messageCount": len(messages)}


def read(value, **options):
    src = Source.of_bytes(json.dumps(value).encode())
    for name, chosen in options.items():
        setattr(src, name, chosen)
    tally = Tally("x")
    found = [one for one in discord.read(src, tally) if isinstance(one, RawThread)]
    for one in found:
        tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def talks(*messages, **options):
    found, _ = read(document(*messages), **options)
    return [[turn.blocks[0] for turn in one.turns] for one in found]


def roles(*messages, **options):
    found, _ = read(document(*messages), **options)
    return [(turn.role.value, turn.blocks[0]) for one in found for turn in one.turns]


# --- conversations


@pytest.mark.parametrize(("minute", "expected"), [(30, [["a", "b"]]), (30.1, [["a"], ["b"]])])
def test_silence_of_half_an_hour_parts_what_is_no_reply(minute, expected):
    assert talks(said(1, 0, "a"), said(2, minute, "b")) == expected


def test_a_reply_belongs_to_what_it_answers():
    messages = [
        said(1, 0, "q"),
        said(2, 300, "other"),
        reply(3, 301, 1, "a"),
        reply(4, 302, 3, "more"),
        said(5, 310, "on"),
    ]
    assert talks(*messages) == [["q", "a", "more"], ["other", "on"]]


def test_a_reply_to_what_is_gone_stays_by_its_time_and_is_told():
    found, tally = read(document(said(1, 0, "a"), reply(2, 1, 99, "b"), reply(3, 100, 98, "c")))
    assert [len(one.turns) for one in found] == [2, 1]
    assert (tally.codes, tally.places) == (
        {"missing_reference": 2},
        {"missing_reference": ["2", "3"]},
    )


def test_a_reply_to_what_nobody_said_is_not_missing():
    joined = said(1, 0, "joined", type="GuildMemberJoin")
    _, tally = read(document(joined, reply(2, 1, 1, "welcome")))
    assert tally.codes == {}


def test_a_reference_to_another_channel_is_none():
    there = {"messageId": "7", "channelId": "21"}
    forward = {"messageId": "7", "channelId": "20", "type": "Forward"}
    _, tally = read(document(said(1, 0, "a", reference=there), said(2, 1, "b", reference=forward)))
    assert tally.codes == {}


def test_ids_are_of_the_channel_and_the_first_message():
    (found,), _ = read(document(said(7, 0, "a"), said(8, 1, "b", "bo")))
    assert (found.native_id, found.project) == ("20:7", "Server #general")
    assert found.participants == ("Ana", "Bo")
    assert [turn.key for turn in found.turns] == ["7", "8"]
    assert found.turns[0].at == START


def test_a_talk_of_two_persons_has_no_project():
    channel = {"id": "20", "type": "DirectTextChat", "name": "bo"}
    (found,), _ = read(document(said(1, 0, "a"), channel=channel))
    assert found.project is None


def test_the_order_of_messages_says_nothing():
    messages = [said(1, 0, "q"), said(2, 300, "x"), reply(3, 301, 1, "a")]
    assert talks(*reversed(messages)) == talks(*messages)


def test_the_order_of_the_parts_of_the_document_says_nothing():
    value = document(said(1, 0, "a"), reply(2, 1, 1, "b"))
    turned = dict(reversed(value.items()))
    assert [one.native_id for one in read(turned)[0]] == [one.native_id for one in read(value)[0]]


# --- who speaks


def test_nobody_is_listed_so_everyone_is_a_person():
    assert roles(said(1, 0, "a"), said(2, 1, "b", "bo")) == [("human", "a"), ("human", "b")]


@pytest.mark.parametrize("name", ["ana", "Ana", "@ana", "4ana"])
def test_with_me_only_the_named_are_persons(name):
    found = roles(said(1, 0, "a"), said(2, 1, "b", "bo"), me=(name,))
    assert found == [("human", "a"), ("other", "b")]


def test_a_bot_that_replies_answers_and_its_own_posts_are_no_turns():
    messages = [said(1, 0, "q"), reply(2, 1, 1, "a", "bot"), said(3, 2, "post", "bot")]
    assert roles(*messages) == [("human", "q"), ("assistant", "a")]
    assert roles(*messages, keep_context=True)[-1] == ("other", "post")


@pytest.mark.parametrize("more", [{"type": "20"}, {"interaction": {"name": "ask"}}])
def test_a_bot_that_was_given_a_command_answers(more):
    assert roles(said(1, 0, "a", "bot", **more)) == [("assistant", "a")]


def test_a_bot_speaks_by_its_cards():
    card = {"title": "T", "description": "d", "fields": [{"name": "n", "value": "v"}, 1]}
    message = reply(2, 1, 1, "", "bot", embeds=[card, "x"])
    assert roles(said(1, 0, "q"), message)[1] == ("assistant", "T\nd\nn\nv")


# --- words


def test_people_and_emoji_are_written_by_name():
    mentions = [{"id": "5", "name": "bo", "nickname": "Bo"}, {"name": "x"}, 1]
    text = "<@5> and <@!6> <:smile:123> <a:wave:4>"
    assert talks(said(1, 0, text, mentions=mentions)) == [["@Bo and @6 :smile: :wave:"]]


def test_files_and_stickers_are_attachments():
    more = {
        "attachments": [{"id": "1", "fileName": "a.png", "fileSizeBytes": 5}, {"url": "u"}, 1, {}],
        "stickers": [{"name": "Wave"}],
    }
    (found,), _ = read(document(said(1, 0, "look", **more)))
    assert [(one.name, one.size) for one in found.turns[0].attachments] == [
        ("a.png", 5),
        ("u", None),
        ("Wave", None),
    ]


def test_a_message_of_files_alone_has_no_words(tmp_path):
    file = tmp_path / "a.json"
    value = document(said(1, 0, ""), said(2, 1, "b"))
    file.write_text(json.dumps(value), "utf-8")
    store = Memory()
    report = store.ingest(file)
    assert {one.name: one.count for one in report.dispositions} == {"empty": 1, "turn": 1}


def test_pages_that_a_message_shows_are_kept_only_if_asked_for():
    message = said(1, 0, "see", embeds=[{"title": "T", "description": "page"}])
    assert talks(message) == [["see"]]
    (found,), _ = read(document(message), keep_context=True)
    assert [(turn.taint, turn.blocks) for turn in found.turns[1:]] == [("web", ("T\npage",))]


# --- what is left out, and what is lost


@pytest.mark.parametrize(
    "kind", ["GuildMemberJoin", "ChannelPinnedMessage", "ThreadCreated", "Call", "21", 6]
)
def test_what_nobody_said_is_no_turn(kind):
    found, tally = read(document(said(1, 0, "x", type=kind), said(2, 1, "a")))
    assert [len(one.turns) for one in found] == [1]
    assert tally.dispositions["meta"] == 1


@pytest.mark.parametrize("value", [1, None, {}, {"id": 5, "content": "x"}, {"content": "x"}])
def test_a_message_without_an_id_is_lost_and_the_rest_stays(value):
    found, tally = read(document(value, said(2, 1, "a")))
    assert [len(one.turns) for one in found] == [1]
    assert (tally.codes, tally.dispositions["lost"]) == ({"bad_message": 1}, 1)


def test_a_message_met_twice_counts_once():
    found, tally = read(document(said(1, 0, "a"), said(1, 0, "a")))
    assert [len(one.turns) for one in found] == [1]
    assert tally.codes == {"duplicate_record": 1}


def test_times_without_a_zone_and_without_sense_do_not_stop_it():
    messages = [
        said(1, 0, "a"),
        said(2, 0, "b", timestamp="2026-01-01T10:01:00"),
        said(3, 0, "c", timestamp="soon"),
        said(4, 0, "d", timestamp=None),
    ]
    found, tally = read(document(*messages))
    assert sum(len(one.turns) for one in found) == 4
    assert tally.codes == {"bad_timestamp": 1}


def test_two_parts_of_one_channel_are_read_alike(tmp_path):
    messages = [said(1, 0, "a"), said(2, 1, "b"), said(3, 300, "c")]
    (tmp_path / "part1.json").write_text(json.dumps(document(*messages[:2])), "utf-8")
    (tmp_path / "part2.json").write_text(json.dumps(document(*messages[2:])), "utf-8")
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "one.json").write_text(json.dumps(document(*messages)), "utf-8")
    parts, whole = Memory(), Memory()
    parts.ingest(tmp_path / "part2.json", tmp_path / "part1.json")
    whole.ingest(tmp_path / "all")
    assert parts.told() == whole.told()


# --- sniffing


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("count", [0, 1, 2000])
def test_known_by_its_three_parts(count, indent):
    value = document(*(said(number, number, "word " * 9) for number in range(count)))
    raw = json.dumps(value, indent=indent).encode()
    assert getattr(choose(Source.of_bytes(raw)), "NAME", None) == "discord"


@pytest.mark.parametrize("missing", ["guild", "channel", "messages"])
def test_not_known_without_one_of_them(missing):
    value = document(said(1, 0, "a"))
    del value[missing]
    chosen = choose(Source.of_bytes(json.dumps(value).encode()))
    assert getattr(chosen, "NAME", None) != "discord"
