"""What ends a command early: a Failure with its one line for the user. gate() is the only place that turns it into an exit code."""

import signal
import sys


class Failure(Exception):
    """What went wrong, where, and what to do, in one line; `detail` (the tail of a log, say) is printed above it."""

    def __init__(self, message, detail=""):
        super().__init__(message)
        self.detail = detail


def gate(command, arguments):
    """The exit code of command(arguments): 0, or 1 after a Failure, or 130 after Ctrl-C. (Wrong arguments end in the parser, with 2.)"""

    def stop(number, _frame):
        # As an exception, so that a cluster that is half up is taken down on the way out.
        raise Failure(f"stopped by {signal.Signals(number).name}")

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        command(arguments)
    except Failure as failure:
        if failure.detail:
            print(failure.detail, file=sys.stderr)
        print(f"cluster: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        # A full disk, or files of another user.
        print(f"cluster: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cluster: stopped", file=sys.stderr)
        return 130
    return 0
