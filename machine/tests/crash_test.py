"""Tests `yunti machine crash`: real crashes and simulated kernel logs arrive once at test collectors, and nothing else
does."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../observe/tests")]
from cgroup_test import group, memory_limit, needs_groups  # noqa: E402
from crashing import HUNG, OOPS, SECRET, UdpCollector, WithCollectors  # noqa: E402
from images import do, image, mounted  # noqa: E402
from looking import YUNTI, Looking, needs_loop_devices, needs_namespaces, observe  # noqa: E402


class Crashes(WithCollectors):
    def test_reports_an_oom_kill(self):
        self.check_oom_kill()

    @needs_groups
    def check_oom_kill(self):
        collector = self.collector()
        name = f"yunti-crash-{os.getpid()}"
        with Looking("crash", "--collect", collector.url) as look, group(name, **memory_limit(24 << 20)) as within:
            run = subprocess.run(
                [*within, sys.executable, "-c", "import os\nb = []\nwhile True: b.append(os.urandom(1 << 20))"],
                timeout=30,
            )
            self.assertEqual(run.returncode, -signal.SIGKILL)
            (message,) = collector.messages()
            document = look.stop()
        self.assertEqual((message.kind, message.priority), ("oom-kill", 3))
        self.assertEqual(message.data["class"], "a control group has no memory left")
        self.assertIn(name, message.data["cgroup"])
        self.assertEqual((document["counts"]["oom-kill"], document["delivery"]["delivered"]), (1, 1), document)

    @needs_loop_devices
    def test_reports_a_file_system_error(self):
        path = image(os.path.join(self.folder, "image"), "-b", "4096")
        collector = self.collector()
        with mounted(path) as at:
            os.mkdir(f"{at}/folder")
            for n in range(10):
                os.mkdir(f"{at}/folder/{n}")
        block = int(re.search(r"\(0\):(\d+)", do("debugfs", "-R", "stat /folder", path))[1])
        with open(path, "r+b") as f:
            f.seek(block * 4096 + 24)
            f.write(b"\xff" * 400)
        with Looking("crash", "--collect", collector.url), mounted(path) as at:
            with contextlib.suppress(OSError):
                os.listdir(f"{at}/folder")
            messages = collector.messages()
        self.assertTrue(all(m.kind == "file-system-error" and "loop" in m.data["device"] for m in messages), messages)
        self.assertTrue(messages[0].data["class"].startswith("ext4: "), messages)
        self.assertEqual(len({m.data["signature"] for m in messages}), len(messages), messages)

    def test_reports_jvms_that_crash_in_several_folders(self):
        collector = self.collector()
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        # Repeats are reported later, as one.
        with Looking("crash", "--collect", collector.url) as look:
            self.java(f"-Dpassword={SECRET}", environment={"SECRET": SECRET})
            (first,) = collector.messages()
            self.java("-Xint", f"-XX:ErrorFile={elsewhere}/crash_%p.txt")
            self.java(environment={"JAVA_TOOL_OPTIONS": f"-Dkey={SECRET} -XX:ErrorFile={elsewhere}/of-all.%p"})
            time.sleep(0.5)
            document = look.stop()
        self.assertEqual(
            (first.kind, first.priority, first.data["class"]), ("jvm-fatal-error", 11, "SIGSEGV in the JVM")
        )
        self.assertIn("Crashing.main", first.text)
        self.assertEqual(document["counts"]["jvm-fatal-error"], 3, document)
        messages = [first, *collector.messages(count=0)]
        again = [m for m in messages if m.text.startswith("again, ")]
        self.assertEqual(sum(int(m.data["count"]) for m in messages), 3, messages)
        self.assertEqual((len(messages), len(again)), (2, 1), messages)
        self.assertNotIn(SECRET, repr(messages))
        self.assertNotIn(SECRET, repr(document))
        self.assertEqual(len(os.listdir(elsewhere)), 2)

    @needs_namespaces
    def test_reports_a_jvm_with_private_mounts(self):
        collector = self.collector()
        self.java("-XX:ErrorFile=/dev/null")
        script = f'mount -t tmpfs none /mnt && cp {self.folder}/*.class /mnt && cd /mnt && exec "$@"'
        with Looking("crash", "--collect", collector.url):
            subprocess.run(
                [
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    script,
                    "sh",
                    "java",
                    "-XX:-CreateCoredumpOnCrash",
                    "-cp",
                    "/mnt",
                    "Crashing",
                ],
                capture_output=True,
            )
            (message,) = collector.messages()
        self.assertEqual(message.kind, "jvm-fatal-error")

    def test_ignores_files_of_other_kinds(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder) as look:
            with open(f"{self.folder}/hs_err_pid1.log", "w") as f:
                f.write(f"#\n# A fatal error of something else\n{SECRET}\n")
            os.symlink("/etc/passwd", f"{self.folder}/hs_err_pid2.log")
            os.mkfifo(f"{self.folder}/hs_err_pid3.log")
            os.close(os.open(f"{self.folder}/hs_err_pid3.log", os.O_RDWR))
            shutil.copy("/proc/self/environ", f"{self.folder}/hs_err_pid4.log")
            self.assertEqual(collector.messages(count=0), [])
            self.assertEqual(sum(look.stop()["counts"].values()), 0)

    def test_reports_each_kind_of_kernel_record_and_nothing_else(self):
        collector = self.collector()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, *log) as look:
            write(
                f"audit: type=1400 {SECRET}\nusb 1-1: new device\n"
                f"EXT4-fs (sda1): mounted filesystem\nWARNING: at {SECRET}",
                6,
            )
            # Records of programs, whatever they contain.
            write(OOPS.replace("NAME", "forged") + f"\nOut of memory: Killed process 1 ({SECRET}) x", 12)
            self.assertEqual(collector.messages(count=0), [])
            write(OOPS.replace("NAME", "crash_read"))
            write(HUNG)
            write(
                "Out of memory: Killed process 77 (java) total-vm:900kB, anon-rss:800kB, file-rss:8kB, shmem-rss:0kB", 3
            )
            write("EXT4-fs error (device sda1): ext4_lookup:1858: inode #2: comm ls: deleted inode referenced: 12", 2)
            messages = collector.messages(4)
            document = look.stop()
        self.assertEqual([m.kind for m in messages], ["oops", "hung-task", "oom-kill", "file-system-error"], messages)
        self.assertEqual(messages[0].data["class"], "null pointer in crasher")
        self.assertTrue(messages[0].text.endswith(": crash_read [crasher] < vfs_read"), messages[0])
        self.assertEqual(messages[1].data["class"], "waits for the journal of ext4")
        self.assertNotIn(SECRET, repr(messages) + repr(document))
        self.assertEqual([m.data["id"].split("-")[1] for m in messages], list("1234"))

    def test_joins_repeats_to_one_report_with_their_number(self):
        collector = self.collector()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, "--again-every", 2, *log) as look:
            for n in range(5):
                write(OOPS.replace("NAME", "crash_read").replace("4711", str(n)))
            write(OOPS.replace("NAME", "crash_write"))
            messages = collector.messages(3, quiet=2.5)
            document = look.stop()
        self.assertEqual([m.data["count"] for m in messages], ["1", "1", "4"], messages)
        self.assertTrue(messages[2].text.startswith("again, 4 times: "))
        self.assertEqual(messages[0].data["signature"], messages[2].data["signature"])
        self.assertEqual((document["counts"]["oops"], document["again"]), (6, 4))

    def test_delivers_after_the_collector_returns(self):
        away = UdpCollector()
        away.close()
        log, write = self.log()
        with Looking("crash", "--collect", away.url, *log):
            for n in range(6):
                write(OOPS.replace("NAME", f"crash_{'abcdef'[n]}"))
            time.sleep(1)
            messages = self.collector(port=away.port).messages(6, within=20, quiet=3)
        self.assertEqual([m.name for m in messages], [f"crash_{c}" for c in "abcdef"])

    def test_counts_reports_dropped_by_a_full_queue(self):
        away = UdpCollector()
        away.close()
        log, write = self.log()
        with Looking("crash", "--collect", away.url, "--queue", 2, *log) as look:
            for name in "abcde":
                write(OOPS.replace("NAME", f"crash_{name}"))
            time.sleep(1)
            messages = self.collector(port=away.port).messages(2, within=20, quiet=1)
            document = look.stop()
        self.assertEqual(sum(int(m.data.get("lost", 0)) for m in messages), 3, messages)
        self.assertEqual(document["delivery"]["not_taken"], 3)

    def test_limits_reports_a_minute(self):
        collector = self.collector()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, "--a-minute", 3, *log) as look:
            for name in "abcde":
                write(OOPS.replace("NAME", f"crash_{name}"))
            self.assertEqual(len(collector.messages(3, quiet=2)), 3)
            out, err = self.stop(look)
        self.assertEqual(look.run.returncode, 5, err)
        self.assertIn("2 NOT delivered", out)

    def test_tls_delivers_after_the_collector_returns(self):
        collector = self.tls()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, *self.ca, *log) as look:
            write(OOPS.replace("NAME", "crash_a"))
            first = collector.messages()
            collector.close()
            time.sleep(0.5)
            for name in "bcd":
                write(OOPS.replace("NAME", f"crash_{name}"))
            time.sleep(1.5)
            again = self.tls(port=collector.port)
            second = again.messages(3)
            document = look.stop()
        self.assertEqual([m.name for m in first + second], [f"crash_{c}" for c in "abcd"])
        self.assertEqual(document["delivery"]["delivered"], 4)

    def test_tls_sends_unread_reports_again(self):
        collector = self.tls(reads=False)
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, *self.ca, *log):
            for name in "ab":
                write(OOPS.replace("NAME", f"crash_{name}"))
            time.sleep(1)
            # They are in the collector's buffer, and are lost with it.
            collector.close()
            messages = self.tls(port=collector.port).messages(2)
        self.assertEqual([m.name for m in messages], ["crash_a", "crash_b"])

    def test_tls_refuses_an_untrusted_collector(self):
        collector = self.tls()
        other = os.path.join(self.folder, "other.pem")
        do(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "/dev/null",
            "-out",
            other,
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        )
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, "--ca", other, *log) as look:
            write(OOPS.replace("NAME", "crash_a"))
            time.sleep(1)
            out, err = self.stop(look)
        self.assertEqual((look.run.returncode, collector.got), (5, []), (out, err))
        self.assertIn("1 NOT delivered: invalid peer certificate", out)

    @needs_namespaces
    def test_delivers_after_a_network_failure(self):
        """Connects two network namespaces with a link, which fails at either end and returns."""
        near, far = (f"yunti-{end}-{os.getpid()}" for end in ("near", "far"))
        for name in (near, far):
            do("ip", "netns", "add", name)
            self.stack.callback(do, "ip", "netns", "del", name)
        do("ip", "-n", near, "link", "add", "line", "type", "veth", "peer", "line", "netns", far)
        for name, address in ((near, "10.7.7.1"), (far, "10.7.7.2")):
            do("ip", "-n", name, "address", "add", f"{address}/24", "dev", "line")
            do("ip", "-n", name, "link", "set", "line", "up")
        self.tls(address="10.7.7.2").close()
        script = f"""
import sys, time
sys.path[:0] = [{HERE!r}]
from crashing import TlsCollector, UdpCollector
collector = UdpCollector(at="10.7.7.2") if sys.argv[1] == "udp" else TlsCollector({self.folder!r}, at="10.7.7.2")
print(collector.url, flush=True)
print(*[m.name for m in collector.messages(4, within=40, quiet=3)], flush=True)
"""
        transports = ("udp", "tls")
        logs = {transport: self.log(transport) for transport in transports}
        for cut, letters in ((near, "abcd"), (far, "efgh")):
            expected = [f"crash_{letter}" for letter in letters]
            with contextlib.ExitStack() as looking:
                collectors = {}
                for transport in transports:
                    command = ["ip", "netns", "exec", far, sys.executable, "-c", script, transport]
                    collector = collectors[transport] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                    words = [
                        "--collect",
                        collector.stdout.readline().strip(),
                        *(self.ca if transport == "tls" else []),
                        *logs[transport][0],
                    ]
                    looking.enter_context(Looking("crash", *words, before=["ip", "netns", "exec", near]))
                write = lambda name: [write(OOPS.replace("NAME", name)) for _, write in logs.values()]  # noqa: E731
                write(expected[0])
                time.sleep(1)
                do("ip", "-n", cut, "link", "set", "line", "down")
                for name in expected[1:]:
                    write(name)
                time.sleep(2)
                do("ip", "-n", cut, "link", "set", "line", "up")
                names = {
                    transport: collector.communicate(timeout=60)[0].split()
                    for transport, collector in collectors.items()
                }
            for transport in transports:
                with self.subTest(transport=transport, cut=cut):
                    self.assertEqual(names[transport], expected)

    def test_refuses_wrong_arguments(self):
        for words, expected in (
            (("--collect", "logs:514"), "udp://host:514"),
            (("--collect", "udp://127.0.0.1", "--ca", "/etc/passwd"), "tls://"),
            (("--collect", "udp://127.0.0.1", "--queue", "0"), "--queue"),
            (("--key", "x"), "--certificate"),
        ):
            self.assertIn(expected, observe("crash", *words, code=2).stderr)
        self.assertIn("/nowhere", observe("crash", "--collect", "tls://localhost", "--ca", "/nowhere", code=3).stderr)
        self.assertIn("/nowhere", observe("crash", "--hs-err", "/nowhere", code=3).stderr)

    def test_writes_page_and_text(self):
        log, write = self.log()
        page = os.path.join(self.folder, "page.html")
        run = subprocess.Popen(
            [YUNTI, "machine", "crash", "-s", "1.5".split(".")[0], "-o", page, *log],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        run.stderr.readline()
        write(OOPS.replace("NAME", "crash_read") + "\n" + HUNG)
        out, err = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0, err)
        self.assertIn("1 oops, 1 hung-task.", out)
        self.assertIn("crash_read [crasher]", out)
        with open(page) as f:
            self.assertIn("waits for the journal of ext4", f.read())


if __name__ == "__main__":
    unittest.main()
