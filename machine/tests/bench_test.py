"""`yunti machine bench`, each subject once, against what is known of it; `yunti machine make-spill`, on files and devices of its own."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from images import do  # noqa: E402
from looking import YUNTI, needs_loop_devices  # noqa: E402

SUBJECTS = ("bigalloc", "no-journal", "inline-data", "overlay", "io-uring", "mapped-writes", "read-ahead", "time-wait")


def host(*words, code=0, **how):
    run = subprocess.run([YUNTI, "machine", *map(str, words)], capture_output=True, text=True, timeout=120, **how)
    assert run.returncode == code, (run.returncode, run.stdout[-2000:], run.stderr)
    return run


def left_of(folder):
    """Loop devices of files in a folder, and mounts below it: what others on the machine do is no matter."""
    found = set()
    for name in os.listdir("/sys/block"):
        with contextlib.suppress(OSError), open(f"/sys/block/{name}/loop/backing_file") as f:
            found |= {name} if f.read().startswith(folder) else set()
    with open("/proc/self/mountinfo") as f:
        return found | {at for at in (line.split()[4] for line in f) if at.startswith(folder)}


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
        self.assertEqual(left_of(self.folder), set())
        # N mounts of one file read it once, N copies each their own.
        read = next(c for name, c in found["overlay"].items() if "device" in name)
        self.assertGreater(read["old_values"][0] / read["new_values"][0], 4)
        space = next(c for name, c in found["inline-data"].items() if "space" in name)
        self.assertLess(space["new_values"][0], space["old_values"][0] / 4)
        cluster = next(c for name, c in found["bigalloc"].items() if "space of a file" in name)
        self.assertGreater(cluster["new_values"][0], cluster["old_values"][0] * 4)

    def test_ctrl_c_leaves_nothing(self):
        run = subprocess.Popen([YUNTI, "machine", "bench", "--dir", self.folder, "no-journal"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, said)
        self.assertEqual((os.listdir(self.folder), left_of(self.folder)), ([], set()))

    def test_who_is_killed_leaves_files_and_the_next_clears_them(self):
        run = subprocess.Popen([YUNTI, "machine", "bench", "--dir", self.folder, "no-journal"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not any(os.path.exists(os.path.join(self.folder, name, "at/files")) for name in os.listdir(self.folder)) and time.monotonic() < end:
            time.sleep(0.05)
        run.kill()
        run.wait()
        # Mounts go with the namespace, and loop devices with the mounts, once a program that was under way has ended too.
        end = time.monotonic() + 20
        while left_of(self.folder) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(left_of(self.folder), set())
        self.assertEqual(len(os.listdir(self.folder)), 1)
        self.assertIn("cleared away", host("bench", "--quick", "--dir", self.folder, "time-wait").stderr)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK), "needs /dev/shm")
    def test_a_folder_in_memory_is_told(self):
        run = host("bench", "--quick", "--json", "--dir", "/dev/shm", "time-wait")
        self.assertIn("is in memory", run.stderr)
        self.assertTrue(json.loads(run.stdout)["in_memory"])

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
        self.folder = folder.name
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
            # Nothing is mounted over what is there.
            other = os.path.join(self.folder, "other.img")
            self.assertIn("no empty folder", host("make-spill", "64M", "--image", other, "--at", self.at, code=3).stderr)
            self.assertFalse(os.path.exists(other))
        finally:
            do("umount", self.at)

    def test_what_is_undone_is_as_it_was(self):
        # A folder that was not there, one that was; names with blanks; a path that is not absolute.
        for at, image, there in (("new", "spill.img", False), ("there", "spill.img", True), ("a b", "c d.img", False)):
            if there:
                os.mkdir(os.path.join(self.folder, at))
            told = json.loads(host("make-spill", "16M", "--image", image, "--at", at, "--json", cwd=self.folder).stdout)
            try:
                self.assertTrue(os.path.ismount(os.path.join(self.folder, at)))
                self.assertEqual(told["fstab"].split()[0], os.path.join(self.folder, image).replace(" ", "\\040"))
                subprocess.run(["sh", "-c", told["undo"]], check=True)
            finally:
                subprocess.run(["umount", os.path.join(self.folder, at)], capture_output=True)
            self.assertEqual((sorted(os.listdir(self.folder)), left_of(self.folder)), (["there"] if there else [], set()))
            if there:
                os.rmdir(os.path.join(self.folder, at))

    def test_more_than_there_is_room_for(self):
        said = host("make-spill", "8000T", "--image", self.image, code=5).stderr
        self.assertIn("there is room for", said)
        self.assertEqual(os.listdir(self.folder), [])

    def test_who_is_asked_to_end_leaves_nothing(self):
        for wait in (0, 0.02, 0.05, 0.1, 0.2):
            run = subprocess.Popen([YUNTI, "machine", "make-spill", "1G", "--image", self.image, "--at", self.at], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(wait)
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=60)
            if run.returncode == 0:
                # It was done before.
                do("umount", self.at)
                os.rmdir(self.at)
                os.remove(self.image)
            else:
                self.assertIn(run.returncode, (130, -signal.SIGTERM), said)
            self.assertEqual((os.listdir(self.folder), left_of(self.folder)), ([], set()), wait)

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
            self.assertIn("it is mounted at", host("make-spill", device, "--yes", "--overwrite", code=3).stderr)
            do("umount", self.at)
            self.assertIn("there is ext4 on it", host("make-spill", device, "--yes", code=3).stderr)
            host("make-spill", device, "--yes", "--overwrite")
        finally:
            subprocess.run(["umount", self.at], capture_output=True)
            do("losetup", "-d", device)

    def test_a_device_with_partitions(self):
        with open(self.image, "wb") as f:
            f.truncate(64 << 20)
            # A table with one partition of Linux's kind.
            f.seek(446)
            f.write(struct.pack("<8B2I", 0, 0, 2, 0, 0x83, 0, 2, 0, 2048, 65536) + bytes(48) + b"\x55\xaa")
        device = do("losetup", "-P", "-f", "--show", self.image).strip()
        try:
            # Where the kernel shows partitions of loop devices they are seen as such, else as what is written on the device.
            said = host("make-spill", device, "--yes", code=3).stderr
            self.assertTrue("it has partitions" in said or "there is dos on it" in said, said)
        finally:
            do("losetup", "-d", device)

    def test_what_cannot_be(self):
        for words, code in ((["12"], 2), (["1M"], 2), (["/dev/nothing"], 3), ([os.path.dirname(self.at)], 3)):
            wrong = host("make-spill", *words, code=code).stderr
            self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)


if __name__ == "__main__":
    unittest.main()
