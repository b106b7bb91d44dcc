"""Rows: fields of a schema, and the values in the bytes of a row (docs/formats/ytab.md).

    bits of missing values | values of fixed width | lengths of the others, LEB128 | their bytes

A lookup copies the bytes of its row. A value is decoded when it is used.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ...program import JobError

#: Code of `struct` for each type of fixed width; a `dict` has the number of its text.
CODES = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
         "f32": "f", "f64": "d", "dict": "I"}

Read = Callable[[bytes], Any]


class Field(NamedTuple):
    """Column of a table, field of a record or element of a list."""

    name: str
    kind: str
    #: Type as `yunti table build` takes it.
    type: str
    is_nullable: bool
    inner: Tuple["Field", ...]
    #: Texts of a `dict` column.
    texts: Optional["Texts"] = None

    @staticmethod
    def of(described: Dict[str, Any], texts: Optional["Texts"] = None) -> "Field":
        """Returns the column that the library describes."""
        inner = tuple(Field.of(field) for field in described["inner"])
        kind = described["kind"]
        return Field(described["name"], kind, described["type"], described["is_nullable"], inner,
                     texts if kind == "dict" else None)


class Texts:
    """Texts of a `dict` column, loaded when the first one is used."""

    __slots__ = ("_load", "_all")

    def __init__(self, load: Callable[[], List[str]]) -> None:
        self._load = load
        self._all: Optional[List[str]] = None

    def all(self) -> List[str]:
        if self._all is None:
            self._all = self._load()
        return self._all

    def __getitem__(self, number: int) -> str:
        return self.all()[number]


def damaged() -> JobError:
    """Returns the error for bytes that are no row of their schema."""
    return JobError("the table is damaged: a row does not fit its schema", "corrupt", 4)


def _number(data: bytes, at: int) -> Tuple[int, int]:
    """Returns a number in LEB128 and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift == 35:
            raise damaged()


def _decoded(data: bytes) -> str:
    return data.decode()


def _reader(field: Field) -> Read:
    """Returns what decodes the bytes of a value of variable length."""
    if field.kind == "record":
        return Layout(field.inner).as_dict
    if field.kind == "list":
        return _ListReader(field.inner[0]).read
    return _decoded if field.kind == "utf8" else bytes


class _Place(NamedTuple):
    null_byte: int
    #: Bit of a missing value in `null_byte`; 0 if the column has none.
    null_mask: int
    #: Offset of a value of fixed width, or the number among the others.
    at: int
    unpack: Optional[Callable[[bytes, int], Tuple[Any, ...]]]
    texts: Optional[Texts]
    read: Optional[Read]


class Layout:
    """Where the values of rows are."""

    __slots__ = ("names", "_places", "_fixed_bytes", "_variable")

    def __init__(self, fields: Sequence[Field]) -> None:
        self.names: Dict[str, int] = {field.name: n for n, field in enumerate(fields)}
        bits = variable = 0
        fixed = (sum(field.is_nullable for field in fields) + 7) // 8
        self._places: List[_Place] = []
        for field in fields:
            null_byte, null_mask = (bits // 8, 1 << bits % 8) if field.is_nullable else (0, 0)
            bits += field.is_nullable
            if field.kind in CODES:
                form = struct.Struct("<" + CODES[field.kind])
                self._places.append(_Place(null_byte, null_mask, fixed, form.unpack_from, field.texts, None))
                fixed += form.size
            else:
                self._places.append(_Place(null_byte, null_mask, variable, None, None, _reader(field)))
                variable += 1
        self._fixed_bytes, self._variable = fixed, variable

    def value(self, row: bytes, column: int) -> Any:
        """Returns a value of a row; None if it is missing. Raises `JobError` for damaged bytes."""
        null_byte, null_mask, at, unpack, texts, read = self._places[column]
        try:
            if null_mask and row[null_byte] & null_mask:
                return None
            if unpack is not None:
                value = unpack(row, at)[0]
                return value if texts is None else texts[value]
            assert read is not None
            begin, end = self._bounds(row)[at]
            return read(row[begin:end])
        except (IndexError, struct.error, UnicodeDecodeError):
            raise damaged() from None

    def values(self, row: bytes) -> List[Any]:
        """Returns all values of a row."""
        bounds: List[Tuple[int, int]] = []
        found: List[Any] = []
        try:
            if self._variable:
                bounds = self._bounds(row)
            for null_byte, null_mask, at, unpack, texts, read in self._places:
                if null_mask and row[null_byte] & null_mask:
                    found.append(None)
                elif unpack is not None:
                    value = unpack(row, at)[0]
                    found.append(value if texts is None else texts[value])
                else:
                    assert read is not None
                    begin, end = bounds[at]
                    found.append(read(row[begin:end]))
        except (IndexError, struct.error, UnicodeDecodeError):
            raise damaged() from None
        return found

    def as_dict(self, row: bytes) -> Dict[str, Any]:
        """Returns all values of a row by their names."""
        return dict(zip(self.names, self.values(row)))

    def _bounds(self, row: bytes) -> List[Tuple[int, int]]:
        """Returns begin and end of each value of variable length."""
        at, lengths = self._fixed_bytes, []
        for _ in range(self._variable):
            length, at = _number(row, at)
            lengths.append(length)
        bounds = []
        for length in lengths:
            bounds.append((at, at + length))
            at += length
        if at > len(row):
            raise damaged()
        return bounds


class _ListReader:
    """Decoder of lists: the number of elements, and a row with an element in each column."""

    __slots__ = ("_code", "_is_nullable", "_read")

    def __init__(self, element: Field) -> None:
        self._code = CODES.get(element.kind)
        self._is_nullable = element.is_nullable
        self._read = None if self._code else _reader(element)

    def read(self, data: bytes) -> List[Any]:
        """Returns the elements of a list."""
        count, at = _number(data, 0)
        if count > len(data):
            raise damaged()
        nulls = at
        at += (count + 7) // 8 if self._is_nullable else 0
        values: List[Any] = []
        if self._read is None:
            values.extend(struct.unpack_from(f"<{count}{self._code}", data, at))
        else:
            lengths = []
            for _ in range(count):
                length, at = _number(data, at)
                lengths.append(length)
            if at + sum(lengths) > len(data):
                raise damaged()
            for length in lengths:
                values.append(data[at : at + length])
                at += length
            if not self._is_nullable:
                return [self._read(value) for value in values]
        if self._is_nullable:
            read = self._read or (lambda value: value)
            is_missing = [data[nulls + n // 8] >> n % 8 & 1 for n in range(count)]
            values = [None if absent else read(value) for value, absent in zip(values, is_missing)]
        return values


class Row(Mapping[str, Any]):
    """A row of a table: its values by the names of columns. `dict(row)` decodes all of them."""

    __slots__ = ("_layout", "_bytes")

    def __init__(self, layout: Layout, data: bytes) -> None:
        self._layout = layout
        self._bytes = data

    def __getitem__(self, name: str) -> Any:
        return self._layout.value(self._bytes, self._layout.names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.names)

    def __len__(self) -> int:
        return len(self._layout.names)

    def __contains__(self, name: object) -> bool:
        return name in self._layout.names

    def to_dict(self) -> Dict[str, Any]:
        """Returns all values by their names."""
        return self._layout.as_dict(self._bytes)

    def __repr__(self) -> str:
        return f"Row({self.to_dict()})"


__all__ = ["CODES", "Field", "Layout", "Row", "Texts", "damaged"]
