# Sourced by each case's build script:  source ../../lib/jvm/build.sh; jvm_build VERSION [group:artifact:version ...]
set -euo pipefail
: "${OUT:?set OUT to the build folder}"
LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CASE=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
mkdir -p "$OUT"

find_jdk() {                       # the installed JDK of a major version
  python3 "$LIB/../../../installed.py" java "$1"
}

fetch_jars() {
  local want="$*"
  [ "$(cat "$OUT/deps" 2>/dev/null)" = "$want" ] && return
  rm -rf "$OUT/libs"; mkdir -p "$OUT/libs"
  if [ $# -gt 0 ]; then
    {
      echo '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>'
      echo '<dependencies>'
      local d g a v
      for d in "$@"; do IFS=: read -r g a v <<<"$d"
        echo "<dependency><groupId>$g</groupId><artifactId>$a</artifactId><version>$v</version></dependency>"; done
      echo '</dependencies></project>'
    } > "$OUT/pom.xml"
    mvn -q -B -f "$OUT/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$OUT/libs" >&2
  fi
  echo "$want" > "$OUT/deps"
}

compile() {                        # compile TARGET_FOLDER javac-options... -- sources...
  local to=$1; shift
  local opts=(); while [ "$1" != -- ]; do opts+=("$1"); shift; done; shift
  local sum; sum=$(cat "$@" | sha256sum; echo "${opts[*]}")
  [ "$(cat "$to.sum" 2>/dev/null)" = "$sum" ] && return
  rm -rf "$to"; mkdir -p "$to"
  "$JDK/bin/javac" -nowarn -d "$to" "${opts[@]}" "$@"
  echo "$sum" > "$to.sum"
}

jvm_build() {
  local ver=$1; shift
  JDK=$(find_jdk "$ver")
  echo "$JDK" > "$OUT/jdk"
  fetch_jars "$@"
  compile "$OUT/kit" --release 17 -- "$LIB"/kit/*.java
  compile "$OUT/app" --release "$ver" -proc:none -cp "$OUT/libs/*" -- $(find "$CASE/src" -name '*.java' | sort)
}
