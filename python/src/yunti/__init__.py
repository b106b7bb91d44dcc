"""Yunti, a data engine: jobs over files, with mappers and reducers in Python.

Names are imported when they are used first, so that `import yunti` takes a millisecond.

>>> import yunti as y
>>> y.TextBatch.of(b"to be or not").words().tolist()
[b'to', b'be', b'or', b'not']
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# For type checkers, which know this name; `typing` itself takes longer to import than all of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

    from . import program as program
    from .data.batch import Batch as Batch
    from .data.batch import Groups as Groups
    from .data.batch import TextBatch as TextBatch
    from .data.types import bytes_ as bytes
    from .data.types import f32 as f32
    from .data.types import f64 as f64
    from .data.types import i32 as i32
    from .data.types import i64 as i64
    from .data.types import none as none
    from .data.types import one as one
    from .data.types import slice_ as slice
    from .data.types import text as text
    from .data.types import u32 as u32
    from .data.types import u64 as u64
    from .data.columns import Records as Records
    from .data.columns import Slices as Slices
    from .data.ordered import OrderedKeys as OrderedKeys
    from .data.shared.columns import TableColumns as TableColumns
    from .data.shared.remote import RemoteTable as RemoteTable
    from .data.shared.table import SharedTable as SharedTable
    from .dataset import Dataset as Dataset
    from .dataset import read as read
    from .folder import Folder as Folder
    from .formats import Chunk as Chunk
    from .formats import reader as reader
    from .formats import writer as writer
    from .jobs import Job as Job
    from .jobs import Result as Result
    from .jobs import job as job
    from .jobs import run as run
    from .operators import mapper as mapper
    from .operators import record as record
    from .operators import reducer as reducer
    from .operators import task as task
    from .placing import key_order as key_order
    from .placing import partitioner as partitioner
    from .program import JobError as JobError
    from .queries.functions import function as function
    from .queries.query import Rows as Rows
    from .queries.query import sql as sql
    from .results.report import Report as Report
    from .results.table import Table as Table

# Module of each name; `bytes` and `slice` are builtins there.
_MODULES = {
    "data.batch": "Batch Groups TextBatch",
    "data.types": "bytes f32 f64 i32 i64 none one slice text u32 u64",
    "data.columns": "Records Slices",
    "data.ordered": "OrderedKeys",
    "data.shared.columns": "TableColumns",
    "data.shared.remote": "RemoteTable",
    "data.shared.table": "SharedTable",
    "dataset": "Dataset read",
    "folder": "Folder",
    "formats": "Chunk reader writer",
    "jobs": "Job Result job run",
    "operators": "mapper record reducer task",
    "placing": "key_order partitioner",
    "program": "JobError",
    "queries.functions": "function",
    "queries.query": "Rows sql",
    "results.report": "Report",
    "results.table": "Table",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "program":
        return importlib.import_module(".program", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module 'yunti' has no attribute '{name}'")
    module = importlib.import_module("." + _PLACES[name], __name__)
    value = getattr(module, {"bytes": "bytes_", "slice": "slice_"}.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted([*_PLACES, "program", "__version__"])
