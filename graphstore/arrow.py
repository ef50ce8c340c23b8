"""Rows as typed arrow tables, at once or kept in a file until they are loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from graphstore.schema import Column

BATCH: Final = 5_000

Table: TypeAlias = Any  # a pyarrow table; pyarrow is loaded late and has no types


def arrow_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]], prefix: str = "c_"
) -> Table:
    """A typed pyarrow table of rows; nulls keep their column's type."""
    import pyarrow as pa

    types = {
        "STRING": pa.string(),
        "INT64": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOL": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
        "STRING[]": pa.list_(pa.string()),
    }
    cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
    arrays = [
        pa.array(list(column_cells), type=types[column.kind])
        for column, column_cells in zip(columns, cells, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=[prefix + column.name for column in columns])


class Spill:
    """Rows kept in a file until they are loaded, as one table that is mapped, not read."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._path = path
        self._columns = columns
        self._rows: list[Sequence[Any]] = []
        self._file: Any = None
        self._out: Any = None

    def add(self, row: Sequence[Any]) -> None:
        """Take one row in."""
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        table = arrow_table(self._columns, self._rows, prefix="")
        if self._out is None:
            self._path.touch(mode=0o600)
            self._file = pa.OSFile(str(self._path), "wb")
            self._out = pa.ipc.new_stream(self._file, table.schema)
        self._out.write_table(table)
        self._rows = []

    def table(self) -> Table:
        """Every row, in order; nothing can be added any more."""
        import pyarrow as pa

        if self._out is None:
            return arrow_table(self._columns, self._rows, prefix="")
        self._write()
        self._out.close()
        self._file.close()
        return pa.ipc.open_stream(pa.memory_map(str(self._path))).read_all()

    def size(self) -> int:
        """Bytes in the file."""
        return self._path.stat().st_size if self._out is not None else 0

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
