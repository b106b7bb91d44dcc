#!/usr/bin/env python3
"""Tests the contents of the jar: classes and licences.

    python3 -m unittest discover -s hadoop/tests -p licences_test.py
"""

import os
import unittest
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
JAR = os.path.join(ROOT, "dist/java/yunti-hadoop.jar")


class Licences(unittest.TestCase):
    def test_the_jar_has_only_yunti_classes_and_all_licences(self):
        with zipfile.ZipFile(JAR) as jar:
            foreign = [n for n in jar.namelist() if not n.startswith(("org/yunti/", "META-INF/")) and n != "org/"]
            self.assertEqual(foreign, [])
            self.assertIn("Apache License", jar.read("META-INF/LICENSE").decode())
            self.assertIn("Yunti", jar.read("META-INF/NOTICE").decode())
            texts = jar.read("META-INF/licenses.txt").decode()
        for crate in ("snap", "zstd-safe", "jni"):
            self.assertRegex(texts, rf"(?m)^{crate} \d")


if __name__ == "__main__":
    unittest.main(verbosity=2)
