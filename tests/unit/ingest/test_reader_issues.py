import json
from datetime import UTC, datetime

import pytest

from ingest.model import RawThread, ReadFailure, Source, Tally
from ingest.readers import issues
from ingest.sniff import choose
from tests.ingest_memory import Memory

URL = "https://github.com/o/r/issues/1"


def at(day):
    return f"2026-01-{day:02}T00:00:00Z"


def graphql(**more):
    """An issue as archives and GraphQL have it."""
    found = {
        "number": 1,
        "title": "It fails",
        "url": URL,
        "state": "OPEN",
        "author": {"login": "ana"},
        "authorAssociation": "OWNER",
        "body": "text",
        "createdAt": at(1),
        "closedAt": None,
        "comments": [],
    }
    return {**found, **more}


def rest(**more):
    """An issue as the REST interface has it."""
    found = {
        "number": 1,
        "title": "It fails",
        "html_url": URL,
        "url": "https://api.github.com/repos/o/r/issues/1",
        "state": "open",
        "user": {"login": "ana", "type": "User"},
        "author_association": "OWNER",
        "body": "text",
        "created_at": at(1),
        "closed_at": None,
        "comments": 0,
    }
    return {**found, **more}


def gitlab(**more):
    found = {
        "iid": 1,
        "title": "It fails",
        "web_url": "https://gitlab.example/g/sub/p/-/issues/1",
        "state": "opened",
        "author": {"username": "ana", "name": "Ana A"},
        "description": "text",
        "created_at": at(1),
        "closed_at": None,
        "notes": [],
    }
    return {**found, **more}


def comment(body, day=2, who="bo", association="MEMBER", **more):
    found = {"author": {"login": who}, "authorAssociation": association}
    return {**found, "body": body, "createdAt": at(day), **more}


def read(value, **options):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    src = Source.of_bytes(raw)
    for name, chosen in options.items():
        setattr(src, name, chosen)
    tally = Tally("x")
    found = list(issues.read(src, tally))
    for one in found:
        if isinstance(one, RawThread):
            tally.drop("turn", sum(turn.records for turn in one.turns))
    assert tally.balanced
    return found, tally


def only(value, **options):
    (found,), _ = read([value], **options)
    return found


def said(found):
    return [(turn.role.value, turn.speaker, turn.blocks[0]) for turn in found.turns]


# --- one issue


@pytest.mark.parametrize("issue", [graphql(), rest()])
def test_an_issue_is_a_thread(issue):
    found = only(issue)
    assert (found.native_id, found.project) == ("o/r#1", "o/r")
    assert found.native_ids == ("o/r#1", URL)
    assert [one.text for one in found.titles] == ["It fails"]
    assert said(found) == [("human", "ana", "text")]
    assert found.turns[0].at == datetime(2026, 1, 1, tzinfo=UTC)


def test_an_issue_of_gitlab():
    note = {"id": 7, "author": {"username": "bo"}, "created_at": at(2)}
    notes = [
        {**note, "body": "closed", "system": True},
        {**note, "body": "why?", "system": False},
    ]
    (found,), tally = read([gitlab(notes=notes)])
    assert found.native_id == "g/sub/p#1"
    assert said(found) == [("human", "ana", "text"), ("human", "bo", "why?")]
    assert tally.dispositions["meta"] == 1


def test_discussions_of_gitlab_hold_notes():
    note = {"id": 7, "author": {"username": "bo"}, "created_at": at(2), "body": "why?"}
    issue = gitlab(discussions=[{"id": "d", "notes": [note]}])
    del issue["notes"]
    (found,), tally = read([issue])
    assert said(found)[1] == ("human", "bo", "why?")
    assert tally.records == 2


def test_a_merge_request_is_apart_from_the_issue_of_its_number():
    url = "https://gitlab.example/g/sub/p/-/merge_requests/1"
    assert only(gitlab(web_url=url)).native_id == "g/sub/p!1"


def test_without_an_address_the_number_is_the_id():
    issue = graphql()
    del issue["url"]
    assert (only(issue).native_id, only(issue).project) == ("1", None)


def test_texts_stand_by_time_whatever_their_order():
    comments = [comment("c", 4), comment("a", 2), comment("untimed", createdAt=None)]
    reviews = [comment("b", 3, submittedAt=at(3), createdAt=None, state="COMMENTED")]
    found = only(graphql(comments=comments, reviews=reviews))
    assert [text for _, _, text in said(found)] == ["text", "a", "untimed", "b", "c"]


def test_comments_may_lie_in_nodes():
    issue = graphql(comments={"nodes": [comment("a")], "totalCount": 1})
    assert [text for _, _, text in said(only(issue))] == ["text", "a"]


def test_comments_of_a_review_are_of_its_author_and_time():
    inner = {"originalPosition": 1, "body": "nit"}
    review = comment("", 3, "cy", state="APPROVED", comments={"nodes": [inner]})
    (found,), tally = read([graphql(reviews=[review])])
    assert said(found) == [("human", "ana", "text"), ("human", "cy", "nit")]
    assert found.turns[1].at == datetime(2026, 1, 3, tzinfo=UTC)
    assert tally.dispositions == {"empty": 1, "turn": 2}


def test_an_issue_that_is_all_title_says_it():
    assert said(only(graphql(body=None))) == [("human", "ana", "It fails")]


@pytest.mark.parametrize(
    ("more", "detail", "day"),
    [
        ({}, "open", None),
        ({"state": "CLOSED", "closedAt": at(5)}, "closed", 5),
        ({"state": "MERGED", "closedAt": at(5), "mergedAt": at(5)}, "merged", 5),
    ],
)
def test_state_and_closing_time_are_an_event(more, detail, day):
    (event,) = only(graphql(**more)).events
    moment = None if day is None else datetime(2026, 1, day, tzinfo=UTC)
    assert (event.kind, event.detail, event.at) == ("issue_state", detail, moment)


# --- who speaks


@pytest.mark.parametrize(
    ("association", "role"),
    [("OWNER", "human"), ("MEMBER", "human"), ("COLLABORATOR", "human"),
     ("CONTRIBUTOR", "other"), ("NONE", "other")],
)  # fmt: skip
def test_members_of_the_repository_are_persons(association, role):
    found = only(graphql(comments=[comment("a", association=association)]))
    assert said(found)[1] == (role, "bo", "a")


def test_where_nobody_is_listed_everyone_is_a_person():
    issue = graphql(comments=[{"author": {"login": "bo"}, "body": "a"}])
    del issue["authorAssociation"]
    assert [role for role, _, _ in said(only(issue))] == ["human", "human"]


def test_what_a_comment_says_of_its_author_counts_for_the_issue():
    issue = graphql(comments=[comment("a", who="ana", association="NONE")])
    del issue["authorAssociation"]
    assert [role for role, _, _ in said(only(issue))] == ["other", "other"]


@pytest.mark.parametrize("name", ["ana", "@Ana", "Ana A"])
def test_with_me_only_the_named_are_persons(name):
    issue = graphql(author={"login": "ana", "name": "Ana A"}, comments=[comment("a")])
    assert [role for role, _, _ in said(only(issue, me=(name,)))] == ["human", "other"]


@pytest.mark.parametrize(
    "author",
    [{"login": "ci[bot]"}, {"login": "ci", "is_bot": True}, {"login": "ci", "type": "Bot"},
     {"login": "ci", "__typename": "Bot"}, "ci[bot]"],
)  # fmt: skip
def test_a_program_answers_with_comments_and_posts_with_issues(author):
    assert said(only(graphql(comments=[comment("a", author=author)])))[1][0] == "assistant"
    (found,), tally = read([graphql(author=author, comments=[comment("a")])])
    assert said(found) == [("human", "bo", "a")]
    assert tally.dispositions["tool"] == 1


@pytest.mark.parametrize("author", [None, {}, "", 5])
def test_an_author_who_is_gone(author):
    assert said(only(graphql(author=author))) == [("human", "ghost", "text")]


# --- references


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See #2, o/x#3 and g/s/p!4.", ("#2", "o/x#3", "g/s/p!4")),
        ("(#2) [#3](u) #4: #5", ("#2", "#3", "#4", "#5")),
        ("`#2` and\n```\n#3\n```\n&#39; a#4 x/#5 #6a #7-b", ()),
        ("no number # 2 or #!3", ()),
    ],
)
def test_numbers_of_other_issues_are_links(text, links):
    assert only(graphql(body=text)).turns[0].links == links


# --- documents


def test_an_archive_holds_issues_and_pulls():
    pull = graphql(number=2, url="https://github.com/o/r/pull/2", reviews=[])
    value = {"magic": "m", "timestamp": at(9), "repo": "o/r", "issues": [graphql()]}
    found, tally = read({**value, "pulls": [pull]})
    assert [one.native_id for one in found] == ["o/r#1", "o/r#2"]
    assert tally.codes == {}


def test_the_archive_names_the_repository_of_issues_without_an_address():
    issue = graphql()
    del issue["url"]
    (found,), _ = read({"magic": "m", "repo": "o/r", "issues": [issue], "pulls": []})
    assert found.native_id == "o/r#1"


def test_the_answer_of_a_query():
    page = {"nodes": [graphql(), graphql(number=2, url=None)], "pageInfo": {}}
    value = {"data": {"repository": {"issues": page, "pullRequests": {"nodes": [{"number": 3}]}}}}
    found, _ = read(value)
    assert [one.native_id for one in found] == ["o/r#1", "2"]


def test_pages_one_after_the_other():
    raw = json.dumps([graphql()]) + "\n" + json.dumps([graphql(number=2, url=None)])
    assert [one.native_id for one in read(raw.encode())[0]] == ["o/r#1", "2"]


@pytest.mark.parametrize(
    "value", [1, None, {}, {"number": "1", "title": "T"}, {"number": True, "title": "T"}]
)
def test_what_is_no_issue_is_lost_and_the_rest_stays(value):
    found, tally = read([value, graphql()])
    assert [type(one) for one in found] == [ReadFailure, RawThread]
    assert found[0].code == "bad_conversation"
    assert tally.dispositions == {"lost": 1, "turn": 1}


@pytest.mark.parametrize("value", [1, None, "x", []])
def test_a_comment_that_is_none_is_lost(value):
    (found,), tally = read([graphql(comments=[value, comment("a")])])
    assert len(found.turns) == 2
    assert tally.codes == {"bad_message": 1}


def test_a_bad_time_is_told():
    _, tally = read([graphql(createdAt="soon", comments=[comment("a", createdAt="x")])])
    assert tally.codes["bad_timestamp"] >= 2


# --- runs


def test_a_later_archive_adds_comments_and_the_state(tmp_path):
    file = tmp_path / "archive.json"
    store = Memory()
    first = graphql(comments=[comment("a")])
    then = graphql(comments=[comment("a"), comment("b", 3)], state="CLOSED", closedAt=at(4))
    for issue in (first, then):
        file.write_text(
            json.dumps({"magic": "m", "repo": "o/r", "issues": [issue], "pulls": []}), "utf-8"
        )
        report = store.ingest(file)
    assert (report.grown, report.codes) == (1, ())
    (thread,) = store.threads.values()
    assert thread.thread_id == "issues:o%2Fr%231"
    assert [(turn.number, turn.text) for turn in thread.turns] == [(1, "text"), (2, "a"), (3, "b")]
    assert [event.detail for event in thread.events] == ["closed"]


def test_two_repositories_without_addresses_do_not_mix(tmp_path):
    for name, body in (("a", "words of one"), ("b", "something else")):
        issue = graphql(body=body)
        del issue["url"]
        (tmp_path / f"{name}.json").write_text(json.dumps([issue]), "utf-8")
    store = Memory()
    report = store.ingest(tmp_path)
    assert len(store.threads) == 2
    assert [one.code for one in report.codes] == ["id_collision"]


# --- sniffing


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "value",
    [
        [graphql()],
        [rest()],
        [gitlab()],
        graphql(),
        {"magic": "m", "repo": "o/r", "issues": [], "pulls": []},
        {"magic": "m", "repo": "o/r", "issues": [graphql(body="x" * 90_000)], "pulls": []},
        {"data": {"repository": {"issues": {"nodes": [graphql()]}}}},
        {"magic": "m", "issues": [graphql()] * 300, "pulls": []},
    ],
)
def test_known_by_what_issues_have(value, indent):
    raw = json.dumps(value, indent=indent).encode()
    assert getattr(choose(Source.of_bytes(raw)), "NAME", None) == "issues"


def test_known_line_by_line():
    raw = b"\n".join(json.dumps(graphql(number=n)).encode() for n in range(3))
    assert getattr(choose(Source.of_bytes(raw)), "NAME", None) == "issues"


@pytest.mark.parametrize(
    "value", [[{"number": 1, "title": "T"}], {"data": {}}, {"issues": []}, [1, 2]]
)
def test_not_taken_for_issues(value):
    chosen = choose(Source.of_bytes(json.dumps(value).encode()))
    assert getattr(chosen, "NAME", None) != "issues"
