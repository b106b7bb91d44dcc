"""JVM of one test class: its class path, its time limit, and the results of its methods."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from xml.sax.saxutils import escape

import layout
import prepare

HEAP = "1g"
# As in Hadoop's own build.
OPENS = (
    "java.lang",
    "java.lang.reflect",
    "java.io",
    "java.math",
    "java.net",
    "java.text",
    "java.util",
    "java.util.concurrent",
    "java.util.zip",
    "sun.security.util",
    "sun.security.x509",
)
# Seconds that a JVM has to write a thread dump.
DUMP_SECONDS = 2
PROBE_SECONDS_MAX = 120

_running = set()
_lock = threading.Lock()
_is_over = False


def kill_all():
    """Kills all JVMs, and prevents further ones."""
    global _is_over
    with _lock:
        _is_over = True
        for process in _running:
            _signal(process, signal.SIGKILL)


def _signal(process, number):
    # poll() shows if the process id is still its own.
    if process.poll() is None:
        os.killpg(process.pid, number)


def _site(path, base, properties):
    rows = "".join(
        f"<property><name>{escape(k)}</name><value>{escape(v)}</value></property>\n" for k, v in properties.items()
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(base.replace("</configuration>", f"{rows}</configuration>"))


class Jvm:
    """A JVM with its own folder, which is also its working folder: tests write into `build` and `target` below it."""

    def __init__(self, name, variant, word):
        self.folder = os.path.join(layout.WORK, name, word)
        shutil.rmtree(self.folder, ignore_errors=True)
        # Some tests write beside the classes, as in Hadoop's own build.
        for part in ("conf", "data", "tmp", "log", "target/test-classes"):
            os.makedirs(os.path.join(self.folder, part))
        for site, jar in layout.SITES:
            base = prepare.resource(f"{jar}-3.5.0-test-sources.jar", site) if jar else "<configuration></configuration>"
            _site(os.path.join(self.folder, "conf", site), base, variant.properties)
        self.results = os.path.join(self.folder, "results.jsonl")
        self.output = os.path.join(self.folder, "output")
        plugin = [layout.PLUGIN] if variant.plugin else []
        class_path = [
            os.path.join(self.folder, "conf"),
            prepare.classes_of(name),
            layout.CLASSES,
            layout.RESOURCES,
            *plugin,
            os.path.join(layout.LIB, "*"),
        ]
        own = {
            "yunti.results": self.results,
            "yunti.plugins": variant.plugin,
            "java.io.tmpdir": f"{self.folder}/tmp",
            "test.build.data": f"{self.folder}/data",
            "test.build.dir": f"{self.folder}/data",
            "hadoop.log.dir": f"{self.folder}/log",
            "java.net.preferIPv4Stack": "true",
            "java.security.egd": "file:/dev/./urandom",
        }
        # The JVMs end too if this program is killed.
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        # A class takes seconds, so only the fast compiler is used.
        self.words = [
            *guard,
            "java",
            "-ea",
            f"-Xmx{HEAP}",
            "-Xss4m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENS),
            *(f"-D{key}={value}" for key, value in own.items()),
            "-cp",
            ":".join(class_path),
        ]

    def run(self, seconds_max, *words):
        """Runs a command and returns 'done', 'time limit', or 'crashed' if it ended by a signal."""
        with open(self.output, "w", encoding="utf-8") as out:
            with _lock:
                if _is_over:
                    raise KeyboardInterrupt
                process = subprocess.Popen(
                    [*self.words, *words],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
                _running.add(process)
            try:
                process.wait(seconds_max)
                end = "done" if process.returncode >= 0 else "crashed"
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGQUIT)
                time.sleep(DUMP_SECONDS)
                end = "time limit"
            finally:
                _signal(process, signal.SIGKILL)
                process.wait()
                with _lock:
                    _running.discard(process)
        if _is_over:
            raise KeyboardInterrupt
        return end

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# Lets the methods run that Hadoop disabled.
ENABLE = ("--config", "junit.jupiter.conditions.deactivate=org.junit.*DisabledCondition")


def run_class(name, variant, test, seconds_max, is_enabled=False):
    """Runs a class and returns its end, its seconds, whether it reached the plug-in, and its methods by name."""
    jvm = Jvm(name, variant, test)
    begun = time.monotonic()
    end = jvm.run(
        seconds_max,
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--select-class",
        test,
        "--disable-banner",
        "--details=none",
        "--disable-ansi-colors",
        *(ENABLE if is_enabled else ()),
    )
    methods, is_reached = {}, False
    if os.path.exists(jvm.results):
        with open(jvm.results, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if "reached" in row:
                    is_reached = True
                else:
                    methods[row.pop("method")] = row
    if end == "done" and all(row["result"] != "failed" for row in methods.values()):
        jvm.remove()
    return {
        "class": test,
        "end": end,
        "seconds": round(time.monotonic() - begun, 1),
        "reached": is_reached,
        "methods": methods,
    }


def probe(name, variant):
    """Returns {lock, queue, audit: class} of a NameNode that a test starts, and the last exception in its output."""
    jvm = Jvm(name, variant, "probe")
    jvm.run(PROBE_SECONDS_MAX, "Probe")
    with open(jvm.output, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    found = [line[len("yunti."):].split(" ", 1) for line in lines if line.startswith("yunti.")]
    if found:
        jvm.remove()
    return dict(found), next((line for line in reversed(lines) if "Exception" in line), "its output gives no reason")
