"""An opened service: settings, clock, store opener. The composition root."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from dream.consult import Aide
from dream.llm import Endpoint
from graphstore.errors import StoreNotFound
from graphstore.folder import private
from graphstore.store import Store, open_store
from service import clock
from service.calls import Calls
from service.settings import Loaded, Settings

SALT_BYTES: Final = 32
OPENAI_URL: Final = "https://api.openai.com/v1"


def silent(_line: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Session:
    """What every operation gets first."""

    loaded: Loaded
    folder: Path
    """Where the caller stands."""
    now: Callable[[], datetime] = clock.now
    progress: Callable[[str], None] = silent
    pause: Callable[[float], None] = clock.pause
    """Wait for some seconds."""
    attended: bool = False
    """Somebody sits before it and may press Ctrl-C."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def workspace(self) -> Path:
        """Folder of the workspace."""
        return self.settings.workspace_path

    @property
    def exists(self) -> bool:
        """Whether there is a store to open."""
        return (self.workspace / "ledger.db").exists()

    @contextmanager
    def store(
        self, purpose: str, *, make: bool = False, engine: str = "", anew: bool = False
    ) -> Iterator[Store]:
        """Open the store for one operation; ``anew`` makes its graph with another engine.

        Raises StoreNotFound when there is none and ``make`` is false, StoreLocked when another
        process keeps it too long.
        """
        from ingest.derive import Derivation

        if not (make or self.exists):
            raise StoreNotFound(str(self.workspace))
        chosen = self.settings.store
        with open_store(
            self.workspace,
            Derivation(),
            engine=engine or chosen.engine,
            anew=anew,
            wait_s=chosen.wait_s,
            buffer_pool_mb=chosen.buffer_pool_mb,
            purpose=purpose,
            since=self.now(),
        ) as store:
            yield store

    def aide(self, cycle_id: str) -> Aide | None:
        """The model that a dream cycle may ask; None where rules dream alone."""
        chosen, limits = self.settings.llm, self.settings.dream.model
        if not chosen.model or self.settings.dream.mode == "deterministic":
            return None
        from ingest.secrets import mask

        calls = Calls(self.workspace)
        return Aide(
            llm=self.endpoint(chosen.model),
            mask=lambda text: mask(text)[0],
            pause=self.pause,
            keep=lambda exchange: calls.keep(cycle_id, exchange, self.now()),
            limits=limits,
            budget=calls.budget(chosen.model, limits, self.now()),
        )

    def endpoint(self, model: str) -> Endpoint:
        """The endpoint that is set, with a model there."""
        chosen = self.settings.llm
        return Endpoint(
            model=model,
            base_url=chosen.base_url or OPENAI_URL,
            api_key=chosen.api_key.get_secret_value(),
        )

    def salt(self) -> bytes:
        """Key of the hashes beside masked secrets: made once, readable by the owner alone."""
        path = self.workspace / "mask.salt"
        if not path.exists():
            private(self.workspace)
            partial = path.with_suffix(".new")  # a crash must not leave an empty key behind
            partial.touch(mode=0o600)
            partial.write_bytes(secrets.token_bytes(SALT_BYTES))
            partial.replace(path)
        return path.read_bytes()
