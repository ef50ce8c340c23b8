"""The page draws, searches, filters, explains itself, and stays offline."""

import io
import os
import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from export import Switches
from export.formats import html
from export.page import page as columns
from tests.e2e.explorer_sample import sample

CHROMIUM = os.environ.get("CLEW_CHROMIUM") or shutil.which("chromium")
BUNDLE = Path(html.__file__).parents[1] / "assets" / "explorer.js"
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
LIGHT_PAPER = (251, 250, 247)
DARK_PAPER = (20, 22, 26)
EDGE_PIXELS = 1000
PATIENCE_MS = 60_000  # a busy machine draws in software

pytestmark = pytest.mark.skipif(not BUNDLE.is_file(), reason="the explorer bundle is not built")


@pytest.fixture(scope="session")
def browser():
    if not CHROMIUM:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no chromium on this machine")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "clew.html"
    with made.open("wb") as out:
        html.write(sample(60, 120, 200), out)
    return made


class Opened:
    """A page with what it said and asked for."""

    def __init__(self, browser, url: str, width=1280, height=800, **context) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **context
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.page.on(
            "console", lambda said: self.errors.append(said.text) if said.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)
        self.page.wait_for_selector("html[data-clew=ready]")

    def close(self) -> None:
        self.context.close()
        assert self.errors == []
        away = [url for url in self.asked if not url.startswith(("file:", "blob:", "data:"))]
        assert away == []


@pytest.fixture
def opened(browser, file):
    """Open the page; afterwards it must have stayed quiet and offline."""
    pages: list[Opened] = []

    def make(fragment: str = "", **options):
        pages.append(Opened(browser, file.as_uri() + fragment, **options))
        return pages[-1].page

    yield make
    for one in pages:
        one.close()


def pixels(png: bytes) -> tuple[int, list[bytes]]:
    """Channels and rows of an 8 bit PNG without interlace, which is what the browser writes."""
    read = io.BytesIO(png[8:])
    packed, width, channels = b"", 0, 3
    while head := read.read(8):
        size, kind = struct.unpack(">I4s", head)
        body = read.read(size + 4)[:size]
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", body[:4])[0], {2: 3, 6: 4}[body[9]]
        if kind == b"IDAT":
            packed += body
    raw, stride, rows = zlib.decompress(packed), width * channels, []
    before = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        row = unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, channels)
        rows.append(bytes(row))
        before = row
    return channels, rows


def unfilter(kind: int, row: bytearray, up: bytearray, step: int) -> bytearray:
    for at in range(len(row)):
        left = row[at - step] if at >= step else 0
        corner = up[at - step] if at >= step else 0
        row[at] = (row[at] + guess(kind, left, up[at], corner)) & 255
    return row


def guess(kind: int, left: int, above: int, corner: int) -> int:
    if kind in (0, 1, 2, 3):
        return (0, left, above, (left + above) // 2)[kind]
    far = left + above - corner
    return min((left, above, corner), key=lambda near: abs(far - near))


def differing(colour: tuple[int, ...], png: bytes, by: int = 10) -> int:
    """How many pixels are clearly not of this colour."""
    channels, rows = pixels(png)
    return sum(
        any(abs(row[at + c] - colour[c]) > by for c in range(3))
        for row in rows
        for at in range(0, len(row), channels)
    )


def state(page, expression: str):
    return page.evaluate(f"() => {expression}")


def test_draws_every_node_and_edge(opened):
    page = opened()
    data: Any = columns(sample(60, 120, 200))
    drawn = state(page, "[clew.map.graph.order, clew.map.graph.size]")
    assert drawn == [len(data["nodes"]["id"]), len(data["edges"]["v"])]


def test_edges_are_visible_on_paper(opened):
    page = opened()
    state(page, "clew.map.renderer.getCamera().setState({ratio: 0.35})")
    state(page, "clew.map.renderer.refresh()")
    clip = {"x": 600, "y": 260, "width": 400, "height": 300}
    drawn = differing(LIGHT_PAPER, page.screenshot(clip=clip))
    state(page, "clew.map.graph.clearEdges()")
    state(page, "clew.map.renderer.refresh()")
    bare = differing(LIGHT_PAPER, page.screenshot(clip=clip))
    assert drawn > bare + EDGE_PIXELS


def test_dreamt_edges_are_drawn_and_can_be_hidden_by_function(opened):
    page = opened()
    inked = (
        "(() => { const c = clew.map.renderer.getCanvases().dreams; const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0;"
        " for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
    )
    full = state(page, inked)
    assert full > 0
    for name in ("amplification", "prospective", "compensatory"):
        page.uncheck(f"#functions input[name={name}]")
    state(page, "clew.map.renderer.refresh()")
    some = state(page, inked)
    assert 0 < some < full
    page.uncheck("#functions input[name=active_imagination]")
    state(page, "clew.map.renderer.refresh()")
    assert state(page, inked) == 0


def test_search_runs_over_labels_and_turn_texts_by_keyboard_alone(opened):
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("OVEN spring")
    rows = page.locator("#results [role=option]")
    expect(rows.first).to_be_visible()
    assert "oven spring" in rows.first.inner_text().lower()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    chosen = rows.nth(1).locator("span").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#details h2")).to_contain_text(chosen.rstrip("\u2026")[:40])
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_be_hidden()


def test_search_says_when_nothing_matches(opened):
    page = opened()
    page.fill("#search", "zebra crossing")
    expect(page.locator("#found")).to_have_text("nothing found")
    page.keyboard.press("Escape")
    expect(page.locator("#results")).to_be_hidden()


def test_a_turn_found_by_its_words_opens_with_its_ref(opened):
    page = opened()
    page.fill("#search", "compare skipped that step")
    expect(page.locator("#found")).to_have_text("nothing found")
    page.fill("#search", "skipped that step")
    page.locator("#results .dot.turn").first.click()
    info = page.locator("#details")
    expect(info.locator(".here blockquote")).to_contain_text("skipped that step")
    assert info.locator(".here .ref").inner_text() == info.locator("h2").inner_text()


def test_kind_source_project_and_time_filters_hide_nodes(opened):
    page = opened()
    seen = "clew.filters.visible.reduce((a, b) => a + b, 0)"
    everything = state(page, seen)
    page.uncheck("#kinds input[name=question]")
    assert state(page, seen) == everything - 120
    hidden = "clew.map.renderer.getNodeDisplayData(String(clew.data.kind.indexOf(1))).hidden"
    assert state(page, hidden) is True
    page.check("#kinds input[name=question]")
    page.uncheck("#sources input[name=chatgpt]")
    without = state(page, seen)
    assert without < everything
    page.check("#sources input[name=chatgpt]")
    page.select_option("#project", index=2)
    threads = "[...clew.data.kind].filter((k, i) => k === 0 && clew.filters.visible[i]).length"
    assert state(page, threads) == 5
    page.select_option("#project", index=0)
    slider = page.locator("#time input").first
    middle = state(page, "Math.round((clew.filters.firstDay + clew.filters.lastDay) / 2)")
    slider.fill(str(middle))
    later = state(page, seen)
    assert 0 < later < everything
    early = (
        "[...clew.data.last].some((d, i) => d !== -2147483648 && d < clew.filters.from"
        " && clew.filters.visible[i])"
    )
    assert state(page, early) is False


def test_hiding_every_kind_says_so(opened):
    page = opened()
    for box in page.locator("#kinds input").all():
        box.uncheck()
    expect(page.locator("#nothing")).to_be_visible()


def test_click_on_a_node_shows_its_turns_with_ref_file_and_line(opened):
    page = opened()
    page.locator("#search").fill("")
    place = state(
        page,
        "(() => { const at = clew.data.kind.indexOf(0); const r = clew.map.renderer;"
        " r.getCamera().setState({...r.getNodeDisplayData(String(at)), ratio: 0.05}); r.refresh();"
        " const p = r.framedGraphToViewport(r.getNodeDisplayData(String(at)));"
        " const box = document.querySelector('#map').getBoundingClientRect();"
        " return {x: p.x + box.left, y: p.y + box.top, id: clew.data.id(at)}; })()",
    )
    page.mouse.click(place["x"], place["y"])
    info = page.locator("#details")
    expect(info).to_be_visible()
    expect(info.locator(".facts code").first).to_have_text(place["id"])
    turn = info.locator(".turn").first
    expect(turn.locator(".ref")).to_have_text(f"thread:{place['id']}#turn:1")
    expect(turn.locator(".file")).to_contain_text(".jsonl:3")
    expect(turn.locator(".role")).to_have_text("human")
    assert turn.locator("blockquote").inner_text()


def test_seeds_are_listed_with_sentence_members_and_source_turns(opened):
    page = opened()
    page.click("#tab-seeds")
    cards = page.locator(".card.seed")
    assert cards.count() == 24
    sentence = cards.first.locator(".sentence").inner_text()
    cards.first.click()
    info = page.locator("#details")
    expect(info.locator("h2")).to_have_text(sentence)
    assert info.locator(".node").count() == 3
    assert info.locator(".turn").count() == 3
    expect(info).to_contain_text("not a fact")


def test_hypotheses_carry_the_words_standing_and_both_sides(opened):
    page = opened()
    page.click("#tab-hypotheses")
    cards = page.locator(".card.dream")
    assert cards.count() == 36
    for card in cards.all():
        assert "Hypothesis, not source" in card.inner_text()
    cards.first.click()
    info = page.locator("#details")
    expect(info.locator(".kind")).to_have_text("Hypothesis, not source")
    for words in ("one side", "other side", "Counter-evidence", "Review after"):
        expect(info).to_contain_text(words, ignore_case=True)
    expect(info.locator(".head .badge")).to_have_text("valid")
    assert info.locator(".cite").count() >= 2


def test_standing_filter_shortens_the_list(opened):
    page = opened()
    page.uncheck("#standings input[name=valid]")
    page.click("#tab-hypotheses")
    assert page.locator(".card.dream").count() == 18
    assert page.locator(".card.dream .badge.valid").count() == 0


def test_review_choices_become_a_file(opened):
    page = opened()
    page.click("#tab-hypotheses")
    page.locator(".card.dream").first.click()
    page.click(".act.approve")
    with page.expect_download() as download:
        page.click(".save")
    text = Path(download.value.path()).read_text("utf-8")
    assert '"clew.review/1"' in text
    assert '"approve"' in text
    assert '"h:' in text


def test_timeline_shows_journeys_with_their_waypoints(opened):
    page = opened()
    page.click("#tab-journeys")
    expect(page.locator("#timeline svg")).to_be_visible()
    assert page.locator("#timeline .way").count() == 14
    stops = state(page, "clew.data.raw.journeys.reduce((n, j) => n + j.stops.length, 0)")
    assert page.locator("#timeline .stop").count() == stops
    page.locator("#timeline .path").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#details .kind")).to_have_text("journey")
    assert page.locator("#details .stops li").count() >= 3


def test_number_keys_and_arrows_change_the_view(opened):
    page = opened()
    page.keyboard.press("2")
    expect(page.locator("#tab-seeds")).to_have_attribute("aria-selected", "true")
    page.locator("#tab-seeds").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-hypotheses")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("kind", ["node", "seed", "hypothesis", "turn"])
def test_a_link_opens_what_it_names(opened, kind):
    names = {
        "node": "q%3A00000000000000000000000000000003",
        "seed": "s%3A00000000000000000000000000000001",
        "hypothesis": "h%3A00000000000000000000000000000001",
    }
    page = opened()
    name = names.get(kind) or state(page, "encodeURIComponent(clew.data.ref(3))")
    page = opened(f"#{name}")
    expect(page.locator("#details h2")).to_be_visible()
    text = page.locator("#details").inner_text()
    assert name.replace("%3A", ":").replace("%23", "#") in text


def test_arrow_keys_move_the_map(opened):
    page = opened()
    before = state(page, "clew.map.renderer.getCamera().getState()")
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    after = state(page, "clew.map.renderer.getCamera().getState()")
    assert after["x"] > before["x"]
    assert after["y"] > before["y"]


def test_a_broken_link_opens_nothing(opened):
    page = opened("#%E0%A4%A")
    expect(page.locator("#details")).to_be_hidden()


def test_phone_width_fits_and_opens_sheets(opened):
    page = opened(width=390, height=800, has_touch=True)
    wide = state(page, "document.documentElement.scrollWidth")
    assert wide <= 390
    expect(page.locator(".side")).to_be_hidden()
    page.click("#open-filters")
    expect(page.locator("#kinds")).to_be_visible()
    page.click("#tab-seeds")
    page.locator(".card.seed").first.click()
    expect(page.locator("#details")).to_be_visible()
    expect(page.locator(".side")).to_be_hidden()
    assert state(page, "document.documentElement.scrollWidth") <= 390


def test_dark_follows_the_system_and_the_button_overrules_it(opened):
    page = opened(color_scheme="dark")
    corner = {"x": 330, "y": 70, "width": 20, "height": 20}
    assert differing(DARK_PAPER, page.screenshot(clip=corner)) == 0
    page.click("#theme")
    assert differing(LIGHT_PAPER, page.screenshot(clip=corner)) == 0
    page.reload()
    page.wait_for_selector("html[data-clew=ready]")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_hostile_labels_are_text(browser, tmp_path):
    view = sample(36, 48, 80)
    evil = "</script><img src=x onerror=\"document.title='owned'\">\u2028'\"`"
    nodes = tuple(
        replace(row, columns={**row.columns, "title": evil, "text": evil, "label": evil})
        for row in view.nodes
    )
    file = tmp_path / "evil.html"
    with file.open("wb") as out:
        html.write(replace(view, nodes=nodes), out)
    one = Opened(browser, file.as_uri())
    one.page.fill("#search", "onerror")
    expect(one.page.locator("#results [role=option]").first).to_contain_text("<img src=x")
    one.page.locator("#results [role=option]").first.click()
    expect(one.page.locator("#details h2")).to_contain_text("</script><img")
    assert one.page.title() == "clew"
    assert one.page.locator("#details img, #results img").count() == 0
    one.close()


def test_without_text_the_page_says_so(browser, tmp_path):
    view = sample(36, 48, 80)
    file = tmp_path / "bare.html"
    with file.open("wb") as out:
        html.write(replace(view, switches=Switches(with_hypotheses=True)), out)
    one = Opened(browser, file.as_uri())
    one.page.click("#tab-seeds")
    one.page.locator(".card.seed").first.click()
    expect(one.page.locator("#details .turn").first).to_contain_text("left out")
    one.page.click("#tab-map")
    expect(one.page.locator("#panel")).to_contain_text("no turn texts")
    one.close()


def test_an_empty_store_is_an_empty_page(browser, tmp_path):
    view = replace(
        sample(36, 48, 80), nodes=(), edges=(), hypotheses=(), seeds=(), marks=(), places={}
    )
    file = tmp_path / "empty.html"
    with file.open("wb") as out:
        html.write(view, out)
    one = Opened(browser, file.as_uri())
    for tab in ("seeds", "hypotheses", "journeys", "map"):
        one.page.click(f"#tab-{tab}")
    one.close()


@pytest.mark.slow
def test_a_thousand_nodes_are_there_at_once(browser, tmp_path):
    file = tmp_path / "thousand.html"
    with file.open("wb") as out:
        html.write(sample(110, 330, 550), out)
    times = []
    for _ in range(3):
        one = Opened(browser, file.as_uri())
        times.append(int(state(one.page, "document.documentElement.dataset.clewMs")))
        one.close()
    print(f"1,000 nodes: {min(times)} ms of script to the first picture")  # noqa: T201 - a figure
    assert min(times) <= 3000  # the target is 500 on an idle machine


@pytest.mark.slow
def test_fifty_thousand_nodes_stay_small_and_quick(browser, tmp_path):
    view = replace(sample(4000, 16000, 30000), switches=Switches(with_hypotheses=True))
    file = tmp_path / "large.html"
    with file.open("wb") as out:
        html.write(view, out)
    size = file.stat().st_size
    begin = perf_counter()
    one = Opened(browser, file.as_uri())
    seconds = perf_counter() - begin
    shown = state(one.page, "[clew.data.n, clew.data.v.length, clew.map.graph.order]")
    print(f"{shown}: {size / 1e6:.1f} MB, first picture after {seconds:.1f} s")  # noqa: T201
    assert shown[0] >= 50_000
    assert shown[1] >= 100_000
    assert size <= 8_000_000
    assert seconds <= 20  # the target is 5 on an idle machine; this catches drawing everything
    expect(one.page.locator("#chip")).to_contain_text("most connected")
    one.page.click("#chip button")
    assert state(one.page, "clew.map.graph.order") == shown[0]
    expect(one.page.locator("#chip")).to_be_hidden()
    one.close()
