"""The number of sessions of each user, by functions of a record and of a group: sessions_function.py INPUT OUTPUT"""

import sys

import yunti as y


@y.record(out=(y.bytes, y.i64))
def visits(line):
    user, time = line.split(b"\t")
    yield user, int(time)


@y.reducer(out=(y.bytes, y.i64))
def sessions(g):
    users, counts = [], []
    for user, times in g:
        count, last = 0, None
        for time in sorted(times.tolist()):
            if last is None or time - last > 1800:
                count += 1
            last = time
        users.append(user)
        counts.append(count)
    return users, counts


if __name__ == "__main__":
    y.job(mapper=visits, reducer=sessions).run(sys.argv[1], sys.argv[2], quiet=True)
