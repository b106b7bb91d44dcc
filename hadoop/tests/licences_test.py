#!/usr/bin/env python3
"""What the jar carries, and the licences of the Java libraries that are built or tested with.

    python3 -m unittest discover -s hadoop/tests -p licences_test.py
"""

import os
import re
import subprocess
import tempfile
import unittest
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
JAR = os.path.join(ROOT, "dist/java/yunti-hadoop.jar")
GOAL = "org.codehaus.mojo:license-maven-plugin:2.7.0:aggregate-add-third-party"
# Of libraries that no user is given: Hadoop's own, and those of tests. Of several licences one must be here.
ALLOWED = re.compile(
    r"apache|\bmit\b|bsd|\bedl\b|\bepl\b|eclipse (public|distribution) license|public domain|bouncy castle|the go license"
    r"|\bcddl\b|classpath exception|w/ cpe",
    re.I)


def licences(text):
    """Artifacts and their licences, of the plug-in's list."""
    for line in text.splitlines():
        found = re.match(r"\s+((?:\((?:[^()]|\([^()]*\))*\) )+).*\(([^()\s]+:[^()\s]+:[^()\s]+) - .*\)$", line)
        if found:
            yield found[2], re.findall(r"\(((?:[^()]|\([^()]*\))*)\) ", found[1])


class Licences(unittest.TestCase):
    def test_what_is_built_and_tested_with(self):
        with tempfile.TemporaryDirectory() as folder:
            command = ["mvn", "-q", "-B", "-f", os.path.join(ROOT, "hadoop/pom.xml"), GOAL, f"-Dlicense.outputDirectory={folder}"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(folder, "THIRD-PARTY.txt"), encoding="utf-8") as file:
                text = file.read()
        found = dict(licences(text))
        self.assertEqual(len(found), int(re.search(r"Lists of (\d+) ", text)[1]), "every line is understood")
        self.assertEqual({name: names for name, names in found.items() if not any(ALLOWED.search(n) for n in names)}, {})

    def test_the_jar_carries_what_is_ours_and_its_licences(self):
        with zipfile.ZipFile(JAR) as jar:
            foreign = [n for n in jar.namelist() if not n.startswith(("org/yunti/", "META-INF/")) and n != "org/"]
            self.assertEqual(foreign, [])
            self.assertIn("Apache License", jar.read("META-INF/LICENSE").decode())
            self.assertIn("Yunti", jar.read("META-INF/NOTICE").decode())
            texts = jar.read("META-INF/licenses.txt").decode()
        for crate in ("snap", "zstd-safe", "jni"):
            self.assertRegex(texts, rf"(?m)^{crate} \d")

    def test_a_licence_that_is_not_allowed_is_seen(self):
        line = "     (GNU Affero General Public License v3) Some (thing) (org.x:some:1.0 - http://x)"
        (name, names), = licences(line)
        self.assertEqual((name, any(ALLOWED.search(n) for n in names)), ("org.x:some:1.0", False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
