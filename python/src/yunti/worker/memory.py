"""Memory that the engine and the worker share, and whose turn it is.

```text
  | header 4096 | block 256 KiB | gap 4096 | message 256 KiB | gap 4096 | request .. |
  header: turn u32 (0 engine, 1 worker) | kind u32 | length u64 | value u64 | bytes of the block u64
```

The turn is a futex: the side that waits sleeps in the kernel.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

BLOCK_BYTES = 256 << 10
BLOCK_AT = 4096
MESSAGE_AT = BLOCK_AT + BLOCK_BYTES + 4096
REQUEST_AT = MESSAGE_AT + BLOCK_BYTES + 4096
SLACK_BYTES = 64

#: Number of the system call `futex`.
FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
FUTEX_WAIT, FUTEX_WAKE_OP = 0, 5
#: Set the second word to 0, and compare its old value with 0 by `equal`: nobody waits at this result.
SET_TO_0 = 0
ENGINE, WORKER = 0, 1
TICK_NS = 500_000_000


class Head(NamedTuple):
    """Head of a message: its kind, the bytes of its first part, and a number."""

    kind: int
    length: int
    value: int


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


class SharedMemory:
    """Shared memory behind a file descriptor, in the worker.

    `ended` returns True once the engine has ended.
    """

    def __init__(self, descriptor: int, ended: Callable[[], bool]) -> None:
        machine = platform.machine()
        if machine not in FUTEX:
            raise OSError(f"Yunti does not know the number of the system call futex on {machine}")
        self._number = FUTEX[machine]
        self._ordered = machine == "x86_64"
        self._descriptor = descriptor
        self._ended = ended
        self._syscall = ctypes.CDLL(None, use_errno=True).syscall
        self._syscall.restype = ctypes.c_long
        self._time = Timespec(0, TICK_NS)
        self._map()
        # The header stays where it was mapped first, also if the memory grows.
        self._first = self._bytes
        self._turn = ctypes.c_uint32.from_buffer(self._first, 0)
        self._address = ctypes.c_void_p(ctypes.addressof(self._turn))

    def _map(self) -> None:
        size = os.fstat(self._descriptor).st_size
        # Pages of an older mapping live as long as views of them.
        self._bytes = mmap.mmap(self._descriptor, size)
        self._all = memoryview(self._bytes)
        self._read_only = self._all.toreadonly()

    def wait(self) -> Optional[Head]:
        """Waits for the worker's turn. Returns the head of the request, or None if the engine has ended."""
        while self._turn.value != WORKER:
            self._syscall(self._number, self._address, FUTEX_WAIT, ENGINE, ctypes.byref(self._time), None, 0)
            if self._turn.value != WORKER and self._ended():
                return None
        if not self._ordered:
            # The call releases and takes the interpreter's lock: later loads stay behind it.
            self._ended()
        return Head(*struct.unpack_from("<IQQ", self._first, 4))

    def pass_turn(self, kind: int, value: int, length: int, block: int = 0) -> None:
        """Passes the turn to the engine, with a message and bytes of the block that are in place."""
        struct.pack_into("<IQQQ", self._first, 4, kind, length, value, block)
        # The kernel sets the word and wakes the engine at once, with barriers on all processors.
        self._syscall(self._number, self._address, FUTEX_WAKE_OP, 1, ctypes.c_void_p(0), self._address, SET_TO_0)

    def request(self, length: int) -> memoryview:
        """Returns the first bytes of the request."""
        return self._span(0, length)

    def parts(self, head: memoryview) -> Tuple[int, List[memoryview]]:
        """Returns where the numbers of a request's head begin, and the parts of the request behind the head."""
        (n,) = struct.unpack_from("<Q", head, 0)
        lengths = struct.unpack_from(f"<{n}Q", head, 8)
        places, end = [], _next(len(head))
        for length in lengths:
            places.append(end)
            end = _next(end + length)
        self._span(0, end)
        return 8 + 8 * n, [self._span(at, length) for at, length in zip(places, lengths)]

    def _span(self, at: int, length: int) -> memoryview:
        start, end = REQUEST_AT + at, REQUEST_AT + at + length
        if end > len(self._all):
            self._map()
        return self._read_only[start:min(end, len(self._all))]

    def block(self) -> memoryview:
        """Returns the memory of a block of emitted records."""
        return self._all[BLOCK_AT : BLOCK_AT + BLOCK_BYTES]

    def send(self, kind: int, value: int, pieces: List[Any], part_kind: int, last: bool, block: int = 0) -> bool:
        """Sends a message of any length, in parts of the memory's size; `block`: bytes of the block that go with it.

        Without `last`, waits until the engine has taken it. Returns False if the engine has ended.
        """
        room = self._all[MESSAGE_AT : MESSAGE_AT + BLOCK_BYTES]
        used = 0
        for piece in pieces:
            rest = memoryview(piece)
            if rest.nbytes == 0:
                continue
            rest = rest.cast("B")
            while len(rest) > 0:
                if used == BLOCK_BYTES:
                    self.pass_turn(part_kind, 0, used)
                    if self.wait() is None:
                        return False
                    used = 0
                n = min(BLOCK_BYTES - used, len(rest))
                room[used : used + n] = rest[:n]
                used += n
                rest = rest[n:]
        self.pass_turn(kind, value, used, block)
        return last or self.wait() is not None


def _next(end: int) -> int:
    return (end + SLACK_BYTES + 63) // 64 * 64

