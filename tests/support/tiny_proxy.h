// SPDX-License-Identifier: Apache-2.0
// TinyProxy: a real HTTP proxy (tinyproxy), as a platform has it, on a free port of loopback. The
// kernel kills it when the test ends.
#pragma once

#include <memory>
#include <string>

#include "support/program.h"

namespace cronlatch::testing {

class TinyProxy {
 public:
  explicit TinyProxy(const std::string& more = "");  // further lines of its configuration
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string log() const { return read_file(dir_.path("log")); }
  // The number of tunnels to this host ("host:port") that it has logged.
  int tunnels(const std::string& host) const;

 private:
  bool is_open() const { return log().find("Accepting connections") != std::string::npos; }

  ScratchDir dir_;
  int port_ = 0;
  std::unique_ptr<Program> program_;
};

}  // namespace cronlatch::testing
