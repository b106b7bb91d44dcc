// A class that looks up the keys of a table of servers: `--table users=server:ADDRESS`.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/table/remote_of_job.hpp>
#include <yunti/yunti.hpp>

namespace {

// Replaces the number in front of a line by the name of its user, with the city as the value.
struct Name : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Name(yunti::Context& context)
      : users(context.remote_table("users")), name(users.column("name")), city(users.column("city")),
        unknown(context.counter("Tables", "UNKNOWN")) {
    static const yunti::RemoteTable* const first = &users;
    if (first != &users) context.fail("a table is connected twice");
  }

  void map(std::string_view line, Out& out) {
    const yunti::RemoteRow row = users.find(yunti::parse_i64(line.substr(0, line.find('\t'))).value_or(-1));
    if (!row) {
      ++unknown;
      return;
    }
    out.emit(row.text(name), row.is_null(city) ? std::string_view("nowhere") : row.text(city));
  }

  const yunti::RemoteTable& users;
  const size_t name, city;
  yunti::Counter unknown;
};

// Asks for a table of servers as a file.
struct Mapped : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Mapped(yunti::Context& context) { context.table("users"); }
  void map(std::string_view, Out&) {}
};

}  // namespace

YUNTI_LIBRARY("Tables", "1", yunti::mapper<Name>("Tables.Name"), yunti::mapper<Mapped>("Tables.Mapped"))
