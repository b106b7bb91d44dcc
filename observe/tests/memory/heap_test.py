"""`yunti observe heap` on dumps of JVMs whose memory is known."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import HERE, InAFolder, Started, answer, compiled, java_versions, observe  # noqa: E402

ORDERS = 20_000
OFFERS = 30_000


class Heaps(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        compiled(cls.folder.name, "Warehouse")
        compiled(cls.folder.name, "Market")
        compiled(cls.folder.name, "Growth")
        cls.dumps = {}

    def dump(self, home, name="", orders=ORDERS):
        """Returns the path of a dump of the warehouse."""
        return self.dump_of(home, name, "Warehouse", str(orders))

    def dump_of(self, home, name, *program):
        """Returns the path of a dump, which is written once."""
        path = os.path.join(self.folder.name, f"{os.path.basename(home)}{name}.hprof")
        if not os.path.exists(path):
            java = os.path.join(home, "bin/java")
            with Started(java, "-Xmx200m", "-cp", self.folder.name, *program) as process:
                dumped = [os.path.join(home, "bin/jcmd"), str(process.pid), "GC.heap_dump", path]
                subprocess.run(dumped, check=True, capture_output=True)
        return path

    def market(self, home):
        return answer("heap", self.dump_of(home, "-market", "Market", self.folder.name + "/"))

    def each(self):
        self.assertTrue(java_versions())
        return java_versions().values()

    def test_the_cache_is_the_suspect(self):
        for home in self.each():
            document = answer("heap", self.dump(home))
            suspect = document["suspects"][0]
            self.assertRegex(suspect["object"], r"^java\.util\.HashMap @0x")
            self.assertEqual((suspect["held_in"], suspect["entries"]), ("static field Warehouse$Cache.ENTRIES", ORDERS))
            self.assertEqual(suspect["entry_class"], "Warehouse$Order")
            self.assertIn("class Warehouse$Cache static ENTRIES", suspect["path"][1])
            self.assertIn("held by java.util.HashMap", document["answer"])
            classes = {row["class"]: row for row in document["classes"]}
            self.assertEqual(classes["Warehouse$Order"], {"class": "Warehouse$Order", "objects": ORDERS, "bytes": ORDERS * 24})
            self.assertGreater(suspect["retained_bytes"], ORDERS * (24 + 216 + 24 + 32))
            # What is held by all is what there is.
            top = sum(row["retained_bytes"] for row in document["dominators"])
            self.assertLessEqual(top, document["bytes"])

    def test_threads_hold_their_locals(self):
        for home in self.each():
            threads = {row["thread"]: row for row in answer("heap", self.dump(home))["threads"]}
            holder = threads["holder"]
            self.assertGreater(holder["retained_bytes"], 400_000)
            self.assertIn("int[] @", holder["locals"][0]["object"])
            self.assertTrue(any("Warehouse.hold" in frame for frame in holder["frames"]), holder["frames"])

    def test_objects_that_two_maps_share_are_a_group(self):
        for home in self.each():
            document = self.market(home)
            # Both classes have the same loader, which holds all.
            [group, *_] = [group for suspect in document["suspects"] for group in suspect["groups"]] + document["groups"]
            self.assertEqual((group["class"], group["objects"]), ("Market$Offer", OFFERS))
            # Each has 16 to 24 bytes, and its picture.
            self.assertTrue(OFFERS * 232 <= group["retained_bytes"] <= OFFERS * 248, group)
            self.assertEqual(
                sorted(group["holders"]),
                [
                    "java.util.HashMap in static field Market$ById.OFFERS",
                    "java.util.TreeMap in static field Market$ByName.OFFERS",
                ],
            )
            self.assertRegex(document["answer"], "30,000 objects of Market[$]Offer, .*shared by")

    def test_waiting_requests_are_a_kind_of_threads(self):
        for home in self.each():
            kinds = {row["name"]: row for row in self.market(home)["kinds_of_threads"]}
            kind = kinds["exec-#"]
            self.assertEqual((kind["threads"], kind["method"]), (6, "Market.ask"), kind)
            self.assertEqual(kind["state"], "waits for a socket")
            self.assertGreaterEqual(kind["retained_bytes"], 6 * 200_000)
            self.assertEqual(kind["largest_local"]["class"], "byte[]")

    def test_class_loaders_with_the_same_classes(self):
        for home in self.each():
            document = self.market(home)
            loaders = [row for row in document["class_loaders"] if "plugins-" in row["object"]]
            self.assertEqual([(row["classes"], row["alike"]) for row in loaders], [(1, 3)] * 3)
            for row in loaders:
                self.assertGreaterEqual(row["retained_bytes"], 100_000)
            self.assertEqual(document["same_classes"]["loaders"], 3)
            self.assertGreaterEqual(document["same_classes"]["retained_bytes"], 300_000)

    def test_waste_is_counted(self):
        for home in self.each():
            wastes = {row["kind"]: row for row in answer("heap", "--waste", self.dump(home))["wastes"]}
            self.assertGreaterEqual(wastes["copies of equal strings"]["objects"], ORDERS - 10)
            self.assertGreaterEqual(wastes["empty java.util.ArrayList"]["objects"], 5_000)
            empty = wastes["empty java.util.concurrent.ConcurrentHashMap"]["objects"]
            self.assertTrue(3_000 <= empty < 4_000, empty)
            self.assertGreaterEqual(wastes["collections of one element"]["objects"], 3_000)
            # A table of 16 slots with one entry, and a deque of 10 or 17 with one.
            self.assertGreaterEqual(wastes["unused slots of collections less than a quarter full"]["objects"], 6_000)
            self.assertGreaterEqual(wastes["arrays of zeros"]["objects"], ORDERS + 5_000)
            self.assertGreaterEqual(wastes["outside the heap: direct buffers"]["bytes"], 1_234_567)

    def test_a_second_dump_shows_growth(self):
        for home in self.each():
            old = self.dump(home, "-old", ORDERS // 2)
            document = answer("heap", "--diff", old, self.dump(home))
            changes = {row["class"]: row for row in document["changes"]}
            self.assertEqual(changes["Warehouse$Order"]["objects"], ORDERS // 2)
            self.assertGreater(max(row["held_bytes"] for row in document["changes"]), ORDERS // 2 * 240)
            self.assertIn("byte[] grew most", document["answer"])

    def test_compressed_and_redacted_dumps_have_the_same_heap(self):
        for home in self.each():
            plain = self.dump(home)
            zipped = plain + ".gz"
            with open(zipped, "wb") as out:
                subprocess.run(["gzip", "-1c", plain], stdout=out, check=True)
            copy = plain + ".copy"
            observe("heap", "--redact", copy, plain)
            whole = answer("heap", plain)
            for other in (zipped, copy):
                document = answer("heap", other)
                self.assertEqual(document["classes"], whole["classes"])
                self.assertEqual(document["suspects"], whole["suspects"])
            with open(copy, "rb") as f:
                self.assertNotIn(b"order-17", f.read())

    def test_text_and_page(self):
        for home in self.each():
            page = os.path.join(self.folder.name, "page.html")
            text = observe("heap", self.dump(home), "-o", page, "--top", "3").stdout
            self.assertIn("Classes by the bytes of their objects", text)
            with open(page, encoding="utf-8") as f:
                html = f.read()
            self.assertIn('class="treemap"', html)
            # From the class down to the table of its map.
            path = [r"class Warehouse\$Cache", r"static ENTRIES java.util.HashMap @\w+", r"table java.util.HashMap\$Node\[\] @\w+"]
            self.assertRegex(html, ".*".join(f"<summary><b>[^<]*</b><span>[^<]*{one}</span></summary>" for one in path[:2]))
            self.assertRegex(html, path[2])

    def test_queries(self):
        for home in self.each():
            dump = self.dump(home)

            def rows(text):
                document = answer("heap", dump, "--query", text)
                return document["found"], document["rows"]

            classes = {row["class"]: row for row in answer("heap", dump)["classes"]}
            orders = classes["Warehouse$Order"]
            sums = "select count(*), sum(@usedHeapSize), max(o.picture.@length) from Warehouse$Order o"
            self.assertEqual(rows(sums), (ORDERS, [[ORDERS, orders["bytes"], 200]]))
            # Each tenth text, by a string behind a field.
            found, some = rows("select toString(o.id), o.picture.@length as n from Warehouse$Order o where toString(o.id) = 'one of 3' limit 4")
            self.assertEqual((found, some), (ORDERS // 10, [["one of 3", 200]] * 4))
            self.assertEqual(rows("select count(*) from Warehouse$Order where toString(id) like 'one of %'")[1], [[ORDERS]])
            self.assertEqual(rows("select count(*) from Warehouse$Order where not toString(id) like '%3' and 1 + 2 * 3 = 7")[1], [[ORDERS * 9 // 10]])
            largest = rows("select @class, size, @retainedHeapSize from instanceof java.util.AbstractMap order by @retainedHeapSize desc limit 2")[1]
            self.assertEqual(largest[0][:2], ["java.util.HashMap", ORDERS])
            self.assertGreater(largest[0][2], largest[1][2])
            longs = classes["long[]"]["objects"]
            self.assertGreaterEqual(longs, 5_000)
            self.assertGreaterEqual(rows("select count(*) from long[] a where a.@length = 10 and a[9] = 0")[1][0][0], 5_000)
            self.assertEqual(rows("select count(*) from \"Warehouse$Or*\"")[0], ORDERS)
            self.assertEqual(rows("select c.LOCK from java.lang.Class c where c.LOCK != null and c.DIRECT != null")[0], 1)

    def test_wrong_queries_have_their_place(self):
        dump = self.dump(next(iter(self.each())))
        for text, says in (
            ("select * of x", "expected 'from'.* character 14"),
            ("select * from Order", "no class 'Order'.* the dump has Warehouse[$]Order"),
            ("select * from a where b >", "expected a field.* at the end"),
        ):
            run = observe("heap", dump, "--query", text, code=2)
            self.assertRegex(run.stderr, says)
            self.assertEqual(run.stderr.count("\n"), 1)

    def started(self, home, program, *arguments):
        return Started(os.path.join(home, "bin/java"), "-Xmx400m", "-cp", self.folder.name, program, *arguments)

    def test_a_live_jvm_has_the_classes_of_its_dump(self):
        for home in self.each():
            dumped = {row["class"]: row for row in answer("heap", self.dump(home))["classes"]}
            with self.started(home, "Warehouse", str(ORDERS)) as process:
                live = answer("heap", process.pid, "-s", "0.5")
            classes = {row["class"]: row for row in live["classes"]}
            for name in ("Warehouse$Order", "java.util.HashMap$Node[]", "long[]", "java.util.LinkedList$Node"):
                row = {key: classes[name][key] for key in ("class", "objects", "bytes")}
                self.assertEqual(row, dumped[name])
            self.assertEqual(classes["Warehouse$Order"]["grown_objects"], 0)
            self.assertEqual((live["grew_most"], live["with_garbage"]), (None, False))
            memory = {row["what"]: row["bytes"] for row in live["memory"]}
            self.assertGreater(memory["resident memory of the process"], live["bytes"])

    def test_growth_of_a_live_jvm_has_its_class_and_site(self):
        for home in self.each():
            with self.started(home, "Growth") as process:
                live = answer("heap", process.pid, "-s", "3")
            self.assertEqual(live["grew_most"], "Growth$Ticket")
            classes = {row["class"]: row for row in live["classes"]}
            tickets = classes["Growth$Ticket"]
            self.assertGreater(tickets["grown_objects"], 100)
            # Each ticket has one array of its own and one of its subject.
            arrays = classes["byte[]"]["grown_objects"]
            self.assertAlmostEqual(arrays / tickets["grown_objects"], 2, delta=0.3)
            # The garbage is a hundred times as much, and hardly survives.
            shares = {}
            for row in live["survivors"]:
                method = "churn" if "churn" in row["site"] else row["site"].split(" <- ")[0]
                shares[method] = shares.get(method, 0) + row["sampled_bytes"]
            self.assertGreater(live["survivor_samples"], 3)
            self.assertGreater(shares.get("Growth$Ticket.<init>", 0) + shares.get("Growth.open", 0), sum(shares.values()) / 2)

    def test_the_recorder_shows_what_keeps_survivors_alive(self):
        for home in self.each():
            with self.started(home, "Growth", "without garbage") as process:
                live = answer("heap", process.pid, "-s", "3", "--paths")
                files = [name for name in os.listdir("/tmp") if name.startswith(f".yunti-observe-{process.pid}-")]
                running = subprocess.run(
                    [os.path.join(home, "bin/jcmd"), str(process.pid), "JFR.check"], capture_output=True, text=True, check=True
                )
            tickets = [row for row in live["paths"] if row["class"] in ("Growth$Ticket", "byte[]", "java.lang.String")]
            self.assertTrue(tickets, live["paths"])
            for row in tickets:
                self.assertIn("static OPEN of class Growth", row["path"], row)
            self.assertEqual(files, [])
            self.assertIn("No available recordings", running.stdout)

    def test_options_of_a_dump_need_one(self):
        home = next(iter(self.each()))
        with self.started(home, "Warehouse", str(ORDERS)) as process:
            self.assertIn("--waste needs a heap dump", observe("heap", process.pid, "--waste", code=2).stderr)

    def test_errors_are_one_line(self):
        self.assertIn("--seconds is for a live JVM", observe("heap", __file__, "-s", "1", code=2).stderr)
        self.assertIn("is not a JVM", observe("heap", os.getpid(), code=2).stderr)
        self.assertIn("cannot read the heap dump", observe("heap", "/no/such/file", code=3).stderr)
        self.assertIn("is no heap dump", observe("heap", __file__, code=3).stderr)
        self.assertIn("is a directory", observe("heap", "/tmp", code=3).stderr)


@unittest.skipUnless(shutil.which("node"), "node is not installed")
class Snapshots(unittest.TestCase):
    """Heap snapshots of V8."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = os.path.join(cls.folder.name, "a.heapsnapshot")
        program = os.path.join(HERE, "targets/node/sessions.js")
        subprocess.run(["node", program, cls.path], check=True, capture_output=True)

    def test_the_sessions_and_the_history_are_the_suspects(self):
        document = answer("heap", self.path)
        sessions, history = document["suspects"][:2]
        self.assertRegex(sessions["object"], r"^Map @\d+$")
        self.assertEqual((sessions["holds"][0]["class"], sessions["holds"][0]["objects"]), ("Session", 20_000))
        self.assertIn("variable sessions", sessions["path"][1])
        self.assertRegex(history["object"], r"^Array @\d+$")
        self.assertEqual((history["holds"][0]["class"], history["holds"][0]["objects"]), ("Page", 30_000))
        self.assertRegex(" <- ".join(history["path"]), r"\.history <- .*\.audit")
        self.assertIn("(20,000 of Session); it is kept alive by", document["answer"])

    def test_keys_of_a_weak_map_hold_its_values(self):
        classes = {row["class"]: row for row in answer("heap", self.path)["classes"]}
        # 500 of 1,001 keys, and with them the sessions, are gone.
        self.assertEqual(classes["Session"]["objects"], 20_000 + 501)
        for row in answer("heap", self.path)["dominators"]:
            self.assertFalse(row["class"] == "WeakMap" and row["retained_bytes"] > 100_000, row)

    def test_all_bytes_are_counted_once(self):
        document = answer("heap", self.path)
        with open(self.path, encoding="utf-8") as f:
            raw = json.load(f)
        fields = raw["snapshot"]["meta"]["node_fields"]
        sizes = raw["nodes"][fields.index("self_size")::len(fields)]
        self.assertEqual(document["bytes"] + document["garbage_bytes"], sum(sizes))
        self.assertEqual(sum(row["bytes"] for row in document["classes"]), document["bytes"])

    def test_text_page_and_errors(self):
        page = os.path.join(self.folder.name, "page.html")
        self.assertIn("What keeps the suspects alive", observe("heap", self.path, "-o", page).stdout)
        with open(page, encoding="utf-8") as f:
            self.assertIn('class="treemap"', f.read())
        self.assertIn("--waste is for heap dumps of JVMs", observe("heap", "--waste", self.path, code=2).stderr)
        cut = os.path.join(self.folder.name, "cut.heapsnapshot")
        with open(self.path, "rb") as whole, open(cut, "wb") as out:
            out.write(whole.read(1_000_000))
        self.assertRegex(observe("heap", cut, code=4).stderr, "damaged: .*EOF.* the snapshot is cut")


if __name__ == "__main__":
    unittest.main()
