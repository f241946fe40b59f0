// SPDX-License-Identifier: Apache-2.0
#include "support/tiny_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>

#include "base/fd.h"

namespace cronlatch::testing {
namespace {

int free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
  return ntohs(address.sin_port);
}

}  // namespace

TinyProxy::TinyProxy(const std::string& more) {
  for (int tries = 0; tries < 5 && !is_open(); ++tries) {
    port_ = free_port();
    std::ofstream(dir_.path("conf")) << "Listen 127.0.0.1\nAllow 127.0.0.1\nPort " << port_
                                     << "\nLogFile \"" << dir_.path("log") << "\"\nLogLevel Info\n"
                                     << more;
    program_ = std::make_unique<Program>(
        ProgramSpec{.argv = {"/usr/bin/tinyproxy", "-d", "-c", dir_.path("conf")},
                    .env = {"PATH=/usr/bin:/bin"}});
    eventually([&] { return is_open() || !is_alive(program_->pid()); });
  }
  EXPECT_TRUE(is_open()) << log();
}

int TinyProxy::tunnels(const std::string& host) const {
  const std::string text = log();
  const std::string line = "CONNECT " + host;
  int count = 0;
  for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1))
    ++count;
  return count;
}

}  // namespace cronlatch::testing
