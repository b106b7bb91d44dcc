#!/usr/bin/env python3
"""Starts the cluster that test files share: shared_cluster.py DIR. `hadoop/cluster/down --dir DIR` stops it.

A cluster that a killed run left in DIR is replaced. Where a cluster cannot run (no network namespace), this program
prints the reason and exits with 0; the tests are skips then.
"""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("shared_cluster.py: name the folder of the cluster")
    try:
        live_cluster.own(os.path.abspath(sys.argv[1]))
    except unittest.SkipTest as why:
        print(f"shared_cluster.py: {why}")
