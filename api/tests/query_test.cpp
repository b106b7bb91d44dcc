// Functions and aggregates of queries through the ABI, in the mock host: columns in, results out.
// usage: query_test LIBRARY
// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"
#include "mock_host.hpp"

using namespace mock;

// A column that owns its arrays.
struct OwnColumn {
  explicit OwnColumn(yt_value_type type) { column.type = type; }
  OwnColumn& ints(std::vector<int64_t> values) {
    ints_ = std::move(values);
    column.values = ints_.data();
    return *this;
  }
  OwnColumn& strings(const std::vector<std::string>& all, std::vector<uint32_t> codes = {}) {
    offsets_.assign(1, 0);
    for (const std::string& s : all) {
      bytes_ += s;
      offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
    }
    codes_ = std::move(codes);
    column.bytes = reinterpret_cast<const uint8_t*>(bytes_.data());
    column.offsets = offsets_.data();
    column.codes = codes_.empty() ? nullptr : codes_.data();
    return *this;
  }
  OwnColumn& nulls(std::vector<uint8_t> nulls) {
    nulls_ = std::move(nulls);
    column.nulls = nulls_.data();
    return *this;
  }
  yt_column column{sizeof(yt_column), 0, nullptr, nullptr, nullptr, nullptr, nullptr};

 private:
  std::vector<int64_t> ints_;
  std::vector<uint32_t> offsets_, codes_;
  std::vector<uint8_t> nulls_;
  std::string bytes_;
};

// Room for results.
struct Results {
  Results(yt_value_type type, uint32_t rows) : ints(rows), nulls(rows) {
    result = {sizeof(yt_result), type, ints.data(), nulls.data(), this, append};
  }
  static yt_status append(void* engine, const yt_str* all, uint32_t n) {
    auto& to = *static_cast<Results*>(engine);
    if (to.is_full) return YT_STOP;
    for (uint32_t i = 0; i < n; ++i) to.strings.emplace_back(text(all[i]));
    return YT_OK;
  }
  std::vector<int64_t> ints;
  std::vector<uint8_t> nulls;
  std::vector<std::string> strings;
  bool is_full = false;
  yt_result result{};
};

static void functions(const yt_library* library, Host& host) {
  const yt_class* plus = find(library, "Query.plus");
  CHECK(plus->kind == YT_FUNCTION && plus->function->n_arguments == 2 && plus->function->flags == 0);
  CHECK(plus->function->arguments[0] == YT_VALUE_I64 && plus->function->arguments[1] == YT_VALUE_I32);
  CHECK(plus->function->result == YT_VALUE_I64 && plus->function->size == sizeof(yt_function));
  Object object(plus, host);
  OwnColumn a(YT_VALUE_I64), b(YT_VALUE_I32);
  const yt_column both[] = {a.ints({1, 2, -3}).column, b.ints({10, 20, 30}).column};
  Results sums(YT_VALUE_I64, 3);
  CHECK(plus->function->call(object.self, both, 3, &sums.result) == YT_OK);
  CHECK((sums.ints == std::vector<int64_t>{11, 22, 27}));
  const yt_column bad[] = {OwnColumn(YT_VALUE_I64).ints({13}).column, b.column};
  CHECK(plus->function->call(object.self, bad, 0, &sums.result) == YT_OK);
  a.ints({13, 0, 0});
  const yt_column unlucky[] = {a.column, b.column};
  CHECK(plus->function->call(object.self, unlucky, 3, &sums.result) == YT_FAIL && host.error == "13 is no number");

  const yt_class* join = find(library, "Query.join");
  CHECK(join->function->flags == YT_SEES_NULLS && join->function->result == YT_VALUE_TEXT);
  Object joiner(join, host);
  OwnColumn s(YT_VALUE_TEXT), n(YT_VALUE_I64);
  const yt_column words[] = {s.strings({"", "one", "two"}, {2, 1, 2, 0}).nulls({0, 0, 1, 0}).column,
                             n.ints({1, 2, 3, 4}).nulls({0, 0, 0, 1}).column};
  Results texts(YT_VALUE_TEXT, 4);
  CHECK(join->function->call(joiner.self, words, 4, &texts.result) == YT_OK);
  CHECK((texts.strings == std::vector<std::string>{"two1", "", "none3", ""}));
  CHECK((texts.nulls == std::vector<uint8_t>{0, 1, 0, 1}));  // "one" has no result; the last argument is null
  texts.is_full = true;
  CHECK(join->function->call(joiner.self, words, 4, &texts.result) == YT_STOP);
}

static void aggregates(const yt_library* library, Host& host) {
  const yt_class* longest = find(library, "Query.longest");
  const yt_aggregate& table = *longest->aggregate;
  CHECK(longest->kind == YT_AGGREGATE && table.flags == YT_EXACT && table.n_arguments == 1 && table.pad == 0);
  CHECK(table.result == YT_VALUE_I64 && table.arguments[0] == YT_VALUE_TEXT && table.state_size == 16);
  Object object(longest, host);
  std::vector<char> bytes(3 * table.state_size + 1);
  void* states[3];
  for (size_t i = 0; i < 3; ++i) states[i] = bytes.data() + 1 + i * table.state_size;  // not aligned
  CHECK(table.init(object.self, states, 3) == YT_OK);
  OwnColumn s(YT_VALUE_TEXT);
  const yt_column words = s.strings({"a", "four", "bb", ""}).column;
  void* const of_rows[] = {states[0], states[1], states[0], states[0]};
  CHECK(table.add(object.self, of_rows, &words, 4) == YT_OK);
  const void* const from[] = {states[1]};
  CHECK(table.merge(object.self, states, from, 1) == YT_OK);
  Results lengths(YT_VALUE_I64, 3);
  const void* const all[] = {states[0], states[1], states[2]};
  CHECK(table.finish(object.self, all, 3, &lengths.result) == YT_OK);
  CHECK((lengths.ints == std::vector<int64_t>{4, 4, 0}) && (lengths.nulls == std::vector<uint8_t>{0, 0, 1}));
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const yt_library* library = load(argv[1]);
  CHECK(library->abi_minor >= 6);
  Host host;
  functions(library, host);
  aggregates(library, host);
  std::puts("query_test: ok");
}
