"""Comparison of answers: the same rows in any order, decimals by value, floats to nine digits."""

import glob
import math
import os
import re
import subprocess
from dataclasses import dataclass

from harness import opponents

# Small, because the peak of a program's resident memory starts at the size of the bench itself.
BLOCK_BYTES = 1 << 18
# With more rows, the sum of their hashes stands for them, and floats must be equal. Only small answers have floats.
ROWS_KEPT = 10_000
# Zeros at the end of decimals: engines differ in them. Texts of lineitem have no digits.
ZEROS = re.compile(rb"\.(?:0+|(\d*[1-9])0+)(?=[\t\n])")
CHECKSUM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checksum.py")


@dataclass
class Answer:
    count: int
    total: int  # sum of the hashes of all rows, comparable within one process
    rows: list  # sorted, or empty if there are too many


def read(output, parquet):
    """Returns the answer in a file, or in the parts of a folder. Parquet's answer is one row, its checksum."""
    paths = sorted(glob.glob(output + "/part*")) if os.path.isdir(output) else [output]
    command = [opponents.VENV + "/bin/python", CHECKSUM] if parquet else ["cat"]
    answer = Answer(0, 0, [])
    with subprocess.Popen([*command, *paths], stdout=subprocess.PIPE) as reader:
        for block in blocks(reader.stdout):
            rows = ZEROS.sub(digits, block).splitlines()
            answer.count += len(rows)
            answer.total += sum(map(hash, rows))
            answer.rows += rows if answer.count <= ROWS_KEPT else []
    if reader.returncode:
        raise RuntimeError(f"cannot read {output}")
    answer.rows = sorted(answer.rows) if answer.count <= ROWS_KEPT else []
    return answer


def blocks(stream):
    """Yields the bytes of the stream in blocks of whole lines."""
    rest = b""
    while block := stream.read(BLOCK_BYTES):
        whole, end, block = block.rpartition(b"\n")
        if end:
            yield rest + whole + end
            rest = block
        else:
            rest += block
    if rest:
        yield rest + b"\n"


def digits(zeros):
    """Returns what stays of a fraction with zeros at its end."""
    return b"." + zeros[1] if zeros[1] else b""


def agree(a, b):
    if a.count != b.count:
        return False
    return a.total == b.total or bool(a.rows) and all(map(same_row, a.rows, b.rows))


def same_row(a, b):
    a, b = a.split(b"\t"), b.split(b"\t")
    return len(a) == len(b) and all(x == y or close(x, y) for x, y in zip(a, b))


def close(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9)
    except ValueError:
        return False
