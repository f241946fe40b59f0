// SPDX-License-Identifier: Apache-2.0
// The Store interface: send, watch, step. Turns answers and failures of the link into replies.
#include "store/postgres/postgres_store.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/kernel_clock.h"
#include "store/postgres/errors.h"
#include "store/rules.h"

namespace cronlatch::postgres {
namespace {

TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& verb) { return verb.give_up; }, request);
}

Millis until(TimePoint t, TimePoint now) { return std::chrono::duration_cast<Millis>(t - now); }

// The lease counts from the time before the request was sent.
void set_sent_at(Reply& reply, TimePoint sent_at) {
  if (auto* granted = std::get_if<Granted>(&reply)) granted->sent_at = sent_at;
  if (auto* renewed = std::get_if<Renewed>(&reply)) renewed->sent_at = sent_at;
}

const ServerMessage* first_error(const std::vector<QueryResult>& answers) {
  for (const QueryResult& answer : answers)
    if (answer.error) return &*answer.error;
  return nullptr;
}

// The server is a primary that commits, but a standby that must confirm did not: the wait was
// canceled by statement_timeout or by an administrator. The server reports that as a warning only
// (SyncRepWaitForLSN in src/backend/replication/syncrep.c).
Error not_confirmed(const std::string& where) {
  return postgres_error(Code::unreachable, where, "the commit was not confirmed by a standby",
                        "check the standbys in synchronous_standby_names");
}

}  // namespace

PostgresStore::PostgresStore(LinkConfig config, std::string key_prefix,
                             std::optional<std::size_t> standbys)
    : may_listen_(config.target.wake == WakeMode::listen),
      link_(std::move(config), Purpose::verbs),
      key_prefix_(std::move(key_prefix)),
      standbys_(standbys) {}

void PostgresStore::send(const Request& request, TimePoint) {
  pending_ = Pending{request, give_up_of(request)};
  is_listening_ = false;
  link_.prepare();
}

void PostgresStore::watch(PollSet& set) const {
  link_.watch(set);
  if (pending_) set.wake_by(pending_->give_up);
  if (is_woken()) set.wake_by(boot_now());
}

// The answer is not awaited, so that the next request is not delayed. Without a session the run is
// not woken.
void PostgresStore::listen(const std::string&, const std::string& owner, TimePoint) {
  if (!may_listen_ || pending_ || !link_.is_ready()) return;
  link_.session().listen(wake_channel(owner));
  is_listening_ = true;
}

// A notification that arrived with the answer of the last request counts: it can be younger than
// the decision of that request.
bool PostgresStore::is_woken() const {
  return is_listening_ && link_.is_ready() && link_.session().has_notification();
}

bool PostgresStore::take_wake() { return is_woken() && link_.session().take_notification(); }

std::optional<Reply> PostgresStore::step(const PollSet& set, TimePoint now) {
  if (!pending_) {
    // An idle connection that the server closes is found by the next send().
    link_.step(set, now, now);
    return std::nullopt;
  }
  // Each further step connects to the next host.
  std::optional<redis::Failure> failure = link_.step(set, now, pending_->give_up);
  if (failure) return unavailable(failure->error, failure->transient, !pending_->sent_at);
  if (!pending_->sent_at && link_.is_ready() && now < pending_->give_up) {
    if (auto refused = refuse_slots()) {
      pending_.reset();
      return *refused;
    }
    send_request(now);
  }
  if (pending_->sent_at && link_.is_ready())
    if (const auto answers = link_.session().take())
      if (auto reply = handle_answers(*answers, now)) return reply;
  if (now < pending_->give_up) return std::nullopt;
  // The answer can still arrive. It must not be read as that of a later request: the session is
  // closed.
  return unavailable(link_.time_out(), true, !pending_->sent_at);
}

// A renewal never has more slots than its grant.
std::optional<Unavailable> PostgresStore::refuse_slots() {
  const auto* acquire = std::get_if<Acquire>(&pending_->request);
  const int schema = link_.session().schema();
  if (acquire == nullptr || acquire->slots == 1 || schema >= kSlotsSchema) return std::nullopt;
  return Unavailable{
      postgres_error(Code::config, link_.where(),
                     "slots is " + std::to_string(acquire->slots) +
                         ", and the schema cronlatch has version " + std::to_string(schema) +
                         ", which has one slot for each lock",
                     "run once, as the owner of the database: cronlatch store init"),
      false, true};
}

void PostgresStore::send_request(TimePoint now) {
  PostgresSession& session = link_.session();
  pending_->sent_at = now;
  session.send(encode(pending_->request, key_prefix_, session.server_time(pending_->give_up),
                      until(pending_->give_up, now), session.schema(), standbys_),
               kVerbAnswers);
}

std::optional<Reply> PostgresStore::handle_answers(const std::vector<QueryResult>& answers,
                                                   TimePoint now) {
  const QueryResult& function = answers[1];
  const QueryResult& commit = answers[2];
  const bool is_committed = commit.tag == "COMMIT" && !commit.error;
  if (const ServerMessage* error = first_error(answers); error != nullptr)
    return handle_error(*error, commit.tag == "ROLLBACK", now);
  DecodedRow decoded = decode(pending_->request, function.rows);
  // Two requests never read the same microsecond: a repeated time means that answers were paired
  // with other requests.
  const bool is_repeated = decoded.now.us != 0 && decoded.now == last_answer_;
  if (decoded.now.us == 0 || is_repeated || !is_committed) {
    const std::string where = link_.where();
    link_.drop(true);
    return unavailable(
        postgres_error(Code::unreachable, where, "an answer that belongs to no request",
                       "check the proxies between this host and the server, and run: cronlatch "
                       "store init"),
        true, false);
  }
  if (commit.has_warning) return unavailable(not_confirmed(link_.where()), true, false);
  last_answer_ = decoded.now;
  link_.session().set_server_time(decoded.now, std::max(now, boot_now()));
  set_sent_at(decoded.reply, *pending_->sent_at);
  // The server signals every session that listens, for each notification.
  if (std::holds_alternative<Granted>(decoded.reply)) link_.session().listen("");
  pending_.reset();
  return std::move(decoded.reply);
}

std::optional<Reply> PostgresStore::handle_error(const ServerMessage& error, bool is_rolled_back,
                                                 TimePoint now) {
  const SqlStateRow& row = sql_state_row(error.state);
  if (row.again && now < pending_->give_up) {
    // The same attempt again.
    send_request(now);
    return std::nullopt;
  }
  Error reported = server_error(error, link_.where());
  if (row.drop) link_.drop(true);
  return unavailable(std::move(reported), row.transient, is_rolled_back);
}

Reply PostgresStore::unavailable(Error error, bool transient, bool unsent) {
  pending_.reset();
  return Unavailable{std::move(error), transient, unsent};
}

}  // namespace cronlatch::postgres
