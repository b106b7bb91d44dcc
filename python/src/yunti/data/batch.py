"""Batches of input records and of groups, as user code sees them.

Their columns are views of the engine's memory: read-only, and valid until the function returns. Copy what you keep.
"""

from __future__ import annotations

import sys
from array import array
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from . import native
from .types import Type, bytes_
from .columns import Slices, as_list, decode, is_array, numpy_or_none


class Batch:
    """Records of the input: a column of keys and a column of values.

    The keys of lines are their positions in the file.
    """

    def __init__(self, data: Any, keys: Any, values: Any, file: str = "", position: int = 0,
                 types: Tuple[Type, Type] = (bytes_, bytes_), owner: Optional[object] = None) -> None:
        self._data = data
        #: Path of the input file.
        self.file = file
        #: Offset of the first byte of the batch in the file (in its decompressed bytes).
        self.position = position
        self._keys = keys
        self._values: Any = values
        self._types = types
        self._owner = owner

    @property
    def data(self) -> Any:
        """All bytes of the batch, as an array of u8 (a memoryview without NumPy)."""
        if isinstance(self._data, memoryview):
            self._data = viewed(self._data)
        return self._data

    @property
    def keys(self) -> Any:
        """Column of keys, or None for lines."""
        return None if self._keys is None else _typed(self._keys, self._types[0])

    @property
    def values(self) -> Any:
        """Column of values; for text, the lines."""
        return _typed(self._values, self._types[1])

    def __len__(self) -> int:
        return len(self.values)

    def rows(self) -> Iterator[Tuple[Any, Any]]:
        """Iterates over the records, as pairs of key and value. The key of a line is None."""
        values = as_list(self.values)
        return zip(as_list(self.keys) if self.keys is not None else [None] * len(values), values)

    def to_arrow(self, key_columns: Sequence[str] = (), value_columns: Sequence[str] = ()) -> Any:
        """Returns the batch as a `pyarrow.RecordBatch`. The names divide keys and values at their tabs."""
        from .arrow import record_batch

        return record_batch(self, key_columns, value_columns)


def _typed(column: Any, declared: Type) -> Any:
    return decode(column, declared) if isinstance(column, Slices) else column


class TextBatch(Batch):
    """Span of text: whole lines, not marked. `lines()` and `words()` find them.

    >>> b = TextBatch.of(b"to be\\nor not\\n")
    >>> b.words().tolist()
    [b'to', b'be', b'or', b'not']
    >>> b.lines().tolist()
    [b'to be', b'or not']
    """

    @classmethod
    def of(cls, text: bytes) -> "TextBatch":
        """Returns a batch of some text, to try a function without a job."""
        return cls(viewed(text), None, None)

    @property
    def values(self) -> Any:
        return self.lines()

    def __len__(self) -> int:
        return len(self.lines())

    def lines(self) -> Slices:
        """Returns the lines, without their ends: LF, CR, or CR LF."""
        found: Slices = self._find_lines() if self._values is None else self._values
        self._values = found
        return found

    def _find_lines(self) -> Slices:
        numpy = numpy_or_none()
        if numpy is None:
            return self._lines_of_lists()
        data = self.data
        found = native.lines(data)
        if found is not None:
            return Slices(data, *found, self._owner)
        ends = numpy.flatnonzero(data == 10)
        lengths_off = None
        if (data == 13).any():
            returns = numpy.flatnonzero(data == 13)
            behind = numpy.minimum(returns + 1, len(data) - 1)
            lone = (data[behind] != 10) | (behind == returns)
            lengths_off = numpy.zeros(len(data) + 1, bool)
            lengths_off[returns[~lone] + 1] = True
            ends = numpy.sort(numpy.append(ends, returns[lone]))
        if len(data) and (len(ends) == 0 or ends[-1] != len(data) - 1):
            ends = numpy.append(ends, len(data))
        starts = numpy.empty(len(ends), numpy.uint32)
        if len(ends):
            starts[0] = 0
            starts[1:] = ends[:-1] + 1
        lengths = ends.astype(numpy.uint32) - starts
        if lengths_off is not None:
            lengths -= lengths_off[ends].astype(numpy.uint32)
        return Slices(data, starts, lengths, self._owner)

    def _lines_of_lists(self) -> Slices:
        offsets, lengths, at = array("I"), array("I"), 0
        # `splitlines` of byte strings divides at LF, CR and CR LF alone.
        for line in bytes(self.data).splitlines(keepends=True):
            offsets.append(at)
            lengths.append(len(line.rstrip(b"\r\n")) if line[-1:] in (b"\r", b"\n") else len(line))
            at += len(line)
        return Slices(self.data, offsets, lengths, self._owner)

    def words(self) -> Slices:
        """Returns the words, divided by space, tab, LF, CR and form feed, as `yunti run wordcount` divides them."""
        return Words(self._data, self._owner)


class Words(Slices):
    """All words of a text. They are found when they are first used: a mapper that returns them as they are, with the
    number 1, leaves that to the engine."""

    __slots__ = ()

    def __init__(self, data: Any, owner: Optional[object]) -> None:
        self.data, self.owner = data, owner

    def __getattr__(self, name: str) -> Any:
        # Called for slots that have no value yet.
        if name not in ("offsets", "lengths"):
            raise AttributeError(name)
        self.data = viewed(self.data) if isinstance(self.data, memoryview) else self.data
        self.offsets, self.lengths = _find_words(self.data) if is_array(self.data) else _list_words(self.data)
        return self.offsets if name == "offsets" else self.lengths


def _list_words(data: Any) -> Tuple[Any, Any]:
    """`_find_words` without NumPy."""
    import re

    offsets, lengths = array("I"), array("I")
    for word in re.finditer(rb"[^ \t\n\r\f]+", data):
        offsets.append(word.start())
        lengths.append(word.end() - word.start())
    return offsets, lengths


def _find_words(data: Any) -> Tuple[Any, Any]:
    """Returns offsets and lengths of the words of an array of bytes."""
    import numpy

    found = native.words(data)
    if found is not None:
        return found
    if len(data) == 0:
        return numpy.empty(0, numpy.uint32), numpy.empty(0, numpy.uint32)
    low = data - numpy.uint8(9)
    # 9 to 13 but for 11, and 32.
    inside = low > 4
    inside |= low == 2
    inside &= data != 32
    change = numpy.empty(len(data) + 1, bool)
    change[0] = inside[0]
    change[-1] = inside[-1]
    numpy.not_equal(inside[1:], inside[:-1], out=change[1:-1])
    edges = numpy.flatnonzero(change).astype(numpy.uint32)
    starts = edges[0::2]
    return starts, edges[1::2] - starts


def viewed(data: Any) -> Any:
    """Returns bytes as an array of NumPy, or as a memoryview without it."""
    numpy = numpy_or_none()
    return memoryview(data) if numpy is None else numpy.frombuffer(data, numpy.uint8)


class Groups:
    """Keys with all their values, as a reducer sees them. The groups are whole, and the keys are in order.

    Group `i` has the values `first[i]` to `first[i + 1]`.

    >>> g = Groups(["a", "b"], [0, 2, 3], [1, 2, 3])
    >>> [(key, list(values)) for key, values in g]
    [('a', [1, 2]), ('b', [3])]
    """

    def __init__(self, keys: Any, first: Any, values: Any, value_keys: Any = None) -> None:
        #: Key of each group: slices, or a column of numbers.
        self.keys = keys
        #: Number of the first value of each group, and the number of values: n + 1 numbers.
        self.first = first
        #: Values of all groups: an array of NumPy, or slices, or a list.
        self.values = values
        #: Key of each value, for jobs that group by a part of the key; else None.
        self.value_keys = value_keys

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[Tuple[Any, Sequence[Any]]]:
        keys, first = as_list(self.keys), as_list(self.first)
        values: Any = self.values if is_array(self.values) else as_list(self.values)
        for i, key in enumerate(keys):
            yield key, values[first[i] : first[i + 1]]

    @property
    def sizes(self) -> Any:
        """Number of values of each group."""
        if is_array(self.first):
            return sys.modules["numpy"].diff(self.first)
        return [b - a for a, b in zip(self.first, self.first[1:])]

    def __repr__(self) -> str:
        return f"Groups(n={len(self)}, values={len(self.values)})"


__all__: List[str] = ["Batch", "Groups", "TextBatch", "Words", "viewed"]
