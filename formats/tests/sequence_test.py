"""SequenceFiles as jobs read and write them, against Hadoop's own reader and writer, and files of old versions."""

import glob
import os
import random
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

from tables import ROOT, SECONDS, Scratch, read, yunti

JAVA = os.path.join(ROOT, "formats/tests/sequence/SequenceFiles.java")
SYNC = b"0123456789abcdef"
IO = "org.apache.hadoop.io."
COMPRESS = IO + "compress."


def vint(value):
    if -112 <= value <= 127:
        return struct.pack("b", value)
    base, magnitude = (-120, ~value) if value < 0 else (-112, value)
    body = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    return struct.pack("b", base - len(body)) + body


def text(string):
    return vint(len(string)) + string


def header(version, key="Text", value="Text", compressed=False, blocks=False, codec=None, metadata=None):
    """Returns the header of a file as Hadoop's reader expects it of a version."""
    name = (lambda n: struct.pack(">H", len(n)) + n) if version == 3 else text
    out = b"SEQ" + bytes([version]) + name((IO + key).encode()) + name((IO + value).encode()) + bytes([compressed])
    if version >= 4:
        out += bytes([blocks])
    if version >= 5 and compressed:
        out += text((codec or COMPRESS + "DefaultCodec").encode())
    if version >= 6:
        out += struct.pack(">i", len(metadata or {}))
        for pair in (metadata or {}).items():
            out += b"".join(text(part) for part in pair)
    return out + SYNC


def record(key, value):
    return struct.pack(">ii", len(key) + len(value), len(key)) + key + value


class Versions(Scratch):
    def run_file(self, content, code=0):
        with open(self.path("t"), "wb") as f:
            f.write(content)
        return yunti("run", "identity", self.path("t"), "--input-format", "sequence", "-o", "-", "-q", code=code)

    def test_versions_3_to_6_plain_and_compressed(self):
        pairs = [(b"k%d" % i, b"value %d" % i) for i in range(1000)]
        wanted = b"".join(k + b"\t" + v + b"\n" for k, v in pairs)
        mark = b"\xff" * 4 + SYNC
        for version in (3, 4, 5, 6):
            plain = b"".join((mark if i % 50 == 0 else b"") + record(text(k), text(v)) for i, (k, v) in enumerate(pairs))
            packed = b"".join((mark if i % 50 == 0 else b"") + record(text(k), zlib.compress(text(v)))
                              for i, (k, v) in enumerate(pairs))
            cases = [header(version) + plain, header(version, compressed=True) + packed]
            if version >= 4:
                block = mark + vint(len(pairs))
                for part in (b"".join(vint(len(text(k))) for k, _ in pairs), b"".join(text(k) for k, _ in pairs),
                             b"".join(vint(len(text(v))) for _, v in pairs), b"".join(text(v) for _, v in pairs)):
                    part = zlib.compress(part)
                    block += vint(len(part)) + part
                cases.append(header(version, compressed=True, blocks=True) + block * 3)
            if version == 6:
                cases.append(header(6, metadata={b"a": b"b" * 200, b"c": b""}) + plain)
            for number, case in enumerate(cases):
                with self.subTest(version=version, case=number):
                    out, _ = self.run_file(case)
                    self.assertEqual(out, wanted * 3 if number == 2 and version >= 4 else wanted)

    def test_versions_classes_and_codecs_that_are_not_known(self):
        for content, code, what in (
                (header(6)[:3] + b"\x07" + header(6)[4:], 3, "version 7"),
                (header(6)[:3] + b"\x02" + header(6)[4:], 3, "version 2"),
                (header(6, key="MapWritable"), 3, "class org.apache.hadoop.io.MapWritable"),
                (header(6, compressed=True, codec="com.example.Codec"), 3, "codec com.example.Codec"),
                (header(6, blocks=True), 4, "without a codec"),
                (header(6) + record(text(b"k"), text(b"v"))[:-1], 4, "wrong lengths"),
                (header(6) + b"\xff" * 20, 4, "wrong marker"),
                (header(6) + record(b"\x05k", text(b"v")), 4, "are no Text"),
                (header(6, key="IntWritable") + record(b"abc", text(b"v")), 4, "3 bytes are no IntWritable"),
                (header(6) + struct.pack(">ii", 2**31 - 1, 2**31 - 1), 4, "wrong lengths"),
                (b"SEQ", 4, "beyond its end")):
            with self.subTest(what):
                _, error = self.run_file(content, code)
                self.assertIn(what, error)
                self.assertIn(self.path("t"), error)
                self.assertEqual(error.count("\n"), 1, error)

    def test_a_bomb_ends_at_the_budget(self):
        part = zlib.compress(bytes(1 << 28))
        block = b"\xff" * 4 + SYNC + vint(1) + b"".join(vint(len(part)) + part for _ in range(4))
        with open(self.path("t"), "wb") as f:
            f.write(header(6, compressed=True, blocks=True) + block)
        _, error = yunti("run", "identity", self.path("t"), "-o", "-", "--memory", "64MiB", code=7)
        self.assertEqual(error.count("\n"), 1, error)

    def test_stretches_give_each_record_once(self):
        """A file of many stretches, with records that are longer than a stretch, and empty ones."""
        r, pairs = random.Random(5), []
        for i in range(40_000):
            size = 3_000_000 if i in (7, 20_000) else r.randrange(0, 300)
            pairs.append((b"%d" % i, bytes([97 + i % 26]) * size))
        content, since = [header(6)], 0
        for k, v in pairs:
            if since > 2000:
                content.append(b"\xff" * 4 + SYNC)
                since = 0
            content.append(record(text(k), text(v)))
            since += len(v) + 10
        out, _ = self.run_file(b"".join(content))
        self.assertEqual(out, b"".join(k + b"\t" + v + b"\n" for k, v in pairs))

    def test_bytes_that_change_and_files_that_are_cut(self):
        for codec in ("none", "deflate", "gzip", "bzip2", "snappy", "lz4", "zstd"):
            with open(self.path("in.txt"), "w", encoding="utf-8") as f:
                f.write("a b c a\n")
            yunti("run", "wordcount", self.path("in.txt"), "-o", self.path("out"), "--overwrite", "--output-format",
                  "sequence", "-D", f"sequence.compression={codec}", "-q")
            refused, cases = self.damage(read(self.path("out/part-r-00000.seq")), "sequence")
            self.assertGreater(refused, cases // 3)


@unittest.skipUnless(shutil.which("javac") and shutil.which("mvn"), "there is no JDK, or no Maven")
class Hadoop(Scratch):
    @classmethod
    def setUpClass(cls):
        found = subprocess.run([os.path.join(ROOT, "tests/conformance/jars.sh")], capture_output=True, text=True, check=True)
        jars = found.stdout.strip()[found.stdout.index("/"):]
        cls.classes = tempfile.mkdtemp(prefix="yunti-formats-")
        cls.addClassCleanup(shutil.rmtree, cls.classes)
        more = os.environ.get("YUNTI_TEST_JARS", "")
        cls.path_ = f"{cls.classes}:{jars}/*:{more}"
        subprocess.run(["javac", "-encoding", "UTF-8", "-nowarn", "-cp", cls.path_, "-d", cls.classes, JAVA], check=True)

    def java(self, *arguments):
        done = subprocess.run(["java", "-cp", self.path_, "SequenceFiles", *arguments], capture_output=True,
                              timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def test_jobs_read_what_hadoop_writes(self):
        self.java("write", self.dir, "3000")
        files = sorted(glob.glob(self.path("*.seq")))
        self.assertGreater(len(files), 40)
        for path in files:
            with self.subTest(os.path.basename(path)):
                out, _ = yunti("run", "identity", path, "-o", "-", "-q")
                self.assertEqual(out, read(path + ".txt"))

    def test_hadoop_reads_what_jobs_write(self):
        lines = "".join(f"word{i % 700} line {i}\n" for i in range(20_000))
        with open(self.path("in.txt"), "w", encoding="utf-8") as f:
            f.write(lines)
        wanted, _ = yunti("run", "wordcount", self.path("in.txt"), "-o", "-", "-q")
        for codec in ("none", "deflate", "gzip", "bzip2", "snappy"):
            yunti("run", "wordcount", self.path("in.txt"), "-o", self.path("out"), "--overwrite", "--output-format",
                  "sequence", "-D", f"sequence.compression={codec}", "-D", "sequence.block.bytes=50000", "-q")
            out = self.java("read", self.path("out/part-r-00000.seq"))
            with self.subTest(codec):
                self.assertEqual(out, b"Text\tLongWritable\n" + wanted)

    def test_classes_of_columns(self):
        with open(self.path("t.csv"), "w", encoding="utf-8") as f:
            f.write("id,x\n1,0.5\n2,1.5\n")
        yunti("convert", self.path("t.csv"), self.path("out"), "--output-format", "sequence", "-q")
        self.assertEqual(self.java("read", self.path("out/part-m-00000.seq")),
                         b"LongWritable\tDoubleWritable\n1\t0.5\n2\t1.5\n")
        yunti("convert", self.path("t.csv"), self.path("out"), "--output-format", "sequence", "--type", "id=VIntWritable",
              "--type", "x=Binary", "--overwrite", "-q")
        self.assertEqual(self.java("read", self.path("out/part-m-00000.seq")),
                         b"VIntWritable\tBytesWritable\n1\t0.5\n2\t1.5\n")


if __name__ == "__main__":
    unittest.main()
