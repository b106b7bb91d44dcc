"""Error that ends the run, as one line: what, where, what to do."""


class Failure(Exception):
    pass
