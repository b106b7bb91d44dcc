"""Columns of a table: arrays of NumPy, lists where it is not installed, and Arrow.

The library writes a column as Arrow has it: values or bytes, ends, and marks of the values that are there. Arrays of
fixed width are views of its memory.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..columns import numpy_or_none
from .library import Answer, view
from .row import CODES, Field


class Node:
    """A column in an answer, with its fields or its elements."""

    def __init__(self, answer: Answer, field: Field, numbers: Iterator[int]) -> None:
        self.field = field
        self._answer = answer
        self._raw = answer.column(next(numbers))
        self.count, self.missing = int(self._raw.count), int(self._raw.missing)
        self.inner = [Node(answer, inner, numbers) for inner in field.inner]

    def values(self) -> memoryview:
        """Returns the bytes of all values."""
        return view(self._raw.values, self._raw.values_bytes, self._answer)

    def ends(self) -> memoryview:
        """Returns the begin of the first value and the end of each."""
        return view(self._raw.ends, 8 * (self.count + 1), self._answer).cast("q")

    def marks(self) -> memoryview:
        """Returns 1 for each value that is there, else 0."""
        return view(self._raw.marks, self.count, self._answer)

    def to_list(self) -> List[Any]:
        """Returns the values; None where one is missing."""
        values = self._present()
        if self.missing:
            return [value if mark else None for value, mark in zip(values, self.marks())]
        return values

    def _present(self) -> List[Any]:
        kind = self.field.kind
        if kind == "record":
            names = [field.name for field in self.field.inner]
            return [dict(zip(names, row)) for row in zip(*[node.to_list() for node in self.inner])]
        if kind in CODES:
            data: Any = self.values()
            numbers: List[Any] = data.cast(CODES[kind]).tolist()
            # A missing value has the number 0, and a column without texts has no such number.
            texts = self.field.texts.all() or [""] if self.field.texts is not None and numbers else None
            return numbers if texts is None else [texts[number] for number in numbers]
        ends = self.ends().tolist()
        if kind == "list":
            elements = self.inner[0].to_list()
            return [elements[begin:end] for begin, end in zip(ends, ends[1:])]
        content = bytes(self.values())
        if kind == "bytes":
            return [content[begin:end] for begin, end in zip(ends, ends[1:])]
        if content.isascii():
            text = content.decode()
            return [text[begin:end] for begin, end in zip(ends, ends[1:])]
        return [content[begin:end].decode() for begin, end in zip(ends, ends[1:])]

    def to_array(self) -> Any:
        """Returns an array of NumPy, masked if values may be missing; without NumPy, a list."""
        numpy = numpy_or_none()
        if numpy is None:
            return self.to_list()
        if self.field.kind not in CODES or self.field.kind == "dict":
            array = numpy.empty(self.count, object)
            for n, value in enumerate(self.to_list()):
                array[n] = value
            return array
        array = self.numbers(numpy)
        return numpy.ma.MaskedArray(array, self.is_missing(numpy)) if self.field.is_nullable else array

    def numbers(self, numpy: Any) -> Any:
        """Returns the values of fixed width as an array, with zeros for missing ones."""
        return numpy.frombuffer(self.values(), "<" + CODES[self.field.kind], self.count if self.count else -1)

    def is_missing(self, numpy: Any) -> Any:
        """Returns True for each missing value, as an array."""
        return numpy.frombuffer(self.marks(), numpy.uint8) == 0

    def address(self, name: str) -> int:
        """Returns the address of a buffer."""
        return int(getattr(self._raw, name))

    @property
    def values_bytes(self) -> int:
        return int(self._raw.values_bytes)

    @property
    def owner(self) -> Answer:
        return self._answer


class TableColumns(Mapping[str, Any]):
    """Columns of rows by their names.

    Numbers are arrays of NumPy, masked arrays for nullable columns. Texts, bytes, lists and records are arrays of
    objects, with None for missing values. Without NumPy, all are lists.

    `found` says which keys of `get_batch` have a row. The other keys have None, or zeros in arrays of numbers. For
    `SharedTable.to_columns`, `found` is None.
    """

    def __init__(self, answer: Answer, fields: Sequence[Field], has_found: bool) -> None:
        numbers = iter(range(len(answer)))
        self._found = Node(answer, _FOUND, numbers) if has_found else None
        self._nodes = {field.name: Node(answer, field, numbers) for field in fields}
        self._arrays: Dict[str, Any] = {}
        self._rows = self._found.count if self._found else max((node.count for node in self._nodes.values()), default=0)

    @property
    def found(self) -> Any:
        """True for each key that has a row: an array of NumPy, or a list without it."""
        return self._found.to_array() if self._found is not None else None

    @property
    def rows(self) -> int:
        """Number of values in each column."""
        return self._rows

    def __getitem__(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self._nodes[name].to_array()
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __repr__(self) -> str:
        return f"<columns of {self._rows} rows: {', '.join(self._nodes)}>"

    def to_list(self) -> List[Optional[Dict[str, Any]]]:
        """Returns a dictionary for each row; None for a key that has none."""
        columns = [node.to_list() for node in self._nodes.values()]
        rows = [dict(zip(self._nodes, row)) for row in zip(*columns)] if columns else [{} for _ in range(self._rows)]
        if self._found is None:
            return list(rows)
        return [row if mark else None for row, mark in zip(rows, self._found.to_list())]

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table`; rows that were not found are null in each column."""
        import pyarrow as pa

        from .arrow import array_of

        return pa.table({name: array_of(node) for name, node in self._nodes.items()})

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`. Numbers that may be missing have pandas' types with `NA`."""
        import pandas

        return pandas.DataFrame({name: _series(node, pandas) for name, node in self._nodes.items()})

    def to_polars(self) -> Any:
        """Returns a `polars.DataFrame`. Needs pyarrow."""
        import polars

        return polars.from_arrow(self.to_arrow())


_FOUND = Field("found", "bool", "bool", False, ())


def _series(node: Node, pandas: Any) -> Any:
    import numpy

    kind = node.field.kind
    if kind not in CODES:
        return pandas.Series(node.to_list(), dtype=object)
    numbers = node.numbers(numpy)
    if kind == "dict":
        assert node.field.texts is not None
        codes = numpy.where(node.is_missing(numpy), -1, numbers.astype(numpy.int64))
        return pandas.Categorical.from_codes(codes, node.field.texts.all())
    if not (node.field.is_nullable or node.missing):
        return numbers
    arrays = pandas.arrays
    made = {"b": arrays.BooleanArray, "f": arrays.FloatingArray}.get(numbers.dtype.kind, arrays.IntegerArray)
    return made(numbers, node.is_missing(numpy))


__all__ = ["Node", "TableColumns"]
