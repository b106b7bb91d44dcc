"""The page of yunti capacity: its sliders against the simulation, and in a browser.

    YUNTI_CAPACITY=target/capacity/release/yunti-capacity python3 capacity/tests/page_test.py

Takes about 15 seconds; no process is measured. Demands are made here.
"""

import html
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CAPACITY = os.environ.get("YUNTI_CAPACITY", os.path.join(ROOT, "dist/libexec/yunti-capacity"))
NODE = shutil.which("node")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>document.title='taken'</script>&'\"" + "\U0001f600" + "w" * 1500
PATIENCE = 120  # seconds of a browser on a busy machine


def demands(seed=1, **changes):
    """Returns demands of a service with a pool around a call, a lock on the processor, and collections."""
    draw = random.Random(seed)
    templates = []
    for _ in range(300):
        steps = [["cpu", round(draw.uniform(1, 2), 3)], ["acquire", 0], ["cpu", 0.5], ["release", 0],
                 ["acquire", 1], ["wait", 2, round(draw.expovariate(1 / 10), 3)], ["release", 1],
                 ["wait", 3, round(draw.uniform(10, 20), 3)], ["cpu", 0.5]]
        templates.append({"kind": 0, "ms": 30, "steps": steps})
    mega = 1 << 20
    document = {
        "version": 1, "seconds": 15, "process": {"pid": 4711, "name": "java shop.jar", "runtime": "jvm"},
        "requests": {"count": 1500, "per_second": 100, "kinds": [{"name": "/search", "count": 1500}]},
        "processors": {"count": 2}, "workers": {"name": "http", "limit": 48},
        "gc": {"collector": "Parallel", "pause_ms_per_request": 0.1, "cpu_ms_per_request": 0.2,
               "collections_per_request": 0.02, "pause_ms_mean": 5, "allocated_bytes_per_request": mega,
               "eden_bytes": 50 * mega, "survivor_bytes": 8 * mega, "heap_bytes": 1024 * mega,
               "live_bytes_after_old": 100 * mega},
        "in_process": [[1, 4.0, 150], [2, 4.0, 280], [3, 4.0, 420], [4, 3.0, 400]],
        "resources": [{"id": 0, "kind": "lock", "name": "com.shop.Stock", "parallelism": 1},
                      {"id": 1, "kind": "pool", "name": "com.shop.Pool.borrow", "parallelism": 3},
                      {"id": 2, "kind": "remote", "name": "10.0.0.7:5432"},
                      {"id": 3, "kind": "remote", "name": "10.0.0.8:8080"}],
        "templates": templates,
    }
    return {**document, **changes}


def run(*arguments, expect=0):
    """Runs the command; returns its standard output, or its standard error if it is to fail."""
    done = subprocess.run([CAPACITY, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != expect:
        raise AssertionError(f"{arguments} gave {done.returncode}, not {expect}: {done.stdout} {done.stderr}")
    return done.stderr if expect else done.stdout


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="yunti-capacity-page-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.demands = cls.file("demands.json", demands())
        cls.page = os.path.join(cls.folder.name, "page.html")
        cls.json = json.loads(run("--demands", cls.demands, "-o", cls.page, "--json"))

    @classmethod
    def file(cls, name, document):
        path = os.path.join(cls.folder.name, name)
        with open(path, "w") as f:
            json.dump(document, f)
        return path

    def read(self, path=None):
        with open(path or self.page) as f:
            return f.read()


class Output(Page):
    def test_page_and_document_are_the_same_answer(self):
        page, peak = self.read(), self.json["curve"]["peak_now"]["value"]
        self.assertIn(f"{peak:.0f}", page)
        for sentence in self.json["advice"]["sentences"]:
            self.assertIn(sentence["text"], html.unescape(page))
        self.assertEqual(self.json["process"]["pid"], 4711)

    def test_another_mix_of_requests(self):
        slow = [{**one, "kind": 1, "steps": [*one["steps"], ["acquire", 0], ["cpu", 5], ["release", 0]]}
                for one in demands()["templates"]]
        mixed = demands(templates=demands()["templates"] + slow, requests={
            "count": 1500, "per_second": 100,
            "kinds": [{"name": "GET /search", "count": 1200}, {"name": "GET /report", "count": 300}]})
        path = self.file("mixed.json", mixed)
        kinds = json.loads(run("--demands", path, "--json"))["kinds"]
        shares = [(kind["name"], kind["share"]) for kind in kinds]
        self.assertEqual(shares, [("GET /search", 0.8), ("GET /report", 0.2)])
        self.assertAlmostEqual(kinds[1]["necessary_ms"] - kinds[0]["necessary_ms"], 5, delta=0.01)
        self.assertRegex(run("--demands", path), r"20 % .* GET /report")
        self.assertRegex(run("--demands", path, "-o", f"{self.folder.name}/mixed.html"), r"GET /search")
        self.assertIn("GET /report", self.read(f"{self.folder.name}/mixed.html"))
        changes = ["share GET /report x2", "without GET /report"]
        answers = json.loads(run("what-if", "--demands", path, "--json", *changes))["answers"]
        more, none = (answer["after"]["response"] for answer in answers[:2])
        self.assertEqual((more["per_second"], none["per_second"]), (100, 80))
        self.assertGreater(more["mean_ms"], none["mean_ms"] + 1)
        for wrong in ("share /nowhere x2", "share GET /report x6", "without /", "share GET /report +2"):
            errors = run("what-if", "--demands", path, wrong, expect=2)
            self.assertIn("GET /report" if "nowhere" in wrong else wrong, errors)

    def test_an_output_that_cannot_be_written_fails_first(self):
        # A measurement of this process would fail with another code.
        for flags in (["-p", str(os.getpid()), "-o", "/nowhere/page.html"],
                      ["-p", str(os.getpid()), "--save", "/nowhere/demands.json"],
                      ["--demands", self.demands, "-o", self.folder.name]):
            self.assertRegex(run(*flags, expect=5), "cannot write")

    def test_the_demands_are_not_overwritten_by_the_page(self):
        before = self.read(self.demands)
        self.assertIn("name two files", run("--demands", self.demands, "-o", self.demands, expect=2))
        self.assertEqual(self.read(self.demands), before)

    def test_no_page_without_an_answer(self):
        path = os.path.join(self.folder.name, "none.html")
        few = self.file("few.json", demands(templates=demands()["templates"][:3]))
        self.assertIn("no answer", run("--demands", few, "-o", path, expect=3))
        self.assertFalse(os.path.exists(path))


@unittest.skipUnless(NODE, "there is no node")
class Sliders(Page):
    """Functions of the page, called without a browser."""

    def evaluate(self, *changes, page=None):
        """Returns the answers of the page for values of sliders; the first is without a change."""
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.read(page), re.S).group(1)
        script = re.search(r"<script>(.*?)</script>", self.read(page), re.S).group(1)
        program = f"{script}\nconst page = {data};\n" \
                  f"console.log(JSON.stringify({json.dumps([{}, *changes])}.map((values) => evaluate(page, values))))"
        done = subprocess.run([NODE, "-e", program], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_without_a_change_it_is_the_simulated_curve(self):
        [now] = self.evaluate()
        curve = self.json["curve"]
        found = {clients: rate for clients, rate in now["curve"]}
        for point in curve["points"]:
            simulated = (point["low"] + point["high"]) / 2
            self.assertAlmostEqual(found[point["simulated"]["clients"]] / simulated, 1, 9)
        self.assertAlmostEqual(now["peak"], curve["peak"]["value"], 6)
        self.assertAlmostEqual(now["peakNow"], curve["peak_now"]["value"], 6)
        self.assertEqual(now["threads"], curve["threads"]["value"])
        self.assertIn(curve["bottleneck"]["first"]["name"], now["bottleneck"])
        self.assertAlmostEqual(now["response"], self.json["advice"]["prospect"]["response"]["mean_ms"], 6)

    def test_changes_are_near_the_simulation(self):
        pairs = [({"size-1": 6}, ["pool 6"]), ({"cpus": 4, "size-1": 12}, ["cpu 4", "pool 12"]),
                 ({"time-2": 0.5}, ["remote 5432 x0.5"]), ({"time-3": 2}, ["remote 8080 x2"]),
                 ({"cpu-time": 0.5, "size-1": 8}, ["cpu x2", "pool 8"]), ({"threads": 5}, ["threads 5"])]
        found = self.evaluate(*(values for values, _ in pairs))[1:]
        for (values, changes), page in zip(pairs, found):
            document = json.loads(run("what-if", "--demands", self.demands, "--json", *changes))
            after = document["answers"][-1]["after"]
            with self.subTest(values):
                figures = [("peak", page["peakNow"], after["peak"]["value"], 0.15),
                           ("threads", page["threads"], after["threads"]["value"], 0.35)]
                if page["response"] and not after["response"]["saturated"]:
                    figures.append(("response", page["response"], after["response"]["mean_ms"], 0.25))
                for name, computed, simulated, tolerance in figures:
                    self.assertLess(abs(computed / simulated - 1), tolerance, f"{name}: {computed}, not {simulated}")

    def test_sliders_at_their_ends_give_numbers(self):
        sliders = json.loads(re.search(r'id="data">(.*?)</script>', self.read(), re.S).group(1))["sliders"]
        self.assertGreater(len(sliders), 8)
        ends = [{slider["id"]: slider["values"][end]} for slider in sliders for end in (0, -1)]
        ends += [{slider["id"]: slider["values"][end] for slider in sliders} for end in (0, -1)]
        for values, found in zip([{}, *ends], self.evaluate(*ends)):
            numbers = [found["peak"], found["peakNow"], found["threads"], *(rate for _, rate in found["curve"])]
            self.assertTrue(all(isinstance(n, (int, float)) and 0 < n < 1e7 for n in numbers), (values, found))


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class Browser(Page):
    def open(self, page, fragment="", width=1200):
        """Returns the document as the browser shows it, and what it wrote to its console."""
        with tempfile.TemporaryDirectory(prefix="yunti-chromium-") as profile:
            flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
                     "--virtual-time-budget=5000", f"--user-data-dir={profile}", f"--window-size={width},2000"]
            done = subprocess.run([CHROMIUM, *flags, f"file://{page}{fragment}"], capture_output=True, text=True,
                                  timeout=PATIENCE)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def text(self, document, element):
        found = re.search(rf'<(\w+)[^>]* id="{element}"[^>]*>(.*?)</\1>', document, re.S)
        return html.unescape(re.sub(r"<[^>]*>", "", found.group(2)))

    def test_sliders_change_the_numbers(self):
        before, console = self.open(self.page)
        self.assertEqual(console, [])
        now = float(self.text(before, "if-peak"))
        self.assertAlmostEqual(now, self.json["curve"]["peak_now"]["value"], delta=1)
        self.assertEqual(self.text(before, "if-command"), "")
        after, console = self.open(self.page, "#size-1=6&cpus=4&nothing=1&threads=x")
        self.assertEqual(console, [])
        self.assertGreater(float(self.text(after, "if-peak")), 1.5 * now)
        command = "yunti capacity what-if -p 4711 'cpu 4' 'pool com.shop.Pool.borrow 6'"
        self.assertIn(command, self.text(after, "if-command"))
        self.assertIn('aria-valuetext="6 (now 3)"', after)
        self.assertIn('class="changed"', after)

    def test_names_stay_text(self):
        document = demands(process={"pid": 1, "name": HOSTILE, "runtime": ""})
        for resource in document["resources"]:
            resource["name"] = HOSTILE
        page = os.path.join(self.folder.name, "hostile.html")
        run("--demands", self.file("hostile.json", document), "-o", page)
        shown, console = self.open(page, "#size-1=6", width=400)
        self.assertEqual(console, [])
        self.assertEqual(shown.count("<script"), 2)
        self.assertNotIn("<title>taken", shown)
        self.assertNotIn("w" * 200, re.sub(r"<title.*?</title>", "", shown))
        # A copy of the page says by how much its content is wider than the window.
        copy = os.path.join(self.folder.name, "copy.html")
        with open(copy, "w") as out:
            out.write(self.read(page).replace("</body>", "<script>document.body.dataset.wide = "
                                              "document.documentElement.scrollWidth - innerWidth</script></body>"))
        for width in (500, 1200):
            shown, _ = self.open(copy, width=width)
            self.assertLessEqual(int(re.search(r'data-wide="(-?\d+)"', shown).group(1)), 0, width)


if __name__ == "__main__":
    unittest.main()
