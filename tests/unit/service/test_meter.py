"""Progress as one line."""

from datetime import UTC, datetime, timedelta

from ingest.pace import Step
from service.meter import Meter, line

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_line_tells_bytes_speed_threads_turns_and_the_file():
    step = Step(file="a/b.jsonl", done=2_500_000, total=10_000_000, threads=3, turns=40)
    assert line(step, 2.0) == "2.5/10.0 MB  1.2 MB/s  3 threads  40 turns  a/b.jsonl"


def test_what_is_not_known_is_left_out():
    assert line(Step(done=1_000_000), 0.0) == "1.0 MB  0 threads  0 turns  "


def test_at_most_ten_lines_a_second_are_shown():
    shown: list[str] = []
    moments = iter(START + timedelta(milliseconds=10 * at) for at in range(1000))
    meter = Meter(shown.append, lambda: next(moments))
    for _ in range(100):
        meter.tell(Step())
    assert len(shown) == 10
