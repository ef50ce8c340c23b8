"""What tools wrap around a person's words: envelopes, commands, notices, and their removal."""

import re
from dataclasses import dataclass
from typing import Final

from ingest.model import Disposition

ENVELOPES: Final[dict[str, Disposition]] = {
    "system-reminder": "injected",
    "local-command-caveat": "injected",
    "local-command-stdout": "command",
    "local-command-stderr": "command",
    "bash-input": "tool",
    "bash-stdout": "tool",
    "bash-stderr": "tool",
    "task-notification": "injected",
    "agent-notification": "injected",
    "teammate-message": "injected",
    "scheduled-task": "injected",
    "session_context": "injected",
    "hook_context": "injected",
    "ide_opened_file": "injected",
    "ide_selection": "injected",
    "user-prompt-submit-hook": "injected",
    "environment_context": "injected",
    "user_instructions": "injected",
    "INSTRUCTIONS": "injected",
    "recommended_plugins": "injected",
    "skill": "injected",
    "subagent_notification": "injected",
    "goal_context": "injected",
    "codex_internal_context": "injected",
    "turn_aborted": "meta",
    "permissions": "injected",
    "clew-recall": "injected",
}
"""Tags whose complete pairs are no words of a person, and what their records count as."""
COMMAND_TAGS: Final = ("command-name", "command-message", "command-args")
_BUILT_IN: Final = """
clear compact model resume login logout config cost help exit quit mcp add-dir add drop undo diff
run test commit git ls tokens map settings voice web read-only load save paste export status init
memory hooks permissions
"""
BUILT_IN: Final = frozenset(_BUILT_IN.split())
"""Commands whose arguments are never a prompt."""
PROMPTING: Final = frozenset({"ask", "code", "architect", "help"})
"""Slash commands whose arguments always are one."""
PROMPT_WORDS: Final = 3
"""Words from which the arguments of a command of the owner's own are a prompt."""

_TAG: Final = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_CLOSING: Final = re.compile(r"</([A-Za-z][\w-]*)>\Z")
_AGENTS: Final = "# AGENTS.md"
_AGENTS_END: Final = "</INSTRUCTIONS>"
_INTERRUPTION: Final = "[Request interrupted by user"
_INTERRUPTED: Final = re.compile(
    r"\A\[Request interrupted by user[^\]\n]*\]|\[Request interrupted by user[^\]\n]*\]\Z"
)
_IMAGE: Final = re.compile(r"\[Image[^\]\n]*\](?:\s*\[Image[^\]\n]*\])*")
_CAVEAT: Final = "Caveat: The messages below were generated"
_WHOLE: Final = (
    ("Base directory for this skill", "injected"),
    ("Stop hook feedback", "injected"),
    ("Operation stopped by hook", "injected"),
    ("This session is being continued from a previous conversation", "meta"),
)
_HOOK_SAYS: Final = re.compile(
    r"(?:⎿\s*)?(?:(?:SessionStart|SessionEnd|Notification|PreCompact|PostCompact)(?::[\w-]+)?"
    r"|UserPromptSubmit|(?:Pre|Post)ToolUse(?::[\w-]+)?|(?:Subagent)?Stop) says: "
)
"""What a hook told the user, as the harness puts it under the user's role."""
_AFTER_NOTICE: Final = (
    "Full transcript available at:",
    "Read the output file to retrieve the",
)
"""How the rest of a task notice begins, outside its tags."""
_THINK: Final = re.compile(r"\A\s*<(think|thinking)>.*?</\1>\s*", re.DOTALL)


@dataclass(slots=True)
class Opened:
    """What is left of a block, and what was taken off it."""

    text: str
    removed: Disposition | None = None
    """What the record counts as if no words are left."""
    command: str | None = None
    """Name of the command, without its slash."""


def open_block(block: str) -> Opened:
    """Take envelopes, notices and command markup off a block of a human message."""
    opened = Opened(block.strip())
    while opened.text:
        before = opened.text
        _take_leading(opened)
        _take_trailing(opened)
        _take_notices(opened)
        if opened.text == before:
            break
    return opened


def _take_leading(opened: Opened) -> None:
    text = opened.text
    if text.startswith(_AGENTS) and (end := text.find(_AGENTS_END)) >= 0:
        _cut(opened, text[end + len(_AGENTS_END) :], "injected")
        return
    tag = _TAG.match(text)
    if tag is None:
        return
    name = tag[1]
    end = text.find(f"</{name}>", tag.end())
    if end < 0:
        return
    rest = text[end + len(name) + 3 :]
    if name in ENVELOPES:
        _cut(opened, rest, ENVELOPES[name])
    elif name in COMMAND_TAGS:
        _take_command(opened, rest)


def _take_command(opened: Opened, rest: str) -> None:
    """Read a run of command tags; long arguments of a command of one's own are words."""
    parts: dict[str, str] = {}
    text = opened.text
    while (tag := _TAG.match(text)) and tag[1] in COMMAND_TAGS:
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            break
        parts.setdefault(tag[1], text[tag.end() : end].strip())
        rest = text = text[end + len(tag[1]) + 3 :].lstrip()
    name = (parts.get("command-name") or parts.get("command-message", "")).strip().lstrip("/")
    words = parts.get("command-args", "")
    kept = words if is_prompt(name, words) else ""
    opened.command = name or opened.command
    _cut(opened, f"{kept}\n\n{rest}", "command")


def is_prompt(name: str, words: str) -> bool:
    """Whether the arguments of a command are a person's prompt."""
    return name.lower() not in BUILT_IN and len(words.split()) >= PROMPT_WORDS


def _take_trailing(opened: Opened) -> None:
    if not opened.text.endswith(">"):
        return
    closing = _CLOSING.search(opened.text)
    if closing is None or closing[1] not in ENVELOPES:
        return
    starts = [tag for tag in _TAG.finditer(opened.text) if tag[1] == closing[1]]
    if starts:
        _cut(opened, opened.text[: starts[-1].start()], ENVELOPES[closing[1]])


def _take_notices(opened: Opened) -> None:
    text = opened.text
    for beginning, disposition in _WHOLE:
        if text.startswith(beginning):
            _cut(opened, "", "meta" if disposition == "meta" else "injected")
            return
    if _HOOK_SAYS.match(text):
        _cut(opened, "", "injected")
    elif (opened.removed == "injected" and text.startswith(_AFTER_NOTICE)) or text.startswith(
        _CAVEAT
    ):
        _cut(opened, text.partition("\n")[2], "injected")
    elif _INTERRUPTION in text and _INTERRUPTED.search(text):
        _cut(opened, _INTERRUPTED.sub("", text), "meta")
    elif _IMAGE.fullmatch(text):
        _cut(opened, "", "empty")


def _cut(opened: Opened, rest: str, disposition: Disposition) -> None:
    opened.text = rest.strip()
    if opened.removed is None or opened.removed == "empty":
        opened.removed = disposition


def open_slash(text: str) -> Opened:
    """Read a text that may be a ``/command words`` of a tool that writes commands so."""
    if not text.startswith("/"):
        return Opened(text)
    name, _, words = text[1:].partition(" ")
    words = words.strip()
    if name in PROMPTING and words:
        return Opened(words, command=name)
    return Opened(words if is_prompt(name, words) else "", "command", name)


def without_thoughts(block: str) -> tuple[str, bool]:
    """An assistant's block without reasoning at its start, and whether there was some."""
    text = block
    while (found := _THINK.match(text)) is not None:
        text = text[found.end() :]
    return text, text != block
