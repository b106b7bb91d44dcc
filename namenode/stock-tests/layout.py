"""Paths of a run.

    build/namenode/stock-tests/
      lib/                      Hadoop, its tests and their dependencies (prepare.py)
      classes/ resources/       compiled Recorder and Probe; webapps/ as files
      results/VARIANT.jsonl     a line for each run of a class; kept between runs
      work/VARIANT/CLASS/       folder of a running class; kept with its output after a failure
"""

import glob
import os

SOURCE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(SOURCE))
BUILD = os.path.join(ROOT, "build/namenode/stock-tests")
LIB = os.path.join(BUILD, "lib")
CLASSES = os.path.join(BUILD, "classes")
RESOURCES = os.path.join(BUILD, "resources")
RESULTS = os.path.join(BUILD, "results")
WORK = os.path.join(BUILD, "work")
PLUGIN = os.path.join(ROOT, "build/namenode/yunti-namenode/yunti-namenode.jar")
PLUGIN_POM = os.path.join(ROOT, "namenode/plugin/pom.xml")
JAVA = sorted(glob.glob(os.path.join(SOURCE, "java/*.java")))
# Sources of classes, and files of META-INF/services, of one variant alone, by its name: here none.
OF_VARIANT = {}
SERVICES = {}
# Configuration files that variants change, and the jar of test sources with the tests' own file (None: no such file).
SITES = (("core-site.xml", "hadoop-common"), ("hdfs-site.xml", "hadoop-hdfs"))
