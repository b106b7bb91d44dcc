#!/usr/bin/mawk -f
# Mapper: a line for each word.
{ for (i = 1; i <= NF; i++) print $i "\t1" }
