"""Arrow: batches as `pyarrow.RecordBatch`, and arrays of Arrow as columns. Imported only where Arrow is used."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import pyarrow as pa
import pyarrow.compute as pc

from .columns import Slices, is_array


def array_of(column: Any) -> pa.Array:
    """Returns a column as an array of Arrow; byte strings that are UTF-8 become strings."""
    if isinstance(column, Slices):
        return _array_of_slices(column)
    return pa.array(column)


def _array_of_slices(slices: Slices) -> pa.Array:
    if not is_array(slices.offsets):
        return as_text(pa.array(slices.tolist(), pa.binary()))
    import numpy as np

    packed = slices.compact()
    n = len(packed)
    if n == 0:
        return pa.array([], pa.string())
    starts = np.asarray(packed.offsets).astype(np.int64)
    ends = starts + np.asarray(packed.lengths)
    if (starts[1:] < ends[:-1]).any():
        return as_text(pa.array(slices.tolist(), pa.binary()))
    # Items and the bytes between them alternate; Arrow copies the items out of them.
    places = np.empty(2 * n + 1, np.int32)
    places[0:-1:2], places[1::2], places[-1] = starts, ends, ends[-1]
    data = np.frombuffer(packed.data, np.uint8)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(data)]
    with_gaps = pa.Array.from_buffers(pa.binary(), 2 * n, buffers)
    return as_text(with_gaps.take(pa.array(np.arange(0, 2 * n, 2))))


def as_text(array: pa.Array) -> pa.Array:
    """Returns byte strings as strings if all of them are UTF-8."""
    if not pa.types.is_binary(array.type):
        return array
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return array


def _unescaped(array: pa.Array) -> pa.Array:
    """Returns parts of a joined column, whose tabs, line ends and backslashes are escaped."""
    if not pa.types.is_string(array.type) or not pc.any(pc.match_substring(array, "\\")).as_py():
        return array
    replaced = pc.replace_substring(array, "\\\\", "\0")
    for mark, byte in (("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r")):
        replaced = pc.replace_substring(replaced, mark, byte)
    return pc.replace_substring(replaced, "\0", "\\")


def _divided(column: Any, names: Sequence[str], alone: str) -> List[Tuple[str, pa.Array]]:
    array = array_of(column)
    if len(names) <= 1:
        return [(names[0] if names else alone, array)]
    import numpy as np

    parts = pc.split_pattern(array, "\t")
    flat, n = parts.flatten(), len(array)
    if len(flat) != n * len(names):
        raise ValueError(f"the records have {len(flat) / max(n, 1):g} columns, but {len(names)} are named")
    take = [pa.array(np.arange(i, len(flat), len(names))) for i in range(len(names))]
    return [(name, _unescaped(flat.take(places))) for name, places in zip(names, take)]


def record_batch(batch: Any, key_columns: Sequence[str], value_columns: Sequence[str]) -> pa.RecordBatch:
    """Returns a batch with a column for each name; without names they are `key` and `value`."""
    columns: List[Tuple[str, pa.Array]] = []
    if batch.keys is not None:
        columns += _divided(batch.keys, key_columns, "key")
    columns += _divided(batch.values, value_columns, "value")
    return pa.RecordBatch.from_arrays([array for _, array in columns], names=[name for name, _ in columns])


def slices_of(column: Any) -> Slices:
    """Returns an array of strings or bytes of Arrow as slices. Raises `TypeError` for another type."""
    import numpy as np

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        try:
            column = column.cast(pa.binary() if pa.types.is_large_binary(column.type) else pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as e:
            raise TypeError(f"a column of {column.type} is no column of bytes: {e}") from None
    if column.null_count:
        column = pc.fill_null(column, "" if pa.types.is_string(column.type) else b"")
    _, places, data = column.buffers()
    if len(column) == 0:
        return Slices(b"", np.empty(0, np.uint32), np.empty(0, np.uint32))
    offsets = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    starts = offsets[:-1].astype(np.uint32)
    return Slices(memoryview(data) if data is not None else b"", starts, np.diff(offsets).astype(np.uint32))
