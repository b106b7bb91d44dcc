"""Checks the licences of Java libraries for builds and tests, with a plug-in of Maven.

    python3 -m unittest discover -s tests/house -p java_licences_test.py
"""

import glob
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PLUGIN = "org.codehaus.mojo:license-maven-plugin:2.7.0"
# Licences of libraries that are not distributed: Hadoop's own and those of tests. One of several licences must match.
ALLOWED = re.compile(
    r"apache|\bmit\b|bsd|\bedl\b|\bepl\b|eclipse (public|distribution) license|public domain|bouncy castle|the go "
    r"license"
    r"|\bcddl\b|classpath exception|w/ cpe",
    re.I)

# Libraries whose description on Maven Central names no licence, and the licence of their project.
UNNAMED = {"org.apache.pig:pig:0.18.0": ["Apache License, Version 2.0"]}


def licences(text):
    """Yields each artifact of the plug-in's list with its licences."""
    for line in text.splitlines():
        found = re.match(r"\s+((?:\((?:[^()]|\([^()]*\))*\) )+).*\(([^()\s]+:[^()\s]+:[^()\s]+) - .*\)$", line)
        if found:
            yield found[2], re.findall(r"\(((?:[^()]|\([^()]*\))*)\) ", found[1])


class JavaLicences(unittest.TestCase):
    def allowed(self, *project, goal="aggregate-add-third-party"):
        with tempfile.TemporaryDirectory() as folder:
            command = ["mvn", "-q", "-B", "-f", *project, f"{PLUGIN}:{goal}", f"-Dlicense.outputDirectory={folder}"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(folder, "THIRD-PARTY.txt"), encoding="utf-8") as file:
                text = file.read()
        found = {name: UNNAMED.get(name, names) for name, names in licences(text)}
        self.assertEqual(len(found), int(re.search(r"Lists of (\d+) ", text)[1]), "every line is parsed")
        self.assertEqual({name: names for name, names in found.items() if not any(ALLOWED.search(n) for n in names)},
                         {})

    def test_hadoop(self):
        self.allowed("hadoop/pom.xml")

    def test_namenode(self):
        for project in ("namenode/plugin", "namenode/jcstress"):
            # These projects have one module and no children.
            self.allowed(f"{project}/pom.xml", goal="add-third-party")

    def test_messages(self):
        self.allowed("capacity/messages/pom.xml", goal="add-third-party")

    def test_tables(self):
        self.allowed("table/pom.xml")

    def test_web(self):
        self.allowed("web/pom.xml", "-Pbench")

    def test_trials(self):
        poms = glob.glob("observe/tests/why/trials/**/*.xml", root_dir=ROOT, recursive=True)
        poms = sorted(path for path in poms if "/lib/" in path)
        self.assertTrue(poms)
        for pom in poms:
            # These projects only list libraries.
            self.allowed(pom, "-Dlicense.acceptPomPackaging=true", goal="add-third-party")

    def test_refuses_a_licence_that_is_not_allowed(self):
        line = "     (GNU Affero General Public License v3) Some (thing) (org.x:some:1.0 - http://x)"
        (name, names), = licences(line)
        self.assertEqual((name, any(ALLOWED.search(n) for n in names)), ("org.x:some:1.0", False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
