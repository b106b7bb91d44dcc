"""The native functions of shared tables: handles, answers and errors.

A function gets a handle and buffers, and returns an answer: an exit code, and columns as addresses of buffers. The
buffers live as long as their `Answer`. ctypes releases the interpreter's lock during a call.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from ...program import JobError
from .. import native

_SIZE, _ADDRESS = ctypes.c_size_t, ctypes.c_void_p


class RawColumn(ctypes.Structure):
    """Addresses of a column's buffers."""

    _fields_ = [("values", _ADDRESS), ("values_bytes", _SIZE), ("ends", _ADDRESS), ("marks", _ADDRESS),
                ("count", _SIZE), ("missing", _SIZE)]


class RawKeys(ctypes.Structure):
    """Buffers of keys: offsets of 4 or 8 bytes, or none for keys of 8 bytes."""

    _fields_ = [("data", _ADDRESS), ("data_bytes", _SIZE), ("offsets", _ADDRESS), ("offset_bytes", ctypes.c_uint32),
                ("count", _SIZE)]


class RawRow(ctypes.Structure):
    """Place of a row in the mapped file."""

    _fields_ = [("bytes", _ADDRESS), ("length", _SIZE)]


class _RawAnswer(ctypes.Structure):
    _fields_ = [("exit_code", ctypes.c_uint32), ("count", _SIZE), ("columns", ctypes.POINTER(RawColumn))]


_functions: Optional[Any] = None


def functions() -> Any:
    """Returns the library. Raises `JobError` where it is missing."""
    global _functions
    if _functions is None:
        found = native.library()
        if found is None:
            what = "shared tables need the library in the wheel: run 'make python' and install dist/yunti-*.whl"
            raise JobError(what, "usage", 2)
        _declare(found)
        _functions = found
    return _functions


def _declare(found: Any) -> None:
    answer, number, keys = ctypes.POINTER(_RawAnswer), ctypes.c_uint64, ctypes.POINTER(RawKeys)
    handle = ctypes.POINTER(_ADDRESS)
    for name, arguments, result in (
        ("open", [ctypes.c_char_p, _SIZE, ctypes.c_uint32, handle], answer),
        ("reopen", [_ADDRESS, handle], answer),
        ("close", [_ADDRESS], None),
        ("forget", [answer], None),
        ("get", [_ADDRESS, ctypes.c_char_p, _SIZE, ctypes.POINTER(RawRow)], ctypes.c_int32),
        ("get_all", [_ADDRESS, ctypes.c_char_p, _SIZE], answer),
        ("get_batch", [_ADDRESS, keys, _ADDRESS, _SIZE], answer),
        ("scan", [_ADDRESS, _ADDRESS, _SIZE], answer),
        ("rows", [_ADDRESS, number, number], answer),
        ("positions", [_ADDRESS, keys, keys, ctypes.c_bool], answer),
        ("rows_in_order", [_ADDRESS, number, number], answer),
        ("dictionary", [_ADDRESS, ctypes.c_uint32], answer),
        ("verify", [_ADDRESS], answer),
    ):
        _declare_one(found, "yunti_table_" + name, arguments, result)
    for name, arguments, result in (
        ("open", [ctypes.c_char_p, _SIZE, handle], answer),
        ("close", [_ADDRESS], None),
        ("get", [_ADDRESS, ctypes.c_char_p, _SIZE, ctypes.c_bool], answer),
        ("get_batch", [_ADDRESS, keys, _ADDRESS, _SIZE], answer),
        ("report", [_ADDRESS], answer),
    ):
        _declare_one(found, "yunti_remote_" + name, arguments, result)


def _declare_one(found: Any, name: str, arguments: Any, result: Any) -> None:
    function = getattr(found, name)
    function.argtypes, function.restype = arguments, result


def view(address: Optional[int], size: int, owner: object) -> memoryview:
    """Returns the bytes at an address, which `owner` keeps."""
    if size == 0 or address is None:
        return memoryview(b"")
    held: Any = (ctypes.c_ubyte * size).from_address(address)
    held.owner = owner
    return memoryview(held).cast("B")


class Answer:
    """What a native function returned. Raises `JobError` if it failed."""

    __slots__ = ("_raw", "_forget", "__weakref__")

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        # The end of the interpreter may take the module's names before the last answer.
        self._forget = functions().yunti_table_forget
        exit_code = raw.contents.exit_code
        if exit_code != 0:
            line, code = self.items(0)
            raise JobError(line.decode(errors="replace"), code.decode(), exit_code)

    def __del__(self) -> None:
        self._forget(self._raw)

    def __len__(self) -> int:
        return int(self._raw.contents.count)

    def column(self, number: int) -> Any:
        """Returns the addresses of a column's buffers."""
        return self._raw.contents.columns[number]

    def items(self, number: int) -> Any:
        """Returns a column of byte strings as a list."""
        column = self.column(number)
        data = ctypes.string_at(column.values, column.values_bytes)
        ends = view(column.ends, 8 * (column.count + 1), self).cast("q")
        return [data[ends[i] : ends[i + 1]] for i in range(column.count)]


class Handle:
    """A table that the library has open, by a file or at servers. It is closed when nobody uses it any more, so that no
    call loses its table."""

    __slots__ = ("address", "_close", "__weakref__")

    def __init__(self, address: int, close: Any) -> None:
        self.address = address
        self._close = close

    def __del__(self) -> None:
        self._close(self.address)


__all__ = ["Answer", "Handle", "RawColumn", "RawKeys", "RawRow", "functions", "view"]
