// Functions and aggregates of queries for query_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <yunti/yunti.hpp>

namespace {

struct Plus : yunti::ScalarFunction<int64_t(int64_t, int32_t)> {
  int64_t call(int64_t a, int32_t b) {
    if (a == 13) yunti::fail("13 is no number");
    return a + b;
  }
};

struct Join : yunti::ScalarFunction<std::optional<std::string>(std::optional<std::string_view>, int64_t)> {
  std::optional<std::string> call(std::optional<std::string_view> s, int64_t n) {
    if (s == "one") return std::nullopt;
    return std::string(s.value_or("none")) + std::to_string(n);
  }
};

struct Most {
  int64_t bytes, rows;
};

struct Longest : yunti::Aggregate<Most, std::optional<int64_t>(std::string_view)> {
  static constexpr bool exact = true;
  void init(Most& s) { s = {0, 0}; }
  void add(Most& s, std::string_view v) { merge(s, {static_cast<int64_t>(v.size()), 1}); }
  void merge(Most& s, const Most& o) { s = {std::max(s.bytes, o.bytes), s.rows + o.rows}; }
  std::optional<int64_t> finish(const Most& s) {
    if (s.rows == 0) return std::nullopt;
    return s.bytes;
  }
};

}  // namespace

YUNTI_LIBRARY("Query", "1.0", yunti::function<Plus>("Query.plus"), yunti::function<Join>("Query.join"),
              yunti::aggregate<Longest>("Query.longest"))
