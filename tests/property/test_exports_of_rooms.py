"""An export of rooms is accounted for message by message, however it is damaged or laid out."""

import io
import json
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from ingest.model import CODES, RawThread, ReadFailure, Source, Tally
from ingest.readers import slack

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FILES: dict[str, list[dict[str, object]]] = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana", "display_name": ""}},
        {"id": "U2", "name": "helper", "is_bot": True},
    ],
    "channels.json": [{"id": "C1", "name": "general"}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "general/2026-01-01.json": [
        {"type": "message", "user": "U1", "text": "<@U2> &lt;q&gt;", "ts": "1767225600.1",
         "thread_ts": "1767225600.1", "edited": {"ts": "1767225601.0"},
         "files": [{"name": "n", "size": 1}], "attachments": [{"title": "t", "text": "x"}]},
        {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1767225602.1"},
        {"type": "message", "user": "U9", "text": "loose", "ts": "1767225700.1"},
    ],
    "general/2026-01-02.json": [
        {"type": "message", "user": "U2", "text": "", "ts": "1767312000.1",
         "thread_ts": "1767225600.1", "blocks": [{"type": "rich_text", "elements": [
             {"type": "rich_text_section", "elements": [{"type": "text", "text": "a"},
                                                        {"type": "user", "user_id": "U1"}]}]}]},
    ],
    "D1/2026-01-01.json": [
        {"type": "message", "user": "U1", "text": "q", "ts": "1767225600.2"},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1767225601.2",
         "text": "", "attachments": [{"pretext": "p"}]},
    ],
}  # fmt: skip


def source(files, **options):
    """An export of files given as bytes."""
    inside = []
    for name, raw in sorted(files.items()):
        one = Source.of_bytes(raw, name)
        inside.append((name, one))
    src = Source("x", "x", 0, 0, io.BytesIO, inside=tuple(inside))
    for name, chosen in options.items():
        setattr(src, name, chosen)
    return src


def account(files, **options):
    src = source(files, **options)
    slack.sniff(b"", src)
    tally = Tally("x")
    found = list(slack.read(src, tally))
    for one in found:
        assert isinstance(one, RawThread | ReadFailure)
        for turn in one.turns if isinstance(one, RawThread) else ():
            assert all(isinstance(block, str) for block in turn.blocks)
            tally.drop("turn", turn.records)
    assert tally.balanced
    assert set(tally.codes) <= CODES
    return found


def places(value):
    waiting = [value]
    while waiting:
        at = waiting.pop()
        for key, inner in at.items() if isinstance(at, dict) else enumerate(at):
            yield at, key
            if isinstance(inner, dict | list):
                waiting.append(inner)


def as_bytes(files):
    return {name: json.dumps(value).encode() for name, value in files.items()}


@given(data=st.data())
def test_any_value_may_be_any_other(data):
    files = deepcopy(FILES)
    for _ in range(data.draw(st.integers(1, 4))):
        inner = [place for held in files.values() for place in places(held)]
        held, key = data.draw(st.sampled_from(inner))
        if isinstance(held, dict) and data.draw(st.booleans()):
            del held[key]
        else:
            held[key] = data.draw(anything)
    me = data.draw(st.sampled_from([(), ("ana",)]))
    account(as_bytes(files), keep_context=data.draw(st.booleans()), me=me)


@given(data=st.data())
def test_any_bytes_may_be_any_others(data):
    files = as_bytes(FILES)
    name = data.draw(st.sampled_from(sorted(files)))
    raw = files[name]
    at = data.draw(st.integers(0, len(raw)))
    piece = data.draw(st.sampled_from([b"", b"\0", b"\xff", b'"', b"}", b"[", b"\n"]))
    files[name] = raw[:at] + piece + raw[at + data.draw(st.integers(0, 9)) :]
    account(files)


@given(data=st.data())
def test_which_day_file_holds_a_message_says_nothing(data):
    messages = [one for name in FILES if name.startswith("general/") for one in FILES[name]]
    days = [f"general/2026-01-0{number}.json" for number in (1, 2, 3)]
    files = {name: value for name, value in FILES.items() if not name.startswith("general/")}
    for name in days:
        files[name] = []
    for message in data.draw(st.permutations(messages)):
        files[data.draw(st.sampled_from(days))].append(message)

    def told(found):
        return [(one.native_id, [(turn.key, turn.role) for turn in one.turns]) for one in found]

    assert told(account(as_bytes(files))) == told(account(as_bytes(FILES)))
