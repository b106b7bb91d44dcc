// Errors of a client: failed connections, which another replica replaces, and refusals of a server.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "options.hpp"

namespace yunti {
namespace table {
namespace detail {

// A failed connection.
struct ConnectionFailed : Error {
  // Closed by the server: an idle connection may have been closed long ago.
  bool is_closed;

  explicit ConnectionFailed(const std::string& what, bool closed = false) : Error(what), is_closed(closed) {}
};

// A request that the server refused. No other server is tried.
struct Refused : Error {
  // Codes of docs/formats/table-protocol.md.
  static constexpr uint16_t wrong_token = 2, no_table = 3, too_long = 5, full = 7;

  uint16_t code;

  Refused(uint16_t number, const std::string& what) : Error(what), code(number) {}
};

[[noreturn]] YUNTI_COLD inline void closed(const Address& server) {
  throw ConnectionFailed("the table server " + server.text() + " closed the connection: see whether it still runs", true);
}

[[noreturn]] YUNTI_COLD inline void late(const Address& server, std::chrono::milliseconds limit) {
  throw ConnectionFailed("the table server " + server.text() + " does not answer within " +
                         std::to_string(limit.count()) + " ms: add a replica, or raise the timeout");
}

// Throws the error for bytes that are no response of this protocol.
[[noreturn]] YUNTI_COLD inline void strange(const Address& server, const std::string& what, bool has_tls) {
  const char* remedy = has_tls ? ": give the address of a yunti table serve"
                               : ": give the address of a yunti table serve, and set tls if it has a certificate";
  throw ConnectionFailed(server.text() + " is no table server (" + what + ")" + remedy);
}

// Returns the text of a server as a part of one line.
inline std::string one_line(std::string_view text) {
  constexpr size_t bytes_max = 500;
  std::string line(text.substr(0, bytes_max));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return line;
}

}  // namespace detail
}  // namespace table
}  // namespace yunti
