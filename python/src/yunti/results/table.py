"""Tables: the records of a job's output, read from its part files."""

from __future__ import annotations

import glob
import io
import json
import os
import struct
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ..data.types import Out, Type, bytes_, none, text, types_of
from ..program import run

#: Suffixes that Python's own library decompresses.
_STANDARD = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


class Table:
    """Records of an output, as pairs of key and value, in the order of its parts.

    `format` is the job's output format. `types` are the types of keys and values; text numbers become numbers.

    >>> t = Table.of([(b"a", 2), (b"b", 1)], (bytes, int))
    >>> t.to_list(), len(t)
    ([(b'a', 2), (b'b', 1)], 2)
    """

    def __init__(self, path: str, format: str = "text", types: Out = (bytes_, bytes_)) -> None:
        self.path: Optional[str] = os.fspath(path)
        self.format = format
        self.types = types_of(types)
        self._rows: Optional[List[Any]] = None

    @classmethod
    def of(cls, rows: List[Any], types: Out) -> "Table":
        """Returns a table of rows in memory."""
        table = cls("", "memory", types)
        table.path, table._rows = None, rows
        return table

    @property
    def parts(self) -> List[str]:
        """Paths of the part files, in order."""
        if self.path is None:
            return []
        if os.path.isfile(self.path):
            return [self.path]
        parts = sorted(glob.glob(os.path.join(glob.escape(self.path), "part-*")))
        if not parts and not os.path.exists(os.path.join(self.path, "_SUCCESS")):
            raise FileNotFoundError(f"{self.path} is no output of a job: it has no part files")
        return parts

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the rows: pairs, or single items without values; dictionaries for CSV and JSON."""
        if self._rows is not None:
            return iter(self._rows)
        return (row for part in self.parts for row in self._read(part))

    def __len__(self) -> int:
        return len(self.to_list())

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        return f"<table of ({self.types[0].name}, {self.types[1].name}){where}>"

    def to_list(self) -> List[Any]:
        """Returns all rows."""
        if self._rows is None:
            self._rows = list(iter(self))
        return self._rows

    def to_dict(self) -> Dict[Any, Any]:
        """Returns the values by their keys."""
        return dict(self.to_list())

    def columns(self) -> Tuple[List[str], List[Sequence[Any]]]:
        """Returns the names of the columns, and the columns."""
        rows = self.to_list()
        if rows and isinstance(rows[0], dict):
            names = list(rows[0])
            return names, [[row.get(name) for row in rows] for name in names]
        if self.types[1] is none:
            return ["key"], [rows]
        return ["key", "value"], [[k for k, _ in rows], [v for _, v in rows]]

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table`. Byte strings become strings if a column is UTF-8 as a whole."""
        import pyarrow as pa

        from ..data.arrow import as_text

        names, columns = self.columns()
        types = [_arrow_type(t, pa) for t in self.types] if self.format not in ("csv", "json") else [None] * len(names)
        return pa.table([as_text(pa.array(c, t)) for c, t in zip(columns, types)], names=names)

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`."""
        import pandas

        names, columns = self.columns()
        return pandas.DataFrame({name: _as_strings(column) for name, column in zip(names, columns)})

    def to_polars(self) -> Any:
        """Returns a `polars.DataFrame`."""
        import polars

        names, columns = self.columns()
        return polars.DataFrame({name: _as_strings(column) for name, column in zip(names, columns)})

    def _repr_html_(self) -> str:
        """Returns the first rows for a notebook."""
        import html
        from itertools import islice

        rows = list(islice(iter(self), 20))
        cells = [list(r.values()) if isinstance(r, dict) else r if isinstance(r, tuple) else [r] for r in rows]
        shown = [[c.decode(errors="replace") if isinstance(c, bytes) else str(c) for c in row] for row in cells]
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in shown)
        return f"<table>{body}</table>"

    def _read(self, part: str) -> Iterator[Any]:
        data = _content(part, self.format)
        kind = self.format.partition(":")[0]
        if kind == "framed":
            return self._framed(data)
        if kind == "json":
            return (json.loads(line) for line in data.splitlines())
        if kind == "csv":
            import csv

            separator = self.format.partition(":")[2] or ","
            return iter(csv.DictReader(io.StringIO(data.decode(errors="replace"), newline=""), delimiter=separator))
        if kind == "text":
            return self._lines(data, (self.format.partition(":")[2] or "\t").encode())
        raise ValueError(f"a table cannot read the format {self.format}: use text, csv, json or framed")

    def _lines(self, data: bytes, separator: bytes) -> Iterator[Any]:
        key_type, value_type = self.types
        key = _from_text(key_type)
        lines = data.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        if value_type is none:
            return map(key, lines)
        value = _from_text(value_type)
        # A number has no tab in it, so that the last tab ends the key.
        divide = bytes.rpartition if value_type.is_number else bytes.partition
        pairs = (divide(line, separator) for line in lines)
        return ((key(k), value(v)) for k, _, v in pairs)

    def _framed(self, data: bytes) -> Iterator[Any]:
        key, value = (_from_bytes(t) for t in self.types)
        single = self.types[1] is none
        at, end, lengths = 0, len(data), struct.Struct(">II")
        while at < end:
            n, m = lengths.unpack_from(data, at)
            at += 8
            k = key(data[at : at + n])
            yield k if single else (k, value(data[at + n : at + n + m]))
            at += n + m


def _text_of(item: bytes) -> str:
    """Returns UTF-8 as text; other bytes become U+FFFD."""
    return item.decode(errors="replace")


def _from_text(declared: Type) -> Any:
    if declared.is_number:
        return float if declared.code in "fd" else int
    return _text_of if declared is text else (lambda item: item)


def _from_bytes(declared: Type) -> Any:
    if declared.is_number:
        unpack = struct.Struct("<" + declared.code).unpack
        return lambda item: unpack(item)[0]
    return _text_of if declared is text else (lambda item: item)


def _arrow_type(declared: Type, pa: Any) -> Any:
    if declared.is_number:
        return {"i32": pa.int32(), "i64": pa.int64(), "one": pa.int64(), "u32": pa.uint32(), "u64": pa.uint64(),
                "f32": pa.float32(), "f64": pa.float64()}[declared.name]
    return pa.string() if declared is text else pa.binary()


def _as_strings(column: Sequence[Any]) -> Sequence[Any]:
    """Returns byte strings as text if all of them are UTF-8."""
    if not column or not isinstance(column[0], bytes):
        return column
    try:
        return [item.decode() for item in column]
    except UnicodeDecodeError:
        return column


def _content(part: str, format: str) -> bytes:
    """Returns the bytes of a part; the program decompresses what Python cannot."""
    suffix = os.path.splitext(part)[1]
    if suffix in _STANDARD:
        import importlib

        with importlib.import_module(_STANDARD[suffix]).open(part) as file:
            return bytes(file.read())
    if suffix in ("", ".csv", ".json", ".txt"):
        with open(part, "rb") as plain:
            return plain.read()
    kind = "framed" if format == "framed" else "text:\\n"
    output = "framed" if format == "framed" else "text"
    return run(["run", "--mode", "none", "--input-format", kind, "--output-format", output, "--output", "-", "--quiet",
                "--input", part])
