"""Worker process: it serves the classes of a job file to the engine, over shared memory.

docs/formats/worker.md describes the protocol. Start it as `python -m yunti.worker JOBFILE`.
"""
