"""Tests jobs on a disk that fills: one clear failure, nothing half written in the output, and the space comes back."""

import contextlib
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from probe import ProbeTest  # noqa: E402

DISK_MB = 16
ISOLATIONS = ("threads", "jvms")


class FullDisk(ProbeTest):
    SECONDS_MAX = 400

    @contextlib.contextmanager
    def disk(self, is_full=False):
        path = os.path.join(self.home, "disk")
        os.makedirs(path, exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "none", path]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest("a small file system cannot be mounted here: " + made.stderr.strip())
        try:
            if is_full:
                with contextlib.suppress(OSError), open(f"{path}/filler", "wb") as f:
                    for _ in range(DISK_MB + 1):
                        f.write(bytes(1 << 20))
            yield path
        finally:
            subprocess.run(["umount", "-l", path], check=True)

    def used_bytes(self, path):
        found = os.statvfs(path)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def flood(self, isolation, *options, code=1):
        return self.run_probe("Flood", f"-Dyunti.hadoop.isolation={isolation}", "-Dmapreduce.map.maxattempts=2",
                              "-Dmapreduce.reduce.maxattempts=2", *options, code=code)

    def fails(self, isolation, path, *options):
        done = self.flood(isolation, *options)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(len(re.findall(r" failed in [\d.]+ s; ", done.stderr)), 1, done.stderr)
        # A few directories of the user may stay; nothing of the job.
        left = [os.path.join(place, name) for place, _, names in os.walk(path) for name in names]
        self.assertEqual(left, [])
        self.assertLess(self.used_bytes(path), 256 << 10)
        return done

    def test_local_directory(self):
        for isolation in ISOLATIONS:
            with self.disk() as path:
                self.fails(isolation, path, f"-Dmapreduce.cluster.local.dir={path}/local", "-Dmapreduce.task.io.sort.mb=4")
                self.assertEqual(os.listdir(self.out), [])
                os.rmdir(self.out)
                # The same program with less data goes on there.
                self.run_probe("Words", f"-Dmapreduce.cluster.local.dir={path}/local",
                               f"-Dyunti.hadoop.isolation={isolation}")
                subprocess.run(["rm", "-r", self.out], check=True)

    def test_output(self):
        out = self.out
        for isolation in ISOLATIONS:
            for reduces in (0, 2):
                with self.disk() as path:
                    self.out = f"{path}/out"
                    # By version 2, Hadoop's default, a map's output is visible as soon as the map succeeded.
                    self.fails(isolation, path, f"-Dmapreduce.job.reduces={reduces}",
                               "-Dmapreduce.fileoutputcommitter.algorithm.version=1")
                    self.assertEqual(os.listdir(self.out), [])
        self.out = out

    def test_records_do_not_matter(self):
        for isolation in ISOLATIONS:
            with self.disk(is_full=True) as path:
                self.run_probe("Words", f"-Dyunti.hadoop.record.dir={path}/record", f"-Dyunti.hadoop.isolation={isolation}")
                self.assertEqual(len(self.lines()), len(self.words))
                subprocess.run(["rm", "-r", self.out], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
