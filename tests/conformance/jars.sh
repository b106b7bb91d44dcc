#!/bin/sh
# Prints the folder with the jars of Hadoop's examples and all that they need (about 70 MB), which come from Maven Central once and
# are kept in $YUNTI_TEST_CACHE (default: target/conformance of this checkout). Needs Maven.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${YUNTI_TEST_CACHE:-$here/../../target/conformance}
jars=$cache/hadoop-3.4.2
# A half-filled folder never gets the name.
if [ ! -d "$jars" ]; then
    mkdir -p "$cache"
    mvn -q -B -Dstyle.color=never -f "$here/teragen/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars.new.$$" >&2
    mv -T "$jars.new.$$" "$jars" 2>/dev/null || rm -rf "$jars.new.$$"
fi
cd "$jars" && pwd
