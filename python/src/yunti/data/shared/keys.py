"""Keys of a table as bytes: one, a batch in one buffer, or the limits of a range.

Integers and `bool` are 8 bytes, texts are UTF-8; each but the last value of variable length comes behind its length.
"""

from __future__ import annotations

import ctypes
import operator
import struct
from array import array
from itertools import accumulate
from typing import Any, List, Optional, Sequence, Tuple

from ..columns import is_array, numpy_or_none
from .library import RawKeys
from .row import CODES, Field

_TEXTS = ("utf8", "bytes")
#: Bytes of no key of a column of fixed width, whose keys have 8.
_NO_KEY = b""


class KeyColumns:
    """The columns of a table's key."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = fields
        self._is_single = len(fields) == 1
        first = fields[0]
        self._is_text = first.kind in _TEXTS
        self._is_signed = first.kind.startswith("i")

    def encode(self, key: Any) -> bytes:
        """Returns the bytes of a key. A number that the column cannot have gets bytes of no key."""
        if self._is_single:
            return self._text(key) if self._is_text else self._integer(key)
        values = self._values(key)
        if len(values) != len(self.fields):
            raise TypeError(f"a key has {len(self.fields)} values: {', '.join(f.name for f in self.fields)}")
        whole = []
        for n, (field, value) in enumerate(zip(self.fields, values)):
            if field.kind in _TEXTS:
                data = _text(field, value)
                whole.append(data if n + 1 == len(values) else len(data).to_bytes(4, "little") + data)
            else:
                data = _integer(field, value, 8)
                if not data:
                    return _NO_KEY
                whole.append(data)
        return b"".join(whole)

    def _text(self, key: Any) -> bytes:
        return _text(self.fields[0], key)

    def _integer(self, key: Any) -> bytes:
        if type(key) is int:
            try:
                return key.to_bytes(8, "little", signed=self._is_signed)
            except OverflowError:
                return _NO_KEY
        return _integer(self.fields[0], key, 8)

    def _values(self, key: Any) -> Sequence[Any]:
        if self._is_single:
            return (key,)
        if not isinstance(key, (tuple, list)):
            raise TypeError(f"a key is a tuple of {', '.join(f.name for f in self.fields)}, not a {type(key).__name__}")
        return key

    def limit(self, begin: Any) -> Tuple[RawKeys, Any]:
        """Returns the values of a key's first columns as they are in a row, and what keeps their buffers."""
        values = begin if isinstance(begin, (tuple, list)) else (begin,)
        if len(values) > len(self.fields):
            raise TypeError(f"a key has {len(self.fields)} values: {', '.join(f.name for f in self.fields)}")
        encoded = []
        for field, value in zip(self.fields, values):
            if field.kind in _TEXTS:
                encoded.append(_text(field, value))
                continue
            data = _integer(field, value, struct.calcsize("<" + CODES[field.kind]))
            if not data:
                raise ValueError(f"the key's column {field.name} is {field.kind}, and {value} is none")
            encoded.append(data)
        return packed(encoded)

    def batch(self, keys: Any) -> Tuple[RawKeys, Any]:
        """Returns keys in one buffer, and what keeps it: from arrays of NumPy and Arrow, series, and lists."""
        if hasattr(keys, "combine_chunks"):
            keys = keys.combine_chunks()
        if hasattr(keys, "null_count") and hasattr(keys, "buffers"):
            if keys.null_count:
                raise TypeError(f"{keys.null_count} of {len(keys)} keys are missing")
            places = _arrow_texts(keys) if self._is_single and self._is_text else None
            if places is not None:
                return places
            is_number = self._is_single and not self._is_text and numpy_or_none() is not None
            keys = keys.to_numpy(zero_copy_only=False) if is_number else keys.to_pylist()
        elif hasattr(keys, "to_numpy"):
            keys = keys.to_numpy()
        if self._is_single and not self._is_text and is_array(keys):
            numbers = self._numbers(keys)
            if numbers is not None:
                return numbers
        items: List[Any] = keys.tolist() if hasattr(keys, "tolist") else list(keys)
        return self._list(items)

    def _numbers(self, keys: Any) -> Optional[Tuple[RawKeys, Any]]:
        """Returns an array of integers, without a copy if it has 8 bytes each; None where a sign does not fit."""
        import numpy as np

        if keys.ndim != 1 or keys.dtype.kind not in "iub":
            return None
        wide = np.ascontiguousarray(keys, np.int64 if keys.dtype.kind == "i" else np.uint64)
        if (wide.dtype.kind == "i") != self._is_signed and (wide.view(np.int64) < 0).any():
            return None
        return RawKeys(wide.ctypes.data, wide.nbytes, None, 0, len(wide)), wide

    def _list(self, items: List[Any]) -> Tuple[RawKeys, Any]:
        try:
            if self._is_single and self._is_text:
                return packed([item.encode() for item in items])
            if self._is_single:
                numbers = array("q" if self._is_signed else "Q", items)
                return RawKeys(numbers.buffer_info()[0], 8 * len(numbers), None, 0, len(numbers)), numbers
        except (AttributeError, OverflowError, TypeError, UnicodeEncodeError):
            pass  # The general way has the message, or the bytes of no key.
        return packed([self.encode(item) for item in items])


def _text(field: Field, value: Any) -> bytes:
    if isinstance(value, str):
        # A lone surrogate becomes bytes that no text in UTF-8 has.
        return value.encode(errors="surrogatepass")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"the key's column {field.name} is {field.kind}, and {value!r} is a {type(value).__name__}")


def _integer(field: Field, value: Any, size: int) -> bytes:
    """Returns an integer in some bytes, or bytes of no key if it needs more."""
    if hasattr(value, "item"):
        value = value.item()  # A scalar of NumPy.
    try:
        return operator.index(value).to_bytes(size, "little", signed=field.kind.startswith("i"))
    except OverflowError:
        return _NO_KEY
    except TypeError:
        what = f"the key's column {field.name} is {field.kind}, and {value!r} is a {type(value).__name__}"
        raise TypeError(what) from None


def packed(items: List[bytes]) -> Tuple[RawKeys, Any]:
    """Returns byte strings in one buffer."""
    data = ctypes.c_char_p(b"".join(items))
    offsets = array("q", accumulate(map(len, items), initial=0))
    address = ctypes.cast(data, ctypes.c_void_p).value
    return RawKeys(address, offsets[-1], offsets.buffer_info()[0], 8, len(items)), (data, offsets)


def _arrow_texts(keys: Any) -> Optional[Tuple[RawKeys, Any]]:
    """Returns an array of texts or bytes of Arrow without a copy; None for another type."""
    widths = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}
    width = widths.get(str(keys.type))
    if width is None or len(keys) == 0:
        return None
    _, places, data = keys.buffers()
    raw = RawKeys(data.address if data is not None else None, data.size if data is not None else 0,
                  places.address + width * keys.offset, width, len(keys))
    return raw, keys


__all__ = ["KeyColumns"]
