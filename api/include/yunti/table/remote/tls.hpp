// TLS over a socket, by OpenSSL 1.1.1 or later; without YUNTI_TABLE_OPENSSL, an error that names this macro.
//
// OpenSSL works on buffers in memory: the socket keeps its deadlines, and no write raises SIGPIPE. The authority and
// the name (or IP address) of each certificate are checked.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "socket.hpp"

#ifdef YUNTI_TABLE_OPENSSL
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#endif

namespace yunti {
namespace table {
namespace detail {

#ifdef YUNTI_TABLE_OPENSSL

// Returns the reason of the last failure of OpenSSL.
inline std::string tls_reason() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason is known" : reason;
}

// Authorities that a client trusts.
class TlsContext {
 public:
  explicit TlsContext(const RemoteTableOptions& options) : context_(nullptr, SSL_CTX_free) {
    if (!options.has_tls()) return;
    const std::string& file = options.tls_ca;
    ERR_clear_error();
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (context_ == nullptr) throw Error("OpenSSL does not start: " + tls_reason());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    const bool is_ready = SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) == 1 &&
                          (file.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                        : SSL_CTX_load_verify_locations(context_.get(), file.c_str(), nullptr)) == 1;
    if (!is_ready)
      throw Error("cannot read the certificates of authorities (PEM): " +
                  (file.empty() ? "those of the system" : file) + ": " + tls_reason());
  }

  SSL_CTX* get() const { return context_.get(); }

 private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
};

// Session of TLS on a connected socket.
class Tls {
 public:
  Tls(const TlsContext& context, Socket& socket, const Deadline& deadline)
      : socket_(socket), session_(SSL_new(context.get()), SSL_free) {
    const std::string& host = socket.address().name;
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    if (session_ == nullptr || in_ == nullptr || out_ == nullptr) {
      BIO_free(in_);
      BIO_free(out_);
      throw std::bad_alloc();
    }
    SSL_set_bio(session_.get(), in_, out_);
    SSL_set_hostflags(session_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // A certificate is for an IP address or for a name.
    const bool is_ip = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), host.c_str()) == 1;
    if (!is_ip && (SSL_set1_host(session_.get(), host.c_str()) != 1 ||
                   SSL_set_tlsext_host_name(session_.get(), host.c_str()) != 1))
      throw Error("TLS takes no such name of a host: " + host);
    run([&] { return SSL_connect(session_.get()); }, deadline);
  }

  void send(const char* bytes, size_t count, const Deadline& deadline) {
    while (count > 0) {
      const int part = static_cast<int>(std::min<size_t>(count, 1 << 20));
      const size_t sent = run([&] { return SSL_write(session_.get(), bytes, part); }, deadline);
      bytes += sent;
      count -= sent;
    }
  }

  size_t receive(char* to, size_t most, const Deadline& deadline) {
    const int part = static_cast<int>(std::min<size_t>(most, 1 << 20));
    return run([&] { return SSL_read(session_.get(), to, part); }, deadline);
  }

 private:
  // Repeats a call until it gives a number above 0, and moves bytes between OpenSSL and the socket.
  template <class Call>
  size_t run(Call call, const Deadline& deadline) {
    for (;;) {
      ERR_clear_error();
      const int result = call();
      const int state = result > 0 ? SSL_ERROR_NONE : SSL_get_error(session_.get(), result);
      if (state != SSL_ERROR_NONE && state != SSL_ERROR_WANT_READ) fail(state, deadline);
      flush(deadline);
      if (state == SSL_ERROR_NONE) return static_cast<size_t>(result);
      const size_t received = socket_.receive(buffer_, sizeof buffer_, deadline);
      if (BIO_write(in_, buffer_, static_cast<int>(received)) != static_cast<int>(received)) throw std::bad_alloc();
    }
  }

  void flush(const Deadline& deadline) {
    for (int bytes; (bytes = BIO_read(out_, buffer_, sizeof buffer_)) > 0;)
      socket_.send(buffer_, static_cast<size_t>(bytes), deadline);
  }

  [[noreturn]] YUNTI_COLD void fail(int state, const Deadline& deadline) {
    if (state == SSL_ERROR_ZERO_RETURN) closed(socket_.address());
    const long verified = SSL_get_verify_result(session_.get());
    const std::string reason = verified == X509_V_OK ? tls_reason() : X509_verify_cert_error_string(verified);
    try {
      // The alert for the server.
      flush(deadline);
    } catch (const ConnectionFailed&) {
    }
    throw ConnectionFailed("TLS with the table server " + socket_.address().text() + " fails: " + reason +
                           "; see tls_ca, and the name in its certificate");
  }

  Socket& socket_;
  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  // Both belong to the session.
  BIO *in_ = nullptr, *out_ = nullptr;
  char buffer_[16 << 10];
};

#else

// Refuses options with TLS.
class TlsContext {
 public:
  explicit TlsContext(const RemoteTableOptions& options) {
    if (options.has_tls())
      throw Error("this program has no TLS: compile it with -DYUNTI_TABLE_OPENSSL, and link the libraries ssl and crypto");
  }
};

// Stands where a session of TLS would be.
class Tls {
 public:
  Tls(const TlsContext&, Socket&, const Deadline&) {}
  void send(const char*, size_t, const Deadline&) {}
  size_t receive(char*, size_t, const Deadline&) { return 0; }
};

#endif

}  // namespace detail
}  // namespace table
}  // namespace yunti
