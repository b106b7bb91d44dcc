"""Writes a log of visits, in the order of time: visits.py BYTES FILE

Users are 100,000 for 100 MB. A user has a few sessions of several visits each within a month.
"""

import sys

import numpy as np

size, path = int(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(25)
lines = size // 19
users = max(1, size // 1000)
sessions = lines // 8
user = np.repeat(random.integers(0, users, sessions), 8)
begin = np.repeat(random.integers(0, 30 * 86400, sessions), 8)
within = np.cumsum(random.exponential(120, (sessions, 8)).astype(np.int64), axis=1).ravel()
time = 1_700_000_000 + begin + within
order = np.argsort(time, kind="stable")
with open(path, "w") as f:
    for at in range(0, len(order), 1 << 20):
        part = order[at:at + (1 << 20)]
        f.writelines(f"user{u}\t{t}\n" for u, t in zip(user[part].tolist(), time[part].tolist()))
