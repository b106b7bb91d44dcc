"""Commands `up` and `down`."""

import argparse
import contextlib
import fcntl
import glob
import http.client
import os
import pwd
import re
import shlex
import shutil
import sys
import time

import configuration
import daemons
import jars
import namespace
from failure import Failure
from layout import DEFAULT, SOURCE, Layout

COMMANDS = ("hadoop", "hdfs", "yarn", "mapred", "in-cluster")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"cluster: {message} (--help explains)", file=sys.stderr)
        sys.exit(2)


def _nodes(text):
    if not text.isdigit() or not 1 <= int(text) <= configuration.NODES_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {configuration.NODES_MAX}")
    return int(text)


def _seconds(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return int(text)


def _property(text):
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not key=value")
    return key.strip(), value


def _version(text):
    if not re.fullmatch(r"3\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a version, such as 3.3.6")
    return text


def _folder(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return text


def _parser(name, description):
    parser = Parser(prog=name, description=description, allow_abbrev=False)
    parser.add_argument("--dir", default=DEFAULT, metavar="DIR",
                        help="directory of the cluster (default build/cluster)")
    return parser


def _java_home():
    home = os.environ.get("JAVA_HOME")
    if not home:
        java = shutil.which("java")
        if not java:
            raise Failure("java is missing: install a JDK 17 (tools/setup test)")
        home = os.path.dirname(os.path.dirname(os.path.realpath(java)))
    if not os.access(os.path.join(home, "bin", "java"), os.X_OK):
        raise Failure(f"JAVA_HOME={home} has no bin/java")
    return home


def _user():
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise Failure(f"user {os.geteuid()} has no name (/etc/passwd), and Hadoop needs one") from None


@contextlib.contextmanager
def _alone(layout):
    """Locks the cluster for one `up` or `down` at a time. Fails at once if the lock is taken."""
    if os.environ.get(namespace.MARK):
        raise Failure("this command runs inside the namespace of a cluster; run it outside")
    os.makedirs(layout.root, exist_ok=True)
    with open(os.path.join(layout.root, "lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(f"another up or down is running in {layout.root}; wait for it") from None
        yield


# ---- up ----


def up(arguments):
    parser = _parser("up", "Start HDFS, YARN and MapReduce in a separate network namespace.")
    parser.add_argument("--nodes", type=_nodes, default=1, metavar="N",
                        help="number of NodeManagers and DataNodes (default 1)")
    parser.add_argument("--set", type=_property, action="append", default=[], metavar="KEY=VALUE",
                        help="set a property; its name selects the file")
    parser.add_argument("--conf", type=_folder, metavar="DIR",
                        help="add the properties of each *.xml in DIR, and copy its other files")
    parser.add_argument("--hadoop", type=_version, metavar="VERSION",
                        help="run this version of Hadoop, from Maven Central (default: see hadoop/pom.xml)")
    parser.add_argument("--tls", action="store_true", help="use TLS for the shuffle")
    parser.add_argument("--timeout", type=_seconds, default=120, metavar="SECONDS",
                        help="wait at most this long for the daemons (default 120)")
    options = parser.parse_args(arguments)
    layout = Layout(options.dir)
    with _alone(layout):
        if _is_up(layout):
            print(f"cluster: is up already; {_hint(layout)}")
            return
        user, java_home = _user(), _java_home()
        namespace.require()
        hadoop = jars.Jars(options.hadoop)
        hadoop.fetch()
        # NodeManagers require folders that all can read.
        os.umask(0o022)
        _prepare(layout, hadoop, options, user, java_home)
        seconds = _start(layout, hadoop, options, user, java_home)
        _announce(layout, java_home)
        nodes = f"{options.nodes} node{'s' * (options.nodes > 1)}"
        print(f"cluster: up in {seconds:.1f} s: {nodes}, logs in {os.path.relpath(layout.logs)}; {_hint(layout)}")


def _hint(layout):
    return f". {os.path.relpath(layout.env)}"


def _is_up(layout):
    """Returns True if all daemons run, and False if no process exists.

    Fails if only some daemons run or other processes remain, because the user decides what to do then.
    """
    left = namespace.members(layout.root, namespace.identity())
    if not left:
        return False
    missing = [name for name, pid in sorted(_pids(layout).items()) if pid not in left]
    if not os.path.isfile(layout.namespace) or missing:
        what = f"{', '.join(missing)} not running" if missing else "it never came up"
        raise Failure(f"a part of a cluster is left ({what}, {len(left)} processes run); make cluster-down stops it")
    return True


def _pids(layout):
    """Returns the pids of the started daemons by name."""
    pids = {}
    for path in glob.glob(layout.pid("*")):
        with open(path, encoding="ascii") as file, contextlib.suppress(ValueError):
            pids[os.path.basename(path).removesuffix(".pid")] = int(file.read())
    return pids


def _prepare(layout, hadoop, options, user, java_home):
    """Creates the files of the cluster anew, except data/hdfs."""
    for path in (layout.logs, layout.run, layout.bin):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    if not os.path.isfile(layout.worked):
        shutil.rmtree(layout.hdfs, ignore_errors=True)
    kept = [int(path.removeprefix(layout.node_blocks(""))) for path in glob.glob(layout.node_blocks("*"))]
    if max(kept, default=0) > options.nodes:
        raise Failure(f"the kept HDFS has data on {max(kept)} nodes: give --nodes {max(kept)}, or remove it with make "
                      f"cluster-down")
    os.makedirs(layout.tmp, exist_ok=True)
    for node in range(1, options.nodes + 1):
        for path in (layout.node_blocks(node), layout.node_data(node), layout.container_logs(node)):
            os.makedirs(path, exist_ok=True)
    configuration.write(layout, hadoop, options, user, java_home)
    launcher = os.path.join(layout.bin, COMMANDS[0])
    shutil.copy(os.path.join(SOURCE, "launcher.sh"), launcher)
    os.chmod(launcher, 0o755)
    for name in COMMANDS[1:]:
        os.symlink(COMMANDS[0], os.path.join(layout.bin, name))
    with open(layout.settings, "w", encoding="utf-8") as file:
        file.write(f"class_path='{':'.join(hadoop.class_path)}'\njava_home={shlex.quote(java_home)}\n"
                   f"mark={namespace.MARK}\n")


def _announce(layout, java_home):
    """Writes the file that a user's shell sources."""
    with open(layout.env, "w", encoding="utf-8") as file:
        file.write(f'# Written by hadoop/cluster/up. Source this file in each shell that uses the cluster.\nexport '
                   f'HADOOP_HOME={layout.root}\n'
                   f'export HADOOP_CONF_DIR={layout.conf}\nexport YARN_CONF_DIR={layout.conf}\nexport '
                   f'JAVA_HOME="${{JAVA_HOME:-{java_home}}}"\n'
                   f'case ":$PATH:" in *:{layout.bin}:*) ;; *) export PATH={layout.bin}:$PATH ;; esac\n')


def _start(layout, hadoop, options, user, java_home):
    """Starts the daemons and returns the seconds until all of them work. A failure leaves no process."""
    start = time.monotonic()
    outside = namespace.identity()
    namespace.enter()
    crew = daemons.Daemons(layout, hadoop, java_home)
    wait = Wait(crew, start + options.timeout)
    try:
        holder = crew.hold()
        # HDFS is formatted while YARN starts.
        formatting = None if os.path.isfile(layout.worked) else crew.format()
        numbers = range(1, options.nodes + 1)
        crew.start(daemons.RESOURCEMANAGER)
        if formatting:
            wait.until(lambda: formatting.poll() is not None, "format")
            if formatting.returncode != 0:
                raise Failure("HDFS could not be formatted", daemons.tail(layout.log("format")))
        for daemon in [daemons.NAMENODE, *map(daemons.datanode, numbers), *map(daemons.nodemanager, numbers)]:
            crew.start(daemon)
        wait.until(daemons.hdfs_serves, "namenode")
        # Start it only now, because without HDFS it retries only after 10 s.
        crew.start(daemons.HISTORYSERVER)
        wait.until(lambda: daemons.make_folders(user, ["/tmp", f"/user/{user}"]) is None, "namenode")
        wait.until(lambda: daemons.hdfs_works(options.nodes), "datanode1")
        wait.until(lambda: daemons.write_file(user) is None, "datanode1")
        wait.until(lambda: daemons.yarn_works(options.nodes), "resourcemanager")
        wait.until(daemons.history_works, "historyserver")
        with open(layout.worked, "w", encoding="ascii"):
            pass
        # This is the last step, because the launcher takes the file as proof that the cluster runs.
        with open(layout.namespace, "w", encoding="ascii") as file:
            file.write(f"pid={holder.pid}\nnamespace={namespace.identity()}\n")
    except BaseException:
        namespace.end(layout.root, outside, seconds=2)
        shutil.rmtree(layout.run, ignore_errors=True)
        raise
    return time.monotonic() - start


class Wait:
    """Wait for daemons with one deadline for all. It fails early if a daemon ends."""

    def __init__(self, crew, deadline):
        self.crew = crew
        self.deadline = deadline

    def until(self, works, log):
        why = "no answer"
        while time.monotonic() < self.deadline:
            self.crew.check()
            try:
                if works():
                    return
                why = "not ready"
            except (OSError, http.client.HTTPException, ValueError, KeyError, IndexError) as error:
                why = str(error)
            time.sleep(0.2)
        path = self.crew.layout.log(log)
        raise Failure(f"the {log} did not come up in time ({why}); its log is {path}", daemons.tail(path))


# ---- down ----


def down(arguments):
    parser = _parser("down", "Stop every process of the cluster and remove its data.")
    parser.add_argument("--keep", action="store_true", help="keep the data of HDFS for the next up")
    options = parser.parse_args(arguments)
    layout = Layout(options.dir)
    with _alone(layout):
        start = time.monotonic()
        # A NodeManager waits for applications long after their last container ended. It has nothing to lose.
        impatient = {pid for name, pid in _pids(layout).items() if name.startswith("nodemanager")}
        count = namespace.end(layout.root, namespace.identity(), impatient=impatient)
        for path in [layout.run] + ([] if options.keep else [layout.data]):
            shutil.rmtree(path, ignore_errors=True)
        if options.keep:
            for name in os.listdir(layout.data) if os.path.isdir(layout.data) else []:
                if name != os.path.basename(layout.hdfs):
                    shutil.rmtree(os.path.join(layout.data, name), ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(layout.env)
        print(f"cluster: down in {time.monotonic() - start:.1f} s, {count} processes ended" if count
              else "cluster: nothing was running")
