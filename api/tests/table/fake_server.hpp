// A table server written from docs/formats/table-protocol.md, whose responses a test may replace by any bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <yunti/table/remote.hpp>

#include "writer.hpp"

namespace fake {

using writer::leb;
using writer::raw;

inline std::string string_bytes(const std::string& text) { return raw(static_cast<uint16_t>(text.size())) + text; }

inline std::string frame(uint32_t number, int kind, const std::string& payload) {
  return raw(static_cast<uint32_t>(payload.size() + 5)) + raw(number) + static_cast<char>(kind) + payload;
}

inline std::string refusal(uint32_t number, uint16_t code, const std::string& text) {
  return frame(number, 0, raw(code) + string_bytes(text));
}

struct Request {
  uint32_t number = 0;
  int kind = 0;
  std::string payload;
  // Number of the connection and of the request on it, from 0.
  int connection = 0, position = 0;
};

struct Reply {
  std::string bytes;
  bool closes = false;
};

// Keys and rows of a server.
struct Content {
  std::vector<writer::Col> key, cols;
  std::map<std::string, std::vector<std::vector<writer::Node>>> rows = {};
  uint64_t version = 1;
  uint32_t shard = 1, shards = 1;
  // True: a server of one shard has the keys of all, and stands in for the others.
  bool is_whole = false;

  std::string opened() const {
    std::string out = raw(uint32_t{7}) + raw(version) + raw(uint64_t{rows.size()}) + raw(uint64_t{rows.size()});
    out += raw(shard) + raw(shards) + static_cast<char>(is_whole ? 3 : 1) + raw(static_cast<uint16_t>(key.size()));
    for (const writer::Col& col : key) out += static_cast<char>(col.type) + string_bytes(col.name);
    return out + writer::schema_bytes(cols);
  }

  std::string rows_of(const std::string& wanted, bool all) const {
    const auto found = rows.find(wanted);
    if (found == rows.end()) return leb(0);
    std::vector<const writer::Col*> of;
    for (const writer::Col& col : cols) of.push_back(&col);
    const size_t count = all ? found->second.size() : 1;
    std::string out = leb(count);
    for (size_t i = 0; i < count; ++i) {
      const std::string row = writer::row_bytes(of, found->second[i]);
      out += leb(row.size()) + row;
    }
    return out;
  }
};

// Returns the keys of a `get`, which must be one.
inline std::vector<std::string> keys_of(const Request& request) {
  const std::string& bytes = request.payload;
  CHECK(bytes.size() >= 9 && writer::raw(uint32_t{7}) == bytes.substr(0, 4));
  uint32_t count;
  std::memcpy(&count, &bytes[5], 4);
  std::vector<std::string> keys;
  size_t at = 9;
  for (uint32_t i = 0; i < count; ++i) {
    size_t length = 0;
    for (int shift = 0;; shift += 7) {
      CHECK(at < bytes.size());
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= size_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    CHECK(length <= bytes.size() - at);
    keys.push_back(bytes.substr(at, length));
    at += length;
  }
  CHECK(at == bytes.size());
  return keys;
}

// A server at a Unix or TCP socket, with a thread for each connection.
class Server {
 public:
  // Returns the reply to a request in place of the server's own.
  using Hook = std::function<std::optional<Reply>(const Request&)>;

  explicit Server(Content content, Hook hook = nullptr, bool is_tcp = false)
      : content_(std::move(content)), hook_(std::move(hook)), is_tcp_(is_tcp) {
    static int servers = 0;
    path_ = "/tmp/yunti-remote-test-" + std::to_string(getpid()) + "-" + std::to_string(servers++);
    start();
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address() const { return is_tcp_ ? "127.0.0.1:" + std::to_string(port_) : "unix:" + path_; }
  int connections() const { return connections_; }
  int gets() const { return gets_; }

  // Listens, also after a stop: then with other content, at the same address.
  void start() {
    if (is_tcp_) {
      sockaddr_in place{};
      place.sin_family = AF_INET;
      place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      place.sin_port = htons(port_);
      bind_to(AF_INET, &place, sizeof place);
      socklen_t bytes = sizeof place;
      CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &bytes) == 0);
      port_ = ntohs(place.sin_port);
    } else {
      sockaddr_un place{};
      place.sun_family = AF_UNIX;
      unlink(path_.c_str());
      path_.copy(place.sun_path, sizeof place.sun_path - 1);
      bind_to(AF_UNIX, &place, sizeof place);
    }
    CHECK(listen(listener_, 64) == 0);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  // Closes all connections and stops to listen.
  void stop() {
    if (!acceptor_.joinable()) return;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    close_connections();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const int socket : sockets_) close(socket);
    sockets_.clear();
    if (!is_tcp_) unlink(path_.c_str());
  }

  void close_connections() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }

  // Changes the content for later requests.
  void set(const std::function<void(Content&)>& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    change(content_);
  }

 private:
  void bind_to(int family, const void* place, socklen_t bytes) {
    listener_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener_ >= 0);
    const int yes = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    CHECK(bind(listener_, static_cast<const sockaddr*>(place), bytes) == 0);
  }

  void accept_all() {
    for (;;) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket, number = connections_++] { serve(socket, number); });
    }
  }

  static bool read_all(int socket, std::string& bytes) {
    return bytes.empty() ||
           recv(socket, &bytes[0], bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size());
  }

  void serve(int socket, int connection) {
    for (int position = 0;; ++position) {
      std::string head(9, '\0');
      if (!read_all(socket, head)) break;
      uint32_t length;
      Request request;
      std::memcpy(&length, &head[0], 4);
      std::memcpy(&request.number, &head[4], 4);
      CHECK(length >= 5 && length <= 1 << 24);
      request.kind = head[8];
      request.payload.resize(length - 5);
      request.connection = connection;
      request.position = position;
      if (!read_all(socket, request.payload)) break;
      if (request.kind == 3) ++gets_;
      std::optional<Reply> reply = hook_ ? hook_(request) : std::nullopt;
      if (!reply) reply = Reply{answer(request), false};
      const std::string& bytes = reply->bytes;
      if (send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) break;
      if (reply->closes) break;
    }
    shutdown(socket, SHUT_RDWR);
  }

 public:
  // Returns the response of a right server.
  std::string answer(const Request& request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (request.kind == 1) {
      CHECK(request.position == 0 && request.payload.substr(0, 6) == std::string("YTSV\2\0", 6));
      return frame(request.number, 1, raw(uint16_t{2}) + raw(uint16_t{1}) + string_bytes("users"));
    }
    if (request.kind == 4) return frame(request.number, 4, "# TYPE a counter\na{b=\"c d\"} 12\n\nf 0.5\n");
    if (request.kind == 2) return frame(request.number, 2, content_.opened());
    CHECK(request.kind == 3);
    std::string out;
    for (const std::string& key : keys_of(request)) out += content_.rows_of(key, (request.payload[4] & 1) != 0);
    return frame(request.number, 3, out);
  }

 private:
  Content content_;
  const Hook hook_;
  const bool is_tcp_;
  std::string path_;
  uint16_t port_ = 0;
  int listener_ = -1;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::atomic<int> connections_{0}, gets_{0};
};

}  // namespace fake
