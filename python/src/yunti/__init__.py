"""Yunti, a data engine: jobs over files, with mappers and reducers in Python.

>>> import yunti as y
>>> y.TextBatch.of(b"to be or not").words().tolist()
[b'to', b'be', b'or', b'not']
"""

from __future__ import annotations

from .batch import Batch, Groups, TextBatch
from .column_types import bytes_ as bytes
from .column_types import f32, f64, i32, i64, none, one, text, u32, u64
from .column_types import slice_ as slice
from .columns import Records, Slices
from .operators import mapper, record, reducer, task
from .folder import Folder
from .job import Job, Result, job, run
from . import program
from .program import JobError
from .report import Report
from .table import Table

__version__ = "0.1.0"
