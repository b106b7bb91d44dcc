#!/bin/sh
# Prints the folder with the jars of Hadoop's examples, Hadoop Streaming and their dependencies (about 70 MB).
#
# Maven fetches them once from Maven Central into $YUNTI_TEST_CACHE (default: target/conformance of this checkout).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${YUNTI_TEST_CACHE:-$here/../../target/conformance}
jars=$cache/hadoop-3.4.2-streaming
# The folder gets its name only when it is complete.
if [ ! -d "$jars" ]; then
    mkdir -p "$cache"
    mvn -q -B -Dstyle.color=never -f "$here/teragen/pom.xml" dependency:copy-dependencies \
        -DoutputDirectory="$jars.new.$$" >&2
    mv -T "$jars.new.$$" "$jars" 2>/dev/null || rm -rf "$jars.new.$$"
fi
cd "$jars" && pwd
