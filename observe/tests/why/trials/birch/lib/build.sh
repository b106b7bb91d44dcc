#!/bin/sh
# Builds the case in the current folder into $OUT: build.sh java [POM] | java25 [POM] | go | rust | c | c++ | none
set -e
LIB=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${OUT:?}"
case $1 in
java|java25)
  version=17
  [ "$1" = java ] || version=25
  home=$("$LIB/../../installed.py" java $version)
  mkdir -p "$OUT/classes" "$OUT/lib"
  if [ -n "$2" ] && [ -z "$(ls "$OUT/lib")" ]; then
    mvn -q -B -f "$LIB/poms/$2.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$OUT/lib"
  fi
  "$home/bin/javac" -g -parameters -nowarn -cp "$OUT/lib/*" -d "$OUT/classes" $(find . -name '*.java') ;;
go) go build -o "$OUT/" . ;;
rust) CARGO_TARGET_DIR="$OUT/target" CARGO_PROFILE_RELEASE_DEBUG=true cargo build -q --release --locked ;;
c) for f in *.c; do gcc -O2 -g -pthread -o "$OUT/${f%.c}" "$f" -lm; done ;;
c++) for f in *.cpp; do g++ -O2 -g -std=c++17 -pthread -o "$OUT/${f%.cpp}" "$f"; done ;;
none) ;;
*) echo "what is $1?" >&2; exit 2 ;;
esac
