#!/usr/bin/env python3
"""Hadoop's own tests of MapReduce with the native collector and shuffle: what passes with stock Hadoop must pass with them.

    hadoop/stock-tests/run.py --quick               TestMapRed and TestMapCollection; where a class does not pass as a whole, against stock
    hadoop/stock-tests/run.py                       all classes of classes.txt; results that exist already are not made again
    hadoop/stock-tests/run.py --only TestMapRed --fresh
    hadoop/stock-tests/run.py --markdown table.md   a row a class; the lines of JSON are in build/hadoop/stock-tests/results

It needs `make hadoop`. The runner is the one of the NameNode's tests (namenode/stock-tests). Exit codes: 0 no new failure, 1 new failures, 2 usage,
3 it cannot run, 130 stopped."""

import os
import sys

sys.dont_write_bytecode = True
import layout  # noqa: E402, F401
import variants  # noqa: E402, F401

# The runner imports these two by their names, and finds those of this folder.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../namenode/stock-tests"))
import run  # noqa: E402

if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:], __doc__))
