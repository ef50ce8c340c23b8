from sys import getrefcount

import pytest

from ingest.extract.text import clip, sentences, strip
from ingest.extract.words import count_words, keys, language_of, singular, stem


@pytest.mark.parametrize(
    "block",
    [
        "```py\nimport secret_thing\n```",
        "~~~\nsecret_thing\n",
        "<output>secret_thing</output>",
        "> secret_thing was said before",
        "2025-01-02 10:11:12 INFO secret_thing",
        '  File "secret_thing.py", line 3, in run',
        "diff --git a/secret_thing b/secret_thing",
        "$ run secret_thing",
        "+secret_thing = 1",
        '"secret_thing": 12,',
        "https://example.org/secret_thing",
    ],
)
def test_takes_out_code_output_quotes_and_logs(block):
    prose = strip(f"Before it.\n{block}\n\nAfter it.")
    assert "secret_thing" not in prose.text
    assert "Before it." in prose.text
    if not block.startswith(("~~~", "> ", "http")):
        assert "After it." in prose.text


def test_the_mark_of_a_masked_secret_is_no_word():
    prose = strip("Use [masked:openai_key] here.\n```\nkey = [masked:aws_secret]\n```\n")
    assert "openai_key" not in prose.text
    assert "aws_secret" not in " ".join(prose.blocks)


def test_keeps_what_was_taken_out_for_paths_and_errors():
    (block,) = strip("See:\n```\nopen a.py\n```\n").blocks
    assert "open a.py" in block


def test_keeps_tables_and_bullets():
    text = "| spring | rate |\n- first point\n+ second point\n"
    assert strip(text).text == text


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("One here. Two there? Three!", ("One here.", "Two there?", "Three!")),
        ("Use e.g. a spring. Then wait.", ("Use e.g. a spring.", "Then wait.")),
        ("It is v1.2.3 now. Good.", ("It is v1.2.3 now.", "Good.")),
        ("Call `a. b. c` first. Then go.", ("Call `a. b. c` first.", "Then go.")),
        ("- first point\n- second point", ("first point", "second point")),
        ("1. first\n2) second", ("first", "second")),
        ("为什么会停\uff1f我不知道。", ("为什么会停\uff1f", "我不知道。")),
        ("यह क्यों रुका? पता नहीं। ठीक है।", ("यह क्यों रुका?", "पता नहीं।", "ठीक है।")),
        ("...\n***\n", ()),
    ],
)
def test_splits_sentences(prose, expected):
    assert sentences(prose) == expected


def test_joins_a_wrapped_line_and_no_other():
    wrapped = "What stops the escape wheel after every spring tide that\nwe have had so far?"
    assert sentences(wrapped) == (wrapped.replace("\n", " "),)
    assert sentences("Short line\nanother one") == ("Short line", "another one")


def test_clips_at_a_word():
    assert clip("a  short\nline", 40) == "a short line"
    cut = clip("one two three four five", 12)
    assert cut == "one two\u2026"
    assert len(clip("x" * 50, 10)) == 10


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("why does it stop when the tide is high", "en"),
        ("warum funktioniert das nicht mehr, wenn die Flut kommt", "de"),
        ("pourquoi est-ce que la roue ne tourne pas avec la marée", "fr"),
        ("¿por qué se para la rueda cuando sube la marea?", "es"),
        ("为什么会停", "zh"),
        ("なぜ止まるのか", "ja"),
        ("यह क्यों रुकता है", "hi"),
        ("x9 q7", "und"),
        ("", "und"),
    ],
)
def test_tells_the_language_of_a_turn(text, code):
    assert language_of(text) == code


def test_keys_are_lemmas_without_function_words():
    assert keys("Why are the wheels stopping again?", "en") == ("wheel", "stop")
    assert keys("Wheel stops", "en") == keys("the WHEEL stopped", "en")


def test_keys_of_unspaced_scripts_are_bigrams_of_what_is_asked_about():
    assert keys("为什么数据库超时\uff1f", "zh") == ("数据", "据库", "库超", "超时")
    assert "テス" in keys("なぜテストが失敗しますか", "ja")


@pytest.mark.parametrize(
    ("word", "base"),
    [("wheels", "wheel"), ("queries", "query"), ("boxes", "box"), ("status", "status"),
     ("unit-tests", "unit-test"), ("gas", "gas")],
)  # fmt: skip
def test_labels_lose_a_plural_only(word, base):
    assert singular(word, "en") == base


def test_counts_two_unspaced_characters_as_a_word():
    assert count_words("one two three") == 3
    assert count_words("数据库 ok") == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("warum bricht unser build ab", "de"),
        ("welche farbe passt zum logo", "de"),
        ("pourquoi notre serveur red\u00e9marre la nuit", "fr"),
        ("por qu\u00e9 est\u00e1 fallando la compilaci\u00f3n", "es"),
        ("zxcv qwer", "und"),
    ],
)
def test_a_short_question_is_told_by_its_small_words(text, code):
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("growe", "grow", "en"),
        ("safely", "safe", "en"),
        ("webhooks", "webhook", "en"),
        ("difference", "differ", "en"),
        ("falla", "fallar", "es"),
        ("r\u00e9initialise", "r\u00e9initialiser", "fr"),
    ],
)
def test_endings_that_a_word_table_missed_do_not_part_two_askings(one, other, code):
    assert stem(one, code) == stem(other, code)


def test_what_is_no_word_keeps_its_end():
    assert stem("cmd_files", "en") == "cmd_files"
    assert stem("das", "de") == "das"
    assert stem("\u5099\u4efds", "zh") == "\u5099\u4efds"


def test_one_digit_tells_two_versions_apart():
    assert set(keys("drop python 3.9", "en")) == {"drop", "python", "3", "9"}


def test_the_pronoun_after_a_french_verb_is_no_part_of_it():
    assert "red\u00e9marrer" in keys("pourquoi le serveur red\u00e9marre-t-il", "fr")


def test_the_texts_of_a_thread_are_remembered_and_large_ones_are_not():
    def kept(text):
        before = getrefcount(text)
        assert sentences(strip(text).text)
        return getrefcount(text) > before

    assert kept("One drum. " * 100)
    assert not kept("One drum. " * 10_000)
