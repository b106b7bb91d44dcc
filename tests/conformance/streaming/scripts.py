"""The programs of the streaming jobs: a name and a text each, written into the folder that the jobs run in."""

PYTHON = "#!/usr/bin/env python3\n"

# Records as raw bytes, which both programs of `rawbytes` jobs share.
RAW = """
import struct, sys
def records(stream):
    while True:
        head = stream.read(4)
        if len(head) < 4:
            return
        key = stream.read(struct.unpack('>i', head)[0])
        value = stream.read(struct.unpack('>i', stream.read(4))[0])
        yield key, value
def write(*data):
    for one in data:
        sys.stdout.buffer.write(struct.pack('>i', len(one)) + one)
"""

TYPED = """
import struct, sys
class Ended(Exception):
    pass
def take(stream, n):
    data = stream.read(n)
    if len(data) < n:
        raise Ended
    return data
def read(stream):
    code = take(stream, 1)[0]
    if code in (0, 7):
        return take(stream, struct.unpack('>i', take(stream, 4))[0])
    if code == 3:
        return struct.unpack('>i', take(stream, 4))[0]
    if code == 4:
        return struct.unpack('>q', take(stream, 8))[0]
    raise ValueError(code)
def records(stream):
    while True:
        try:
            key = read(stream)
        except Ended:
            return
        yield key, read(stream)
def text(data):
    return struct.pack('>Bi', 7, len(data)) + data
def whole(n):
    return struct.pack('>Bi', 3, n)
def write(*data):
    for one in data:
        sys.stdout.buffer.write(one)
"""

SCRIPTS = {
    "words.py": PYTHON + """
import sys
for line in sys.stdin.buffer:
    for word in line.split():
        sys.stdout.buffer.write(word + b'\\t1\\n')
""",
    "sum.py": PYTHON + """
import itertools, sys
pairs = (line.rstrip(b'\\n').split(b'\\t', 1) for line in sys.stdin.buffer)
for word, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
    print(word.decode('latin-1'), sum(int(pair[1]) for pair in group), sep='\\t')
""",
    # Not executable: Hadoop makes shipped programs executable.
    "plain.sh": "#!/bin/sh\nexec sed 's/^/shipped:/'\n",
    "table.txt": "the\tarticle\nend\tnoun\n",
    "lookup.py": PYTHON + """
import sys
table = dict(line.rstrip('\\n').split('\\t') for line in open('words.table'))
for line in sys.stdin:
    for word in line.split():
        print(word, table.get(word, 'unknown'), sep='\\t')
""",
    "keys.py": PYTHON + """
import sys
for line in sys.stdin:
    # Keys of one group come in any order, so they are printed as Hadoop compares them.
    key = line.split('\\t')[0]
    print(int(key), key[0] == '0')
""",
    "file.sh": "#!/bin/sh\n"
               "name=${mapreduce_map_input_file##*/}; [ \"$map_input_file\" = \"$mapreduce_map_input_file\" ] || exit 9\n"
               "while read -r line; do echo \"$name:$mapreduce_task_ismap\t$line\"; done; echo \"end $name\"\n",
    "variables.sh": "#!/bin/sh\ncat >/dev/null\n"
                    "echo \"a=$A\"; echo \"my=$my_own_setting\"; echo \"reduces=$mapreduce_job_reduces\"\n"
                    "echo \"map=$mapred_task_is_map\"; echo \"partition=$mapred_task_partition\"\n",
    "counters.py": PYTHON + """
import sys
for number, line in enumerate(sys.stdin):
    sys.stderr.write('reporter:counter:Mine,lines,1\\nreporter:counter:Mine,of two,%d\\n' % (number % 2))
    sys.stderr.write('reporter:status:line %d\\n' % number)
    sys.stdout.write(line)
sys.stderr.write('reporter:counter:Other,down,-2\\nreporter:counter:Other,down,7\\n')
""",
    "mine.sh": "#!/bin/sh\nsed 's/^/<&>/'\necho mine:counter:Mine,all,3 >&2\necho reporter:counter:Mine,none,1 >&2\n"
               "echo $my_long\n",
    "upper_first.sh": "#!/bin/sh\necho first\nsed 'y/abc/ABC/'\n",
    "raw_words.py": PYTHON + RAW + """
for key, value in records(sys.stdin.buffer):
    # The value is a Text: a length of one byte, then the line.
    for word in value[1:].split():
        write(word, struct.pack('>q', 1))
""",
    "raw_sum.py": PYTHON + RAW + """
import itertools
for key, group in itertools.groupby(records(sys.stdin.buffer), key=lambda pair: pair[0]):
    write(key, struct.pack('>q', sum(struct.unpack('>q', value)[0] for _, value in group)))
""",
    "raw_show.py": PYTHON + RAW + """
for key, value in records(sys.stdin.buffer):
    print(key.hex(), value.hex(), sep='\\t')
""",
    "raw_all.py": PYTHON + RAW + """
sys.stdin.read()
write(b'', b'', b'\\0\\xff', b'a' * 300, b'b', b'')
""",
    "typed_words.py": PYTHON + TYPED + """
for key, value in records(sys.stdin.buffer):
    for word in value.split():
        write(text(word), whole(1))
""",
    "typed_sum.py": PYTHON + TYPED + """
import itertools
for key, group in itertools.groupby(records(sys.stdin.buffer), key=lambda pair: pair[0]):
    write(text(key), whole(sum(value for _, value in group)))
""",
    "typed_show.py": PYTHON + """
import sys
data = sys.stdin.buffer.read()
print(data.hex())
""",
    "typed_all.py": PYTHON + TYPED + """
sys.stdin.read()
def double(x):
    return struct.pack('>Bd', 6, x)
nested = b'\\x09' + text(b'x') + b'\\x08' + struct.pack('>i', 2) + whole(-1) + double(0.1) + b'\\xff'
table = b'\\x0a' + struct.pack('>i', 3) + text(b'b') + whole(1) + text('\\u00e9'.encode()) + whole(2) + text(b'a') + whole(3)
write(text(b'text'), text(b''))
write(whole(-7), struct.pack('>Bq', 4, 1 << 40))
write(b'\\x00' + struct.pack('>i', 3) + b'\\x00a\\xff', b'\\x01\\xfe')
write(b'\\x02\\x01', b'\\x02\\x00')
write(double(1e7), double(-2.5e-5))
write(struct.pack('>Bf', 5, 0.1), struct.pack('>Bf', 5, 1024.5))
write(nested, table)
write(b'\\x64' + struct.pack('>i', 1) + b'z', b'\\x09\\xff')
""",
    "aggregate.py": PYTHON + """
import sys
for line in sys.stdin:
    for word in line.split():
        n = len(word)
        print('LongValueSum:length\\t%d' % n)
        print('LongValueMax:longest\\t%d' % n)
        print('LongValueMin:shortest\\t%d' % n)
        print('DoubleValueSum:eighths\\t%s' % (n / 8))
        print('StringValueMax:last\\t%s' % word)
        print('StringValueMin:first\\t%s' % word)
        print('UniqValueCount:words of %d\\t%s' % (n, word))
        print('ValueHistogram:words\\t%s' % word)
        print('longvaluesum:%s\\t1' % word)
""",
    "fails.sh": "#!/bin/sh\ncat\nexit 3\n",
    "killed.sh": "#!/bin/sh\nkill -9 $$\n",
}
