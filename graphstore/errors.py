"""The error tree: root, families, and the errors of the store.

The message of an error is the first line of its docstring, filled from its attributes;
``hint`` says what to do. Constructors take facts and pass them on, so errors pickle.
"""

from pathlib import Path
from shutil import disk_usage
from typing import ClassVar, Self


class Error(Exception):
    """Something failed."""

    hint: ClassVar[str] = ""

    @property
    def message(self) -> str:
        """The one line a user sees."""
        line = (type(self).__doc__ or "").strip().splitlines()[0]
        return line.format_map({name: getattr(self, name) for name in vars(self)})

    def __str__(self) -> str:
        return self.message


class StoreError(Error):
    """The store failed: {reason}."""

    hint = "run: clew verify; clew rebuild makes the graph again"

    def __init__(self, reason: str = "unknown") -> None:
        super().__init__(reason)
        self.reason = reason


class StoreNotFound(StoreError):
    """No store at {path}."""

    hint = "make one with: clew up PATH"

    def __init__(self, path: str) -> None:
        Error.__init__(self, path)
        self.path = path


class StoreLocked(StoreError):
    """The store at {path} is in use by {holder}; waited {waited:.0f} s."""

    hint = "wait for it to finish, or raise store.wait_s"

    def __init__(self, path: str, holder: str, waited: float) -> None:
        Error.__init__(self, path, holder, waited)
        self.path = path
        self.holder = holder
        self.waited = waited


class StoreDamaged(StoreError):
    """The graph at {path} is damaged: {reason}."""

    hint = "nothing is lost: clew rebuild makes it again from the ledger"

    def __init__(self, path: str, reason: str) -> None:
        Error.__init__(self, path, reason)
        self.path = path
        self.reason = reason


class LedgerUnreadable(StoreDamaged):
    """The ledger at {path} cannot be read: {reason}."""

    hint = "clew restore BACKUP makes a new workspace; clew ledger salvage saves what can be read"


class LedgerDamaged(StoreError):
    """The ledger is damaged from record {seq} on: {reason}."""

    hint = "clew restore BACKUP makes a new workspace; clew ledger salvage saves what still holds"

    def __init__(self, seq: int, reason: str) -> None:
        Error.__init__(self, seq, reason)
        self.seq = seq
        self.reason = reason


class EngineUnavailable(StoreError):
    """The graph engine {engine} is not installed."""

    hint = "install it, or choose another with store.engine"

    def __init__(self, engine: str, install: str) -> None:
        Error.__init__(self, engine, install)
        self.engine = engine
        self.install = install


class EngineConflict(StoreError):
    """The engine {wanted} cannot be loaded beside {loaded} in one process."""

    hint = "start a new process for the other engine"

    def __init__(self, wanted: str, loaded: str) -> None:
        Error.__init__(self, wanted, loaded)
        self.wanted = wanted
        self.loaded = loaded


class SchemaTooNew(StoreError):
    """The store was written by a newer clew (schema {found}, this one knows {known})."""

    hint = "upgrade clew"

    def __init__(self, found: int, known: int) -> None:
        Error.__init__(self, found, known)
        self.found = found
        self.known = known


class MigrationFailed(StoreError):
    """The migration {name} failed: {cause}."""

    hint = "restore a backup; the store was not changed"

    def __init__(self, name: str, cause: str) -> None:
        Error.__init__(self, name, cause)
        self.name = name
        self.cause = cause


class NotFound(StoreError):
    """There is no {kind} {id}."""

    hint = "clew threads, questions, journeys, hypotheses and scout list what there is"

    def __init__(self, kind: str, id: str) -> None:  # noqa: A002 - the field's word
        Error.__init__(self, kind, id)
        self.kind = kind
        self.id = id


class QueryRefused(StoreError):
    """The query was refused: {reason}."""

    hint = "only reading Cypher is allowed: MATCH ... RETURN ...; docs/model.md lists the tables"

    def __init__(self, reason: str) -> None:
        reason = " ".join(reason.split()).rstrip(".")  # engines speak in several lines
        Error.__init__(self, reason)
        self.reason = reason


class DiskFull(StoreError):
    """Too little space at {path}: {needed} bytes needed, {free} free."""

    hint = "free some space and run the command again; nothing was lost"

    def __init__(self, path: str, needed: int, free: int) -> None:
        Error.__init__(self, path, needed, free)
        self.path = path
        self.needed = needed
        self.free = free

    @classmethod
    def at(cls, folder: Path) -> Self:
        """Something was written to a folder until nothing more went in."""
        free = disk_usage(folder).free
        return cls(str(folder), free + 1, free)


class NotForgotten(StoreError):
    """What was asked to be forgotten is not gone yet: {name} in {path} cannot be removed."""

    hint = "make it removable, or move it away; the next clew command completes the request"

    def __init__(self, path: str, name: str) -> None:
        Error.__init__(self, path, name)
        self.path = path
        self.name = name


class Unwritable(StoreError):
    """The workspace at {path} cannot be written: {reason}."""

    hint = "choose another folder with --home, or ask the owner of this one for the right to write"

    def __init__(self, path: str, reason: str) -> None:
        Error.__init__(self, path, reason)
        self.path = path
        self.reason = reason


class PluginError(Error):
    """A plugin failed."""


class PluginInvalid(PluginError):
    """The {group} plugin {name} cannot be used: {reason}."""

    hint = "rename or remove one of the two, or see docs/howto"

    def __init__(self, group: str, name: str, reason: str) -> None:
        super().__init__(group, name, reason)
        self.group = group
        self.name = name
        self.reason = reason


class UnknownPlugin(PluginError):
    """There is no {noun} named {name}; known: {known}."""

    noun: ClassVar[str] = "plugin"
    hint = "list them with: clew formats, or clew scout --shapes"

    def __init__(self, name: str, known: str) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    @property
    def message(self) -> str:
        return f"There is no {self.noun} named {self.name}; known: {self.known}."


class UnknownReader(UnknownPlugin):
    """There is no reader of that name."""

    noun = "reader"


class UnknownShape(UnknownPlugin):
    """There is no shape of that name."""

    noun = "shape"


class GraphUnreadable(Error):
    """The graph {name} cannot be read: {reason}."""

    hint = "GraphML, node-link JSON, or CSV and Parquet with the columns source and target"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


class GraphTooLarge(Error):
    """A graph of {nodes} nodes and {edges} edges needs about {need} MB; {free} MB may be used."""

    hint = "narrow it with --since, --until or --label, or free memory"

    def __init__(self, nodes: int, edges: int, need: int, free: int) -> None:
        super().__init__(nodes, edges, need, free)
        self.nodes = nodes
        self.edges = edges
        self.need = need
        self.free = free


class ExecutorUnavailable(Error):
    """The executor {executor} cannot run: {reason}."""

    hint = "install clew[spark] and Java 17 or newer, or use --executor processes"

    def __init__(self, executor: str, reason: str) -> None:
        super().__init__(executor, reason)
        self.executor = executor
        self.reason = reason


class UnknownFunction(UnknownPlugin):
    """There is no dream function of that name."""

    noun = "dream function"


class UnknownFormat(UnknownPlugin):
    """There is no export format of that name."""

    noun = "export format"


class SettingsError(Error):
    """The setting {key} is not valid: {allowed}."""

    hint = "see docs/settings.md, or: clew config list"

    def __init__(self, key: str, allowed: str) -> None:
        super().__init__(key, allowed)
        self.key = key
        self.allowed = allowed
