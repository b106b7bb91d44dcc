"""XXH64 by its specification, with the seed 0: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md."""

MASK = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _turned(value, bits):
    value &= MASK
    return value << bits & MASK | value >> 64 - bits


def _round(lane, number):
    return _turned(lane + number * P2, 31) * P1 & MASK


def xxh64(data):
    at = 0
    total = P5
    if len(data) >= 32:
        lanes = [P1 + P2, P2, 0, -P1]
        while len(data) - at >= 32:
            for n in range(4):
                lanes[n] = _round(lanes[n], int.from_bytes(data[at:at + 8], "little"))
                at += 8
        total = sum(_turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18)))
        for lane in lanes:
            total = (total ^ _round(0, lane)) * P1 + P4
    total += len(data)
    while len(data) - at >= 8:
        total = _turned(total ^ _round(0, int.from_bytes(data[at:at + 8], "little")), 27) * P1 + P4
        at += 8
    if len(data) - at >= 4:
        total = _turned(total ^ int.from_bytes(data[at:at + 4], "little") * P1, 23) * P2 + P3
        at += 4
    for byte in data[at:]:
        total = _turned(total ^ byte * P5, 11) * P1
    total &= MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32
