"""Tests programs side by side: of two users on one machine, and of one user in one working directory."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from probe import TIMEOUT_S, YUNTI, ProbeTest  # noqa: E402

# Accounts that every machine has, without a home directory that they can write to.
USERS = ("nobody", "daemon")
ISOLATIONS = ("threads", "jvms")
DRIVERS = 4


class SideBySide(ProbeTest):
    """Programs that run at the same time; each has an output of its own."""

    SECONDS_MAX = 300

    def finish(self, process):
        out, _ = process.communicate(timeout=self.SECONDS_MAX)
        self.assertEqual(process.returncode, 0, out)
        return out


class OneDirectory(SideBySide):
    def test_programs_have_cache_files_of_one_name(self):
        for isolation in ("auto", "jvms"):
            processes = []
            for i in range(DRIVERS):
                side = os.path.join(self.home, f"side-{i}")
                with open(side, "w", encoding="ascii") as f:
                    f.write(f"of program {i}\n")
                self.out = os.path.join(self.home, f"out-{isolation}-{i}")
                words = self.command("Cached", f"-Dprobe.side={side}", f"-Dyunti.hadoop.isolation={isolation}")
                processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                  cwd=self.work, env=self.environment))
            for process in processes:
                self.finish(process)
            for i in range(DRIVERS):
                self.assertEqual(self.lines(f"{self.home}/out-{isolation}-{i}"), [f"of program {i}\t800"])
            self.leaves_nothing()


@unittest.skipUnless(os.getuid() == 0 and shutil.which("setpriv"), "only root can run programs of two users, by setpriv")
class TwoUsers(SideBySide):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.chmod(self.home, 0o755)
        # Not below the test's: a directory for all, as /tmp is.
        self.shared = tempfile.mkdtemp(prefix="yunti-users-")
        self.addCleanup(shutil.rmtree, self.shared)
        os.chmod(self.shared, 0o1777)
        os.chmod(self.work, 0o1777)
        self.own = {}
        for user in USERS:
            account = pwd.getpwnam(user)
            for path in (f"/tmp/hadoop-{user}", f"/tmp/yunti-{account.pw_uid}"):
                if not os.path.lexists(path):
                    self.addCleanup(shutil.rmtree, path, ignore_errors=True)
            self.own[user] = os.path.join(self.shared, user)
            os.mkdir(self.own[user], 0o755)
            os.chown(self.own[user], account.pw_uid, account.pw_gid)

    def as_user(self, user, command):
        account = pwd.getpwnam(user)
        return ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "--", *command]

    def variables(self, user):
        changed = {**self.environment, "HOME": self.own[user], "XDG_STATE_HOME": f"{self.own[user]}/state"}
        del changed["XDG_RUNTIME_DIR"]  # The pool's directory is in /tmp.
        return changed

    def start_as(self, user, mode, *options, name="out"):
        command = [YUNTI, "hadoop", "run", self.jar, self.PROGRAM, *options, mode, self.input, f"{self.own[user]}/{name}"]
        process = subprocess.Popen(self.as_user(user, command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   cwd=self.work, env=self.variables(user))
        # If the other user's program fails, this one must not go on in directories that are being deleted.
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process

    def pool(self, user, *words):
        return subprocess.run(self.as_user(user, [YUNTI, "hadoop", "pool", *words]), capture_output=True, text=True,
                              cwd=self.work, env=self.variables(user), timeout=TIMEOUT_S, check=True).stdout

    def belongs(self, user, *roots):
        """Checks that files are the user's, and that no other user can write to them."""
        uid = pwd.getpwnam(user).pw_uid
        for root in roots:
            self.assertTrue(os.path.isdir(root), root)
            for path, folders, names in os.walk(root):
                for name in (".", *folders, *names):
                    found = os.lstat(os.path.join(path, name))
                    self.assertEqual(found.st_uid, uid, f"{path}/{name}")
                    if not stat.S_ISLNK(found.st_mode):
                        self.assertEqual(found.st_mode & 0o022, 0, f"{path}/{name}")

    def both(self, mode, *options):
        for process in [self.start_as(user, mode, *options) for user in USERS]:
            self.finish(process)
        for user in USERS:
            self.assertEqual(dict(line.split("\t") for line in self.lines(f"{self.own[user]}/out")),
                             {k: str(n) for k, n in self.words.items()})
            self.assertEqual(len(os.listdir(f"{self.own[user]}/state/yunti/hadoop")), 1)
            self.belongs(user, self.own[user])
            shutil.rmtree(f"{self.own[user]}/out")
            shutil.rmtree(f"{self.own[user]}/state")
        self.assertEqual(os.listdir(self.work), [])

    def test_programs_in_the_default_directories(self):
        for isolation in ISOLATIONS:
            self.both("Words", f"-Dyunti.hadoop.isolation={isolation}")
            for user in USERS:
                self.assertTrue(os.path.isdir(f"/tmp/hadoop-{user}/mapred"))
                self.belongs(user, f"/tmp/hadoop-{user}")

    def test_programs_in_directories_that_all_may_write_to(self):
        for name in ("local", "staging", "temporary"):
            os.mkdir(f"{self.shared}/{name}")
            os.chmod(f"{self.shared}/{name}", 0o1777)
        for isolation in ISOLATIONS:
            self.both("Words", f"-Dyunti.hadoop.isolation={isolation}", f"-Dmapreduce.cluster.local.dir={self.shared}/local",
                      f"-Dmapreduce.jobtracker.staging.root.dir={self.shared}/staging",
                      f"-Dhadoop.tmp.dir={self.shared}/temporary")

    def test_pools(self):
        first, second = USERS
        self.pool(first, "start")
        try:
            self.assertIn("no pool runs", self.pool(second, "status"))
            self.assertNotIn("no pool runs", self.pool(first, "status"))
            uid = pwd.getpwnam(first).pw_uid
            self.belongs(first, f"/tmp/yunti-{uid}")
            connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
            done = subprocess.run(self.as_user(second, [sys.executable, "-c", connect,
                                                      f"/tmp/yunti-{uid}/yunti-hadoop-pool.sock"]),
                                  capture_output=True, text=True, check=False)
            self.assertIn("PermissionError", done.stderr)
            self.both("Words")
        finally:
            self.pool(first, "stop")

    def test_a_user_without_a_home_directory(self):
        (user, *_) = USERS
        variables = self.variables(user)
        del variables["XDG_STATE_HOME"]
        command = [YUNTI, "hadoop", "run", self.jar, self.PROGRAM, "Words", self.input, f"{self.own[user]}/out"]
        done = subprocess.run(self.as_user(user, command), capture_output=True, text=True, cwd=self.work, env=variables,
                              timeout=self.SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("there is no history"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
