#!/usr/bin/env python3
# Mapper: a line for each word, written once a line of input.
import sys

write = sys.stdout.write
for line in sys.stdin:
    words = line.split()
    if words:
        write("\t1\n".join(words) + "\t1\n")
