"""Columns of a table as arrays of Arrow. Imported only where Arrow is used."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pyarrow as pa

from .columns import Node

_NUMBERS = {"bool": pa.bool_(), "i8": pa.int8(), "i16": pa.int16(), "i32": pa.int32(), "i64": pa.int64(),
            "u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64(), "f32": pa.float32(),
            "f64": pa.float64(), "dict": pa.int32()}
#: Most bytes or elements behind offsets of four bytes.
_SHORT_MAX = (1 << 31) - 1


def array_of(node: Node) -> pa.Array:
    """Returns a column as an array: values and bytes are those of the column, not copied."""
    present = _bits(node.marks()) if node.missing else None
    kind, n = node.field.kind, node.count
    if kind == "record":
        fields = [array_of(inner) for inner in node.inner]
        names = [pa.field(inner.field.name, array.type) for inner, array in zip(node.inner, fields)]
        return pa.Array.from_buffers(pa.struct(names), n, [present], children=fields)
    if kind == "list":
        elements = array_of(node.inner[0])
        form = pa.list_ if len(elements) <= _SHORT_MAX else pa.large_list
        ends = _ends(node, len(elements))
        return pa.Array.from_buffers(form(elements.type), n, [present, ends], children=[elements])
    if kind in ("utf8", "bytes"):
        is_short = node.values_bytes <= _SHORT_MAX
        text, data = (pa.string(), pa.binary()) if is_short else (pa.large_string(), pa.large_binary())
        buffers = [present, _ends(node, node.values_bytes), _foreign(node, "values", node.values_bytes)]
        return pa.Array.from_buffers(text if kind == "utf8" else data, n, buffers)
    values = _bits(node.values()) if kind == "bool" else _foreign(node, "values", node.values_bytes)
    array = pa.Array.from_buffers(_NUMBERS[kind], n, [present, values])
    if node.field.texts is None:
        return array
    return pa.DictionaryArray.from_arrays(array, pa.array(node.field.texts.all(), pa.string()))


def _bits(flags: Any) -> Optional[pa.Buffer]:
    return pa.py_buffer(np.packbits(np.frombuffer(flags, np.uint8), bitorder="little"))


def _ends(node: Node, last: int) -> pa.Buffer:
    if last <= _SHORT_MAX:
        return pa.py_buffer(np.frombuffer(node.ends(), np.int64).astype(np.int32))
    return _foreign(node, "ends", 8 * (node.count + 1))


def _foreign(node: Node, name: str, size: int) -> pa.Buffer:
    return pa.foreign_buffer(node.address(name), size, base=node.owner) if size else pa.py_buffer(b"")


__all__ = ["array_of"]
