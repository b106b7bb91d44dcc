"""Tests `yunti machine bench`, each subject once, and `yunti machine make-spill` on images and loop devices."""

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


def leftovers(folder):
    """Returns loop devices of files in the folder, and mounts below it; other devices and mounts do not count."""
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
        for one in document["subjects"]:
            for published in one["published"]:
                # A published ratio stands beside the measured one, so its metric exists.
                self.assertEqual(published["ratio"] is None, published["beside"] is None, published)
        return {one["subject"]: {c["metric"]: c for c in one["comparisons"] or []} for one in document["subjects"]}

    def test_measures_all_subjects_and_leaves_nothing(self):
        found = self.measured()
        self.assertEqual(tuple(sorted(found)), tuple(sorted(SUBJECTS)))
        for subject, comparisons in found.items():
            self.assertTrue(comparisons, subject)
            for comparison in comparisons.values():
                self.assertTrue(
                    all(value >= 0 for value in comparison["old_values"] + comparison["new_values"]), comparison
                )
                # One round gives no verdict on figures that depend on time.
                if not comparison["exact"]:
                    self.assertEqual(comparison["verdict"], "too few rounds")
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(leftovers(self.folder), set())
        # N overlay mounts read the file once, N copies read each copy.
        read = next(c for name, c in found["overlay"].items() if "device" in name)
        self.assertGreater(read["old_values"][0] / read["new_values"][0], 4)
        space = next(c for name, c in found["inline-data"].items() if "space" in name)
        self.assertLess(space["new_values"][0], space["old_values"][0] / 4)
        cluster = next(c for name, c in found["bigalloc"].items() if "space of a file" in name)
        self.assertGreater(cluster["new_values"][0], cluster["old_values"][0] * 4)

    def test_ctrl_c_leaves_nothing(self):
        run = subprocess.Popen(
            [YUNTI, "machine", "bench", "--dir", self.folder, "no-journal"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual((os.listdir(self.folder), leftovers(self.folder)), ([], set()))

    def has_mounts_below(self, pid):
        """True if a process sees a mount below the folder."""
        with contextlib.suppress(OSError), open(f"/proc/{pid}/mountinfo") as f:
            return any(line.split()[4].startswith(self.folder) for line in f)
        return False

    def test_the_next_run_removes_files_of_a_killed_run(self):
        run = subprocess.Popen(
            [YUNTI, "machine", "bench", "--dir", self.folder, "no-journal"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # The bench has a mount namespace of its own. A busy disk takes long to make the file system.
        end = time.monotonic() + 90
        while not self.has_mounts_below(run.pid) and time.monotonic() < end:
            self.assertIsNone(run.poll(), "the bench ended before it was killed")
            time.sleep(0.01)
        run.kill()
        run.wait()
        # The kernel removes mounts with the namespace, and loop devices with the mounts, after the last program has
        # ended. To unmount, it writes all that the file system still has in memory: long on a busy disk.
        end = time.monotonic() + 150
        while leftovers(self.folder) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(leftovers(self.folder), set())
        self.assertEqual(len(os.listdir(self.folder)), 1)
        self.assertIn(
            "removed files of an interrupted run", host("bench", "--quick", "--dir", self.folder, "time-wait").stderr
        )
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK), "needs /dev/shm")
    def test_reports_a_folder_in_memory(self):
        run = host("bench", "--quick", "--json", "--dir", "/dev/shm", "time-wait")
        self.assertIn("is in memory", run.stderr)
        self.assertTrue(json.loads(run.stdout)["in_memory"])

    def test_refuses_wrong_arguments(self):
        self.assertIn("unknown subject 'colour'", host("bench", "colour", code=2).stderr)
        self.assertIn("overlay", host("bench", "--list").stdout)
        wrong = host("bench", "overlay", "--dir", "/nowhere", code=3).stderr
        self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)

    def test_reports_a_missing_program(self):
        with tempfile.TemporaryDirectory() as empty:
            err = host(
                "bench", "--quick", "no-journal", "--dir", self.folder, code=3, env={**os.environ, "PATH": empty}
            ).stderr
        self.assertIn("mkfs.ext4", err)


@needs_loop_devices
class Spill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.image, self.at = os.path.join(folder.name, "spill.img"), os.path.join(folder.name, "at")

    def test_a_job_spills_to_an_image(self):
        host("make-spill", "256M", "--image", self.image, "--at", self.at)
        try:
            self.assertNotIn("has_journal", do("dumpe2fs", "-h", self.image))
            out = os.path.join(os.path.dirname(self.at), "out")
            records = os.path.join(os.path.dirname(self.at), "in")
            subprocess.run(
                [YUNTI, "generate", "tera", "--bytes", "20MB", "--output", records], check=True, capture_output=True
            )
            subprocess.run(
                [YUNTI, "run", "terasort", "--input", records, "--output", out, "--memory", "8M", "--scratch", self.at],
                check=True,
                capture_output=True,
            )
            self.assertEqual([name for name in os.listdir(self.at) if name != "lost+found"], [])
            self.assertEqual(host("make-spill", "64M", "--image", self.image, code=8).stderr.count("\n"), 1)
            # A folder in use is not hidden by a mount.
            other = os.path.join(self.folder, "other.img")
            self.assertIn(
                "not an empty folder", host("make-spill", "64M", "--image", other, "--at", self.at, code=3).stderr
            )
            self.assertFalse(os.path.exists(other))
        finally:
            do("umount", self.at)

    def test_undo_restores_the_folder(self):
        # A new folder, an existing one, names with blanks; relative paths.
        for at, image, there in (("new", "spill.img", False), ("there", "spill.img", True), ("a b", "c d.img", False)):
            if there:
                os.mkdir(os.path.join(self.folder, at))
            document = json.loads(
                host("make-spill", "16M", "--image", image, "--at", at, "--json", cwd=self.folder).stdout
            )
            try:
                self.assertTrue(os.path.ismount(os.path.join(self.folder, at)))
                self.assertEqual(document["fstab"].split()[0], os.path.join(self.folder, image).replace(" ", "\\040"))
                subprocess.run(["sh", "-c", document["undo"]], check=True)
            finally:
                subprocess.run(["umount", os.path.join(self.folder, at)], capture_output=True)
            self.assertEqual(
                (sorted(os.listdir(self.folder)), leftovers(self.folder)), (["there"] if there else [], set())
            )
            if there:
                os.rmdir(os.path.join(self.folder, at))

    def test_makes_and_mounts_only_what_a_flag_names(self):
        usual = set(os.listdir("/var/tmp"))
        for words in ([], ["--dry-run"], ["--at", self.at]):
            err = host("make-spill", "64M", *words, code=2).stderr
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn("nothing is made", err)
            self.assertIn("make-spill 64M --image /var/tmp/spill.img --at /mnt/spill", err)
            self.assertEqual((os.listdir(self.folder), leftovers(self.folder)), ([], set()))
        self.assertEqual(set(os.listdir("/var/tmp")), usual)
        # With a name for the image alone, nothing is mounted; the printed commands mount and remove it.
        out = host("make-spill", "16M", "--image", self.image).stdout
        self.assertIn("it is not mounted", out)
        self.assertEqual((os.listdir(self.folder), leftovers(self.folder)), (["spill.img"], set()))
        printed = dict(line.strip().split(" ", 1) for line in out.splitlines() if line.startswith("  "))
        os.mkdir(self.at)
        mount = printed["mount"].removeprefix("it").strip().replace("DIR", self.at)
        try:
            do("sh", "-c", mount)
            self.assertEqual(os.stat(self.at).st_mode & 0o7777, 0o1777)
        finally:
            do("umount", self.at)
        do("sh", "-c", printed["undo"])
        self.assertEqual(os.listdir(self.folder), ["at"])
        out = host("make-spill", "16M", "--image", self.image, "--at", self.at, "--dry-run").stdout
        self.assertIn(f"mounted by mount -t ext4 -o loop,noatime,nodev,nosuid,noinit_itable {self.image}", out)
        self.assertEqual((os.listdir(self.folder), leftovers(self.folder)), (["at"], set()))

    def test_refuses_more_than_the_free_space(self):
        err = host("make-spill", "8000T", "--image", self.image, code=5).stderr
        self.assertIn("MiB are free", err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_terminated_run_leaves_nothing(self):
        for wait in (0, 0.02, 0.05, 0.1, 0.2):
            run = subprocess.Popen(
                [YUNTI, "machine", "make-spill", "1G", "--image", self.image, "--at", self.at],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(wait)
            run.send_signal(signal.SIGTERM)
            _, err = run.communicate(timeout=60)
            if run.returncode == 0:
                # The file system was complete before the signal.
                do("umount", self.at)
                os.rmdir(self.at)
                os.remove(self.image)
            else:
                self.assertIn(run.returncode, (130, -signal.SIGTERM), err)
            self.assertEqual((os.listdir(self.folder), leftovers(self.folder)), ([], set()), wait)

    def test_makes_a_file_system_on_a_device(self):
        with open(self.image, "wb") as f:
            f.truncate(64 << 20)
        device = do("losetup", "-f", "--show", self.image).strip()
        try:
            self.assertIn("--yes", host("make-spill", device, code=2).stderr)
            self.assertIn("would be made", host("make-spill", device, "--dry-run").stdout)
            self.assertNotIn("TYPE", subprocess.run(["blkid", "-p", device], capture_output=True, text=True).stdout)
            host("make-spill", device, "--yes", "--at", self.at)
            # Refused while mounted, and then because it holds data.
            self.assertIn("mounted at", host("make-spill", device, "--yes", "--overwrite", code=3).stderr)
            do("umount", self.at)
            self.assertIn("the device holds ext4", host("make-spill", device, "--yes", code=3).stderr)
            host("make-spill", device, "--yes", "--overwrite")
        finally:
            subprocess.run(["umount", self.at], capture_output=True)
            do("losetup", "-d", device)

    def test_refuses_a_device_with_partitions(self):
        with open(self.image, "wb") as f:
            f.truncate(64 << 20)
            # Partition table with one Linux partition.
            f.seek(446)
            f.write(struct.pack("<8B2I", 0, 0, 2, 0, 0x83, 0, 2, 0, 2048, 65536) + bytes(48) + b"\x55\xaa")
        device = do("losetup", "-P", "-f", "--show", self.image).strip()
        try:
            # Some kernels show partitions of loop devices; on others the table itself is found.
            err = host("make-spill", device, "--yes", code=3).stderr
            self.assertTrue("has partitions" in err or "holds dos" in err, err)
        finally:
            do("losetup", "-d", device)

    def test_refuses_wrong_devices_and_sizes(self):
        for words, code in ((["12"], 2), (["1M"], 2), (["/dev/nothing"], 3), ([os.path.dirname(self.at)], 3)):
            wrong = host("make-spill", *words, code=code).stderr
            self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)


if __name__ == "__main__":
    unittest.main()
