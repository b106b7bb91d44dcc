"""Tests the jars of `make web`: the class path and the program of the guide, and the tool.

    python3 -m unittest discover -s tests/house -p web_jars_test.py
"""

import glob
import os
import re
import subprocess
import tempfile
import unittest
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class WebJars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="yunti-web-")
        cls.addClassCleanup(cls.work.cleanup)
        cls.dist = os.path.join(cls.work.name, "dist")
        cls.output = subprocess.run(["make", "-s", "web", f"DIST={cls.dist}"], cwd=ROOT, check=True,
                                    stdout=subprocess.PIPE, text=True).stdout
        cls.jars = sorted(glob.glob(f"{cls.dist}/java/velocity/*.jar"))
        cls.tool = f"{cls.dist}/java/yunti-velocity-tool.jar"
        with open(os.path.join(ROOT, "docs/guide/templates.md")) as f:
            cls.page = f.read()

    def run_in(self, folder, *command):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_target_prints_where_the_jars_are(self):
        self.assertIn(f"{self.dist}/java/velocity", self.output)
        self.assertIn(self.tool, self.output)

    def test_the_folder_is_a_whole_class_path(self):
        names = {re.sub(r"-\d[\w.]*\.jar$", "", os.path.basename(jar)) for jar in self.jars}
        parts = ("", "-page", "-http", "-servlet", "-spring", "-delivery")
        libraries = {"velocity-engine-core", "commons-lang3", "slf4j-api", "asm"}
        self.assertEqual(names, {f"yunti-velocity{part}" for part in parts} | libraries)

    def test_the_program_of_the_guide_runs(self):
        files = {name: text for kind, name, text in re.findall(r"^```(\w+)\n(?://|##) (\S+): [^\n]*\n(.*?)^```$",
                                                               self.page, re.M | re.S)}
        self.assertEqual(sorted(files), ["Shop.java", "search.vm"])
        with tempfile.TemporaryDirectory(prefix="yunti-shop-") as folder:
            os.mkdir(f"{folder}/templates")
            for name, text in files.items():
                with open(f"{folder}/templates/{name}" if name.endswith(".vm") else f"{folder}/{name}", "w") as f:
                    f.write(text)
            page = self.run_in(folder, "java", "-cp", f"{self.dist}/java/velocity/*", "Shop.java")
        self.assertIn("<li>Oolong 茶</li>\n", page)

    def test_imports_of_the_guide_exist(self):
        classes = set()
        for jar in self.jars:
            with zipfile.ZipFile(jar) as file:
                classes.update(file.namelist())
        imports = set(re.findall(r"\borg\.yunti\.[\w.]+\.[A-Z]\w+", self.page)) - {"org.yunti.web.tool.Main"}
        self.assertGreater(len(imports), 10)
        self.assertEqual([name for name in sorted(imports) if name.replace(".", "/") + ".class" not in classes], [])

    def test_the_tool_runs_alone_and_names_its_licences(self):
        self.assertIn("explain TEMPLATE|DIR", self.run_in(self.work.name, "java", "-jar", self.tool, "help"))
        with zipfile.ZipFile(self.tool) as jar:
            for name, words in (("LICENSE", "Apache License"), ("LICENSE-asm.txt", "INRIA"),
                                ("LICENSE-slf4j.txt", "QOS.ch"), ("NOTICE", "Velocity")):
                self.assertIn(words, jar.read(f"META-INF/{name}").decode(), name)
        for library in ("asm", "slf4j"):
            with open(f"{self.dist}/java/velocity/NOTICE-{library}.txt") as f:
                self.assertIn("Copyright (c)", f.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
