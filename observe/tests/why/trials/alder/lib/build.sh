# Functions of the scripts `build`, which begin with `. "$(dirname "$0")/../../lib/build.sh"`. They build into $OUT.
set -e
cd "$(dirname "$0")"
mkdir -p "${OUT:?}"

# Compiles for a version of Java: java VERSION OPTION..
java() {
  home=$(../../../installed.py java "$1")
  shift
  "$home/bin/javac" -g "$@" -d "$OUT/classes" *.java
}

# Copies libraries of lib/pom.xml: jars ARTIFACT,..
jars() {
  [ -f "$OUT/lib/.done-$1" ] && return
  mvn -q -B -f ../../lib/pom.xml dependency:copy-dependencies -DincludeArtifactIds="$1" -DoutputDirectory="$OUT/lib" \
    -Dmdep.useBaseVersion=true
  touch "$OUT/lib/.done-$1"
}
