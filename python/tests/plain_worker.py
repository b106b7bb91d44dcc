"""Worker of the protocol page, docs/formats/worker.md, written from that page alone: no part of the package.

`lengths` maps each line to its length and the number 1, as entries in form COPY. `totals` adds the values of a key, as
columns, and joins groups that go on over batches.
"""

import ctypes
import mmap
import os
import struct

MESSAGE_AT, BLOCK_AT, REQUEST_AT, REPLY_BYTES = 270336, 4096, 536576, 262144
DONE, FAILED, BLOCK, COLUMNS = 104, 105, 101, 109

descriptor = os.dup(0)
os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
parent = os.getppid()
memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
turn = ctypes.c_uint32.from_buffer(memory, 0)
address = ctypes.c_void_p(ctypes.addressof(turn))
syscall = ctypes.CDLL(None).syscall
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]


class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def wait():
    while turn.value == 0:
        syscall(FUTEX, address, 0, 0, ctypes.byref(Time(0, 400_000_000)), None, 0)
        if os.getppid() != parent:
            os._exit(0)
    return struct.unpack_from("<IQQ", memory, 4)


def pass_turn(kind, length=0, value=0, block=0):
    struct.pack_into("<IQQQ", memory, 4, kind, length, value, block)
    syscall(FUTEX, address, 5, 1, ctypes.c_void_p(0), address, 0)


def send(kind, payload, value=0, block=0):
    memory[MESSAGE_AT : MESSAGE_AT + len(payload)] = payload
    pass_turn(kind, len(payload), value, block)


def text(t):
    return struct.pack("<Q", len(t)) + t.encode()


def described(name, kind, pure):
    takes = 3 if kind == 2 else 0
    return text(name) + struct.pack("<7I", kind, pure, 0, 3, 3, takes, 0) + text("") + struct.pack("<Q", 0)


def parts_of(length):
    """Returns the numbers of the head, and the parts."""
    global memory
    size = os.fstat(descriptor).st_size
    view = memory if size == len(memory) else mmap.mmap(descriptor, size)
    (n,) = struct.unpack_from("<Q", view, REQUEST_AT)
    lengths = struct.unpack_from(f"<{n}Q", view, REQUEST_AT + 8)
    parts, end = [], (length + 64 + 63) // 64 * 64
    for part in lengths:
        parts.append(view[REQUEST_AT + end : REQUEST_AT + end + part])
        end = (end + part + 64 + 63) // 64 * 64
    return view[REQUEST_AT + 8 + 8 * n : REQUEST_AT + length], parts


def u32s(part):
    return struct.unpack(f"<{len(part) // 4}I", part)


def map_batch(length):
    """Emits entries in form COPY. Returns the bytes of the last block."""
    _, parts = parts_of(length)
    used = 0
    for n in u32s(parts[4]):
        if used + 24 > REPLY_BYTES:
            pass_turn(BLOCK, block=used)
            wait()
            used = 0
        struct.pack_into("<IIqq", memory, BLOCK_AT + used, 8, 8, n, 1)
        used += 24
    return used


def reduce_groups(length, still_open):
    """Emits a column of keys and one of totals. Returns the open group."""
    head, parts = parts_of(length)
    flags, _, is_number = struct.unpack("<III", head)
    keys = [parts[0][at : at + n] for at, n in zip(u32s(parts[1]), u32s(parts[2]))]
    first = u32s(parts[3])
    if is_number:
        values = struct.unpack(f"<{len(parts[8]) // 8}q", parts[8])
    else:
        values = [struct.unpack_from("<q", parts[0], at)[0] for at in u32s(parts[4])]
    groups = [[key, sum(values[a:b])] for key, a, b in zip(keys, first, first[1:])]
    if flags & 2 and still_open:
        groups[0][1] += still_open[1]
    still_open = groups.pop() if flags & 1 else None
    emit(groups)
    return still_open


def emit(groups):
    keys, totals = b"".join(key for key, _ in groups), struct.pack(f"<{len(groups)}q", *(t for _, t in groups))
    column = lambda data: struct.pack("<QQQ", 0, 0, len(data)) + data  # noqa: E731
    send(COLUMNS, struct.pack("<QII", len(groups), 2, 2) + column(keys) + column(totals))
    wait()


wait()
send(DONE, struct.pack("<Q", 2) + described("lengths", 1, 0) + described("totals", 2, 1), value=1)
still_open = None
while True:
    kind, length, _ = wait()
    block = 0
    if kind == 3:
        block = map_batch(length)
    elif kind == 5:
        still_open = reduce_groups(length, still_open)
    # CREATE, FLUSH and JOB need nothing; DESTROY answers with a list of counters.
    send(DONE, struct.pack("<Q", 0) if kind == 13 else b"", block=block)
