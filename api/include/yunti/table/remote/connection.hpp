// One connection to a server, with one table open: frames out and in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <type_traits>

#include "message.hpp"
#include "tls.hpp"

namespace yunti {
namespace table {
namespace detail {

// Parts of a table's client that all connections use.
struct Client {
  // Name of the table; none for the only table of the servers.
  std::optional<std::string> name;
  RemoteTableOptions options;
  TlsContext tls;

  Client(std::optional<std::string> table, const RemoteTableOptions& of)
      : name(std::move(table)), options(of), tls(options) {
    if (name && name->empty())
      throw Error("the name of the table is empty: name one that the servers have, or give std::nullopt for their only one");
    if (options.timeout.count() <= 0 || options.connect_timeout.count() <= 0)
      throw Error("a timeout of a RemoteTable must be above 0");
    if (options.columns.size() >= UINT16_MAX) throw Error("a RemoteTable has at most 65,534 columns");
  }
};

class Connection {
 public:
  // Connects, says hello and opens the table. Throws ConnectionFailed or Refused.
  Connection(const Client& client, const Address& address)
      : client_(client), socket_(address, client.options.connect_timeout) {
    if (client.options.has_tls() && !address.is_unix) tls_.emplace(client.tls, socket_, Deadline(client.options.timeout));
    const std::string name = hello_of_server();
    std::string request;
    put_string(request, name);
    const std::vector<std::string>& columns = client.options.columns;
    put(request, static_cast<uint16_t>(columns.empty() ? UINT16_MAX : columns.size()));
    for (const std::string& column : columns) put_string(request, column);
    const Payload payload = ask(Message::Open, request);
    opened_ = understood([&] { return Opened(payload); });
  }

  const Address& address() const { return socket_.address(); }
  const Opened& opened() const { return opened_; }

  // Returns the number of the next request.
  uint32_t next_number() { return ++last_; }

  void send(const std::string& frames) {
    const Deadline deadline(client_.options.timeout);
    if (tls_) tls_->send(frames.data(), frames.size(), deadline);
    else socket_.send(frames.data(), frames.size(), deadline);
  }

  // Receives the response to a request, which must be the oldest without one.
  Payload receive(Message kind, uint32_t number) {
    const Deadline deadline(client_.options.timeout);
    need(4, deadline);
    const uint32_t bytes = yunti::detail::load<uint32_t>(buffer_.get() + taken_);
    if (bytes < frame_bytes_min || bytes > frame_bytes_max) strange("a frame of " + std::to_string(bytes) + " bytes");
    need(frame_head_bytes, deadline);
    const uint32_t own = yunti::detail::load<uint32_t>(buffer_.get() + taken_ + 4);
    const Message type = yunti::detail::load<Message>(buffer_.get() + taken_ + 8);
    taken_ += frame_head_bytes;
    // An error that closes the connection may have the number 0.
    if (type != Message::Error && (type != kind || own != number)) strange("a response to no request");
    // The system gives memory for the bytes that arrive, not for the length that a frame claims.
    Payload payload{std::unique_ptr<char[]>(new char[bytes - frame_bytes_min]), bytes - frame_bytes_min};
    size_t filled = std::min(payload.size, filled_ - taken_);
    std::memcpy(payload.bytes.get(), buffer_.get() + taken_, filled);
    taken_ += filled;
    while (filled < payload.size) filled += take(payload.bytes.get() + filled, payload.size - filled, deadline);
    if (type == Message::Error) refuse(payload);
    return payload;
  }

  // Requests the counters of the server.
  std::map<std::string, double> counters() {
    const Payload page = ask(Message::Metrics, {});
    return understood([&] { return read_counters({page.bytes.get(), page.size}); });
  }

  // Returns what a reader of a response returns. The reader's errors mean that it is no response.
  template <class Read>
  std::invoke_result_t<Read> understood(Read read) const {
    try {
      return read();
    } catch (const Error& e) {
      constexpr std::string_view file = "the table is damaged: ";
      const std::string what = e.what();
      strange(what.compare(0, file.size(), file) == 0 ? what.substr(file.size()) : what);
    }
  }

  [[noreturn]] YUNTI_COLD void strange(const std::string& what) const { detail::strange(address(), what, tls_.has_value()); }

 private:
  static constexpr size_t buffer_bytes = 16 << 10;

  // Says hello; a server that closes the connection at once may expect TLS.
  std::string hello_of_server() {
    try {
      return hello();
    } catch (const ConnectionFailed& e) {
      if (!e.is_closed || tls_ || address().is_unix) throw;
      throw ConnectionFailed("the table server " + address().text() +
                             " closed the connection at once: set tls if it has a certificate");
    }
  }

  // Returns the name of the table to open.
  std::string hello() {
    std::string request("YTSV");
    put(request, protocol_version);
    put_string(request, client_.options.token);
    const Payload payload = ask(Message::Hello, request);
    size_t count = 0;
    std::string names, last;
    understood([&] {
      Parts parts(payload);
      if (parts.number<uint16_t>() != protocol_version) damaged("it speaks another version");
      count = parts.number<uint16_t>();
      for (size_t i = 0; i < count; ++i) {
        last = parts.string();
        if (names.size() < 200) names += (i == 0 ? "" : ", ") + last;
      }
      parts.finish();
    });
    if (client_.name) return *client_.name;
    if (count == 1) return last;
    throw Refused(Refused::no_table, "the table server " + address().text() + " has " + std::to_string(count) +
                                         " tables: give the name of one: " + one_line(names));
  }

  Payload ask(Message kind, const std::string& request) {
    std::string out;
    const uint32_t number = next_number();
    put_frame(out, number, kind, request);
    send(out);
    return receive(kind, number);
  }

  size_t take(char* to, size_t most, const Deadline& deadline) {
    return tls_ ? tls_->receive(to, most, deadline) : socket_.receive(to, most, deadline);
  }

  // Waits until the buffer has at least these bytes.
  void need(size_t bytes, const Deadline& deadline) {
    if (!buffer_) buffer_.reset(new char[buffer_bytes]);
    while (filled_ - taken_ < bytes) {
      std::memmove(buffer_.get(), buffer_.get() + taken_, filled_ - taken_);
      filled_ -= taken_;
      taken_ = 0;
      filled_ += take(buffer_.get() + filled_, buffer_bytes - filled_, deadline);
    }
  }

  [[noreturn]] YUNTI_COLD void refuse(const Payload& payload) const {
    uint16_t code = 0;
    std::string text = understood([&] {
      Parts parts(payload);
      code = parts.number<uint16_t>();
      const std::string line = one_line(parts.string());
      parts.finish();
      return line;
    });
    text = "the table server " + address().text() + " refuses: " + text;
    if (code == Refused::full) throw ConnectionFailed(text);
    if (code == Refused::wrong_token) text += ": set the option token to the one of its --token-file";
    throw Refused(code, text);
  }

  const Client& client_;
  Socket socket_;
  std::optional<Tls> tls_;
  Opened opened_;
  std::unique_ptr<char[]> buffer_;
  size_t filled_ = 0, taken_ = 0;
  uint32_t last_ = 0;
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
