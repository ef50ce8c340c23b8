"""What the owner does with Journeys, through operations and the command."""

import json
import shutil
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from cli.main import app
from graphstore import open_store
from graphstore.errors import NotFound
from graphstore.model.knowledge import JourneyStatus
from graphstore.queries.journeys import acts_on, bearing
from ingest.derive import Derivation
from service import operations, settings
from service.moments import WrongValue
from service.reviewing import NotPossible
from service.session import Session
from tests.talk import START, a_thread, record_of

DAY = timedelta(days=1)
THEN = START + timedelta(days=50)
"""Ten days after the last waypoint."""
WHEEL = "What stops the escape wheel after every spring tide?"
STACK = "Is the vent stack to blame for the salt film?"
ANSWERS = {WHEEL: "> The escape wheel: the spring tide.", STACK: "> The vent stack. Salt film."}


def take(folder, *threads):
    derive = Derivation()
    with open_store(folder / "default", derive) as store:
        with store.deferred():
            for thread in threads:
                store.commit(record_of(thread), THEN)
            if store.epoch() is None:
                store.commit(derive.epoch(store.threads(), store.roots()), THEN)
        epoch = store.epoch()
        assert epoch is not None
        for found in derive.journeys(store.ground(), store.journey_records(), epoch):
            store.commit(found, THEN)


def session_at(folder, now=THEN):
    loaded = settings.load({"store.home": str(folder)}, folder)
    return Session(loaded=loaded, folder=folder, now=lambda: now)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    asked = [
        a_thread(f"{letter}{n}", text, ANSWERS[text], day=20 * n)
        for letter, text in (("w", WHEEL), ("s", STACK))
        for n in range(3)
    ]
    rest = [a_thread(f"r{n}", "The quay wall is old.", "> Yes.") for n in range(3)]
    folder = tmp_path_factory.mktemp("journeys")
    take(folder, *asked, *rest)
    return folder


@pytest.fixture
def home(made, tmp_path):
    """A copy of its own, so that acts of one test are not seen by another."""
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def session(home):
    return session_at(home)


def rows(session):
    return {row.core_inquiry: row for row in operations.journeys(session)}


def test_an_act_says_what_became_of_it(session):
    name = rows(session)[WHEEL].journey_id
    for act, status in (
        ("confirm", "traveling"),
        ("arrive", "arrived"),
        ("revive", "traveling"),
        ("abandon", "abandoned"),
        ("revive", "traveling"),
    ):
        assert operations.steer(session, act, name).status == status
    assert rows(session)[WHEEL].waypoints == 3


@pytest.mark.parametrize(
    ("before", "act"),
    [
        ("", "revive"),
        ("arrive", "arrive"),
        ("arrive", "confirm"),
        ("abandon", "abandon"),
        ("abandon", "confirm"),
        ("abandon", "correct"),
        ("abandon", "arrive"),
    ],
)
def test_what_does_not_fit_its_status_is_refused(session, before, act):
    name = rows(session)[WHEEL].journey_id
    if before:
        operations.steer(session, before, name)
    with pytest.raises(NotPossible):
        operations.steer(session, act, name, other="words")


def test_a_camped_journey_travels_on_when_the_owner_confirms_it(home):
    later = session_at(home, THEN + 60 * DAY)
    row = rows(later)[WHEEL]
    assert row.status == "camped"
    assert operations.steer(later, "confirm", row.journey_id).status == "traveling"
    assert rows(session_at(home, THEN + 104 * DAY))[WHEEL].status == "traveling"
    assert rows(session_at(home, THEN + 105 * DAY))[WHEEL].status == "camped"


def test_a_lapsed_one_is_revived_and_stays_so_at_the_next_look(home):
    late = THEN + 400 * DAY
    name = rows(session_at(home, late))[WHEEL].journey_id
    with pytest.raises(NotPossible):
        operations.steer(session_at(home, late), "confirm", name)
    assert operations.steer(session_at(home, late), "revive", name).status == "traveling"
    take(home, a_thread("w9", WHEEL, ANSWERS[WHEEL], day=449))
    again = rows(session_at(home, late + DAY))[WHEEL]
    assert (again.status, again.waypoints) == ("traveling", 4)


def test_the_owners_words_for_the_frontier_hold_until_it_moves(home, session):
    row = rows(session)[WHEEL]
    said = operations.steer(session, "correct", row.journey_id, other="The  oil is\nruled out.")
    assert said.frontier == "The oil is ruled out."
    assert said.frontier_refs == row.frontier_refs
    assert rows(session)[WHEEL].frontier == "The oil is ruled out."
    take(home, a_thread("w9", WHEEL, ANSWERS[WHEEL], day=52))
    assert "ruled out" not in rows(session)[WHEEL].frontier
    with pytest.raises(WrongValue):
        operations.steer(session, "correct", row.journey_id, other="  ")


def test_secrets_in_the_owners_words_are_masked(session):
    key = "AKIA" + "Q" * 16
    name = rows(session)[WHEEL].journey_id
    said = operations.steer(session, "correct", name, other=f"use {key} for the tide data")
    assert key not in said.frontier


def test_a_merged_journey_goes_on_in_its_target(home, session):
    source, target = (rows(session)[text].journey_id for text in (WHEEL, STACK))
    merged = operations.steer(session, "merge", source, other=target)
    assert (merged.status, merged.merged_into) == ("abandoned", target)
    take(home, a_thread("w9", WHEEL, ANSWERS[WHEEL], day=55))
    # it holds the whole of the merged inquiry, and what came since
    assert rows(session)[STACK].waypoints == 3 + 3 + 1
    for act in ("revive", "confirm", "merge"):
        with pytest.raises(NotPossible):
            operations.steer(session, act, source, other=target)


def test_a_merge_needs_another_living_target(session):
    source, target = (rows(session)[text].journey_id for text in (WHEEL, STACK))
    with pytest.raises(WrongValue):
        operations.steer(session, "merge", source)
    with pytest.raises(NotPossible):
        operations.steer(session, "merge", source, other=source)
    with pytest.raises(NotFound):
        operations.steer(session, "merge", source, other="j:none")
    operations.steer(session, "merge", source, other=target)
    with pytest.raises(NotPossible):
        operations.steer(session, "merge", target, other=source)


def test_unknown_acts_and_journeys_are_named(session):
    with pytest.raises(WrongValue):
        operations.steer(session, "forgive", "j:any")
    with pytest.raises(NotFound):
        operations.steer(session, "confirm", "j:none")


def test_acts_move_a_journey_on_the_map(session):
    source, target = (rows(session)[text].journey_id for text in (WHEEL, STACK))
    assert rows(session)[WHEEL].layer == "foreground"
    assert operations.steer(session, "correct", source, other="Dry.").confidence == 0.54
    merged = operations.steer(session, "merge", source, other=target)
    assert (merged.visibility, merged.layer) == (0.0, "collapsed")
    assert rows(session)[STACK].rank == 1.0
    gone = operations.steer(session, "abandon", target)
    assert (gone.rank, gone.visibility) == (0.0, 0.0)
    back = operations.steer(session, "revive", target)
    assert (back.rank, back.visibility, back.layer) == (0.85, 0.65, "visible")


@pytest.mark.parametrize(
    ("status", "acts", "placed"),
    [
        ("traveling", (), (1.0, 0.72, 0.75)),
        ("camped", (), (0.72, 0.64, 0.48)),
        ("arrived", (), (0.42, 0.70, 0.32)),
        ("abandoned", (), (0.12, 0.46, 0.08)),
        ("arrived", ("merged", "appended"), (0.62, 0.70, 0.32)),
        ("camped", ("correct", "correct"), (0.72, 0.28, 0.48)),
    ],
)
def test_each_status_has_its_place(status, acts, placed):
    found = bearing(JourneyStatus(status), acts)
    assert (found.rank, found.confidence, found.visibility) == placed


def test_only_acts_of_the_owner_count(session):
    name = rows(session)[WHEEL].journey_id
    operations.steer(session, "confirm", name)
    with session.store("test") as store:
        acts = acts_on(store.journey_records())[name]
    assert acts == ["created", "confirm"]
    assert bearing(JourneyStatus.TRAVELING, acts) == bearing(JourneyStatus.TRAVELING, ())


def test_the_command_lists_shows_and_acts(home):
    def run(*words):
        # times of the store are long past: what is camped or lapsed depends on the clock
        done = CliRunner().invoke(app, ["--home", str(home), "journeys", *words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    name = next(row["journey_id"] for row in run() if row["core_inquiry"] == WHEEL)
    assert run(name) == run("show", name)
    assert len(run(name)[0]["stops"]) == 3
    assert run("revive", name)[0]["status"] == "traveling"
    said = run("correct", name, "The", "oil", "is", "dry.")
    assert said[0]["frontier"] == "The oil is dry."
    failed = CliRunner().invoke(app, ["--home", str(home), "journeys", "forgive", name])
    assert failed.exit_code != 0
