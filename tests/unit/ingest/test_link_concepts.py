import pytest

from graphstore.ids import question_id, thread_of
from tests.talk import a_thread, derived


def ref(thread: str, turn: int) -> str:
    return f"thread:{thread}#turn:{turn}"


def test_thread_of_a_ref():
    assert thread_of("thread:claude-code:x#turn:12") == "claude-code:x"


def rows_of(*sentences: str) -> dict[tuple[str, ...], str]:
    """(src label, dst label) -> type of the typed relations of threads that say a sentence."""
    names = "The vent stack, the salt film, the hall sensor and the oak post."
    talk = [a_thread(f"t{n}", names, f"> {one}") for n, one in enumerate(sentences)]
    talk += [a_thread("more", names)]
    ground, _ = derived(talk)
    labels = {one.concept_id: one.label for one in ground.concepts}
    found: dict[tuple[str, ...], str] = {}
    for row in ground.relates:
        if row.edge_type in {"alternative_to", "contradicts"}:
            assert row.src < row.dst
            found[tuple(sorted((labels[row.src], labels[row.dst])))] = row.edge_type
        elif row.edge_type != "co_occurs":
            found[labels[row.src], labels[row.dst]] = row.edge_type
    return found


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("A vent stack leads to a salt film.", {("vent stack", "salt film"): "causes"}),
        ("There is a salt film because the vent stack leaks.",
         {("vent stack", "salt film"): "causes"}),
        ("The hall sensor needs the oak post.", {("hall sensor", "oak post"): "depends_on"}),
        ("Take the oak post instead of the vent stack.",
         {("oak post", "vent stack"): "alternative_to"}),
        ("The hall sensor, unlike the oak post, is small.",
         {("hall sensor", "oak post"): "contradicts"}),
        ("The salt film inside the vent stack is thin.",
         {("salt film", "vent stack"): "part_of"}),
        ("The vent stack is tall. It leads to a salt film.", {}),
        ("Does the vent stack lead to a salt film?", {}),
        ("The vent stack is a fine old thing and it leads after all these years to a salt film.",
         {}),
    ],
)  # fmt: skip
def test_types_relations_by_cue(sentence, expected):
    assert rows_of(sentence) == expected


def test_company_needs_more_than_chance():
    talk = [
        a_thread("a", "The vent stack has a salt film.", "> A vent stack keeps a salt film."),
        a_thread("b", "The oak post is here. The quay wall is there.", "> The oak post."),
        a_thread("c", "The oak post, again.", "> The quay wall, again."),
    ]
    ground, epoch = derived(talk)
    assert epoch.pmi_floor > 0
    assert {row.edge_type for row in ground.relates} <= {"co_occurs"}
    for row in ground.relates:
        assert row.src < row.dst
        assert row.source_refs == tuple(sorted(set(row.source_refs)))
        assert row.why


def test_templates_are_told_from_questions_that_recur():
    wrapped = "You are a careful reader. Is the drawing of the drum complete? Answer briefly."
    alone = "What stops the escape wheel after every spring tide?"
    talk = [a_thread(f"t{n}", wrapped) for n in range(5)]
    talk += [a_thread(f"u{n}", alone) for n in range(6)]
    _, epoch = derived(talk)
    assert epoch.templates == (question_id("Is the drawing of the drum complete?"),)
    _, fewer = derived(talk[1:])
    assert fewer.templates == ()


def test_a_long_prompt_that_stands_alone_is_a_template():
    prompt = "Is " + "the drum of the old clock in the blue house " * 4 + "complete?"
    _, epoch = derived([a_thread(f"t{n}", prompt) for n in range(5)])
    assert len(epoch.templates) == 1


def test_the_epoch_counts_lineages():
    talk = [
        a_thread("a", "The escape wheel stops."),
        a_thread("b", "The escape wheel stops, the Escape Wheel."),
        a_thread("c", "The oak post."),
        a_thread("d"),
    ]
    roots = {one.thread_id: one.thread_id for one in talk}
    _, epoch = derived(talk, roots)
    assert epoch.lineages == 3
    assert [(row.name, row.count) for row in epoch.concept_df] == [("escape wheel", 2)]
    assert epoch.token_df
    one_family = {**roots, "test:b": "test:a"}
    _, epoch = derived(talk, one_family)
    assert epoch.lineages == 2
    assert epoch.concept_df == ()


def test_the_label_of_a_concept_is_its_commonest_spelling():
    talk = [
        a_thread("a", "The github is here."),
        a_thread("b", "We use GitHub there."),
        a_thread("c", "They like GitHub."),
    ]
    _, epoch = derived(talk)
    assert [(row.name, row.count) for row in epoch.concept_df] == [("GitHub", 3)]


def test_company_is_told_with_turns_for_both():
    talk = [
        a_thread("a", "The vent stack.", "> The salt film."),
        a_thread("b", "The salt film.", "> The vent stack."),
        a_thread("c", "The oak post at the quay wall."),
        a_thread("d", "The quay wall behind the oak post."),
        a_thread("e", "The oak post."),
        a_thread("f", "The quay wall."),
    ]
    ground, _ = derived(talk)
    labels = {one.concept_id: one.label for one in ground.concepts}
    named = {frozenset((labels[row.src], labels[row.dst])): row for row in ground.relates}
    assert frozenset(("oak post", "quay wall")) not in named
    row = named[frozenset(("vent stack", "salt film"))]
    assert row.edge_type == "co_occurs"
    assert row.source_refs == (
        ref("test:a", 1),
        ref("test:a", 2),
        ref("test:b", 1),
        ref("test:b", 2),
    )
    assert row.weight == 2.0
    assert row.why == "together in 0 turns and 2 threads"
