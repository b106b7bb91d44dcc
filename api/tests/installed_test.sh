#!/bin/sh
# Installs the API into an empty folder, moves it, and builds a class library against it with CMake and with pkg-config.
# usage: installed_test.sh BUILD_DIR TESTS_DIR CXX
set -eu
build=$1 tests=$2 cxx=$3
work=$build/installed_test
rm -rf "$work"
mkdir -p "$work/user"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"

cp "$tests/test_library.cpp" "$work/user/"
cat >"$work/user/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(user CXX)
find_package(Yunti 0.1 REQUIRED)
yunti_add_library(user test_library.cpp)
EOF
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
cmake --build "$work/user/build" >/dev/null
test -f "$work/user/build/libuser.so"

if command -v pkg-config >/dev/null; then
  pc=$(find "$work/prefix" -name yunti.pc)
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags yunti)
  # shellcheck disable=SC2086
  "$cxx" -std=c++17 -fPIC -shared $flags "$work/user/test_library.cpp" -o "$work/by_pkg_config.so"
  cat >"$work/user/table.c" <<'EOF'
#include <yunti/table.h>
int main(void) { return yunti_table_open("none", 0, 0) != 0; }
EOF
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs yunti-table)
  # shellcheck disable=SC2086
  "$cxx" -x c++ "$work/user/table.c" -x none $flags -o "$work/table"
  LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name libyunti_table.so)") "$work/table"
fi
echo "installed_test: ok"
