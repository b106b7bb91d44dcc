"""Operators of a job: functions and classes that are marked as mappers, reducers, or functions of one record."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from .data.batch import Batch, Groups, TextBatch
from .data.types import Out, Type, bytes_, i64, slice_, type_of, types_of
from .data.columns import Records, Slices, as_list, decode, encode, length_of

#: Number of records that a function of one record emits at once.
RECORDS_AT_ONCE = 1 << 14
#: Bytes of a named output that are sent at once.
OUTPUT_BYTES = 64 << 10


class NamedOutput:
    """Output beside the records of a task. `y.task.output` opens it; it is closed after the last batch."""

    def __init__(self, task: Task, name: str, types: Tuple[Type, Type]) -> None:
        self.name, self.types = name, types
        #: Records that wait, as bytes, and the number of their bytes.
        self.waiting: List[Tuple[bytes, bytes]] = []
        self._bytes = 0
        self._task = task

    def write(self, keys: Any, values: Any = None) -> None:
        """Writes records: columns of keys and values, or one key and one value."""
        counts = [n for n in (length_of(keys), length_of(values)) if n >= 0]
        n = counts[0] if counts else 1
        if counts and min(counts) != max(counts):
            raise ValueError(f"the output {self.name} got {counts[0]} keys and {counts[1]} values")
        what = f"the output {self.name}: "
        sides = [encode(keys, self.types[0], n, None, what + "a key"), encode(values, self.types[1], n, None, what + "a value")]
        pairs = list(zip(*(side.items(n) for side in sides)))
        self.waiting += pairs
        self._bytes += sum(len(key) + len(value) for key, value in pairs)
        if self._bytes >= OUTPUT_BYTES and self._task.send is not None:
            self._task.send(self, False)
            self.waiting, self._bytes = [], 0


class Task:
    """Task that the calling function runs in: its settings, files and counters.

    `y.task` is the task of the worker process. It is empty outside of jobs.
    """

    def __init__(self) -> None:
        #: Settings of the job (`-D`).
        self.settings: Dict[str, str] = {}
        #: Side files by name, with their bytes.
        self.side_files: Dict[str, bytes] = {}
        #: Paths of the inputs.
        self.inputs: List[str] = []
        #: Number of the task, and of the partitions of the job.
        self.number = 0
        self.partitions = 1
        #: True in a reducer.
        self.is_reduce = False
        self.counters: Dict[Tuple[str, str], int] = {}
        self.new_status: Optional[str] = None
        self.outputs: Dict[str, NamedOutput] = {}
        #: Function that takes a named output with its records, and True at its end; a worker sets it.
        self.send: Optional[Callable[[NamedOutput, bool], None]] = None

    def setting(self, key: str, default: Any = None) -> Any:
        """Returns a setting as text, or `default`."""
        return self.settings.get(key, default)

    def side_file(self, name: str) -> bytes:
        """Returns the bytes of a side file. Raises `KeyError` if the job has no such file."""
        return self.side_files[name]

    def count(self, name: str, by: int = 1, group: str = "Python") -> None:
        """Adds to a counter, which the report of the job shows."""
        self.counters[group, name] = self.counters.get((group, name), 0) + by

    def output(self, name: str, out: Out = None) -> NamedOutput:
        """Returns a named output of the job (`named_output="NAME=FORMAT"`). `out` declares its types."""
        if name not in self.outputs:
            if self.send is None:
                raise RuntimeError(f"there is no output {name} outside of a job")
            made = NamedOutput(self, name, types_of(out))
            self.send(made, False)
            self.outputs[name] = made
        return self.outputs[name]

    def status(self, text: str) -> None:
        """Sets the status of the task."""
        self.new_status = text


#: Task of this process.
task = Task()


class Operator:
    """Class of a job: a function or a class with its declarations."""

    kind = 0
    #: True for a mapper of spans.
    wants_span = False

    def __init__(self, made_of: Any, out: Out, name: Optional[str]) -> None:
        self.made_of = made_of
        self.out: Tuple[Type, Type] = types_of(out)
        self.name = name or str(getattr(made_of, "__name__", type(made_of).__name__))
        self.__doc__ = getattr(made_of, "__doc__", None)
        self.__name__ = self.name
        #: Types of the keys and values that come in; the job sets them.
        self.takes: Tuple[Optional[Type], Optional[Type]] = (None, None)
        self.key_columns: Tuple[str, ...] = ()
        self.value_columns: Tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name} -> ({self.out[0].name}, {self.out[1].name})>"

    def new(self) -> Tuple[Callable[..., Any], Optional[Callable[[], Any]]]:
        """Returns the function of a new instance, and the one that flushes it."""
        if not isinstance(self.made_of, type):
            return self.made_of, None
        instance = self.made_of()
        return getattr(instance, self.method), getattr(instance, "flush", None)

    method = "map"


class Mapper(Operator):
    """Mapper: it takes a batch of records and returns records. Call it to try it on a batch."""

    kind = 1

    def __init__(self, made_of: Any, out: Out, name: Optional[str] = None, batch: Optional[str] = None) -> None:
        super().__init__(made_of, out, name)
        #: `text` for a span, `records` for columns, `arrow` for a RecordBatch.
        self.batch = batch or _batch_of(made_of)

    def __call__(self, batch: Any) -> Any:
        return self.new()[0](batch)

    def run(self, call: Callable[..., Any], batch: Batch) -> Iterator[Records]:
        """Maps a batch with the function of an instance."""
        given: Any = batch
        if self.batch == "arrow":
            given = batch.to_arrow(self.key_columns, self.value_columns)
        return results(call(given), self.name)

    @property
    def wants_span(self) -> bool:  # type: ignore[override]
        return self.batch == "text"


class RecordMapper(Mapper):
    """Mapper of one record at a time. Python runs it at about 28 MB/s a processor."""

    def __init__(self, made_of: Any, out: Out, name: Optional[str] = None, takes: Any = bytes) -> None:
        super().__init__(made_of, out, name, batch="records")
        self.value_type = type_of(takes)
        code = getattr(made_of, "__code__", None)
        #: True for a function of key and value.
        self.wants_key = code is not None and code.co_argcount - len(made_of.__defaults__ or ()) == 2
        if self.out[0] is slice_:
            raise TypeError(f"{self.name}: a function of one record has no slices of a batch; declare y.bytes")

    def __call__(self, *record: Any) -> Any:
        return self.made_of(*record)

    def run(self, call: Callable[..., Any], batch: Batch) -> Iterator[Records]:
        values = self.typed(batch.values)
        keys: Iterable[Any] = [None] * len(values) if batch.keys is None else as_list(batch.keys)
        made = (call(k, v) for k, v in zip(keys, values)) if self.wants_key else map(call, values)
        return gathered(self.pairs(made))

    def typed(self, values: Any) -> List[Any]:
        if isinstance(values, Slices):
            values = decode(values, self.value_type)
        return as_list(values)

    def pairs(self, made: Iterable[Any]) -> Iterator[Tuple[Any, Any]]:
        """Iterates over the pairs of all results: none, one, or several for each record."""
        for result in made:
            if result is None:
                continue
            if isinstance(result, tuple):
                yield self.pair(result)
            elif isinstance(result, (bytes, str, int, float)):
                yield result, None
            else:
                for each in result:
                    yield self.pair(each) if isinstance(each, tuple) else (each, None)

    def pair(self, result: Tuple[Any, ...]) -> Tuple[Any, Any]:
        if len(result) != 2:
            raise ValueError(f"{self.name} returned a tuple of {len(result)}: a record is a pair (key, value)")
        return result


def gathered(pairs: Iterable[Tuple[Any, Any]]) -> Iterator[Records]:
    """Gathers pairs to columns."""
    keys: List[Any] = []
    values: List[Any] = []
    for key, value in pairs:
        keys.append(key)
        values.append(value)
        if len(keys) == RECORDS_AT_ONCE:
            yield Records(keys, values)
            keys, values = [], []
    if keys:
        yield Records(keys, values)


class Reducer(Operator):
    """Reducer or combiner: it takes groups and returns records. Call it to try it on groups."""

    kind = 2
    method = "reduce"

    def __init__(self, made_of: Any, out: Out, name: Optional[str] = None, values: Any = None,
                 pure: Optional[bool] = None) -> None:
        super().__init__(made_of, out, name)
        #: Declared type of the values that come in, or None.
        self.values = None if values is None else type_of(values)
        self.takes = (None, self.values)
        #: True if the records of a group depend on this group alone: the engine may divide the groups of a part.
        self.pure = not isinstance(made_of, type) if pure is None else pure
        if self.out[0] is slice_:
            raise TypeError(f"{self.name}: keys of a reducer are no slices of a batch; declare y.bytes")

    def __call__(self, groups: Groups) -> Any:
        return self.new()[0](groups)

    def run(self, call: Callable[..., Any], groups: Groups) -> Iterator[Records]:
        return results(call(groups), self.name)


def results(result: Any, name: str) -> Iterator[Records]:
    """Iterates over the columns that a function returned: none, one pair, or several."""
    if result is None:
        return
    if isinstance(result, tuple) and len(result) == 2:
        yield Records(*result)
    elif type(result).__module__.startswith("pyarrow"):
        if result.num_columns not in (1, 2):
            raise ValueError(f"{name} returned {result.num_columns} columns: records have a key and a value")
        yield Records(result.column(0), result.column(1) if result.num_columns == 2 else None)
    elif hasattr(result, "__next__"):
        for each in result:
            yield from results(each, name)
    else:
        raise TypeError(f"{name} returned a {type(result).__name__}: return a pair of columns (keys, values), or None")


def _batch_of(made_of: Any) -> str:
    """Returns the form of batch that a function declares by the annotation of its parameter."""
    function = getattr(made_of, "map", None) if isinstance(made_of, type) else made_of
    hints = dict(getattr(function, "__annotations__", {}) or {})
    hints.pop("return", None)
    hint = next(iter(hints.values()), None)
    name = hint if isinstance(hint, str) else getattr(hint, "__name__", "")
    name = name.rsplit(".", 1)[-1].strip("'\"")
    if name == "RecordBatch":
        return "arrow"
    return "records" if name == Batch.__name__ else "text"


def marked(function: Any, mark: Callable[[Any], Operator]) -> Any:
    """Returns the marked function, or the decorator if it has arguments and no function yet."""
    return mark if function is None else mark(function)


def mapper(function: Any = None, *, out: Out = None, name: Optional[str] = None) -> Any:
    """Marks a function, or a class with `map` and `flush`, as a mapper of batches.

    The annotation of its parameter names the batch: `y.TextBatch` (the default) for spans of text, `y.Batch` for
    columns of keys and values, `pyarrow.RecordBatch` for Arrow. `out` declares the types of keys and values, by
    default bytes and i64. It returns a pair of columns, or yields several, or returns None.

    >>> import yunti as y
    >>> @y.mapper(out=(y.slice, y.one))
    ... def words(b: y.TextBatch):
    ...     return b.words().one()
    >>> words
    <mapper words -> (slice, one)>
    >>> words(y.TextBatch.of(b"to be")).keys.tolist()
    [b'to', b'be']
    """
    return marked(function, lambda made_of: Mapper(made_of, out, name))


def record(function: Any = None, *, out: Out = None, name: Optional[str] = None, takes: Any = bytes) -> Any:
    """Marks a function of one record as a mapper: of a value (for text, a line), or of a key and a value.

    It returns or yields pairs of key and value. `takes` is the type of the value, as in `takes=str`. It is slow: the
    interpreter handles about 28 MB/s a processor.

    >>> import yunti as y
    >>> @y.record
    ... def prefix(line):
    ...     yield line[:3], 1
    >>> list(prefix(b"abcdef"))
    [(b'abc', 1)]
    """
    return marked(function, lambda made_of: RecordMapper(made_of, out, name, takes))


def reducer(function: Any = None, *, out: Out = None, name: Optional[str] = None, values: Any = None,
            pure: Optional[bool] = None) -> Any:
    """Marks a function, or a class with `reduce` and `flush`, as a reducer (or a combiner) of groups.

    `out` declares the types of keys and values. `values` is the type of the values that come in; a job takes it from
    its mapper. `pure=False` keeps all groups of a part in one instance.

    >>> import yunti as y
    >>> @y.reducer(out=(y.bytes, y.i64))
    ... def most(g):
    ...     return [key for key, _ in g], [max(values) for _, values in g]
    >>> most(y.Groups(["a", "b"], [0, 2, 3], [1, 2, 3]))
    (['a', 'b'], [2, 3])
    """
    return marked(function, lambda made_of: Reducer(made_of, out, name, values, pure))


def as_mapper(given: Any) -> Mapper:
    """Returns a mapper as it is, and a plain function as a function of one record."""
    if isinstance(given, Mapper):
        return given
    if isinstance(given, Operator) or not callable(given):
        raise TypeError(f"{given!r} is no mapper: mark a function with @y.mapper or @y.record")
    return RecordMapper(given, None)


def as_reducer(given: Any) -> Reducer:
    """Returns a reducer as it is, and a plain function as a function of groups."""
    if isinstance(given, Reducer):
        return given
    if isinstance(given, Operator) or not callable(given):
        raise TypeError(f"{given!r} is no reducer: mark a function with @y.reducer")
    return Reducer(given, None)


Either = Union[str, Operator, Callable[..., Any]]

__all__ = ["Mapper", "Operator", "RecordMapper", "Reducer", "Task", "as_mapper", "as_reducer", "bytes_", "i64",
           "mapper", "marked", "record", "reducer", "task", "TextBatch"]
