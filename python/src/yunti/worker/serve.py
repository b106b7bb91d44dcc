"""Calls of the engine: instances of classes, and their answers."""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..data import native
from ..data.batch import Batch, Groups, TextBatch, Words
from ..data.types import Type, bytes_, i64, none, one, slice_
from ..data.columns import BATCH, Encoded, Records, Slices, all_ones, as_u32, encode, is_array, length_of, numbers, numpy_or_none
from ..formats import Chunk, Reader, Writer
from ..operators import Mapper, NamedOutput, Operator, RecordMapper, Reducer, task
from ..placing import KeyOrder, Partitioner
from .groups import GroupJoiner
from .memory import BLOCK_BYTES, Head, SharedMemory
from .wire import Put, Take

JOB, CREATE, MAP, FLUSH, REDUCE, PARTITION, ORDER_KEYS = 1, 2, 3, 4, 5, 6, 7
FIND, READ, BEGIN, WRITE, END, DESTROY = 8, 9, 10, 11, 12, 13
BLOCK, PART, DONE, FAILED, OUTPUT, CLOSE, STATUS, COLUMNS, WORDS = 101, 102, 104, 105, 106, 107, 108, 109, 110
#: Version of the protocol; an engine of another one refuses the worker.
VERSION = 1
#: Forms of emitted records.
COPY, ONE, REF = 1, 2, 3
#: Code of an error of user code.
USER_CODE = 6
#: No offset of an error.
NO_OFFSET = (1 << 64) - 1


class EngineEnded(Exception):
    """The engine has ended: so does the worker."""


class Server:
    """Serves classes, one instance at a time."""

    def __init__(self, classes: Dict[str, Operator], memory: SharedMemory,
                 on_error: Callable[[str, str], None] = lambda line, text: None) -> None:
        self._classes = classes
        self._memory = memory
        self._on_error = on_error
        self._class: Optional[Operator] = None
        self._call: Any = None
        self._flush: Any = None
        self._joiner: Optional[GroupJoiner] = None
        # Bytes of the block that the engine has not got. The last block of a call goes with its end.
        self._held = 0
        task.send = self._send_output

    def run(self) -> None:
        """Serves until the engine ends."""
        if self._memory.wait() is None:
            return
        self._answer(DONE, VERSION, [self._hello()])
        while True:
            head = self._memory.wait()
            if head is None:
                return
            try:
                kind, (value, payload) = DONE, self._serve(head)
            except EngineEnded:
                return
            except BaseException as e:  # the engine decides what follows, also after SystemExit
                kind, value, payload = FAILED, 0, [self._failure(e)]
            self._answer(kind, value, payload)

    def _answer(self, kind: int, value: int, pieces: List[Any]) -> None:
        block, self._held = self._held if kind == DONE else 0, 0
        self._memory.send(kind, value, pieces, PART, last=True, block=block)

    def _send(self, kind: int, pieces: List[Any]) -> None:
        self._hand_over()
        if not self._memory.send(kind, 0, pieces, PART, last=False):
            raise EngineEnded

    def _failure(self, e: BaseException) -> bytes:
        line = summary(e)
        text = described(e)
        self._on_error(line, text)
        return failure(line, text)

    def _hello(self) -> bytes:
        put = Put().u64(len(self._classes))
        for name, made in self._classes.items():
            key, value = made.out
            is_mapper = isinstance(made, Mapper)
            bits = [
                not is_mapper and getattr(made, "pure", False),
                is_mapper and key is slice_,
                is_mapper and key is slice_ and value is one,
                is_mapper and made.wants_span,
                isinstance(made, KeyOrder) and made.groups,
                isinstance(made, Reader) and made.finds,
                isinstance(made, Writer) and made.whole_part,
            ]
            flags = sum(1 << i for i, bit in enumerate(bits) if bit)
            takes = made.takes[1] if isinstance(made, Reducer) else None
            put.text(name).u32(made.kind).u32(flags).u32(0)
            put.u32(key.number).u32(value.number).u32(takes.number if takes else 0)
            put.u32(getattr(made, "look_back", 0)).text(getattr(made, "extension", "")).u64(0)
        return bytes(put.bytes)

    def _serve(self, head: Head) -> Tuple[int, List[Any]]:
        """Makes a call. Returns the number and the bytes of its result."""
        value, result = 0, []
        if head.kind == JOB:
            self._set_job(Take(self._memory.request(head.length)))
        elif head.kind == CREATE:
            self._create(Take(self._memory.request(head.length)))
        elif head.kind == DESTROY:
            return 0, [self._destroy()]
        elif self._class is None:
            raise RuntimeError("the engine made a call without an instance")
        elif head.kind == MAP:
            self._map(head)
        elif head.kind == REDUCE:
            self._reduce(head)
        elif head.kind == FLUSH:
            self._flush_all(Take(self._memory.request(head.length)).u32())
        elif head.kind == PARTITION:
            result = [self._partition(head)]
        elif head.kind == ORDER_KEYS:
            result = [self._order_keys(head)]
        elif head.kind == FIND:
            value = self._find(head)
        elif head.kind == READ:
            value = self._read(head)
        elif head.kind in (BEGIN, WRITE, END):
            self._write(head)
        else:
            raise NotImplementedError(f"a worker of Python has no call {head.kind}")
        if task.new_status is not None:
            status, task.new_status = task.new_status, None
            self._send(STATUS, [status.encode()])
        return value, result

    def _set_job(self, take: Take) -> None:
        task.settings = dict(take.list(lambda: (take.text(), take.text())))
        task.side_files = dict(take.list(lambda: (take.text(), take.raw())))
        task.inputs = take.list(take.text)

    def _create(self, take: Take) -> None:
        name, _kind = take.text(), take.u32()
        task.is_reduce, task.number, task.partitions = take.u32() != 0, take.u32(), take.u32()
        task.counters, task.new_status, task.outputs = {}, None, {}
        # The instance before it is gone if its task failed.
        self._class, self._call, self._flush = None, None, None
        made = self._classes[name]
        self._call, self._flush = made.new()
        self._class = made
        self._joiner = GroupJoiner() if isinstance(made, Reducer) else None

    def _destroy(self) -> bytes:
        self._class, self._call, self._flush, self._joiner = None, None, None, None
        put = Put().u64(len(task.counters))
        for (group, name), by in task.counters.items():
            put.text(str(group)).text(str(name)).u64(by)
        return bytes(put.bytes)

    def _map(self, head: Head) -> None:
        made = self._class
        assert isinstance(made, Mapper)
        view = self._memory.request(head.length)
        at, parts = self._memory.parts(view)
        form, is_span, has_keys, file, position = struct.unpack_from("<IIIIQ", view, at)
        owner = object()
        # NumPy's import takes longer than most batches: a text that nobody looks at needs none.
        data = parts[0] if is_span and made.batch == "text" else viewed(parts[0], isinstance(made, RecordMapper))
        path = task.inputs[file] if file < len(task.inputs) else ""
        types = (made.takes[0] or bytes_, made.takes[1] or bytes_)
        keys = _slices(data, parts, 1, owner) if has_keys else None
        values = None if is_span else _slices(data, parts, 3, owner)
        made_of = TextBatch if made.batch == "text" else Batch
        if is_span and made_of is Batch:
            values = TextBatch(data, None, None).lines()
        batch = made_of(data, keys, values, path, position, types, owner)
        for records in made.run(self._call, batch):
            self._emit(records, form, owner)

    def _reduce(self, head: Head) -> None:
        made = self._class
        assert isinstance(made, Reducer) and self._joiner is not None
        view = self._memory.request(head.length)
        at, parts = self._memory.parts(view)
        flags, has_value_keys, is_eight = struct.unpack_from("<III", view, at)
        data = viewed(parts[0], False)
        # Keys that are slices of this batch go back as places.
        owner = object()
        values = parts[8] if is_eight else _slices(data, parts, 4, owner)
        value_keys = _slices(data, parts, 6) if has_value_keys else None
        raw = RawGroups(_slices(data, parts, 1, owner), _u32(parts[3]), values, value_keys)
        for groups in self._joiner.join(raw, flags):
            self._reduce_whole(made, groups, owner)

    def _reduce_whole(self, made: Reducer, raw: "RawGroups", owner: Optional[object]) -> None:
        for records in made.run(self._call, typed(raw, made.takes)):
            self._emit(records, COPY, owner)

    def _batch_of_records(self, head: Head, owner: Optional[object]) -> Tuple[int, Batch]:
        """Returns the first number of a request with a batch of keys and values, and the batch."""
        assert self._class is not None
        view = self._memory.request(head.length)
        at, parts = self._memory.parts(view)
        first, _, has_keys, file, position = struct.unpack_from("<IIIIQ", view, at)
        data = viewed(parts[0], False)
        path = task.inputs[file] if file < len(task.inputs) else ""
        types = (self._class.takes[0] or bytes_, self._class.takes[1] or bytes_)
        keys = _slices(data, parts, 1, owner) if has_keys else None
        return first, Batch(data, keys, _slices(data, parts, 3, owner), path, position, types, owner)

    def _partition(self, head: Head) -> Any:
        made = self._class
        assert isinstance(made, Partitioner)
        parts, batch = self._batch_of_records(head, None)
        return made.run(self._call, batch, parts)

    def _order_keys(self, head: Head) -> Any:
        made = self._class
        assert isinstance(made, KeyOrder)
        owner = object()
        _, batch = self._batch_of_records(head, owner)
        forms, lengths = made.run(self._call, batch)
        n = len(batch)
        self._columns(n, encode(forms, bytes_, n, owner, f"{made.name}: a form"), encode(None, none, n, None, ""))
        return struct.pack(f"<{n}I", *lengths) if lengths is not None else b"\xff" * (4 * n)

    def _chunk(self, head: Head) -> Chunk:
        view = self._memory.request(head.length)
        at, parts = self._memory.parts(view)
        first, last, limit, position, file, before = struct.unpack_from("<IIQQII", view, at)
        path = task.inputs[file] if file < len(task.inputs) else ""
        return Chunk(viewed(parts[0], False), position, limit, path, first != 0, last != 0, before)

    def _find(self, head: Head) -> int:
        made = self._class
        assert isinstance(made, Reader)
        return made.find(self._call, self._chunk(head))

    def _read(self, head: Head) -> int:
        made = self._class
        assert isinstance(made, Reader)
        records, taken = made.run(self._call, self._chunk(head))
        if records is not None:
            self._emit(records, COPY, None)
        return taken

    def _write(self, head: Head) -> None:
        made = self._class
        assert isinstance(made, Writer)
        if head.kind == WRITE:
            _, batch = self._batch_of_records(head, None)
            pieces = made.run(self._call, batch)
        else:
            pieces = made.edge(self._call, "begin" if head.kind == BEGIN else "end")
        self._blocks(memoryview(b"".join(pieces)))

    def _flush_all(self, form: int) -> None:
        made = self._class
        if isinstance(made, Reducer) and self._joiner is not None:
            for groups in self._joiner.close():
                self._reduce_whole(made, groups, None)
        if self._flush is not None and made is not None:
            from ..operators import results

            for records in results(self._flush(), made.name):
                self._emit(records, form, None)
        for output in task.outputs.values():
            self._send_output(output, True)
        task.outputs = {}

    def _send_output(self, output: NamedOutput, ends: bool) -> None:
        put = Put().text(output.name).u32(output.types[0].number).u32(output.types[1].number)
        put.u64(len(output.waiting))
        for key, value in output.waiting:
            put.text(key).text(value)
        self._send(CLOSE if ends else OUTPUT, [put.bytes])

    def _emit(self, records: Records, form: int, owner: Optional[object]) -> None:
        made = self._class
        assert made is not None
        keys, values = records
        is_all = isinstance(keys, Words) and owner is not None and keys.owner is owner
        if form == ONE and is_all and isinstance(values, int) and values == 1:
            # The engine finds the words itself.
            if len(keys.data):
                self._send(WORDS, [])
            return
        counts = [n for n in (length_of(keys), length_of(values)) if n >= 0]
        n = counts[0] if counts else 1
        if len(counts) == 2 and counts[0] != counts[1]:
            raise ValueError(f"{made.name} returned {counts[0]} keys and {counts[1]} values")
        if n == 0:
            return
        key_type, value_type = made.out
        what = f"{made.name}: "
        if value_type is one:
            if not all_ones(values):
                raise ValueError(f"{made.name} declares y.one, but returned other values: declare y.i64")
            values = 1
        encoded = encode(keys, key_type, n, owner, what + "a key")
        if key_type is slice_ and encoded.form != BATCH:
            raise TypeError(f"{made.name} declares y.slice, but returned keys that are no slices of its batch: declare "
                            "y.bytes")
        if form == ONE:
            self._blocks(_pairs(encoded.offsets, encoded.lengths))
            return
        columns = encode(values, value_type, n, owner, what + "a value")
        if form == REF:
            self._blocks(_triples(encoded.offsets, encoded.lengths, columns.data))
            return
        self._columns(n, encoded, columns)

    def _columns(self, n: int, keys: Encoded, values: Encoded) -> None:
        """Sends records as columns."""
        pieces: List[Any] = [struct.pack("<QII", n, keys.form, values.form)]
        for column in (keys, values):
            for array in (as_u32(column.offsets), as_u32(column.lengths), column.data):
                pieces += [struct.pack("<Q", memoryview(array).nbytes), array]
        self._send(COLUMNS, pieces)

    def _blocks(self, entries: memoryview) -> None:
        """Sends entries of slices, as many at once as a block has room for."""
        room = self._memory.block()
        for at in range(0, len(entries), BLOCK_BYTES):
            part = entries[at : at + BLOCK_BYTES]
            self._hand_over()
            room[: len(part)] = part
            self._held = len(part)

    def _hand_over(self) -> None:
        """Gives the block to the engine."""
        if self._held:
            held, self._held = self._held, 0
            self._memory.pass_turn(BLOCK, 0, 0, held)
            if self._memory.wait() is None:
                raise EngineEnded


class RawGroups:
    """Groups as they come: keys as slices, values as slices or as packed numbers of eight bytes."""

    __slots__ = ("keys", "first", "values", "value_keys")

    def __init__(self, keys: Slices, first: Any, values: Any, value_keys: Optional[Slices]) -> None:
        self.keys, self.first, self.values, self.value_keys = keys, first, values, value_keys


def typed(raw: RawGroups, takes: Tuple[Optional[Type], Optional[Type]]) -> Groups:
    """Returns groups whose columns have the types of the job."""
    from ..data.columns import decode

    key_type, value_type = takes
    keys = decode(raw.keys, key_type or bytes_)
    if isinstance(raw.values, Slices):
        values = decode(raw.values, value_type or bytes_)
    else:
        values = numbers(raw.values, value_type if value_type is not None and value_type.size == 8 else i64)
    return Groups(keys, raw.first, values, raw.value_keys)


def viewed(part: memoryview, plain: bool) -> Any:
    """Returns a part as an array of bytes. `plain`: NumPy would be of no use."""
    numpy = None if plain else numpy_or_none()
    return part if numpy is None else numpy.frombuffer(part, numpy.uint8)


def _u32(part: memoryview) -> Any:
    numpy = numpy_or_none()
    return part.cast("I") if numpy is None else numpy.frombuffer(part, numpy.uint32)


def _slices(data: Any, parts: List[memoryview], at: int, owner: Optional[object] = None) -> Slices:
    if isinstance(data, memoryview):
        return Slices(data, parts[at].cast("I"), parts[at + 1].cast("I"), owner)
    return Slices(data, _u32(parts[at]), _u32(parts[at + 1]), owner)


def _pairs(offsets: Any, lengths: Any) -> memoryview:
    numpy = numpy_or_none()
    if numpy is not None:
        if is_array(offsets) and is_array(lengths) and native.is_pairs(offsets, lengths):
            return native.pairs(offsets, lengths)
        entries = numpy.empty((len(offsets), 2), numpy.uint32)
        entries[:, 0], entries[:, 1] = offsets, lengths
        return memoryview(entries).cast("B")
    flat = [n for pair in zip(offsets, lengths) for n in pair]
    return memoryview(struct.pack(f"<{len(flat)}I", *flat))


def _triples(offsets: Any, lengths: Any, values: Any) -> memoryview:
    numpy = numpy_or_none()
    if numpy is not None:
        made = native.triples(offsets, lengths, values)
        if made is not None:
            return made
        entries = numpy.empty(len(offsets), [("offset", "<u4"), ("length", "<u4"), ("value", "<u8")])
        entries["offset"], entries["length"] = offsets, lengths
        entries["value"] = numpy.frombuffer(values, "<u8")
        return memoryview(entries.view(numpy.uint8))
    rows = zip(offsets, lengths, memoryview(values).cast("B").cast("Q"))
    return memoryview(b"".join(struct.pack("<IIQ", *row) for row in rows))


def _user_stack(e: BaseException) -> Any:
    """Returns the stack from the first frame of user code on."""
    stack = e.__traceback__
    here = __file__.rsplit("/", 2)[0] + "/"
    while stack is not None and stack.tb_frame.f_code.co_filename.startswith(here):
        stack = stack.tb_next
    return stack


def summary(e: BaseException) -> str:
    """Returns an error on one line, with the place in user code that raised it."""
    import traceback

    text = " ".join("".join(traceback.format_exception_only(type(e), e)).split())
    frames = traceback.extract_tb(_user_stack(e))
    here = __file__.rsplit("/", 2)[0] + "/"
    place = next((f for f in reversed(frames) if not f.filename.startswith(here)), None)
    return text if place is None else f"{text} ({place.filename}, line {place.lineno}, in {place.name})"


def described(e: BaseException) -> str:
    """Returns the traceback of user code: frames of this package in front of it are left out."""
    import traceback

    stack = _user_stack(e)
    return "".join(traceback.format_exception(type(e), e, stack)).rstrip()


def failure(text: str, detail: str) -> bytes:
    """Returns an error of user code as the engine reads it: its line, and the traceback."""
    put = Put().u32(USER_CODE).text(text).text("").u64(NO_OFFSET).text("").text(detail)
    return bytes(put.bytes)


__all__ = ["RawGroups", "Server", "described", "failure", "is_array", "summary"]
