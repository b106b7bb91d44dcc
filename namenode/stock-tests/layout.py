"""Where the files of a run lie.

    build/namenode/stock-tests/
      lib/                      Hadoop, its tests, what they need (prepare.py)
      classes/ resources/       Recorder and Probe, compiled; webapps/ as files
      results/VARIANT.jsonl     a line for each class that was run; kept from run to run
      work/VARIANT/CLASS/       its folder while it runs; kept with its output where something failed
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
# The configuration files that variants change, and the jar of test sources that has the tests' own one (None: there is none).
SITES = (("core-site.xml", "hadoop-common"), ("hdfs-site.xml", "hadoop-hdfs"))
