"""A worker that sends random messages, lengths and bytes: argument 1 is the seed. The protocol: docs/formats/worker.md."""

import ctypes
import mmap
import os
import random
import struct
import sys
import time

REPLY = 256 << 10
BLOCK, MESSAGE = 4096, 4096 + REPLY + 4096
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
KINDS = [101, 102, 103, 104, 104, 105, 106, 107, 108, 109, 14, 999]
SIZES = [0, 1, 7, 8, 64, 1000, REPLY, REPLY + 1, 1 << 40, 2**64 - 1]

chance = random.Random(int(sys.argv[1]))
memory = mmap.mmap(os.dup(0), os.fstat(0).st_size)
turn = ctypes.c_uint32.from_buffer(memory)
libc = ctypes.CDLL(None)
engine = os.getppid()


def text(data):
    return struct.pack("<Q", len(data)) + data


def wait():
    while turn.value != 1:
        if os.getppid() != engine:
            sys.exit(0)
        time.sleep(0.0005)
    return struct.unpack_from("<I", memory, 4)[0]


def send(kind, length, value, block):
    struct.pack_into("<IQQQ", memory, 4, kind, length, value, block)
    turn.value = 0
    libc.syscall(FUTEX, ctypes.byref(turn), 1, 1, None, None, 0)


def fill(at, sizes):
    n = chance.choice(sizes)
    numbers = [struct.pack("<Q", 3), struct.pack("<II", 0, 1), struct.pack("<II", 3, 5)]
    data = chance.choice([os.urandom(n), bytes(n), b"\xff" * n, *(number * (n // 8) for number in numbers)])
    memory[at:at + len(data)] = data


# A mapper of bytes and i64 that may emit references or take spans.
flags = chance.choice([0, 2, 2 | 4, 2 | 4 | 8])
hello = struct.pack("<Q", 1) + text(b"Wild.Map") + struct.pack("<IIIIIII", 1, flags, 0, 1, 3, 0, 0)
hello += text(b"") + struct.pack("<Q", 0)
if chance.random() < 0.1:
    hello = hello[:chance.randrange(len(hello))]
wait()
memory[MESSAGE:MESSAGE + len(hello)] = hello
send(104, len(hello), 1 if chance.random() < 0.97 else 2, 0)
while True:
    if wait() in (1, 2):
        send(104, 0, 0, 0)
        continue
    fill(MESSAGE, [0, 8, 64, 1000, 65536, REPLY])
    fill(BLOCK, [0, 8, 24, 4096, REPLY])
    if chance.random() < 0.03:
        os._exit(chance.choice([0, 3]))
    send(chance.choice(KINDS), *(chance.choice(SIZES) for _ in range(3)))
