"""Tests `yunti machine ext4` on images and mounted file systems, compared with e2fsprogs."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from images import FEATURES, MIB, do, image, mounted  # noqa: E402
from looking import YUNTI, needs_loop_devices, observe, require_programs_in_the_kernel  # noqa: E402


def usage(place, **how):
    return json.loads(observe("ext4", "usage", "--json", place, **how).stdout)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def fill(root):
    for n in range(40):
        os.makedirs(f"{root}/d{n}", exist_ok=True)
        with open(f"{root}/d{n}/file", "wb") as f:
            f.write(os.urandom(n * 3000))


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class OfImages(InAFolder):
    def test_usage_agrees_with_dumpe2fs_and_writes_nothing(self):
        fill(self.path("root"))
        path = image(self.path("image"), "-d", self.path("root"), "-b", "1024")
        before = digest(path)
        found = usage(path)
        summary = do("dumpe2fs", "-h", path)
        number = lambda key: int(re.search(rf"^{key}: *(\d+)", summary, re.M).group(1))  # noqa: E731
        self.assertEqual(digest(path), before)
        self.assertEqual(found["free"]["blocks"], number("Free blocks"))
        self.assertEqual(
            found["inodes"], {"all": number("Inode count"), "used": number("Inode count") - number("Free inodes")}
        )
        self.assertEqual(found["files"]["regular"], 40)
        self.assertEqual(found["blocks"], number("Block count"))
        # All blocks that are not free, except the block before the first data block, which has no owner.
        self.assertEqual(
            sum(found["blocks_by_kind"].values()), number("Block count") - number("Free blocks") - number("First block")
        )
        self.assertEqual(found["ownership"], {"lost_clusters": 0, "twice_blocks": 0, "unmarked_clusters": 0})
        self.assertTrue(found["consistent"])
        self.assertEqual(found["blocks_by_kind"]["regular data"], sum(-(-n * 3000 // 1024) for n in range(40)))

    def test_writes_text_and_page(self):
        fill(self.path("root"))
        path = image(self.path("image"), "-d", self.path("root"))
        page = self.path("page.html")
        out = observe("ext4", "usage", path, "-o", page).stdout
        for words in (
            "of data in 40 files",
            "inode table",
            "bigalloc, clusters of 64 KiB",
            "inline_data",
            "no journal",
            "Free space by size",
        ):
            self.assertIn(words, out)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.assertIn("<svg", text)
        self.assertIn("regular data", text)

    def test_counts_files_that_would_fit_into_their_inode(self):
        os.mkdir(self.path("root"))
        for n in range(1, 200):
            with open(self.path(f"root/{n}"), "wb") as f:
                f.write(b"x" * n)
        path = image(self.path("image"), "-d", self.path("root"), "-I", "256")
        setting = next(s for s in usage(path)["other_settings"] if s["setting"] == "inline_data")
        # A kernel with inline_data stores 128 bytes in an inode of 256. Of the directories only lost+found is that
        # small.
        self.assertIn("128 files", setting["why"])

    def test_estimates_clusters_and_no_journal(self):
        """Compares with images of the same files that mke2fs makes with these settings."""
        root = self.path("root")
        fill(root)
        with open(f"{root}/holes", "wb") as f:
            for n in range(900):
                f.seek(n * 40_000)
                f.write(b"x")
        options = ["-d", root, "-b", "4096", "-I", "256", "-N", "16384"]

        def used(name, *more, features=FEATURES):
            path = image(self.path(name), *options, *more, mib=1024, features=features)
            if more or features != FEATURES:
                found = usage(path)
                os.unlink(path)
                return (found["blocks"] - found["free"]["blocks"]) * 4096
            return (usage(path)["blocks"] - usage(path)["free"]["blocks"]) * 4096

        now = used("image")
        estimates = {s["setting"]: s["saved_bytes"] for s in usage(self.path("image"))["other_settings"]}
        self.assertEqual(now - used("other", features=FEATURES.replace("has_journal,", "")), estimates["no journal"])
        for kib in (16, 64, 256):
            saved = now - used("other", "-C", str(kib << 10), features=f"{FEATURES},bigalloc")
            # mke2fs begins a new cluster behind the descriptors.
            self.assertAlmostEqual(
                estimates[f"bigalloc, clusters of {kib} KiB"],
                saved,
                delta=abs(saved) * 0.03 + 3 * (kib << 10),
                msg=f"{kib} KiB: {estimates}",
            )

    def test_refuses_wrong_places(self):
        nothing = self.path("nothing")
        self.refused(nothing, 3, "no such device, image or directory")
        with open(nothing, "wb") as f:
            f.write(b"\0" * MIB)
        self.refused(nothing, 3, "no ext2, ext3 or ext4 file system")
        self.refused("/proc", 3, "is not on a block device")
        self.refused("/dev/null", 3, "not a block device or an image")
        path = image(self.path("image"))
        with open(path, "r+b") as f:
            f.truncate(3 * MIB)
        self.refused(path, 4, "a part is missing")
        self.assertIn("it is not mounted", self.error(image(self.path("other")), 3, "this image is not mounted", "io"))

    def refused(self, path, code, words):
        self.error(path, code, words, "usage")

    def error(self, path, code, words, command):
        err = observe("ext4", command, path, code=code).stderr
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(words, err)
        self.assertIn(path, err)
        return err.replace("image is not", "it is not")

    def test_reports_damage_with_the_rest(self):
        path = image(self.path("image"), "-b", "1024", features="none,filetype")
        table = int(re.search(r"Inode table at (\d+)", do("dumpe2fs", path)).group(1))
        with open(path, "r+b") as f:
            # The root's first block pointer, outside the file system.
            f.seek(table * 1024 + 256 + 0x28)
            f.write(b"\xff\xff\xff\x7f")
        run = observe("ext4", "usage", path, code=4)
        self.assertIn("Damaged: inode 2:", run.stdout)
        self.assertIn("inode table", run.stdout)
        self.assertIn("e2fsck -n", run.stderr)
        self.assertEqual(len(usage(path, code=4)["damaged"]), 1)


@needs_loop_devices
class OfMounted(InAFolder):
    def test_usage_of_a_changing_file_system_is_consistent(self):
        path = image(self.path("image"), mib=128)
        stop = threading.Event()

        def write(folder, which):
            n = 0
            while not stop.is_set():
                n += 1
                where = f"{folder}/{which}-{n % 50}"
                os.makedirs(where, exist_ok=True)
                with open(f"{where}/file", "wb") as f:
                    f.write(os.urandom(n % 40 * 1000))
                    if n % 5 == 0:
                        os.fsync(f.fileno())
                if n % 3 == 0:
                    shutil.rmtree(where)

        with mounted(path) as folder:
            threads = [threading.Thread(target=write, args=(folder, which)) for which in range(2)]
            for thread in threads:
                thread.start()
            try:
                documents = [usage(place) for place in (path, folder) * 6]
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            for found in documents:
                self.assertEqual(found["mounted_at"], folder)
                self.assertTrue(found["device"].startswith("/dev/loop"), found["device"])
                # The figures are of one moment, or the document says that they are not.
                whole = (
                    found["ownership"] == {"lost_clusters": 0, "twice_blocks": 0, "unmarked_clusters": 0}
                    and not found["damaged"]
                )
                self.assertTrue(whole if found["consistent"] else found["skipped"], found)
            self.assertTrue(any(found["consistent"] for found in documents), documents)
            os.sync()
            self.assertTrue(usage(folder)["consistent"])
        self.assertIn("clean", do("e2fsck", "-fn", path).replace("blocks", "clean"))

    def test_usage_of_a_read_only_device(self):
        device = do("losetup", "-r", "-f", "--show", image(self.path("image"))).strip()
        try:
            self.assertEqual(usage(device)["free"]["blocks"], usage(self.path("image"))["free"]["blocks"])
        finally:
            do("losetup", "-d", device)


class Io:
    """Runs `ext4 io` until `answer` is called."""

    def __init__(self, folder):
        self.run = subprocess.Popen(
            [YUNTI, "machine", "ext4", "io", "--json", "-s", "60", folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.run.stderr.readline()
        assert line.startswith("watching "), line

    def answer(self):
        time.sleep(0.2)
        self.run.send_signal(2)
        out, err = self.run.communicate(timeout=30)
        assert self.run.returncode == 130, (self.run.returncode, err)
        return json.loads(out)


def forget():
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("3")


@needs_loop_devices
class OfIo(InAFolder):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()

    def sample(self, folder, act):
        os.sync()
        io = Io(folder)
        act()
        os.sync()
        found = io.answer()
        self.assertEqual((found["lost_requests"], found["outside"]["written_bytes"]), (0, 0))
        return found

    def test_counts_regular_data_exactly(self):
        with mounted(image(self.path("image"), mib=256)) as folder:

            def write():
                with open(f"{folder}/forty", "wb") as f:
                    f.write(os.urandom(40_000 * 1024))
                    os.fsync(f.fileno())
                direct = os.open(f"{folder}/direct", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
                import mmap

                page = mmap.mmap(-1, MIB)
                self.assertEqual(sum(os.write(direct, page) for _ in range(4)), 4 * MIB)
                os.close(direct)

            found = self.sample(folder, write)
            files = {f["path"]: f for f in found["by_file"]}
            self.assertEqual(files["/forty"]["written_bytes"], 40_000 * 1024)
            self.assertEqual(files["/direct"]["written_bytes"], 4 * MIB)
            self.assertEqual(found["by_kind"]["regular data"]["written_bytes"], 40_000 * 1024 + 4 * MIB)
            self.assertEqual(found["by_kind"]["regular data"]["read_bytes"], 0)
            self.assertGreater(found["by_kind"]["journal"]["written_bytes"], 0)

            def read():
                forget()
                with open(f"{folder}/forty", "rb") as f:
                    while f.read(MIB):
                        pass

            found = self.sample(folder, read)
            self.assertEqual({f["path"]: f["read_bytes"] for f in found["by_file"]}["/forty"], 40_000 * 1024)

    def test_counts_each_kind_of_metadata(self):
        """Without a journal, changed blocks are written in place and their number is known. A slow machine may write
        some twice."""
        features = FEATURES.replace("has_journal,", "")
        with mounted(image(self.path("image"), "-b", "4096", "-I", "256", mib=128, features=features)) as folder:
            kind = lambda found, name: found["by_kind"][name]["written_bytes"] // 4096  # noqa: E731
            found = self.sample(folder, lambda: [os.mkdir(f"{folder}/{n}") for n in range(60)])
            # Their own blocks, and the root's.
            self.assertIn(kind(found, "directory"), range(61, 2 * 61 + 1))
            self.assertGreater(kind(found, "inode table"), 3)
            self.assertGreater(kind(found, "block bitmap"), 0)
            self.assertGreater(kind(found, "inode bitmap"), 0)
            self.assertGreater(kind(found, "group descriptor"), 0)
            self.assertEqual(kind(found, "regular data"), 0)

            found = self.sample(
                folder, lambda: [os.setxattr(f"{folder}/{n}", "user.x", bytes([n]) * 2000) for n in range(20)]
            )
            self.assertIn(kind(found, "xattr"), range(20, 2 * 20 + 1))
            self.assertEqual(kind(found, "directory"), 0)

            def holes():
                with open(f"{folder}/holes", "wb") as f:
                    for n in range(700):
                        f.seek(n * 8192)
                        f.write(b"x" * 4096)

            found = self.sample(folder, holes)
            nodes = len(re.findall(r"\(ETB\d+\)", do("debugfs", "-R", "stat /holes", self.path("image"))))
            self.assertGreater(nodes, 1)
            self.assertIn(kind(found, "extent block"), range(nodes, 3 * nodes + 1))
            self.assertEqual(kind(found, "regular data"), 700)

    def test_counts_indirect_blocks(self):
        with mounted(image(self.path("image"), "-b", "4096", features="none,filetype,sparse_super")) as folder:

            def write():
                with open(f"{folder}/file", "wb") as f:
                    f.write(b"x" * (4096 * (12 + 1024 + 5)))

            found = self.sample(folder, write)
            # One block for the first 1,024 pointers, one that points to such blocks, and one of those.
            # A writeback in between writes a block twice.
            self.assertIn(found["by_kind"]["indirect block"]["written_bytes"] // 4096, range(3, 2 * 3 + 1))
            self.assertEqual(found["by_kind"]["regular data"]["written_bytes"], 4096 * (12 + 1024 + 5))

    def test_prints_a_line_each_second(self):
        with mounted(image(self.path("image"))) as folder:
            run = subprocess.Popen(
                [YUNTI, "machine", "ext4", "io", "-s", "2.5", folder],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            run.stderr.readline()
            with open(f"{folder}/file", "wb") as f:
                f.write(b"x" * 3 * MIB)
                os.fsync(f.fileno())
            out, _ = run.communicate(timeout=30)
            self.assertEqual(run.returncode, 0, out)
            self.assertRegex(out, r"(?m)^ +1 s  read .*/s  written .*/s  regular data 3\.1 MB")
            self.assertIn("/file", out)


if __name__ == "__main__":
    unittest.main()
