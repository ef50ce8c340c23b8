"""What single records of Claude Code hold: words, attachments, calls, paths, and whose they are."""

from collections.abc import Iterator
from typing import Any, Final

from graphstore.model.conversation import Attachment
from ingest.model import Disposition
from ingest.readers._fields import inline

_PATH_LIMIT: Final = 1024
_PATH_KEYS: Final = ("file_path", "notebook_path")


def type_of(value: dict[str, Any]) -> str:
    """Type of a record or block; empty if it is no text."""
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


def kind_of(value: dict[str, Any]) -> str:
    """Type of a record; one that names none goes by the role of its message."""
    kind = value.get("type")
    if isinstance(kind, str) and kind:  # nearly always
        return kind
    message = value.get("message")
    if not isinstance(message, dict):
        return ""
    role = message.get("role")
    return role if role in ("user", "assistant") else ""


def content_of(value: dict[str, Any]) -> object:
    """What the message of a record says: a text or blocks; None if it has none."""
    message = value.get("message")
    return message.get("content") if isinstance(message, dict) else None


def words_of(value: dict[str, Any]) -> object:
    """The text of a message as it stands in its record, to compare copies by."""
    content = content_of(value)
    if not isinstance(content, list):
        return content
    for block in content:
        if isinstance(block, dict) and "text" in block:
            return [one.get("text") for one in content if isinstance(one, dict)]
    return len(content)


def unspoken(value: dict[str, Any]) -> Disposition | None:
    """What a user record counts as that no person wrote, or None."""
    if value.get("isCompactSummary"):
        return "meta"
    if value.get("isMeta") or value.get("isVisibleInTranscriptOnly"):
        return "injected"
    return None


def user_parts(content: str | list[Any]) -> tuple[list[str], list[Attachment], bool]:
    """Texts, attachments, and whether there is a tool result."""
    if isinstance(content, str):
        return [content], [], False
    blocks: list[str] = []
    attachments: list[Attachment] = []
    results = False
    for block in content:
        kind = type_of(block) if isinstance(block, dict) else ""
        if isinstance(block, str):
            blocks.append(block)
        elif kind == "text" and isinstance(block.get("text"), str):
            blocks.append(block["text"])
        elif kind == "tool_result":
            results = True
        elif kind in {"image", "document"}:
            attachments.append(attachment(block))
    return blocks, attachments, results


def result_texts(results: list[dict[str, Any]]) -> Iterator[str]:
    """Texts of tool results."""
    for result in results:
        content = result.get("content")
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def attachment(block: dict[str, Any]) -> Attachment:
    """An attachment without its bytes."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    name, media, data = block.get("title"), source.get("media_type"), source.get("data")
    return inline(
        data if source.get("type") == "base64" else None,
        name if isinstance(name, str) else None,
        media if isinstance(media, str) else None,
    )


def touched(arguments: object) -> list[str]:
    """Paths in the arguments of a read or edit call."""
    if not isinstance(arguments, dict):
        return []
    paths = [arguments.get(key) for key in _PATH_KEYS]
    return [one for one in paths if isinstance(one, str) and one and len(one) < _PATH_LIMIT]
