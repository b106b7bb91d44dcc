"""Word count by a mapper of batches: words_batch.py INPUT OUTPUT"""

import sys

import yunti as y


@y.mapper(out=(y.slice, y.one))
def words(b: y.TextBatch):
    return b.words().one()


if __name__ == "__main__":
    y.job(mapper=words, folder="Yunti.CountFolder", mode="grouped").run(sys.argv[1], sys.argv[2], quiet=True)
