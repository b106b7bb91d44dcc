// Requests of one call under way: one lane for each shard. All lanes send before one of them waits, so that servers
// work side by side. A lane whose connection fails sends what was not answered to another replica.
//
//   keys -> chunks of a lane: waiting -> sent -> rows
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>

#include "../hash.hpp"
#include "remote_row.hpp"
#include "servers.hpp"

namespace yunti {
namespace table {
namespace detail {

// Takes the rows of the key with this number: each behind its length. It is called again for a key whose server failed.
using TakeRows = std::function<void(uint32_t number, const std::shared_ptr<const Response>& owner,
                                    std::string_view bytes, uint32_t count)>;

class Lookup {
 public:
  explicit Lookup(Servers& servers, bool all_rows)
      : servers_(servers), all_rows_(all_rows), lane_of_(servers.shards(), none) {}

  // Adds a key.
  void add(uint32_t number, std::string_view key) {
    const uint32_t shard = servers_.shards() == 1 ? 0 : shard_of(key, servers_.shards());
    if (lane_of_[shard] == none) {
      lane_of_[shard] = lanes_.size();
      lanes_.emplace_back(*this, shard);
    }
    std::deque<Chunk>& waiting = lanes_[lane_of_[shard]].waiting;
    if (waiting.empty() || waiting.back().numbers.size() >= keys_max ||
        waiting.back().keys.size() + key.size() >= bytes_max)
      waiting.emplace_back();
    waiting.back().numbers.push_back(number);
    put_length(waiting.back().keys, key.size());
    waiting.back().keys.append(key);
  }

  // Sends all keys, and gives their rows to `take`.
  void run(const TakeRows& take) {
    for (bool is_done = false; !is_done;) {
      for (Lane& lane : lanes_) lane.attempt([&] { lane.send(); });
      is_done = true;
      for (Lane& lane : lanes_) {
        if (!lane.sent.empty()) lane.attempt([&] { lane.receive(take); });
        is_done &= lane.is_done();
      }
    }
    for (Lane& lane : lanes_) servers_.give_back(lane.replicas[lane.replica], std::move(lane.used.connection));
  }

 private:
  static constexpr size_t none = SIZE_MAX;
  // Most keys of a request.
  static constexpr size_t keys_max = 1024;
  // Most bytes and requests under way of a lane: sockets hold them, even if the server waits for the client to read.
  static constexpr size_t bytes_max = 64 << 10, requests_max = 8;

  // Keys of one request: their numbers, and each key behind its length.
  struct Chunk {
    std::vector<uint32_t> numbers;
    std::string keys;
    uint32_t request = 0;
  };

  struct Lane {
    Lookup& lookup;
    const uint32_t shard;
    std::deque<Chunk> waiting, sent;
    size_t sent_bytes = 0;
    UsedConnection used;
    // Servers to try, and the one in use.
    std::vector<size_t> replicas;
    size_t replica = 0;
    // True if this server has had its second chance.
    bool is_second = false;

    Lane(Lookup& of, uint32_t number) : lookup(of), shard(number), replicas(of.servers_.replicas(number)) {}

    bool is_done() const { return waiting.empty() && sent.empty(); }

    // Sends as much as may be under way.
    void send() {
      if (waiting.empty()) return;
      connect();
      std::string& out = lookup.out_;
      out.clear();
      while (!waiting.empty()) {
        Chunk& chunk = waiting.front();
        const bool has_room = sent.size() < requests_max && sent_bytes + chunk.keys.size() <= bytes_max;
        if (!sent.empty() && !has_room) break;
        std::string head;
        put(head, used.connection->opened().handle);
        put(head, static_cast<uint8_t>(lookup.all_rows_));
        put(head, static_cast<uint32_t>(chunk.numbers.size()));
        chunk.request = used.connection->next_number();
        put_frame(out, chunk.request, Message::Get, head, chunk.keys);
        sent_bytes += chunk.keys.size();
        sent.push_back(std::move(chunk));
        waiting.pop_front();
      }
      if (!out.empty()) used.connection->send(out);
    }

    // Takes one response.
    void receive(const TakeRows& take) {
      Chunk& chunk = sent.front();
      std::shared_ptr<const Response> response;
      try {
        response = std::make_shared<const Response>(
            Response{lookup.servers_.schema(), used.connection->receive(Message::Get, chunk.request)});
      } catch (const Refused& e) {
        if (e.code != Refused::too_long) throw;
        if (chunk.numbers.size() == 1)
          throw Refused(e.code, std::string(e.what()) + "; the rows of one key have more than 16 MiB: give fewer columns");
        halve(chunk);
      }
      used.was_idle = false;
      if (response) used.connection->understood([&] { read(chunk, response, take); });
      sent_bytes -= chunk.keys.size();
      sent.pop_front();
    }

    // Calls send or receive. If the connection fails, the next replica gets what was not answered.
    template <class Call>
    void attempt(Call call) {
      try {
        call();
      } catch (const ConnectionFailed& e) {
        for (; !sent.empty(); sent.pop_back()) waiting.push_front(std::move(sent.back()));
        sent_bytes = 0;
        // The server itself gets one more chance if its idle connection was closed.
        is_second = used.was_idle && e.is_closed && !is_second;
        used = {};
        lookup.servers_.failed(replicas[replica]);
        if (!is_second && ++replica == replicas.size()) throw;
      }
    }

   private:
    void connect() {
      while (!used.connection) {
        used = lookup.servers_.take(replicas[replica], shard);
        if (used.connection) continue;
        if (++replica < replicas.size()) continue;
        --replica;
        throw ConnectionFailed("no server has the shard " + std::to_string(shard + 1) + " any more: open the RemoteTable again");
      }
    }

    // Puts the halves of a chunk whose response would be too long before the others.
    void halve(const Chunk& chunk) {
      const size_t half = chunk.numbers.size() / 2;
      const char *p = chunk.keys.data(), *const end = p + chunk.keys.size();
      for (size_t i = 0; i < half; ++i) {
        const uint32_t length = length_at(p, end);
        p += length;
      }
      const auto middle = chunk.numbers.begin() + static_cast<std::ptrdiff_t>(half);
      waiting.push_front({{middle, chunk.numbers.end()}, {p, end}});
      waiting.push_front({{chunk.numbers.begin(), middle}, {chunk.keys.data(), p}});
    }

    void read(const Chunk& chunk, const std::shared_ptr<const Response>& response, const TakeRows& take) const {
      Parts parts(response->payload);
      for (const uint32_t number : chunk.numbers) {
        const uint32_t count = length_at(parts.p, parts.end);
        if (count > 1 && !lookup.all_rows_) damaged("a key has more rows than one");
        const char* const begin = parts.p;
        // Each row has a length, so that a hostile count ends with the payload.
        for (uint32_t i = 0; i < count; ++i) parts.value();
        take(number, response, {begin, static_cast<size_t>(parts.p - begin)}, count);
      }
      parts.finish();
    }
  };

  Servers& servers_;
  const bool all_rows_;
  std::vector<size_t> lane_of_;
  // Lanes refer to the lookup, and never move.
  std::deque<Lane> lanes_;
  std::string out_;
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
