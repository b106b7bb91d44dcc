"""Installed JDKs, the classes of the bench, and runs of its programs in new JVMs with a time limit."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from harness import commands
from harness.measure import Failed

sys.path.append(os.path.join(commands.ROOT, "tools/tests"))
import jdks  # noqa: E402

BUILT = os.path.join(commands.ROOT, "build/web/yunti-velocity-bench")
WORK = os.path.join(commands.ROOT, "build/bench-web")
PACKAGE = "org.yunti.web.bench"
# The same fixed heap for all, so that no run includes its growth.
HEAP = ["-Xms512m", "-Xmx512m"]
BUILD_SECONDS_MAX = 600


@dataclass
class Jdk:
    version: str  # 17
    name: str  # Temurin 25.0.3+9
    home: str

    def command(self, main, *arguments, options=()):
        with open(os.path.join(BUILT, "classpath")) as f:
            path = os.path.join(BUILT, "classes") + os.pathsep + f.read().strip()
        return [os.path.join(self.home, "bin/java"), *HEAP, *options, "-cp", path, main, *map(str, arguments)]

    def lines(self, main, *arguments, options=(), timeout=120):
        """Runs a program of the bench and returns its lines of JSON."""
        try:
            done = subprocess.run(self.command(main, *arguments, options=options), capture_output=True, text=True,
                                  timeout=timeout, check=False)
        except subprocess.TimeoutExpired as expired:
            raise Failed(f"{main} {' '.join(map(str, arguments))} did not end in {timeout} s") from expired
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode:
            wrong = [str(line) for line in found
                     if line.get("same") == "no"] or (done.stderr or done.stdout).strip().splitlines()[:5]
            raise Failed(f"{main} {' '.join(map(str, arguments))} ended with {done.returncode}: " + " | ".join(wrong))
        return found


def find(versions):
    """Returns {version: Jdk} of the installed versions, in the order of `versions`."""
    return {version: Jdk(version, name, home) for version, (name, home) in jdks.find(versions).items()}


def build():
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", "web/pom.xml", "-Pbench", "-pl", "bench", "-am",
               "-DskipTests", "package"]
    try:
        done = subprocess.run(command, cwd=commands.ROOT, capture_output=True, text=True, timeout=BUILD_SECONDS_MAX,
                              check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Failed(f"web/bench cannot be built: {failure}") from failure
    if done.returncode:
        raise Failed("web/bench cannot be built:\n"
                     + "\n".join(line for line in done.stdout.splitlines() if "ERROR" in line)[:2000])
