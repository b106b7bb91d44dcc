"""Job files: the classes of a job on their way to its workers, by cloudpickle.

```text
  version of Python | places of modules | classes by name | sources of files that no worker can read, as the cells of a notebook
```

cloudpickle drops the file names of code, which tracebacks need; they travel beside it.
"""

from __future__ import annotations

import linecache
import os
import pickle
import sys
import zlib
from types import CodeType
from typing import Any, Callable, Dict, List, Set, Tuple


def dump(served: Dict[str, Any], path: str) -> None:
    """Writes the classes. Raises `TypeError` for a function that cannot travel."""
    import cloudpickle

    files: Set[str] = set()
    with_code = cloudpickle.Pickler.dispatch_table[CodeType]

    def reduce_code(code: CodeType) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
        files.add(code.co_filename)
        make, arguments = with_code(code)[:2]
        return code_of, (code.co_filename, make, arguments)

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        dispatch_table = cloudpickle.Pickler.dispatch_table.new_child({CodeType: reduce_code})

    places = [os.path.abspath(place or os.getcwd()) for place in sys.path]
    with open(path, "wb") as file:
        pickle.dump(tuple(sys.version_info[:2]), file)
        pickle.dump(places, file)
        try:
            Pickler(file).dump(served)
        except Exception as e:
            raise TypeError(f"the functions of the job cannot travel to its workers: {e}; open files, locks and "
                            "connections inside of the function") from e
        sources = {name: linecache.getlines(name) for name in files if not os.path.exists(name)}
        pickle.dump(sources, file)


def traceback_path(path: str, line: str) -> str:
    """Returns the file that marks the traceback of an error as printed; the engine passes on its one line."""
    return f"{path}.{zlib.crc32(line.encode(errors='replace')):08x}"


def code_of(file: str, make: Callable[..., CodeType], arguments: Tuple[Any, ...]) -> CodeType:
    """Returns code with the name of its file."""
    return make(*arguments).replace(co_filename=file)


def load(path: str) -> Dict[str, Any]:
    """Returns the classes by name, in a worker."""
    with open(path, "rb") as file:
        made_by, own = pickle.load(file), tuple(sys.version_info[:2])
        if made_by != own:
            # Code objects differ between versions; a worker of another one may crash in the middle of a job.
            version = "{}.{}".format
            raise RuntimeError(f"the functions come from Python {version(*made_by)}, and {sys.executable} is Python "
                               f"{version(*own)}: name an interpreter of the same version")
        places: List[str] = pickle.load(file)
        # Modules that functions come from are found where the caller found them, or among the files that a job ships.
        sys.path += [place for place in (os.getcwd(), *places) if place not in sys.path]
        served: Dict[str, Any] = pickle.load(file)
        for name, lines in pickle.load(file).items():
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return served
