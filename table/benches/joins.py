#!/usr/bin/env python3
"""Measures the ways of a hash join (in memory, by lookups at a server, by sorting) beside what the job estimates.

    make table && python3 table/benches/joins.py [--rows 8000000] [--lines 10000000] [--yunti dist/bin/yunti]

Two joins: few lines with a large table, and many lines with a small one; each with a budget that holds the table and
with one that does not. The last one has its server behind a network of 100 Mbit/s, which a relay imitates. CPU is user
and system time of the job and of the server: other programs change it less than the time on the clock.
"""

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import tempfile
import threading
import time


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Relay:
    """A socket in front of another one, which passes bytes at most at one rate in each direction."""

    def __init__(self, path, server, bytes_a_second):
        self.server, self.rate, self.due = server, bytes_a_second, {}
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            for direction, ends in enumerate(((client, server), (server, client))):
                threading.Thread(target=self.copy, args=(direction, *ends), daemon=True).start()

    def copy(self, direction, begin, end):
        while data := begin.recv(16 << 10):
            with self.lock:
                self.due[direction] = max(self.due.get(direction, 0), time.time()) + len(data) / self.rate
                wait = self.due[direction] - time.time()
            time.sleep(max(wait, 0))
            end.sendall(data)
        end.close()


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def table(options, folder, name, rows):
    """Writes a side file and the table of its rows."""
    write(f"{folder}/{name}.csv", (f"{i * 3},name of user {i},city{i % 1000}\n" for i in range(rows)))
    write(f"{folder}/header.csv", ["id,name,city\n"])
    subprocess.run(f"cat {name}.csv >> header.csv", shell=True, cwd=folder, check=True)
    subprocess.run([options.yunti, "table", "build", "header.csv", "--key", "id:u32", "--columns", "name:utf8,city:utf8",
                    "-o", f"{name}.ytab", "-q"], cwd=folder, check=True)


def measure(options, folder, lines, name, memory, bytes_a_second=0):
    """Runs all ways of a join, and the one that the job chooses."""
    listen = f"unix:{folder}/{name}.socket"
    server = subprocess.Popen([options.yunti, "table", "serve", f"{name}.ytab", "--listen", listen], cwd=folder,
                              stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        print(f"{lines} x {name}, --memory {memory}" + (f", {bytes_a_second:.3g} bytes a second" if bytes_a_second else ""))
        if bytes_a_second:
            Relay(f"{folder}/relay.socket", f"{folder}/{name}.socket", bytes_a_second)
            listen = f"unix:{folder}/relay.socket"
        for way in ("memory", "lookup", "sort", "auto"):
            begin, job, asked = time.time(), cpu_of_children(), cpu_of(server.pid)
            subprocess.run([options.yunti, "run", "hash-join", lines, "-q", "--overwrite", "-o", "out", "--memory", memory,
                            "--side-file", f"{name}.csv", "-D", f"join.small={name}.csv", "-D", "separator=,", "--table",
                            f"{name}=server:{listen}", "-D", f"join.servers={name}", "-D", f"join.by={way}", "--report",
                            "report.json"], cwd=folder, check=True)
            wall, cpu = time.time() - begin, cpu_of_children() - job
            with open(f"{folder}/report.json", encoding="utf-8") as file:
                report = json.load(file)
            choice = report["join_choice"]
            print(f"  {way:7} {choice['by']:7} {wall:7.2f} s, CPU {cpu:6.2f} s, server {cpu_of(server.pid) - asked:6.2f} s",
                  json.dumps({key: round(ms) for key, ms in choice.get("costs", {}).items()}),
                  f"{choice['probed_keys']} keys in {choice['probe_ms']:.1f} ms, slowness {choice['slowness']:.1f}")
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--yunti", default=os.path.join(os.path.dirname(__file__), "../../dist/bin/yunti"))
    options = parser.parse_args()
    options.yunti = os.path.abspath(options.yunti)
    choose = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        table(options, folder, "large", options.rows)
        table(options, folder, "small", options.rows // 8)
        write(f"{folder}/few", (f"{choose.randrange(options.rows * 3)},order {i}\n" for i in range(options.lines // 500)))
        write(f"{folder}/many", (f"{choose.randrange(options.rows * 3 // 8)},order {i}\n" for i in range(options.lines)))
        for lines, name, memory in (("few", "large", "1GiB"), ("few", "large", "128MiB"), ("many", "small", "256MiB"),
                                    ("many", "small", "32MiB")):
            measure(options, folder, lines, name, memory)
        measure(options, folder, "many", "small", "32MiB", 100e6 / 8)


if __name__ == "__main__":
    main()
