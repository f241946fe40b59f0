// SPDX-License-Identifier: Apache-2.0
// Blocking calls of RedisStore: sends commands and waits for all answers.
#include "store/redis/redis_call.h"

#include <utility>

#include "store/redis/script_codec.h"
#include "store/redis/wait.h"

namespace cronlatch::redis {
namespace {

// A command of two words, without a key.
bool is_container(const std::vector<std::string>& command) {
  return command.front() == "CLUSTER" && command.size() > 1;
}

std::string name_of(const std::vector<std::string>& command) {
  return is_container(command) ? command[0] + ' ' + command[1] : command.front();
}

// The first key of a command; "" when it has none.
std::string_view key_of(const std::vector<std::string>& command) {
  if (is_container(command)) return "";
  const std::size_t at = command.front().starts_with("EVAL") ? 3 : 1;
  return at < command.size() ? std::string_view(command[at]) : "";
}

}  // namespace

Error unreadable(const std::string& where) {
  return {Code::unreachable, "redis at " + where + ": a reply of an unexpected type",
          "check that a Redis server listens on this port"};
}

bool is_wrong_type(const Resp& answer) {
  return answer.type == Resp::Type::error && answer.text.starts_with("WRONGTYPE");
}

bool is_elsewhere(const Resp& answer) {
  if (answer.type != Resp::Type::error) return false;
  const RedisErrorClass kind = classify_redis_error(answer.text).kind;
  return kind == RedisErrorClass::moved || kind == RedisErrorClass::ask ||
         kind == RedisErrorClass::tryagain;
}

// Waits for the next event of the session and handles it. A failed session has no further events.
Status RedisStore::wait(TimePoint give_up) {
  if (!session_->failure()) {
    PollSet set;
    session_->watch(set);
    set.wake_by(give_up);
    wait_for_events(set);
    session_->step(set, boot_now());
  }
  const TimePoint now = boot_now();
  if (session_->failure()) {
    const Failure failure = *session_->failure();
    session_.reset();
    failure_ = failure;
    return failure.error;
  }
  if (now < give_up) return Done{};
  Error error = session_->timeout_error();
  session_->mark_peer_failed();
  session_.reset();
  return error;
}

Status RedisStore::open(TimePoint give_up) {
  if (route_ != nullptr) return open_routed(give_up);
  drop_closed_session();
  if (session_ == nullptr) {
    connect(boot_now());
    session_->step(PollSet{}, boot_now());
  }
  while (!session_->is_ready())
    if (Status waited = wait(give_up); !waited) return waited;
  return Done{};
}

Error RedisStore::error_of(const std::string& text, const std::vector<std::string>& command) const {
  const RedisErrorRow& row = classify_redis_error(text);
  const std::string key(key_of(command));
  // Only the key of another program is a string.
  if (row.kind == RedisErrorClass::wrongtype && command.front() == "GET") {
    const RedisErrorRow& foreign = redis_error_row(RedisErrorClass::foreign_key);
    return redis_error(foreign, config_.login.where, std::string(foreign.word) + ' ' + key);
  }
  Error error = redis_error(row, config_.login.where,
                            with_refused_command(session_->redact(text), name_of(command), key));
  if (row.kind == RedisErrorClass::wrongtype) error.message += ": " + quotable(key);
  return error;
}

Result<RedisStore::Answers> RedisStore::send_all(const Commands& commands, TimePoint give_up,
                                                 WrongType wrong_type) {
  for (const auto& command : commands) {
    if (next_ && next_->asking) session_->send({"ASKING"}, RedisSession::OnAnswer::discard);
    session_->send(command, RedisSession::OnAnswer::keep);
  }
  session_->send({"TIME"}, RedisSession::OnAnswer::keep);
  session_->flush();
  Answers answers;
  std::optional<Error> refusal;
  for (;;) {
    if (auto answer = session_->take()) {
      if (unneeded_waits_ > 0) {
        --unneeded_waits_;
        continue;
      }
      if (answers.size() == commands.size()) {
        if (refusal) return *refusal;
        if (parse_time(*answer)) return answers;
        // An answer was missing or repeated, and the others belong to other commands.
        session_.reset();
        return unreadable(config_.login.where);
      }
      const bool is_answer =
          wrong_type == WrongType::answer &&
          (is_wrong_type(*answer) || (!config_.has_index && is_elsewhere(*answer)));
      if (answer->type == Resp::Type::error && !is_answer && !refusal) {
        refusal_ = answer->text;
        refusal = error_of(answer->text, commands[answers.size()]);
      }
      answers.push_back(std::move(*answer));
      continue;
    }
    if (Status waited = wait(give_up); !waited) return waited.error();
  }
}

Result<RedisStore::Answers> RedisStore::ask(const Commands& commands, TimePoint give_up) {
  return with_retries(give_up, [&]() -> Result<Answers> {
    if (Status opened = open(give_up); !opened) return opened.error();
    return send_all(commands, give_up);
  });
}

}  // namespace cronlatch::redis
