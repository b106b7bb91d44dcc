"""The programs of `bpf/` with each installed clang: compiled, accepted by the kernel's verifier, and run. Builds only
`yunti-observe`."""

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
    """Returns version -> program: this machine's clang, and the ones with their version in their name."""
    found = {}
    for program in sorted(glob.glob("/usr/bin/clang-[0-9]*")) + ["clang"]:
        if re.fullmatch(r".*clang(-\d+)?", program) and shutil.which(program):
            output = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"version (\d+)", output)
            if version:
                found.setdefault(int(version[1]), program)
    return found


class Verifier(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()
        cls.calls, cls.faults, cls.allocates = (
            built(cls.folder.name, name, "-fno-builtin") for name in ("calls", "faults", "allocates")
        )
        # A build of its own, so that the one of `make observe` stays unchanged.
        cls.target = os.path.join(ROOT, "build/full-verifier")

    def tried(self, program, *words):
        run = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.output = run.stdout[:run.stdout.index("{")].split()[1:]
        return document_in(run.stdout)

    def check(self, clang):
        env = dict(os.environ, CLANG=clang, CARGO_TARGET_DIR=self.target)
        # Without optimisation, because only the programs in the kernel are tested.
        build = subprocess.run(
            ["cargo", "build", "--locked", "-p", "yunti-observe"], cwd=ROOT, env=env, capture_output=True, text=True
        )
        self.assertEqual(build.returncode, 0, build.stderr[-3000:])
        program = os.path.join(self.target, "debug/yunti-observe")
        document = self.tried(
            program, "native", "plain(d,s)=d", "sys:exit_group", "--json", "--", self.calls, "calls", 100, "at-once"
        )
        self.assertEqual([w["hits"] for w in document["watched"]], [100, 1])
        self.assertEqual([c["call"] for c in document["calls"]][99], 'calls:plain(99, "text 99")')
        document = self.tried(program, "faults", "--json", "--", self.faults, "shared", 300, "at-once")
        self.assertEqual([g["faults"] for g in document["by_area"] if g["area"] == "shared memory"], [300])
        document = self.tried(program, "flame", "-e", "alloc", "--json", "--", self.allocates, 10)
        self.assertEqual((document["calls"], document["bytes"]), tuple(map(int, self.output)))
        document = self.tried(program, "flame", "-e", "wall", "-s", 1, "--json", "--", "sleep", 20)
        self.assertGreater(document["samples"], 80)
        # Tracepoints with none to six arguments, as far as this kernel has them.
        with Started(self.calls, "nothing") as process:
            for tracepoint in (
                "sched_switch",
                "sys_enter",
                "sys_exit",
                "signal_deliver",
                "sched_process_exit",
                "mm_page_alloc",
                "page_fault_user",
            ):
                run = subprocess.run(
                    [program, "native", f"trace:{tracepoint}", "-s", "0.1", "-p", str(process.pid)],
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                self.assertTrue(run.returncode == 0 or "has no tracepoint" in run.stderr, run.stderr)
            do(process)


for version, program in clangs().items():
    setattr(Verifier, f"test_clang_{version}", lambda self, program=program: self.check(program))


if __name__ == "__main__":
    twice.main()
