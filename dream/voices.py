"""Voices: what the structures of the sources propose for one frontier, each with its turns."""

from collections.abc import Iterator

from dream.findings import OneSided, Speaker, Voice
from dream.gathering import Gathering
from dream.index import Index
from dream.model import Absent, Focus
from dream.pairs import companions, oldest_open, where_it_stands

REFS = 3


def voices(
    focus: Focus,
    side: OneSided | None,
    absent: tuple[Absent, ...],
    index: Index,
    gathering: Gathering,
) -> tuple[Voice, ...]:
    """At most one proposal of each voice for a Journey or a thread; one without turns is none."""
    if focus.kind not in ("journey", "frontier"):
        return ()
    found = (
        *proposed(focus, index, gathering),
        *across(side, absent),
    )
    return tuple(each for each in found if each.refs)


def proposed(focus: Focus, index: Index, gathering: Gathering) -> Iterator[Voice]:
    """Oldest open question, the question where work stands, and who rhymes with it."""
    oldest = oldest_open(focus, index)
    standing = where_it_stands(focus, index) or oldest
    if oldest is not None:
        yield voice("active_question", oldest, index, gathering)
    if standing is not None:
        yield voice("current_frontier", standing, index, gathering)
        for other in companions(standing, index)[:1]:
            yield voice("resonance", other, index, gathering)


def voice(name: Speaker, question: str, index: Index, gathering: Gathering) -> Voice:
    """A voice that proposes a question, with those of its turns that fit."""
    refs = gathering.take(index.cluster_refs(question)[-REFS:], "none")
    return Voice(voice=name, node=question, label=index.questions[question].text, refs=refs)


def across(side: OneSided | None, absent: tuple[Absent, ...]) -> Iterator[Voice]:
    """What was never looked at, only where the inquiry is one-sided."""
    if side is not None and side.is_open:
        for missing in absent[:1]:
            yield Voice(
                voice="opposite",
                node=missing.concept_id,
                label=missing.label,
                refs=missing.aliases,
            )
