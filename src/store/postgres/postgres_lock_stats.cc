// SPDX-License-Identifier: Apache-2.0
// The LockStats interface of PostgresStore: blocking calls on the same connection. Reading writes
// nothing.
#include <chrono>
#include <utility>

#include "base/kernel_clock.h"
#include "store/postgres/errors.h"
#include "store/postgres/postgres_store.h"

namespace cronlatch::postgres {
namespace {

Millis left_until(TimePoint t) { return std::chrono::duration_cast<Millis>(t - boot_now()); }

}  // namespace

Result<std::vector<QueryResult>> PostgresStore::committed(
    const std::function<std::string()>& messages, std::size_t answers, TimePoint give_up) {
  for (;;) {
    auto taken = link_.execute(messages, answers, give_up);
    if (!taken) return taken.error();
    const ServerMessage* error = nullptr;
    for (const QueryResult& answer : *taken)
      if (answer.error && error == nullptr) error = &*answer.error;
    const bool is_committed = error == nullptr && taken->back().tag == "COMMIT";
    if (is_committed && !taken->back().has_warning) {
      server_ = link_.where();
      return taken;
    }
    if (is_committed)
      return postgres_error(Code::unreachable, link_.where(),
                            "the commit was not confirmed by a standby", "try again");
    if (error != nullptr && sql_state_row(error->state).again && boot_now() < give_up) continue;
    const Error reported = error != nullptr
                               ? server_error(*error, link_.where())
                               : postgres_error(Code::unreachable, link_.where(),
                                                "the transaction was not committed", "try again");
    if (error == nullptr || sql_state_row(error->state).drop) link_.drop(true);
    return reported;
  }
}

Result<std::vector<LockView>> PostgresStore::views(const std::string& lock, std::size_t most,
                                                   TimePoint give_up) {
  const auto answers = committed(
      [&] {
        return encode_view(key_prefix_, lock, most, left_until(give_up), link_.session().schema());
      },
      kViewAnswers, give_up);
  if (!answers) return answers.error();
  return decode_views((*answers)[1].rows, (*answers)[2].rows, (*answers)[3].rows);
}

Result<std::vector<LockView>> PostgresStore::list(TimePoint give_up, std::size_t most) {
  return views("", most, give_up);
}

Result<LockView> PostgresStore::show(const std::string& lock, TimePoint give_up) {
  auto found = views(lock, 1, give_up);
  if (!found) return found.error();
  if (!found->empty() && found->front().state == LockState::damaged)
    return postgres_error(
        Code::config, link_.where(),
        "the row of lock " + lock + " or one of its counters has an invalid value",
        "when no run of it is alive: DELETE FROM cronlatch.locks WHERE lock = '" + lock + "'");
  if (!found->empty()) return std::move(found->front());
  LockView unknown;
  unknown.lock = lock;
  unknown.now = link_.session().server_time(boot_now());
  return unknown;
}

Result<Revoked> PostgresStore::revoke(const std::string& lock, TimePoint give_up) {
  const auto answers = committed(
      [&] {
        return encode_revoke(lock, key_prefix_, link_.session().server_time(give_up),
                             left_until(give_up));
      },
      kVerbAnswers, give_up);
  if (!answers) return answers.error();
  return decode_revoke((*answers)[1].rows);
}

}  // namespace cronlatch::postgres
