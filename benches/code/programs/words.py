#!/usr/bin/env python3
# Mapper: a line for each word.
import sys

for line in sys.stdin:
    for word in line.split():
        print(word + "\t1")
