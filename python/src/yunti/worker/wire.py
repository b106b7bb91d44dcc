"""Values of messages as bytes: little-endian numbers, and byte strings with their lengths before them."""

from __future__ import annotations

import struct
from typing import Any, Callable, List


class Put:
    """Bytes that are written."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def u32(self, n: int) -> "Put":
        self.bytes += struct.pack("<I", n)
        return self

    def u64(self, n: int) -> "Put":
        self.bytes += struct.pack("<Q", n)
        return self

    def text(self, text: Any) -> "Put":
        raw = text.encode(errors="replace") if isinstance(text, str) else text
        self.u64(len(raw))
        self.bytes += raw
        return self


class Take:
    """Bytes that are read."""

    def __init__(self, data: memoryview, at: int = 0) -> None:
        self.data = data
        self.at = at

    def u32(self) -> int:
        (n,) = struct.unpack_from("<I", self.data, self.at)
        self.at += 4
        return n

    def u64(self) -> int:
        (n,) = struct.unpack_from("<Q", self.data, self.at)
        self.at += 8
        return n

    def raw(self) -> bytes:
        n = self.u64()
        if self.at + n > len(self.data):
            raise ValueError("a message of the engine ends too early")
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def text(self) -> str:
        return self.raw().decode(errors="surrogateescape")

    def list(self, one: Callable[[], Any]) -> List[Any]:
        return [one() for _ in range(self.u64())]


__all__ = ["Put", "Take"]
