"""`yunti observe faults` on programs with a known number, kind and address of faults."""

import json
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import (
    NOBODY,
    InAFolder,
    Looking,
    OfOneJdk,
    Refusals,
    Started,
    built,
    container,
    do,
    done,  # noqa: E402
    folder_for_containers,
    needs_nobody,
    observe,
    require_programs_in_the_kernel,
    stacks,
    text_of,
    within,
)
import twice  # noqa: E402  (looking.py knows where it is)

PAGE = 4096
PAGES = 400


def faults_of(document, kind, area):
    """Returns the faults of a kind in areas whose name ends with `area`."""
    return [f for f in document["records"] if f["kind"] == kind and f["area"].endswith(area)]


def group(document, kind, area):
    found = [g for g in document["by_area"] if g["kind"] == kind and g["area"].endswith(area)]
    assert len(found) == 1, document["by_area"]
    return found[0]


class Programs(Refusals, InAFolder, unittest.TestCase):
    observer = "faults"
    # On a disk, where the file system wants notices of written pages.
    new_folder = staticmethod(folder_for_containers)

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        if os.sysconf("SC_PAGESIZE") != PAGE or os.uname().machine != "x86_64":
            raise unittest.SkipTest("the tracepoints of page faults are x86's")
        super().setUpClass()
        cls.faults = built(cls.folder.name, "faults")
        cls.file = os.path.join(cls.folder.name, "mapped.data")
        os.environ["MAPPED_FILE"] = cls.file

    def setUp(self):
        with open(self.file, "wb") as f:
            f.write(b"x" * PAGES * PAGE)
            f.flush()
            # The pages are clean, so the next write notifies the kernel again.
            os.fsync(f.fileno())

    def measure(self, does, *words, pages=PAGES, pause=0):
        """Returns the answer, the range that was touched, and the faults that the system counted at the same time."""
        with Started(self.faults, does, str(pages)) as process, Looking("faults", *words, at=process) as looking:
            begin, end, counted = map(int, do(process))
            time.sleep(pause)
            done(process)
            document = looking.rest()
        self.assertEqual(document["lost"], 0)
        self.assertEqual(document["stacks"], document["faults"] - document["stacks_dropped"])
        return document, (begin, end), counted

    def check(self, does, kind, area, faults=PAGES, each=1):
        """Checks that each page of the range faulted `each` times, and that the system counted the same number."""
        document, (begin, end), counted = self.measure(does)
        # After a fork, pages of the program's variables are copied too.
        self.assertTrue(faults <= counted <= faults + 3, counted)
        of_range = [f for f in faults_of(document, kind, area) if begin <= f["address"] < end]
        self.assertEqual(sorted(f["address"] & -PAGE for f in of_range), sorted(list(range(begin, end, PAGE)) * each))
        return document

    def check_stack(self, document, *path):
        ways = [[name for name, kind in way if kind == "native"] for _, way in stacks(document)]
        self.assertTrue(any(list(path) == way[way.index("main"):] for way in ways if "main" in way), ways[:3])

    def test_first_touch(self):
        document = self.check("first-touch", "first touch", "anonymous")
        self.check_stack(document, "main", "count", "writes_each")
        self.assertGreaterEqual(group(document, "first touch", "anonymous")["pages"], PAGES)

    def test_pages_that_are_unmapped_at_once(self):
        self.check("unmapped", "first touch", "anonymous")

    def test_returned_memory_touched_again(self):
        document = self.check("again", "first touch", "anonymous", 5 * PAGES, each=5)
        self.assertIn("returned to the system and requested again", document["advice"])

    def test_copy_on_write_after_fork(self):
        document = self.check("copy-on-write", "copy on write", "anonymous")
        self.check_stack(document, "main", "copy_on_write", "count", "writes_each")

    def test_shared_memory(self):
        self.check("shared", "first touch", "shared memory")

    def test_the_heap(self):
        document, (begin, end), counted = self.measure("heap")
        addresses = [
            f["address"] & -PAGE for f in faults_of(document, "first touch", "[heap]") if begin <= f["address"] < end
        ]
        self.assertEqual(len(addresses), len(set(addresses)))
        self.assertEqual((len(addresses), counted), (PAGES - 1, PAGES - 1))

    def test_a_mapped_file(self):
        document, (begin, end), counted = self.measure("file", pause=0.1)
        of_file = faults_of(document, "file", os.path.realpath(self.file))
        # The kernel maps several pages at once.
        self.assertEqual(len([f for f in of_file if begin <= f["address"] < end]), counted)
        self.assertTrue(1 <= counted <= PAGES, counted)

    def test_write_notices(self):
        document, (begin, end), counted = self.measure("write-notice", pause=0.1)
        notices = [
            f for f in faults_of(document, "write notice", os.path.realpath(self.file)) if begin <= f["address"] < end
        ]
        if counted == 0:
            self.skipTest("the file system of build/ takes no notices of written pages")
        self.assertEqual((counted, len(notices)), (PAGES, PAGES))

    def test_stacks_of_threads(self):
        for does in ("stack", "thread-stack"):
            document, (begin, end), counted = self.measure(does)
            of_stack = [
                f for f in faults_of(document, "first touch", "thread stack") if begin <= f["address"] & -PAGE < end
            ]
            self.assertTrue(counted - 2 <= len(of_stack) <= counted, (counted, len(of_stack)))
            self.assertTrue(PAGES - 40 <= counted <= PAGES + 2, counted)

    def test_huge_pages(self):
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as f:
            if "[never]" in f.read():
                self.skipTest("huge pages are switched off on this machine")
        document, (begin, end), counted = self.measure("huge", pages=2048)
        if counted > 8:
            self.skipTest("this machine has no free huge page of 2 MB")
        addresses = sorted(
            f["address"] for f in faults_of(document, "first touch", "anonymous") if begin <= f["address"] < end
        )
        self.assertEqual(addresses, list(range(begin, end, 2 << 20)))
        self.assertEqual(counted, 4)

    def test_by_the_kernel(self):
        document = self.check("by-kernel", "first touch", "anonymous")
        self.assertEqual(group(document, "first touch", "anonymous")["by_kernel"], PAGES)

    def test_a_command_from_its_first_instruction(self):
        output = observe("faults", "--json", "--", self.faults, "again", PAGES, "at-once").stdout
        first, rest = output.split("\n", 1)
        begin, end, counted = map(int, first.split()[1:])
        measured = [f for f in json.loads(rest)["records"] if begin <= f["address"] < end]
        self.assertEqual((len(measured), counted), (5 * PAGES, 5 * PAGES))

    def test_an_idle_program_gets_no_advice(self):
        with Started(self.faults, "idle") as process:
            with Looking("faults", "-p", process.pid, "-s", 1) as looking:
                document = looking.rest()
        self.assertEqual(document["faults"], 0)
        self.assertIsNone(document["advice"])
        self.assertIn("no page faults", document["answer"])

    def test_fewer_stacks_than_faults(self):
        document, (begin, end), _ = self.measure("first-touch", "--stacks", 10)
        self.assertEqual(len([f for f in document["records"] if begin <= f["address"] < end]), PAGES)
        self.assertIn(document["stacks"], (10, 20))
        self.assertIn("--stacks 10", str(document["skipped"]))

    def test_two_observers(self):
        with Started(self.faults, "first-touch", str(PAGES)) as process:
            with Looking("faults", at=process) as first, Looking("faults", at=process) as second:
                begin, end, _ = map(int, do(process))
                done(process)
                for looking in (first, second):
                    measured = [f for f in looking.rest()["records"] if begin <= f["address"] < end]
                    self.assertEqual(len(measured), PAGES)

    def test_killed_observer_and_killed_target(self):
        with Started(self.faults, "first-touch", str(PAGES)) as process:
            with Looking("faults", at=process) as looking:
                looking.kill()
            do(process)
            with Looking("faults", at=process) as looking:
                process.kill()
                self.assertTrue(looking.rest()["target_ended"])

    def test_in_a_container(self):
        with Started(*container(self.faults, "first-touch", str(PAGES))) as process:
            with Looking("faults", at=within(process)) as looking:
                begin, end, _ = map(int, do(process))
                process.stdin.close()
                document = looking.rest()
        self.assertEqual(len([f for f in document["records"] if begin <= f["address"] < end]), PAGES)
        self.check_stack(document, "main", "count", "writes_each")

    @needs_nobody
    def test_without_root(self):
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, self.faults, "idle") as process:
            self.refused(3, "run as root", "-s", 1, "-p", process.pid, before=NOBODY)

    def test_text_and_page(self):
        page = os.path.join(self.folder.name, "page.html")
        with Started(self.faults, "again", str(PAGES)) as process:
            with Looking("faults", "-o", page, at=process, json=False) as looking:
                do(process)
                done(process)
                output = looking.rest()
        for part in ("first touch in anonymous", "To avoid most of them", "writes_each", "first touch"):
            self.assertIn(part, output)
        self.assertIn("writes_each", text_of(page))


class Java(OfOneJdk):
    program = "Calls"

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()

    def measure(self, *options):
        with Started(*self.java, *options, "Calls", "100") as process:
            with Looking("faults", at=process) as looking:
                do(process, "allocate")
                time.sleep(0.1)
                document = looking.stop()
                done(process)
        return document

    def test_heap_and_code_cache(self):
        # A young generation of 64 MB, used from its beginning to its end.
        document = self.measure(
            "-XX:+UseSerialGC", "-Xmn80m", "-Xms128m", "-Xmx128m", "-XX:-UseTransparentHugePages", "-Xbatch"
        )
        heap = group(document, "first touch", "Java heap")
        self.assertTrue(40 << 20 <= heap["pages"] * PAGE <= 100 << 20, heap)
        self.assertIn("AlwaysPreTouch", document["advice"])
        self.assertTrue(any("Calls.allocates" in name for _, way in stacks(document) for name, _ in way))

    def test_touched_at_the_start(self):
        document = self.measure("-XX:+UseSerialGC", "-Xmn80m", "-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch")
        self.assertEqual([g for g in document["by_area"] if g["area"] == "Java heap" and g["faults"] > 50], [])

    def test_the_other_collectors(self):
        for collector in ("-XX:+UseG1GC", "-XX:+UseZGC"):
            document = self.measure(collector, "-Xms512m", "-Xmx512m")
            pages = sum(g["pages"] for g in document["by_area"] if g["area"] == "Java heap")
            self.assertGreater(pages * PAGE, 30 << 20, (collector, document["by_area"]))


class Java17(Java, unittest.TestCase):
    version = "17"


class Java25(Java, unittest.TestCase):
    version = "25"


if __name__ == "__main__":
    twice.main()
