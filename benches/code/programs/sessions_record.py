"""The number of sessions of each user, a record at a time, without any package: sessions_record.py INPUT OUTPUT"""

import os
import sys
from collections import defaultdict

times = defaultdict(list)
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name)) as f:
        for line in f:
            user, time = line.split("\t")
            times[user].append(int(time))
with open(sys.argv[2], "w") as f:
    for user in sorted(times):
        sessions, last = 0, None
        for time in sorted(times[user]):
            if last is None or time - last > 1800:
                sessions += 1
            last = time
        f.write(f"{user}\t{sessions}\n")
