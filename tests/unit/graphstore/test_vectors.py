"""Static vectors: what counts as alike, what the file keeps, and life without the wheel."""

import json
import math
import os
import stat
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from graphstore import vectors
from graphstore.vectors import BASIS, NO_BASIS, Static, VectorFile, cosines

with_wheel = pytest.mark.skipif(not vectors.available(), reason="wordllama is not installed")


@pytest.fixture
def without_wheel(monkeypatch):
    monkeypatch.setattr(vectors, "_pieces", lambda: None)


def texts_of(mapping):
    return lambda names: [mapping[name] for name in names]


def test_reads_a_float16_matrix_without_the_library(tmp_path):
    matrix = np.arange(6, dtype="<f2").reshape(2, 3)
    header = json.dumps(
        {
            "__metadata__": {"made": "here"},
            "embedding.weight": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]},
        }
    ).encode()
    path = tmp_path / "table.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + matrix.tobytes())
    assert np.array_equal(vectors.read_table(path), matrix)


@with_wheel
def test_case_and_repetition_do_not_change_a_text():
    tokens = vectors.tokenise(["Kettle kettle KETTLE boils", "kettle boils"])
    assert tokens.of(0).tolist() == tokens.of(1).tolist()


@with_wheel
def test_marks_and_emoji_alone_give_no_token_and_a_row_of_zeros():
    texts = ["", "?! ...", "\U0001f600"]
    assert vectors.tokenise(texts).ids.size == 0
    assert not Static(3).embed(texts).any()


@with_wheel
def test_rows_are_unit_length_and_do_not_depend_on_their_company():
    static = Static(10)
    texts = ["the tide table", "a lighthouse keeper", "oil for the lamp"]
    together = static.embed(texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    assert all(np.array_equal(static.embed([t])[0], together[i]) for i, t in enumerate(texts))


@with_wheel
def test_document_frequency_counts_groups_not_texts():
    pairs = [("a", "harbour"), ("a", "harbour"), ("b", "harbour bell"), ("c", "bell")]
    frequency = dict(vectors.token_df(pairs))
    harbour = vectors.tokenise(["harbour"]).of(0).tolist()
    assert all(frequency[token] == 2 for token in harbour)
    assert vectors.token_df(pairs) == vectors.token_df(reversed(pairs))


@with_wheel
def test_groups_that_come_whole_are_counted_as_they_end():
    pairs = [
        ("a", "harbour lamp"),
        ("a", "lamp oil"),
        ("b", "harbour"),
        ("c", "oil"),
        ("b", "lamp"),
    ]
    whole = vectors.token_df(pairs, lambda group: group != "b")
    assert whole == vectors.token_df(pairs)
    assert whole


@with_wheel
def test_tokens_of_one_group_are_left_out_of_the_frequencies():
    assert vectors.token_df([("a", "quince"), ("a", "quince jam")]) == ()


@with_wheel
def test_a_rare_shared_word_counts_more_than_a_common_one():
    common = vectors.tokenise(["please"]).of(0)
    static = Static(100, {int(token): 100 for token in common})
    plain = Static(100)
    alike = ["please astrolabe", "please teapot"]
    before = cosines(*np.split(plain.embed(alike), 2))[0, 0]
    after = cosines(*np.split(static.embed(alike), 2))[0, 0]
    assert after < before


@with_wheel
def test_the_weight_of_a_token_is_its_smoothed_inverse_frequency_plus_a_tenth():
    token = int(vectors.tokenise(["lamp"]).of(0)[0])
    static = Static(9, {token: 4})
    weights = static.idf
    assert weights[token] == pytest.approx(math.log(10 / 5) + 0.1)
    assert weights[token - 1] == pytest.approx(math.log(10 / 2) + 0.1)


@with_wheel
def test_the_stamp_names_the_frequencies_whatever_their_order():
    assert Static(5, {3: 2, 9: 4}).stamp == Static(5, [(9, 4), (3, 2)]).stamp
    assert Static(5, {3: 2}).stamp != Static(6, {3: 2}).stamp
    assert Static(5).basis == BASIS


def test_frequencies_of_unknown_tokens_are_ignored():
    Static(5, {10**9: 3})


@pytest.mark.usefixtures("without_wheel")
def test_without_the_wheel_everything_has_width_zero_and_nothing_is_near(tmp_path):
    static = Static(5, {1: 2})
    rows = static.embed(["one", "two"])
    assert (static.basis, rows.shape) == (NO_BASIS, (2, 0))
    assert cosines(rows, rows).tolist() == [[0, 0], [0, 0]]
    assert vectors.token_df([("a", "x"), ("b", "x")]) == ()
    matrix, place = VectorFile(tmp_path).sync(static, np.array([7 << 32]), texts_of({}))
    assert (matrix.size, place.tolist()) == (0, [0])
    assert not list(tmp_path.glob("vectors.*"))


def test_a_missing_or_hollow_package_means_no_vectors(monkeypatch, tmp_path):
    reading = vectors._pieces.__wrapped__  # noqa: SLF001 - the cache must not answer
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert reading() is None

    class Spec:
        origin = str(tmp_path / "__init__.py")

    monkeypatch.setattr("importlib.util.find_spec", lambda _: Spec)
    assert reading() is None


@with_wheel
def test_forgetting_known_words_changes_no_token(monkeypatch):
    before = vectors.tokenise(["copper kettle on the stove"]).ids.tolist()
    monkeypatch.setattr(vectors, "_CACHED_WORDS", 1)
    assert vectors.tokenise(["copper kettle on the stove"]).ids.tolist() == before


@with_wheel
class TestVectorFile:
    TEXTS: ClassVar = {1: "rake the leaves", 2: "a hoe", 3: "the spade by the wall", 9: "salt"}

    def sync(self, folder: Path, numbers, static=None, asked=None):
        """Vectors by number, as the file holds them."""

        def texts(rows):
            names = [numbers[row] for row in rows.tolist()]
            if asked is not None:
                asked.extend(names)
            return [self.TEXTS[name] for name in names]

        keys = np.array([key_of(number) for number in numbers], np.int64)
        matrix, place = VectorFile(folder).sync(static or Static(10), keys, texts)
        return matrix[place]

    def expected(self, *numbers, static=None):
        return (static or Static(10)).embed(self.TEXTS[number] for number in numbers)

    def test_holds_what_embedding_gives(self, tmp_path):
        assert np.array_equal(self.sync(tmp_path, [2, 1]), self.expected(2, 1))

    def test_appends_only_what_is_new(self, tmp_path):
        self.sync(tmp_path, [2])
        asked: list[int] = []
        held = self.sync(tmp_path, [1, 2, 3], asked=asked)
        assert asked == [1, 3]
        assert np.array_equal(held, self.expected(1, 2, 3))

    def test_what_is_no_longer_wanted_is_overwritten_and_the_rest_stays(self, tmp_path):
        self.sync(tmp_path, [1, 2, 3])
        gone = self.expected(2)[0].astype("<f4").tobytes()
        assert gone in (tmp_path / "vectors.f32").read_bytes()
        asked: list[int] = []
        assert np.array_equal(self.sync(tmp_path, [3, 1], asked=asked), self.expected(3, 1))
        assert asked == []
        assert gone not in (tmp_path / "vectors.f32").read_bytes()
        assert np.array_equal(self.sync(tmp_path, [1, 2, 3]), self.expected(1, 2, 3))

    def test_is_made_again_when_most_of_it_is_blank(self, tmp_path):
        self.sync(tmp_path, [1, 2, 3])
        asked: list[int] = []
        self.sync(tmp_path, [3], asked=asked)
        assert asked == [3]
        assert (tmp_path / "vectors.f32").stat().st_size == 1024

    def test_a_number_given_to_another_text_gets_its_own_vector(self, tmp_path):
        self.sync(tmp_path, [1, 2])
        keys = np.array([key_of(1) + 1, key_of(2)])
        matrix, place = VectorFile(tmp_path).sync(Static(10), keys, lambda _: [self.TEXTS[9]])
        assert np.array_equal(matrix[place], self.expected(9, 2))

    def test_is_made_again_under_other_frequencies(self, tmp_path):
        self.sync(tmp_path, [1])
        other = Static(99)
        assert np.array_equal(self.sync(tmp_path, [1], other), self.expected(1, static=other))
        assert (tmp_path / "vectors.ids").read_bytes().startswith(other.stamp.encode() + b"\n")

    @pytest.mark.parametrize("size", [0, 100, 1024])
    def test_is_made_again_when_it_is_torn(self, tmp_path, size):
        self.sync(tmp_path, [1, 2])
        os.truncate(tmp_path / "vectors.f32", size)
        assert np.array_equal(self.sync(tmp_path, [1, 2]), self.expected(1, 2))

    def test_an_empty_store_has_no_vectors(self, tmp_path):
        assert self.sync(tmp_path, []).shape == (0, 256)

    def test_can_be_read_by_the_owner_only(self, tmp_path):
        self.sync(tmp_path, [1])
        found = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("vectors.*")}
        assert found == {0o600}


def key_of(number):
    """Number and a checksum, as the index names a turn."""
    return (number << 32) | (number * 7919)
