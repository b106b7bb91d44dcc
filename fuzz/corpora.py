#!/usr/bin/env python3
"""Minimises the corpora of the fuzz targets: keeps the fewest inputs that reach the same code as all inputs.

    corpora.py [--found] [TARGET ..]     --found: also use inputs from build/fuzz-found; default: all targets

libFuzzer selects the inputs by covered edges (-set_cover_merge=1). Counters of the edges (-use_counters) would keep
hundreds of inputs that differ only in a length. The fuzzer finds these again at once. The last line counts the inputs.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/tests"))

import full  # noqa: E402
from suites import BUILD, ROOT  # noqa: E402


def merge(target, with_found):
    """Minimises the corpus of one target and returns (inputs before, inputs now)."""
    suite = full.fuzzing(target, 0)
    build, (program, found, corpus, *_) = suite.steps
    subprocess.run(build, cwd=ROOT, env=os.environ | suite.env, check=True)
    before = len(os.listdir(corpus))
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        sources = [corpus] + ([found] if with_found else [])
        subprocess.run([program, "-set_cover_merge=1", "-use_counters=0", "-timeout=20", "-rss_limit_mb=2048", folder,
                        *sources], cwd=ROOT, check=True,
                       stderr=subprocess.DEVNULL)
        kept = os.listdir(folder)
        if not kept:
            sys.exit(f"corpora.py: {target}: libFuzzer kept no input; the corpus is unchanged")
        # Inputs that remain keep their names.
        for name in os.listdir(corpus):
            path = os.path.join(corpus, name)
            same = next((k for k in kept if filecmp.cmp(path, os.path.join(folder, k), shallow=False)), None)
            if same:
                kept.remove(same)
            else:
                os.remove(path)
        for name in kept:
            shutil.copy(os.path.join(folder, name), corpus)
    return before, len(os.listdir(corpus))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--found", action="store_true", help="also use inputs that the fuzzer has found since")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    counts = []
    for target in options.targets or full.fuzz_targets():
        counts.append(merge(target, options.found))
        print(f"{target}: {counts[-1][0]} inputs, now {counts[-1][1]}", flush=True)
    print(f"{sum(b for b, _ in counts)} inputs, now {sum(n for _, n in counts)}")


if __name__ == "__main__":
    main()
