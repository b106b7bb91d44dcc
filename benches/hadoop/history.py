#!/usr/bin/env python3
"""Prints the data of the history server about a job as JSON: `in-cluster python3 history.py JOB_ID`.

It runs inside the namespace of the cluster.
"""

import http.client
import json
import sys
import time

HOST, PORT = "localhost", 19888
# Seconds to wait for the server, which reads a job's history only on request, after the client has ended.
SECONDS_MAX = 60


def get(connection, path):
    connection.request("GET", "/ws/v1/history/mapreduce/jobs/" + path, headers={"Accept": "application/json"})
    response = connection.getresponse()
    text = response.read()
    return json.loads(text) if response.status == 200 else None


def many(value):
    """Returns a list. The server writes a list of one element as that element."""
    return value if isinstance(value, list) else [value]


def job(connection, name):
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        found = get(connection, name)
        if found:
            return found["job"]
        time.sleep(0.2)
    raise SystemExit(f"the history server does not know {name}")


def attempts(connection, name):
    """Returns the successful attempts, each with its counters as group -> name -> number."""
    found = []
    for task in many(get(connection, f"{name}/tasks")["tasks"]["task"]):
        for attempt in many(get(connection, f"{name}/tasks/{task['id']}/attempts")["taskAttempts"]["taskAttempt"]):
            if attempt["id"] == task["successfulAttempt"]:
                counters = get(connection,
                               f"{name}/tasks/{task['id']}/attempts/{attempt['id']}/counters")["jobTaskAttemptCounters"]
                groups = many(counters["taskAttemptCounterGroup"])
                attempt["counters"] = {g["counterGroupName"]: {c["name"]: c["value"] for c in many(g["counter"])}
                                       for g in groups}
                found.append(attempt)
    return found


def main(name):
    connection = http.client.HTTPConnection(HOST, PORT, timeout=SECONDS_MAX)
    print(json.dumps({"job": job(connection, name), "attempts": attempts(connection, name)}))


if __name__ == "__main__":
    main(sys.argv[1])
