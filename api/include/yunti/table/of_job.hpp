// Tables of a job: opened once a process, by the first class that asks, and shared by all workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <mutex>

#include "../context.hpp"
#include "../table.hpp"

namespace yunti {
namespace table {
namespace detail {

// Open tables of this library by their paths. None is closed before the process ends, so that rows stay valid; a table
// that was replaced between two jobs is opened beside the old one.
class OpenTables {
 public:
  const Table& at(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::unique_ptr<const Table>>& tables = tables_[path];
    if (tables.empty()) {
      tables.push_back(std::make_unique<const Table>(path));
    } else if (std::unique_ptr<Table> next = tables.back()->reopen()) {
      tables.push_back(std::move(next));
    }
    return *tables.back();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<const Table>>> tables_;
};

YUNTI_HIDDEN inline OpenTables open_tables;

}  // namespace detail
}  // namespace table

namespace table {
// Begin of the place of a table that servers have.
inline constexpr std::string_view SERVERS = "server:";
}  // namespace table

// Returns a table of the job: --table NAME=FILE. Ends the job if there is none.
inline const Table& Context::table(std::string_view name) const {
  const std::optional<std::string_view> path = config("yunti.table." + std::string(name));
  if (!path) fail("there is no table " + std::string(name) + ": add --table " + std::string(name) + "=FILE");
  if (path->substr(0, table::SERVERS.size()) == table::SERVERS)
    fail("the table " + std::string(name) + " is one of servers: classes reach it by remote_table");
  return table::detail::open_tables.at(std::string(*path));
}

}  // namespace yunti
