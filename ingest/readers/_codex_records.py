"""What the records of Codex are: the kinds of lines, items and events, by their names."""

from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from graphstore.model.conversation import Role
from ingest.jsonio import Record
from ingest.model import Disposition

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["item", "event", "completed"]

WRAPPED: Final = frozenset({
    "session_meta",
    "response_item",
    "turn_context",
    "event_msg",
    "compacted",
    "world_state",
})  # fmt: skip
BESIDE: Final[dict[str, Disposition]] = {
    "inter_agent_communication": "tool",
    "inter_agent_communication_metadata": "meta",
    "realtime_item": "meta",
    "security_risk_score": "meta",
}
"""Lines that hold no words of the conversation; a line of any other type is told."""
WITHOUT_WORDS: Final[dict[str, Disposition]] = {
    "reasoning": "thinking",
    "agent_message": "tool",  # what agents write to each other
    "compaction": "meta",
    "compaction_summary": "meta",
    "compaction_trigger": "meta",
    "context_compaction": "meta",
    "ghost_snapshot": "meta",
    "other": "meta",
}
"""Items that neither speak nor call."""
EVENTS: Final[tuple[tuple[str, Disposition], ...]] = (
    ("agent_reasoning", "thinking"),
    ("reasoning_", "thinking"),
    ("exec_", "tool"),
    ("mcp_", "tool"),
    ("patch_", "tool"),
    ("apply_patch", "tool"),
    ("turn_diff", "tool"),
    ("plan_", "tool"),
    ("web_search", "tool"),
    ("view_image", "tool"),
    ("image_generation", "tool"),
    ("dynamic_tool", "tool"),
    ("terminal_", "tool"),
    ("collab_", "tool"),
)
"""What events are, by how their type begins; the others are meta."""
TOLD: Final = frozenset({"turn_aborted", "thread_rolled_back"})
"""Events that are told with the thread."""
BEGINNINGS: Final = frozenset({"task_started", "turn_started"})
"""Events that a turn begins with."""
ENDS: Final = frozenset({"task_complete", "turn_complete"})
"""Events that a turn ends with."""
HAPPENINGS: Final = TOLD | BEGINNINGS | ENDS | {"thread_name_updated", "collab_agent_spawn_end"}
"""Events that change what is known of the session; most do not."""
TEXTS: Final = frozenset({"input_text", "output_text", "text", "Text"})
FILES: Final = frozenset({"input_image", "input_audio", "input_file", "image", "local_image"})
SPEAKERS: Final = {
    "usermessage": Role.HUMAN,
    "agentmessage": Role.ASSISTANT,
}
PHASES: Final = {"commentary": False, "final_answer": True}
COMPLETED: Final[dict[str, Disposition]] = {
    "reasoning": "thinking",
    "contextcompaction": "meta",
    "plan": "meta",
    "enteredreviewmode": "meta",
    "exitedreviewmode": "meta",
}
"""Completed items that do not speak; the others are tools."""


class Place(NamedTuple):
    """Where and when a part of a document was written."""

    line: int | None
    offset: int
    length: int
    at: object = None
    """As written."""


Where: TypeAlias = Record | Place
"""A line is its own place: most are no turns, and nothing is made for them."""


@lru_cache(256)
def of_event(kind: str) -> Disposition:
    """What an event counts as that tells of progress."""
    return next((what for start, what in EVENTS if kind.startswith(start)), "meta")
