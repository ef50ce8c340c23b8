"""The explorer: one self-contained page that works offline and asks no server for anything.

A null (an unknown time, too) stays unknown: the time filter never hides it. Refs open the turn they
name. Hypotheses are dashed, in lists of their own, with standing, counter-evidence and the words
"Hypothesis, not source".
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import BinaryIO, Final

from export.page import page
from export.view import ExportView
from graphstore.errors import Error
from graphstore.ids import Json, canonical

NAME: Final = "html"
SUFFIX: Final = ".html"
PLACED: Final = True
"""It draws a map: hand it places."""

PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>clew</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{policy}"></head>
<body><noscript>This page draws its map with JavaScript.</noscript>
<script type="application/json" id="clew-page">{page}</script>
<script type="text/plain" id="licences">{licences}</script>
<script>{bundle}</script></body></html>
"""
POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


class ExplorerMissing(Error):
    """This installation has no explorer page."""

    hint = "reinstall clew with a connection to the npm registry, or: make explorer"


def inline(text: str) -> str:
    """Make JSON safe inside a script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def render(columns: Mapping[str, Json]) -> str:
    """Put the columns and the bundle into one page. Raises ``ExplorerMissing``."""
    assets = files("export") / "assets"
    try:
        bundle = (assets / "explorer.js").read_text("utf-8")
        licences = (assets / "THIRD_PARTY_LICENSES.txt").read_text("utf-8")
    except FileNotFoundError as cause:
        raise ExplorerMissing from cause
    shown = inline(canonical(dict(columns)).decode())
    return PAGE.format(
        policy=POLICY, page=shown, licences=licences.replace("<", "&lt;"), bundle=bundle
    )


def write(view: ExportView, out: BinaryIO) -> None:
    """Write the page. Raises ``ExplorerMissing``."""
    out.write(render(page(view)).encode())
