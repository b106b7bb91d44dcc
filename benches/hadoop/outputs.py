"""Fingerprints of outputs, equal for all variants that did the same work."""

import hashlib
import subprocess
import zlib

from harness.measure import Failed

RECORD_BYTES, KEY_BYTES = 100, 10
# Bytes per read, in whole records.
READ_BYTES = RECORD_BYTES * 40_000


def _parts(cluster, output, take):
    """Returns take(stream) of the part files, concatenated in order of name."""
    reader = cluster.start(["hdfs", "dfs", "-cat", f"{output}/part-*"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
    try:
        with reader.stdout as stream:
            result = take(stream)
    finally:
        code = reader.wait()
    if code:
        raise Failed(f"{output} cannot be read")
    return result


def lines(cluster, output, _):
    """Returns the fingerprint of the multiset of lines, because variants partition words differently."""
    digest, count = hashlib.md5(), 0
    for line in _parts(cluster, output, sorted):
        digest.update(line)
        count += 1
    return f"{count} lines, md5 {digest.hexdigest()}"


def _records(stream):
    while block := stream.read(READ_BYTES):
        yield from (block[i:i + RECORD_BYTES] for i in range(0, len(block), RECORD_BYTES))


def _checksum(stream):
    """Returns (number of records, sum of their checksums, digest of all bytes, True if keys ascend)."""
    count, total, digest, last, sorted_keys = 0, 0, hashlib.md5(), b"", True
    for record in _records(stream):
        key = record[:KEY_BYTES]
        sorted_keys &= last <= key
        last = key
        count += 1
        total += zlib.crc32(record)
        digest.update(record)
    return count, total, digest.hexdigest(), sorted_keys


_of_input = {}


def records(cluster, output, files):
    """Returns the fingerprint of the bytes in total order. Fails unless they are the records of the input."""
    key = tuple(files)
    if key not in _of_input:
        count = total = 0
        for path in files:
            with open(path, "rb") as stream:
                one = _checksum(stream)
            count, total = count + one[0], total + one[1]
        _of_input[key] = count, total
    count, total, digest, sorted_keys = _parts(cluster, output, _checksum)
    if (count, total) != _of_input[key]:
        raise Failed(f"{output} has other records than the input")
    if not sorted_keys:
        raise Failed(f"{output} is not sorted")
    return f"{count} records, md5 {digest}"
