"""A first job, as the guide has it: first_job.py INPUT"""

import sys

import yunti as y


@y.mapper(out=(y.slice, y.one))
def words(b: y.TextBatch):
    return b.words().one()


if __name__ == "__main__":
    print(y.read(sys.argv[1], quiet=True).flat_map(words).count().top(3).to_list())
