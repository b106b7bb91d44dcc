"""Kernels for arrays of NumPy, in a library beside the program. Without it, NumPy does the same work.

Offsets and lengths that come from here lie side by side, as pairs, as the engine takes slices with the number 1.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Optional, Tuple

VERSION = 2
PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "libyunti_python.so")


class _Slices(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("data_bytes", ctypes.c_size_t), ("offsets", ctypes.c_void_p),
                ("lengths", ctypes.c_void_p), ("count", ctypes.c_size_t)]


_library: Optional[Any] = None
_is_loaded = False


def library() -> Optional[Any]:
    """Returns the library, or None where it is missing or of another version."""
    global _library, _is_loaded
    if not _is_loaded:
        _is_loaded = True
        _library = _load()
    return _library


def _load() -> Optional[Any]:
    try:
        found = ctypes.CDLL(PATH)
        if found.yunti_python_version() != VERSION:
            return None
    except (OSError, AttributeError):
        return None
    size, address = ctypes.c_size_t, ctypes.c_void_p
    cut = [address, size, address, size]
    slices = ctypes.POINTER(_Slices)
    for name, arguments, result in (
        ("words", cut, size), ("lines", cut, size),
        ("fields", [slices, size, ctypes.c_ubyte, address], ctypes.c_int64),
        ("to_i64", [slices, address], ctypes.c_int64), ("to_f64", [slices, address], ctypes.c_int64),
        ("triples", [slices, address, address], None),
        ("gather", [slices, address, size], ctypes.c_int64),
    ):
        function = getattr(found, "yunti_python_" + name)
        function.argtypes, function.restype = arguments, result
    return found


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _slices_of(data: Any, offsets: Any, lengths: Any) -> Optional[_Slices]:
    """Returns slices as the library takes them; None if their columns have another form. The arrays must live on."""
    import numpy as np

    for array in (offsets, lengths):
        if not isinstance(array, np.ndarray) or array.dtype != np.uint32 or array.ndim != 1:
            return None
    data = np.frombuffer(data, np.uint8)
    first, behind = _address(offsets), _address(lengths)
    if offsets.strides == lengths.strides == (4,):
        return _Slices(_address(data), len(data), first, behind, len(offsets))
    if is_pairs(offsets, lengths):
        return _Slices(_address(data), len(data), first, None, len(offsets))
    return None


def is_pairs(offsets: Any, lengths: Any) -> bool:
    """Returns True if each length lies behind its offset."""
    return bool(offsets.strides == lengths.strides == (8,) and _address(lengths) == _address(offsets) + 4)


def pairs(offsets: Any, lengths: Any) -> memoryview:
    """Returns the bytes of pairs, without a copy. The arrays must live on."""
    return memoryview((ctypes.c_ubyte * (8 * len(offsets))).from_address(_address(offsets))).cast("B")


def _empty_pairs(n: int) -> Any:
    import numpy as np

    return np.empty((n, 2), np.uint32)


def _cut(find: Callable[..., int], data: Any, guess: int) -> Tuple[Any, Any]:
    found = _empty_pairs(guess)
    n = find(_address(data), len(data), _address(found), guess)
    if n > guess:
        found = _empty_pairs(n)
        find(_address(data), len(data), _address(found), n)
    return found[:n, 0], found[:n, 1]


def words(data: Any) -> Optional[Tuple[Any, Any]]:
    """Returns offsets and lengths of the words of an array of bytes, or None without the library."""
    made = library()
    return None if made is None else _cut(made.yunti_python_words, data, len(data) // 5 + 64)


def lines(data: Any) -> Optional[Tuple[Any, Any]]:
    """`words` for lines."""
    made = library()
    return None if made is None else _cut(made.yunti_python_lines, data, len(data) // 16 + 64)


def fields(data: Any, offsets: Any, lengths: Any, number: int, separator: int) -> Optional[Tuple[Any, Any]]:
    """Returns offsets and lengths of a field of each slice, or None if the library cannot."""
    made, slices = library(), _slices_of(data, offsets, lengths)
    if made is None or slices is None:
        return None
    found = _empty_pairs(len(offsets))
    if made.yunti_python_fields(ctypes.byref(slices), number, separator, _address(found)) != -1:
        return None
    return found[:, 0], found[:, 1]


def to_numbers(data: Any, offsets: Any, lengths: Any, name: str, dtype: str) -> Optional[Any]:
    """Returns slices as numbers, or None if the library cannot, also where a slice is no number."""
    import numpy as np

    made, slices = library(), _slices_of(data, offsets, lengths)
    if made is None or slices is None:
        return None
    found = np.empty(len(offsets), dtype)
    is_whole = getattr(made, "yunti_python_" + name)(ctypes.byref(slices), _address(found)) == -1
    return found if is_whole else None


def triples(offsets: Any, lengths: Any, values: Any) -> Optional[memoryview]:
    """Returns entries of slices with numbers of eight bytes, or None if the library cannot."""
    import numpy as np

    made, slices = library(), _slices_of(b"", offsets, lengths)
    if made is None or slices is None:
        return None
    numbers = np.frombuffer(values, np.uint64)
    found: Any = np.empty(2 * len(offsets), np.uint64)
    made.yunti_python_triples(ctypes.byref(slices), _address(numbers), _address(found))
    return memoryview(found).cast("B")


def gather(data: Any, offsets: Any, lengths: Any, size: int) -> Optional[Any]:
    """Returns the bytes of slices, one behind the other, or None if the library cannot. `size`: all their lengths."""
    import numpy as np

    made, slices = library(), _slices_of(data, offsets, lengths)
    if made is None or slices is None:
        return None
    found = np.empty(size, np.uint8)
    is_whole = made.yunti_python_gather(ctypes.byref(slices), _address(found), size) == -1
    return found if is_whole else None


__all__ = ["fields", "gather", "is_pairs", "library", "lines", "pairs", "to_numbers", "triples", "words"]
