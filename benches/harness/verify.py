"""Fingerprint of an output: a file, or the part files of a folder in order of name."""

import hashlib
import os


def fingerprint(output, same):
    """Returns the fingerprint of the bytes (`exact`) or of the multiset of lines (`unordered`).

    Fingerprints of lines are comparable only within one process.
    """
    paths = [output]
    if os.path.isdir(output):
        paths = [f"{output}/{n}" for n in sorted(os.listdir(output)) if n.startswith("part")]
    if same == "exact":
        digest = hashlib.blake2b()
        for path in paths:
            with open(path, "rb", buffering=0) as f:
                while block := f.read(8 << 20):
                    digest.update(block)
        return digest.hexdigest()
    count, total = 0, 0
    for path in paths:
        with open(path, "rb") as f:
            for line in f:
                count += 1
                total += hash(line)
    return f"{count} lines {total}"
