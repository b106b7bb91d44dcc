"""`SharedTable`: a file of `yunti table build`, mapped, so that all processes have one copy of its rows in memory.

docs/guide/tables.md is the guide, docs/formats/ytab.md the format. A table serves any number of threads.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from .closeable import Closeable
from .columns import TableColumns
from .keys import KeyColumns
from .library import Answer, Handle, RawRow, functions
from .row import Field, Layout, Row, Texts, damaged

#: Slots or keys whose rows one call reads, in a walk.
_WALK = 4096
_POPULATE, _LOCK, _HUGE_PAGES, _TRUSTED = 1, 2, 4, 8


class TableColumn(NamedTuple):
    """Column of a table. `type` is written as `yunti table build` takes it: `i64`, `list<utf8?>`."""

    name: str
    type: str
    is_nullable: bool
    is_key: bool


class _OpenTable:
    """A handle, with what Python knows of its table. `reopen` replaces it as a whole."""

    def __init__(self, handle: Handle, described: Dict[str, Any]) -> None:
        self.handle = handle
        self.keys, self.rows, self.slots = int(described["keys"]), int(described["rows"]), int(described["slots"])
        columns = described["columns"]
        self.fields = tuple(Field.of(column, self._texts(n)) for n, column in enumerate(columns))
        self.key = tuple(int(n) for n in described["key"])
        self.key_columns = KeyColumns([self.fields[n] for n in self.key])
        self.layout = Layout(self.fields)
        self.numbers = self.layout.names
        self.find = functions().yunti_table_get
        # Structures for single lookups, with references for ctypes. A lookup has one alone, and gives it back.
        self.places: List[Tuple[RawRow, Any]] = []

    def _texts(self, column: int) -> Texts:
        # A table refers to its texts, and they to the handle alone: no circle, so that it closes at once.
        handle = self.handle

        def load() -> List[str]:
            texts = Answer(functions().yunti_table_dictionary(handle.address, column)).items(0)
            return [text.decode() for text in texts]

        return Texts(load)

    def wanted(self, names: Optional[Sequence[str]]) -> Tuple[List[Field], Any]:
        """Returns columns, all without names, and their numbers in a buffer. Raises `KeyError` for an unknown name."""
        if isinstance(names, str):
            raise TypeError("columns is a list of names")
        numbers = list(range(len(self.fields))) if names is None else [self.numbers[name] for name in names]
        return [self.fields[n] for n in numbers], array.array("I", numbers)


def _opened(answer: Answer, address: Any) -> _OpenTable:
    handle = Handle(address.value, functions().yunti_table_close)
    return _OpenTable(handle, json.loads(answer.items(0)[0]))


class SharedTable(Closeable[_OpenTable]):
    """A shared table, open for lookups.

    `table[key]` is the row of a key, a mapping of column names to values. Keys of several columns are tuples. `in` and
    `len` count keys; iteration yields all rows, in the order of the file.

    Errors are `JobError`: `code` is `input` for a missing file, and `corrupt` for a damaged one. Damage that a lookup
    meets is an error, never a wrong value.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], populate: bool = False, lock: bool = False,
                 huge_pages: bool = False, trusted: bool = False) -> None:
        self.path = os.fspath(path)
        options = populate * _POPULATE | lock * _LOCK | huge_pages * _HUGE_PAGES | trusted * _TRUSTED
        name, address = os.fsencode(self.path), ctypes.c_void_p()
        answer = Answer(functions().yunti_table_open(name, len(name), options, ctypes.byref(address)))
        super().__init__(self.path, _opened(answer, address))

    @classmethod
    def open(cls, path: Union[str, "os.PathLike[str]"], populate: bool = False, lock: bool = False,
             huge_pages: bool = False, trusted: bool = False) -> "SharedTable":
        """Opens a table. Nothing is read before the first lookup.

        `populate` reads the whole file at once. `lock` keeps its pages in memory. `huge_pages` requests huge pages,
        where the file system has them. `trusted` leaves out the checksums: for a table that was verified on this host.
        """
        return cls(path, populate, lock, huge_pages, trusted)

    def __repr__(self) -> str:
        if self._state is None:
            return f"<closed table {self.path}>"
        columns = ", ".join(f"{column.name}:{column.type}" for column in self.schema)
        return f"<table {self.path} of {len(self)} keys: {columns}>"

    def __len__(self) -> int:
        """Returns the number of keys."""
        return self._open().keys

    @property
    def rows(self) -> int:
        """Number of rows: as many as keys, unless a key may have several."""
        return self._open().rows

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return [field.name for field in self._open().fields]

    @property
    def key(self) -> List[str]:
        """Names of the key's columns, in the order of the key."""
        table = self._open()
        return [table.fields[n].name for n in table.key]

    @property
    def schema(self) -> List[TableColumn]:
        """Names and types of the columns."""
        table = self._open()
        return [TableColumn(field.name, field.type, field.is_nullable, n in table.key)
                for n, field in enumerate(table.fields)]

    def _find(self, table: _OpenTable, key: Any) -> Optional[Row]:
        data = table.key_columns.encode(key)
        try:
            place, reference = table.places.pop()
        except IndexError:
            place = RawRow()
            reference = ctypes.byref(place)
        found = table.find(table.handle.address, data, len(data), reference)
        row = Row(table.layout, ctypes.string_at(place.bytes, place.length)) if found == 1 else None
        table.places.append((place, reference))
        if found < 0:
            Answer(functions().yunti_table_get_all(table.handle.address, data, len(data)))
            raise damaged()
        return row

    def get(self, key: Any, default: Any = None) -> Any:
        """Returns the first row of a key, or `default`."""
        row = self._find(self._open(), key)
        return default if row is None else row

    def __getitem__(self, key: Any) -> Row:
        row = self._find(self._open(), key)
        if row is None:
            raise KeyError(key)
        return row

    def __contains__(self, key: Any) -> bool:
        return self._find(self._open(), key) is not None

    def get_all(self, key: Any) -> List[Row]:
        """Returns all rows of a key, in the order of the input."""
        table = self._open()
        data = table.key_columns.encode(key)
        found = functions().yunti_table_get_all(table.handle.address, data, len(data))
        return [Row(table.layout, row) for row in Answer(found).items(0)]

    def get_batch(self, keys: Any, columns: Optional[Sequence[str]] = None) -> TableColumns:
        """Looks up many keys with one native call, whose reads from memory overlap. Other threads run during it.

        `keys` are integers in an array of NumPy, texts in an array of Arrow, a series, or a list. Keys of several
        columns are a list of tuples. Returns columns with a value for each key, of its first row, and `found`.
        """
        table = self._open()
        fields, numbers = table.wanted(columns)
        raw, kept = table.key_columns.batch(keys)
        found = functions().yunti_table_get_batch(table.handle.address, ctypes.byref(raw), *_buffer(numbers))
        del kept
        return TableColumns(Answer(found), fields, has_found=True)

    def column(self, name: str) -> Any:
        """Returns a column of all rows as an array, or as a list without NumPy: in the order of iteration."""
        return self.to_columns([name])[name]

    def to_columns(self, columns: Optional[Sequence[str]] = None) -> TableColumns:
        """Returns columns of all rows, in the order of iteration."""
        table = self._open()
        fields, numbers = table.wanted(columns)
        found = functions().yunti_table_scan(table.handle.address, *_buffer(numbers))
        return TableColumns(Answer(found), fields, has_found=False)

    def to_arrow(self, columns: Optional[Sequence[str]] = None) -> Any:
        """Returns all rows as a `pyarrow.Table`."""
        return self.to_columns(columns).to_arrow()

    def to_pandas(self, columns: Optional[Sequence[str]] = None) -> Any:
        """Returns all rows as a `pandas.DataFrame`."""
        return self.to_columns(columns).to_pandas()

    def to_polars(self, columns: Optional[Sequence[str]] = None) -> Any:
        """Returns all rows as a `polars.DataFrame`."""
        return self.to_columns(columns).to_polars()

    def __iter__(self) -> Iterator[Row]:
        table = self._open()
        return _walk(table, functions().yunti_table_rows, 0, table.slots)

    def range(self, from_: Any = None, to: Any = None) -> Iterator[Row]:
        """Yields the rows of the keys from `from_` to `to`, both included, in the order of keys.

        None is the first or the last key. A tuple of fewer columns than the key has stands for all keys with them. The
        table must be built with `--sorted`.
        """
        return self._range(from_, to, is_prefix=False)

    def prefix(self, text: Any) -> Iterator[Row]:
        """Yields the rows of the keys that begin with a text, in the order of keys.

        A tuple has whole values before the text.
        """
        return self._range(text, None, is_prefix=True)

    def _range(self, from_: Any, to: Any, is_prefix: bool) -> Iterator[Row]:
        table = self._open()
        limits = [None if limit is None else table.key_columns.limit(limit) for limit in (from_, to)]
        raw = [None if limit is None else ctypes.byref(limit[0]) for limit in limits]
        answer = Answer(functions().yunti_table_positions(table.handle.address, *raw, is_prefix))
        begin, end = (int.from_bytes(place, "little") for place in answer.items(0))
        return _walk(table, functions().yunti_table_rows_in_order, begin, end)

    def reopen(self) -> bool:
        """Opens the file that has taken this table's place. Returns False if it is the same file.

        Rows, columns and walks of the table before stay valid.
        """
        address = ctypes.c_void_p()
        answer = Answer(functions().yunti_table_reopen(self._open().handle.address, ctypes.byref(address)))
        if not address.value:
            return False
        self._state = _opened(answer, address)
        return True

    def verify(self) -> None:
        """Checks every byte by the checksums, and that each key is found. Raises `JobError` for a damaged table."""
        Answer(functions().yunti_table_verify(self._open().handle.address))


def _buffer(numbers: Any) -> Tuple[int, int]:
    return numbers.buffer_info()


def _walk(table: _OpenTable, read: Any, begin: int, end: int) -> Iterator[Row]:
    for at in range(begin, end, _WALK):
        for row in Answer(read(table.handle.address, at, min(at + _WALK, end))).items(0):
            yield Row(table.layout, row)


__all__ = ["SharedTable", "TableColumn"]
