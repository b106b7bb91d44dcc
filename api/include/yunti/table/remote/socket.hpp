// A socket whose every wait has a deadline. Linux only.
//
// Limit: the name of a host is resolved by getaddrinfo, which has timeouts of its own (resolv.conf).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "failure.hpp"

namespace yunti {
namespace table {
namespace detail {

// Time by which something must have happened.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit), end_(Clock::now() + std::min(limit, most)) {}

  std::chrono::milliseconds limit() const { return limit_; }
  // Returns the milliseconds that are left, rounded up; 0 when the time is over.
  int left_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : left);
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Larger limits would overflow the clock.
  static constexpr std::chrono::milliseconds most = std::chrono::hours(24 * 365);
  std::chrono::milliseconds limit_;
  Clock::time_point end_;
};

// A connected socket.
class Socket {
 public:
  Socket(const Address& address, std::chrono::milliseconds limit) : address_(address) {
    address.is_unix ? connect_unix(limit) : connect_tcp(limit);
  }
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  const Address& address() const { return address_; }

  void send(const char* bytes, size_t count, const Deadline& deadline) {
    while (count > 0) {
      const ssize_t sent = ::send(socket_, bytes, count, MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes += sent;
        count -= static_cast<size_t>(sent);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait(POLLOUT, deadline);
      } else if (errno != EINTR) {
        lost(errno);
      }
    }
  }

  // Receives at least one byte, and at most `most`.
  size_t receive(char* to, size_t most, const Deadline& deadline) {
    for (;;) {
      wait(POLLIN, deadline);
      const ssize_t received = ::recv(socket_, to, most, 0);
      if (received > 0) return static_cast<size_t>(received);
      if (received == 0) closed(address_);
      if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) lost(errno);
    }
  }

 private:
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  [[noreturn]] YUNTI_COLD void lost(int error) const {
    if (error == ECONNRESET || error == EPIPE) closed(address_);
    throw ConnectionFailed("the connection to the table server " + address_.text() +
                           " is lost: " + std::strerror(error));
  }

  [[noreturn]] YUNTI_COLD void unreachable(const std::string& why) const {
    throw ConnectionFailed("cannot connect to the table server " + address_.text() + ": " + why +
                           "; start yunti table serve there");
  }

  void wait(short events, const Deadline& deadline) const {
    if (!is_ready(events, deadline)) late(address_, deadline.limit());
  }

  // Waits until the socket is ready, or has failed; false when the time is over.
  bool is_ready(short events, const Deadline& deadline) const {
    pollfd entry{socket_, events, 0};
    for (;;) {
      const int left_ms = deadline.left_ms();
      const int ready = ::poll(&entry, 1, left_ms);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) lost(errno);
      if (left_ms == 0) return false;
    }
  }

  void connect_unix(std::chrono::milliseconds limit) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    if (address_.name.size() >= sizeof place.sun_path)
      throw Error("the path of a socket has at most 107 bytes: " + address_.text());
    std::memcpy(place.sun_path, address_.name.data(), address_.name.size());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) fail(errno);
    // A queue of connections that is full is waited for, as long as this.
    const timeval wait{static_cast<time_t>(limit.count() / 1000), static_cast<suseconds_t>(limit.count() % 1000 * 1000)};
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    while (::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
      if (errno != EINTR) fail(errno == EAGAIN ? ETIMEDOUT : errno);
    if (::fcntl(socket_, F_SETFL, O_NONBLOCK) != 0) fail(errno);
  }

  void connect_tcp(std::chrono::milliseconds limit) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    const int code = ::getaddrinfo(address_.name.c_str(), address_.port.c_str(), &wanted, &found);
    if (code != 0) unreachable(code == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(code));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    int error = ENOENT;
    for (const addrinfo* place = found; place != nullptr; place = place->ai_next) {
      error = connect_to(*place, Deadline(limit));
      if (error == 0) return;
      close();
    }
    unreachable(std::strerror(error));
  }

  // Returns 0, or an error of the system.
  int connect_to(const addrinfo& place, const Deadline& deadline) {
    socket_ = ::socket(place.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return errno;
    if (::connect(socket_, place.ai_addr, place.ai_addrlen) != 0) {
      if (errno != EINPROGRESS && errno != EINTR) return errno;
      if (!is_ready(POLLOUT, deadline)) return ETIMEDOUT;
      int error = 0;
      socklen_t bytes = sizeof error;
      if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) return errno;
      if (error != 0) return error;
    }
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return 0;
  }

  [[noreturn]] YUNTI_COLD void fail(int error) {
    close();
    unreachable(std::strerror(error));
  }

  Address address_;
  int socket_ = -1;
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
