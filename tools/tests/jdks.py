"""Installed JDKs by version."""

import glob
import os
import re


def _homes():
    named = [value for name,
             value in os.environ.items() if re.fullmatch(r"JAVA_?(\d+_)?HOME(_\d+\w*)?|JDK_?\d+(_HOME)?", name)]
    return named + sorted(glob.glob("/usr/lib/jvm/*") + glob.glob(os.path.expanduser("~/.sdkman/candidates/java/*")))


def find(versions):
    """Returns {version: (name, home)} of the installed JDKs among `versions`, in that order. Temurin is preferred."""
    found = {}
    for home in _homes():
        try:
            with open(os.path.join(home, "release")) as f:
                facts = dict(re.findall(r'^(\w+)="(.*)"', f.read(), re.M))
        except OSError:
            continue
        # Java 8 calls itself 1.8.
        version = facts.get("JAVA_VERSION", "").removeprefix("1.").split(".")[0]
        if version in versions and os.access(os.path.join(home, "bin/java"), os.X_OK):
            build = facts.get("JAVA_RUNTIME_VERSION") or facts["JAVA_VERSION"]
            name = f"{facts.get('IMPLEMENTOR', '')} {build}".strip()
            if version not in found or "Adoptium" in name and "Adoptium" not in found[version][0]:
                found[version] = (name, home)
    return {v: found[v] for v in versions if v in found}
