"""The network namespace that a cluster lives in: nothing but a loopback of its own, so no port can clash or be reached from outside.

Membership is also how a cluster is found again. Every process of it carries MARK=<folder> in its environment; a
namespace with a marked process in it is the cluster's, and all that runs in it ends with it: daemons, containers,
clients, whatever a container has left behind. This needs no state on disk, so it holds after a crash, and after
build/ was removed. (Rejected: `ip netns add`, which needs root and outlives its processes; a pid namespace, whose
numbers differ from those that ps shows, and whose /proc may not be mounted in many containers.)
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
    """The network namespace of a process, as the kernel names it, or None."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter():
    """Moves this process into a new namespace with loopback up. Raises OSError where that is not allowed.

    The host name becomes localhost: Hadoop asks for its own host's address, which outside may be one of an interface
    that does not exist in here.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def unshare(flags):
        if libc.unshare(flags) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    user, group = os.geteuid(), os.getegid()
    try:
        unshare(CLONE_NEWNET | CLONE_NEWUTS)
    except PermissionError:
        # Without the right, in a user namespace: the same ids inside as outside, so files keep their owner.
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
    """Fails where no namespace can be made. Tried in a child, because there is no way back out of one."""
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
        raise Failure(f"no network namespace can be made ({os.strerror(abs(code))}): run as root (in a container, with CAP_SYS_ADMIN), "
                      "or allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)")


def _environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # ended meanwhile, a zombie, or another user's


def members(directory, outside):
    """The pids of all processes in the namespaces of the cluster in `directory`. `outside` is never one of them."""
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
    """Ends every process of the cluster: TERM, and KILL after `seconds`, or when only `impatient` ones are left. How many there were."""
    seen = set()
    start = time.monotonic()
    # Once killed, nothing can hold on except a process stuck in the kernel.
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
    raise Failure(f"processes {', '.join(map(str, sorted(alive)))} do not end; look at them with ps")


def reap():
    """Forgets children that have ended: when `up` fails, the daemons are its own."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
