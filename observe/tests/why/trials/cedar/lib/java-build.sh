#!/bin/sh
# java-build.sh CASEFOLDER OUT RELEASE: dependencies of the case's pom.xml, then javac
set -e
here=$1 out=$2 release=$3
home=$("$(dirname "$0")/../../installed.py" java "$release")
mkdir -p "$out/classes" "$out/lib"
if [ -f "$here/pom.xml" ] && ! cmp -s "$here/pom.xml" "$out/pom.used"; then
    mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$out/lib" -DincludeScope=runtime
    cp "$here/pom.xml" "$out/pom.used"
fi
"$home/bin/javac" -g -nowarn --release "$release" -cp "$out/lib/*" -d "$out/classes" "$here"/*.java
for f in "$here"/*.xml; do [ -f "$f" ] && [ "${f##*/}" != pom.xml ] && cp "$f" "$out/classes/"; done
true
