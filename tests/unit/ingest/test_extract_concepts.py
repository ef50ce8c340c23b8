import pytest

from graphstore.ids import concept_id
from graphstore.model.knowledge import ConceptKind
from graphstore.model.record import Count, EpochRecord
from ingest.extract.concepts import Candidates, Gatherer, skeleton, symbol_of, unspaced
from ingest.extract.figures import CEILING, figures, keep
from ingest.extract.paths import is_path, merged, relative, spans
from ingest.extract.reading import Reader, read
from ingest.extract.text import strip
from tests.talk import EMPTY, a_thread, facts_of


def gathered(*turns: str, project: str | None = None, code: str = "en") -> Candidates:
    gatherer = Gatherer(project)
    for number, text in enumerate(turns, 1):
        gatherer.turn(number, strip(text), code, ())
    return gatherer.done()


def kind_of(text: str, label: str) -> ConceptKind | None:
    for one in gathered(text).values():
        if label in one.forms:
            return one.kind
    return None


@pytest.mark.parametrize(
    ("text", "label", "kind"),
    [
        ("Look at `tools/rate_log.py` first", "tools/rate_log.py", ConceptKind.PATH),
        ("Look at tools/rate_log.py:12, please", "tools/rate_log.py", ConceptKind.PATH),
        ("call `wind_up()` twice", "wind_up", ConceptKind.SYMBOL),
        ("call wind_up twice", "wind_up", ConceptKind.SYMBOL),
        ("the DrumWinder is slow", "DrumWinder", ConceptKind.ENTITY),
        ("use --dry-run there", "--dry-run", ConceptKind.SYMBOL),
        ("ValueError: bad value 12", "ValueError: bad value", ConceptKind.ERROR),
        ("it raises WindingError there", "WindingError", ConceptKind.ERROR),
        ("it says ENOENT there", "ENOENT", ConceptKind.ERROR),
        ("```\nerror: no such drum 7\n```", "error: no such drum", ConceptKind.ERROR),
        ("the escape wheel stops", "escape wheel", ConceptKind.TERM),
        ("the escape-wheel stops", "escape-wheel", ConceptKind.TERM),
    ],
)
def test_finds_candidates_of_every_kind(text, label, kind):
    assert kind_of(text, label) is kind


@pytest.mark.parametrize(
    "text",
    ["let me see", "the file is good", "please update the code", "Bash and Grep ran", "it's 12:30",
     "quickly really actually", "run the tests again and again", "12345678 claude-opus-20250101"],
)  # fmt: skip
def test_talk_and_tool_words_are_no_concepts(text):
    assert gathered(text) == {}


def test_a_common_word_is_a_term_in_company_only():
    found = gathered("the merge conflict and the merge")
    assert "merge conflict" in found
    assert "merge" not in found


def test_participles_name_nothing_alone():
    found = gathered("the winding drum was rewinding")
    assert "winding drum" in found
    assert "winding" not in found
    assert "rewinding" not in found


def test_spellings_meet_in_one_key():
    found = gathered("escape wheel, Escape Wheels and the escape-wheel")
    assert found["escape wheel"].count == 3


def test_a_name_inside_sentences_is_an_entity():
    assert gathered("we like the GitHub page")["github"].kind is ConceptKind.ENTITY
    assert gathered("Drums are loud")["drum"].kind is ConceptKind.TERM


def test_bold_terms_weigh_more():
    found = gathered("the **salt film** is thin, the oak post is tall")
    assert found["salt film"].weight == 1.2
    assert found["oak post"].weight == 1.0


def test_a_term_that_lives_in_a_longer_one_is_dropped():
    found = gathered("escape wheel, escape wheel, escape wheel")
    assert set(found) == {"escape wheel"}
    free = gathered("escape wheel, escape wheel, wheel, wheel")
    assert "wheel" in free


def test_chinese_runs_give_their_parts():
    assert unspaced("数据库的连接池") == ("数据库", "连接池")
    assert "连接池" in gathered("数据库的连接池", code="zh")


def test_error_messages_lose_what_varies():
    assert skeleton('no file "a.txt" at /tmp/x line 12') == "no file \u2026 at \u2026 line"


@pytest.mark.parametrize(
    ("span", "name"),
    [("wind_up(2)", "wind_up"), ("Drum.wind", "Drum.wind"), ("rm -rf", ""), ("x", ""),
     ("plain", ""), ("true", ""), ("HOME_DIR", "HOME_DIR")],
)  # fmt: skip
def test_tells_a_name_in_a_code_span(span, name):
    assert symbol_of(span) == name


@pytest.mark.parametrize("text", ["a/b.py", "src/deep/place", "./run", "README.md"])
def test_what_is_a_path(text):
    assert is_path(text)


@pytest.mark.parametrize("text", ["and/or", "1/2/2025", "v1.2", "e.g", "", "a b/c.py"])
def test_what_is_no_path(text):
    assert not is_path(text)


def test_paths_lose_project_line_and_dots():
    assert relative("/home/m/clock/src/a.py:12:3", "/home/m/clock") == "src/a.py"
    assert relative("/srv/other/clock/src/a.py", "/home/m/clock") == "src/a.py"
    assert relative("./src/a.py", None) == "src/a.py"
    assert relative("src/a.py.", None) == "src/a.py"
    assert relative("/proc/scratch/a.py", None) == ""
    assert relative("../../up.py", None) == ""
    assert relative("logs/468a327a-3a67-4489-aa5d-93c1c4b1cd8e/a.json", None) == ""


def test_finds_paths_in_prose():
    text = "see tools/rate_log.py, and (a.py)."
    assert [text[start:end] for start, end in spans(text)] == ["tools/rate_log.py", "a.py"]


def test_long_and_short_forms_of_a_path_are_one():
    assert merged(["/w/x/src/a.py", "a.py", "src/a.py"]) == [
        ("/w/x/src/a.py", "src/a.py"),
        ("a.py", "src/a.py"),
    ]
    assert merged(["a.py", "lib/a.py", "src/a.py"]) == []


def test_a_bare_file_name_joins_its_only_path():
    found = gathered("change src/drum.py now", "drum.py is done")
    assert set(found) == {"src/drum.py"}
    assert found["src/drum.py"].turns == {1: 1, 2: 1}


def test_one_mention_is_noise_unless_typed_or_known_elsewhere():
    found = gathered("the salt film near `wind_up()`")
    assert {one.label for one in keep(found, 100, figures(EMPTY))} == {"wind_up"}
    known = figures(
        EpochRecord(extractor="x", lineages=4, concept_df=(Count(name="salt film", count=2),))
    )
    assert {one.label for one in keep(found, 100, known)} == {"wind_up", "salt film"}


def test_keeps_twelve_and_four_for_each_thousand_words():
    text = " . ".join(f"`name_{letter}{other}`" for letter in "abcdefgh" for other in "abcdefghij")
    found = gathered(text)
    assert len(found) == 80
    assert len(keep(found, 0, figures(EMPTY))) == 12
    assert len(keep(found, 2500, figures(EMPTY))) == 22
    assert len(keep(found, 10**6, figures(EMPTY))) == CEILING


def test_salience_is_frequency_times_rarity_times_weight():
    epoch = figures(
        EpochRecord(extractor="x", lineages=9, concept_df=(Count(name="oak post", count=9),))
    )
    found = gathered("oak post. salt film. oak post. salt film.")
    first, second = keep(found, 0, epoch)
    # idf: log(10 / 2) + .1 = 1.7094 against log(10 / 10) + .1 = .1
    assert (first.label, first.salience) == ("salt film", 1.0)
    assert (second.label, second.salience) == ("oak post", 0.0585)


def test_the_spelling_of_the_epoch_is_the_label():
    epoch = figures(
        EpochRecord(extractor="x", lineages=3, concept_df=(Count(name="GitHub", count=3),))
    )
    (one,) = keep(gathered("the github. the github."), 0, epoch)
    assert one.label == "GitHub"
    assert one.concept_id == concept_id("GitHub")
    assert one.aliases == ("github",)


def test_stop_list_words_are_generic():
    generic = {one.label: one.generic for one in facts_of("`config.value` `wind_up`").concepts}
    assert generic == {"config.value": False, "wind_up": False}
    epoch = figures(
        EpochRecord(extractor="x", lineages=3, concept_df=(Count(name="repo", count=2),))
    )
    (one,) = keep(gathered("the repo. the repo."), 0, epoch)
    assert one.generic


def test_what_a_question_names_is_kept_beyond_the_usual_number():
    names = " . ".join(f"`name_{letter}`, `name_{letter}`" for letter in "abcdefghijklmnop")
    found = facts_of(names, "What is in `last_one`?")
    labels = {one.label for one in found.concepts}
    assert len(labels) == 13
    assert "last_one" in labels
    assert len(facts_of(names, "It is in `last_one`.").concepts) == 12


def test_readings_are_remembered_within_bounds():
    from ingest import derive as derive_module
    from tests.talk import a_thread

    derivation = derive_module.Derivation(remembered=150)
    many = [
        a_thread(f"t{n}", " ".join(f"`name_{n}_{letter}{other}`" for letter in "abcdefghij"
                                    for other in "abcdefghij"))
        for n in range(4)
    ]  # fmt: skip
    first = [derivation.facts(one, EMPTY) for one in many]
    assert [derivation.facts(one, EMPTY) for one in many] == first
    assert derivation.version == derive_module.Derivation().version


def test_what_follows_the_scheme_of_an_address_is_no_path():
    assert relative("//clocks.example/docs/oil.html", None) == ""
    found = gathered("```\nsee https://clocks.example/docs/oil.html\n```")
    assert not [key for key, one in found.items() if one.kind is ConceptKind.PATH]


GREETINGS = (
    "hi",
    "Hello!",
    "Bonjour",
    "hola",
    "Guten Tag",
    "你好",
    "こんにちは",
    "नमस्ते",
    "How are you?",
)
OFFER = "> I can explain `lens_shade` and `lens_shade` in **camera design**."


@pytest.mark.parametrize("greeting", GREETINGS)
def test_what_answers_a_greeting_is_about_nothing(greeting):
    assert read(a_thread("a", greeting, OFFER)).candidates == {}


def test_what_answers_a_question_that_greets_is_about_something():
    assert read(a_thread("a", "Hello, why does the lens flare?", OFFER)).candidates


@pytest.mark.parametrize("pasted", ["```\nturn(lens)\n```", "![](flare.png)", "?"])
def test_what_answers_a_turn_without_a_sentence_is_about_something(pasted):
    assert read(a_thread("a", pasted, OFFER)).candidates


def test_after_a_greeting_the_thread_is_read_again():
    turns = ("hi", OFFER, "Why does the `aperture_ring` stick? The `aperture_ring` is new.")
    found = read(a_thread("a", *turns)).candidates
    assert "aperture_ring" in {form for one in found.values() for form in one.forms}
    assert "lens_shade" not in {form for one in found.values() for form in one.forms}
    reader = Reader(None)
    for end in range(1, 4):
        grown = reader.read(a_thread("a", *turns[:end]))
    assert grown.candidates == found


@pytest.mark.parametrize(
    ("written", "label"),
    [("SSH", "SSH"), ("css", "css"), ("LLMs", "LLM"), ("URLs", "URL"), ("DNS", "DNS")],
)
def test_what_is_called_by_its_first_letters_is_a_concept(written, label):
    text = f"The {written} of the drum. Look at {written} first, then at {written} again."
    assert label in {one.label for one in facts_of("Why?", f"> {text}").concepts}


@pytest.mark.parametrize("written", ["shoudl", "haha", "lol", "becuase", "www", "const"])
def test_slips_and_sounds_are_none(written):
    text = f"The {written} drum. Look at {written} first, then at {written} again."
    found = {one.label for one in facts_of("Why?", f"> {text}").concepts}
    assert not any(written in label.split() for label in found)
