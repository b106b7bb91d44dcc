"""Keys made of parts, whose bytes sort as the parts do: forms of a key order, and composite keys.

```text
  text       its bytes, 00 as 00 ff, then 00 00
  number     big-endian, the sign bit inverted; floating point by IEEE 754 totalOrder
```

All bits of a descending part are inverted. The APIs of C++ and Rust write the same bytes, and read them back.
"""

from __future__ import annotations

import struct
from typing import Any, Iterator, List, Optional, Union

from .columns import as_list, is_array, length_of
from .types import Type, f64, i64, type_of

#: Inverts each bit of a byte string.
_INVERTED = bytes(255 - byte for byte in range(256))


class OrderedKeys:
    """Column of keys that are made of parts, one column after the other.

    A part is a column, or one value for all keys. `group()` ends the parts that define a group.

    >>> keys = OrderedKeys().text([b"Oslo", b"Lima"]).number([3, -1], descending=True)
    >>> sorted(keys)[0][:6], len(keys)
    (b'Lima\\x00\\x00', 2)
    >>> OrderedKeys().text([b"a"]).group().number([7]).group_lengths
    [3]
    """

    def __init__(self) -> None:
        self._keys: Optional[List[bytes]] = None
        #: Bytes of each key before `group()`; None if it was not called.
        self.group_lengths: Optional[List[int]] = None

    def text(self, part: Any, descending: bool = False) -> "OrderedKeys":
        """Appends byte strings or texts, ordered byte by byte; text is UTF-8."""
        return self._append([_terminated(item) for item in self._items(part)], descending)

    def number(self, part: Any, descending: bool = False, of: Union[Type, type, None] = None) -> "OrderedKeys":
        """Appends numbers. `of` is their type, by default the one of a NumPy array, else i64 or f64.

        >>> [key.hex() for key in OrderedKeys().number([-1, 1], of="i32")]
        ['7fffffff', '80000001']
        >>> [key.hex() for key in OrderedKeys().number([1.0, -1.0], descending=True)]
        ['400fffffffffffff', 'bff0000000000000']
        """
        return self._append(_ordered(part, self._items(part), None if of is None else type_of(of)), descending)

    def raw(self, part: Any) -> "OrderedKeys":
        """Appends bytes that are ordered already: the last part, or one that terminates itself."""
        return self._append([bytes(item) for item in self._items(part)], False)

    def group(self) -> "OrderedKeys":
        """Ends the parts that define the group; later parts only order."""
        self.group_lengths = [len(key) for key in self]
        return self

    def tolist(self) -> List[bytes]:
        """Returns the keys."""
        return list(self._keys or [])

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tolist())

    def __len__(self) -> int:
        return len(self._keys or [])

    def _items(self, part: Any) -> List[Any]:
        if length_of(part) >= 0:
            return as_list(part)
        if self._keys is None:
            raise ValueError("the first part of ordered keys is one value: begin with a column")
        return [part] * len(self._keys)

    def _append(self, items: List[bytes], descending: bool) -> "OrderedKeys":
        if descending:
            items = [item.translate(_INVERTED) for item in items]
        if self._keys is None:
            self._keys = items
        elif len(items) != len(self._keys):
            raise ValueError(f"a part of ordered keys has {len(items)} items, and the part before {len(self._keys)}")
        else:
            self._keys = [key + item for key, item in zip(self._keys, items)]
        return self


def _terminated(item: Any) -> bytes:
    part = item.encode() if isinstance(item, str) else bytes(item)
    return part.replace(b"\0", b"\0\xff") + b"\0\0"


def _ordered(part: Any, items: List[Any], declared: Optional[Type]) -> List[bytes]:
    """Returns numbers as bytes that sort as they do."""
    if declared is None and is_array(part):
        code = {"i4": "i", "i8": "q", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}.get(part.dtype.str[1:])
        if code is None:
            raise TypeError(f"a part of ordered keys has numbers of {part.dtype}: convert them, or set of=")
    elif declared is None:
        code = f64.code if any(isinstance(item, float) for item in items) else i64.code
    else:
        code = declared.code
    if not code:
        raise TypeError(f"{declared} is no type of numbers")
    size = struct.calcsize(code)
    sign = 1 << (8 * size - 1)
    every = 2 * sign - 1
    pack = struct.Struct("<" + code).pack
    made = []
    for item in items:
        bits = int.from_bytes(pack(item), "little")
        if code in "fd":
            bits = bits ^ every if bits & sign else bits ^ sign
        elif code in "iq":
            bits ^= sign
        made.append(bits.to_bytes(size, "big"))
    return made


__all__ = ["OrderedKeys"]
