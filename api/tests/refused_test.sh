#!/bin/sh
# Wrong classes that the compiler must reject, each with a message that names the remedy.
# usage: refused_test.sh CXX INCLUDE_DIR
set -u
cxx=$1 include=$2 failed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

refused() { # refused MESSAGE: checks that the program on standard input does not compile, with MESSAGE in the output
  { echo '#include <yunti/yunti.hpp>'; cat; } >"$work/t.cpp"
  if "$cxx" -std=c++17 -fsyntax-only -I"$include" "$work/t.cpp" 2>"$work/err"; then
    echo "compiles, but must not: $1"; failed=1
  elif ! grep -qF -- "$1" "$work/err"; then
    echo "expected message missing: $1"; cat "$work/err"; failed=1
  fi
}

refused 'must be trivially copyable' <<'EOF'
#include <string>
struct F : yunti::Folder<std::string, int64_t> {
  static constexpr bool exact = true;
  void init(std::string&) {} void fold(std::string&, int64_t) {} void merge(std::string&, const std::string&) {}
  void finish(std::string_view, const std::string&, Out&) {}
};
YUNTI_LIBRARY("L", "1", yunti::folder<F>("L.F"))
EOF
refused 'a folder must declare whether merge is exact' <<'EOF'
struct F : yunti::Folder<int64_t, int64_t> {
  void init(int64_t&) {} void fold(int64_t&, int64_t) {} void merge(int64_t&, const int64_t&) {}
  void finish(std::string_view, const int64_t&, Out&) {}
};
YUNTI_LIBRARY("L", "1", yunti::folder<F>("L.F"))
EOF
refused 'a mapper needs map_span(const yunti::Span&, out)' <<'EOF'
struct M : yunti::Mapper<yunti::Bytes, int64_t> { void map(int, Out&) {} };
YUNTI_LIBRARY("L", "1", yunti::mapper<M>("L.M"))
EOF
refused 'it is a template: template <class Out>' <<'EOF'
struct M : yunti::Mapper<yunti::Bytes, int64_t> {
  static constexpr bool value_is_one = true;
  void map(std::string_view, Out&) {}
};
YUNTI_LIBRARY("L", "1", yunti::mapper<M>("L.M"))
EOF
refused 'value_is_one needs a value type' <<'EOF'
struct M : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  static constexpr bool value_is_one = true;
  template <class O> void map(std::string_view, O&) {}
};
YUNTI_LIBRARY("L", "1", yunti::mapper<M>("L.M"))
EOF
refused "letters, digits, '_' and '.'" <<'EOF'
struct M : yunti::Mapper<yunti::Bytes, int64_t> { void map(std::string_view v, Out& out) { out.emit(v, 1); } };
YUNTI_LIBRARY("L", "1", yunti::mapper<M>("Other.M"))
EOF
refused 'emit(key) needs Value = yunti::None' <<'EOF'
struct M : yunti::Mapper<yunti::Bytes, int64_t> { void map(std::string_view v, Out& out) { out.emit(v); } };
YUNTI_LIBRARY("L", "1", yunti::mapper<M>("L.M"))
EOF
refused 'a reader needs size_t read(const yunti::Chunk&, Out&)' <<'EOF'
struct R : yunti::Reader<yunti::Bytes, yunti::Bytes> { size_t read(std::string_view, Out&) { return 0; } };
YUNTI_LIBRARY("L", "1", yunti::reader<R>("L.R"))
EOF
refused 'a writer needs write(key, value, yunti::Sink&)' <<'EOF'
struct W : yunti::Writer<yunti::Bytes, int64_t> { void write(std::string_view, yunti::Sink&, int) {} };
YUNTI_LIBRARY("L", "1", yunti::writer<W>("L.W"))
EOF
refused 'a reducer needs reduce(key' <<'EOF'
struct R : yunti::Reducer<yunti::Bytes, int64_t> { void reduce(std::string_view, Out&) {} };
YUNTI_LIBRARY("L", "1", yunti::reducer<R>("L.R"))
EOF
refused "an aggregate's result must not depend on an order" <<'EOF'
struct A : yunti::Aggregate<double, double(double)> {
  static constexpr bool exact = false;
  void init(double& s) { s = 0; } void add(double& s, double v) { s += v; }
  void merge(double& s, const double& o) { s += o; } double finish(const double& s) { return s; }
};
YUNTI_LIBRARY("L", "1", yunti::aggregate<A>("L.A"))
EOF
refused 'not a type of queries' <<'EOF'
struct F : yunti::ScalarFunction<long double(double)> { long double call(double v) { return v; } };
YUNTI_LIBRARY("L", "1", yunti::function<F>("L.F"))
EOF
test $failed = 0 && echo "refused_test: ok"
