"""Shapes of web chats, editors and shared rooms that other tools were reported to fail on.

Each test names the public report whose shape it has; the words are made up.
"""

import json
import zipfile

import pytest

from tests.reported import Taken, document, jsonl, said

SECONDS = 1767225600
"""2026-01-01T00:00:00Z."""


# --- Open WebUI


def note(key, parent, role, content, **more):
    return {"id": key, "parentId": parent, "childrenIds": [], "role": role, "content": content,
            "timestamp": SECONDS, **more}  # fmt: skip


def webui(folder, *messages, current):
    history = {"messages": {one.get("id", "lost"): one for one in messages}, "currentId": current}
    chat = {"title": "T", "models": ["m"], "history": history}
    held = {"id": "w1", "user_id": "u", "title": "T", "chat": chat, "created_at": SECONDS}
    return Taken(document(folder, "chat-export.json", [held]))


def test_no_answer_names_its_children(tmp_path):
    """open-webui/open-webui#29299: only the links upward hold, also beside a second answer."""
    taken = webui(
        tmp_path,
        note("a", None, "user", "why does the kettle hum"),
        note("b", "a", "assistant", "an early answer"),
        note("c", "a", "assistant", "a better answer"),
        note("d", "c", "user", "and the pan"),
        note("e", "d", "assistant", "it does not"),
        current="e",
    )
    main = [one for one in taken.said if one not in taken.off]
    assert main == [
        "h why does the kettle hum", "a a better answer", "h and the pan", "a it does not",
    ]  # fmt: skip
    assert taken.off == ["a an early answer"]
    assert taken.exit == 0


def test_the_current_message_is_an_orphan(tmp_path):
    """open-webui/open-webui#23455: without role and parent; the words beside it stay readable."""
    orphan = {"id": "z", "childrenIds": [], "content": "", "timestamp": SECONDS + 9}
    taken = webui(
        tmp_path,
        note("a", None, "user", "why does the kettle hum"),
        note("b", "a", "assistant", "water sings in it"),
        orphan,
        current="z",
    )
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]
    assert taken.off == []


def test_answers_without_a_link_to_their_prompt(tmp_path):
    """open-webui/open-webui#29216: only their prompts name them, no viewer shows them."""
    taken = webui(
        tmp_path,
        note("a", None, "user", "why does the kettle hum") | {"childrenIds": ["b"]},
        note("b", None, "assistant", "water sings in it"),
        note("c", "b", "user", "and the pan"),
        note("d", "c", "assistant", "it does not"),
        current="d",
    )
    assert taken.said == [
        "h why does the kettle hum", "a water sings in it", "h and the pan", "a it does not",
    ]  # fmt: skip


def test_the_output_of_an_answer_is_kept_beside_its_words(tmp_path):
    """danny-avila/LibreChat#13802: parts of content, and a list of what else was put out."""
    output = [
        {"type": "reasoning", "summary": [{"type": "output_text", "text": "steam, maybe"}]},
        {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "found it"},
        {"type": "message", "content": [{"type": "output_text", "text": "water sings in it"}]},
    ]
    taken = webui(
        tmp_path,
        note("a", None, "user", [{"type": "text", "text": "why does the kettle hum"}]),
        note("b", "a", "assistant", "water sings in it", output=output),
        current="b",
    )
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]


# --- LibreChat

ROOT = "00000000-0000-0000-0000-000000000000"


def spoken(key, parent, text, *children, mine):
    found = {"messageId": key, "parentMessageId": parent, "text": text, "isCreatedByUser": mine,
             "createdAt": f"2026-01-01T00:00:0{key[-1]}.000Z"}  # fmt: skip
    return {**found, "children": list(children)} if children else found


def libre(folder, **held):
    return Taken(document(folder, "talk.json", {"conversationId": "l1", "title": "T", **held}))


def test_an_export_in_sequence_is_the_same_conversation_as_a_nested_one(tmp_path):
    """danny-avila/LibreChat#2794, danny-avila/LibreChat#2355: and its branches are kept."""
    third = spoken("m3", "m2", "and the pan", spoken("m4", "m3", "no", mine=False), mine=True)
    other = spoken("m5", "m1", "a second answer", mine=False)
    second = spoken("m2", "m1", "water sings in it", third, mine=False)
    nested = spoken("m1", ROOT, "why does the kettle hum", second, other, mine=True)
    flat = [
        {name: value for name, value in one.items() if name != "children"}
        for one in (nested, second, third, third["children"][0], other)
    ]
    one = libre(tmp_path / "nested", messagesTree=[nested])
    two = libre(tmp_path / "flat", messages=flat)
    assert one.ids == two.ids
    assert said(one.thread) == said(two.thread)
    assert [turn.fingerprint for turn in one.thread.turns] == [
        turn.fingerprint for turn in two.thread.turns
    ]
    assert len(one.thread.turns) == 5


# --- Slack

PEOPLE = [
    {"id": "U1", "name": "ana", "profile": {"real_name": "Ana"}},
    {"id": "U2", "name": "bo", "profile": {"real_name": "Bo"}},
]


def post(second, text, user="U1", **more):
    held = {"type": "message", "user": user, "ts": f"{SECONDS + second}.000100"}
    return {**held, **({} if text is None else {"text": text}), **more}


def slack(folder, *days, rooms=None):
    """An export of one channel; each day is a list of messages."""
    rooms = {"channels.json": [{"id": "C1", "name": "kitchen"}]} if rooms is None else rooms
    for name, value in {"users.json": PEOPLE, **rooms}.items():
        document(folder, name, value)
    for number, day in enumerate(days, start=1):
        document(folder, f"kitchen/2026-01-0{number}.json", day)
    return Taken(folder)


BEGUN = f"{SECONDS}.000100"


@pytest.mark.parametrize(
    "lists",
    [{}, {"replies": [{"ts": f"{SECONDS + 60}.000100"}]}, {"replies": [{"user": "U2"}]}],
)
def test_the_list_of_replies_is_not_to_be_trusted(tmp_path, lists):
    """hfaran/slack-export-viewer#121, #167 and #147: absent, cut short; the reply days later."""
    root = post(0, "who took the ladle", thread_ts=BEGUN, reply_count=1, **lists)
    reply = post(90000, "it is in the sink", "U2", thread_ts=BEGUN)
    taken = slack(tmp_path / "e", [root, post(60, "lunch at noon")], [reply])
    assert ["h who took the ladle", "h it is in the sink"] in [said(one) for one in taken.threads]
    assert taken.exit == 0


def test_messages_without_text_or_time(tmp_path):
    """hfaran/slack-export-viewer#148 and #165: one has no words, one no place; the rest stays."""
    timeless = {"type": "message", "user": "U1", "text": "when was this"}
    taken = slack(tmp_path / "e", [post(0, "soup is on"), post(5, None), timeless, post(9, "yum")])
    assert taken.said == ["h soup is on", "h yum"]
    assert (taken.codes["bad_message"], taken.exit) == (1, 0)
    assert taken.counts["empty"] == 1


def test_bots_that_are_in_no_list(tmp_path):
    """hfaran/slack-export-viewer#125 and #97: Slack's own bot, and one without an id."""
    own = post(3, "remember the bins", "USLACKBOT")
    unnamed = {"type": "message", "subtype": "bot_message", "text": "build 7 is green",
               "ts": f"{SECONDS + 4}.000100", "username": "builder"}  # fmt: skip
    taken = slack(tmp_path / "e", [post(0, "soup is on"), own, unnamed])
    assert taken.said == ["h soup is on"]
    assert (taken.counts["tool"], taken.exit) == (2, 0)


def test_a_zip_of_rooms_and_talks_between_two(tmp_path):
    """hfaran/slack-export-viewer#170: an export with private talks opens like a folder."""
    parts = {
        "users.json": PEOPLE,
        "channels.json": [{"id": "C1", "name": "kitchen"}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "kitchen/2026-01-01.json": [post(0, "soup is on")],
        "D1/2026-01-01.json": [post(9, "is it the leek one", "U2")],
    }
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as held:
        for name, value in parts.items():
            held.writestr(name, json.dumps(value))
    taken = Taken(file)
    assert sorted(text for one in taken.threads for text in said(one)) == [
        "h is it the leek one",
        "h soup is on",
    ]


# --- Discord


def word(key, minute, content, kind="Default", **more):
    return {"id": str(key), "type": kind, "timestamp": f"2026-01-01T10:{minute:02}:00+00:00",
            "content": content, "attachments": [], "embeds": [],
            "author": {"id": "4", "name": "ana", "nickname": "Ana", "isBot": False},
            **more}  # fmt: skip


def discord(folder, *messages):
    head = {"guild": {"id": "1", "name": "S"}, "channel": {"id": "2", "name": "kitchen"}}
    return Taken(document(folder, "kitchen.json", {**head, "messages": list(messages)}))


def test_a_thread_begins_with_an_empty_message(tmp_path):
    """Tyrrrz/DiscordChatExporter#1265, #1448: what began it is another channel's; no words here."""
    begun = {"messageId": "77", "channelId": "3", "guildId": "1"}
    taken = discord(
        tmp_path,
        word(1, 0, "", "21", reference=begun),
        word(2, 1, "started a thread.", "ThreadCreated"),
        word(3, 2, "the leek soup then"),
    )
    assert taken.said == ["h the leek soup then"]
    assert taken.exit == 0


def test_a_forwarded_message_is_blank(tmp_path):
    """Tyrrrz/DiscordChatExporter#1322: it says nothing of its own, and belongs to no other talk."""
    pointed = {"messageId": "77", "channelId": "3", "guildId": "1", "type": "Forward"}
    taken = discord(tmp_path, word(1, 0, "look at this"), word(2, 1, "", reference=pointed))
    assert taken.said == ["h look at this"]
    assert (taken.counts["empty"], taken.exit) == (1, 0)


# --- Copilot CLI


def event(number, kind, **data):
    return {"type": kind, "data": data, "id": f"e{number}", "parentId": f"e{number - 1}",
            "timestamp": f"2026-01-01T00:00:{number:02}.000Z"}  # fmt: skip


STARTED = event(1, "session.start", sessionId="5e000000-0000-4000-8000-000000000001", version=1)


def test_a_prompt_is_stored_twice(tmp_path):
    """WildChildForLife/lantern#52: as typed, and as it was sent with what the tool put in."""
    asked = event(2, "user.message", content="why does the kettle hum",
                  transformedContent="<now>noon</now> why does the kettle hum")  # fmt: skip
    told = event(3, "assistant.message", content="water sings in it", toolRequests=[])
    taken = Taken(jsonl(tmp_path, "events.jsonl", STARTED, asked, told))
    assert taken.said == ["h why does the kettle hum", "a water sings in it"]


def test_a_resumed_session_goes_on_in_its_file(tmp_path):
    """Latand/live-log-viewer-next#1762: after its end, with an event of its own."""
    taken = Taken(jsonl(
        tmp_path, "events.jsonl", STARTED,
        event(2, "user.message", content="why does the kettle hum"),
        event(3, "assistant.message", content="water sings in it", toolRequests=[]),
        event(4, "session.shutdown"), event(5, "session.resume", resumeTime="x", eventCount=4),
        event(6, "user.message", content="and the pan"), event(7, "assistant.turn_start"),
        event(8, "assistant.message", content="it does not", toolRequests=[]),
        event(9, "assistant.turn_end"), event(10, "session.shutdown"),
    ))  # fmt: skip
    assert taken.said == [
        "h why does the kettle hum", "a water sings in it", "h and the pan", "a it does not",
    ]  # fmt: skip


# --- Takeout


def test_folders_in_the_language_of_the_account(tmp_path):
    """purarue/google_takeout_parser#43: what is in a file tells what it is, not its name."""
    held = [{"header": "Gemini Apps", "title": "Prompted why does the kettle hum",
             "time": "2026-01-01T00:00:00.000Z",
             "safeHtmlItem": [{"html": "<p>Water sings in it.</p>"}]}]  # fmt: skip
    file = document(tmp_path, "Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json", held)
    assert Taken(file).said == ["h why does the kettle hum", "a Water sings in it."]
