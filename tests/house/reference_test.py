"""Tests the API reference from the headers: every public name has a comment and appears in it.

These tests find public names independently of tools/reference.py, from the code that users write.
"""

import glob
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
REFERENCE = os.path.join(ROOT, "tools/reference.py")


def read(path):
    with open(path) as f:
        return f.read()


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="yunti-reference-") as folder:
            subprocess.run([REFERENCE, folder], check=True)
            cls.pages = {os.path.basename(path): read(path) for path in glob.glob(f"{folder}/*.md")}

    def test_every_public_name_has_a_comment(self):
        done = subprocess.run([REFERENCE, "--silent"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, ""), done.stderr)

    def test_every_name_of_the_c_abi_appears(self):
        header = re.sub(r"/\*.*?\*/", "", read(f"{ROOT}/api/include/yunti.h"), flags=re.S)
        names = set(re.findall(r"\b(YT_[A-Z0-9_]+|yt_[a-z0-9_]+|yunti_library_v0)\b", header))
        self.assertGreater(len(names), 60)
        # Each name must be declared, not only mentioned.
        declared = "\n".join(re.findall(r"```c\n(.*?)```", self.pages["yunti.h.md"], re.S))
        self.assertEqual(sorted(n for n in names if not re.search(rf"\b{n}\b", declared)), [])
        structs = set(re.findall(r"^typedef struct (\w+)", header, re.M))
        self.assertEqual(sorted(n for n in structs if f"\n## {n}\n" not in self.pages["yunti.h.md"]), [])

    def test_names_in_examples_and_guide_appear(self):
        used = set()
        for path in glob.glob(f"{ROOT}/examples/*/*.cpp") + [f"{ROOT}/docs/guide/class-libraries.md"]:
            used |= set(re.findall(r"\byunti::(\w+)", read(path))) | set(re.findall(r"\b(YUNTI_\w+)\(", read(path)))
        self.assertGreater(len(used), 15)
        everything = "\n".join(self.pages.values())
        listed = set(re.findall(r"^## (\w+)$", everything, re.M)) | {"ascending", "descending"}
        self.assertEqual(sorted(used - listed), [])

    def test_each_header_has_a_page_in_the_index(self):
        headers = ["yunti.h"] + sorted(name for _, _, names in os.walk(f"{ROOT}/api/include/yunti") for name in names)
        self.assertEqual(sorted(self.pages), sorted(["README.md"] + [f"{name}.md" for name in headers]))
        for name in headers:
            self.assertIn(f"({name}.md)", self.pages["README.md"])
            self.assertTrue(re.search(r"```text\n\S", self.pages[f"{name}.md"]), name)

    def test_omits_internal_names(self):
        everything = "\n".join(self.pages.values())
        for name in ("namespace detail", "MapEntry", "SPDX", "private:", "YUNTI_INLINE", "YUNTI_DETECT"):
            self.assertNotIn(name, everything)


if __name__ == "__main__":
    unittest.main()
