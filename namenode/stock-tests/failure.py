"""What ends the run early, as one line: what, where, what to do."""


class Failure(Exception):
    pass
