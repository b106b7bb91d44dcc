"""`yunti host bench`, each subject once, against what is known of it; `yunti host make-spill`, on files and devices of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from images import do  # noqa: E402
from looking import YUNTI, needs_loop_devices  # noqa: E402

SUBJECTS = ("bigalloc", "no-journal", "inline-data", "overlay", "io-uring", "mapped-writes", "read-ahead", "time-wait")


def host(*words, code=0, **how):
    run = subprocess.run([YUNTI, "host", *map(str, words)], capture_output=True, text=True, timeout=120, **how)
    assert run.returncode == code, (run.returncode, run.stdout[-2000:], run.stderr)
    return run


def loops():
    return set(os.listdir("/sys/block")) & {f"loop{n}" for n in range(256)} - {n for n in os.listdir("/sys/block") if not os.path.exists(f"/sys/block/{n}/loop")}


def mounts():
    with open("/proc/self/mountinfo") as f:
        return {line.split()[4] for line in f}


@needs_loop_devices
class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def measured(self, *subjects):
        document = json.loads(host("bench", "--quick", "--json", "--dir", self.folder, *subjects).stdout)
        return {one["subject"]: {c["metric"]: c for c in one["comparisons"] or []} for one in document["subjects"]}

    def test_all_are_measured_and_nothing_is_left(self):
        before = loops(), mounts()
        found = self.measured()
        self.assertEqual(tuple(sorted(found)), tuple(sorted(SUBJECTS)))
        for subject, comparisons in found.items():
            self.assertTrue(comparisons, subject)
            for comparison in comparisons.values():
                self.assertTrue(all(value >= 0 for value in comparison["old_values"] + comparison["new_values"]), comparison)
                # Of one round nothing is said that depends on time.
                if not comparison["exact"]:
                    self.assertEqual(comparison["verdict"], "too few rounds")
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual((loops(), mounts()), before)
        # N mounts of one file read it once, N copies each their own.
        read = next(c for name, c in found["overlay"].items() if "device" in name)
        self.assertGreater(read["old_values"][0] / read["new_values"][0], 4)
        space = next(c for name, c in found["inline-data"].items() if "space" in name)
        self.assertLess(space["new_values"][0], space["old_values"][0] / 4)
        cluster = next(c for name, c in found["bigalloc"].items() if "space of a file" in name)
        self.assertGreater(cluster["new_values"][0], cluster["old_values"][0] * 4)

    def test_ctrl_c_leaves_nothing(self):
        before = loops(), mounts()
        run = subprocess.Popen([YUNTI, "host", "bench", "--dir", self.folder, "no-journal"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, said)
        self.assertEqual((os.listdir(self.folder), loops(), mounts()), ([], *before))

    def test_wrong_words(self):
        self.assertIn("there is no subject 'colour'", host("bench", "colour", code=2).stderr)
        self.assertIn("overlay", host("bench", "--list").stdout)
        wrong = host("bench", "overlay", "--dir", "/nowhere", code=3).stderr
        self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)

    def test_a_program_that_is_not_there_is_told(self):
        with tempfile.TemporaryDirectory() as empty:
            said = host("bench", "--quick", "no-journal", "--dir", self.folder, code=3, env={**os.environ, "PATH": empty}).stderr
        self.assertIn("mkfs.ext4", said)


@needs_loop_devices
class Spill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.image, self.at = os.path.join(folder.name, "spill.img"), os.path.join(folder.name, "at")

    def test_a_file_that_a_job_spills_to(self):
        host("make-spill", "256M", "--image", self.image, "--at", self.at)
        try:
            self.assertNotIn("has_journal", do("dumpe2fs", "-h", self.image))
            out = os.path.join(os.path.dirname(self.at), "out")
            records = os.path.join(os.path.dirname(self.at), "in")
            subprocess.run([YUNTI, "generate", "tera", "--bytes", "20MB", "--output", records], check=True, capture_output=True)
            subprocess.run([YUNTI, "run", "terasort", "--input", records, "--output", out, "--memory", "8M", "--scratch", self.at], check=True, capture_output=True)
            self.assertEqual([name for name in os.listdir(self.at) if name != "lost+found"], [])
            self.assertEqual(host("make-spill", "64M", "--image", self.image, code=8).stderr.count("\n"), 1)
        finally:
            do("umount", self.at)

    def test_a_device(self):
        with open(self.image, "wb") as f:
            f.truncate(64 << 20)
        device = do("losetup", "-f", "--show", self.image).strip()
        try:
            self.assertIn("--yes", host("make-spill", device, code=2).stderr)
            self.assertIn("would be made", host("make-spill", device, "--dry-run").stdout)
            self.assertNotIn("TYPE", subprocess.run(["blkid", "-p", device], capture_output=True, text=True).stdout)
            host("make-spill", device, "--yes", "--at", self.at)
            # In use, and then with something on it.
            self.assertIn("it is mounted", host("make-spill", device, "--yes", "--overwrite", code=3).stderr)
            do("umount", self.at)
            self.assertIn("there is ext4 on it", host("make-spill", device, "--yes", code=3).stderr)
            host("make-spill", device, "--yes", "--overwrite")
        finally:
            subprocess.run(["umount", self.at], capture_output=True)
            do("losetup", "-d", device)

    def test_what_cannot_be(self):
        for words, code in ((["12"], 2), (["1M"], 2), (["/dev/nothing"], 3), ([os.path.dirname(self.at)], 3)):
            wrong = host("make-spill", *words, code=code).stderr
            self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)


if __name__ == "__main__":
    unittest.main()
