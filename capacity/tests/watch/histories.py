"""Histories of a service that is not there: records of `yunti watch import`, with the noise of hosts and of samples."""

import random

BEGIN_MS = 1_780_272_000_000  # 2026-06-01, a Monday
DAY_MS = 86_400_000
SAMPLE_MS = 10.0
WINDOWS = 10
REQUESTS = 1500  # in a window
CPU_MS = 4.0
PLANTED = "com.shop.Rank.score"

# Name, share of all time, and caller.
TREE = [
    ("java.lang.Thread.run", 0.01, None),
    ("com.shop.Server.handle", 0.03, 0),
    ("com.shop.Page.render", 0.10, 1),
    (PLANTED, 0.06, 2),
    *[(f"com.shop.Part{n}.write", 0.8 / 24, 1 if n % 2 else 2) for n in range(24)],
]


def days(count, label="v1", grown=0.0, first=0):
    """Returns records of some days. `grown` is what the planted function costs more, as a part of all time."""
    return [day(first + number, label, grown) for number in range(count)]


def day(number, label, grown):
    draw = random.Random(number * 7 + 1)
    host = 1 + draw.gauss(0, 0.01)
    shares = [share * (1 + draw.gauss(0, 0.003)) for _, share, _ in TREE]
    shares[3] += grown
    windows, sampled, own, total = [], [], [[] for _ in TREE], [[] for _ in TREE]
    for _ in range(WINDOWS):
        level = host * (1 + draw.gauss(0, 0.02))
        cpu = sum(shares) * CPU_MS * REQUESTS * level
        costs = []
        for share in shares:
            samples = share * CPU_MS * REQUESTS * level / SAMPLE_MS
            costs.append(max(0, round(draw.gauss(samples, samples ** 0.5))) * SAMPLE_MS)
        whole = list(costs)
        for at in range(len(TREE) - 1, 0, -1):
            whole[TREE[at][2]] += whole[at]
        windows.append({"seconds": 6.0, "requests": REQUESTS, "cpu_ms": round(cpu, 3),
                        "calibration_ms": round(11 * host * (1 + draw.gauss(0, 0.004)), 3)})
        sampled.append(sum(costs))
        for at, (mine, all_of_it) in enumerate(zip(costs, whole)):
            own[at].append(mine)
            total[at].append(all_of_it)
    functions = []
    for at, (name, _, caller) in enumerate(TREE):
        function = {"name": name, "self_ms": own[at], "total_ms": total[at]}
        functions.append(function if caller is None else dict(function, caller=caller))
    return {"format": "yunti-watch/1", "time_ms": BEGIN_MS + number * DAY_MS, "label": label, "state": "complete",
            "windows": windows, "sample_ms": SAMPLE_MS, "sampled_ms": sampled, "functions": functions}
