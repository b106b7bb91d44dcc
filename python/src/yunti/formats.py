"""Formats of your own: readers find records in the bytes of files, writers make the bytes of part files."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Tuple

from .data.batch import Batch, viewed
from .data.columns import Records, is_array
from .data.types import Out, Type, none, type_of
from .operators import Operator, marked

#: Limit of a chunk whose file is not cut.
NO_LIMIT = (1 << 64) - 1
#: Bytes before a cut that a reader may see.
LOOK_BACK_MAX = 4096


class Chunk:
    """Range of bytes of a file, decompressed. Its bytes are valid until the function returns.

    >>> chunk = Chunk.of(b"one two")
    >>> chunk.bytes, chunk.owned, chunk.first, chunk.last
    (b'one two', 7, True, True)
    """

    def __init__(self, data: Any, position: int = 0, limit: int = NO_LIMIT, file: str = "", first: bool = True,
                 last: bool = True, cut: int = 0) -> None:
        #: The bytes, as an array of u8 (a memoryview without NumPy).
        self.data = data
        #: Offset of the first byte in the file.
        self.position = position
        #: Records that begin at this offset in the data, or later, belong to the next split.
        self.limit = limit
        #: Path of the input file.
        self.file = file
        #: True if the data begins the file.
        self.first = first
        #: True if the data ends the file.
        self.last = last
        #: In `find`: offset of the cut in the data.
        self.cut = cut

    @classmethod
    def of(cls, data: bytes) -> "Chunk":
        """Returns a whole file as a chunk, to try a reader without a job."""
        return cls(viewed(data))

    @property
    def bytes(self) -> bytes:
        """The data as a copy."""
        return bytes(self.data)

    @property
    def owned(self) -> int:
        """Number of bytes in which records of this split may begin."""
        return min(self.limit, len(self.data))

    def __len__(self) -> int:
        return len(self.data)


class _Reading:
    """Reader of a plain function, which finds no records after a cut."""

    def __init__(self, function: Any) -> None:
        self.read = function


class Reader(Operator):
    """Reader: it takes chunks of a file, and returns records with the number of bytes that it took."""

    kind = 6

    def __init__(self, made_of: Any, out: Out, name: Optional[str], look_back: int) -> None:
        super().__init__(made_of, out, name)
        if not 0 <= look_back <= LOOK_BACK_MAX:
            raise ValueError(f"{self.name}: look_back is {look_back}: at most {LOOK_BACK_MAX} bytes")
        if self.out[0].name == "slice" or self.out[1].name == "one":
            raise TypeError(f"{self.name}: a reader declares y.bytes and y.i64 in place of y.slice and y.one")
        self.look_back = look_back
        #: True if it finds records after a cut, so that files can be divided.
        self.finds = isinstance(made_of, type) and hasattr(made_of, "find")

    def __call__(self, chunk: Chunk) -> Any:
        return self.new()[0].read(chunk)

    def new(self) -> Tuple[Any, None]:
        """Returns an object with `read`, and with `find` if the class has it."""
        return (self.made_of() if isinstance(self.made_of, type) else _Reading(self.made_of)), None

    def run(self, instance: Any, chunk: Chunk) -> Tuple[Optional[Records], int]:
        """Returns the records of a chunk, and the number of bytes that were taken."""
        result = instance.read(chunk)
        if result is None:
            return None, 0
        if not isinstance(result, tuple) or len(result) != 3:
            raise TypeError(f"{self.name} returned a {type(result).__name__}: return keys, values and the number of "
                            "bytes that it took, or None for more bytes")
        keys, values, taken = result
        taken = int(taken)
        if not 0 <= taken <= len(chunk):
            raise ValueError(f"{self.name} took {taken} bytes of a chunk of {len(chunk)}")
        return Records(keys, values), taken

    def find(self, instance: Any, chunk: Chunk) -> int:
        """Returns the offset of the first record after the cut, or 2^64-1 for more bytes."""
        found = instance.find(chunk)
        if found is None:
            return NO_LIMIT
        found = int(found)
        if found < chunk.cut:
            raise ValueError(f"{self.name} found a record at {found}, before the cut at {chunk.cut}")
        return found


class _Writing:
    """Writer of a plain function, without head and foot."""

    def __init__(self, function: Any) -> None:
        self.write = function


class Writer(Operator):
    """Writer: it takes a batch of records, and returns the bytes of a part file."""

    kind = 7

    def __init__(self, made_of: Any, name: Optional[str], extension: str, whole_part: bool, keys: Any,
                 values: Any) -> None:
        super().__init__(made_of, (none, none), name)
        if "/" in extension:
            raise ValueError(f"{self.name}: the extension '{extension}' has a slash")
        self.extension, self.whole_part = extension, whole_part
        self.keys = None if keys is None else type_of(keys)
        self.values = None if values is None else type_of(values)

    def __repr__(self) -> str:
        return f"<writer {self.name}>"

    def __call__(self, batch: Batch) -> Any:
        return self.new()[0].write(batch)

    def take(self, out: Tuple[Type, Type]) -> None:
        """Sets the types of the records to those of a job, except where they are declared."""
        self.takes = (self.keys or out[0], self.values or out[1])

    def new(self) -> Tuple[Any, None]:
        """Returns an object with `write`, and with `begin` and `end` if the class has them."""
        return (self.made_of() if isinstance(self.made_of, type) else _Writing(self.made_of)), None

    def run(self, instance: Any, batch: Batch) -> Iterator[bytes]:
        """Iterates over the bytes of a batch."""
        return self._bytes_of(instance.write(batch))

    def edge(self, instance: Any, method: str) -> Iterator[bytes]:
        """Iterates over the bytes of `begin` or `end`."""
        call = getattr(instance, method, None)
        return iter(()) if call is None else self._bytes_of(call())

    def _bytes_of(self, made: Any) -> Iterator[bytes]:
        if made is None:
            return
        if isinstance(made, str):
            yield made.encode()
        elif isinstance(made, (bytes, bytearray, memoryview)):
            yield bytes(made)
        elif is_array(made):
            yield made.tobytes()
        elif isinstance(made, int) or not hasattr(made, "__iter__"):
            raise TypeError(f"{self.name} returned a {type(made).__name__}: return bytes, text, or a list of them")
        else:
            for each in made:
                yield from self._bytes_of(each)


def reader(function: Any = None, *, out: Out = None, name: Optional[str] = None, look_back: int = 0) -> Any:
    """Marks a function, or a class with `read` and `find`, as a reader of files.

    `read` takes a chunk (`y.Chunk`). It returns keys, values, and the number of bytes that it took: all records that
    begin before `chunk.owned`, whole. It returns None, or 0 bytes, for more bytes. With
    `find`, large files are divided: it returns the offset of the first record at or after `chunk.cut`, or None for more
    bytes. `look_back` is the number of bytes before the cut that it sees. `out` declares the types.

    >>> import yunti as y
    >>> @y.reader(out=(y.u64, y.bytes))
    ... def pairs(chunk):
    ...     data, n = chunk.bytes, chunk.owned // 2 * 2
    ...     return range(chunk.position, chunk.position + n, 2), [data[i : i + 2] for i in range(0, n, 2)], n
    >>> keys, values, taken = pairs(y.Chunk.of(b"abcde"))
    >>> list(keys), values, taken
    ([0, 2], [b'ab', b'cd'], 4)
    """
    return marked(function, lambda made_of: Reader(made_of, out, name, look_back))


def writer(function: Any = None, *, extension: str = "", whole_part: bool = False, keys: Any = None,
           values: Any = None, name: Optional[str] = None) -> Any:
    """Marks a function, or a class with `write`, `begin` and `end`, as a writer of part files.

    `write` takes a batch (`y.Batch`) and returns bytes, text, or a list of them. Several processes write pieces of a
    part, so the bytes of a record must depend on that record alone. With `whole_part=True`, one writes a part in order.

    >>> import yunti as y
    >>> @y.writer(extension=".tsv")
    ... def reversed_pairs(b: y.Batch):
    ...     return [b"%d\\t%s\\n" % (value, key) for key, value in b.rows()]
    >>> reversed_pairs(y.Batch(None, [b"a", b"b"], [1, 2]))
    [b'1\\ta\\n', b'2\\tb\\n']
    """
    return marked(function, lambda made_of: Writer(made_of, name, extension, whole_part, keys, values))


def as_format(flag: str, given: Any) -> Operator:
    """Returns a marked reader or writer. Raises `TypeError` for anything else."""
    kind, word = (Reader, "reader") if flag == "input_format" else (Writer, "writer")
    if not isinstance(given, kind):
        raise TypeError(f"{flag} is {given!r}: name a format, or mark a function or a class with @y.{word}")
    return given


__all__ = ["Chunk", "Reader", "Writer", "as_format", "reader", "writer"]
