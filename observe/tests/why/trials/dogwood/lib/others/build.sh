# Helpers for the build scripts: source it, then call one of them.
set -euo pipefail
: "${OUT:?OUT is not set}"
mkdir -p "$OUT"
HERE="$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)"
fresh() { [ -e "$1" ] && [ -z "$(find "$HERE" -newer "$1" -type f \( -name "$2" \) -print -quit)" ]; }
venv() {
  [ -e "$OUT/venv/.done" ] && return
  python3.11 -m venv "$OUT/venv"
  [ $# = 0 ] || "$OUT/venv/bin/pip" install -q --disable-pip-version-check "$@"
  touch "$OUT/venv/.done"
}
gobuild() {
  cp "$HERE"/*.go "$HERE"/go.mod "$OUT"/
  [ ! -e "$HERE/go.sum" ] || cp "$HERE/go.sum" "$OUT"/
  (cd "$OUT" && { [ -e go.sum ] || ! grep -q require go.mod || go mod tidy -e >/dev/null; } && go build -o "$1" .)
}
npmi() {
  cp "$HERE"/*.js "$OUT"/
  [ $# = 0 ] || [ -e "$OUT/node_modules/.done" ] ||
    (cd "$OUT" && npm install --silent --no-audit --no-fund "$@" && touch node_modules/.done)
}
pgdata() {  # a fresh database of PostgreSQL, kept as an archive
  [ -e "$OUT/pgdata.tar" ] && return
  local t tool
  tool="$(command -v initdb || find /usr/lib/postgresql -name initdb | head -1)"
  t="$(mktemp -d)"; chmod 755 "$t"; mkdir "$t/pg"; chown postgres "$t/pg"
  (cd "$t" && setpriv --reuid postgres --regid "$(id -g postgres)" --clear-groups \
    "$tool" -D "$t/pg" -U app -A trust -N --locale=C -E UTF8 >/dev/null)
  tar -cf "$OUT/.pgdata" -C "$t" pg && mv "$OUT/.pgdata" "$OUT/pgdata.tar"; rm -rf "$t"
}
