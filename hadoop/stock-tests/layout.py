"""The files of a run; namenode/stock-tests/layout.py describes their folders."""

import glob
import os

SOURCE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(SOURCE))
BUILD = os.path.join(ROOT, "build/hadoop/stock-tests")
LIB = os.path.join(BUILD, "lib")
CLASSES = os.path.join(BUILD, "classes")
RESOURCES = os.path.join(BUILD, "resources")
RESULTS = os.path.join(BUILD, "results")
WORK = os.path.join(BUILD, "work")
PLUGIN = os.path.join(ROOT, "build/hadoop/yunti-hadoop/yunti-hadoop.jar")
PLUGIN_POM = os.path.join(ROOT, "hadoop/plugin/pom.xml")
JAVA = [os.path.join(ROOT, "namenode/stock-tests/java/Recorder.java")]
# Classes of a variant alone, which take the place of others.
OF_VARIANT = {"runner": glob.glob(os.path.join(SOURCE, "runner/**/*.java"), recursive=True)}
PROVIDERS = "META-INF/services/org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider"
SERVICES = {"runner": {PROVIDERS: "EveryFramework\n"}}
SITES = (("core-site.xml", "hadoop-common"), ("mapred-site.xml", None))
