import pytest

from graphstore.ids import fingerprint
from ingest.text import TEXT_LIMIT, decode, safe_text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain words", "plain words"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb\r\n", "a\nb"),
        ("a\rb", "a\nb"),
        ("nul\0 gone", "nul gone"),
        ("bell\x07 and \x0bmore\x0c", "bell and more"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07words", "words"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bcharset", "charset"),
        ("\x9b1mcsi", "csi"),
        ("\x1b]0;never closed", "0;never closed"),
        ("\x9d0;title\x9cwords \x90q\x9e", "0;titlewords q"),
        ("a\u202eb\u202cc\u2066d\u2069", "abcd"),
        ("left\u200eto\u200fright", "left\u200eto\u200fright"),
        ("\n \t\n  indented\nend \n\n", "  indented\nend"),
        ("   \n\t ", ""),
        ("inside   stays\n\n\n```\n  code  \n```", "inside   stays\n\n\n```\n  code  \n```"),
        ("e\u0301", "\u00e9"),
        ("\u2028line\u0085sep\u2029x", "\u2028line\u0085sep\u2029x"),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        ),
    ],
)
def test_text_becomes_safe_and_nothing_else_changes(text, safe):
    assert safe_text(text) == (safe, ())


def test_lone_surrogates_are_counted_and_pairs_are_joined():
    assert safe_text("a\udcb2b\ud83d\ude00c\ud83d") == (
        "a\ufffdb\U0001f600c\ufffd",
        (("lone_surrogate", 2),),
    )


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u65e5", "\U0001f600"])
def test_a_text_over_the_limit_is_cut_at_a_character(letter):
    whole = letter * (3 * 1024 * 1024 // len(letter.encode()))
    text, repairs = safe_text(whole)
    assert repairs == (("text_cut", 1),)
    assert whole.startswith(text)
    assert TEXT_LIMIT - 4 < len(text.encode()) <= TEXT_LIMIT
    assert safe_text(text) == (text, ())


def test_equal_words_in_either_normal_form_have_one_fingerprint():
    composed, _ = safe_text("caf\u00e9")
    decomposed, _ = safe_text("cafe\u0301")
    assert fingerprint("human", composed) == fingerprint("human", decomposed)


@pytest.mark.parametrize(
    ("raw", "text", "repairs"),
    [
        (b"plain", "plain", ()),
        (b"\xef\xbb\xbfmarked", "marked", ()),
        ("\ufeffwide".encode("utf-16-le"), "wide", ()),
        ("\ufeffwide".encode("utf-16-be"), "wide", ()),
        (b"bad \x9d byte", "bad \ufffd byte", (("bad_utf8", 1),)),
        (b"\xff\xfe\xfd"[1:], "\ufffd\ufffd", (("bad_utf8", 2),)),
        (
            "its own \ufffd, ".encode() + b"and \xc3",
            "its own \ufffd, and \ufffd",
            (("bad_utf8", 1),),
        ),
        ("\ufffd".encode(), "\ufffd", ()),
    ],
)
def test_bytes_are_decoded_and_bad_ones_counted(raw, text, repairs):
    assert decode(raw) == (text, repairs)
