import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from ingest.model import RawThread, Source, Tally
from ingest.readers import takeout
from ingest.readers._hypertext import words
from ingest.readers._takeout_page import CELL, cells
from ingest.readers._takeout_time import moment
from ingest.sniff import choose
from tests.ingest_memory import Memory

WHEN = "Mar 3, 2026, 4:05:06\u202fPM GMT-04:00"
HARD = "\xa0"


def cell(content, more="", header="Gemini Apps"):
    """One row with the classes of real ones."""
    kind = " mdl-cell mdl-cell--12-col mdl-shadow--2dp"
    body = " mdl-cell mdl-cell--6-col mdl-typography--body-1"
    small = " mdl-cell mdl-cell--12-col mdl-typography--caption"
    return (
        f'<div class="outer-cell{kind}"><div class="mdl-grid">'
        f'<div class="header-cell"><p class="mdl-typography--title">{header}<br></p></div>'
        f'<div class="content-cell{body}">{content}</div>{more}'
        f'<div class="content-cell{small}"><b>Products:</b><br>&emsp;Gemini Apps<br></div>'
        "</div></div>"
    )


def page(*rows, style=""):
    return f"<html><head><style>{style}</style></head><body>{''.join(rows)}</body></html>"


def prompt(text, when=WHEN, answer="<p>A.</p>"):
    return cell(f"Prompted{HARD}{text}<br>{when}<br>{answer}")


def entry(title="Prompted q", **more):
    found = {"header": "Gemini Apps", "title": title, "time": "2026-03-03T20:05:06.789Z"}
    return {**found, "safeHtmlItem": [{"html": "<p>A.</p>"}], **more}


def read(content, **options):
    raw = content if isinstance(content, bytes) else content.encode()
    raw = raw if isinstance(content, str | bytes) else json.dumps(content).encode()
    src = Source.of_bytes(raw)
    for name, value in options.items():
        setattr(src, name, value)
    tally = Tally("x")
    found = [one for one in takeout.read(src, tally) if isinstance(one, RawThread)]
    for one in found:
        tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def listed(*entries, **options):
    return read(json.dumps(list(entries)), **options)


def said(threads):
    return [[(turn.role.value, *turn.blocks) for turn in one.turns] for one in threads]


# --- pages


def test_each_prompt_is_a_thread_with_its_answer():
    found, tally = read(page(prompt("one"), prompt("two", answer="<p>B</p><p>C</p>")))
    assert said(found) == [
        [("human", "one"), ("assistant", "A.")],
        [("human", "two"), ("assistant", "B\n\nC")],
    ]
    assert (tally.records, tally.codes) == (2, {})
    assert found[0].turns[0].at == datetime(2026, 3, 3, 20, 5, 6, tzinfo=UTC)


def test_anchors_are_the_bytes_of_the_row():
    raw = page(prompt("é one"), prompt("two")).encode()
    found, _ = read(raw)
    for one, text in zip(found, ["é one", "two"], strict=True):
        turn = one.turns[0]
        row = raw[turn.offset : turn.offset + turn.length]
        assert row.startswith(b'<div class="outer-cell')
        assert text.encode() in row


@pytest.mark.parametrize(
    "row",
    [
        cell(f"Used an Assistant feature<br>{WHEN}<br>"),
        cell(f"Created Gemini Canvas titled x<br>{WHEN}<br><p>text</p>"),
        cell(f"Prompted{HARD}search<br>{WHEN}<br>", header="Search"),
        cell("Prompted"),
        cell(""),
    ],
)
def test_rows_that_are_no_prompts_of_gemini_are_meta(row):
    found, tally = read(page(row, prompt("one")))
    assert said(found) == [[("human", "one"), ("assistant", "A.")]]
    assert tally.dispositions["meta"] == 1


def test_an_answer_may_stand_in_the_following_cell():
    preview = '<div class="content-cell mdl-typography--text-right">preview</div>'
    answer = '<div class="content-cell mdl-typography--body-1"><p>Later.</p></div>'
    row = cell(f"Prompted q<br>{WHEN}", preview + answer)
    assert said(read(page(row))[0]) == [[("human", "q"), ("assistant", "Later.")]]


def test_a_prompt_without_an_answer_is_a_thread():
    assert said(read(page(prompt("q", answer="")))[0]) == [[("human", "q")]]


def test_a_prompt_of_several_lines_keeps_them():
    row = prompt("first<br><br>&lt;b&gt; second")
    assert said(read(page(row))[0])[0][0] == ("human", "first\n\n<b> second")


def test_files_go_with_the_prompt():
    row = cell(
        f'Prompted{HARD}look<br>Attached 2 files.<br>-&nbsp; <a href="a-1.png">a.png</a><br>'
        f'-&nbsp; <a href="b-1.pdf">b.pdf</a><br>{WHEN}<br><p>A.</p>'
    )
    (found,), _ = read(page(row))
    assert found.turns[0].blocks == ("look",)
    assert [one.name for one in found.turns[0].attachments] == ["a.png", "b.pdf"]


def test_a_label_of_another_language_ends_in_a_colon_and_a_hard_space():
    row = cell(
        f"Poslali ste poziv:{HARD}vprašanje<br>5. nov. 2025, 01:34:47 CEST<br><p>A.</p>",
        header="Aplikacije Gemini",
    )
    found, tally = read(page(row))
    assert said(found) == [[("human", "vprašanje"), ("assistant", "A.")]]
    assert tally.codes == {"bad_timestamp": 1}
    assert found[0].turns[0].at is None


def test_a_row_without_a_time_is_all_prompt_and_told():
    found, tally = read(page(cell("Prompted q")))
    assert (said(found), tally.codes) == ([[("human", "q")]], {"bad_timestamp": 1})


def test_bad_bytes_are_repaired_and_scripts_dropped():
    raw = page(prompt("a", answer="<script>x()</script><p>A#</p>")).encode()
    found, tally = read(raw.replace(b"A#", b"A\xff"))
    assert said(found)[0][1] == ("assistant", "A\ufffd")
    assert tally.codes == {"bad_utf8": 1}


def test_a_page_in_utf_16_is_read():
    raw = page(prompt("ü")).encode("utf-16")
    assert said(read(raw)[0])[0][0] == ("human", "ü")


def test_the_same_prompt_and_answer_twice_is_one_thread(tmp_path):
    file = tmp_path / "a.html"
    file.write_text(page(prompt("one"), prompt("one")), "utf-8")
    store = Memory()
    report = store.ingest(file)
    assert len(store.threads) == 1
    assert {one.code: one.count for one in report.codes} == {"duplicate_thread": 1}


# --- lists


def test_entries_of_a_list_are_threads():
    found, tally = listed(
        entry("Prompted one"), entry("Prompted two", safeHtmlItem=[]), entry("Used x")
    )
    assert said(found) == [[("human", "one"), ("assistant", "A.")], [("human", "two")]]
    assert tally.dispositions == {"meta": 1, "turn": 2}
    assert found[0].turns[0].at == datetime(2026, 3, 3, 20, 5, 6, 789000, tzinfo=UTC)


def test_entries_of_other_products_are_meta():
    found, tally = listed(entry(header="Search"), entry())
    assert (len(found), tally.dispositions["meta"]) == (1, 1)


@pytest.mark.parametrize("value", [1, "x", None, []])
def test_entries_that_are_none_are_lost(value):
    found, tally = listed(value, entry())
    assert len(found) == 1
    assert (tally.dispositions["lost"], tally.codes["not_an_object"]) == (1, 1)


@pytest.mark.parametrize(
    "more",
    [
        {"subtitles": [{"name": "Attached 1 file."}, {"name": "-  a.png", "url": "a-1.png"}]},
        {"attachedFiles": ["a.png"]},
        {"imageFile": "a.png"},
    ],
)
def test_files_of_an_entry(more):
    (found,), _ = listed(entry("Prompted look Attached 1 file.", **more))
    assert found.turns[0].blocks == ("look",)
    assert [one.name for one in found.turns[0].attachments] == ["a.png"]


@pytest.mark.parametrize("when", [None, "soon", "Mar 3, 2026, 4:05:06 PM GMT-04:00"])
def test_times_of_an_entry(when):
    (found,), tally = listed(entry(time=when))
    told = when is not None and when.startswith("Mar")
    expected = datetime(2026, 3, 3, 20, 5, 6, tzinfo=UTC) if told else None
    assert found.turns[0].at == expected
    assert tally.codes == ({"bad_timestamp": 1} if when == "soon" else {})


# --- groups


def at(minute):
    moment = datetime(2026, 3, 3, 12, tzinfo=UTC) + timedelta(minutes=minute)
    return moment.isoformat()


def test_a_gap_puts_prompts_together_in_the_order_of_time():
    entries = [entry(f"Prompted {minute}", time=at(minute)) for minute in (31, 11, 10, 0)]
    found, _ = listed(*entries, group_gap=10)
    assert [[turn.blocks[0] for turn in one.turns[::2]] for one in found] == [
        ["0", "10", "11"],
        ["31"],
    ]


def test_prompts_without_a_time_stay_alone():
    found, _ = listed(entry(time=None), entry(time=at(0)), entry(time=at(1)), group_gap=5)
    assert sorted(len(one.turns) for one in found) == [2, 4]


def test_the_gap_is_an_option_of_the_run(tmp_path):
    file = tmp_path / "MyActivity.json"
    rows = [entry(f"Prompted {minute}", time=at(minute)) for minute in (3, 0)]
    file.write_text(json.dumps(rows), "utf-8")
    counts = []
    for gap in (0, 5):
        store = Memory()
        store.ingest(file, group_gap=gap)
        counts.append(sorted(len(one.turns) for one in store.threads.values()))
    assert counts == [[2, 2], [4]]


# --- ids


def test_the_id_is_of_all_words_wherever_they_stand(tmp_path):
    html, listing = tmp_path / "a.html", tmp_path / "b.json"
    html.write_text(page(prompt("x"), prompt("q")), "utf-8")
    listing.write_text(json.dumps([entry()]), "utf-8")
    first, second, both = Memory(), Memory(), Memory()
    first.ingest(html)
    second.ingest(listing)
    both.ingest(listing, html)
    assert set(second.threads) < set(first.threads) == set(both.threads)


# --- sniffing


@pytest.mark.parametrize(
    "content",
    [
        page(prompt("q")),
        page(prompt("q"), style=".a{color:red}" * 20_000),
        "\ufeff" + page(prompt("q")),
        page(cell("x", header="Search"), prompt("q")),
        json.dumps([entry()]),
        json.dumps([entry(header="Search"), entry()], indent=2),
    ],
)
def test_known_by_its_rows(content):
    assert getattr(choose(Source.of_bytes(content.encode())), "NAME", None) == "takeout"


@pytest.mark.parametrize(
    "content",
    [
        page(cell("Prompted q", header="Search")),
        "<html><body>Gemini Apps</body></html>",
        "# About Gemini Apps\n\nouter-cell and header-cell\n",
        json.dumps([entry(header="Search")]),
        json.dumps([{"header": "Gemini Apps", "title": "Prompted q"}]),
    ],
)
def test_not_taken_for_it(content):
    chosen = choose(Source.of_bytes(content.encode()))
    assert getattr(chosen, "NAME", None) != "takeout"


# --- parts


@pytest.mark.parametrize("size", [1, 7, 64, 5000])
def test_rows_are_found_however_the_bytes_come(size, monkeypatch):
    raw = page(*(prompt("x" * length) for length in (0, 300, 900)), style="a" * 700).encode()
    whole = list(cells(io.BytesIO(raw)))
    monkeypatch.setattr("ingest.readers._takeout_page.CHUNK", size)
    assert list(cells(io.BytesIO(raw))) == whole
    assert len(whole) == 3


def test_a_row_over_the_bound_is_lost_and_the_next_is_read():
    big = prompt("y" * (CELL + 5))
    found, tally = read(page(big, prompt("q")))
    assert said(found) == [[("human", "q"), ("assistant", "A.")]]
    assert (tally.codes, tally.dispositions["lost"]) == ({"too_big": 1}, 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Mar 3, 2026, 4:05:06 PM GMT-04:00", "2026-03-03T20:05:06+00:00"),
        ("Mar 3, 2026, 4:05:06\u202fPM GMT-4", "2026-03-03T20:05:06+00:00"),
        ("Mar\xa03, 2026, 4:05:06 PM GMT\u22124", "2026-03-03T20:05:06+00:00"),
        ("Mar 3, 2026, 4:05:06 PM GMT+5:30", "2026-03-03T10:35:06+00:00"),
        ("Mar 3, 2026, 4:05:06 PM GMT+0530", "2026-03-03T10:35:06+00:00"),
        ("March 3, 2026 at 4:05 p.m. UTC", "2026-03-03T16:05:00+00:00"),
        ("3 Sept 2026, 16:05:06 CET", "2026-09-03T15:05:06+00:00"),
        ("Jan 1, 2026, 12:00:00 AM EST", "2026-01-01T05:00:00+00:00"),
        ("Jan 1, 2026, 12:00:00 PM Z", "2026-01-01T12:00:00+00:00"),
        ("Jan 1, 2026, 12:00:00 PM", "2026-01-01T12:00:00"),
        ("Jan 1, 2026, 12:00:00 PM IST", "2026-01-01T12:00:00"),
        ("Feb 31, 2026, 1:00:00 AM GMT", "bad_timestamp"),
        ("Jan 1, 1970, 1:00:00 AM GMT", "bad_timestamp"),
        ("Brumaire 3, 2026, 4:05:06 PM GMT", "bad_timestamp"),
        ("5. nov. 2025, 01:34:47 CEST", "bad_timestamp"),
        ("Jan 1, 2026, 1:00:00 AM GMT+99", "bad_timestamp"),
        ("", None),
        ("What happened on Mar 3, 2026?", None),
        ("Mar 3, 2026", None),
        ("x" * 70 + " 2026 01:02:03", None),
    ],
)
def test_lines_that_are_times(line, expected):
    found = moment(line)
    told = found and (found.problem if found.at is None else found.at.isoformat())
    assert told == expected


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a  b\nc</p>", "a b c"),
        ("a<br>b<br/><br>c", "a\nb\n\nc"),
        ("<p>a</p>\n<p>b</p>", "a\n\nb"),
        ("<ul><li>a</li><li><p>b</p></li></ul>c", "- a\n- b\n\nc"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n  - b\n2. c"),
        ("<pre><code>\nx = 1\n  y\n</code></pre>", "```\nx = 1\n  y\n```"),
        ("use <code>f()</code> <b>now</b>", "use `f()` now"),
        ("<h2>T</h2><p>a</p>", "## T\n\na"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
         "a | b\n1 | 2"),
        ("<style>p{}</style><script>1<2</script>a", "a"),
        ("a &lt;b&gt; &amp; &#39;c&#39;&nbsp;d", "a <b> & 'c'\xa0d"),
        ("<p>a <b>open", "a open"),
        ("a<<<>>b", "a<<<>>b"),
        ("</li></ul></pre>a", "a"),
        ("", ""),
    ],
)  # fmt: skip
def test_words_of_html(html, text):
    assert words(html) == text
