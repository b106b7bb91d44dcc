"""Tests `yunti machine cache` on a private file system, with access patterns whose hits and misses are known."""

import contextlib
import ctypes
import mmap
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from images import MIB, image, mounted  # noqa: E402
from looking import Looking, Refusals, needs_loop_devices, observe, require_programs_in_the_kernel, until  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

PAGE = mmap.PAGESIZE
PAGES = 8192
# Pages that the machine may evict during a pattern; other programs also use the page cache.
TAKEN_MAX = PAGES // 20
# Attempts at a pattern that others disturbed, by evictions or by so much reading that the command sampled.
TRIES = 6
# Time until the command samples completely; only this part may be unsampled.
SETTLE_SECONDS = 1.2
# Share of a processor that complete sampling would cost; twice the limit of the command.
FLOOD_COST = 0.02
READER = """
import os, sys, time
fd, pages, end, n = os.open(sys.argv[1], os.O_RDONLY), int(sys.argv[2]), time.monotonic() + float(sys.argv[3]), 0
while time.monotonic() < end:
    for i in range(pages):
        os.pread(fd, 4096, i * 4096)
    n += pages
print(n)
"""


@needs_loop_devices
class Patterns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        there = mounted(image(os.path.join(folder.name, "image"), mib=256))
        cls.folder = there.__enter__()
        cls.addClassCleanup(there.__exit__, None, None, None)
        cls.file = os.path.join(cls.folder, "file")
        with open(cls.file, "wb") as f:
            for _ in range(PAGES * PAGE // MIB):
                f.write(os.urandom(MIB))
            os.fsync(f.fileno())

    def opened(self, path=None, flags=os.O_RDONLY):
        fd = os.open(path or self.file, flags)
        self.addCleanup(os.close, fd)
        return fd

    def cold(self, path=None):
        fd = self.opened(path)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        return fd

    @contextlib.contextmanager
    def held(self, path=None):
        """Keeps the whole file in the page cache, locked."""
        libc = ctypes.CDLL(None, use_errno=True)
        fd = self.opened(path, os.O_RDWR)
        # A shared mapping, because locking it writes nothing.
        with mmap.mmap(fd, 0) as m:
            first = ctypes.c_char.from_buffer(m)
            try:
                self.assertEqual(
                    libc.mlock(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(len(m))),
                    0,
                    os.strerror(ctypes.get_errno()),
                )
                yield fd
            finally:
                del first

    def sample(self, act):
        """Runs `act` during a measurement of the file system, and returns the document."""
        with Looking("cache", self.folder, "-s", 60) as look:
            # The first samples are short.
            time.sleep(SETTLE_SECONDS)
            act()
            time.sleep(0.3)
            return look.stop()

    def calm(self, act, before=lambda: None, drops=0):
        """Returns the document of an undisturbed pattern (completely sampled, few pages evicted), and the evicted
        pages.

        before: prepares the pattern again.
        drops: pages that the pattern itself drops."""
        for _ in range(TRIES):
            before()
            document = self.sample(act)
            taken = max(document["all"]["dropped_pages"] - drops, 0)
            unsampled = document["seconds"] * (1 - document["sampled_share"])
            if taken <= TAKEN_MAX and unsampled < SETTLE_SECONDS / 2:
                return document, taken
        self.fail(f"other programs disturbed all {TRIES} attempts: {document['all']}, {document['sampled_share']}")

    def pages(self, act, before=lambda: None, drops=0, **expected):
        """Checks that counts are as expected within 10 %; counts without an expected value must be near zero."""
        document, taken = self.calm(act, before, drops)
        for name, count in document["all"].items():
            wanted = expected.pop(name, 0)
            if wanted is not None and name != "dropped_pages":
                # An evicted page is not hit, and is missed or read ahead instead.
                delta = max(wanted * 0.1, PAGES * 0.005) + taken
                self.assertAlmostEqual(
                    count,
                    wanted,
                    delta=delta,
                    msg=f"{name}: {document['all']}, {document['sampled_share']}, {document['skipped']}",
                )
        self.assertEqual(expected, {})
        return document

    def test_cached_pages_are_hits(self):
        def twice():
            for n in (PAGE, 16 * PAGE):
                os.lseek(fd, 0, os.SEEK_SET)
                while os.read(fd, n):
                    pass

        with self.held() as fd:
            document = self.pages(twice, read_hit_pages=2 * PAGES)
        named = {row["path"]: row for row in document["files"]}
        self.assertGreater(named[self.file]["read_hit_pages"], PAGES)
        mine = [row for row in document["processes"] if row["pid"] == os.getpid()]
        self.assertEqual(len(mine), 1, document["processes"])

    def test_sequential_reads_are_read_ahead(self):
        def once():
            fd = self.opened()
            while os.read(fd, 16 * PAGE):
                pass

        document, taken = self.calm(once, self.cold)
        found = document["all"]
        self.assertAlmostEqual(found["read_miss_pages"] + found["read_ahead_pages"], PAGES, delta=PAGES * 0.02 + taken)
        self.assertAlmostEqual(found["read_miss_pages"] + found["read_hit_pages"], PAGES, delta=PAGES * 0.1 + taken)
        self.assertGreater(found["read_ahead_pages"], PAGES * 0.8)

    def test_large_requests_for_uncached_pages_are_misses(self):
        fd = self.opened()
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        self.pages(
            lambda: [os.pread(fd, MIB, i * MIB) for i in range(PAGES * PAGE // MIB)], self.cold, read_miss_pages=PAGES
        )

    def test_random_pages_are_missed_once_each(self):
        wanted = random.sample(range(PAGES), 1000)
        fd = self.opened()
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        self.pages(lambda: [os.pread(fd, PAGE, i * PAGE) for i in wanted], self.cold, read_miss_pages=1000)
        with self.held():
            self.pages(lambda: [os.pread(fd, PAGE, i * PAGE) for i in wanted], read_hit_pages=1000)

    def test_counts_mapped_pages(self):
        def touch(advice, wanted):
            with mmap.mmap(self.opened(), PAGES * PAGE, prot=mmap.PROT_READ) as m:
                m.madvise(advice)
                for i in wanted:
                    m[i * PAGE]

        wanted = random.sample(range(PAGES), 1000)
        self.pages(lambda: touch(mmap.MADV_RANDOM, wanted), self.cold, mapped_miss_pages=1000, mapped_hit_pages=None)
        with self.held():
            self.pages(lambda: touch(mmap.MADV_NORMAL, range(PAGES)), mapped_hit_pages=PAGES)

    def test_counts_read_ahead_of_a_mapping(self):
        def touch():
            with mmap.mmap(self.opened(), PAGES * PAGE, prot=mmap.PROT_READ) as m:
                for i in range(PAGES):
                    m[i * PAGE]

        document, taken = self.calm(touch, self.cold)
        found = document["all"]
        self.assertAlmostEqual(
            found["mapped_miss_pages"] + found["read_ahead_pages"], PAGES, delta=PAGES * 0.02 + taken
        )
        # A fault may map a whole folio, but the kernel reports only the page of the fault.
        self.assertLess(found["mapped_hit_pages"] + found["mapped_miss_pages"], PAGES * 1.1 + taken)

    def test_direct_reads_count_nothing(self):
        fd = self.opened(flags=os.O_RDONLY | os.O_DIRECT)
        into = mmap.mmap(-1, MIB)
        self.pages(lambda: [os.preadv(fd, [into], i * MIB) for i in range(PAGES * PAGE // MIB)], self.cold)

    def test_counts_writes(self):
        path = os.path.join(self.folder, "written")
        self.addCleanup(os.unlink, path)
        data = os.urandom(MIB)

        def remove():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

        def write():
            fd = self.opened(path, os.O_WRONLY | os.O_CREAT)
            for _ in range(8):
                os.write(fd, data)

        self.pages(write, remove, write_miss_pages=2048)
        with self.held(path):
            self.pages(write, write_hit_pages=2048)
            # 64 bytes at a time: the page is cached after the first write.
            fd = self.opened(path, os.O_WRONLY)
            self.pages(lambda: [os.write(fd, b"x" * 64) for _ in range(6400)], write_hit_pages=6400)

    def test_appends_after_a_read_to_the_end_are_writes(self):
        path = os.path.join(self.folder, "appended")
        self.addCleanup(os.unlink, path)

        def reset():
            with open(path, "wb") as f:
                f.write(bytes(10 * PAGE))
            self.cold(path)

        def append():
            fd = self.opened(path, os.O_RDWR)
            os.read(fd, 8 * MIB)
            for _ in range(1000):
                os.write(fd, bytes(PAGE))

        self.pages(append, reset, write_miss_pages=1000, read_miss_pages=10)

    def test_counts_splice_requests(self):
        """sendfile(2) and splice(2) use another path in the kernel, and no program has requested the pages of
        readahead(2) yet."""

        def send():
            fd, pipe = self.opened(), os.pipe()
            for at in range(0, PAGES * PAGE, 16 * PAGE):
                self.assertEqual(os.splice(fd, pipe[1], 16 * PAGE, offset_src=at), 16 * PAGE)
                os.read(pipe[0], 16 * PAGE)
            os.close(pipe[0])
            os.close(pipe[1])

        with self.held():
            self.pages(send, read_hit_pages=PAGES)
        document, taken = self.calm(send, self.cold)
        found = document["all"]
        self.assertAlmostEqual(found["read_miss_pages"] + found["read_ahead_pages"], PAGES, delta=PAGES * 0.02 + taken)
        self.assertAlmostEqual(found["read_miss_pages"] + found["read_hit_pages"], PAGES, delta=PAGES * 0.1 + taken)

    def test_counts_unused_read_ahead(self):
        fd = self.cold()

        def fetch():
            for at in range(0, PAGES * PAGE, MIB):
                os.posix_fadvise(fd, at, MIB, os.POSIX_FADV_WILLNEED)
            # Until all pages are cached.
            time.sleep(0.5)

        def never():
            fetch()
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

        def all_of_it():
            fetch()
            while os.read(fd, 16 * PAGE):
                pass
            # At once, before page flags are read.
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

        def a_quarter():
            fetch()
            os.pread(fd, PAGES * PAGE // 4, 0)

        for act, share in ((never, 0.0), (all_of_it, 1.0), (a_quarter, 0.25)):
            self.cold()
            os.lseek(fd, 0, os.SEEK_SET)
            use = self.sample(act)["read_ahead_use"]
            all_pages = use["used_pages"] + use["dropped_unused_pages"] + use["not_used_yet_pages"]
            self.assertAlmostEqual(use["used_pages"] / all_pages, share, delta=0.1, msg=f"{act.__name__}: {use}")
            self.assertAlmostEqual(all_pages, PAGES, delta=PAGES * 0.3, msg=f"{act.__name__}: {use}")

    def test_many_hits_are_sampled_within_the_stated_error(self):
        seconds = 6
        with self.held(), Looking("cache", self.folder, "-s", 60) as look:
            done = subprocess.run(
                [sys.executable, "-c", READER, self.file, str(PAGES), str(seconds)],
                capture_output=True,
                text=True,
                check=True,
            )
            document = look.stop()
        truth, found = int(done.stdout), document["all"]["read_hit_pages"]
        # A reader slowed down by other programs may cause few events, which are sampled completely.
        if truth / seconds * document["program_ns"] / 1e9 > FLOOD_COST:
            self.assertLess(document["sampled_share"], 0.8, document)
        off = abs(found / truth - 1) * 100
        self.assertLess(off, max(10, 2 * document["error_percent"]), (found, truth, document["error_percent"]))

    def test_programs_that_run_rarely_stay_attached(self):
        """In a flood of reads, each sample attaches and detaches the program of reads alone."""

        def links(pid):
            found = 0
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    found += "bpf_link" in os.readlink(f"/proc/{pid}/fd/{fd}")
            return found

        with self.held(), Looking("cache", self.folder, "-s", 60) as look:
            reader = subprocess.Popen([sys.executable, "-c", READER, self.file, str(PAGES), "4"], stdout=subprocess.PIPE)
            try:
                # The first samples begin with all programs.
                time.sleep(1.5)
                seen = []
                until_then = time.monotonic() + 2
                while time.monotonic() < until_then:
                    seen.append(links(look.run.pid))
                    time.sleep(0.003)
            finally:
                truth = int(reader.communicate()[0])
            document = look.stop()
        # Mappings of other programs may be a flood too; without this rule, all five programs come and go.
        self.assertLessEqual(max(seen) - min(seen), 2, sorted(set(seen)))
        if truth / 4 * document["program_ns"] / 1e9 > FLOOD_COST:
            self.assertGreater(max(seen), min(seen))
        # Loading the programs is no part of the overhead.
        self.assertGreater(document["start_cpu_seconds"], 0)
        self.assertLess(document["start_cpu_seconds"], 2)

    def test_counts_the_only_request_of_an_ended_process(self):
        """No later request reports how much of it was read."""
        command = [
            sys.executable,
            "-c",
            "import os, sys; os.read(os.open(sys.argv[1], os.O_RDONLY), 1 << 20)",
            self.file,
        ]
        with self.held():
            self.pages(lambda: [subprocess.run(command, check=True) for _ in range(4)], read_hit_pages=4 * MIB // PAGE)

    def test_counts_more_files_than_it_lists(self):
        folder = os.path.join(self.folder, "many")
        self.addCleanup(shutil.rmtree, folder)

        def reset():
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)

        def write():
            for n in range(1100):
                with open(os.path.join(folder, str(n)), "wb") as f:
                    f.write(b"x")

        document, _ = self.calm(write, reset)
        self.assertEqual(len(document["files"]), 1000)
        # Includes the folder and the device itself.
        self.assertIn(document["files_seen"], range(1100, 1110))
        self.assertTrue(
            any("1000 with the most pages are listed" in note for note in document["notes"]), document["notes"]
        )

    def test_works_without_tracefs(self):
        script = 'umount -ql /sys/kernel/debug/tracing /sys/kernel/tracing /sys/kernel/debug; exec "$@"'
        observe("cache", "-s", "0.1", before=["unshare", "--mount", "sh", "-c", script, "sh"])

    def test_measures_the_requested_processes_only(self):
        fd = self.opened()
        other = os.path.join(tempfile.gettempdir(), f"yunti-cache-{os.getpid()}")
        with open(other, "wb") as f:
            f.write(bytes(64 * PAGE))
        self.addCleanup(os.unlink, other)
        with open(other, "rb", buffering=0) as elsewhere, Looking("cache", "-p", os.getpid(), "-s", 60) as look:
            time.sleep(0.5)
            elsewhere.read(64 * PAGE)
            os.pread(fd, 64 * PAGE, 0)
            time.sleep(0.3)
            document = look.stop()
        self.assertEqual({row["pid"] for row in document["processes"]}, {os.getpid()})
        self.assertTrue({other, self.file} <= {row["path"] for row in document["files"]}, document["files"])

    def test_writes_page_and_text(self):
        page = os.path.join(self.folder, "page.html")
        self.addCleanup(os.unlink, page)
        fd = self.opened()
        look = Looking("cache", self.folder, "-s", 2, "-o", page, json=False)
        with look:
            time.sleep(0.5)
            os.pread(fd, 64 * PAGE, 0)
            out = look.rest()
        self.assertIn("By file", out)
        until(lambda: os.path.exists(page))
        with open(page, encoding="utf-8") as f:
            self.assertIn("By process", f.read())


class Wrong(Refusals, unittest.TestCase):
    observer = "cache"

    def test_refuses_missing_places_and_processes(self):
        self.refused(3, "no such device or directory", "/nowhere")
        self.refused(3, "process", "-p", 4_000_000)

    def test_refuses_without_root(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root to change the user")
        wrong = observe(
            "cache", "-s", "0.1", before=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], code=3
        ).stderr
        self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)


if __name__ == "__main__":
    twice.main()
