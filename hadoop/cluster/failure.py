"""Failure of a command, with one line for the user. Only gate() turns it into an exit code."""

import signal
import sys


class Failure(Exception):
    """One line: what failed, where, and what to do. `detail`, such as the tail of a log, is printed above it."""

    def __init__(self, message, detail=""):
        super().__init__(message)
        self.detail = detail


def gate(command, arguments):
    """Runs command(arguments) and returns the exit code: 0, 1 after a Failure, or 130 after Ctrl-C.

    Wrong arguments end in the parser, with 2.
    """

    def stop(number, _frame):
        # An exception, so that a half-started cluster is stopped on the way out.
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
        # For example, a full disk or files of another user.
        print(f"cluster: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cluster: stopped", file=sys.stderr)
        return 130
    return 0
