"""Tables of Python for a query: Arrow, pandas, polars, dictionaries of columns, lists of dictionaries, paths."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple

import pyarrow as pa

from .child import path_of


def as_arrow(given: Any, name: str) -> pa.Table:
    """Returns a table of Arrow. Raises `TypeError` for what is no table."""
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if isinstance(given, pa.RecordBatchReader):
        return given.read_all()
    if isinstance(given, dict):
        return pa.table(given)
    if isinstance(given, list):
        if given and not all(isinstance(row, dict) for row in given):
            raise TypeError(f"table {name} is a list without dictionaries: use one for each row")
        return pa.Table.from_pylist(given)
    module = type(given).__module__.partition(".")[0]
    if module == "pandas" and hasattr(given, "columns"):
        return pa.Table.from_pandas(given, preserve_index=False)
    # polars, tables of this package, and results of queries.
    for convert in ("to_arrow", "arrow"):
        if hasattr(given, convert):
            made = getattr(given, convert)()
            if isinstance(made, pa.Table):
                return made
    if hasattr(given, "__arrow_c_stream__"):
        return pa.table(given)
    raise TypeError(f"table {name} is a {type(given).__name__}: use a table of pyarrow, pandas or polars, or a path")


def hand_over(tables: Dict[str, Any]) -> Tuple[List[str], List[int]]:
    """Returns the flags for tables, and the files in memory that the program gets."""
    words: List[str] = []
    files: List[int] = []
    try:
        for name, given in tables.items():
            if not isinstance(name, str) or not name or "=" in name:
                raise ValueError(f"{name!r} is no name of a table")
            if isinstance(given, (str, os.PathLike)):
                place = os.fspath(given)
            else:
                table = _plain(as_arrow(given, name))
                files.append(_memory_file(table))
                place = path_of(files[-1]) + ",format=arrow-stream"
            # A query spells names in small letters, unless they are in double quotes.
            for spelled in {name, name.lower()}:
                if spelled == name or spelled not in tables:
                    words += ["--table", f"{spelled}={place}"]
    except BaseException:
        for file in files:
            os.close(file)
        raise
    return words, files


def _plain(table: pa.Table) -> pa.Table:
    """Returns a table with names that differ, and of types that the program has."""
    if len(set(table.column_names)) < table.num_columns:
        seen = sorted({name for name in table.column_names if table.column_names.count(name) > 1})
        raise ValueError(f"a table has two columns of the name {seen[0]!r}: rename one")
    for n, field in enumerate(table.schema):
        if pa.types.is_date64(field.type):
            table = table.set_column(n, field.name, table.column(n).cast(pa.date32()))
    return table


def _memory_file(table: pa.Table) -> int:
    file = os.memfd_create("table")
    try:
        with os.fdopen(os.dup(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    except BaseException:
        os.close(file)
        raise
    return file
