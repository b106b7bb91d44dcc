#!/usr/bin/env python3
"""Makes the corpora of the fuzz targets small again: of each, the fewest inputs that reach what all of them reach.

    corpora.py [--found] [TARGET ..]     --found: what the fuzzer has found since, too (build/fuzz-found); all targets without a name

libFuzzer chooses (-set_cover_merge=1), by the edges of the code that are passed. How often each is passed (-use_counters) would keep
hundreds of inputs that differ in a length, which the fuzzer finds again at once. The last line counts the inputs.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import full  # noqa: E402
from suites import BUILD, ROOT  # noqa: E402


def merge(target, with_found):
    """(inputs before, inputs now)"""
    suite = full.fuzzing(target, 0)
    build, (program, found, corpus, *_) = suite.steps
    subprocess.run(build, cwd=ROOT, env=os.environ | suite.env, check=True)
    before = len(os.listdir(corpus))
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        sources = [corpus] + ([found] if with_found else [])
        subprocess.run([program, "-set_cover_merge=1", "-use_counters=0", "-timeout=20", "-rss_limit_mb=2048", folder, *sources], cwd=ROOT, check=True,
                       stderr=subprocess.DEVNULL)
        kept = os.listdir(folder)
        if not kept:
            sys.exit(f"corpora.py: {target}: nothing was kept; the corpus is as it was")
        # What stays keeps its name.
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
    parser.add_argument("--found", action="store_true", help="what the fuzzer has found since, too")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    counts = []
    for target in options.targets or full.fuzz_targets():
        counts.append(merge(target, options.found))
        print(f"{target}: {counts[-1][0]} inputs, now {counts[-1][1]}", flush=True)
    print(f"{sum(b for b, _ in counts)} inputs, now {sum(n for _, n in counts)}")


if __name__ == "__main__":
    main()
