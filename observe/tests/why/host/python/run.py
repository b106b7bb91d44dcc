"""Common start and end of the programs: SECONDS and options on the command line, "ready", the operations at the end."""

import sys
import time

cured = sys.argv[-1] == "--cured"
args = sys.argv[2:]
operations = 0
_start = 0.0


def print_line(line):
    print(line, flush=True)


def ready():
    global _start
    _start = time.monotonic()
    print_line("ready")


def going():
    return time.monotonic() - _start < float(sys.argv[1])


def done():
    global operations
    operations += 1


def finish():
    print_line(f"operations {operations} in {time.monotonic() - _start:.3f} s")
