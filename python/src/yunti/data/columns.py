"""Columns: slices of a buffer, and the bytes of a column as the engine takes them.

NumPy is used where it is installed. Without it, columns are lists, and slices are `array`s of places.
"""

from __future__ import annotations

import struct
import sys
from array import array
from itertools import accumulate
from typing import Any, Iterator, List, NamedTuple, Optional, Union

from . import native
from .types import Type, bytes_, text


def numpy_or_none() -> Any:
    """Returns NumPy, or None where it is not installed."""
    try:
        import numpy

        return numpy
    except ImportError:
        return None


def is_array(column: Any) -> bool:
    """Returns True for an array of NumPy; does not import it."""
    # Another thread may be importing it: it has no array then, and this column is none.
    ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
    return ndarray is not None and isinstance(column, ndarray)


class Slices:
    """Byte strings that lie in one buffer: their offsets and lengths.

    Nothing is copied until a slice is taken out as `bytes`. Slices of a batch are valid until the function returns.

    >>> s = Slices(b"one two", [0, 4], [3, 3])
    >>> s[1], s.tolist(), len(s)
    (b'two', [b'one', b'two'], 2)
    """

    __slots__ = ("data", "offsets", "lengths", "owner")

    def __init__(self, data: Any, offsets: Any, lengths: Any, owner: Optional[object] = None) -> None:
        #: Buffer that the slices point into.
        self.data = data
        #: Place of each slice in the buffer, in bytes: an array of u32, or a list.
        self.offsets = offsets
        #: Length of each slice in bytes.
        self.lengths = lengths
        #: Request whose data the buffer is, or None.
        self.owner = owner

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        shown = [self[i] for i in range(min(3, len(self)))]
        return f"Slices({shown}{' ..' if len(self) > 3 else ''}, n={len(self)})"

    def __getitem__(self, which: Any) -> Union[bytes, "Slices"]:
        if isinstance(which, int):
            start = int(self.offsets[which])
            return bytes(self.data[start : start + int(self.lengths[which])])
        if isinstance(which, slice) or is_array(self.offsets):
            return Slices(self.data, self.offsets[which], self.lengths[which], self.owner)
        if len(which) == len(self) and all(isinstance(w, bool) for w in which):
            which = [i for i, chosen in enumerate(which) if chosen]
        return Slices(self.data, [self.offsets[i] for i in which], [self.lengths[i] for i in which], self.owner)

    def part(self, begin: int, end: int) -> "Slices":
        """Returns the slices from number `begin` to before `end`."""
        return Slices(self.data, self.offsets[begin:end], self.lengths[begin:end], self.owner)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tolist())

    def tolist(self) -> List[bytes]:
        """Returns the slices as byte strings, which are copies."""
        data = bytes(self.data)
        return [data[o : o + n] for o, n in zip(as_list(self.offsets), as_list(self.lengths))]

    def one(self) -> "Records":
        """Returns a record for each slice, with the number 1 as its value."""
        return Records(self, 1)

    def records(self, values: Any) -> "Records":
        """Returns a record for each slice, with the values of a column, or with one value for all."""
        return Records(self, values)

    def prefix(self, length: int) -> "Slices":
        """Returns the first bytes of each slice.

        >>> Slices(b"one two", [0, 4], [3, 3]).prefix(2).tolist()
        [b'on', b'tw']
        """
        if is_array(self.lengths):
            numpy = numpy_or_none()
            lengths = numpy.minimum(self.lengths, numpy.uint32(length))
        else:
            lengths = [min(n, length) for n in self.lengths]
        return Slices(self.data, self.offsets, lengths, self.owner)

    def field(self, number: int, separator: bytes = b"\t") -> "Slices":
        """Returns a field of each slice, from 0; empty where a slice has fewer. Needs NumPy.

        >>> Slices(b"a,1;b,22", [0, 4], [3, 4]).field(1, b",").tolist()
        [b'1', b'22']
        """
        import numpy as np

        found = native.fields(self.data, self.offsets, self.lengths, number, separator[0]) if number >= 0 else None
        if found is not None:
            return Slices(self.data, *found, self.owner)
        data = np.frombuffer(self.data, np.uint8)
        starts = np.asarray(self.offsets, np.int64)
        ends = starts + np.asarray(self.lengths, np.int64)
        places = np.flatnonzero(data == separator[0])
        places = np.append(places, np.full(number + 1, len(data), places.dtype))
        first = np.searchsorted(places, starts)
        at = starts if number == 0 else places[np.minimum(first + number - 1, len(places) - 1)] + 1
        to = np.minimum(places[np.minimum(first + number, len(places) - 1)], ends)
        at = np.minimum(at, ends)
        return Slices(self.data, at.astype(np.uint32), np.maximum(to - at, 0).astype(np.uint32), self.owner)

    def to_i64(self) -> Any:
        """Returns the slices as whole numbers: decimal digits, with a sign or without. Needs NumPy.

        Raises `ValueError` for a slice that is no such number.

        >>> Slices(b"10 -7", [0, 3], [2, 2]).to_i64().tolist()
        [10, -7]
        """
        import numpy as np

        if len(self) == 0:
            return np.zeros(0, np.int64)
        found = native.to_numbers(self.data, self.offsets, self.lengths, "to_i64", "i8")
        if found is not None:
            return found
        lengths = np.asarray(self.lengths, np.int64)
        ends = np.asarray(self.offsets, np.int64) + lengths
        if lengths.min() == 0:
            raise ValueError(f"the slice {int(np.argmin(lengths))} is empty: it is no number")
        data = np.frombuffer(self.data, np.uint8)
        signs = data[ends - lengths]
        digits = lengths - ((signs == ord("-")) | (signs == ord("+")))
        most = int(digits.max())
        if most > 19 or digits.min() == 0:
            return np.array([_whole(item, i) for i, item in enumerate(self.tolist())], np.int64)
        # Digits stand right-aligned in rows of 8, 16 or 24, and neighbours become numbers of 2, 4 and 8 digits.
        width = (most + 7) // 8 * 8
        before = np.concatenate([np.zeros(width, np.uint8), data])
        rows = np.lib.stride_tricks.sliding_window_view(before, width)[ends]
        unused = np.arange(width) < (width - digits)[:, None]
        rows = rows - np.uint8(ord("0"))
        rows[unused] = 0
        if rows.max() > 9:
            i = int(np.argmax((rows > 9).any(axis=1)))
            raise ValueError(f"the slice {i} is no whole number: {self[i]!r}")
        twos = rows[:, 0::2] * np.uint8(10) + rows[:, 1::2]
        fours = twos[:, 0::2].astype(np.uint16) * np.uint16(100) + twos[:, 1::2]
        eights = fours[:, 0::2].astype(np.uint32) * np.uint32(10000) + fours[:, 1::2]
        result = eights[:, 0].astype(np.uint64)
        for k in range(1, width // 8):
            result = result * np.uint64(10**8) + eights[:, k]
        negative = signs == ord("-")
        beyond = result > np.uint64((1 << 63) - 1) + negative.astype(np.uint64)
        if beyond.any():
            i = int(np.argmax(beyond))
            raise ValueError(f"the slice {i} is beyond 64 bits: {self[i]!r}")
        result = result.view(np.int64)
        return np.where(negative, -result, result)

    def to_f64(self) -> Any:
        """Returns the slices as floating-point numbers. Needs NumPy. Raises `ValueError` for a slice that is none."""
        import numpy as np

        found = native.to_numbers(self.data, self.offsets, self.lengths, "to_f64", "f8")
        return np.array([float(s) for s in self.tolist()], np.float64) if found is None else found

    def compact(self) -> "Slices":
        """Returns slices of a buffer of their own, without the bytes between them."""
        if len(self) == 0:
            return Slices(b"", array("I"), array("I"))
        if not is_array(self.offsets):
            return slices_of_items(self.tolist())
        import numpy as np

        starts, lengths = self.offsets.astype(np.int64), self.lengths.astype(np.int64)
        ends = np.cumsum(lengths)
        first, last = int(starts.min()), int((starts + lengths).max())
        data = np.frombuffer(self.data, np.uint8)
        if last - first <= 4 * int(ends[-1]) + 4096:
            # Few bytes lie between: one copy of all is faster than a gather.
            return Slices(data[first:last], (starts - first).astype(np.uint32), self.lengths)
        begins = ends - lengths
        gathered = native.gather(data, self.offsets, self.lengths, int(ends[-1]))
        if gathered is None:
            gathered = data[np.arange(int(ends[-1])) + np.repeat(starts - begins, lengths)]
        return Slices(gathered, begins.astype(np.uint32), self.lengths)

    def packed(self, size: int) -> Any:
        """Returns slices of one length, one after the other."""
        if not is_array(self.offsets):
            return b"".join(self.tolist())
        import numpy as np

        data = np.frombuffer(self.data, np.uint8)
        places = self.offsets.astype(np.int64)[:, None] + np.arange(size)
        return np.ascontiguousarray(data[places]).reshape(-1)


def _whole(item: bytes, i: int) -> int:
    """Returns a whole number that has many digits, or none."""
    number = int(item) if item.lstrip(b"+-").isdigit() else None
    if number is None:
        raise ValueError(f"the slice {i} is no whole number: {item!r}")
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"the slice {i} is beyond 64 bits: {item!r}")
    return number


#: Forms of a column in the protocol.
OWN, BATCH, EIGHTS = 0, 1, 2


class Records(NamedTuple):
    """Emitted records: a column of keys, and a column of values or one value for all."""

    keys: Any
    values: Any


class Encoded(NamedTuple):
    """Column in the form of the protocol."""

    form: int
    offsets: Any
    lengths: Any
    data: Any

    def items(self, n: int) -> List[bytes]:
        """Returns the `n` items as byte strings."""
        data = bytes(self.data)
        if self.form == EIGHTS:
            return [data[8 * i : 8 * i + 8] for i in range(n)]
        lengths = memoryview(self.lengths).cast("B").cast("I").tolist()
        return [data[at : at + size] for at, size in zip(memoryview(self.offsets).cast("B").cast("I").tolist(), lengths)]


def as_list(column: Any) -> List[Any]:
    """Returns a column as a list."""
    if isinstance(column, list):
        return column
    for name in ("tolist", "to_pylist", "to_list"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def length_of(column: Any) -> int:
    """Returns the number of items, or -1 for one value that stands for all."""
    if column is None or isinstance(column, (int, float, bytes, str)) or not hasattr(column, "__len__"):
        return -1
    if is_array(column) and column.ndim == 0:
        return -1
    return len(column)


def encode(column: Any, declared: Type, n: int, owner: Optional[object], what: str) -> Encoded:
    """Returns a column of `n` items in the form of the protocol. `what` names it in messages.

    Raises `TypeError` or `ValueError` for a column that is not of the declared type.
    """
    if declared.is_number:
        return _numbers(column, declared, n, what)
    if declared.number == 0:
        zeros = memoryview(b"\0" * (4 * n))
        return Encoded(OWN, zeros, zeros, b"")
    if length_of(column) < 0:
        column = [column] * n
    if isinstance(column, Slices):
        if column.owner is not None and column.owner is owner:
            return Encoded(BATCH, column.offsets, column.lengths, b"")
        return _own(column.compact())
    if is_array(column) and column.dtype.kind in "SV":
        return _fixed(column)
    if hasattr(column, "buffers") and hasattr(column, "type"):
        from .arrow import slices_of

        return _own(slices_of(column).compact())
    return _own(slices_of_items(as_list(column), declared, what))


def _own(slices: Slices) -> Encoded:
    return Encoded(OWN, as_u32(slices.offsets), as_u32(slices.lengths), slices.data)


def as_u32(numbers: Any) -> Any:
    """Returns places or lengths one behind the other."""
    if is_array(numbers):
        import numpy as np

        return np.ascontiguousarray(numbers, np.uint32)
    return numbers if isinstance(numbers, (array, memoryview)) else array("I", numbers)


def slices_of_items(items: List[Any], declared: Type = bytes_, what: str = "a key") -> Slices:
    """Returns slices of a list of byte strings; text becomes UTF-8."""
    try:
        data = b"".join(items)
        lengths = array("I", map(len, items))
    except TypeError:
        made = []
        for item in items:
            if isinstance(item, str):
                made.append(item.encode())
            elif isinstance(item, (bytes, bytearray, memoryview)):
                made.append(bytes(item))
            else:
                name = type(item).__name__
                raise TypeError(f"{what} is a {name}, but out= declares {declared}: declare its type") from None
        data, lengths = b"".join(made), array("I", map(len, made))
    ends = list(accumulate(lengths))
    offsets = array("I", [0, *ends[:-1]] if ends else [])
    return Slices(data, offsets, lengths)


def _fixed(column: Any) -> Encoded:
    """Returns an array of byte strings of one length; zeros at the end of an `S` item are padding."""
    import numpy as np

    column = np.ascontiguousarray(column)
    size = column.dtype.itemsize
    offsets = np.arange(len(column), dtype=np.uint32) * np.uint32(size)
    if column.dtype.kind == "V":
        lengths = np.full(len(column), size, np.uint32)
    else:
        lengths = np.char.str_len(column).astype(np.uint32)
    return Encoded(OWN, offsets, lengths, memoryview(column.tobytes()))


def _numbers(column: Any, declared: Type, n: int, what: str) -> Encoded:
    if hasattr(column, "to_numpy") and not is_array(column):
        column = column.to_numpy(zero_copy_only=False) if hasattr(column, "buffers") else column.to_numpy()
    if length_of(column) < 0:
        if column is None or isinstance(column, (bytes, str)):
            raise _not_a_number(column, declared, what)
        column = [column] * n if sys.modules.get("numpy") is None else _full(column, n)
    if is_array(column):
        import numpy as np

        target = np.dtype(declared.dtype)
        if not np.can_cast(column.dtype, target, "same_kind"):
            raise TypeError(f"{what}: a column of {column.dtype} for the declared {declared}: convert it, or declare "
                            f"its own type in out=")
        data: Any = np.ascontiguousarray(column, target)
    else:
        try:
            data = array(declared.code, as_list(column))
        except (TypeError, OverflowError, struct.error) as e:
            wrong = next((v for v in as_list(column) if not isinstance(v, (int, float))), None)
            if wrong is not None:
                raise _not_a_number(wrong, declared, what) from None
            raise type(e)(f"{what}: {e}, for the declared {declared}") from None
    if declared.size == 8:
        return Encoded(EIGHTS, b"", b"", memoryview(data).cast("B") if len(data) else b"")
    size = declared.size
    return Encoded(OWN, array("I", range(0, size * n, size)), array("I", [size]) * n, data)


def _full(value: Any, n: int) -> Any:
    import numpy as np

    return np.full(n, value)


def _not_a_number(value: Any, declared: Type, what: str) -> TypeError:
    return TypeError(f"{what} is a {type(value).__name__}, but out= declares {declared}: declare its type, as in "
                     "out=(y.bytes, y.text)")


def all_ones(column: Any) -> bool:
    """Returns True if each value of a column is the number 1."""
    if length_of(column) < 0:
        return bool(column == 1)
    if is_array(column):
        return bool((column == 1).all())
    return all(v == 1 for v in as_list(column))


def decode(slices: Slices, declared: Type) -> Any:
    """Returns slices as a column of a type: numbers as an array of NumPy or a list, bytes as slices, text as a list."""
    if declared is text:
        return [item.decode(errors="replace") for item in slices.tolist()]
    if not declared.is_number:
        return slices
    n, size = len(slices), declared.size
    wrong = next((int(v) for v in set(as_list(slices.lengths)) if v != size), None) if n else None
    if wrong is not None:
        raise ValueError(f"a value of {wrong} bytes, where the job has {declared}")
    return numbers(slices.packed(size), declared)


def numbers(packed: Any, declared: Type) -> Any:
    """Returns packed numbers as a column, without a copy."""
    numpy = numpy_or_none()
    if numpy is not None:
        return numpy.frombuffer(packed, declared.dtype)
    return memoryview(packed).cast("B").cast(declared.code)  # type: ignore[call-overload]


__all__ = ["Encoded", "Records", "Slices", "all_ones", "as_list", "as_u32", "decode", "encode", "length_of", "numbers"]
