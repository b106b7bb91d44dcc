"""`yunti observe heap` on programs of others that leak or waste memory (leaks/README.md): it names what was planted."""

import glob
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from looking import InAFolder, Started, answer, java_versions  # noqa: E402

# Program: JDK, flags, options of the dump, and what the answer, a note or a row of waste must say.
LEAKS = {
    "QuoteCache": ("17", "-XX:+UseG1GC", "", ["HashMap @.* in static field QuoteCache.BY_KEY .90,000 entries of QuoteCache.Quote"]),
    "ScreenListeners": ("17", "-XX:+UseParallelGC", "", ["in .*ThemeBus.listeners .1,500 entries of .*Screen.Repaint"]),
    "RequestContext": ("25", "-XX:+UseG1GC", "", ["in RequestContext.Trace.spans .[0-9,]+ entries of RequestContext.Span", "6 threads pool-#-thread-# hold [12][0-9][.]. MB"]),
    "AuditQueue": ("25", "-XX:+UseZGC", "", ["LinkedBlockingQueue @.* in AuditQueue.pending .1(50,000|49,999) entries of .*AuditEvent"]),
    "PluginReloads": (
        "17", "-XX:+UseSerialGC", "",
        ["in static field .*HookRegistry.HOOKS .60 entries of PluginReloads.Plugin", "60 class loaders have the same"],
    ),
    "CustomerImport": (
        "17", "-XX:+UseG1GC -XX:-UseCompressedOops", "",
        ["local variable in CustomerImport.main:\\d+ of thread 'main' .100,000 entries of .*Customer", "copies of equal strings.*Customer\\.c"],
    ),
    "SparseMatrix": (
        "17", "-XX:+UseSerialGC -XX:-UseCompressedClassPointers", "",
        ["SparseMatrix", "arrays of zeros.*SparseMatrix", "unused slots of other arrays of objects.*SparseMatrix"],
    ),
    "WebSessions": ("25", "-XX:+UseG1GC -XX:+UseCompactObjectHeaders", "", ["ConcurrentHashMap @.* in .*SessionManager.sessions .40,000 entries of"]),
    "UndoHistory": ("17", "-XX:+UseSerialGC -XX:ObjectAlignmentInBytes=16", "", ["a chain of more than 140,000 objects of UndoHistory.Edit by .previous"]),
    "SegmentedCache": ("25", "-XX:+UseParallelGC", "-parallel=2", ["in .*Resolver.addresses, below it by 16 objects of SegmentedCache.Segment"]),
    "Thumbnails": ("17", "-XX:+UseG1GC", "-all", ["in Thumbnails.byFile .12,000 entries of java.lang.ref.SoftReference of"]),
    "BufferPool": ("17", "-XX:+UseSerialGC", "-gz=1", ["ArrayDeque @.* BufferPool.free .700 entries of byte"]),
    "PriceLevels": ("25", "-XX:+UseG1GC", "-gz=6", ["ConcurrentSkipListMap @.* in PriceLevels.Book.asks .[0-9,]+ entries of PriceLevels.Level", "PriceLevels.Level.orders"]),
    "Ledger": ("25", "-Xmx400m -XX:+UseZGC -XX:+UseCompactObjectHeaders", "", ["TreeMap @.* in Ledger.Bank.bookings .60,000 entries of java.util.ArrayList"]),
    "Crawlers": ("25", "-XX:+UseG1GC", "", ["2,000 objects of java.lang.VirtualThread, .*each a root: live thread", "2,000 threads crawler-# hold .* in Crawlers.crawl"]),
    "Timeouts": ("17", "-XX:+UseG1GC", "", ["in static field Timeouts.TIMER .25,000 entries of .*ScheduledFutureTask"]),
    "StickyMetadata": ("17", "-Xmx400m -XX:+UseZGC", "", ["WeakHashMap @.* StickyMetadata.* .30,000 entries of StickyMetadata.Metadata"]),
    "OptionalParts": ("25", "-XX:+UseSerialGC -XX:-UseCompressedOops", "", ["empty java.util.HashMap.*OptionalParts.Node", "boxed numbers.*OptionalParts.Node"]),
    "Redeployments": ("17", "-XX:+UseG1GC", "-all", ["LAST_ERRORS .10 entries of .*ApplicationException"]),
    "StuckWorkers": ("25", "-XX:+UseParallelGC", "", ["11 objects of StuckWorkers.Worker, .*each a root: live thread", "11 threads worker-# hold .* in StuckWorkers.Worker.write"]),
}


class Leaks(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sources = glob.glob(os.path.join(HERE, "leaks/*/*.java"))
        home = java_versions().get("25") or java_versions()["17"]
        release = "25" if "25" in java_versions() else "17"
        # Those of the newest JDK alone need its classes.
        newest = [source for source in sources if LEAKS[os.path.basename(source)[:-5]][0] == "25"]
        for level, chosen in ((release, newest), ("17", sorted(set(sources) - set(newest)))):
            words = [os.path.join(home, "bin/javac"), "--release", level, "-nowarn", "-d", cls.folder.name, *chosen]
            subprocess.run(words, check=True, capture_output=True)

    def check(self, name):
        version, flags, options, expected = LEAKS[name]
        home = java_versions().get(version)
        if not home:
            self.skipTest(f"there is no JDK {version}")
        dump = os.path.join(self.folder.name, f"{name}.hprof")
        java = [os.path.join(home, "bin/java"), "-Xms16m", "-Xmx300m", "-XX:TieredStopAtLevel=1", *flags.split()]
        with Started(*java, "-cp", self.folder.name, name) as process:
            words = [os.path.join(home, "bin/jcmd"), str(process.pid), "GC.heap_dump", *options.split(), dump]
            subprocess.run(words, check=True, capture_output=True)
        document = answer("heap", dump, "--waste")
        os.remove(dump)
        text = "\n".join([document["answer"], *document["notes"], *(said(waste) for waste in document["wastes"])])
        for what in expected:
            self.assertRegex(text, what)


def said(waste):
    return f"{waste['kind']}: {waste['objects']} objects, {', '.join(waste['holders'])}"


for _name in LEAKS:
    setattr(Leaks, f"test_{_name}", lambda self, name=_name: self.check(name))


if __name__ == "__main__":
    unittest.main()
