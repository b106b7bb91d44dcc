"""What a crash of a class costs: one crash in a small job, and ten records in 1 GB that crash it each time."""

import os
import shutil
import statistics

from comparison import absolute, compare
from harness import commands, data
from harness.measure import WORK, Program

SPLIT = 1 << 20


def with_killers(folder, count):
    """Returns a copy of the folder in which `count` lines crash the class, at even distances."""
    copy = f"{folder}-{count}-killers"
    if os.path.exists(copy):
        return copy
    shutil.rmtree(copy + ".part", ignore_errors=True)
    os.makedirs(copy + ".part")
    total, before, done = data.bytes_of(folder), 0, 0
    for path in data.files(folder):
        with open(path, "rb") as source, open(f"{copy}.part/{os.path.basename(path)}", "wb") as target:
            for line in source:
                before += len(line)
                target.write(line)
                if done < count and before >= (done + 0.5) * total / count:
                    target.write(b"KILLER %d\n" % done)
                    done += 1
    os.rename(copy + ".part", copy)
    return copy


def differences(result, of, to):
    """Returns the median of of - to in CPU milliseconds, and the difference of the least times."""
    samples = {name: [s["cpu"] for s in result["programs"][name]["samples"]] for name in (of, to)}
    each = [(a - b) * 1000 for a, b in zip(samples[of], samples[to])]
    return statistics.median(each), (min(samples[of]) - min(samples[to])) * 1000


def one(options):
    """A crash in a job of 32 splits: the same job, whose class crashes once, and does not crash."""
    folder = with_killers(data.prepare("text", 32 * SPLIT), 1)
    job = " ".join(commands.fill(commands.OURS["wordcount-crashing"] + commands.SPLITS, input=folder, output="{out}",
                                 split_bytes=SPLIT))
    mark = f"{WORK}/crashed"

    def command(before):
        return lambda output: ["sh", "-c", f"{before} {mark}; exec {job} -D crashing.once={mark}".replace("{out}", output)]

    programs = [Program("yunti", command("touch")), Program("yunti, a crash", command("rm -f"))]
    result = compare("crash-one", "word count of 32 MiB in splits of 1 MiB, one crash", programs, [], options,
                     rounds=options.rounds * 3)
    median, least = differences(result, "yunti, a crash", "yunti")
    replay = result["programs"]["yunti"]["cpu_median"] * 1000 / 32
    verdict = absolute("crash-one", "CPU of a crash, less the replay of a split", median - replay, "ms", 50,
                       replay_ms=replay, difference_of_least_ms=least)
    return [result, verdict]


def ten(options):
    """Ten records that crash the class in each attempt, and are left out; and the same data without them."""
    plain = data.prepare("text", max(10_000_000, int(1e9 * options.size)))
    flags = {"yunti": (plain, ""), "yunti, ten killers": (with_killers(plain, 10), " --bad-records skip:10")}
    programs = [Program(name, lambda output, folder=folder, more=more: commands.fill(
        commands.OURS["wordcount-crashing"] + more, input=folder, output=output)) for name, (folder, more) in flags.items()]
    result = compare("crash-ten", "word count of 1 GB, ten records that crash the class", programs, [], options)
    median, least = differences(result, "yunti, ten killers", "yunti")
    return [result, absolute("crash-ten", "CPU of ten killer records", median, "ms", 1000, difference_of_least_ms=least)]


ROWS = {"crash-one": one, "crash-ten": ten}
