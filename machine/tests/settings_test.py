"""Tests `yunti machine settings`, `apply`, `undo` and `journal` in a network namespace and on a loop device. No
setting of the machine is changed."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../observe/tests")]
from images import MIB, do  # noqa: E402
from looking import NOBODY, YUNTI, needs_loop_devices, needs_namespaces, needs_nobody  # noqa: E402

REUSE = "/proc/sys/net/ipv4/tcp_tw_reuse"
PORTS = "/proc/sys/net/ipv4/ip_local_port_range"


class Settings(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.stack, self.before = stack, []
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.journal = os.path.join(self.folder, "journal/of-host.jsonl")

    def host(self, *words, code=0):
        run = subprocess.run([*self.before, YUNTI, "machine", *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, code, (run.stdout, run.stderr))
        return run.stdout + run.stderr

    def change(self, *words, **how):
        return self.host(*words, "--journal", self.journal, **how)

    def read(self, path):
        return do(*self.before, "cat", path).split()

    def states(self):
        return [
            (c["name"], c["state"])
            for c in json.loads(self.host("journal", "--json", "--journal", self.journal))["changes"]
        ]

    def within_a_namespace(self):
        name = f"yunti-settings-{os.getpid()}"
        do("ip", "netns", "add", name)
        self.stack.callback(do, "ip", "netns", "del", name)
        self.before = ["ip", "netns", "exec", name]

    def test_lists_settings(self):
        listed = json.loads(self.host("settings", "--json"))["settings"]
        names = [s["name"] for s in listed]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("dirty-limit", names)
        for setting in listed:
            self.assertEqual(setting["recommended"] is None, setting["level"] == "ok", setting)
            self.assertTrue(setting["why"] and setting["now"], setting)
        self.assertIn("swappiness", self.host("settings"))

    @needs_namespaces
    def test_applies_and_undoes(self):
        self.within_a_namespace()
        before = self.read(REUSE), self.read(PORTS)
        self.assertIn("would be changed", self.change("apply", "tw-reuse=1", "--dry-run"))
        self.assertEqual(((self.read(REUSE), self.read(PORTS)), os.path.exists(self.journal)), (before, False))
        self.assertIn("net.ipv4.tcp_tw_reuse = 1", self.change("apply", "tw-reuse=1"))
        self.change("apply", "local-ports=20000-30000")
        self.change("apply", "local-ports=20000-40000")
        self.assertEqual((self.read(REUSE), self.read(PORTS)), (["1"], ["20000", "40000"]))
        self.assertIn("already", self.change("apply", "tw-reuse=1"))
        self.assertIn("would be undone", self.change("undo", "--all", "--dry-run"))
        self.change("undo")
        self.assertEqual(self.read(PORTS), ["20000", "30000"])
        self.change("undo", "tw-reuse")
        self.assertEqual((self.read(REUSE), self.read(PORTS)), (before[0], ["20000", "30000"]))
        self.change("undo", "--all")
        self.assertEqual((self.read(REUSE), self.read(PORTS)), before)
        self.assertIn("nothing to undo", self.change("undo"))
        self.assertEqual(self.states(), [("tw-reuse", "undone"), ("local-ports", "undone"), ("local-ports", "undone")])

    def test_undo_refuses_an_unknown_name(self):
        for words in (["nosuch"], ["nosuch", "--dry-run"], ["nosuch", "--force"]):
            err = self.change("undo", *words, code=3)
            self.assertEqual(len(err.strip().splitlines()), 1, err)
            self.assertIn("unknown setting 'nosuch'", err)
            self.assertIn("yunti machine settings", err)
        self.assertEqual(json.loads(self.change("undo", "nosuch", "--json", code=3))["error"]["code"], "input")
        # A setting of this machine without a change, and one that only the journal has: its disk was removed.
        self.assertEqual(self.change("undo", "swappiness", "--dry-run"), "swappiness: nothing to undo.\n")
        os.makedirs(os.path.dirname(self.journal))
        with open(self.journal, "w") as f:
            file = {"file": "/sys/block/gone/queue/read_ahead_kb"}
            written = {key: [{**file, "value": value}] for key, value in (("old", "1"), ("new", "2"), ("restore", "1"))}
            intended = {"id": 1, "state": "intended", "time": "2026-01-01T00:00:00Z", "boot": "b", **written}
            f.write(json.dumps({**intended, "name": "read-ahead:gone"}) + "\n")
        self.assertEqual(self.change("undo", "read-ahead:gone", "--dry-run"), "read-ahead:gone: nothing to undo.\n")

    @needs_loop_devices
    def test_undo_takes_the_short_name_that_apply_takes(self):
        """`read-ahead` is the only disk's setting, or an error that lists all disks."""
        self.disk()
        names = [s["name"] for s in json.loads(self.host("settings", "--json"))["settings"]]
        disks = [name for name in names if name.startswith("read-ahead:")]
        if len(disks) > 1:
            self.assertIn(", ".join(disks), self.change("undo", "read-ahead", "--dry-run", code=3))
        else:
            self.assertIn(f"{disks[0]}: nothing", self.change("undo", "read-ahead", "--dry-run"))

    @needs_namespaces
    def test_keeps_values_that_others_have_set(self):
        self.within_a_namespace()
        self.change("apply", "local-ports=20000-30000")
        do(*self.before, "sh", "-c", f"echo 40000 50000 > {PORTS}")
        self.assertIn("another program has changed it since", self.change("undo", code=5))
        self.assertEqual(self.read(PORTS), ["40000", "50000"])
        self.change("undo", "--force")
        self.assertEqual(self.states(), [("local-ports", "undone")])

    @needs_namespaces
    def test_undoes_a_change_whose_record_was_cut_off(self):
        self.within_a_namespace()
        self.change("apply", "tw-reuse=1")
        with open(self.journal) as f:
            lines = f.readlines()
        # The value was written, but the line that records it was cut off.
        with open(self.journal, "w") as f:
            f.write(lines[0] + lines[1][:10])
        self.assertIn("tw-reuse: undone", self.change("undo"))
        self.assertNotEqual(self.read(REUSE), ["1"])

    @needs_namespaces
    def test_refuses_values_out_of_range(self):
        self.within_a_namespace()
        before = self.read(PORTS)
        for words, code, expected in (
            ("local-ports=30000-20000", 2, "empty"),
            ("local-ports=1-2", 2, "1024"),
            ("tw-reuse=9", 2, "from 0 to 2"),
            ("no-such-setting", 3, "yunti machine settings"),
        ):
            self.assertIn(expected, self.change("apply", words, code=code))
        self.assertEqual((self.read(PORTS), os.path.exists(self.journal)), (before, False))

    @needs_namespaces
    def test_concurrent_changes_form_a_chain(self):
        """Each run restores the value that the previous one has set, so an undo of all restores the first value."""
        self.within_a_namespace()
        before = self.read(PORTS)
        words = [f"local-ports={n}000-{n + 20}000" for n in range(11, 19)]
        runs = [
            subprocess.Popen(
                [*self.before, YUNTI, "machine", "apply", word, "--journal", self.journal],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for word in words
        ]
        for run in runs:
            _, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, err)
        with open(self.journal) as f:
            intended = [line for line in map(json.loads, f) if line["state"] == "intended"]
        self.assertEqual(len(intended), len(words))
        for earlier, later in zip(intended, intended[1:]):
            self.assertEqual(later["old"], earlier["new"])
        self.change("undo", "--all")
        self.assertEqual(self.read(PORTS), before)

    @needs_namespaces
    def test_a_failed_undo_does_not_block_others(self):
        self.within_a_namespace()
        before = self.read(REUSE)
        self.change("apply", "tw-reuse=1")
        self.change("apply", "local-ports=20000-30000")
        do(*self.before, "sh", "-c", f"echo 40000 50000 > {PORTS}")
        out = self.change("undo", "--all", code=5)
        self.assertIn("tw-reuse: undone", out)
        self.assertIn("local-ports: another program has changed it since", out)
        self.assertEqual((self.read(REUSE), self.read(PORTS)), (before, ["40000", "50000"]))

    @needs_namespaces
    def test_changes_nothing_without_write_access(self):
        """With a read-only proc, as in a container, or an unwritable journal, nothing is changed and the error is one
        line."""
        self.within_a_namespace()
        before = self.read(REUSE)
        network = list(self.before)
        self.before = [
            *network,
            "unshare",
            "-m",
            "sh",
            "-c",
            'mount -o bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && exec "$@"',
            "sh",
        ]
        err = self.change("apply", "tw-reuse=1", code=5)
        self.assertIn("nothing is changed", err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.before = network
        self.assertEqual((self.states(), self.read(REUSE)), ([("tw-reuse", "failed")], before))
        for journal in ("/proc/none/journal", "/dev/full"):
            err = self.host("apply", "tw-reuse=1", "--journal", journal, code=5)
            self.assertIn("the journal cannot be written", err)
            self.assertEqual(self.read(REUSE), before)

    @needs_namespaces
    def test_a_journal_of_another_boot_or_damaged(self):
        self.within_a_namespace()
        before = self.read(REUSE)
        self.change("apply", "tw-reuse=1")
        with open(self.journal) as f:
            text = f.read()
        boot = json.loads(text.splitlines()[0])["boot"]
        with open(self.journal, "w") as f:
            f.write(text.replace(boot, "another"))
        self.assertIn("nothing to undo", self.change("undo"))
        self.assertEqual((self.states(), self.read(REUSE)), ([("tw-reuse", "gone")], ["1"]))
        # Files outside the kernel's settings are never written.
        victim = os.path.join(self.folder, "victim")
        with open(victim, "w") as f:
            f.write("1")
        with open(self.journal, "w") as f:
            f.write(text.replace(REUSE, victim) + "\0\xff\n" + text[:50])
        self.assertIn("lines of the journal are cut off", self.change("undo"))
        with open(victim) as f:
            self.assertEqual(f.read(), "1")
        with open(self.journal, "w") as f:
            f.write(text)
        self.change("undo")
        self.assertEqual(self.read(REUSE), before)

    def disk(self):
        image = os.path.join(self.folder, "image")
        with open(image, "wb") as f:
            f.truncate(8 * MIB)
        device = do("losetup", "-f", "--show", image).strip()
        self.stack.callback(subprocess.run, ["losetup", "-d", device], capture_output=True)
        return device

    @needs_loop_devices
    def test_restores_after_a_value_that_the_kernel_rounds(self):
        name = os.path.basename(self.disk())
        before = self.read(f"/sys/block/{name}/queue/read_ahead_kb")
        # The kernel rounds to whole pages of 4 KiB.
        self.assertIn("the kernel set 4 instead", self.change("apply", f"read-ahead:{name}=5", code=5))
        self.assertEqual(self.read(f"/sys/block/{name}/queue/read_ahead_kb"), before)
        self.assertEqual(self.states(), [(f"read-ahead:{name}", "failed")])

    @needs_loop_devices
    def test_changes_a_disk(self):
        name = os.path.basename(self.disk())
        path = f"/sys/block/{name}/queue/read_ahead_kb"
        before = self.read(path)
        self.change("apply", f"read-ahead:{name}=64")
        self.assertEqual(self.read(path), ["64"])
        self.assertIn("better 512", self.host("settings"))
        self.change("apply", f"read-ahead:{name}")
        self.assertEqual(self.read(path), ["512"])
        self.change("undo", "--all")
        self.assertEqual(self.read(path), before)

    @needs_nobody
    def test_refuses_without_root(self):
        os.chmod(self.folder, 0o777)
        self.before = NOBODY
        self.assertIn("only root", self.change("apply", "swappiness=7", code=5))
        self.assertIn("would be changed", self.change("apply", "swappiness=7", "--dry-run"))


if __name__ == "__main__":
    unittest.main()
