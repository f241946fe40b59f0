// SPDX-License-Identifier: Apache-2.0
// Blocking sockets with a short receive timeout, so that every thread checks often whether the
// server stops.
#include "support/https_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace cronlatch::testing {
namespace {

constexpr std::chrono::milliseconds kReceiveTimeout{20};

void check(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

struct ContextFreer {
  void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
};
struct SslFreer {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

class TlsPeer final : public HttpsServer::Peer {
 public:
  TlsPeer(int fd, SSL* ssl, const std::atomic<bool>& ending)
      : fd_(fd), ssl_(ssl), ending_(ending) {}
  ~TlsPeer() override { close(); }

  bool open() const { return fd_ >= 0; }
  void write(std::string_view bytes) override {
    while (open() && !bytes.empty() && !ending_) {
      const int n = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
      if (n > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (SSL_get_error(ssl_, n) != SSL_ERROR_WANT_WRITE) {
        return close();
      }
    }
  }
  // Reads more from the client; false when it closed or the server stops.
  bool read(std::string& into) {
    char chunk[16'384];
    while (open() && !ending_) {
      const int n = SSL_read(ssl_, chunk, sizeof chunk);
      if (n > 0) {
        into.append(chunk, static_cast<std::size_t>(n));
        return true;
      }
      const int error = SSL_get_error(ssl_, n);
      if (error != SSL_ERROR_WANT_READ) return false;
    }
    return false;
  }
  void reset() override {
    if (!open()) return;
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(fd_);
    fd_ = -1;
  }
  void close() override {
    if (!open()) return;
    SSL_shutdown(ssl_);
    ::close(fd_);
    fd_ = -1;
  }
  bool wait_for_client_to_go() override {
    std::string ignored;
    while (read(ignored)) ignored.clear();
    return !ending_;
  }
  bool pause(std::chrono::milliseconds time) override {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!ending_ && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::min(time, kReceiveTimeout));
    return !ending_;
  }

 private:
  int fd_;
  SSL* ssl_;
  const std::atomic<bool>& ending_;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

HttpsServer::Request parse_head(std::string_view head) {
  HttpsServer::Request request;
  const std::string_view first = head.substr(0, head.find("\r\n"));
  const auto one = first.find(' ');
  const auto two = first.rfind(' ');
  request.method = first.substr(0, one);
  request.target = first.substr(one + 1, two - one - 1);
  for (std::size_t at = first.size() + 2; at < head.size();) {
    const auto end = std::min(head.find("\r\n", at), head.size());
    const std::string_view line = head.substr(at, end - at);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) {
      const auto value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
      request.headers[lower(std::string(line.substr(0, colon)))] = line.substr(value);
    }
    at = end + 2;
  }
  return request;
}

// By its length, or in chunks as Go's client sends a form; false when the client closed.
bool read_body(TlsPeer& peer, std::string& bytes, HttpsServer::Request& request) {
  const auto take = [&](std::size_t wanted) {
    while (bytes.size() < wanted)
      if (!peer.read(bytes)) return false;
    request.body += bytes.substr(0, wanted);
    bytes.erase(0, wanted);
    return true;
  };
  if (!request.headers.contains("transfer-encoding"))
    return take(std::strtoul(request.headers["content-length"].c_str(), nullptr, 10));
  for (std::size_t size = 1; size != 0;) {
    std::size_t end = 0;
    while ((end = bytes.find("\r\n")) == std::string::npos)
      if (!peer.read(bytes)) return false;
    size = std::strtoul(bytes.c_str(), nullptr, 16);
    bytes.erase(0, end + 2);
    if (!take(size + 2)) return false;
    request.body.resize(request.body.size() - 2);
  }
  return true;
}

}  // namespace

void HttpsServer::Peer::answer(int status, std::string_view json) {
  write("HTTP/1.1 " + std::to_string(status) +
        " X\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(json.size()) +
        "\r\n\r\n" + std::string(json));
}
void HttpsServer::Peer::begin_stream() {
  write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}
void HttpsServer::Peer::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  write(size + std::string(bytes) + "\r\n");
}
void HttpsServer::Peer::end_stream() { write("0\r\n\r\n"); }

HttpsServer::HttpsServer(CertFiles certificate, Handler handler)
    : certificate_(std::move(certificate)), handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  check(listen(listener_, 64) == 0, "listen");
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpsServer::~HttpsServer() {
  ending_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  for (std::thread& thread : threads_) thread.join();
}

void HttpsServer::accept_all() {
  while (!ending_) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void HttpsServer::serve(int fd) {
  sigset_t pipe;  // a client that closed must not end the test; for this thread only
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  const timeval timeout{0, std::chrono::microseconds(kReceiveTimeout).count()};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  const std::unique_ptr<SSL_CTX, ContextFreer> ctx(SSL_CTX_new(TLS_server_method()));
  check(SSL_CTX_use_certificate_chain_file(ctx.get(), certificate_.cert.c_str()) == 1, "cert");
  check(SSL_CTX_use_PrivateKey_file(ctx.get(), certificate_.key.c_str(), SSL_FILETYPE_PEM) == 1,
        "key");
  const std::unique_ptr<SSL, SslFreer> ssl(SSL_new(ctx.get()));
  SSL_set_fd(ssl.get(), fd);
  TlsPeer peer(fd, ssl.get(), ending_);
  int shaken = -1;
  while (!ending_ && (shaken = SSL_accept(ssl.get())) != 1)
    if (SSL_get_error(ssl.get(), shaken) != SSL_ERROR_WANT_READ) return;
  std::string bytes;
  while (peer.open()) {
    std::size_t end = 0;
    while ((end = bytes.find("\r\n\r\n")) == std::string::npos)
      if (!peer.read(bytes)) return;
    Request request = parse_head(std::string_view(bytes).substr(0, end));
    bytes.erase(0, end + 4);
    if (!read_body(peer, bytes, request)) return;
    handler_(request, peer);
  }
}

}  // namespace cronlatch::testing
