#!/usr/bin/env python3
# Reducer: the sum of each key's numbers.
import sys

last, total = None, 0
for line in sys.stdin:
    key, _, value = line.rstrip("\n").partition("\t")
    if key != last:
        if last is not None:
            print(last, total, sep="\t")
        last, total = key, 0
    total += int(value)
if last is not None:
    print(last, total, sep="\t")
