// SPDX-License-Identifier: Apache-2.0
// PostgresServer: a real server on a free port of 127.0.0.1, in a directory of its own, with TLS.
// It ends with the test program. It is the newest version below /usr/lib/postgresql, or the
// programs initdb and postgres in TEST_POSTGRES_BIN (scripts/servers.sh). As root it runs as the
// user postgres, or as nobody: the server refuses root.
//
// Roles, in the database `cronlatch`: postgres (superuser, no password), cronlatch_owner and
// cronlatch_user's members cron and, with unusual logins, clear (password) and old (md5); stranger
// has no right. The password of each is "secret".
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "store/open.h"
#include "store/postgres/message.h"

namespace cronlatch::testing {

class Certificates;

class PostgresServer {
 public:
  // Initializes a directory and starts. Aborts the test program with the server's log on a failure.
  static std::unique_ptr<PostgresServer> start(bool with_schema = true);
  // With the role and the database postgres only.
  static std::unique_ptr<PostgresServer> start_bare();
  // A hot standby that streams from `primary`, under this name.
  static constexpr const char* kStandby = "standby";
  static std::unique_ptr<PostgresServer> start_standby(const PostgresServer& primary,
                                                       const std::string& name = kStandby);
  // One server for all tests of a program that use different key prefixes or databases.
  static PostgresServer& shared();
  static const Certificates& certificates();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  int port() const { return port_; }
  const std::string& dir() const { return dir_; }
  std::string log() const;
  // postgres://USER@127.0.0.1:PORT/cronlatch, with `options` such as "?sslmode=disable".
  std::string url(const std::string& user = "cron", const std::string& options = "") const;
  StoreSpec spec(const std::string& user = "cron", const std::string& options = "") const;

  // As the superuser; a failure is a failure of the test.
  std::vector<postgres::Row> operator()(const std::string& sql,
                                        const std::string& database = "cronlatch") const;
  // The first column of the first row.
  std::string value(const std::string& sql) const;

  void set(const std::string& name, const std::string& value);  // ALTER SYSTEM, with reload
  void stop();                                                  // a clean shutdown
  void kill_now();                                              // as after a crash
  void restart();                                               // on the same port
  void become_standby();  // restarts in recovery, and stays there
  // Ends, loses its data, and starts on the same port as a standby that streams from `primary`.
  void follow(const PostgresServer& primary);
  // Of a primary: each commit waits for the standby kStandby from now on, also when there is none.
  void require_standby();
  void await_standby() const;  // until it streams
  // Of a standby: it receives nothing until the next call.
  void pause_receiver() const;
  // Of a standby: it loses what it has not written. It restarts by itself, and streams again.
  void kill_receiver() const;
  void promote();  // returns when it accepts writes
  void use_certificate(const std::string& cert, const std::string& key);  // from the next start on

 private:
  PostgresServer();
  void initialize();
  void copy_data_of(const PostgresServer& primary, const std::string& name);
  void launch_or_abort();
  pid_t receiver() const;  // 0: it does not stream
  bool launch();
  void end(int signo);
  bool answers() const;
  void install(const std::string& from, const std::string& name);
  void write(const std::string& name, const std::string& text);

  std::string dir_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace cronlatch::testing
