"""Measured cluster: started for the bench or borrowed, with its commands and the processor time of its processes.

As root, a control group of version 2 counts the time, also beside version 1. It includes daemons, containers and their
children, ended or not, to the microsecond. Otherwise the time comes from /proc, for the living processes in the network
namespace of the cluster and the children they waited for. A process that outlives its parent is then lost. Neither
includes the programs that submit jobs: they are children of the bench, and their time is reported separately.
"""

import contextlib
import os
import subprocess
import time

from harness import commands, control_group
from harness.measure import Failed

UP, DOWN = (os.path.join(commands.ROOT, "hadoop/cluster", name) for name in ("up", "down"))
BUILD = os.path.join(commands.ROOT, "build")
OWN = os.path.join(BUILD, "cluster-bench")
EXAMPLES = os.path.join(BUILD, "cluster/examples")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
# Seconds to wait for the end of an application master, which outlives its job for some seconds.
QUIET_SECONDS_MAX = 60


def _group_root():
    """Returns the mount point of control groups of version 2, or None."""
    with open("/proc/mounts") as f:
        return next((line.split()[1] for line in f if line.split()[2] == "cgroup2"), None)


@contextlib.contextmanager
def _group():
    """Yields a group that counts processor time, or None if it cannot be created."""
    root = _group_root()
    path = f"{root}/yunti-bench-{os.getpid()}"
    try:
        os.mkdir(path)
    except OSError:
        path = None
    try:
        entered = path and subprocess.run(control_group.entering(path, ["true"]),
                                          stderr=subprocess.DEVNULL).returncode == 0
        yield path if entered else None
    finally:
        if path:
            with contextlib.suppress(OSError):
                os.rmdir(path)


@contextlib.contextmanager
def own(settings):
    """Yields a cluster of this bench, and stops it at the end."""
    with _group() as group:
        up = [UP, "--dir", OWN]
        for setting in settings:
            up += ["--set", setting]
        try:
            # A killed bench may have left a cluster.
            for command in ([DOWN, "--dir", OWN], control_group.entering(group, up) if group else up):
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, text=True)
                if done.returncode:
                    raise Failed("the cluster does not start: " + " | ".join(done.stdout.strip().splitlines()[-5:]))
            yield Cluster(OWN, group)
        finally:
            subprocess.run([DOWN, "--dir", OWN], stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def borrowed(directory):
    """Yields a running cluster, and leaves it running."""
    if not os.path.exists(os.path.join(directory, "run/namespace")):
        raise Failed(f"there is no cluster in {directory}: make cluster-up")
    yield Cluster(os.path.realpath(directory), None)


class Cluster:
    def __init__(self, directory, group):
        self.directory = directory
        self.group = group
        # Drop the caller's Hadoop settings, which may be the measured ones.
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "YARN_", "MAPRED_", "HDFS_"))
                 and k != "CLASSPATH"}
        conf = directory + "/conf"
        self.environment = clean | {"HADOOP_HOME": directory, "HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf,
                                    "PATH": f"{directory}/bin:{os.environ['PATH']}"}
        with open(directory + "/run/namespace") as f:
            self._namespace = dict(line.strip().split("=", 1) for line in f)["namespace"]
        self._daemons = {}
        for name in os.listdir(directory + "/run"):
            if name.endswith(".pid"):
                with open(f"{directory}/run/{name}") as f:
                    self._daemons[name.removesuffix(".pid")] = int(f.read())

    # ---- commands ----

    def call(self, *command, check=True, **more):
        """Runs a command with this cluster's environment and returns its standard output as text."""
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              text=True, **more)
        if check and done.returncode:
            raise Failed(f"{' '.join(command[:3])} ended with {done.returncode}: "
                         + " | ".join(done.stderr.strip().splitlines()[-3:]))
        return done.stdout

    def start(self, command, **more):
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, **more)

    def hdfs(self, *arguments, check=True):
        return self.call("hdfs", "dfs", *arguments, check=check)

    def version(self):
        return self.call("hadoop", "version").split("\n", 1)[0].removeprefix("Hadoop ")

    # ---- processor time ----

    def how_counted(self):
        if self.group:
            return "control group: all processes of the cluster"
        return "/proc: living processes of the cluster and children they waited for"

    def cpu(self):
        """Returns (seconds of all processes, {daemon: seconds of the daemon alone})."""
        daemons = {name: sum(_times(pid)[:2]) for name, pid in self._daemons.items() if name != "holder"}
        if self.group:
            with open(self.group + "/cpu.stat") as f:
                return int(dict(line.split() for line in f)["usage_usec"]) / 1e6, daemons
        return sum(sum(_times(pid)) for pid in self._members()), daemons

    def until_quiet(self):
        """Waits until only the daemons run, so that leftovers of a job do not count for the next one."""
        daemons = set(self._daemons.values())
        end = time.monotonic() + QUIET_SECONDS_MAX
        while time.monotonic() < end:
            if not self._members() - daemons:
                return
            time.sleep(0.1)
        raise Failed(f"processes still run in the cluster {QUIET_SECONDS_MAX} s after the job")

    def _members(self):
        if self.group:
            with open(self.group + "/cgroup.procs") as f:
                return {int(line) for line in f}
        return {int(name) for name in os.listdir("/proc") if name.isdigit() and _namespace_of(name) == self._namespace}


def _namespace_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _times(pid):
    """Returns seconds of user, system, children's user and children's system time; zeros if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return [int(ticks) / TICKS_A_SECOND for ticks in f.read().rpartition(")")[2].split()[11:15]]
    except OSError:
        return [0, 0, 0, 0]
