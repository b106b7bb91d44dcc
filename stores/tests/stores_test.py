"""Jobs on stand-ins of S3 and of a web server, healthy and failing: right bytes or one line, and nothing half written.

YUNTI names the binary; `yunti-stores` stands in libexec beside its folder.
"""
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import azure
from stand_in import Answer, Faults, KEY, Object, Reset, SECRET, Server, cut_at, raises, reads

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))
FORMATS = os.environ.get("YUNTI_FORMATS") or glob.glob(os.path.join(os.path.dirname(YUNTI), "../lib/yunti/libyunti_formats.so"))
SLOW_DOWN = raises(lambda: Answer(503, "SlowDown", "Please reduce your request rate."))


def lines_of(seed, count):
    chosen = random.Random(seed)
    return b"".join(b"%08x the quick brown fox %d\n" % (chosen.getrandbits(32), n) for n in range(count))


class StoreTest(unittest.TestCase):
    is_s3 = True

    def setUp(self):
        self.server = Server(self.is_s3)
        self.addCleanup(self.server.__exit__)
        self.store = self.server.store
        self.store.buckets.add("bucket")
        self.folder = tempfile.mkdtemp(prefix="yunti-stores-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.env.update(HOME=self.folder, XDG_CACHE_HOME=self.folder, AWS_ACCESS_KEY_ID=KEY,
                        AWS_SECRET_ACCESS_KEY=SECRET, AWS_ENDPOINT_URL=self.server.address,
                        AWS_EC2_METADATA_DISABLED="true", TMPDIR=self.folder)

    def yunti(self, *words, code=0, env=()):
        done = subprocess.run([YUNTI, *words], env={**self.env, **dict(env)}, capture_output=True, text=True,
                              cwd=self.folder, timeout=120)
        shown = f"{words}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, code, shown)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        if code:
            self.assertEqual(done.stderr.count("\n"), 1, shown)
            self.assertTrue(done.stderr.startswith("yunti: "), shown)
        return done

    def local(self, data, job="sort", options=()):
        """Returns what the job makes of the bytes in a file of this machine."""
        with open(f"{self.folder}/local.txt", "wb") as f:
            f.write(data)
        self.yunti("run", job, *options, "local.txt", "-o", "local.out", "--overwrite", "-q")
        return self.parts("local.out")

    def parts(self, folder):
        paths = sorted(glob.glob(f"{self.folder}/{folder}/part-*"))
        self.assertTrue(os.path.exists(f"{self.folder}/{folder}/_SUCCESS"))
        return b"".join(pathlib.Path(path).read_bytes() for path in paths)

    def uploaded(self, prefix):
        self.assertIn(f"{prefix}/_SUCCESS", self.store.keys("bucket"))
        return b"".join(self.store.get("bucket", key) for key in self.store.keys("bucket", f"{prefix}/part-"))

    def assert_nothing_written(self, prefix="out"):
        self.assertEqual(self.store.keys("bucket", prefix), [])
        self.assertEqual(self.store.uploads, {})

    def assert_no_temporary_files(self):
        left = [name for name in os.listdir(self.folder) if "scratch" in name or "temporary" in name]
        self.assertEqual(left, [])


class Jobs(StoreTest):
    def test_a_job_from_a_bucket_to_a_bucket(self):
        data = lines_of(1, 400_000)
        cuts = [0, 1_000_003, 1_000_004, 9_000_000, len(data)]
        cuts = [0] + [data.index(b"\n", cut) + 1 for cut in cuts[1:-1]] + [len(data)]
        for i, (start, end) in enumerate(zip(cuts, cuts[1:])):
            self.store.put("bucket", f"in/{i % 2}/part {i}.txt", data[start:end])
        self.store.put("bucket", "in/_hidden", b"never read\n")
        want = self.local(data)
        self.yunti("run", "sort", "s3://bucket/in", "-o", "s3://bucket/out")
        self.assertEqual(self.uploaded("out"), want)
        self.assertEqual(self.store.uploads, {})
        self.assertTrue(len(want) > (8 << 20), "no file had several parts")
        done = [path for method, path, query, _ in self.store.log if method == "PUT" and "_SUCCESS" in path]
        last = [path for method, path, query, _ in self.store.log if method in ("PUT", "POST")][-1]
        self.assertEqual((done, last), (["bucket/out/_SUCCESS"], "bucket/out/_SUCCESS"))
        self.yunti("run", "sort", "s3://bucket/out", "-o", "again")
        self.assertEqual(self.parts("again"), want)
        self.assert_no_temporary_files()

    def test_globs_lists_of_many_pages_and_odd_names(self):
        self.store.max_keys = 7
        names = [f"logs/2026/{month:02}/{day:02}.log" for month in (1, 2) for day in range(1, 20)]
        for name in names + ["logs/2026/01/a b+c=&é.log", "logs/2025/01/x.log", "logs/2026/01/x.txt"]:
            self.store.put("bucket", name, f"{name.split('/')[1]}\n".encode())
        self.yunti("run", "wordcount", "s3://bucket/logs/2026/*/*.log", "-o", "out")
        self.assertEqual(self.parts("out"), b"2026\t39\n")
        # Only what is below the part without a wildcard is listed.
        lists = [query["prefix"] for *_, query, _ in self.store.log if query.get("list-type") == "2"]
        self.assertTrue(lists and all(prefix.startswith("logs/2026/") for prefix in lists), lists)
        self.yunti("run", "wordcount", "s3://bucket/logs/{2025,2026}/01", "-o", "out2")
        self.assertEqual(self.parts("out2"), b"2025\t1\n2026\t21\n")

    def test_an_output_is_replaced_only_with_overwrite(self):
        self.store.put("bucket", "in.txt", b"a b\n")
        self.store.put("bucket", "out/part-r-00007", b"old\n")
        self.store.put("bucket", "out/_SUCCESS", b"")
        self.assertIn("exists already", self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out",
                                                   code=8).stderr)
        self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out", "--overwrite")
        self.assertEqual(self.uploaded("out"), b"a\t1\nb\t1\n")

    def test_the_first_of_two_jobs_wins(self):
        self.store.put("bucket", "in.txt", b"a b\n")

        def other(handler, path, query):
            self.store.put("bucket", "out/_yunti/commit.json", b"{}")
        self.store.fault = Faults(other, matches=lambda h, path, q: path == "bucket/out/_yunti/commit.json")
        done = self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out", code=8)
        self.assertIn("another job committed this output first", done.stderr)
        self.assertEqual(self.store.keys("bucket", "out"), ["out/_yunti/commit.json"])
        self.assertEqual(self.store.uploads, {})

    def test_a_store_without_conditional_puts(self):
        self.store.conditional = False
        self.store.put("bucket", "in.txt", b"a b\n")
        self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out", "--store-option",
                   "s3.conditional.put=false")
        self.assertEqual(self.uploaded("out"), b"a\t1\nb\t1\n")

    def test_other_commands(self):
        self.yunti("generate", "tera", "--records", "200000", "-o", "s3://bucket/tera", "-q")
        self.yunti("run", "terasort", "s3://bucket/tera", "-o", "s3://bucket/sorted", "-q")
        self.assertIn("200,000", self.yunti("validate", "tera", "s3://bucket/sorted").stdout)
        self.assertIn("20 MB", self.yunti("inspect", "s3://bucket/sorted/part-r-00000").stdout)
        self.assertEqual(self.yunti("inspect", "s3://bucket/sorted", code=2).stdout, "")
        self.assertIn("terasort", self.yunti("report", "s3://bucket/sorted").stdout)
        self.store.put("bucket", "in.txt", b"a b\n")
        top = self.yunti("run", "top", "s3://bucket/in.txt")
        self.assertIn("a", top.stdout)

    def test_small_budgets_read_the_same(self):
        data = lines_of(2, 300_000)
        self.store.put("bucket", "in.txt", data)
        want = self.local(data)
        for memory, threads in (("16MiB", "1"), ("24MiB", "2"), ("1GiB", "4")):
            self.yunti("run", "sort", "s3://bucket/in.txt", "-o", "out", "--overwrite", "-m", memory, "-t", threads)
            self.assertEqual(self.parts("out"), want, memory)

    def test_several_outputs_and_many_parts(self):
        data = lines_of(3, 100_000)
        self.store.put("bucket", "in.txt", data)
        self.yunti("run", "sort", "s3://bucket/in.txt", "-o", "s3://bucket/out", "--reduces", "40")
        self.assertEqual(len(self.store.keys("bucket", "out/part-")), 40)
        self.assertEqual(sorted(self.uploaded("out").splitlines()), sorted(data.splitlines()))


class Credentials(StoreTest):
    def setUp(self):
        super().setUp()
        self.store.put("bucket", "in.txt", b"a b\n")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del self.env[name]
        os.mkdir(f"{self.folder}/.aws")

    def profile(self, file, text):
        with open(f"{self.folder}/.aws/{file}", "w") as f:
            f.write(text)

    def count(self, *options, **more):
        return self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "out", "--overwrite", *options, **more)

    def test_profiles(self):
        keys = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
        self.profile("credentials", f"[default]\n{keys}[other]\naws_access_key_id=x\naws_secret_access_key=y\n")
        self.profile("config", f"[profile work]\n{keys}[profile sso]\nsso_session = s\n")
        self.count()
        self.count("--store-option", "s3.profile=work")
        self.count(env={"AWS_PROFILE": "work"})
        self.assertIn("status 403; check the credentials",
                      self.count("--store-option", "s3.profile=other", code=3).stderr)
        self.assertIn("there is no profile 'none'", self.count("--store-option", "s3.profile=none", code=2).stderr)
        self.assertIn("aws configure export-credentials", self.count("-D", "store.s3.profile=sso", code=2).stderr)

    def test_none_and_anonymous(self):
        self.assertIn("there are no credentials for s3://", self.count(code=3).stderr)
        self.assertIn("status 403", self.count("--store-option", "s3.anonymous=true", code=3).stderr)
        self.store.private = False
        self.count("--store-option", "s3.anonymous=true")
        self.assertTrue(all("Authorization" not in headers for *_, headers in self.store.log))

    def test_secrets_are_not_settings(self):
        for name in ("s3.secret.access.key", "s3.session.token"):
            done = self.count("--store-option", f"{name}={SECRET}", code=2)
            self.assertIn("credentials do not go into settings", done.stderr)
        self.assertIn("there is no setting store.s3.endpont", self.count("-D", "store.s3.endpont=x", code=2).stderr)
        self.env.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
        self.assertIn("is no address", self.count("--store-option", "s3.endpoint=host:1", code=2).stderr)

    def test_no_secret_in_the_report(self):
        self.env.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
        self.count("--report", "report.json", "--html", "report.html")
        for path in glob.glob(f"{self.folder}/*.*") + glob.glob(f"{self.folder}/out/_yunti/*"):
            if os.path.isfile(path):
                with open(path, errors="replace") as f:
                    text = f.read()
                self.assertNotIn(SECRET, text, path)
                self.assertNotIn(KEY, text, path)

    def test_credentials_that_expire_while_the_job_runs(self):
        self.env.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
        expired = raises(lambda: Answer(400, "ExpiredToken", "The provided token has expired."))
        self.store.fault = Faults(expired, times=10**9, matches=reads)
        done = self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out", code=3)
        self.assertIn("get new credentials", done.stderr)
        self.assert_nothing_written()
        self.store.fault = Faults(expired, times=10**9, matches=lambda h, p, q: h.command in ("PUT", "POST"))
        done = self.yunti("run", "wordcount", "s3://bucket/in.txt", "-o", "s3://bucket/out", code=5)
        self.assertIn("get new credentials", done.stderr)
        self.assert_nothing_written()


class Reads(StoreTest):
    """Faults while objects are read: the same bytes."""

    def setUp(self):
        super().setUp()
        self.data = lines_of(4, 600_000)
        self.store.put("bucket", "in.txt", self.data)
        self.want = self.local(self.data)

    def sort(self, *options, **more):
        return self.yunti("run", "sort", "s3://bucket/in.txt", "-o", "out", "--overwrite", "--report", "report.json",
                          *options, **more)

    def check(self, fault, *options):
        self.store.fault = fault
        self.sort(*options)
        self.assertEqual(self.parts("out"), self.want)
        self.assertGreater(fault.struck, 0, "the fault never struck")
        with open(f"{self.folder}/report.json") as f:
            return json.load(f)

    def test_busy_stores(self):
        for status, code in ((503, "SlowDown"), (429, "TooManyRequests"), (500, "InternalError")):
            report = self.check(Faults(raises(lambda: Answer(status, code)), times=4))
            self.assertGreaterEqual(report["stores"]["retries"], 4)

    def test_resets(self):
        self.check(Faults(raises(Reset), times=4))

    def test_answers_that_break_off(self):
        for n in (0, 1, 70_000):
            self.check(Faults(cut_at(n), times=3, matches=reads))

    def test_lengths_that_are_wrong(self):
        def shorter(handler, *_):
            whole = handler.answer

            def answer(status, body=b"", headers=()):
                handler.answer = whole
                whole(status, body[:len(body) // 2], {**dict(headers), "Content-Length": str(len(body) // 2)})
            handler.answer = answer
        report = self.check(Faults(shorter, times=3, matches=reads))
        self.assertGreater(report["stores"]["retries"], 0)

    def test_other_ranges_than_requested(self):
        def shifted(handler, *_):
            start, end = handler.headers["Range"][6:].split("-")
            handler.headers.replace_header("Range", f"bytes={int(start) + 1}-{int(end) + 1}")
        self.check(Faults(shifted, times=2, matches=lambda h, p, q: reads(h, p, q) and "=0-" in h.headers["Range"]))

    def test_a_store_that_falls_silent(self):
        self.check(Faults(lambda *_: time.sleep(4), times=2, matches=reads), "--store-option", "timeout=1")

    def test_slow_bytes(self):
        self.store.put("bucket", "in.txt", self.data[:200_000])
        self.want = self.local(self.data[:200_000])
        self.store.bytes_s = 100_000
        self.check(Faults(lambda *_: None, times=9, matches=reads), "--store-option", "timeout=1")

    def test_a_store_that_stays_busy(self):
        self.store.fault = Faults(SLOW_DOWN, times=10**9, matches=reads)
        done = self.sort("--store-option", "retries=2", code=3)
        self.assertIn("SlowDown (Please reduce your request rate), after 3 tries", done.stderr)

    def test_an_object_that_changes(self):
        def change(handler, *_):
            self.store.put("bucket", "in.txt", self.data[::-1])
        self.store.fault = Faults(change, matches=reads, skip=2)
        done = self.yunti("run", "sort", "s3://bucket/in.txt", "-o", "s3://bucket/out", code=3)
        self.assertIn("the object changed while the job read it", done.stderr)
        self.assert_nothing_written()

    def test_an_object_that_changes_on_a_store_without_conditions(self):
        def change(handler, *_):
            self.store.put("bucket", "in.txt", self.data + b"more\n")

        def ignore(handler, *rest):
            del handler.headers["If-Match"]
            if handler.command == "GET":
                once(handler, *rest)
        once = Faults(change, matches=reads, skip=2)
        self.store.fault = ignore
        self.assertIn("changed while the job read it", self.sort(code=3).stderr)

    def test_an_object_that_is_removed(self):
        def remove(handler, *_):
            self.store.objects.pop(("bucket", "in.txt"), None)
        self.store.fault = Faults(remove, matches=reads, skip=2)
        self.assertIn("removed while the job read it", self.sort(code=3).stderr)

    def test_a_store_that_is_not_there(self):
        self.env["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
        done = self.sort("--store-option", "retries=1", code=3)
        self.assertIn("after 2 tries", done.stderr)

    def test_the_store_process_is_killed(self):
        """Ranges that it had are requested from a new one."""
        killed = []

        def kill(handler, *_):
            for entry in os.listdir("/proc"):
                try:
                    with open(f"/proc/{entry}/stat") as f:
                        stat = f.read()
                    if "(yunti-stores)" in stat and int(stat.rsplit(")", 1)[1].split()[1]) == self.running.pid:
                        os.kill(int(entry), signal.SIGKILL)
                        killed.append(entry)
                except (OSError, ValueError):
                    pass
        self.store.fault = Faults(kill, times=2, matches=reads, skip=2)
        words = [YUNTI, "run", "sort", "s3://bucket/in.txt", "-o", "out"]
        self.running = subprocess.Popen(words, env=self.env, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        error = self.running.communicate(timeout=60)[1]
        self.assertEqual(self.running.returncode, 0, error)
        self.assertTrue(killed)
        self.assertEqual(self.parts("out"), self.want)


class Writes(StoreTest):
    """Faults while an output is written: all of it, or nothing."""

    def setUp(self):
        super().setUp()
        self.data = lines_of(5, 600_000)
        with open(f"{self.folder}/in.txt", "wb") as f:
            f.write(self.data)
        self.want = self.local(self.data)

    def sort(self, *options, **more):
        return self.yunti("run", "sort", "in.txt", "-o", "s3://bucket/out", *options, **more)

    def test_faults_that_pass(self):
        def writes(h, p, q):
            return h.command in ("PUT", "POST")
        for fault in (Faults(SLOW_DOWN, times=5, matches=writes), Faults(raises(Reset), times=4, matches=writes),
                      Faults(SLOW_DOWN, times=3, matches=lambda h, p, q: h.command == "POST" and "uploadId" in q)):
            self.store.fault = fault
            self.sort("--overwrite")
            self.assertGreater(fault.struck, 0)
            self.assertEqual(self.uploaded("out"), self.want)
            self.assertEqual(self.store.uploads, {})

    def test_each_request_fails_for_good(self):
        """Whatever request fails, the output is there or not there."""
        self.sort()
        count = len([1 for method, *_ in self.store.log if method in ("PUT", "POST")])
        for nth in range(count):
            self.store.objects.clear()
            begin = len(self.store.log)
            seen = []

            def fail(handler, path, query):
                if handler.command not in ("PUT", "POST"):
                    return
                request = (handler.command, path, tuple(sorted(query.items())))
                seen.append(request)
                if len(seen) > nth and request == seen[nth]:
                    raise Answer(403, "AccessDenied", "Access Denied")
            self.store.fault = fail
            with self.subTest(request=nth):
                done = self.sort("-t", "1", code=5)
                self.assertIn("AccessDenied", done.stderr)
                self.assert_nothing_written()

    def test_a_job_that_is_killed(self):
        # After a second the job has written all, and waits for the store.
        for number, at, after in ((signal.SIGTERM, 1, 0), (signal.SIGTERM, 1, 1), (signal.SIGKILL, 1, 0),
                                  (signal.SIGKILL, 2, 0)):
            held = threading.Event()
            running = []

            def kill(handler, path, query):
                time.sleep(after)
                running[0].send_signal(number)
                held.wait(2)
            self.store.fault = Faults(kill, matches=lambda h, p, q: h.command == "PUT" and "partNumber" in q,
                                      skip=at - 1)
            words = [YUNTI, "run", "sort", "in.txt", "-o", "s3://bucket/out"]
            running.append(subprocess.Popen(words, env=self.env, cwd=self.folder, stderr=subprocess.PIPE))
            running[0].communicate(timeout=60)
            held.set()
            self.assertNotEqual(running[0].returncode, 0)
            until = time.time() + 20
            while self.store.uploads and time.time() < until:
                time.sleep(0.05)
            self.assert_nothing_written()
            self.store.fault = None
        self.sort()
        self.assertEqual(self.uploaded("out"), self.want)

    def test_a_job_killed_during_its_commit(self):
        """The store process goes on: the output is whole."""
        running = []

        def kill(handler, path, query):
            running[0].kill()
            time.sleep(0.5)
        self.store.fault = Faults(kill, matches=lambda h, p, q: p == "bucket/out/_yunti/commit.json")
        words = [YUNTI, "run", "sort", "in.txt", "-o", "s3://bucket/out"]
        running.append(subprocess.Popen(words, env=self.env, cwd=self.folder, stderr=subprocess.PIPE))
        running[0].communicate(timeout=60)
        until = time.time() + 20
        while "out/_SUCCESS" not in self.store.keys("bucket") and time.time() < until:
            time.sleep(0.05)
        self.assertEqual(self.uploaded("out"), self.want)
        self.assertEqual(self.store.uploads, {})

    def test_old_uploads_of_the_same_output_are_ended(self):
        day = 24 * 3600
        for number, (key, age) in enumerate((("out/part-r-00000", 2 * day), ("out/x", 3600), ("other", 2 * day))):
            self.store.uploads[f"u{number}"] = ("bucket", key, {}, time.time() - age)
        self.sort()
        self.assertEqual(sorted(self.store.uploads), ["u1", "u2"])

    def test_resume_needs_a_local_output(self):
        self.assertIn("--resume", self.sort("--resume", code=2).stderr)
        self.assert_nothing_written()


class Web(StoreTest):
    is_s3 = False

    def setUp(self):
        super().setUp()
        self.data = lines_of(6, 500_000)
        self.store.put("web", "a/big file.txt", self.data)
        self.want = self.local(self.data)
        self.address = f"{self.server.address}/a/big%20file.txt"

    def sort(self, *options, **more):
        return self.yunti("run", "sort", self.address, "-o", "out", "--overwrite", *options, **more)

    def test_a_file_of_a_web_server(self):
        self.sort()
        self.assertEqual(self.parts("out"), self.want)
        self.address += "?version=1"
        self.sort()
        self.assertEqual(self.parts("out"), self.want)

    def test_faults(self):
        for fault in (Faults(SLOW_DOWN, times=3), Faults(raises(Reset), times=3),
                      Faults(cut_at(1000), times=3, matches=reads)):
            self.store.fault = fault
            self.sort()
            self.assertEqual(self.parts("out"), self.want)
            self.assertGreater(fault.struck, 0)

    def test_a_file_that_changes(self):
        def change(handler, *_):
            self.store.objects["web", "a/big file.txt"] = Object(self.data[::-1])
        self.store.fault = Faults(change, matches=reads, skip=3)
        self.assertIn("changed while the job read it", self.sort(code=3).stderr)

    def test_what_the_web_cannot(self):
        self.assertIn("only read", self.yunti("run", "sort", "local.txt", "-o", f"{self.server.address}/out",
                                              code=2).stderr)
        self.assertIn("no such file", self.yunti("run", "sort", f"{self.server.address}/none", code=3).stderr)
        secret = f"{self.server.address}/a/x?X-Amz-Signature=abc"
        self.assertIn("credential", self.yunti("run", "sort", secret, "-o", "out", code=2).stderr)
        self.store.fault = lambda handler, *_: handler.headers.__delitem__("Range")
        self.assertIn("without ranges", self.sort(code=3).stderr)


class Google(StoreTest):
    """Google's XML API is the one of S3 as far as a job needs it."""

    def setUp(self):
        super().setUp()
        self.store.takes_bearers = True
        self.store.private = False
        with open(f"{self.folder}/account.json", "w") as f:
            json.dump({"gcs_base_url": self.server.address, "disable_oauth": True, "client_email": "",
                       "private_key": "", "private_key_id": ""}, f)
        self.env["GOOGLE_SERVICE_ACCOUNT"] = f"{self.folder}/account.json"

    def test_a_job_from_a_bucket_to_a_bucket(self):
        data = lines_of(7, 400_000)
        self.store.put("bucket", "in/a.txt", data)
        self.yunti("run", "sort", "gs://bucket/in", "-o", "gs://bucket/out")
        self.assertEqual(self.uploaded("out"), self.local(data))
        self.assertEqual(self.store.uploads, {})
        self.yunti("run", "sort", "gs://bucket/in", "-o", "gs://bucket/out", code=8)


class Azure(StoreTest):
    """Azure Blob Storage, over a stand-in that checks signatures."""

    def setUp(self):
        super().setUp()
        self.server = azure.AzureServer()
        self.addCleanup(self.server.__exit__)
        self.store = self.server.store
        self.store.buckets.add("bucket")
        self.env.update(AZURE_STORAGE_ACCOUNT_NAME=azure.ACCOUNT, AZURE_STORAGE_ACCOUNT_KEY=azure.SECRET)
        self.option = ["--store-option", f"az.endpoint={self.server.address}"]

    def run_job(self, *words, **more):
        done = self.yunti("run", *words, *self.option, **more)
        self.assertNotIn(azure.SECRET, done.stdout + done.stderr)
        return done

    def test_a_job_from_a_container_to_a_container(self):
        data = lines_of(9, 400_000)
        cut = data.index(b"\n", 3_000_000) + 1
        self.store.put("bucket", "in/a b+é.txt", data[:cut])
        self.store.put("bucket", "in/sub/b.txt", data[cut:])
        self.run_job("sort", "az://bucket/in", "-o", "az://bucket/out")
        self.assertEqual(self.uploaded("out"), self.local(data))
        self.assertTrue(any(query.get("comp") == "blocklist" for _, _, query, _ in self.store.log))
        self.run_job("sort", "az://bucket/in", "-o", "az://bucket/out", code=8)
        self.run_job("sort", "az://bucket/in", "-o", "az://bucket/out", "--overwrite")
        self.assertEqual(self.uploaded("out"), self.local(data))
        self.run_job("wordcount", f"abfs://bucket@{azure.ACCOUNT}/in/sub", "-o", "counts", "-q")

    def test_globs_and_lists_of_many_pages(self):
        self.store.max_keys = 7
        for month in (1, 2):
            for day in range(1, 20):
                self.store.put("bucket", f"logs/2026/{month:02}/{day:02}.log", b"2026\n")
        self.store.put("bucket", "logs/2025/01/x.log", b"2025\n")
        self.run_job("wordcount", "az://bucket/logs/2026/*/*.log", "-o", "out")
        self.assertEqual(self.parts("out"), b"2026\t38\n")

    def test_wrong_names_and_credentials(self):
        self.store.put("bucket", "in.txt", b"a\n")
        self.assertIn("az://bucket/no.txt", self.run_job("wordcount", "az://bucket/no.txt", "-o", "o", code=3).stderr)
        self.assertIn("az://none/in.txt", self.run_job("wordcount", "az://none/in.txt", "-o", "o", code=3).stderr)
        self.env["AZURE_STORAGE_ACCOUNT_KEY"] = "d3Jvbmc="
        self.assertIn("check the credentials", self.run_job("wordcount", "az://bucket/in.txt", "-o", "o", code=3).stderr)
        self.store.private = False
        self.run_job("wordcount", "az://bucket/in.txt", "-o", "o", "--store-option", "az.anonymous=true")

    def test_faults_that_pass(self):
        data = lines_of(10, 300_000)
        self.store.put("bucket", "in.txt", data)
        want = self.local(data)
        for act in (SLOW_DOWN, raises(Reset), cut_at(1000)):
            self.store.fault = Faults(act, times=3, matches=reads)
            self.run_job("sort", "az://bucket/in.txt", "-o", "out", "--overwrite")
            self.assertEqual(self.parts("out"), want)
            self.assertGreater(self.store.fault.struck, 0)

    def test_an_object_that_changes(self):
        self.store.put("bucket", "in.txt", lines_of(11, 300_000))
        self.store.fault = Faults(lambda *_: self.store.put("bucket", "in.txt", lines_of(12, 300_000)), matches=reads,
                                  skip=1)
        self.run_job("sort", "az://bucket/in.txt", "-o", "az://bucket/out", code=3)
        self.assertEqual(self.store.keys("bucket", "out"), [])


class Names(StoreTest):
    """Names that are wrong, and commands besides `run`."""

    def setUp(self):
        super().setUp()
        self.store.put("bucket", "in.csv", b"city,n\nparis,1\nrome,2\n")

    def test_wrong_names_are_one_line(self):
        wordcount = lambda name, **more: self.yunti("run", "wordcount", name, "-o", "out", **more).stderr
        self.assertIn("s3://none/in.csv", wordcount("s3://none/in.csv", code=3))
        self.assertIn("s3://bucket/no.csv", wordcount("s3://bucket/no.csv", code=3))
        for typo in ("s4://bucket/in.csv", "htp://host/in.csv", "S3://bucket/in.csv"):
            self.assertIn(f"no such scheme: {typo}", wordcount(typo, code=3))

    def test_a_wrong_region_is_named(self):
        """S3 names the region in a header, also to HEAD, or redirects without a place."""
        answer = lambda *words: raises(lambda: Answer(*words))
        right = {"x-amz-bucket-region": "eu-west-3"}
        known = "the bucket is in the region eu-west-3; set it with --store-option s3.region=eu-west-3"
        unknown = "the bucket is in another region; name it with --store-option s3.region=REGION"
        for act, expect in ((answer(400, "AuthorizationHeaderMalformed", "The region is wrong", right), known),
                            (answer(301, "PermanentRedirect", "Use the endpoint", right), known),
                            (answer(301, "PermanentRedirect", "Use the endpoint"), unknown)):
            self.store.fault = Faults(act, times=99)
            for words in (("run", "wordcount", "s3://bucket/in.csv", "-o", "out"), ("inspect", "s3://bucket/in.csv"),
                          ("run", "wordcount", "s3://bucket/*.csv", "-o", "out")):
                with self.subTest(expect=expect, words=words):
                    self.assertIn(expect, self.yunti(*words, code=2).stderr)

    def test_convert_between_stores(self):
        self.yunti("convert", "s3://bucket/in.csv", "s3://bucket/out", "--output-format", "json", "-q")
        self.assertEqual(self.uploaded("out"), b'{"city":"paris","n":"1"}\n{"city":"rome","n":"2"}\n')
        self.store.put("bucket", "odd.csv", b"city,n\nparis,1\na/b=%41,2\n,3\nparis,4\n")
        self.yunti("convert", "s3://bucket/odd.csv", "s3://bucket/by", "--output-format", "csv", "--partition-by", "city", "-q")
        found = {key: self.store.get("bucket", key) for key in self.store.keys("bucket", "by/city=")}
        self.assertEqual(found, {"by/city=paris/part-r-00000": b"n\n1\n4\n", "by/city=a%2Fb%3D%2541/part-r-00000": b"n\n2\n",
                                 "by/city=__HIVE_DEFAULT_PARTITION__/part-r-00000": b"n\n3\n"})
        self.assertIn("by/_SUCCESS", self.store.keys("bucket"))
        self.yunti("convert", "s3://bucket/by", "back", "--input-format", "csv", "--output-format", "csv-no-header", "-q")
        self.assertEqual(sorted(self.parts("back").split()), [b"1", b"2", b"3", b"4"])
        for name, code in (("s3://bucket/no.csv", 3), ("s3://none/in.csv", 3)):
            self.yunti("convert", name, "out", "--output-format", "json", code=code)
        self.yunti("convert", "s3://bucket/in.csv", "s3://bucket/out", "--output-format", "json", code=8)

    @unittest.skipUnless(FORMATS, "libyunti_formats.so is not built: make formats")
    def test_files_of_columns(self):
        rows = b"".join(b"c%d,%d,%s\n" % (n % 7, n, b"%d" % (n * n) * 20) for n in range(30_000))
        self.store.put("bucket", "big.csv", b"city,n,long\n" + rows)
        for name in ("parquet", "orc"):
            with self.subTest(name):
                out = f"s3://bucket/{name}"
                self.yunti("convert", "s3://bucket/big.csv", out, "--output-format", name, "--codec", "none", "-q")
                part = f"{out}/part-m-00000.{name}"
                shown = self.yunti("inspect", part, "--schema", "--statistics").stdout
                self.assertIn("30,000 rows", shown)
                done = self.yunti("run", "distinct", f"{out}/*.{name}", "--key-columns", "city", "-o", "d", "--overwrite")
                self.assertRegex(done.stderr, r"distinct: read [\d.]+ kB of [\d.]+ MB in ")
                self.assertEqual(self.parts("d"), b"".join(b"c%d\n" % n for n in range(7)))
                self.yunti("convert", out, "back", "--output-format", "csv", "-q", "--overwrite")
                self.assertEqual(self.parts("back"), b"city,n,long\n" + rows)

    def test_streaming(self):
        self.yunti("streaming", "-input", "s3://bucket/in.csv", "-output", "s3://bucket/out", "-mapper", "cat",
                   "-reducer", "cat")
        self.assertEqual(self.uploaded("out"), b"city,n\t\nparis,1\t\nrome,2\t\n")
        done = self.yunti("streaming", "-input", "s4://bucket/in.csv", "-output", "o", "-mapper", "cat", code=2)
        self.assertIn("no such scheme", done.stderr)


class Resume(StoreTest):
    def test_a_killed_job_goes_on_if_its_objects_are_the_same(self):
        data = lines_of(8, 900_000)
        self.store.put("bucket", "in.txt", data)
        want = self.local(data)
        words = ["run", "sort", "s3://bucket/in.txt", "-o", "out", "--resume", "-m", "16MiB", "--split-size", "2MiB"]
        for changed in (False, True):
            running = []

            def kill(handler, path, query):
                running[0].kill()

            def kept(handler, path, query):
                """A part of the input is mapped, spilled and in the journal."""
                journal = pathlib.Path(self.folder, ".out._temporary/journal")
                return reads(handler, path, query) and journal.exists() and b'"checkpoint"' in journal.read_bytes()
            self.store.fault = Faults(kill, matches=kept)
            running.append(subprocess.Popen([YUNTI, *words], env=self.env, cwd=self.folder, stderr=subprocess.DEVNULL))
            running[0].wait(60)
            self.assertEqual(running[0].returncode, -signal.SIGKILL)
            self.store.fault = None
            if changed:
                data = data[:-2] + b"#\n"
                self.store.put("bucket", "in.txt", data)
                want = self.local(data)
            self.yunti(*words)
            self.assertEqual(self.parts("out"), want)
            with open(f"{self.folder}/out/_yunti/report.json") as f:
                resumed = json.load(f).get("resumed", {})
            self.assertGreater(resumed.get("mapped_again" if changed else "splits", 0), 0)
            shutil.rmtree(f"{self.folder}/out")


class Missing(StoreTest):
    def test_a_line_says_what_to_install(self):
        os.makedirs(f"{self.folder}/bin")
        shutil.copy(YUNTI, f"{self.folder}/bin/yunti")
        words = [f"{self.folder}/bin/yunti", "run", "wordcount", "s3://bucket/x"]
        done = subprocess.run(words, env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("yunti-stores is not installed; run 'make stores'", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
