"""Worker process: it serves the classes of a job file to the engine, over shared memory.

Start it as `python -m yunti.worker JOBFILE`.
"""
