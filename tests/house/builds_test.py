"""Tests what the targets of the parts set up and compile.

    python3 -m unittest discover -s tests/house -p builds_test.py
"""

import json
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PARTS = ("yunti", "namenode", "hadoop", "observe", "web")


def commands_of(*targets):
    """Returns the command lines of targets without executing them."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(["make", "-n", "-s", *targets], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Builds(unittest.TestCase):
    def test_parts_set_up_no_tools_of_tests(self):
        setups = {target for line in commands_of(*PARTS) for target in re.findall(r"tools/setup (\w+)", line)}
        self.assertEqual(setups, {"hadoop", "observe"})

    def test_only_the_setup_of_tests_builds_tools(self):
        with tempfile.TemporaryDirectory(prefix="yunti-setup-") as folder:
            calls = os.path.join(folder, "calls")
            with open(os.path.join(folder, "cargo"), "w") as f:
                f.write(f'#!/bin/sh\necho "$*" >> {calls}\necho cargo-deny 0.20.2\n')
            os.chmod(f.name, 0o755)
            env = os.environ | {"PATH": folder + os.pathsep + os.environ["PATH"]}
            for target, expected in (("build", ""), ("hadoop", ""), ("observe", ""), ("test", "deny --version\n")):
                open(calls, "w").close()
                subprocess.run(["tools/setup", target], cwd=ROOT, env=env, check=True, capture_output=True)
                with open(calls) as f:
                    self.assertEqual(f.read(), expected, target)

    def test_one_build_of_the_engine_serves_the_command_and_hadoop(self):
        builds = {line for line in commands_of("yunti", "hadoop") if line.startswith("cargo build")}
        self.assertEqual(len(builds), 2, builds)
        libraries = {name for build in builds for name in self.engines(build)}
        self.assertEqual(len(libraries), 1, f"Cargo compiles the engine {len(libraries)} times: {libraries}")

    @staticmethod
    def engines(build):
        """Returns the libraries of the engine that a build uses."""
        done = subprocess.run([*build.split(), "--message-format", "json"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              check=True)
        messages = map(json.loads, done.stdout.splitlines())
        return {name for message in messages if message.get("target", {}).get("name") == "yunti_engine"
                for name in message["filenames"] if name.endswith(".rmeta")}


if __name__ == "__main__":
    unittest.main(verbosity=2)
