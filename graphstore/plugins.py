"""Discovery: a plugin is a module of a package, or an entry point of another distribution."""

import logging
import pkgutil
import re
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from graphstore.errors import PluginInvalid

_LOG: Final = logging.getLogger(__name__)
_NAME: Final = re.compile(r"^NAME\b[^=\n]*=\s*[\"']([^\"'\n]+)[\"']", re.MULTILINE)


@cache
def names(package: str) -> tuple[str, ...]:
    """Names of every plugin of a package (``topology.shapes``) and its entry points, sorted.

    Nothing is imported but the package itself: the name is read from the source of the module.
    Raises ``PluginInvalid`` when two plugins have one name.
    """
    found: dict[str, str] = {}
    sources = [(_declared(package, module), f"{package}.{module}") for module in _modules(package)]
    group = entry_point_group(package)
    sources += [(entry.name, entry.value) for entry in _entries(group)]
    for name, origin in sources:
        if name in found:
            raise PluginInvalid(group, name, f"both {found[name]} and {origin} have this name")
        found[name] = origin
    return tuple(sorted(found))


def load(
    package: str, name: str, group: str, required: tuple[str, ...] = ("NAME",)
) -> ModuleType | None:
    """Import one plugin; None when there is none of that name, or an outside one is broken.

    ``required`` are the attributes that it must have. A broken outside plugin is logged, it never
    stops a command. Raises ``PluginInvalid`` when an attribute is missing, or when ``NAME`` or the
    file is another.
    """
    if name not in names(package):
        return None
    module = _inside(package, name) or _outside(group, name)
    if module is None:
        return None
    missing = [attribute for attribute in required if not hasattr(module, attribute)]
    if missing:
        raise PluginInvalid(group, name, f"{module.__name__} lacks {', '.join(missing)}")
    if getattr(module, "NAME", name) != name:
        raise PluginInvalid(group, name, f"{module.__name__} calls itself {module.NAME}")
    return module


def entry_point_group(package: str) -> str:
    """Entry point group of a package of plugins: ``topology.shapes`` has ``clew.shapes``."""
    return f"clew.{package.rpartition('.')[2]}"


def _modules(package: str) -> tuple[str, ...]:
    found = (module.name for module in pkgutil.iter_modules(import_module(package).__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def _declared(package: str, module: str) -> str:
    """The ``NAME`` that a module writes, or its file name; read, not imported."""
    spec = find_spec(f"{package}.{module}")
    source = getattr(spec.loader, "get_source", None) if spec else None
    written = _NAME.search(source(f"{package}.{module}") or "") if source else None
    return written[1] if written else module


def _entries(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))


def _inside(package: str, name: str) -> ModuleType | None:
    module = name.replace("-", "_")
    return import_module(f"{package}.{module}") if module in _modules(package) else None


def _outside(group: str, name: str) -> ModuleType | None:
    entry = next((entry for entry in _entries(group) if entry.name == name), None)
    if entry is None:
        raise PluginInvalid(group, name, "its file has another name")
    try:
        loaded = entry.load()
    except Exception as cause:  # noqa: BLE001 - a border: foreign code must not stop a command
        _LOG.warning("plugin %s of %s is skipped: %s", name, group, type(cause).__name__)
        return None
    return loaded if isinstance(loaded, ModuleType) else None
