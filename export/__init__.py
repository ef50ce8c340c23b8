"""What can be seen: exports, the explorer page and the report."""

from export.view import EdgeRow, ExportView, Judged, NodeRow, Switches, shown
from export.write import ExportError, TargetExists, Written, draws, export, format_names

__all__ = [
    "EdgeRow",
    "ExportError",
    "ExportView",
    "Judged",
    "NodeRow",
    "Switches",
    "TargetExists",
    "Written",
    "draws",
    "export",
    "format_names",
    "shown",
]
