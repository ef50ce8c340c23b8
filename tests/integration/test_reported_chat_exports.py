"""Shapes of chat exports that importers of other tools were reported to fail on.

Each test names the public report whose shape it has; the words are made up.
"""

import json
import zipfile

import pytest

from tests.reported import Taken, document, said


def node(key, parent, role=None, text=None, **message):
    """A node of a ChatGPT conversation; without a role it has no message."""
    held = None
    if role is not None:
        content = {"content_type": "text", "parts": [text]} if text is not None else None
        held = {"id": key, "author": {"role": role}, "content": content, **message}
    return {"id": key, "parent": parent, "children": [], "message": held}


def talk(*nodes, current=None, **head):
    mapping = {one["id"]: one for one in nodes}
    end = current if current is not None else nodes[-1]["id"]
    return {"title": "T", "id": "c1", "mapping": mapping, "current_node": end, **head}


def chatgpt(folder, *talks):
    return Taken(document(folder, "conversations.json", list(talks)))


# --- ChatGPT


def test_the_model_may_stand_at_the_conversation_alone(tmp_path):
    """danny-avila/LibreChat#15388, danny-avila/LibreChat#13630: messages without metadata."""
    taken = chatgpt(
        tmp_path,
        talk(
            node("r", None),
            node("q", "r", "user", "What is a monoid?"),
            node("a", "q", "assistant", "A set with an operation.", metadata=None),
            default_model_slug="gpt-5-thinking",
        ),
    )
    assert taken.said == ["h What is a monoid?", "a A set with an operation."]
    assert taken.thread.models == ("gpt-5-thinking",)


def test_hidden_context_before_the_first_question_is_injected(tmp_path):
    """danny-avila/LibreChat#15388: custom instructions became a message of the user."""
    hidden = {"is_visually_hidden_from_conversation": True}
    context = node("x", "r", "user", metadata=hidden)
    context["message"]["content"] = {
        "content_type": "user_editable_context",
        "user_profile": "Likes groups.",
        "user_instructions": "Be short.",
    }
    taken = chatgpt(
        tmp_path,
        talk(
            node("r", None),
            context,
            node("q", "x", "user", "What is a ring?"),
            node("a", "q", "assistant", "Two operations."),
            title=None,
        ),
    )
    assert taken.said == ["h What is a ring?", "a Two operations."]
    assert taken.thread.title == "What is a ring?"
    assert taken.counts == {"meta": 1, "injected": 1, "turn": 2}


def test_a_system_message_in_the_middle_breaks_nothing(tmp_path):
    """danny-avila/LibreChat#9491: everything after it hung in the air."""
    taken = chatgpt(
        tmp_path,
        talk(
            node("q1", None, "user", "One?"),
            node("a1", "q1", "assistant", "Two."),
            node("s", "a1", "system", "Model changed."),
            node("q2", "s", "user", "Three?"),
            node("a2", "q2", "assistant", "Four."),
        ),
    )
    assert taken.said == ["h One?", "a Two.", "h Three?", "a Four."]
    assert taken.off == []


def test_times_that_run_backwards_change_no_order(tmp_path):
    """danny-avila/LibreChat#11123: results of tools are older than what called them."""
    taken = chatgpt(
        tmp_path,
        talk(
            node("q", None, "user", "Search it.", create_time=1750000100.0),
            node("t", "q", "tool", "found", create_time=1750000050.0),
            node("a", "t", "assistant", "Here it is.", create_time=1750000010.0),
            node("q2", "a", "user", "Thanks", create_time=None),
            node("a2", "q2", "assistant", "Welcome", create_time=1750000001.0),
        ),
    )
    assert taken.said == ["h Search it.", "a Here it is.", "h Thanks", "a Welcome"]


def test_contents_of_unforeseen_shapes_cost_no_conversation(tmp_path):
    """daugaard47/ChatGPT_Conversations_To_Markdown#7, yjg30737/pyqt-openai#211: a message
    without parts, thoughts, and parts that are no text."""
    thoughts = node("t", "q", "assistant")
    thoughts["message"]["content"] = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "Finding it", "content": "Where could it be?"}],
    }
    partless = node("p", "t", "assistant")
    partless["message"]["content"] = {"content_type": "text"}
    odd = node("o", "p", "assistant")
    odd["message"]["content"] = {"content_type": "text", "parts": [None, 5, ["x"], "In the shed."]}
    bare = node("b", "o", "user")
    bare["message"]["author"] = None
    taken = chatgpt(
        tmp_path, talk(node("q", None, "user", "Where is the saw?"), thoughts, partless, odd, bare)
    )
    assert taken.said == ["h Where is the saw?", "a In the shed."]
    assert taken.counts == {"turn": 2, "thinking": 1, "empty": 2}
    assert taken.exit == 0


def test_what_is_no_conversation_is_lost_alone(tmp_path):
    """daugaard47/ChatGPT_Conversations_To_Markdown#4: strings and objects without a tree."""
    good = talk(node("q", None, "user", "Still here?"), node("a", "q", "assistant", "Yes."))
    untitled = {key: value for key, value in good.items() if key != "title"}
    taken = chatgpt(tmp_path, untitled, "a string", {"title": "No tree", "id": "c9"}, None)
    assert taken.said == ["h Still here?", "a Yes."]
    assert taken.thread.title == "Still here?"
    assert (taken.codes, taken.exit) == ({"bad_conversation": 3}, 1)


def test_the_branch_that_was_shown_is_the_main_line(tmp_path):
    """animalnots/BetterChatGPT-PLUS#54, pionxzh/chatgpt-exporter#218: neither the last version
    nor the longest branch, but the one that was looked at."""
    taken = chatgpt(
        tmp_path,
        talk(
            node("q", None, "user", "A name for a cat?"),
            node("a1", "q", "assistant", "Tom."),
            node("q2", "a1", "user", "Fine."),
            node("a2", "q", "assistant", "Felix."),
            node("q3", "a2", "user", "Longer?"),
            node("a3", "q3", "assistant", "Felix the Great."),
            current="q2",
        ),
    )
    assert taken.said == ["h A name for a cat?", "a Tom.", "h Fine."]
    assert sorted(taken.off) == ["a Felix the Great.", "a Felix.", "h Longer?"]


def test_an_archive_inside_an_archive_is_told(tmp_path):
    """Superkikim/nexus-ai-chat-importer#67: the zip of the privacy portal holds a zip."""
    inner = tmp_path / "Conversations-chatgpt-0001.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("conversations.json", json.dumps([talk(node("q", None, "user", "Hi"))]))
    outer = tmp_path / "chatgpt_archive.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(inner, "User Online Activity/Conversations-chatgpt-0001.zip")
        archive.writestr("report.html", "<html></html>")
    taken = Taken(outer)
    assert taken.threads == []
    assert (taken.codes["nested_zip"], taken.exit) == (1, 3)
    assert Taken(inner).said == ["h Hi"]


def test_parts_of_a_page_that_was_read_are_no_answer(tmp_path):
    """daugaard47/ChatGPT_Conversations_To_Markdown#2: messages of the web plugin."""
    quote = node("w", "q", "tool")
    quote["message"]["content"] = {
        "content_type": "tether_quote",
        "url": "https://x.example",
        "text": "quoted",
    }
    shown = node("d", "w", "tool")
    shown["message"]["content"] = {"content_type": "tether_browsing_display", "result": "page"}
    call = node("c", "d", "assistant", recipient="browser")
    call["message"]["content"] = {"content_type": "code", "text": "open_url(1)"}
    taken = chatgpt(
        tmp_path,
        talk(
            node("q", None, "user", "Read the page."),
            quote,
            shown,
            call,
            node("a", "c", "assistant", "It says little.", recipient="all"),
        ),
    )
    assert taken.said == ["h Read the page.", "a It says little."]
    assert (taken.counts, taken.calls) == ({"turn": 2, "tool": 3}, {"browser": 1})


# --- Claude.ai

ROOT = "00000000-0000-4000-8000-000000000000"


def message(key, sender, text="", **fields):
    return {"uuid": key, "sender": sender, "text": text, **fields}


def claude(folder, *messages, **head):
    value = {"uuid": "k1", "name": "", "chat_messages": list(messages), **head}
    return Taken(document(folder, "conversations.json", [value]))


def block(text):
    return {"type": "text", "text": text}


def test_a_block_of_a_new_kind_costs_no_conversation(tmp_path):
    """osteele/claude-chat-viewer#5: a third of the conversations was refused for one block."""
    taken = claude(
        tmp_path,
        message("1", "human", "Where was it said?", content=[block("Where was it said?")]),
        message(
            "2",
            "assistant",
            "",
            content=[block("In court. "), {"type": "hologram", "data": {"x": 1}}, block("Twice.")],
        ),
        message("3", "human", "Sure?", content=[block("Sure?")]),
    )
    assert taken.said == ["h Where was it said?", "a In court.\n\nTwice.", "h Sure?"]
    assert (taken.codes, taken.exit) == ({"unknown_content": 1}, 0)


def test_pasted_text_is_beside_the_message_it_came_with(tmp_path):
    """lugia19/Claude-QoL#43: a long paste becomes a file, the message itself is empty."""
    pasted = {
        "file_name": "",
        "file_type": "txt",
        "file_size": 9,
        "extracted_content": "A long letter.",
    }
    taken = claude(
        tmp_path,
        message("1", "human", "", content=[], attachments=[pasted]),
        message("2", "assistant", "A fine letter.", content=[block("A fine letter.")]),
    )
    assert taken.said == ["a A fine letter."]
    assert taken.side == ["o A long letter."]
    assert taken.counts == {"turn": 2}


def test_edited_prompts_are_branches_and_not_one_line(tmp_path):
    """CherryHQ/cherry-studio#16164: messages strung together in the order of the list."""
    taken = claude(
        tmp_path,
        message("1", "human", "A song?", parent_message_uuid=ROOT),
        message("2", "assistant", "La.", parent_message_uuid="1"),
        message("3", "human", "A poem?", parent_message_uuid=ROOT),
        message("4", "assistant", "Rose.", parent_message_uuid="3"),
        message("5", "assistant", "Tulip.", parent_message_uuid="3"),
        current_leaf_message_uuid="4",
    )
    assert taken.said == ["h A poem?", "a Rose."]
    assert sorted(taken.off) == ["a La.", "a Tulip.", "h A song?"]


def test_one_conversation_of_a_browser_tool_is_read(tmp_path):
    """CherryHQ/cherry-studio#12506: one file for each conversation, with its model."""
    value = {
        "uuid": "k2",
        "name": "Bread",
        "model": "claude-opus-4-5-20251101",
        "chat_messages": [
            message("1", "human", "Which flour?"),
            message(
                "2", "assistant", content=[{"type": "thinking", "thinking": "rye"}, block("Rye.")]
            ),
        ],
    }
    taken = Taken(document(tmp_path, "Bread.json", value))
    assert taken.ids == ["claude-ai:k2"]
    assert taken.said == ["h Which flour?", "a Rye."]
    assert (taken.thread.models, taken.thread.title) == (("claude-opus-4-5-20251101",), "Bread")


def test_words_that_stand_in_blocks_alone_are_read(tmp_path):
    """moorcheh-ai/memanto#1718: the flat text of the message is empty."""
    taken = claude(
        tmp_path,
        message("1", "human", "", content=[block("Only here.")]),
        {"uuid": "2", "sender": "assistant", "content": "A plain string."},
    )
    assert taken.said == ["h Only here.", "a A plain string."]


def test_a_note_that_a_device_cannot_show_something_is_no_answer(tmp_path):
    """Laumss/loominary#11: the flat text holds a notice where an artifact was."""
    notice = "```\nThis block is not supported on your current device yet.\n```"
    artifact = {"type": "tool_use", "name": "artifacts", "input": {"content": "<svg/>"}}
    taken = claude(
        tmp_path,
        message("1", "human", "Draw a fox."),
        message(
            "2",
            "assistant",
            f"Here it is.\n{notice}\nDone.",
            content=[block("Here it is."), artifact, block("Done.")],
        ),
        message("3", "assistant", notice, content=[artifact]),
    )
    assert taken.said == ["h Draw a fox.", "a Here it is.\n\nDone."]
    assert taken.counts == {"turn": 2, "tool": 1}


def test_a_deleted_conversation_is_empty_and_not_lost(tmp_path):
    """osteele/claude-chat-viewer#4, tutti-os/tutti#1063: titles without any message."""
    value = [
        {"uuid": "k1", "name": "", "created_at": "2026-01-01T00:00:00Z", "chat_messages": []},
        {"uuid": "k2", "name": "Kept", "chat_messages": [message("1", "human", "Here.")]},
    ]
    taken = Taken(document(tmp_path, "conversations.json", value))
    assert taken.ids == ["claude-ai:k2"]
    assert (taken.codes, taken.exit) == ({"empty_thread": 1}, 0)


@pytest.mark.parametrize("key", ["chat_messages", "messages"])
def test_a_conversation_whose_messages_are_no_list_is_lost_alone(tmp_path, key):
    """osteele/claude-chat-viewer#14: fields that are missing or of another kind."""
    value = [
        {"uuid": "k1", "name": "Odd", key: {"0": {}}},
        {
            "uuid": "k2",
            "chat_messages": [message("1", "human", "Here."), "odd", {"text": "whose?"}],
        },
    ]
    taken = Taken(document(tmp_path, "conversations.json", value))
    assert [said(one) for one in taken.threads] == [["h Here."]]
    assert (taken.codes, taken.exit) == ({"bad_conversation": 1, "bad_message": 2}, 1)
