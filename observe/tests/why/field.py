"""More programs with a known cause, those of field/programs.json, with the same functions as in `programs`.

An entry is as in programs.json, with these differences. A program prints at most its port, so "warm_up_seconds" gives
the time until its steady state. It takes no argument for its time: the program and its neighbours, from field/peers,
end by themselves after two minutes. There is no cure.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

import programs
from programs import missing  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "field")
SECONDS_MAX = 110

with open(os.path.join(SOURCES, "programs.json")) as f:
    PROGRAMS = json.load(f)


def named(name):
    return next(p for p in PROGRAMS if p["name"] == name)


def build(chosen, folder, java_home=None):
    """Builds the `chosen` programs and their neighbours into `folder`."""
    java = [os.path.join(SOURCES, p["source"]) for p in chosen if p["kind"] == "java"]
    native = [os.path.join(SOURCES, p["source"]) for p in chosen if p["kind"] == "c++"]
    if any("neighbours" in p["setup"] for p in chosen):
        native.append(os.path.join(SOURCES, "peers/nightly_encode.cpp"))
    if java:
        subprocess.run([programs.tool("javac", java_home), "--release", "17", "-d", folder, *java], check=True)
    for source in native:
        program = os.path.join(folder, os.path.basename(source)[: -len(".cpp")])
        subprocess.run(
            ["g++", "-std=gnu++17", "-O2", "-g", "-Wall", "-Wextra", "-pthread", "-o", program, source], check=True
        )


def command_of(program, folder, java_home):
    match program["kind"]:
        case "java":
            return [programs.tool("java", java_home), *program["jvm_flags"], "-cp", folder, program["main"]]
        case "python":
            return [sys.executable, os.path.join(SOURCES, program["source"])]
        case _:
            return [os.path.join(folder, program["main"])]


@contextlib.contextmanager
def peer(folder, name, *args):
    path = (
        [sys.executable, os.path.join(SOURCES, "peers", name)] if name.endswith(".py") else [os.path.join(folder, name)]
    )
    process = programs.Process([*path, *args], folder)
    try:
        yield process
    finally:
        process.stop()


@contextlib.contextmanager
def started(program, folder, java_home=None, seconds=60, warm_up=None):
    """Runs `program` from `folder`. Yields its process in its steady state, with `seconds` left, and stops everything
    after."""
    warm_up = program["warm_up_seconds"] if warm_up is None else warm_up
    assert warm_up + seconds <= SECONDS_MAX, "it ends before that"
    setup, args = program["setup"], program["args"]
    with contextlib.ExitStack() as within:
        if "remote" in setup:
            port = within.enter_context(peer(folder, *setup["remote"])).line_with("listening")
            args = [a.replace("{remote_port}", port) for a in args]
        if "resolver" in setup:
            name, *words = setup["resolver"]
            within.enter_context(peer(folder, name, programs.RESOLVER, *words)).line_with("ready")
        for neighbour in setup.get("neighbours", []):
            within.enter_context(peer(folder, *neighbour)).line_with("ready")
        command = programs.inside(setup, folder, within)
        process = programs.Process([*command, *command_of(program, folder, java_home), *args], folder)
        within.callback(process.stop)
        if "clients" in setup:
            name, *words = setup["clients"]
            within.enter_context(peer(folder, name, process.line_with("listening"), *words))
        time.sleep(warm_up)
        if process.popen.poll() is not None:
            raise RuntimeError(f"{program['name']} has ended with {process.popen.returncode}")
        yield process
