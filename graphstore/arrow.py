"""Rows as typed arrow tables, at once or kept in a file until they are loaded."""

from collections.abc import Iterator, Sequence
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
    """Rows kept in a file until they are loaded, a batch at a time."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._path = path
        self._columns = columns
        self._rows: list[Sequence[Any]] = []
        self._batches = 0

    def add(self, row: Sequence[Any]) -> None:
        """Take one row in."""
        self._rows.append(row)
        if len(self._rows) >= 10 * BATCH:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        table = arrow_table(self._columns, self._rows, prefix="")
        name = self._part(self._batches)
        name.touch(mode=0o600)
        with pa.OSFile(str(name), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table)
        self._batches += 1
        self._rows = []

    def _part(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}-{number}.arrow")

    def tables(self) -> Iterator[Table]:
        """Every row, in order, as pyarrow tables."""
        import pyarrow as pa

        for number in range(self._batches):
            with pa.OSFile(str(self._part(number)), "rb") as file:
                yield pa.ipc.open_stream(file).read_all()
        if self._rows:
            yield arrow_table(self._columns, self._rows, prefix="")

    def remove(self) -> None:
        """Delete the files."""
        for number in range(self._batches):
            self._part(number).unlink()
        self._rows = []
