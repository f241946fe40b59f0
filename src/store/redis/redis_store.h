// SPDX-License-Identifier: Apache-2.0
// RedisStore: the backend of redis:// and rediss://. One connection, one request in flight. Each
// request has a deadline; after a missed deadline the connection is closed. Contracts:
// core/store.h, core/lock_stats.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/lock_stats.h"
#include "core/store_credentials.h"
#include "store/redis/resolver.h"
#include "store/redis/script_codec.h"
#include "store/redis/session.h"
#include "store/redis/tls.h"

namespace cronlatch::redis {

struct RedisConfig {
  std::string host;
  std::uint16_t port = 6379;
  Login login;
  std::optional<TlsSettings> tls;  // none: plain TCP
  std::string key_prefix;
  ResolverSettings resolver;
  CredentialSource credentials_now;  // called before each connection except the first; may be empty
  std::function<void(const LogLine&)> warn;  // empty: warnings are dropped
};

class RedisStore : public Backend {
 public:
  explicit RedisStore(RedisConfig config);
  ~RedisStore() override;

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;

  // Only while no request is in flight.
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;

 private:
  struct Pending {
    Request request;
    TimePoint give_up{};
    std::optional<TimePoint> sent_at{};  // when it was sent
    ScriptBy by = ScriptBy::hash;
  };
  void connect(TimePoint now);
  void read_credentials();
  Status apply_credentials(const Result<StoreCredentials>& now);
  void drop_closed_session();
  void send_request(TimePoint now);
  // No value when the server returned NOSCRIPT and the text was sent.
  std::optional<Reply> handle_answer(const Resp& answer, TimePoint now);
  Reply error_reply(const Resp& answer);
  Reply unavailable(Error error, bool transient);
  Reply timed_out();
  Reply mispaired(Error error);
  void add_to_index(ServerTime server_now);

  using Answers = std::vector<Resp>;
  using Commands = std::vector<std::vector<std::string>>;
  // Waits, blocking, until the session is ready.
  Status open(TimePoint give_up);
  // Sends all commands and a TIME, then waits for all answers; returns the first error. An answer
  // that is missing or repeated is an error, too.
  enum class WrongType { error, answer };  // how a WRONGTYPE error is returned
  Result<Answers> send_all(const Commands& commands, TimePoint give_up,
                           WrongType wrong_type = WrongType::error);
  Status wait(TimePoint give_up);
  Result<Answers> read_hashes(const std::vector<std::string>& locks, TimePoint give_up,
                              WrongType wrong_type);
  // A lock without keys is omitted; an invalid one is shown as damaged.
  Result<std::vector<LockView>> views(const std::vector<std::string>& locks, TimePoint give_up);

  RedisConfig config_;
  std::optional<TlsContext> tls_;
  std::unique_ptr<Discovery> discovery_;
  std::vector<Address> failed_;  // addresses that failed recently, oldest first
  std::unique_ptr<Session> session_;
  bool has_connected_ = false;
  ServerTime last_answer_{};  // the time in the last reply of a script; 0: none on this connection
  std::string last_warning_;  // why the last credentials are still used; "" when they are not
  std::optional<Pending> pending_;
};

}  // namespace cronlatch::redis
