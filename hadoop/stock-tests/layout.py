"""The files of a run; namenode/stock-tests/layout.py describes their folders."""

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
SITES = (("core-site.xml", "hadoop-common"), ("mapred-site.xml", None))
