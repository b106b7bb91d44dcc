"""The hash of keys, with the seed 0, as docs/formats/ytab.md has it."""

OF_SEEDS, OF_WORDS, OF_LENGTHS = 0x2D358DCCAA6C78A5, 0x8BB84B93962EACC9, 0x4B33A62ED433D4A3
ONES = (1 << 64) - 1


def fold(a, b):
    product = a * b
    return product >> 64 ^ product & ONES


def key_hash(key):
    start = fold(OF_SEEDS, OF_WORDS)
    number = lambda begin, count: int.from_bytes(key[begin:begin + count], "little")  # noqa: E731
    n = len(key)
    if n == 8:
        return fold(number(0, 8) ^ start, OF_WORDS)
    state = start ^ n * OF_LENGTHS & ONES
    for at in range(0, n - 16, 16):
        state = fold(number(at, 8) ^ state, number(at + 8, 8) ^ OF_WORDS)
    if n >= 8:
        first, last = number(max(0, n - 16), 8), number(n - 8, 8)
    elif n >= 4:
        first, last = number(0, 4), number(n - 4, 4)
    else:
        first, last = (key[0] | key[n // 2] << 8 | key[n - 1] << 16 if n else 0), 0
    return fold(first ^ state, last ^ OF_WORDS)
