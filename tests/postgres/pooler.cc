// SPDX-License-Identifier: Apache-2.0
#include "pooler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/certificates.h"
#include "support/program.h"
#include "support/redis_server.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "/usr/sbin/pgbouncer";

// pgbouncer gives up the rights of root: its user must be able to read the files.
void for_every_user(const std::string& path) {
  fs::permissions(path, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
}

}  // namespace

struct Pooler::Process {
  ScratchDir dir;
  std::unique_ptr<Program> program;
};

Pooler::Pooler(const PostgresServer& server, int servers)
    : port_(free_port()), process_(std::make_unique<Process>()) {
  const ScratchDir& dir = process_->dir;
  const Certificates& certificates = PostgresServer::certificates();
  fs::copy_file(certificates.good().cert, dir.path("cert.pem"));
  fs::copy_file(certificates.good().key, dir.path("key.pem"));
  fs::copy_file(certificates.ca(), dir.path("ca.pem"));
  std::ofstream(dir.path("users")) << "\"cron\" \"secret\"\n";
  std::ofstream(dir.path("ini"))
      << "[databases]\ncronlatch = host=127.0.0.1 port=" << server.port() << "\n"
      << "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir =\n"
      << "pool_mode = transaction\ndefault_pool_size = " << servers
      << "\n"
      // No program reads the log after the start: it must not fill the pipe.
      << "server_login_retry = 1\nlog_connections = 0\nlog_disconnections = 0\nlog_pooler_errors = "
         "0\nlog_stats = 0\n"
      << "auth_type = scram-sha-256\nauth_file = " << dir.path("users") << "\n"
      << "client_tls_sslmode = require\nclient_tls_cert_file = " << dir.path("cert.pem")
      << "\nclient_tls_key_file = " << dir.path("key.pem") << "\n"
      << "server_tls_sslmode = verify-full\nserver_tls_ca_file = " << dir.path("ca.pem") << "\n";
  for_every_user(dir.path());
  for (const auto& file : fs::directory_iterator(dir.path())) for_every_user(file.path());
  launch();
}

Pooler::~Pooler() = default;

void Pooler::launch() {
  std::vector<std::string> argv = {kProgram};
  if (geteuid() == 0) argv.insert(argv.end(), {"-u", "postgres"});
  argv.push_back(process_->dir.path("ini"));
  process_->program = std::make_unique<Program>(ProgramSpec{.argv = argv});
  if (process_->program->complains("process up")) return;
  std::fprintf(stderr, "pgbouncer does not start: %s%s\n", kProgram,
               process_->program->err().c_str());
  std::abort();
}

void Pooler::restart() {
  process_->program->signal(SIGKILL);
  (void)process_->program->exit_code();
  launch();
}

std::string Pooler::url(const std::string& options) const {
  return "postgres://cron@127.0.0.1:" + std::to_string(port_) + "/cronlatch" + options;
}

StoreSpec Pooler::spec() const {
  StoreSpec spec;
  spec.url = url();
  spec.password = Secret("secret");
  spec.tls_ca = PostgresServer::certificates().ca();
  return spec;
}

}  // namespace cronlatch::testing
