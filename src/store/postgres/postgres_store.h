// SPDX-License-Identifier: Apache-2.0
// PostgresStore: the backend of postgres://. One connection, one request in flight; each request is
// one transaction in one round trip. Contracts: core/store.h, core/lock_stats.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/lock_stats.h"
#include "store/postgres/link.h"
#include "store/postgres/verb_codec.h"

namespace cronlatch::postgres {

class PostgresStore : public Backend {
 public:
  // `standbys`: strict, a grant or a renewal needs the confirmation of at least that many.
  PostgresStore(LinkConfig config, std::string key_prefix, std::optional<std::size_t> standbys);

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;
  void listen(const std::string& lock, const std::string& owner, TimePoint until) override;
  bool take_wake() override;

  // Only while no request is in flight.
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t most) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;
  std::string server() const override { return server_; }

 private:
  struct Pending {
    Request request;
    TimePoint give_up{};
    std::optional<TimePoint> sent_at{};
  };
  // The refusal of several slots, for a schema that has one.
  std::optional<Unavailable> refuse_slots();
  void send_request(TimePoint now);
  std::optional<Reply> handle_answers(const std::vector<QueryResult>& answers, TimePoint now);
  std::optional<Reply> handle_error(const ServerMessage& error, bool is_rolled_back, TimePoint now);
  Reply unavailable(Error error, bool transient, bool unsent);
  // The answers of a transaction that was committed, else its error.
  Result<std::vector<QueryResult>> committed(const std::function<std::string()>& messages,
                                             std::size_t answers, TimePoint give_up);
  Result<std::vector<LockView>> views(const std::string& lock, std::size_t most, TimePoint give_up);

  bool is_woken() const;

  const bool may_listen_;
  bool is_listening_ = false;  // since the last request
  Link link_;
  std::string key_prefix_;
  std::optional<std::size_t> standbys_;
  std::string server_;        // host:port of the last answer to a call of LockStats
  ServerTime last_answer_{};  // the time in the last reply of a function; 0: none yet
  std::optional<Pending> pending_;
};

}  // namespace cronlatch::postgres
