"""Command line of all Python peers, and the rename that ends the timed part."""

import argparse
import os
import sys


def run_peer(main):
    p = argparse.ArgumentParser()
    p.add_argument("task")
    p.add_argument("input")
    p.add_argument("output")
    p.add_argument("--memory", type=int, default=0)
    p.add_argument("--form", type=int, default=0)
    a = p.parse_args()
    main(a.task, a.input, a.output + ".tmp", a.memory, a.form)
    os.rename(a.output + ".tmp", a.output)
    sys.stdout.flush()
    os._exit(0)  # the figure excludes the shutdown of the interpreter
