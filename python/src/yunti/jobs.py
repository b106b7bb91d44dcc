"""Jobs: classes of Python, settings, inputs and an output, run by the program `yunti`.

Workers import this module with the steps of a dataset, so what only a caller needs is imported where it is used.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import re
from typing import Any, Dict, FrozenSet, Iterable, List, Optional, Sequence, Tuple, Union

from .data.types import Type, bytes_, f64, i64, none, slice_, text
from .folder import Folder, MergeOf, StatesOf
from .formats import Reader, Writer, as_format
from .operators import Mapper, Operator, as_mapper, as_reducer
from .shipping import cluster
from .shipping.job_file import dump
from .placing import Placing, as_placing
from .program import run as run_program
from .program import worker_command
from .results.report import Report
from .results.table import Table

#: Flags of `yunti run` that are keyword arguments, with `_` for `-`.
FLAGS = frozenset("""
    overwrite wait durable resume no_mmap input_format key_columns value_columns output_format output_key_columns
    output_value_columns compress named_output file name mode reduces key_type descending deterministic attempts timeout
    bad_records sandbox worker_memory on key_order side_file table lib isolate partitioner memory threads split_size scratch spill_codec report html quiet ship archive
""".split())

#: Flags that the job itself sets.
OWN_FLAGS = frozenset("input output mapper reducer combiner folder worker json print_job list help version top".split())

#: Flags that name a class of the engine or a format, or are a class of Python.
BY_FLAG = ("partitioner", "key_order", "input_format", "output_format")

#: Types of records of the ready applications; lines of text are keys without values.
_APPLICATIONS = {"wordcount": (text, i64), "count-matches": (text, i64), "count-column": (text, i64),
                 "word-lengths": (i64, i64), "inverted-index": (text, text), "kmeans": (text, text),
                 "pagerank": (text, text)}

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]


class Result:
    """Finished job: its report, and its output as a table."""

    def __init__(self, report: Report, table: Table) -> None:
        #: Report of the job: `.bottleneck`, `.text`, `.counters`.
        self.report = report
        #: Records of the output.
        self.table = table

    def __repr__(self) -> str:
        return f"<{self.report!r}, {self.table!r}>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


class Job:
    """Job to run, on inputs that `run` names. `y.job` makes one."""

    def __init__(self, mapper: Any = None, reducer: Any = None, combiner: Any = None, folder: Any = None,
                 settings: Optional[Dict[str, Any]] = None, **flags: Any) -> None:
        check_flags(flags)
        self.flags = flags
        self.settings = dict(settings or {})
        self._set_classes(mapper, reducer, combiner, folder)

    def _set_classes(self, mapper: Any, reducer: Any, combiner: Any, folder: Any) -> None:
        #: Classes by their flag: an operator, or the name of a class of the engine or a library.
        self.classes: Dict[str, Union[str, Operator]] = {}
        made = mapper if mapper is None or isinstance(mapper, str) else as_mapper(mapper)
        if isinstance(folder, type) and issubclass(folder, Folder):
            if not isinstance(made, Mapper):
                raise TypeError("a folder of Python needs a mapper of Python: its last step makes the states")
            made = StatesOf(made, folder)
            combiner = MergeOf(folder, made.out[0], finishes=False)
            reducer = MergeOf(folder, made.out[0], finishes=True)
        elif folder is not None:
            if not isinstance(folder, str):
                raise TypeError(f"{folder!r} is no folder: derive a class from y.Folder, or name a class as Yunti.SumFolder")
            self.classes["folder"] = folder
        if made is not None:
            self.classes["mapper"] = made
        for flag, given in (("combiner", combiner), ("reducer", reducer)):
            if given is not None:
                self.classes[flag] = given if isinstance(given, str) else as_reducer(given)

    def types(self, flags: Optional[Dict[str, Any]] = None) -> Tuple[Type, Type]:
        """Types of the records of the output, with the flags of a run; without them, with those of the job."""
        mapper = self.classes.get("mapper")
        reader = (self.flags if flags is None else flags).get("input_format")
        without = reader.out if mapper is None and isinstance(reader, Reader) else (bytes_, bytes_)
        key, value = mapper.out if isinstance(mapper, Operator) else without
        for flag in ("reducer", "folder"):
            given = self.classes.get(flag)
            if isinstance(given, Operator):
                key, value = given.out
            elif given is not None:
                value = _result_of(given, value)
        return (bytes_ if key is slice_ else key), (i64 if value.name == "one" else value)

    def run(self, input: Paths, output: Optional[Path] = None, **flags: Any) -> Result:
        """Runs the job. Without an output, its records are in `.table` alone.

        Raises `JobError`, or `KeyboardInterrupt` after ctrl-C.
        """
        import shutil
        import tempfile

        check_flags(flags)
        flags = {**self.flags, **flags}
        flags.update({flag: _marked_by_flag(flag, flags[flag]) for flag in BY_FLAG if flags.get(flag) is not None})
        cluster.check(flags)
        folder = tempfile.mkdtemp(prefix="yunti-job-")
        path = os.path.join(folder, "classes")
        try:
            arguments: List[str] = []
            served = self._served(flags)
            if served:
                dump(served, path)
                arguments += ["--worker", worker_command(path)]
                if cluster.is_on(flags):
                    arguments += cluster.arguments(path, folder, flags)
            for flag, given in self.classes.items():
                arguments += [f"--{flag}", given if isinstance(given, str) else _name(flag, given)]
            if self.settings:
                for key, value in self.settings.items():
                    arguments += ["-D", f"{key}={_setting(value)}"]
            named = {flag: _named(flag, given) for flag, given in flags.items()}
            return execute(arguments, input, output, named, self.types(flags))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _served(self, flags: Dict[str, Any]) -> Dict[str, Operator]:
        """Returns the classes of Python by their names, with the types that come in."""
        served: Dict[str, Operator] = {}
        mapper, reader = self.classes.get("mapper"), flags.get("input_format")
        out = mapper.out if isinstance(mapper, Operator) else (bytes_, None)
        if mapper is None and isinstance(reader, Reader):
            out = reader.out
        for flag, given in [*self.classes.items(), *((flag, flags.get(flag)) for flag in BY_FLAG)]:
            if not isinstance(given, Operator):
                continue
            given = copy.copy(given)
            if isinstance(given, Mapper):
                given.key_columns = _names(flags.get("key_columns"))
                given.value_columns = _names(flags.get("value_columns"))
                if isinstance(reader, Reader):
                    given.takes = reader.out
            elif isinstance(given, Placing):
                given.take((bytes_ if out[0] is slice_ else out[0], out[1] or bytes_))
            elif isinstance(given, Writer):
                given.take(self.types(flags))
            elif not isinstance(given, Reader):
                key, value = out
                given.takes = (bytes_ if key is slice_ else key, getattr(given, "values", None) or value)
            served[_name(flag, given)] = given
        return served


def _name(flag: str, made: Operator) -> str:
    """Returns the name of a class in the job: two functions may have one name."""
    plain = "".join(c if c.isalnum() or c in "._" else "_" for c in made.name).strip("_") or "function"
    return f"{flag}.{plain}"


def _marked_by_flag(flag: str, given: Any) -> Any:
    """Returns the value of a flag in `BY_FLAG`: a name, or a class of Python."""
    if isinstance(given, str):
        return given
    return as_format(flag, given) if flag.endswith("format") else as_placing(flag, given)


def _named(flag: str, given: Any) -> Any:
    """Returns the value of a flag as the command line has it."""
    if not isinstance(given, Operator):
        return given
    return ("class:" if flag.endswith("format") else "") + _name(flag, given)


def _names(columns: Any) -> Tuple[str, ...]:
    if columns is None:
        return ()
    return tuple(columns.split(",")) if isinstance(columns, str) else tuple(columns)


def _result_of(name: str, value: Type) -> Type:
    """Returns the type of values after a class of the engine."""
    if name.startswith("Yunti.SumDouble"):
        return f64
    if name.startswith(("Yunti.Count", "Yunti.Sum", "Yunti.Min", "Yunti.Max")):
        return i64
    return none if name.startswith("Yunti.Distinct") else value


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_flags(flags: Dict[str, Any]) -> None:
    """Raises `TypeError` for a keyword argument that no flag of `yunti run` has."""
    for name in flags:
        if name not in FLAGS and name not in cluster.FLAGS and name not in _newer_flags():
            import difflib

            near = difflib.get_close_matches(name, FLAGS | cluster.FLAGS, 1)
            hint = f": did you mean {near[0]}?" if near else "; python -m yunti help run lists the flags"
            raise TypeError(f"a job has no setting {name}{hint}")


@functools.lru_cache(maxsize=None)
def _newer_flags() -> FrozenSet[str]:
    """Returns the settings of this program, which may be newer than this package, without the job's own flags."""
    flags = re.findall(r"--([a-z][a-z-]+)", run_program(["run", "--help"]).decode())
    return frozenset(flag.replace("-", "_") for flag in flags) - OWN_FLAGS


def arguments_of(flags: Dict[str, Any]) -> List[str]:
    """Returns keyword arguments as flags of the command line.

    >>> arguments_of({"reduces": 2, "overwrite": True, "key_columns": ["a", "b"], "side_file": ["x", "y"]})
    ['--reduces', '2', '--overwrite', '--key-columns', 'a,b', '--side-file', 'x', '--side-file', 'y']
    """
    words: List[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False or name in cluster.FLAGS:
            continue
        if value is True:
            words.append(flag)
        elif name.endswith("columns"):
            words += [flag, ",".join(_names(value))]
        elif isinstance(value, (list, tuple)):
            words += [word for each in value for word in (flag, os.fspath(each))]
        else:
            words += [flag, str(value)]
    return words


def paths_of(given: Paths) -> List[str]:
    """Returns one path or several as a list."""
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    return [os.fspath(path) for path in given]


def execute(arguments: Sequence[str], input: Paths, output: Any, flags: Dict[str, Any],
            types: Tuple[Type, Type], default_format: str = "framed") -> Result:
    """Runs `yunti run` with these arguments. Returns the result, in a temporary directory if there is no output."""
    import shutil
    import tempfile
    import weakref

    words = ["run", *arguments, *arguments_of(flags)]
    for path in paths_of(input):
        words += ["--input", path]
    cluster.check(flags)
    if output is None and cluster.is_on(flags):
        raise TypeError("a job on a cluster needs an output there: name a directory")
    folder = None
    format = flags.get("output_format") or "text"
    if output is None:
        folder = tempfile.mkdtemp(prefix="yunti-out-")
        output = os.path.join(folder, "out")
        if "output_format" not in flags:
            format = default_format
            words += ["--output-format", format]
    output = os.fspath(output)
    try:
        report = json.loads(run_program([*words, "--output", output, "--json"]))
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    table = (cluster.ClusterTable if cluster.is_on(flags) else Table)(output, format, types)
    if folder is not None:
        # The directory lives as long as the table.
        weakref.finalize(table, shutil.rmtree, folder, ignore_errors=True)
    return Result(Report(report), table)


def job(mapper: Any = None, reducer: Any = None, combiner: Any = None, folder: Any = None,
        settings: Optional[Dict[str, Any]] = None, **flags: Any) -> Job:
    """Returns a job. Classes are marked functions, plain functions, or names of the engine's classes.

    Keyword arguments have the names of the command line, as in `memory="2GiB", reduces=4`; `settings` are `-D`.

    >>> import yunti as y
    >>> y.job(mapper="Yunti.WordCountMapper", folder="Yunti.SumFolder", reduces=2).types()
    (yunti.bytes, yunti.i64)
    """
    return Job(mapper, reducer, combiner, folder, settings, **flags)


def run(application: str, input: Paths, output: Optional[Path] = None,
        settings: Optional[Dict[str, Any]] = None, **flags: Any) -> Result:
    """Runs a ready application by its name, as `y.run("wordcount", "books/", "counts/")`. Raises `JobError`."""
    check_flags(flags)
    arguments = [application]
    for key, value in (settings or {}).items():
        arguments += ["-D", f"{key}={_setting(value)}"]
    types = _APPLICATIONS.get(application, (text, none))
    return execute(arguments, input, output, flags, types, default_format="text")
