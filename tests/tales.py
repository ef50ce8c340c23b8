"""A few conversations on one theme, written as files, for tests that go the whole way."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2025, 9, 1, 9, tzinfo=UTC)
NOW = datetime(2025, 10, 20, 12, tzinfo=UTC)
TALES = (
    (
        "Why does the tide gauge drift after every spring tide?",
        "The **tide gauge** drifts when the **stilling well** silts up; flush the pipe.",
        "Should I log the **stilling well** level beside the **tide gauge**?",
        "Log both: the **float line** may slip on the **drum** as well.",
    ),
    (
        "Why does the tide gauge drift after every spring tide?",
        "Last time it was the **stilling well**; look whether the **orifice** is free.",
        "Does the **orifice** of the **stilling well** clog with weed?",
        "Weed clogs the **orifice** in autumn; a copper **orifice** keeps it free.",
    ),
    (
        "Why does the tide gauge drift after every spring tide?",
        "Compare the **tide gauge** with the **staff gauge** at slack water.",
        "Is the **staff gauge** levelled to **chart datum**?",
        "Level the **staff gauge** to **chart datum** with the **benchmark** on the quay.",
    ),
    (
        "How do I keep the float line on the drum of the recorder?",
        "Cut a groove into the **drum** and keep the **float line** waxed.",
        "Does a waxed **float line** slip on a copper **drum**?",
        "It slips less on a rough **drum**; the **counterweight** must pull evenly.",
    ),
    (
        "Which counterweight holds the float line against the drum?",
        "A **counterweight** of 300 g holds a **float line** of steel on the **drum**.",
        "Would the **stilling well** be wide enough for the **counterweight**?",
        "A **stilling well** of 30 cm is enough for float and **counterweight**.",
    ),
    (
        "What corrodes the copper orifice within one winter?",
        "A zinc **benchmark** bolt near the **orifice** makes a cell with the copper.",
        "Can the **orifice** be isolated from the **staff gauge** frame?",
        "Put a nylon washer between the **orifice** plate and the **staff gauge** frame.",
    ),
)


def written(folder: Path, tales=TALES) -> Path:
    """The conversations as JSON Lines; odd lines are the human's. Returns the file."""
    rows = []
    for number, tale in enumerate(tales):
        messages = [
            {
                "role": "assistant" if place % 2 else "user",
                "content": text,
                "created_at": (START + timedelta(days=number, minutes=place)).isoformat(),
            }
            for place, text in enumerate(tale)
        ]
        rows.append({"id": f"tale-{number}", "messages": messages})
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tales.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file
