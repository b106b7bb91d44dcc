// Classes that look up the keys of shared tables: `--table users=FILE`.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

namespace {

// Replaces the number in front of a line by the name of its user, with the city as the value.
struct Name : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Name(yunti::Context& context)
      : users(context.table("users")), name(users.column("name")), city(users.column("city")),
        unknown(context.counter("Tables", "UNKNOWN")) {}

  void map(std::string_view line, Out& out) {
    const yunti::TableRow row = users.find(yunti::parse_i64(line.substr(0, line.find('\t'))).value_or(-1));
    if (!row) {
      ++unknown;
      return;
    }
    out.emit(row.text(name), row.is_null(city) ? std::string_view("nowhere") : row.text(city));
  }

  const yunti::Table& users;
  const size_t name, city;
  yunti::Counter unknown;
};

// Counts the values of each key, and asserts that all objects of the process have one table.
struct Count : yunti::Reducer<yunti::Bytes, int64_t, yunti::Bytes> {
  explicit Count(yunti::Context& context) {
    static const yunti::Table* const first = &context.table("users");
    if (first != &context.table("users")) context.fail("a table is open twice");
  }
  void begin(std::string_view) { n = 0; }
  void add(std::string_view) { ++n; }
  void end(std::string_view key, Out& out) { out.emit(key, n); }
  int64_t n = 0;
};

}  // namespace

YUNTI_LIBRARY("Tables", "1", yunti::mapper<Name>("Tables.Name"), yunti::reducer<Count>("Tables.Count"))
