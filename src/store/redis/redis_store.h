// SPDX-License-Identifier: Apache-2.0
// RedisStore: the backend of redis:// and rediss://, and with a Route of redis+sentinel:// and
// redis+cluster://. One connection, one request in flight. Each request has a deadline; after a
// missed deadline the connection is closed. Contracts: core/store.h, core/lock_stats.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "core/lock_stats.h"
#include "core/store_credentials.h"
#include "core/strict.h"
#include "store/redis/resolver.h"
#include "store/redis/route.h"
#include "store/redis/script_codec.h"
#include "store/redis/session.h"
#include "store/redis/tls.h"

namespace cronlatch::redis {

struct RedisConfig {
  std::string host;
  std::uint16_t port = 6379;
  RedisLogin login;
  std::optional<TlsSettings> tls;  // none: plain TCP
  std::string tls_server_name;     // with a Route: of every server; "" = the host of each
  std::string key_prefix;
  std::optional<StrictSettings> strict;
  bool has_index = true;  // false: the locks cannot be listed by the index
  ResolverSettings resolver;
  CredentialSource credentials_now;  // called before each connection except the first; may be empty
  std::function<void(const LogLine&)> warn;  // empty: warnings are dropped
};

// What `cronlatch store init` found.
enum class EpochState { created, present, other_history };

class RedisStore : public Backend {
 public:
  // `route`: finds the server; null: `config` names it.
  explicit RedisStore(RedisConfig config, std::unique_ptr<Route> route = nullptr);
  ~RedisStore() override;

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;
  void listen(const std::string& lock, const std::string& owner, TimePoint until) override;
  bool take_wake() override { return std::exchange(is_woken_, false); }

  // Only while no request is in flight.
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;
  Result<std::optional<Micros>> quarantine(TimePoint give_up) override;
  std::string server() const override;
  // Records the first epoch of the prefix, unless it has one.
  Result<EpochState> create_epoch(TimePoint give_up);

  // ---- for the store of a Cluster, which reads several servers ----
  using Answers = std::vector<Resp>;
  using Commands = std::vector<std::vector<std::string>>;
  // The answers; the first error. Follows the Route until a server accepts the commands.
  Result<Answers> ask(const Commands& commands, TimePoint give_up);
  // A lock without keys is omitted; an invalid one is shown as damaged. `moved`: gets the locks
  // that this server does not have now.
  Result<std::vector<LockView>> read_views(const std::vector<std::string>& locks, TimePoint give_up,
                                           std::vector<std::string>& moved);
  // Of the last connection that accepted the login; "" before.
  std::string node_host() const { return server_ ? server_->host : ""; }

 private:
  struct Pending {
    Request request;
    TimePoint give_up{};
    std::optional<TimePoint> sent_at{};  // when it was sent
    ScriptBy by = ScriptBy::hash;
    bool is_uncertain = false;              // an earlier connection may have executed it
    bool has_wait = false;                  // WAIT was sent after it
    std::optional<Reply> unacknowledged{};  // the reply, until replicas have acknowledged it
  };
  void connect(TimePoint now);
  void read_credentials();
  Status apply_credentials(const Result<StoreCredentials>& now);
  void drop_closed_session();
  void send_request(TimePoint now);
  // ---- redis_answer.cc ----
  std::optional<Reply> take_answers(TimePoint now);
  // No value when the server returned NOSCRIPT and the text was sent.
  std::optional<Reply> handle_answer(const Resp& answer, TimePoint now);
  Reply error_reply(const Resp& answer);
  Reply unavailable(Error error, bool transient);
  Reply timed_out();
  Reply mispaired(Error error);
  void add_to_index(ServerTime server_now);
  void wake(const std::string& owner);
  // ---- redis_listen.cc ----
  void take_wake_answer();
  void stop_listening();

  // ---- redis_strict.cc: with the option strict ----
  bool is_strict_start() const;
  std::optional<StrictRequest> strict_request() const;
  void send_wait(TimePoint now);
  bool needs_acknowledgement(const Reply& reply) const;
  Reply handle_acknowledgement(const Resp& answer);
  std::optional<Failure> check_replicas(const NextServer& next) const;
  void warn_of_hidden_policy();

  // ---- redis_route.cc: the connection to the server that the Route names ----
  void start_routed_request();
  // One step toward a connection after its login. A failure is final for the request.
  std::optional<Failure> approach(const PollSet& set, TimePoint now, TimePoint give_up);
  void connect_to(const NextServer& next, TimePoint now);
  // Drops the connection; no value when the request is sent again.
  std::optional<Failure> after_failure(Failure failure, TimePoint now);
  // True when the request is sent again.
  bool after_error(std::string_view text, TimePoint now);
  Error refusal_error(std::string_view text) const;
  void set_retry(const Retry& retry, TimePoint now);
  void prepare_resend();
  void watch_route(PollSet& set) const;
  Error no_server_error() const;
  Status open_routed(TimePoint give_up);
  void start_routed_call();
  // After a call failed: true when it is sent again.
  bool is_retried(TimePoint now);
  // A blocking call, and with a Route its repetitions.
  template <class Read>
  auto with_retries(TimePoint give_up, const Read& read) -> decltype(read());

  // Waits, blocking, until the session is ready.
  Status open(TimePoint give_up);
  // Sends all commands and a TIME, then waits for all answers; returns the first error. An answer
  // that is missing or repeated is an error, too.
  enum class WrongType { error, answer };  // how the errors of single keys are returned
  // The server's error for `command`.
  Error error_of(const std::string& text, const std::vector<std::string>& command) const;
  Result<Answers> send_all(const Commands& commands, TimePoint give_up,
                           WrongType wrong_type = WrongType::error);
  Status wait(TimePoint give_up);
  Commands hash_reads(const std::vector<std::string>& locks) const;
  Result<std::vector<LockView>> views(const std::vector<std::string>& locks, TimePoint give_up);
  Result<std::vector<LockView>> views_once(const std::vector<std::string>& locks, TimePoint give_up,
                                           std::vector<std::string>& moved);
  Result<LockView> show_once(const std::string& lock, TimePoint give_up);
  Result<std::vector<LockView>> list_once(TimePoint give_up, std::size_t most);
  Result<Revoked> revoke_once(const std::string& lock, TimePoint give_up);

  RedisConfig config_;
  std::optional<TlsContext> tls_;
  std::unique_ptr<Discovery> discovery_;
  std::vector<Address> failed_;  // addresses that failed recently, oldest first
  std::unique_ptr<RedisSession> session_;
  bool has_connected_ = false;
  ServerTime last_answer_{};  // the time in the last reply of a script; 0: none on this connection
  std::string last_warning_;  // why the last credentials are still used; "" when they are not
  std::optional<Pending> pending_;
  int unneeded_waits_ = 0;  // answers of WAIT on this connection that no request needs
  bool policy_warned_ = false;
  bool is_listening_ = false;  // the connection is blocked until the answer
  bool is_woken_ = false;
  bool may_listen_ = true;  // the server has not refused the command

  // With a Route only.
  std::unique_ptr<Route> route_;
  bool is_searching_ = false;        // the Route has begun and has not answered
  std::optional<StoreHost> server_;  // of the last connection that accepted the login
  std::optional<NextServer> next_;   // of the connection
  std::optional<TimePoint> retry_at_;
  std::optional<Error> last_error_;  // the reason of the last retry
  std::optional<Failure> failure_;   // of the connection, in the last blocking call
  std::string refusal_;  // the server's text of an error in the last batch, "" without one
};

}  // namespace cronlatch::redis
