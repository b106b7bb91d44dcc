"""`yunti observe trace` on a program with known numbers and durations of calls."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from looking import (
    NOBODY,
    YUNTI,
    Looking,
    OfOneJdk,
    Refusals,
    Started,
    answer,
    container,
    do_all,
    document_in,  # noqa: E402
    folder_for_containers,
    left_in_container,
    needs_namespaces,
    needs_nobody,
    send_line,
    text_of,
    until,
    within,
)
import twice  # noqa: E402  (looking.py knows where it is)

MS = 1_000_000


def rows(document):
    """Returns call path -> row, by method names without packages."""
    found = {}

    def walk(level, way):
        for row in level:
            here = way + (row["method"],)
            found[here] = row
            walk(row["callees"], here)

    walk(document["tree"], ())
    return found


def counts(document):
    return {">".join(way): row["calls"] for way, row in rows(document).items()}


def histogram(process):
    """Returns the class histogram after a full collection."""
    return subprocess.run(
        ["jcmd", str(process.pid), "GC.class_histogram"], capture_output=True, text=True, check=True
    ).stdout


def left():
    return glob.glob("/tmp/.yunti-observe-*.jar") + glob.glob("/tmp/.yunti-observe-*.sock")


class Java(OfOneJdk, Refusals):
    observer, program = "trace", "Shop"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.java.append("Shop")
        # Shared by all tests that do not need a JVM of their own.
        cls.shop = cls.started(*cls.java)

    def tearDown(self):
        self.assertEqual(left(), [])

    def measure(self, lines, *words):
        with Looking("trace", *words, at=self.shop) as trace:
            do_all(self.shop, *lines)
            return trace.stop()

    def test_counts_times_and_the_tree(self):
        document = self.measure(["carts 5"], "Shop.Cart.*", "Cart.<init>", "Shop$Cart.price")
        self.assertEqual(
            counts(document), {"Shop$Cart.<init>": 5, "Shop$Cart.total": 5, "Shop$Cart.total>Shop$Cart.price": 15}
        )
        total, price = rows(document)[("Shop$Cart.total",)], rows(document)[("Shop$Cart.total", "Shop$Cart.price")]
        # 10 ms and three times 2 ms. Sleeps take a little longer, more so on a busy machine.
        self.assertGreaterEqual(total["total_ns"], 5 * 16 * MS)
        self.assertLess(total["p50_ns"], 30 * MS)
        self.assertGreaterEqual(price["p50_ns"], 2 * MS * 63 // 64)
        self.assertEqual(total["own_ns"] + price["total_ns"], total["total_ns"])
        self.assertLessEqual(total["p50_ns"], total["max_ns"])
        self.assertEqual(document["lost"], 0)
        self.assertEqual(document["skipped"], ["Shop$Cart.missing: native"])

    def test_recursion_is_one_row(self):
        document = self.measure(["recursive 50"], "Shop.recursive")
        self.assertEqual(counts(document), {"Shop.recursive": 51})
        row = rows(document)[("Shop.recursive",)]
        self.assertEqual(row["total_ns"], row["max_ns"])
        call, depth = document["longest"][0], 0
        while call["calls"]:
            call, depth = call["calls"][0], depth + 1
        self.assertEqual(depth, 50)

    def test_deep_recursion(self):
        document = self.measure(["recursive 5000"], "Shop.recursive")
        self.assertEqual(document["lost"] + counts(document)["Shop.recursive"], 5001)

    def test_exceptions(self):
        document = self.measure(["fails 10"], "Shop.fails", "--args")
        row = rows(document)[("Shop.fails",)]
        self.assertEqual((row["calls"], row["exceptions"]), (10, 5))
        thrown = [call for call in document["longest"] if call["thrown"]]
        self.assertEqual(
            {(call["arguments"], call["exception"]) for call in thrown},
            {("true", "java.lang.UnsupportedOperationException: on request")},
        )

    def test_constructors_after_their_super_calls(self):
        document = self.measure(["constructors 4"], "Shop.Base.<init>", "Shop.Derived.<init>", "--args")
        # Four of eight fail in the constructor of Base, before their own begins.
        self.assertEqual(counts(document), {"Shop$Base.<init>": 8, "Shop$Derived.<init>": 4})
        self.assertEqual(rows(document)[("Shop$Base.<init>",)]["exceptions"], 4)

    def test_arguments_and_results(self):
        document = self.measure(["values"], "Shop.echo", "Cart.locked", "Shop.recursive", "--args")
        output = {(call["arguments"], call.get("result")) for call in document["longest"]}
        long = '"' + "long" * 19 + "l.."
        shy = "Shop$Shy, whose toString throws java.lang.IllegalStateException"
        # Calls within toString are not recorded.
        self.assertEqual(
            output,
            {
                ("null", "null"),
                ('"text"', '"text"'),
                ("[1, 2]", "[1, 2]"),
                (shy, shy),
                ("nested 3", "nested 3"),
                (long, long),
                ("1, 2.0, 3, null", "6"),
            },
        )

    def test_only_long_calls(self):
        document = self.measure(
            ["waits 5", "waits 60", "carts 2", "waits 80"], "Shop.waits", "Shop.Cart.*", "--over", "40ms"
        )
        self.assertEqual(counts(document), {"Shop.waits": 2})
        document = self.measure(["carts 2", "waits 1"], "Shop.waits", "Shop.Cart.*", "--over", "12ms")
        self.assertEqual(counts(document), {"Shop$Cart.total": 2, "Shop$Cart.total>Shop$Cart.price": 6})

    def test_more_calls_than_the_limit(self):
        document = self.measure(["empty 100000"], "Shop.empty", "--max-calls", 1000)
        recorded = counts(document)["Shop.empty"]
        self.assertEqual(recorded + document["lost"], 100_000)
        self.assertGreaterEqual(recorded, 1000)
        self.assertLess(recorded, 5000)

    def test_many_threads(self):
        document = self.measure(["threads 40"], "Shop.recursive", "--max-calls", 100_000)
        self.assertEqual((counts(document), document["lost"]), ({"Shop.recursive": 8000}, 0))
        self.assertTrue(all(call["thread"].startswith("worker-") for call in document["longest"]))

    def test_classes_of_the_jdk_by_their_full_names(self):
        document = self.measure(["lists 100"], "java.util.ArrayList.add", "Shop.act")
        self.assertEqual(counts(document)["Shop.act>java.util.ArrayList.add"], 200)
        self.refused(3, "in full: java.util.ArrayList.add", "ArrayList.add", "-p", self.shop.pid)
        self.refused(3, "none of its methods can be traced", "java.lang.Thread.run", "-p", self.shop.pid)

    def test_a_class_that_is_loaded_later(self):
        with Started(*self.java) as shop, Looking("trace", "Late*.getAsInt", at=shop) as trace:
            do_all(shop, "later", "later")
            self.assertEqual(counts(trace.stop()), {"Later.getAsInt": 2})

    def test_a_command_from_its_beginning(self):
        with Looking("trace", "Later.getAsInt", "Shop.empty", "-s", 20, "--", *self.java) as trace:
            document = trace.rest(line="later\nempty 5\n")
        self.assertEqual(counts(document), {"Later.getAsInt": 1, "Shop.empty": 5})
        self.assertTrue(document["target_ended"])
        with Looking("trace", "Later.getAsInt", "Shop.empty", "-s", 1, "--", *self.java) as trace:
            send_line(trace.run, "empty 5")
            document = document_in(trace.run.stdout.read())
        self.assertEqual(counts(document), {"Shop.empty": 5})
        self.assertIn("Later.getAsInt: no method matched", document["skipped"][0])

    def test_a_command_that_ends_at_once(self):
        with tempfile.TemporaryDirectory() as here:
            for _ in range(5):
                # It may end before, during or after the attach; no file is left behind.
                words = [YUNTI, "observe", "trace", "Shop.empty", "--", *self.java]
                run = subprocess.run(
                    words, stdin=subprocess.DEVNULL, cwd=here, capture_output=True, text=True, timeout=60
                )
                self.assertIn(run.returncode, (0, 3), run.stderr)
            self.assertEqual(os.listdir(here), [])

    def test_methods_running_at_the_end(self):
        with Looking("trace", "Shop.waits", at=self.shop) as trace:
            do_all(self.shop, "background 3000")
            time.sleep(0.5)
            row = rows(trace.stop())[("Shop.waits",)]
        self.assertEqual((row["calls"], row["running"]), (0, 1))
        self.assertGreater(row["total_ns"], 400 * MS)

    def test_wrong_names(self):
        self.refused(3, "did you mean total?", "Cart.totl", "-p", self.shop.pid)
        self.refused(3, "the nearest loaded class is Shop$Cart", "com.shop.Carrt.total", "-p", self.shop.pid)
        self.refused(3, "no method matches 'Nowhere.x'", "Shop.empty", "Nowhere.x", "-p", self.shop.pid)
        self.refused(3, "Shop$Cart.missing: native", "Cart.missing", "-p", self.shop.pid)

    def test_methods_that_are_too_long(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "Long.java")
            with open(source, "w") as f:
                # 14 bytes per line, and 64 KB with the trace's code.
                lines = "s += 40000 + s;\n" * 4680
                f.write(f"class Long {{ static long s; static void fills() {{ {lines} }} static void fits() {{}}\n"
                        "public static void main(String[] a) throws Exception { System.out.println(\"ready\");"
                        "while (true) { fills(); fits(); Thread.sleep(20); } } }")
            subprocess.run(["javac", "--release", "17", "-d", folder, source], check=True)
            with Started(self.java[0], "-cp", folder, "Long") as process:
                document = answer("trace", "Long.f*", "-s", 0.5, "-p", process.pid)
        self.assertEqual(list(counts(document)), ["Long.fits"])
        self.assertIn("Long.fills: too long", str(document["skipped"]))

    def test_the_jvm_is_restored(self):
        with Started(*self.java) as shop:
            before = float(do_all(shop, "cost")[0])
            with Looking("trace", "Shop.*", "Shop.Cart.*", at=shop) as trace:
                do_all(shop, "carts 1", "threads 20")
                during = float(do_all(shop, "cost")[0])
                self.assertIn("org.yunti", histogram(shop))
                trace.stop()
            after = min(float(do_all(shop, "cost")[0]) for _ in range(3))
            self.assertNotIn("yunti", histogram(shop))
            for path in glob.glob(f"/proc/{shop.pid}/task/*/comm"):
                self.assertNotIn("yunti", text_of(path))
        self.assertLess(during - before, 1000, "nanoseconds per call")
        self.assertLess(after, before * 3 + 5)

    def test_two_observers(self):
        with Looking("trace", "Shop.empty", at=self.shop) as trace:
            self.refused(3, "another trace is running", "Shop.recursive", "-p", self.shop.pid)
            do_all(self.shop, "empty 7")
            self.assertEqual(counts(trace.stop()), {"Shop.empty": 7})

    def test_killed_observer_leaves_nothing(self):
        with Looking("trace", "Shop.empty", at=self.shop) as trace:
            trace.kill()
            until(lambda: "org.yunti" not in histogram(self.shop))
        self.assertNotIn("yunti", histogram(self.shop))
        self.assertEqual(counts(self.measure(["empty 3"], "Shop.empty")), {"Shop.empty": 3})

    def test_a_target_that_ends(self):
        for end in ("exit", None):
            with Started(*self.java) as shop, Looking("trace", "Shop.empty", at=shop) as trace:
                do_all(shop, "empty 3")
                time.sleep(0.2)
                if end:
                    send_line(shop, end)
                else:
                    shop.kill()
                document = trace.rest()
            self.assertTrue(document["target_ended"])
            self.assertEqual(counts(document), {"Shop.empty": 3})

    @needs_namespaces
    def test_in_a_container(self):
        with folder_for_containers() as folder:
            shutil.copytree(self.folder.name, folder, dirs_exist_ok=True)
            with Started(*container(self.java[0], "-cp", folder, "Shop")) as process:
                pid = within(process)
                with Looking("trace", "Shop.empty", at=pid) as trace:
                    do_all(process, "empty 3")
                    document = trace.stop()
                files = left_in_container(pid)
        self.assertEqual((counts(document), files), ({"Shop.empty": 3}, []))

    @needs_nobody
    def test_without_root(self):
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, *self.java) as shop:
            for before in (NOBODY, []):
                with Looking("trace", "Shop.empty", at=shop, before=before) as trace:
                    do_all(shop, "empty 3")
                    self.assertEqual(counts(trace.stop()), {"Shop.empty": 3})

    def test_text_and_page(self):
        page = os.path.join(self.folder.name, "page.html")
        with Looking("trace", "Shop.Cart.*", "Shop.fails", "--args", "-o", page, at=self.shop, json=False) as trace:
            do_all(self.shop, "carts 40", "fails 2")
            output = trace.stop()
        self.assertRegex(output, r"ms  Shop\$Cart.total\(\) = 9  \[main\]\n.* ms    Shop\$Cart.price\(0\) = 0\n")
        self.assertIn("outermost calls not shown", output)
        self.assertIn("mean      p50      p99", output)
        text = text_of(page)
        self.assertIn("Shop$Cart.price", text)
        self.assertNotIn("http", text.replace("http-equiv", ""))


class Java17(Java, unittest.TestCase):
    version = "17"


class Java25(Java, unittest.TestCase):
    version = "25"

    def test_virtual_threads(self):
        document = self.measure(["virtual 5000"], "Shop.recursive", "--max-calls", 100_000)
        self.assertEqual((counts(document), document["lost"]), ({"Shop.recursive": 10_000}, 0))
        self.assertTrue(document["longest"][0]["thread"].startswith("virtual-"))


class Wrong(Refusals, unittest.TestCase):
    observer = "trace"

    def test_wrong_arguments_without_a_jvm(self):
        self.refused(2, "names no class", "total", "-p", "1")
        self.refused(2, "write Class.method", "Cart.total(int)", "-p", "1")
        self.refused(2, "no process is named", "Cart.total")
        self.refused(2, "is not a JVM", "Cart.total", "-p", os.getpid())
        self.refused(2, "unit", "Cart.total", "--over", "5", "-p", "1")
        self.refused(3, "no such program", "Cart.total", "--", "/nonexistent/program")
        self.refused(3, "no process 4194999", "Cart.total", "-p", "4194999")
        self.refused(3, "no process is called", "Cart.total", "--name", "surely-no-such-name")


if __name__ == "__main__":
    twice.main()
