"""Renders delivery notes: the master data is in memory, a helper program makes each page."""
import os
import signal
import subprocess
import sys
import threading
import time

done = 0


def helper():
    """A renderer process that lives on: used for all pages."""
    return subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def own_group():
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def render(page, long_lived):
    if long_lived:
        long_lived.stdin.write(page)
        return os.read(long_lived.stdout.fileno(), 65536)
    p = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=own_group)
    return p.communicate(page)[0]


def report():
    while True:
        time.sleep(0.5)
        print("done", done)


def main():
    global done
    long_lived = helper() if sys.argv[1] == "early" else None
    articles = {i: ("article %d" % i, i * 7 % 1000, [i, i + 1]) for i in range(300000)}
    threading.Thread(target=report, daemon=True).start()
    n = 0
    while True:
        lines = []
        for k in range(40):
            name, price, _ = articles[(n * 40 + k) * 7919 % len(articles)]
            lines.append("%-30s %8.2f" % (name, price / 100.0))
        out = render("\n".join(lines).encode() + b"\n", long_lived)
        assert b"article" in out
        n += 1
        done = n


main()
