#!/bin/sh
# Compares `yunti generate tera` with TeraGen of Hadoop 3.4.2, byte for byte, and the checksum of
# `yunti validate tera` with the result of Hadoop's TeraChecksum.
#
#   check.sh YUNTI [RECORDS]     YUNTI: the binary; RECORDS: 100000 by default
#
# Needs JDK 17 and Maven (../jars.sh). Prints one line, `ok ..` or `FAILED ..`. The exit code is 0 or 1, or 2 if a
# tool is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
[ $# -ge 1 ] || { echo "usage: check.sh YUNTI [RECORDS]" >&2; exit 2; }
yunti=$1
records=${2:-100000}
for tool in "$yunti" java javac mvn; do
    command -v "$tool" >/dev/null || { echo "check.sh: $tool is missing" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED teragen: $*"
    exit 1
}
quiet() { # runs a command, shows its output only when it fails
    "$@" >"$work/log" 2>&1 && return
    code=$?
    cat "$work/log" >&2
    fail "exit code $code of: $*"
}
hadoop() { # CLASS ARGUMENT..
    class=org.apache.hadoop.examples.terasort.$1
    shift
    quiet java -cp "$jars/*" "$class" -Dmapreduce.framework.name=local \
        -Dfs.defaultFS=file:/// -Dhadoop.tmp.dir="$work/tmp" "$@"
}

# 1. The jars.
jars=$("$here/../jars.sh") || fail "no jars"

# 2. The unit tests expect the values of Hadoop's classes.
mkdir "$work/classes"
quiet javac -nowarn -cp "$jars/*" -d "$work/classes" "$here/Expected.java"
java -cp "$work/classes:$jars/*" org.apache.hadoop.examples.terasort.Expected >"$work/expected"
library=$root/engine/src/library
cat "$library/generate/tera.rs" "$library/generate/tera_ascii.rs" "$library/validate/tera.rs" >"$work/tests"
values=0
while IFS= read -r line; do
    grep -qF -- "${line#*: }" "$work/tests" || fail "no unit test expects: $line"
    values=$((values + 1))
done <"$work/expected"
[ "$values" -gt 10 ] || fail "Expected.java printed $values values"

# 3. TeraGen and `yunti generate`, each with its files concatenated.
hadoop TeraGen "$records" "file://$work/hadoop"
quiet "$yunti" generate tera --records "$records" --output "$work/yunti"
cat "$work"/hadoop/part-m-* >"$work/hadoop.bytes"
cat "$work"/yunti/part-m-* >"$work/yunti.bytes"
[ "$(wc -c <"$work/hadoop.bytes")" -eq $((records * 100)) ] || fail "TeraGen itself did not write $records records"
cmp "$work/hadoop.bytes" "$work/yunti.bytes" >&2 || fail "the records differ"

# 4. The checksum of both. The records are not sorted, so validate may exit with an error.
hadoop TeraChecksum "file://$work/hadoop" "file://$work/checksum"
checksum=$(cat "$work"/checksum/part-r-*)
[ -n "$checksum" ] || fail "TeraChecksum printed nothing"
"$yunti" validate tera "$work/yunti" >"$work/validate" 2>&1 || true
grep -qF -- "$checksum" "$work/validate" || {
    cat "$work/validate" >&2
    fail "yunti validate tera does not print Hadoop's checksum $checksum"
}
echo "ok teragen: $records records, $values expected values and checksum $checksum are Hadoop's"
