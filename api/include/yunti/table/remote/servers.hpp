// Servers of a table: the shard of each, its idle connections, and when it failed last.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>

#include "connection.hpp"

namespace yunti {
namespace table {
namespace detail {

// A connection that a lookup uses.
struct UsedConnection {
  std::unique_ptr<Connection> connection;
  // True if it has been idle: the server may have closed it since.
  bool was_idle = false;
};

class Servers {
 public:
  // Opens the table at all servers. Some may be down, but each shard needs one.
  Servers(const std::optional<std::string>& name, const std::vector<std::string>& addresses, const RemoteTableOptions& options)
      : client_(name, options) {
    std::string last;
    for (const std::string& text : addresses) all_.push_back(std::make_unique<Server>(Address(text)));
    if (all_.empty()) throw Error("a RemoteTable needs the address of a server: unix:PATH or HOST:PORT");
    for (const std::unique_ptr<Server>& server : all_) {
      try {
        add(*server, std::make_unique<Connection>(client_, server->address));
      } catch (const ConnectionFailed& e) {
        server->failed = Clock::now();
        last = e.what();
      }
    }
    if (schema_ == nullptr) throw Error(last);
    for (uint32_t shard = 0; shard < shards_; ++shard) {
      const auto has_it = [&](const auto& server) { return server->has(shard, shards_); };
      if (std::any_of(all_.begin(), all_.end(), has_it)) continue;
      throw Error("no server has the shard " + std::to_string(shard + 1) + " of " + std::to_string(shards_) + ": " +
                  (last.empty() ? "give its address too" : last));
    }
  }

  const std::shared_ptr<const RemoteSchema>& schema() const { return schema_; }
  uint32_t shards() const { return shards_; }
  bool has_lists() const { return has_lists_; }

  // Returns true if a server had another version of its table when the other list was made.
  bool differ(const Servers& other) const {
    for (size_t i = 0; i < all_.size(); ++i) {
      const std::optional<uint64_t> own = all_[i]->first_version(), its = other.all_[i]->first_version();
      if (own && its && *own != *its) return true;
    }
    return schema_text_ != other.schema_text_ || shards_ != other.shards_;
  }

  // Requests the counters of a server by a connection of its own.
  std::map<std::string, double> counters(size_t place) const {
    return Connection(client_, all_.at(place)->address).counters();
  }

  // Returns the servers to try for a shard, in this order: servers of the shard, of the whole table, servers that were
  // never reached, servers that failed lately. Each call begins at another one.
  std::vector<size_t> replicas(uint32_t shard) const {
    std::vector<std::pair<int, size_t>> ranked;
    const size_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < all_.size(); ++i) {
      const size_t place = (i + turn) % all_.size();
      const Server& server = *all_[place];
      const std::lock_guard<std::mutex> lock(server.mutex);
      if (server.is_reached && !server.has(shard, shards_)) continue;
      const int kind = !server.is_reached ? 2 : server.is_of(shard, shards_) ? 0 : 1;
      const bool has_failed = server.failed && Clock::now() - *server.failed < last_after;
      ranked.emplace_back(has_failed ? 3 + kind : kind, place);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<size_t> places;
    for (const auto& [rank, place] : ranked) places.push_back(place);
    return places;
  }

  // Returns a connection to a server; none if the server turns out to have another shard.
  UsedConnection take(size_t place, uint32_t shard) {
    Server& server = *all_[place];
    {
      const std::lock_guard<std::mutex> lock(server.mutex);
      if (!server.idle.empty()) {
        UsedConnection used{std::move(server.idle.back()), true};
        server.idle.pop_back();
        return used;
      }
    }
    auto fresh = std::make_unique<Connection>(client_, server.address);
    const Opened& opened = fresh->opened();
    need_schema(*fresh);
    bool has_it = false;
    {
      const std::lock_guard<std::mutex> lock(server.mutex);
      server.learn(opened);
      has_it = server.has(shard, shards_);
    }
    if (has_it) return {std::move(fresh), false};
    give_back(place, std::move(fresh));
    return {};
  }

  // Takes back a connection without requests under way.
  void give_back(size_t place, std::unique_ptr<Connection> connection) {
    Server& server = *all_[place];
    const std::lock_guard<std::mutex> lock(server.mutex);
    server.failed.reset();
    if (server.idle.size() < idle_max) server.idle.push_back(std::move(connection));
  }

  // Closes the idle connections of a server that failed, and tries it after the others for some time.
  void failed(size_t place) {
    Server& server = *all_[place];
    std::vector<std::unique_ptr<Connection>> closed;
    const std::lock_guard<std::mutex> lock(server.mutex);
    server.failed = Clock::now();
    closed.swap(server.idle);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t idle_max = 16;
  static constexpr std::chrono::seconds last_after{5};

  struct Server {
    const Address address;
    mutable std::mutex mutex;
    // Shard, from 1, as the server had it last. A server whose file is whole stands in for the other shards.
    bool is_reached = false, is_whole = false;
    uint32_t shard = 0, shards = 0;
    std::optional<uint64_t> version;
    std::optional<Clock::time_point> failed;
    std::vector<std::unique_ptr<Connection>> idle;

    explicit Server(Address of) : address(std::move(of)) {}

    // Returns true if this is the server's own shard, from 0, of a number of them.
    bool is_of(uint32_t number, uint32_t of) const { return is_reached && shards == of && shard == number + 1; }
    // Returns true if the server has the keys of a shard: its own, or any in a whole file.
    bool has(uint32_t number, uint32_t of) const { return is_whole || is_of(number, of); }

    void learn(const Opened& opened) {
      is_reached = true;
      is_whole = opened.is_whole;
      shard = opened.shard;
      shards = opened.shards;
      // The first one, which differ() compares.
      if (!version) version = opened.version;
    }

    std::optional<uint64_t> first_version() const {
      const std::lock_guard<std::mutex> lock(mutex);
      return version;
    }
  };

  void add(Server& server, std::unique_ptr<Connection> connection) {
    const Opened& opened = connection->opened();
    if (schema_ == nullptr) {
      schema_ = connection->understood([&] { return opened.read(); });
      schema_text_ = opened.schema;
    } else {
      need_schema(*connection);
    }
    if (opened.shards > 1 && shards_ > 1 && opened.shards != shards_)
      throw Error("the table server " + server.address.text() + " has a shard of " + std::to_string(opened.shards) +
                  ", others of " + std::to_string(shards_) + ": give servers of one table");
    shards_ = std::max(shards_, opened.shards);
    // The file of a shard says nothing of the keys of others.
    has_lists_ = has_lists_ || opened.has_lists;
    server.learn(opened);
    server.idle.push_back(std::move(connection));
  }

  void need_schema(const Connection& connection) const {
    if (connection.opened().schema != schema_text_)
      throw ConnectionFailed("the table of the table server " + connection.address().text() +
                             " has other columns: open the RemoteTable again");
  }

  const Client client_;
  std::vector<std::unique_ptr<Server>> all_;
  std::shared_ptr<const RemoteSchema> schema_;
  std::string schema_text_;
  bool has_lists_ = false;
  uint32_t shards_ = 1;
  mutable std::atomic<size_t> turn_{0};
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
