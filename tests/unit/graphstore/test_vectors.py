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
from graphstore.vectors import BASIS, NO_BASIS, Static, VectorFile, Vectors, cosines

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
    found = VectorFile(tmp_path).sync(static, ["r1"], texts_of({"r1": "one"}))
    assert found.nearest(rows[0], 3) == ()
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


def rows(*pairs):
    names, values = zip(*pairs, strict=True)
    return Vectors(tuple(names), np.array(values, np.float32))


def test_nearest_breaks_ties_by_id_and_leaves_out_what_is_not_alike():
    held = rows(("c", [1, 0]), ("a", [1, 0]), ("b", [1, 0]), ("z", [0, 1]), ("y", [-1, 0]))
    query = np.array([1, 0], np.float32)
    assert held.nearest(query, 2) == (("a", 1.0), ("b", 1.0))
    assert [name for name, _ in held.nearest(query, 10)] == ["a", "b", "c"]
    assert held.nearest(query, 0) == ()


def test_nearest_gives_only_allowed_rows():
    held = rows(("a", [1, 0]), ("b", [0.6, 0.8]))
    allowed = np.array([False, True])
    assert held.nearest(np.array([1, 0], np.float32), 5, allowed) == (("b", pytest.approx(0.6)),)


@with_wheel
class TestVectorFile:
    TEXTS: ClassVar = {"r0": "rake the leaves", "r1": "a hoe", "r2": "the spade by the wall"}

    def sync(self, folder: Path, wanted, static=None):
        return VectorFile(folder).sync(static or Static(10), wanted, texts_of(self.TEXTS))

    def test_holds_what_embedding_gives(self, tmp_path):
        held = self.sync(tmp_path, ["r0", "r1"])
        expected = Static(10).embed(self.TEXTS[name] for name in held.ids)
        assert np.array_equal(held.matrix, expected)

    def test_appends_only_what_is_new(self, tmp_path):
        self.sync(tmp_path, ["r1"])
        asked = []

        def texts(names):
            asked.extend(names)
            return [self.TEXTS[name] for name in names]

        held = VectorFile(tmp_path).sync(Static(10), ["r0", "r1", "r2"], texts)
        assert asked == ["r0", "r2"]
        assert held.ids == ("r1", "r0", "r2")

    def test_is_made_again_when_an_id_is_gone(self, tmp_path):
        self.sync(tmp_path, ["r0", "r1"])
        assert self.sync(tmp_path, ["r1"]).ids == ("r1",)

    def test_is_made_again_under_other_frequencies(self, tmp_path):
        self.sync(tmp_path, ["r0"])
        other = Static(99)
        held = self.sync(tmp_path, ["r0"], other)
        assert (tmp_path / "vectors.ids").read_text().splitlines()[0] == other.stamp
        assert held.ids == ("r0",)

    def test_is_made_again_when_it_is_torn(self, tmp_path):
        self.sync(tmp_path, ["r0", "r1"])
        os.truncate(tmp_path / "vectors.f32", 100)
        assert self.sync(tmp_path, ["r0", "r1"]).matrix.shape == (2, 256)

    def test_an_empty_store_has_no_vectors(self, tmp_path):
        assert self.sync(tmp_path, []).nearest(np.ones(256, np.float32), 3) == ()

    def test_can_be_read_by_the_owner_only(self, tmp_path):
        self.sync(tmp_path, ["r0"])
        assert all(
            stat.S_IMODE(path.stat().st_mode) == 0o600 for path in tmp_path.glob("vectors.*")
        )
