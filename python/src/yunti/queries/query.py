"""`y.sql`: a query, and its rows."""

from __future__ import annotations

import datetime
import decimal
import os
import weakref
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

try:
    import pyarrow as pa
except ImportError:
    raise ImportError("y.sql needs pyarrow: pip install pyarrow") from None

from ..jobs import arguments_of
from . import calls, functions as own, tables as given_tables
from .child import Child

#: Flags of `yunti sql` that this module sets.
OWN_FLAGS = frozenset("output output_format file statements json_errors quiet explain analyze overwrite".split())

Params = Union[Dict[str, Any], Sequence[Any], None]


class _Stream:
    """A run of a query: the program, and the batches that it still has. It ends with the last who reads them."""

    def __init__(self, words: List[str], text: str, settings: Dict[str, Any]) -> None:
        more, files = given_tables.hand_over(settings["tables"])
        server = None
        if settings["functions"]:
            server = calls.Server(settings["functions"], settings["threads"])
            more += server.flags()
        self.child = Child([*words, *more], text, files, server)
        self.end = weakref.finalize(self, self.child.close)
        #: True once someone reads the batches.
        self.begun = False
        try:
            # A statement without rows writes nothing.
            self.reader = pa.ipc.open_stream(self.child.rows) if self.child.rows.peek(1) else None
            if self.reader is None:
                self._finish()
        except pa.ArrowInvalid:
            # The program has failed within the columns.
            self._finish()
            raise
        except BaseException:
            self.end()
            raise

    def _finish(self) -> None:
        self.end.detach()
        self.child.finish()

    def batches(self) -> Iterator[pa.RecordBatch]:
        if self.begun:
            raise ValueError("the rows have been read: run the query again, or call arrow() first, which keeps them")
        self.begun = True
        if self.reader is None:
            return
        try:
            while True:
                try:
                    batch = self.reader.read_next_batch()
                except StopIteration:
                    break
                except (pa.ArrowInvalid, OSError):
                    # The stream is cut: the query has failed, and the program says why.
                    self._finish()
                    raise
                yield batch
            self._finish()
        except BaseException:
            self.end()
            raise


class Rows:
    """Rows of a query, as they come. `y.sql` makes one.

    They can be read once: as rows, or as batches. `arrow()`, `pandas()` and `polars()` keep them, so that they can be
    read again. A context manager, or `close()`, ends a query whose rows are not wanted any more.
    """

    def __init__(self, text: str, words: List[str], settings: Dict[str, Any]) -> None:
        self._text, self._words, self._settings = text, words, settings
        self._table: Optional[pa.Table] = None
        self._rows: Optional[Iterator[Tuple[Any, ...]]] = None
        self._stream = self._run(["--output-format", "arrow-stream"])

    def _run(self, words: List[str]) -> _Stream:
        return _Stream([*self._words, *words], self._text, self._settings)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns; none for a statement without rows."""
        return self._stream.reader.schema if self._stream.reader is not None else pa.schema([])

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Iterates over the rows as batches of Arrow, as they come. Raises `JobError` if the query fails."""
        return self._stream.batches() if self._table is None else iter(self._table.to_batches())

    def arrow(self) -> pa.Table:
        """Returns all rows as a table of Arrow."""
        if self._table is None:
            batches = list(self.batches())
            self._table = pa.Table.from_batches(batches, self.schema)
        return self._table

    def pandas(self) -> Any:
        """Returns all rows as a `pandas.DataFrame`."""
        return self.arrow().to_pandas()

    def polars(self) -> Any:
        """Returns all rows as a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.arrow())

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        """Iterates over the rows that have not been read, as tuples; over all of a result that is kept."""
        if self._table is not None:
            return _tuples(self.batches())
        if self._rows is None:
            self._rows = _tuples(self.batches())
        return self._rows

    def dicts(self) -> Iterator[Dict[str, Any]]:
        """Iterates over the rows as dictionaries."""
        names = self.columns
        return (dict(zip(names, row)) for row in self)

    def fetchall(self) -> List[Tuple[Any, ...]]:
        """Returns the rows that have not been read, as tuples."""
        return list(self)

    def fetchone(self) -> Optional[Tuple[Any, ...]]:
        """Returns the next row, or None."""
        if self._rows is None:
            self._rows = _tuples(self.batches())
        return next(self._rows, None)

    def write(self, path: Any, format: Optional[str] = None, overwrite: bool = False) -> None:
        """Writes the rows to a file or a directory, as `yunti sql --output` does; the rows do not pass through Python.

        The query starts again for it, so that call it before the rows are read.
        """
        if self._stream.begun or self._rows is not None:
            raise ValueError("the rows have been read: write them first")
        self._stream.end()
        words = ["--output", os.fspath(path)]
        words += ["--output-format", format] if format is not None else []
        self._stream = self._run([*words, *(["--overwrite"] if overwrite else [])])

    def close(self) -> None:
        """Ends the query, if it still runs."""
        self._stream.end()

    def __enter__(self) -> "Rows":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        fields = ", ".join(f"{field.name} {field.type}" for field in self.schema)
        return f"<rows of a query: {fields}>" if fields else "<statement without rows>"

    def _repr_html_(self) -> str:
        """Returns the first rows for a notebook; the rows are kept."""
        import html

        def row(tag: str, cells: Sequence[Any]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        if self._stream.begun and self._table is None:
            return html.escape(repr(self))
        first = self.arrow().slice(0, 20)
        body = "".join(row("td", values) for values in _tuples(iter(first.to_batches())))
        return f"<table>{row('th', self.columns)}{body}</table><p>{self.arrow().num_rows} rows</p>"


def _tuples(batches: Iterator[pa.RecordBatch]) -> Iterator[Tuple[Any, ...]]:
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        yield from zip(*columns) if columns else ((),) * batch.num_rows


def sql(query: str, functions: Optional[Dict[str, Any]] = None, tables: Optional[Dict[str, Any]] = None,
        params: Params = None, memory: Union[str, int, None] = None, threads: Optional[int] = None,
        settings: Optional[Dict[str, Any]] = None, **flags: Any) -> Rows:
    """Runs a query with `yunti sql`. Rows come as they are computed.

    `functions`: functions of columns by their names, with types by annotations or by `y.function`. `tables`: tables of
    pyarrow, pandas or polars, and paths. `params`: values of `$name` (a dictionary), or of `$1`, `$2` (a list).
    `settings` are the `-D` settings; other keyword arguments have the names of the command line. Of several statements,
    the last one's rows are returned.

    Raises `JobError`, or `KeyboardInterrupt` after ctrl-C, once the query has ended.
    """
    if not isinstance(query, str):
        raise TypeError(f"a query is text, not a {type(query).__name__}")
    for name in flags:
        if name in OWN_FLAGS:
            raise TypeError(f"y.sql has no setting {name}: its result has methods for it")
    words = [word for name, value in _named(params) for word in ("--param", _parameter(name, value))]
    words += arguments_of({"memory": memory, "threads": threads, **flags})
    for name, value in (settings or {}).items():
        words += ["-D", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    known = {"functions": own.as_functions(functions or {}), "tables": dict(tables or {}),
             "threads": threads or len(os.sched_getaffinity(0))}
    return Rows(query, words, known)


def _named(params: Params) -> List[Tuple[str, Any]]:
    if params is None:
        return []
    if isinstance(params, dict):
        return [(str(name).lstrip("$"), value) for name, value in params.items()]
    if isinstance(params, (str, bytes)):
        raise TypeError("params is a dictionary or a list")
    return [(str(n), value) for n, value in enumerate(params, 1)]


def _parameter(name: str, value: Any) -> str:
    """Returns a parameter as the command line has it, with its type.

    >>> _parameter("day", datetime.date(2026, 11, 1)), _parameter("n", 5), _parameter("s", "5")
    ('day:date=2026-11-01', 'n:int=5', 's:text=5')
    """
    if not name or ":" in name or "=" in name:
        raise ValueError(f"{name!r} is no name of a parameter")
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # A scalar of NumPy.
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    kind, text = "", ""
    if value is None:
        kind = "null"
    elif isinstance(value, bool):
        kind, text = "bool", str(value).lower()
    elif isinstance(value, int):
        kind, text = ("int" if -(1 << 63) <= value < 1 << 63 else "decimal"), str(value)
    elif isinstance(value, float):
        kind, text = "float", repr(value)
    elif isinstance(value, str):
        kind, text = "text", value
    elif isinstance(value, (bytes, bytearray)):
        kind, text = "binary", bytes(value).hex()
    elif isinstance(value, decimal.Decimal):
        kind, text = "decimal", format(value, "f")
    elif isinstance(value, datetime.datetime):
        kind = "timestamp" if value.tzinfo is None else "timestamptz"
        text = value.isoformat() if value.tzinfo is None else value.astimezone(datetime.timezone.utc).isoformat()
    elif isinstance(value, datetime.date):
        kind, text = "date", value.isoformat()
    else:
        raise TypeError(f"parameter {name} is a {type(value).__name__}: use a number, text, bytes, a date or None")
    if "\0" in text:
        raise ValueError(f"parameter {name} has a zero byte, which the command line cannot pass on")
    return f"{name}:{kind}={text}"
