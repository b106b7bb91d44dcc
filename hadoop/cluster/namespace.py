"""Network namespace of a cluster. It contains only its own loopback, so ports neither clash nor are reachable outside.

Membership in the namespace also identifies the processes of a cluster. Each process carries MARK=<folder> in its
environment. A namespace with a marked process belongs to the cluster. Stopping the cluster ends all processes in it:
daemons, containers, clients, and leftovers of containers. This needs no state on disk, so it works after a crash and
after build/ was removed.

Rejected: `ip netns add` needs root and outlives its processes. In a pid namespace, pids differ from the output of ps,
and many containers may not mount its /proc.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import time

from failure import Failure

MARK = "YUNTI_CLUSTER"
HOST = "localhost"

CLONE_NEWUTS, CLONE_NEWUSER, CLONE_NEWNET = 0x04000000, 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def identity(pid="self"):
    """Returns the kernel's name for the network namespace of a process, or None."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter():
    """Moves this process into a new namespace with loopback up. Raises OSError if that is not allowed.

    The host name becomes localhost. Hadoop resolves its own host name, whose address may belong to an interface outside
    the namespace.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def unshare(flags):
        if libc.unshare(flags) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    user, group = os.geteuid(), os.getegid()
    try:
        unshare(CLONE_NEWNET | CLONE_NEWUTS)
    except PermissionError:
        # Without the privilege, use a user namespace. Ids are the same inside as outside, so files keep their owner.
        unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWUTS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
    socket.sethostname(HOST)


def require():
    """Fails if no namespace can be created. A child process tries it, because a process cannot leave a namespace."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            enter()
            code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise Failure(f"no network namespace can be made ({os.strerror(abs(code))}): run as root (in a container, "
                      f"with CAP_SYS_ADMIN), "
                      "or allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)")


def _environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # has ended, is a zombie, or belongs to another user


def members(directory, outside):
    """Returns the pids of all processes in the namespaces of the cluster in `directory`, except `outside`."""
    mark = os.fsencode(f"{MARK}={directory}")
    running, own = {}, set()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            namespace = identity(name)
            if namespace and namespace != outside:
                running[int(name)] = namespace
                if namespace not in own and mark in _environment(name):
                    own.add(namespace)
    return {pid for pid, namespace in running.items() if namespace in own}


def end(directory, outside, seconds=10, impatient=frozenset()):
    """Ends every process of the cluster and returns their number.

    Each gets SIGTERM, and SIGKILL after `seconds` or when only `impatient` processes are left.
    """
    seen = set()
    start = time.monotonic()
    # After SIGKILL, only a process that is stuck in the kernel remains.
    while time.monotonic() < start + seconds + 5:
        alive = members(directory, outside)
        if not alive:
            return len(seen)
        kill = time.monotonic() >= start + seconds or alive <= impatient
        for pid in alive if kill else alive - seen:
            try:
                os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
            except ProcessLookupError:
                pass
        seen |= alive
        reap()
        time.sleep(0.05)
    raise Failure(f"processes {', '.join(map(str, sorted(alive)))} do not end; inspect them with ps")


def reap():
    """Reaps children that have ended. If `up` fails, the daemons are its children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
