// A table of `yunti table serve`: lookups over Unix and TCP sockets, with the rows of <yunti/table.hpp>.
//
//   const yunti::RemoteTable users("users", {"unix:/run/users", "127.0.0.1:7070"});
//   const size_t name = users.column("name"), score = users.column("score");
//   if (const auto row = users.find(4711)) use(row.text(name), row.get<float>(score));
//
// Keys go to the servers of their shards, side by side. Servers of one shard are replicas: if one fails, another takes
// over. Any C++17 program for Linux may include this header, and links nothing. TLS needs OpenSSL: compile all files of
// the program with -DYUNTI_TABLE_OPENSSL, and link ssl and crypto.
//
// A RemoteTable may be used by any number of threads. It keeps up to 16 idle connections to each server. Rows own their
// bytes: they outlive the table. Errors are yunti::Error, whose text says what failed, at which server, and what to do.
// No response makes a program wait beyond the timeouts, read outside of the response, or take more memory than the 16
// MiB of a frame.
//
// A connection stays with the version of a table that it has opened; new connections have the newest. Call reopen() now
// and then if the servers replace their files.
//
//   remote.hpp                            lookups
//   remote/remote_row.hpp options.hpp     rows that own their bytes; options, addresses
//   remote/lanes.hpp servers.hpp          requests under way; servers and their idle connections
//   remote/connection.hpp message.hpp     requests and responses; their bytes
//   remote/socket.hpp tls.hpp failure.hpp waits with deadlines; OpenSSL; texts of errors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../table.hpp"
#include "remote/lanes.hpp"

namespace yunti {

// A table of servers. Each has the whole table or a shard of it.
class RemoteTable {
 public:
  // Opens a table at all of its servers: unix:PATH or HOST:PORT. std::nullopt is the name of their only table. Some
  // servers may be down. Throws Error if no server of a shard answers, or if one refuses.
  RemoteTable(const std::optional<std::string>& name, const std::vector<std::string>& addresses,
              const RemoteTableOptions& options = {})
      : name_(name),
        addresses_(addresses),
        options_(options),
        servers_(name, addresses, options),
        key_(servers_.schema()->key, numbers(servers_.schema()->key.columns.size())) {}
  RemoteTable(const RemoteTable&) = delete;
  RemoteTable& operator=(const RemoteTable&) = delete;

  // Returns the name, or nothing for the only table of its servers.
  const std::optional<std::string>& name() const { return name_; }
  // Returns the number of shards that the keys are divided into.
  uint32_t shard_count() const { return servers_.shards(); }
  // Returns true if a key may have several rows.
  bool has_lists() const { return servers_.has_lists(); }
  // Returns the columns of the rows: those of the options, or all. A `dict` column of the file is `utf8` here.
  const std::vector<table::Column>& columns() const { return servers_.schema()->row.columns; }
  // Returns the columns of the key, in its order.
  const std::vector<table::Column>& key_columns() const { return servers_.schema()->key.columns; }
  // Returns the number of a column. Throws Error if there is none with this name.
  size_t column(std::string_view name) const {
    for (size_t i = 0; i < columns().size(); ++i)
      if (columns()[i].name == name) return i;
    throw Error("the rows have no column " + std::string(name) + ": table " + name_.value_or("") + " of " + addresses_[0]);
  }

  // Looks up a key: an integer or bool, a text, or a TableKey of several columns. Returns its first row; none, which is
  // false, if the table does not have it. Throws Error if the key has another type, or the lookup fails.
  template <class Key>
  RemoteRow find(const Key& key) const {
    RemoteRow row;
    look_up(false, 1, [&](uint32_t, uint64_t& bits) { return bytes_of(key, bits); },
            [&](uint32_t, const auto& owner, std::string_view bytes, uint32_t count) { row = first(owner, bytes, count); });
    return row;
  }

  // Looks up all rows of a key.
  template <class Key>
  RemoteRows find_all(const Key& key) const {
    RemoteRows rows;
    look_up(true, 1, [&](uint32_t, uint64_t& bits) { return bytes_of(key, bits); },
            [&](uint32_t, const auto& owner, std::string_view bytes, uint32_t count) {
              rows = count == 0 ? RemoteRows() : RemoteRows(owner, bytes, count);
            });
    return rows;
  }

  // Returns true if the table has a key.
  template <class Key>
  bool contains(const Key& key) const { return static_cast<bool>(find(key)); }

  // Looks up many keys in few requests, which takes far less time than one by one: out[i] is the first row of keys[i],
  // or none. Keys are integers, texts (std::string_view or std::string) or TableKey. Returns the number of keys that
  // were found. After an Error, some rows of `out` may be set.
  template <class Key>
  size_t find_batch(const Key* keys, size_t count, RemoteRow* out) const {
    if (count > UINT32_MAX) throw Error("a batch has at most 4,294,967,295 keys");
    std::fill(out, out + count, RemoteRow());
    look_up(false, static_cast<uint32_t>(count), [&](uint32_t i, uint64_t& bits) { return bytes_of(keys[i], bits); },
            [&](uint32_t i, const auto& owner, std::string_view bytes, uint32_t n) { out[i] = first(owner, bytes, n); });
    return static_cast<size_t>(std::count_if(out, out + count, [](const RemoteRow& row) { return bool(row); }));
  }

  // Returns the addresses of all servers.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Requests the counters of the server with this number in addresses(), by a connection of its own. Throws Error if it
  // is away or refuses.
  std::map<std::string, double> counters_of(size_t server) const { return servers_.counters(server); }

  // Requests the counters of all servers, one after the other. One that is away has an error in their place.
  std::vector<ServerCounters> server_counters() const {
    std::vector<ServerCounters> all;
    for (size_t server = 0; server < addresses_.size(); ++server) {
      ServerCounters& one = all.emplace_back();
      one.address = addresses_[server];
      try {
        one.counters = counters_of(server);
      } catch (const Error& e) {
        one.error = e.what();
      }
    }
    return all;
  }

  // Opens the table again at its servers. Returns null if each of them has the version that it had for this table.
  std::unique_ptr<RemoteTable> reopen() const {
    auto next = std::make_unique<RemoteTable>(name_, addresses_, options_);
    return next->servers_.differ(servers_) ? std::move(next) : nullptr;
  }

 private:
  static std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> all(count);
    for (uint32_t i = 0; i < count; ++i) all[i] = i;
    return all;
  }

  static RemoteRow first(const std::shared_ptr<const table::detail::Response>& owner, std::string_view bytes,
                         uint32_t count) {
    if (count == 0) return {};
    const char* p = bytes.data();
    const uint32_t length = table::detail::length_at(p, p + bytes.size());
    return {TableRow(&owner->schema->row, {p, length}), owner};
  }

  // Returns the bytes of a key; nothing if the table cannot have it. `bits` is their memory for an integer.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  std::optional<std::string_view> bytes_of(T key, uint64_t& bits) const {
    if (YUNTI_UNLIKELY(key_.size() != 1 || !table::is_integer(key_[0].type))) key_.wrong();
    bits = static_cast<uint64_t>(key);
    if (!table::KeyColumns::can_have(key_[0], bits, std::is_signed_v<T> && key < T{0})) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  std::optional<std::string_view> bytes_of(std::string_view key, uint64_t&) const {
    if (YUNTI_UNLIKELY(key_.size() != 1 || !table::is_text(key_[0].type))) key_.wrong();
    return key;
  }
  std::optional<std::string_view> bytes_of(const TableKey& key, uint64_t&) const {
    if (!key_.check(key, true)) return std::nullopt;
    return key.bytes();
  }

  template <class KeyAt, class Take>
  void look_up(bool all_rows, uint32_t count, KeyAt key_at, Take take) const {
    table::detail::Lookup lookup(servers_, all_rows);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; ++i)
      if (const std::optional<std::string_view> key = key_at(i, bits)) lookup.add(i, *key);
    lookup.run(take);
  }

  const std::optional<std::string> name_;
  const std::vector<std::string> addresses_;
  const RemoteTableOptions options_;
  // Its connections serve lookups, which change nothing that a caller sees.
  mutable table::detail::Servers servers_;
  const table::KeyColumns key_;
};

}  // namespace yunti
