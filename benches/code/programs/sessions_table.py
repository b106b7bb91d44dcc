"""The number of sessions of each user, by NumPy over the whole table: sessions_table.py FORM INPUT OUTPUT

FORM is who reads the text: `numpy` alone, or `arrow` (the CSV reader of pyarrow).
"""

import os
import sys

import numpy as np


def read_numpy(paths):
    """Returns the number of each line's user, the sorted users, and the times."""
    data = np.concatenate([np.fromfile(path, np.uint8) for path in paths])
    ends = np.flatnonzero(data == ord("\n"))
    tabs = np.flatnonzero(data == ord("\t"))
    begins = np.concatenate(([0], ends[:-1] + 1))
    times = np.zeros(len(ends), np.int64)
    for place in range(int((ends - tabs).max()) - 1):
        at = tabs + 1 + place
        inside = at < ends
        times = np.where(inside, times * 10 + data[np.minimum(at, len(data) - 1)] - ord("0"), times)
    width = int((tabs - begins).max())
    names = np.zeros((len(ends), width), np.uint8)
    for place in range(width):
        at = begins + place
        names[:, place] = np.where(at < tabs, data[np.minimum(at, len(data) - 1)], 0)
    users, numbers = np.unique(names.view(f"S{width}").ravel(), return_inverse=True)
    return numbers, [user.decode() for user in users.tolist()], times


def read_arrow(paths):
    import pyarrow as pa
    from pyarrow import csv

    reads = csv.ReadOptions(column_names=["user", "time"])
    types = csv.ConvertOptions(column_types={"user": pa.dictionary(pa.int32(), pa.string()), "time": pa.int64()})
    tables = [csv.read_csv(path, reads, csv.ParseOptions(delimiter="\t"), types) for path in paths]
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    column = table["user"].chunk(0)
    return column.indices.to_numpy(), column.dictionary.to_pylist(), table["time"].to_numpy()


if __name__ == "__main__":
    form, folder, output = sys.argv[1:]
    numbers, users, times = globals()["read_" + form]([os.path.join(folder, n) for n in sorted(os.listdir(folder))])
    order = np.lexsort((times, numbers))
    numbers, times = numbers[order], times[order]
    first = np.diff(numbers, prepend=-1) != 0
    new = first | (np.diff(times, prepend=0) > 1800)
    counts = np.add.reduceat(new.astype(np.int64), np.flatnonzero(first))
    with open(output, "w") as f:
        f.writelines(f"{users[n]}\t{count}\n" for n, count in zip(numbers[first].tolist(), counts.tolist()))
