"""The largest number of each key, by a mapper of batches: maximum_batch.py INPUT OUTPUT"""

import sys

import yunti as y


@y.mapper(out=(y.slice, y.i64))
def pairs(b: y.TextBatch):
    lines = b.lines()
    return lines.field(0), lines.field(1).to_i64()


if __name__ == "__main__":
    y.job(mapper=pairs, folder="Yunti.MaxFolder", mode="grouped").run(sys.argv[1], sys.argv[2], quiet=True)
