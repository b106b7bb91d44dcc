"""The programs of `bpf/` by each clang that is here: compiled, taken by the kernel's verifier, and at work. Each build is of `yunti-observe` alone."""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from looking import ROOT, InAFolder, Started, built, do, document_in, require_programs_in_the_kernel  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)


def clangs():
    """Version -> program, of this machine's clang and of those that have their version in their name."""
    found = {}
    for program in sorted(glob.glob("/usr/bin/clang-[0-9]*")) + ["clang"]:
        if re.fullmatch(r".*clang(-\d+)?", program) and shutil.which(program):
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"version (\d+)", said)
            if version:
                found.setdefault(int(version[1]), program)
    return found


class Verifier(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()
        cls.calls, cls.faults, cls.allocates = (built(cls.folder.name, name, "-fno-builtin") for name in ("calls", "faults", "allocates"))
        # Its own build: what `make observe` has built stays as it is.
        cls.target = os.path.join(ROOT, "build/full-verifier")

    def tried(self, program, *words):
        run = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.said = run.stdout[:run.stdout.index("{")].split()[1:]
        return document_in(run.stdout)

    def check(self, clang):
        env = dict(os.environ, CLANG=clang, CARGO_TARGET_DIR=self.target)
        # Without its optimiser: it is the programs in the kernel that are tried.
        build = subprocess.run(["cargo", "build", "--locked", "-p", "yunti-observe"], cwd=ROOT, env=env, capture_output=True, text=True)
        self.assertEqual(build.returncode, 0, build.stderr[-3000:])
        program = os.path.join(self.target, "debug/yunti-observe")
        document = self.tried(program, "native", "plain(d,s)=d", "sys:exit_group", "--json", "--", self.calls, "calls", 100, "at-once")
        self.assertEqual([w["hits"] for w in document["watched"]], [100, 1])
        self.assertEqual([c["call"] for c in document["calls"]][99], 'calls:plain(99, "text 99")')
        document = self.tried(program, "faults", "--json", "--", self.faults, "shared", 300, "at-once")
        self.assertEqual([g["faults"] for g in document["by_area"] if g["area"] == "shared memory"], [300])
        document = self.tried(program, "flame", "-e", "alloc", "--json", "--", self.allocates, 10)
        self.assertEqual((document["calls"], document["bytes"]), tuple(map(int, self.said)))
        document = self.tried(program, "flame", "-e", "wall", "-s", 1, "--json", "--", "sleep", 20)
        self.assertGreater(document["samples"], 80)
        # By the number of their arguments, from none to six; those that this kernel has.
        with Started(self.calls, "nothing") as process:
            for tracepoint in ("sched_switch", "sys_enter", "sys_exit", "signal_deliver", "sched_process_exit", "mm_page_alloc", "page_fault_user"):
                run = subprocess.run([program, "native", f"trace:{tracepoint}", "-s", "0.1", "-p", str(process.pid)], capture_output=True, text=True, timeout=60)
                self.assertTrue(run.returncode == 0 or "has no tracepoint" in run.stderr, run.stderr)
            do(process)


for version, program in clangs().items():
    setattr(Verifier, f"test_clang_{version}", lambda self, program=program: self.check(program))


if __name__ == "__main__":
    twice.main()
