"""Sums over the parts that threads add: questions, concepts, relations, links. Only reading."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import orjson

from graphstore import fold
from graphstore.derivation import Asked, Derive
from graphstore.ids import concept_id
from graphstore.ledger import Reading, listed
from graphstore.meetings import Relations
from graphstore.model.knowledge import Concept, ConceptKind, Edge, Links, Node
from graphstore.near import Likeness, Pair, pair_of
from graphstore.said import Said
from graphstore.shards import Part

KINDS: Final = tuple(ConceptKind)
"""Kinds of concepts by the number that is stored."""
_PAGE: Final = 500
SECTION: Final = 4_096
"""Nodes that are summed at once."""

Row = Node | Edge


class Sums:
    """What several threads make together, as the tables beside the ledger tell it."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.meetings = Relations(reading)
        self.near = Likeness(reading)

    def of(self, nodes: Sequence[str]) -> tuple[Part, ...]:
        """Every part of these nodes, by node, kind and thread."""
        found = []
        for start in range(0, len(nodes), _PAGE):
            page = nodes[start : start + _PAGE]
            marks = ",".join("?" * len(page))
            found += self._reading.select(
                "SELECT node, thread_id, kind, body FROM part"  # noqa: S608 - question marks only
                f" WHERE node IN ({marks}) ORDER BY node, kind, thread_id",
                tuple(page),
            )
        return tuple(Part(*row) for row in found)

    def shared(self, nodes: Sequence[str]) -> Iterator[Row]:
        """Questions, concepts, mentions between them and stated relations: the sums of nodes."""
        yield from fold.shared(self.of(nodes))
        for node in nodes:
            if " " not in node:
                yield from self._concepts(node)

    def _concepts(self, only: str | None = None) -> Iterator[Concept]:
        where = "" if only is None else " WHERE concept = ?"
        given = () if only is None else (only,)
        also = " WHERE" if only is None else " AND"
        aliases: dict[str, set[str]] = defaultdict(set)
        for concept, written in self._reading.select(
            f"SELECT DISTINCT concept, aliases FROM named{where}{also} aliases != '[]'",  # noqa: S608 - fixed words
            given,
        ):
            aliases[concept].update(orjson.loads(written))
        for concept, label, other, df, cf, generic, kind in self._reading.select(
            "SELECT concept, min(label), max(label),"  # noqa: S608 - fixed words
            " count(DISTINCT root), sum(cf), max(generic), min(kind)"
            f" FROM named JOIN root USING (thread_id){where} GROUP BY concept ORDER BY concept",
            given,
        ):
            called = self._called(concept) if other != label else (label, kind, set())
            yield Concept(
                concept_id=concept,
                label=called[0],
                aliases=tuple(sorted((aliases[concept] | called[2]) - {called[0]})),
                df=df,
                cf=cf,
                generic=bool(generic),
                kind=KINDS[called[1]],
            )

    def _called(self, concept: str) -> tuple[str, int, set[str]]:
        """Label, kind and spellings of a concept that others were merged into: its own, if any."""
        rows = self._reading.select(
            "SELECT DISTINCT label, kind FROM named WHERE concept = ? ORDER BY label, kind",
            (concept,),
        )
        own = [row for row in rows if concept_id(row[0]) == concept]
        label, kind = (own or rows)[0]
        return label, kind, {row[0] for row in rows}

    def links(
        self, questions: Iterable[str], near: Iterable[Pair], derive: Derive, said: Said
    ) -> Iterator[Links]:
        """Links that have one of these questions as an end, and those of these pairs."""
        names = set(questions)
        wanted = {
            pair_of(one, other): cosine
            for one in names
            for other, cosine in self.near.of(one).items()
        }
        told = {pair for pair in said.same if not names.isdisjoint(pair)}
        for pair in (*near, *sorted(told - wanted.keys())):
            cosine = self.near.cosine(pair)
            if cosine is not None or said.pairs.get(pair):
                wanted[pair] = cosine or 0.0
        found = ((*pair, wanted[pair]) for pair in sorted(wanted))
        yield from self._linked(found, derive, said.pairs)

    def _linked(
        self,
        wanted: Iterable[tuple[str, str, float]],
        derive: Derive,
        said: Mapping[Pair, bool],
    ) -> Iterator[Links]:
        known: dict[str, Asked | None] = {}
        for left, right, cosine in wanted:
            if len(known) > SECTION:
                known.clear()
            for name in (left, right):
                if name not in known:
                    known[name] = fold.asked(self.of((name,)))
            one, other = known[left], known[right]
            if one is None or other is None:
                continue
            match said.get((left, right)):
                case None:
                    link = derive.link(one, other, cosine)
                case True:
                    link = fold.told_same(one, other)
                case False:
                    link = None
            if link is not None:
                yield link

    def every(self, derive: Derive, said: Said) -> Iterator[Row]:
        """Every sum there is."""
        names = [
            row[0] for row in self._reading.select("SELECT DISTINCT node FROM part ORDER BY 1")
        ]
        for start in range(0, len(names), SECTION):
            yield from fold.shared(self.of(names[start : start + SECTION]))
        yield from self._concepts()
        yield from self.meetings.every()
        yield from self._linked(self.near.pairs(), derive, said.pairs)
        far = ((*pair, 0.0) for pair in said.same if self.near.cosine(pair) is None)
        yield from self._linked(far, derive, said.pairs)

    def holds(self, table: str, key: str) -> bool:
        """Whether some thread asks a question or names a concept."""
        sql = (
            "SELECT 1 FROM part WHERE node = ? AND kind = 'question' LIMIT 1"
            if table == "Question"
            else "SELECT 1 FROM named WHERE concept = ? LIMIT 1"
        )
        return bool(self._reading.select(sql, (key,)))

    def asked_in(self, threads: Iterable[str]) -> set[str]:
        """Questions that these threads ask."""
        sql = "SELECT node FROM part WHERE thread_id = ? AND kind = 'question'"
        return {row[0] for thread in threads for row in self._reading.select(sql, (thread,))}

    def only_of(self, threads: Iterable[str]) -> set[str]:
        """Questions that these threads ask and nobody else."""
        rows = self._reading.select(
            "SELECT node FROM part WHERE kind = 'question' AND node IN (SELECT node FROM part"
            " WHERE kind = 'question' AND thread_id IN (SELECT value FROM json_each(?1)))"
            " GROUP BY node HAVING max(thread_id NOT IN (SELECT value FROM json_each(?1))) = 0",
            (listed(sorted(threads)),),
        )
        return {row[0] for row in rows}

    def named_in(self, threads: Iterable[str]) -> set[str]:
        """Concepts that these threads name."""
        sql = "SELECT concept FROM named WHERE thread_id = ?"
        return {row[0] for thread in threads for row in self._reading.select(sql, (thread,))}

    def naming_threads(self, concepts: Iterable[str]) -> frozenset[str]:
        """Threads that name one of these concepts."""
        sql = "SELECT thread_id FROM named WHERE concept = ?"
        return frozenset(row[0] for name in concepts for row in self._reading.select(sql, (name,)))

    def lineages(self, threads: Iterable[str]) -> set[str]:
        """Lineage roots of these threads."""
        return {root for thread in threads if (root := self.root(thread)) is not None}

    def naming(self, concept: str) -> set[str]:
        """Lineage roots of the threads that name a concept."""
        sql = "SELECT DISTINCT root FROM named JOIN root USING (thread_id) WHERE concept = ?"
        return {row[0] for row in self._reading.select(sql, (concept,))}

    def root(self, thread_id: str) -> str | None:
        """Lineage root of a thread as its rows were last made with."""
        rows = self._reading.select("SELECT root FROM root WHERE thread_id = ?", (thread_id,))
        return rows[0][0] if rows else None

    def members(self, root: str) -> tuple[str, ...]:
        """Threads that were last made with this root."""
        rows = self._reading.select(
            "SELECT thread_id FROM root WHERE root = ? ORDER BY thread_id", (root,)
        )
        return tuple(row[0] for row in rows)
