"""What is known: the vocabulary, the ledger, the doors to both databases."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphstore.errors import Error
    from graphstore.store import Store, open_store

__all__ = ["Error", "Store", "open_store"]


def __getattr__(name: str) -> object:
    # late, so that a value of the vocabulary can be imported without the databases' modules
    if name == "Error":
        from graphstore.errors import Error

        return Error
    if name in __all__:
        from graphstore import store

        return getattr(store, name)
    raise AttributeError(name)
