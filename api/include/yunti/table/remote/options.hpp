// How a client connects to table servers, and the addresses of these.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <map>
#include <vector>

#include "../../error.hpp"

namespace yunti {

// Options of a RemoteTable.
struct RemoteTableOptions {
  // Token that the servers request: the content of their --token-file, without the space around it.
  std::string token;
  // Columns of the rows; all if it is empty. Fewer columns are shorter responses.
  std::vector<std::string> columns;
  // Longest time to connect to one address of a host. The time of its name server comes on top.
  std::chrono::milliseconds connect_timeout{3000};
  // Longest time for one response, and for the begin of TLS.
  std::chrono::milliseconds timeout{10'000};
  // TLS on TCP, with the authorities that the system trusts. The whole program needs -DYUNTI_TABLE_OPENSSL, and the
  // libraries ssl and crypto of OpenSSL.
  bool tls = false;
  // TLS on TCP, with the certificates of authorities in this file (PEM).
  std::string tls_ca;

  bool has_tls() const { return tls || !tls_ca.empty(); }
};

// Counters of a server as they are now, by the names of its page for Prometheus, with their labels.
struct ServerCounters {
  std::string address;
  std::map<std::string, double> counters;
  // Why there are no counters: the server is away, or refuses. Empty if there are.
  std::string error;
};

namespace table {
namespace detail {

// Place of a server: unix:PATH, or HOST:PORT.
struct Address {
  bool is_unix = false;
  // Path or host, and port.
  std::string name, port;

  explicit Address(const std::string& text) {
    if (text.compare(0, 5, "unix:") == 0) {
      is_unix = true;
      name = text.substr(5);
      if (!name.empty()) return;
    }
    const size_t colon = text.rfind(':');
    if (colon == text.npos || colon == 0 || is_unix || !is_port(text.substr(colon + 1)))
      throw Error(text + " is no address of a table server: write unix:PATH or HOST:PORT");
    name = text.substr(0, colon);
    port = text.substr(colon + 1);
    // The brackets of an IPv6 address are not part of the host.
    if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  }

  std::string text() const {
    if (is_unix) return "unix:" + name;
    return (name.find(':') == name.npos ? name : "[" + name + "]") + ":" + port;
  }

 private:
  static bool is_port(const std::string& digits) {
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos) return false;
    const int number = std::stoi(digits);
    return number > 0 && number <= UINT16_MAX;
  }
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
