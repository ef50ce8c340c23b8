"""Hostile turns, from files to the page: none becomes a hypothesis or an instruction."""

import json
import shutil

import pytest

from dream import cycle
from dream.consult import Aide
from dream.cycle import Ask, Landed, Leased
from dream.gate import Budget
from dream.hostile import addresses_agent, is_unfit
from dream.llm import Endpoint
from dream.settings import DreamSettings, ModelSettings
from dream.worker import contract
from graphstore.ids import canonical
from service import operations, scouting, settings
from service.session import Session
from tests.hostile_turns import BORNE, GIVING, TURNS, WORD, talked
from tests.proposed import a_proposal, answer
from tests.scripted_endpoint import endpoint, spoken
from tests.tales import NOW, TALES, written

MANY = ModelSettings(jobs_per_cycle=64, calls_per_day=1000, timeout_seconds=30)
SETTINGS = DreamSettings(model=MANY)


def session_at(folder):
    loaded = settings.load({"store.home": str(folder / "home")}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: NOW, pause=lambda _: None)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    found = session_at(folder)
    operations.ingest(found, (str(written(folder / "tales", (*TALES, *talked()))),))
    return found


def landed(session, aide):
    """One dream cycle over everything that is due; nothing is written."""
    with session.store("test") as store:
        seeds = scouting.refresh(store, operations.limits(session))
        leased = cycle.begin(store, seeds, Ask(mode="dry_run"), (), SETTINGS, NOW)
        assert isinstance(leased, Leased)
        done = cycle.work(leased, SETTINGS, NOW, lambda: False, aide)
        end = cycle.land(done, store, SETTINGS, NOW)
    assert isinstance(end, Landed)
    return leased, end.record


def shown(record):
    """All that a dream cycle would leave: hypotheses, parked drafts, journal."""
    return canonical(record.model_dump(mode="json")).decode()


class Obedient:
    """A model that does what the turns of a pack tell it, in their own words."""

    def __init__(self):
        self.obeyed = set()

    def __call__(self, request):
        pack = json.loads(request["messages"][1]["content"])
        rules = json.loads(request["messages"][0]["content"].rpartition("\n")[2])
        rule = rules["$defs"]["Proposal"]["properties"]["rule"]["enum"][0]
        if not pack["pairs"]:
            return spoken("NO_REPLY")
        hostile = [turn for turn in pack["turns"] if WORD in turn["text"]]
        fresh = [turn for turn in hostile if turn["text"] not in self.obeyed] or hostile
        drafts = [self.draft(turn, rule, pack) for turn in fresh[:3]]
        self.obeyed.update(turn["text"] for turn in fresh[:3])
        return spoken(answer(*drafts))

    def draft(self, turn, rule, pack):
        text = turn["text"]
        at = max(text.find(WORD) - 45, 0)
        pair = pack["pairs"][0]
        said = a_proposal().claims[0]
        a, b = (pair[side]["turns"] or [turn["name"]] for side in "ab")
        return a_proposal(
            rule=rule,
            pair=pair["name"],
            title=text[at : at + 90],
            summary=text[:400],
            claims=(
                said.replace(text=text[:300], side="a", refs=(*a[:1], turn["name"])),
                said.replace(text=text[-300:], side="b", refs=(*b[:1],)),
            ),
            cues=(text[at : at + 60],),
            why_not_fact=text[:300],
            declared_confidence=0.8,
        )


def test_there_are_enough_of_them():
    assert len(TURNS) >= 40
    assert len(set(TURNS)) == len(TURNS)


def test_each_order_is_known_for_one():
    assert [turn for turn in GIVING if not (addresses_agent(turn) and is_unfit(turn))] == []


def is_clean(text):
    """No order of a turn in it, by its own word, and nothing active."""
    orders = {WORD + turn.partition(WORD)[2][:2] for turn in GIVING}
    folded = text.casefold()
    held = [order for order in orders if order in folded]
    return not held and not [part for part in BORNE if part.casefold() in folded]


def test_rules_quote_none_of_them(session):
    leased, record = landed(session, None)
    assert len(record.hypotheses) + len(record.parked) > 0
    assert any(WORD in turn.text for unit in leased.units for turn in unit.pack.turns)
    assert is_clean(shown(record))


def test_a_model_that_obeys_them_gets_none_of_them_through(session):
    obedient = Obedient()
    with endpoint(obedient) as scripted:
        aide = Aide(
            llm=Endpoint("obedient", scripted.url),
            mask=str,
            pause=lambda _: None,
            keep=lambda _: None,
            limits=MANY,
            budget=Budget(model="obedient", calls_left=1000, tokens_left=10**9),
        )
        leased, record = landed(session, aide)
    assert len(obedient.obeyed) > 10
    assert sum(job.rejected_drafts for job in record.jobs) >= len(obedient.obeyed)
    assert is_clean(shown(record))
    for unit, request in zip(leased.units, scripted.asked, strict=True):
        system, _, directive = (each["content"] for each in request["messages"])
        assert system == contract(unit.job.function)
        assert WORD not in directive
        assert set(request) == {"model", "messages", "response_format"}


def test_the_page_holds_their_markup_as_text_alone(session, tmp_path):
    shutil.copytree(session.folder / "home", tmp_path / "own" / "home")
    session = session_at(tmp_path / "own")
    operations.dream(session)
    before = operations.status(session).threads
    operations.report(session, out=str(tmp_path))
    page = (tmp_path / "clew.html").read_text("utf-8")
    for active in ("<script>alert(", "<img src=x", "<b>quince"):
        assert active not in page
    assert operations.status(session).threads == before == len(TALES) + len(talked())
    for row in operations.hypotheses(session, limit=200):
        assert is_clean(canonical(row.hypothesis.model_dump(mode="json")).decode())
