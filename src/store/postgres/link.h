// SPDX-License-Identifier: Apache-2.0
// Link: a session with the first host of the URL that accepts it: reachable, with the login, not in
// recovery, with a usable schema. A host that does not answer costs its share of the time only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/postgres_target.h"
#include "core/store_credentials.h"
#include "store/postgres/session.h"
#include "store/redis/resolver.h"
#include "store/redis/tls.h"

namespace cronlatch::postgres {

struct LinkConfig {
  PostgresTarget target;
  std::string user;
  Secret password;
  redis::TlsSettings tls;    // without `where` and, unless it is set by an option, without `name`
  bool is_verified = false;  // of the certificate; false without TLS
  CredentialSource credentials_now;  // called before each connection except the first; may be empty
  std::function<void(const LogLine&)> warn;  // empty: warnings are dropped
};

class Link {
 public:
  Link(LinkConfig config, Purpose purpose);

  // Before a request: drops a session that the server has closed, and tries each host again.
  void prepare();
  void watch(PollSet& set) const;
  // Connects where there is no session. Returns why the session ended, or, after the last host, why
  // none accepted it: the first final error, else the last one.
  std::optional<redis::Failure> step(const PollSet& set, TimePoint now, TimePoint give_up);

  bool is_ready() const { return session_ != nullptr && session_->is_ready(); }
  PostgresSession& session() { return *session_; }
  const PostgresSession& session() const { return *session_; }
  // Closes the session; `is_at_fault`: the next one prefers another address or host.
  void drop(bool is_at_fault);
  // Why there is no answer at the deadline; drops the session.
  Error time_out();
  // host:port of the session.
  const std::string& where() const { return login_.where; }

  // For callers without an event loop: sends messages and waits for their answers.
  Result<std::vector<QueryResult>> execute(const std::function<std::string()>& messages,
                                           std::size_t answers, TimePoint give_up);

 private:
  struct Host {
    std::string where;
    std::unique_ptr<redis::TlsContext> tls;  // null without TLS
    std::unique_ptr<redis::Discovery> discovery;
    std::vector<redis::Address> failed{};
  };
  void connect(TimePoint now, TimePoint give_up);
  void read_credentials();
  Status apply_credentials(const Result<StoreCredentials>& now);
  std::optional<redis::Failure> failure_of_session(TimePoint now);
  Status wait(TimePoint give_up);

  LinkConfig config_;
  Purpose purpose_;
  PostgresLogin login_;
  std::vector<Host> hosts_;
  std::size_t current_ = 0;              // index of the host in use
  std::size_t tried_ = 0;                // hosts that failed since prepare()
  std::optional<redis::Failure> why_;    // of those: the first final failure, else the last
  std::optional<TimePoint> share_ends_;  // of the current host, while it connects
  bool has_connected_ = false;
  std::string last_warning_;  // why the last credentials are still used; "" when they are not
  std::unique_ptr<PostgresSession> session_;
};

}  // namespace cronlatch::postgres
