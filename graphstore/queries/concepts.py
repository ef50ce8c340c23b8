"""The concepts of a store, most shared first; generic ones apart."""

from collections.abc import Collection

from graphstore.model.answers import ConceptRow
from graphstore.model.hubs import generic_ids
from graphstore.model.knowledge import Concept
from graphstore.store import Store


def concepts(
    store: Store, limit: int = 50, *, generic: bool = False, named: Collection[str] = ()
) -> tuple[ConceptRow, ...]:
    """Concepts by lineages, then by mentions, ties by id; generic ones only when asked for.

    ``named``: ids of the only ones that are wanted, generic or not.
    """
    found = store.nodes(Concept)
    hidden = generic_ids(found, len(set(store.roots().values())))
    rows = [
        ConceptRow(
            concept_id=concept.concept_id,
            label=concept.label,
            kind=concept.kind.value,
            df=concept.df,
            cf=concept.cf,
            generic=concept.concept_id in hidden,
            aliases=concept.aliases,
        )
        for concept in found
        if concept.concept_id in named
        or (not named and (generic or concept.concept_id not in hidden))
    ]
    rows.sort(key=lambda row: (-row.df, -row.cf, row.concept_id))
    return tuple(rows[:limit])
