#!/usr/bin/mawk -f
# Reducer: the sum of each key's numbers.
BEGIN { FS = OFS = "\t" }
$1 != last { if (NR > 1) print last, total; last = $1; total = 0 }
{ total += $2 }
END { if (NR) print last, total }
