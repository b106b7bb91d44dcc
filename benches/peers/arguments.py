"""The command line that every Python peer has, and the rename that ends what is timed."""

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
    os._exit(0)  # no interpreter shutdown in the figure
