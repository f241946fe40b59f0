// SPDX-License-Identifier: Apache-2.0
// Turns answers and failures of the session into replies.
#include <algorithm>
#include <utility>

#include "base/kernel_clock.h"
#include "core/shared_key.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {
namespace {

const std::string& lock_of(const Request& request) {
  return std::visit([](const auto& verb) -> const std::string& { return verb.lock; }, request);
}

std::vector<std::string> texts_of(const Resp& answer) {
  std::vector<std::string> texts;
  for (const Resp& element : answer.elements) texts.push_back(element.text);
  return texts;
}

// The lease counts from the time before the request was sent.
void set_sent_at(Reply& reply, TimePoint sent_at) {
  if (auto* granted = std::get_if<Granted>(&reply)) granted->sent_at = sent_at;
  if (auto* renewed = std::get_if<Renewed>(&reply)) renewed->sent_at = sent_at;
}

// For a refusal that does not name the key.
std::string keys_text(std::string_view prefix, const std::string& lock) {
  const auto shared = shared_key_of_lock(lock);
  return record_key(prefix, lock) + (shared ? ", " + shared->key : "") +
         " or another key of the lock";
}

Error repeated_answer(const std::string& where) {
  return {Code::unreachable, "redis at " + where + ": an answer arrived twice",
          "check the proxies between this host and the server"};
}

}  // namespace

// A request has one answer, and with WAIT two.
std::optional<Reply> RedisStore::take_answers(TimePoint now) {
  while (session_ != nullptr && pending_ && pending_->sent_at) {
    const auto answer = session_->take();
    if (!answer) break;
    if (unneeded_waits_ > 0) {
      --unneeded_waits_;
      if (answer->type == Resp::Type::integer || answer->type == Resp::Type::error) continue;
      return mispaired(repeated_answer(config_.login.where));
    }
    if (pending_->unacknowledged) return handle_acknowledgement(*answer);
    if (auto reply = handle_answer(*answer, now)) return reply;
  }
  return std::nullopt;
}

std::optional<Reply> RedisStore::handle_answer(const Resp& answer, TimePoint now) {
  const bool is_error = answer.type == Resp::Type::error;
  if (pending_->has_wait) ++unneeded_waits_;
  if (is_error && pending_->by == ScriptBy::hash &&
      classify_redis_error(answer.text).kind == RedisErrorClass::noscript) {
    // Nothing was executed, so the same attempt is sent again. Causes: a restarted server, a
    // promoted replica, SCRIPT FLUSH.
    pending_->by = ScriptBy::text;
    pending_->sent_at.reset();
    if (now < pending_->give_up) send_request(now);
    return std::nullopt;
  }
  if (is_error && route_ != nullptr && after_error(answer.text, now)) return std::nullopt;
  if (is_error) return error_reply(answer);
  DecodedReply decoded = decode(pending_->request, texts_of(answer));
  // A script refuses another number of slots, with its time.
  if (const auto* unreadable = std::get_if<Unavailable>(&decoded.reply);
      unreadable != nullptr && decoded.now.us == 0)
    return mispaired(unreadable->error);
  if (decoded.now == std::exchange(last_answer_, decoded.now))
    return mispaired(repeated_answer(config_.login.where));
  if (decoded.now.us != 0) session_->set_server_time(decoded.now, std::max(now, boot_now()));
  // The earlier request may have been executed, so the reply must not mean "nothing was changed".
  if (pending_->is_uncertain && decoded.reply == Reply(TooLate{false}))
    return unavailable({Code::unreachable, "the request was sent again and arrived too late"},
                       true);
  if (decoded.index && config_.has_index) add_to_index(decoded.now);
  if (const std::string& owner = rules::wake_of(decoded.reply); !owner.empty()) wake(owner);
  set_sent_at(decoded.reply, *pending_->sent_at);
  if (needs_acknowledgement(decoded.reply)) {
    --unneeded_waits_;
    pending_->unacknowledged = std::move(decoded.reply);
    return std::nullopt;
  }
  pending_.reset();
  return std::move(decoded.reply);
}

// The answer is ignored: a lock that is not in the index is only missing in ls.
void RedisStore::add_to_index(ServerTime server_now) {
  session_->send(encode_index(lock_of(pending_->request), config_.key_prefix, server_now),
                 RedisSession::OnAnswer::discard);
  session_->flush();
}

// The answers are ignored: without them the run that waits sends its next request within 2.2 s.
void RedisStore::wake(const std::string& owner) {
  for (const auto& command : encode_wake(lock_of(pending_->request), owner, config_.key_prefix))
    session_->send(command, RedisSession::OnAnswer::discard);
  session_->flush();
}

Reply RedisStore::error_reply(const Resp& answer) {
  const RedisErrorRow& row = classify_redis_error(answer.text);
  const std::string text = with_refused_command(
      session_->redact(answer.text), pending_->by == ScriptBy::hash ? "EVALSHA" : "EVAL",
      keys_text(config_.key_prefix, lock_of(pending_->request)) +
          (config_.strict ? " or " + epoch_key(config_.key_prefix) : ""));
  Error error = redis_error(row, config_.login.where, text);
  if (row.drop) {
    session_->mark_peer_failed();
    session_.reset();
  }
  const bool unexecuted = row.unexecuted && !pending_->is_uncertain;
  pending_.reset();
  return Unavailable{std::move(error), row.transient, unexecuted};
}

Reply RedisStore::unavailable(Error error, bool transient) {
  const bool unsent = !pending_->sent_at && !pending_->is_uncertain;
  pending_.reset();
  return Unavailable{std::move(error), transient, unsent};
}

// The answer can still arrive. It must not be read as the answer to a later request, so the session
// is closed.
Reply RedisStore::timed_out() {
  Error error = route_ != nullptr ? no_server_error()
                : session_ != nullptr
                    ? session_->timeout_error()
                    : redis_error(redis_error_row(RedisErrorClass::timeout), config_.login.where);
  if (session_ != nullptr) session_->mark_peer_failed();
  session_.reset();
  return unavailable(std::move(error), true);
}

// The answer belongs to another request, so later answers on this connection would, too: a repeated
// "granted" or "kept" would extend the lease by the time between two requests. Two executions of a
// script never read the same microsecond, because a request follows the answer to the previous one.
Reply RedisStore::mispaired(Error error) {
  session_->mark_peer_failed();
  session_.reset();
  return unavailable(std::move(error), true);
}

}  // namespace cronlatch::redis
