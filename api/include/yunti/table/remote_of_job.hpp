// Tables of servers of a job: connected once a process, by the first class that asks, and shared by all workers.
//
//   #include <yunti/table/remote_of_job.hpp>
//   explicit Map(yunti::Context& context) : users(context.remote_table("users")) {}
//   const yunti::RemoteTable& users;
//
// A lookup is a round trip: look up the keys of many records at once (find_batch). TLS needs OpenSSL, as in remote.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "of_job.hpp"
#include "remote.hpp"

namespace yunti {
namespace table {
namespace detail {

// Tables of servers of this library, by their names and places. They are open until the process ends, so that classes
// may keep references.
class RemoteTables {
 public:
  const RemoteTable& at(const std::string& name, std::string_view addresses, const RemoteTableOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<const RemoteTable>& table = tables_[name + '\n' + std::string(addresses)];
    if (!table) table = std::make_unique<const RemoteTable>(name, divided(addresses), options);
    return *table;
  }

 private:
  static std::vector<std::string> divided(std::string_view addresses) {
    std::vector<std::string> all;
    for (size_t begin = 0, end = 0; end != addresses.npos; begin = end + 1) {
      end = addresses.find(',', begin);
      all.emplace_back(addresses.substr(begin, end == addresses.npos ? end : end - begin));
    }
    return all;
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const RemoteTable>> tables_;
};

YUNTI_HIDDEN inline RemoteTables remote_tables;

// Reads a token: the file without the space around it.
inline std::string token_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const char* const space = " \t\r\n\f";
  const size_t begin = text.find_first_not_of(space);
  if (!file || begin == text.npos) throw Error("no token in the file " + path);
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

}  // namespace detail
}  // namespace table

// Returns a table of servers of the job: --table NAME=server:ADDRESS,... Ends the job if there is none, if no server of
// a shard answers, and if a server refuses.
inline const RemoteTable& Context::remote_table(std::string_view name) const {
  const std::string own(name);
  const std::string_view place = config("yunti.table." + own, "");
  if (place.substr(0, table::SERVERS.size()) != table::SERVERS)
    fail("there is no table " + own + " of servers: add --table " + own + "=server:ADDRESS,..");
  RemoteTableOptions options;
  if (const auto file = config("yunti.table-token-file")) options.token = table::detail::token_of(std::string(*file));
  options.tls_ca = config("yunti.table-tls-ca", "");
  return table::detail::remote_tables.at(own, place.substr(table::SERVERS.size()), options);
}

}  // namespace yunti
