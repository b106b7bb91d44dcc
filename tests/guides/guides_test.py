"""Runs the commands of the guides: each page must work as written.

    ```sh         one script, in the order of the page, in one folder per page; it must exit with 0
    ```sh same    one command per line; all print the same non-empty text to standard output

A fence of C++, Rust or TOML whose first line names a file (`// a.cpp: ..`) becomes this file. Indented commands do not
run. The folder has `examples/` and `api/`, and `yunti` and the C++ headers are on the search paths.
YUNTI names the binary.
"""

import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))
GUIDE = os.path.join(ROOT, "docs/guide")
# Pages with commands to run; add a page with its first block.
PAGES = ["class-libraries.md", "columns.md", "doctor.md", "exit-codes.md", "getting-started.md", "memory.md", "moving-from.md",
         "streaming.md", "surviving.md"]


def blocks(text):
    """Yields (kind, script) of each fence to run, and the sources of a page under the names in their first lines."""
    for kind, body in re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S):
        if kind in ("sh", "sh same"):
            yield kind, body
        elif kind in ("cpp", "rust", "toml") and (name := re.match(r"(?://|#) ([\w/]+\.\w+): ", body)):
            yield "file " + name[1], body


def ascii_of(text):
    return text.encode(errors="replace").decode()


def page_test(page):
    def test(self):
        with open(os.path.join(GUIDE, page)) as f:
            text = f.read()
        with tempfile.TemporaryDirectory(prefix="yunti-guide-") as work:
            for folder in ("examples", "api"):
                os.symlink(os.path.join(ROOT, folder), f"{work}/{folder}")
            os.mkdir(f"{work}/.bin")
            os.symlink(YUNTI, f"{work}/.bin/yunti")
            env = dict(os.environ, PATH=f"{work}/.bin:{os.environ['PATH']}", CPATH=os.path.join(ROOT, "api/include"),
                       XDG_CACHE_HOME=f"{work}/.cache")

            def bash(script):
                return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=work, env=env,
                                      stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, errors="surrogateescape")

            ran = 0
            for kind, body in blocks(text):
                ran += kind.startswith("sh")
                if kind.startswith("file "):
                    os.makedirs(os.path.dirname(f"{work}/{kind[5:]}"), exist_ok=True)
                    with open(f"{work}/{kind[5:]}", "w") as f:
                        f.write(body)
                elif kind == "sh":
                    done = bash(body)
                    self.assertEqual(done.returncode, 0, ascii_of(f"{body}\n{done.stdout}{done.stderr}"))
                else:
                    commands = body.strip().split("\n")
                    done = [bash(command) for command in commands]
                    for command, each in zip(commands, done):
                        self.assertEqual(each.returncode, 0, f"{command}\n{each.stderr}")
                        self.assertEqual(each.stdout, done[0].stdout, f"{command}\ndiffers from\n{commands[0]}")
                    self.assertTrue(done[0].stdout and len(commands) > 1, body)
            self.assertGreater(ran, 0, f"{page} has no command to run")

    return test


class Guides(unittest.TestCase):
    def test_pages_lists_each_page_with_commands(self):
        with_blocks = []
        for page in sorted(os.listdir(GUIDE)):
            with open(os.path.join(GUIDE, page)) as f:
                if any(kind.startswith("sh") for kind, _ in blocks(f.read())):
                    with_blocks.append(page)
        self.assertEqual(with_blocks, PAGES)


for page in PAGES:
    setattr(Guides, "test_commands_of_" + re.sub(r"\W", "_", page.removesuffix(".md")), page_test(page))

if __name__ == "__main__":
    unittest.main()
