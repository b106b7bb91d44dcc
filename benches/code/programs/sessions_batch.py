"""The number of sessions of each user, by functions of batches: sessions_batch.py INPUT OUTPUT

A session ends when the user does nothing for 1,800 seconds. The input has lines `user TAB time`.
"""

import sys

import numpy as np

import yunti as y


@y.mapper(out=(y.slice, y.i64))
def visits(b: y.TextBatch):
    lines = b.lines()
    return lines.field(0), lines.field(1).to_i64()


@y.reducer(out=(y.bytes, y.i64))
def sessions(g):
    group = np.repeat(np.arange(len(g)), g.sizes)
    times = g.values[np.lexsort((g.values, group))]
    new = np.diff(times, prepend=0) > 1800
    new[g.first[:-1]] = True
    return g.keys, np.add.reduceat(new.astype(np.int64), g.first[:-1])


if __name__ == "__main__":
    y.job(mapper=visits, reducer=sessions).run(sys.argv[1], sys.argv[2], quiet=True)
