"""`python -m yunti ARGUMENTS`: runs the program itself."""

import os
import sys
from typing import NoReturn

from .program import environment, program


def main() -> NoReturn:
    path = program()
    os.execve(path, [path, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
