// SPDX-License-Identifier: Apache-2.0
// Pooler: a real pgbouncer in transaction mode in front of a server, on a free port of 127.0.0.1,
// with TLS and SCRAM on both sides. Its clients share `servers` connections to the server.
#pragma once

#include <memory>
#include <string>

#include "store/open.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {

class Pooler {
 public:
  explicit Pooler(const PostgresServer& server, int servers = 2);
  ~Pooler();
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  // As those of PostgresServer, for the role cron.
  std::string url(const std::string& options = "") const;
  StoreSpec spec() const;
  void restart();  // on the same port; its clients lose their connections

 private:
  struct Process;  // with the class Program of support/program.h, whose name contract.h also has
  void launch();

  int port_;
  std::unique_ptr<Process> process_;
};

}  // namespace cronlatch::testing
