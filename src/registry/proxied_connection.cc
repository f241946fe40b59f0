// SPDX-License-Identifier: Apache-2.0
// OpenSSL between two memory buffers, because its own writes to a socket can raise SIGPIPE.
#include "registry/proxied_connection.h"

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/host_port.h"
#include "base/text.h"

namespace cronlatch::registry {
namespace {

constexpr Millis kPollInterval{50};  // the longest delay after a request to stop
constexpr std::size_t kMaxProxyHead = 4096;

struct ClientSslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

Error unreachable(std::string what) { return {Code::unreachable, std::move(what)}; }

}  // namespace

class ProxiedConnection::Impl {
 public:
  Impl(const Clock& clock, ConnectionLimits limits) : clock_(clock), limits_(std::move(limits)) {}

  Status connect_to_proxy(std::uint16_t port) {
    socket_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool failed =
        !socket_ || (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                               sizeof address) != 0 &&
                     errno != EINPROGRESS);
    if (failed) return unreachable("cannot connect to the operator's own proxy");
    return wait_for(POLLOUT);
  }

  Status open_tunnel(const image::Peer& to, const std::string& authorization) {
    const std::string where = show_host_port(to.host, to.port);
    if (Status sent = send_all("CONNECT " + where + " HTTP/1.1\r\nHost: " + where +
                               "\r\nProxy-Authorization: " + authorization + "\r\n\r\n");
        !sent)
      return sent;
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      auto bytes = receive();
      if (!bytes) return bytes.error();
      if (bytes->empty() || head.size() > kMaxProxyHead)
        return unreachable("the operator's own proxy closed the connection");
      head += *bytes;
    }
    if (head.starts_with("HTTP/1.1 200 ")) return Done{};
    const std::string line = head.substr(0, head.find("\r\n"));
    return unreachable(line.size() > 13 ? printable(line.substr(13), 200) : "no tunnel");
  }

  Status handshake(const std::string& host, SSL_CTX* context) {
    ssl_.reset(SSL_new(context));
    if (ssl_ == nullptr) return Error{Code::bug, "cannot set up TLS"};
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    BIO_set_mem_eof_return(SSL_get_rbio(ssl_.get()), -1);
    SSL_set_connect_state(ssl_.get());
    // It fails for a host that is no address.
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str()) != 1) {
      SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
      SSL_set1_host(ssl_.get(), host.c_str());
    }
    return run([&] { return SSL_do_handshake(ssl_.get()); });
  }

  Status write(std::string_view bytes) {
    if (ssl_ == nullptr) return send_all(bytes);
    return run([&] { return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())); });
  }

  Result<std::string> read() {
    if (ssl_ == nullptr) return receive();
    std::array<char, 8192> buffer;
    int got = 0;
    const Status done = run(
        [&] { return got = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size())); });
    if (!done && !ended_) return done.error();
    return std::string(buffer.data(), static_cast<std::size_t>(std::max(got, 0)));
  }

 private:
  // Repeats one function of OpenSSL until it succeeds, and moves bytes between it and the socket.
  template <class Step>
  Status run(const Step& step) {
    while (true) {
      ERR_clear_error();
      const int result = step();
      const int why = SSL_get_error(ssl_.get(), result);
      if (Status sent = flush(); !sent) return sent;
      if (result > 0) return Done{};
      if (why == SSL_ERROR_ZERO_RETURN) {
        ended_ = true;
        return unreachable("the connection was closed");
      }
      if (why != SSL_ERROR_WANT_READ) return tls_error();
      auto bytes = receive();
      if (!bytes) return bytes.error();
      if (bytes->empty()) return unreachable("the connection was closed");
      BIO_write(SSL_get_rbio(ssl_.get()), bytes->data(), static_cast<int>(bytes->size()));
    }
  }

  Error tls_error() const {
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK)
      return {Code::tls, std::string("the certificate is not trusted: ") +
                             X509_verify_cert_error_string(verified)};
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    return {Code::tls,
            std::string("TLS: ") + (reason == nullptr ? "the handshake failed" : reason)};
  }

  Status flush() {
    std::array<char, 8192> buffer;
    for (int size = 0; (size = BIO_read(SSL_get_wbio(ssl_.get()), buffer.data(),
                                        static_cast<int>(buffer.size()))) > 0;)
      if (Status sent = send_all({buffer.data(), static_cast<std::size_t>(size)}); !sent)
        return sent;
    return Done{};
  }

  Status wait_for(short events) const {
    while (clock_.now() < limits_.deadline) {
      if (limits_.stop.stop_requested()) return unreachable("the operator is stopping");
      pollfd polled{socket_.get(), events, 0};
      if (::poll(&polled, 1, static_cast<int>(kPollInterval.count())) > 0) return Done{};
    }
    return unreachable("the lookup timed out");
  }

  Status send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      if (Status ready = wait_for(POLLOUT); !ready) return ready;
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return unreachable("the connection was closed");
    }
    return Done{};
  }

  Result<std::string> receive() const {
    std::array<char, 8192> buffer;
    while (true) {
      if (Status ready = wait_for(POLLIN); !ready) return ready.error();
      const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got >= 0) return std::string(buffer.data(), static_cast<std::size_t>(got));
      if (errno != EAGAIN && errno != EINTR) return unreachable("the connection was reset");
    }
  }

  const Clock& clock_;
  const ConnectionLimits limits_;
  Fd socket_;
  std::unique_ptr<SSL, ClientSslDeleter> ssl_;
  bool ended_ = false;  // by the alert close_notify
};

ProxiedConnection::ProxiedConnection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProxiedConnection::ProxiedConnection(ProxiedConnection&& other) noexcept = default;
ProxiedConnection::~ProxiedConnection() = default;

Result<ProxiedConnection> ProxiedConnection::open(const Proxy& proxy, const image::Peer& to,
                                                  const TrustedCas* cas, const Clock& clock,
                                                  const ConnectionLimits& limits) {
  auto impl = std::make_unique<Impl>(clock, limits);
  Status ready = impl->connect_to_proxy(proxy.port());
  if (ready && cas != nullptr) ready = impl->open_tunnel(to, proxy.authorization());
  if (ready && cas != nullptr) ready = impl->handshake(to.host, cas->get());
  if (!ready) return ready.error();
  return ProxiedConnection(std::move(impl));
}

Status ProxiedConnection::write(std::string_view bytes) { return impl_->write(bytes); }
Result<std::string> ProxiedConnection::read() { return impl_->read(); }

}  // namespace cronlatch::registry
