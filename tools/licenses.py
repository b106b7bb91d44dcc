#!/usr/bin/env python3
"""Prints the licence texts of all crates that are linked into a package, each text once.

    tools/licenses.py [yunti [WORKSPACE]] > dist/share/doc/yunti/licenses.txt
"""

import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Patterns below the folder of a crate. CARRIED lists C libraries that a crate bundles.
TEXTS = ["LICEN[SC]E*", "COPYING*", "COPYRIGHT*", "NOTICE*", "UNLICENSE*"]
CARRIED = ["zstd/LICENSE", "xz/COPYING", "xz/COPYING.0BSD"]


def linked(root, folder):
    """Returns the packages that are linked into this one, without those of build scripts and macros."""
    host = re.search(r"^host: (.*)$",
                     subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout, re.M)[1]
    command = ["cargo", "tree", "--locked", "--package", root, "--edges", "normal,no-proc-macro", "--target", host,
               "--prefix", "none", "--format", "{p}"]
    tree = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return [p for p in metadata["packages"] if (p["name"], "v" + p["version"]) in names and p["source"]]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "yunti"
    # The folder of its workspace, if it is not the root's.
    workspace = os.path.join(ROOT, sys.argv[2]) if len(sys.argv) > 2 else ROOT
    texts, silent = {}, []
    for package in sorted(linked(root, workspace), key=lambda p: p["name"]):
        folder = os.path.dirname(package["manifest_path"])
        paths = sorted({path for pattern in TEXTS + CARRIED for path in glob.glob(os.path.join(folder, pattern))
                        if os.path.isfile(path)})
        title = f"{package['name']} {package['version']} ({package['license']})"
        if not paths:
            silent.append(f"{title}, {package['repository']}")
        for path in paths:
            with open(path, errors="replace") as f:
                texts.setdefault(f.read().strip(), []).append(f"{title}: {os.path.relpath(path, folder)}")
    print(f"Licences of the libraries linked into {root}\n")
    for text, titles in texts.items():
        print("=" * 100, *titles, "-" * 100, text, "", sep="\n")
    if silent:
        print("=" * 100, "Crates without a licence text:", *silent, sep="\n")
    return 0 if texts else 1


if __name__ == "__main__":
    sys.exit(main())
