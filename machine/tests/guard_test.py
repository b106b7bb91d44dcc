"""Tests `yunti machine ext4 guard` on devices and file systems with injected failures."""

import contextlib
import http.server
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from looking import YUNTI, needs_loop_devices, observe, require_programs_in_the_kernel, text_of, until  # noqa: E402

MIB = 1 << 20
BLOCK = 4096
os.environ["PATH"] += ":/usr/sbin:/sbin"


def do(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


class Guard:
    """Runs the guard until it ends or is stopped."""

    def __init__(self, place, *words):
        command = [YUNTI, "machine", "ext4", "guard", "--json", "-s", "60", place, *words]
        self.run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.run.stderr.readline()
        assert line.startswith("watching errors"), line

    def ended(self, code=0):
        out, err = self.run.communicate(timeout=30)
        assert self.run.returncode == code, (self.run.returncode, out, err)
        return json.loads(out)

    def stopped(self):
        time.sleep(0.3)
        assert self.run.poll() is None, self.run.communicate()
        self.run.send_signal(2)
        return self.ended(130)


@needs_loop_devices
class OfDevices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.image = os.path.join(self.folder, "image")
        with open(self.image, "wb") as f:
            f.truncate(64 * MIB)
        do("mke2fs", "-q", "-F", "-t", "ext4", "-b", BLOCK, self.image)
        self.device = do("losetup", "-f", "--show", self.image).strip()
        stack.callback(do, "losetup", "-d", self.device)

    def fail_reads(self, times):
        """Reads behind the end of the truncated image."""
        with open(self.image, "r+b") as f:
            f.truncate(32 * MIB)
        page = mmap.mmap(-1, BLOCK)
        device = os.open(self.device, os.O_RDONLY | os.O_DIRECT)
        try:
            for n in range(times):
                with self.assertRaises(OSError):
                    os.preadv(device, [page], 40 * MIB + n * BLOCK)
        finally:
            os.close(device)

    def test_acts_at_twenty_errors_and_not_at_nineteen(self):
        output = os.path.join(self.folder, "output")
        guard = Guard(self.device, "--run", f'echo "$YUNTI_DEVICE $YUNTI_ERRORS $YUNTI_LAST_ERROR" > {output}')
        self.fail_reads(19)
        found = guard.stopped()
        self.assertEqual((found["errors"], found["too_many"], found["acts"]), (19, False, []))
        self.assertFalse(os.path.exists(output))
        guard = Guard(self.device, "--run", f'echo "$YUNTI_DEVICE $YUNTI_ERRORS $YUNTI_LAST_ERROR" > {output}')
        self.fail_reads(20)
        found = guard.ended()
        self.assertEqual((found["errors"], found["too_many"], len(found["acts"])), (20, True, 1))
        self.assertIn("a read at sector", found["seen"][0]["what"])
        with open(output, encoding="utf-8") as f:
            self.assertTrue(f.read().startswith(f"{self.device} 20 a read at sector"))

    def test_consecutive_windows_add_up(self):
        guard = Guard(self.device, "--errors", "6", "--window", "1s")
        for _ in range(2):
            self.fail_reads(2)
            time.sleep(1)
        self.fail_reads(2)
        self.assertEqual(guard.ended()["errors"], 6)

    def test_a_window_without_errors_resets_the_count(self):
        guard = Guard(self.device, "--errors", "6", "--window", "300ms")
        self.fail_reads(5)
        time.sleep(1)
        self.fail_reads(5)
        found = guard.stopped()
        self.assertEqual((found["errors"], found["too_many"]), (10, False))

    def test_ignores_errors_of_other_devices(self):
        other = os.path.join(self.folder, "other")
        with open(other, "wb") as f:
            f.truncate(MIB)
        device = do("losetup", "-f", "--show", other).strip()
        try:
            guard = Guard(device, "--errors", "1")
            self.fail_reads(3)
            self.assertEqual(guard.stopped()["errors"], 0)
        finally:
            do("losetup", "-d", device)

    def mounted(self, *options):
        folder = os.path.join(self.folder, "mounted")
        os.mkdir(folder)
        do("mount", "-o", ",".join(["errors=continue", *options]), self.device, folder)
        self.addCleanup(do, "umount", folder)
        return folder

    def damage(self, folder):
        """Creates a directory, and overwrites its block."""
        os.mkdir(f"{folder}/bad")
        os.sync()
        block = int(do("debugfs", "-R", "blocks /bad", self.device).split()[0])
        do("umount", folder)
        with open(self.device, "r+b") as f:
            f.seek(block * BLOCK)
            f.write(b"\xa5" * BLOCK)
        do("mount", "-o", "errors=continue,nosuid,nodev", self.device, folder)

    def test_counts_errors_of_ext4_and_remounts(self):
        folder = self.mounted()
        self.damage(folder)
        guard = Guard(folder, "--errors", "3", "--remount-read-only")
        for _ in range(3):
            with contextlib.suppress(OSError):
                os.listdir(f"{folder}/bad")
            with contextlib.suppress(OSError):
                os.stat(f"{folder}/bad/x")
        found = guard.ended()
        self.assertIn("ext4: ", found["seen"][0]["what"])
        self.assertTrue(found["acts"][0]["done"], found)
        with open("/proc/self/mountinfo", encoding="utf-8") as f:
            line = next(line for line in f if f" {folder} " in line)
        # The whole file system is read-only, and the mount's other options remain.
        self.assertEqual(
            set(line.split(" ")[5].split(",")) & {"ro", "nosuid", "nodev"}, {"ro", "nosuid", "nodev"}, line
        )
        self.assertTrue(line.rstrip().split(" ")[-1].startswith("ro"), line)
        with self.assertRaises(OSError):
            os.mkdir(f"{folder}/new")

    def test_a_dry_run_does_nothing(self):
        folder = self.mounted()
        guard = Guard(
            folder, "--errors", "2", "--remount-read-only", "--run", f"touch {self.folder}/touched", "--dry-run"
        )
        self.fail_reads(2)
        found = guard.ended()
        self.assertEqual([act["how"] for act in found["acts"]], ["not done (--dry-run)"] * 2)
        self.assertFalse(os.path.exists(f"{self.folder}/touched"))
        os.mkdir(f"{folder}/new")

    def test_posts_to_a_web_hook(self):
        got = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append(
                    (
                        self.path,
                        self.headers["Content-Type"],
                        json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
                    )
                )
                self.send_response(500 if self.path == "/fails" else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Hook) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            at = f"http://127.0.0.1:{server.server_port}"
            guard = Guard(self.device, "--errors", "2", "--post", f"{at}/hook")
            self.fail_reads(2)
            self.assertTrue(guard.ended()["acts"][0]["done"])
            guard = Guard(self.device, "--errors", "1", "--post", f"{at}/fails")
            self.fail_reads(1)
            self.assertIn("status 500", guard.ended(code=5)["acts"][0]["how"])
            server.shutdown()
        path, kind, document = got[0]
        self.assertEqual(
            (path, kind, document["device"], document["errors"]), ("/hook", "application/json", self.device, 2)
        )
        self.assertIn("a read at sector", document["last_error"])

    def test_reports_a_failed_action(self):
        guard = Guard(self.device, "--errors", "1", "--run", "exit 7")
        self.fail_reads(1)
        found = guard.ended(code=5)
        self.assertFalse(found["acts"][0]["done"])
        self.assertIn("exit status: 7", found["acts"][0]["how"])

    def test_output_of_the_command_is_not_in_the_answer(self):
        guard = Guard(self.device, "--errors", "1", "--run", "echo '{'")
        self.fail_reads(1)
        self.assertTrue(guard.ended()["acts"][0]["done"])

    def test_ctrl_c_kills_a_command_that_does_not_end(self):
        started = os.path.join(self.folder, "started")
        guard = Guard(
            self.device,
            "--errors",
            "1",
            "--run",
            f"sleep 1000 & echo $! > {started}.new; mv {started}.new {started}; wait",
            "--post",
            "http://127.0.0.1:1/",
        )
        self.fail_reads(1)
        until(lambda: os.path.exists(started))
        # Ctrl-C kills the command with its children, and the remaining actions follow.
        guard.run.send_signal(2)
        found = guard.ended(code=5)
        self.assertIn("was killed", found["acts"][0]["how"])
        self.assertEqual(len(found["acts"]), 2)
        with open(started, encoding="utf-8") as f:
            pid = int(f.read())
        until(lambda: not os.path.exists(f"/proc/{pid}") or " Z " in text_of(f"/proc/{pid}/stat"))

    def test_refuses_wrong_arguments(self):
        err = observe("ext4", "guard", self.device, "--remount-read-only", code=3).stderr
        self.assertIn("not mounted", err)
        self.assertIn("is not a", observe("ext4", "guard", self.device, "--post", "somebody", code=2).stderr)
        self.assertIn("counts nothing", observe("ext4", "guard", self.device, "--window", "0s", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
