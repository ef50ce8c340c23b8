"""Word lists match whole English words and Chinese substrings."""

import pytest

from dream import lexicon


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("technique", "we implemented it", True),
        ("technique", "the buildings", False),
        ("verification", "TESTED twice", True),
        ("verification", "the contest", False),
        ("verification", "我们测试了", True),
        ("instruction", "please Ignore previous words", True),
        ("persona", "what the user likes", True),
        ("persona", "what the users like", False),
    ],
)
def test_words_are_found(name, text, held):
    assert lexicon.has(name, text) is held


def test_a_diagnosis_of_a_person_is_sensitive():
    assert lexicon.sensitivity("the diagnosis of her illness") == "health"


def test_a_diagnosis_of_a_crash_is_not():
    assert lexicon.sensitivity("the diagnosis of the crash") is None


def test_what_makes_words_technical_may_stand_in_the_context():
    assert lexicon.sensitivity("rotate the password") == "credential"
    assert lexicon.sensitivity("rotate the password", "the server log says so") is None


def test_a_disclaimer_is_taken_out_first():
    assert lexicon.sensitivity("this is not a diagnosis") is None
    assert lexicon.sensitivity("our technical debt grows") is None


def test_a_technical_context_does_not_excuse_grave_matters():
    assert lexicon.sensitivity("the code of his trauma") == "trauma"


def test_plain_words_pass():
    assert lexicon.sensitivity("preference and relationship") is None
