// SPDX-License-Identifier: Apache-2.0
// The LockStats interface of RedisStore: blocking calls on the same connection, for the subcommands
// and for metrics. Reading writes nothing. With a Route, a call is repeated within its deadline.
#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "base/kernel_clock.h"
#include "core/lock_name.h"
#include "core/shared_key.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"
#include "store/redis/wait.h"
#include "store/rules.h"

namespace cronlatch::redis {
namespace {

constexpr std::size_t kBatch = 200;  // locks per round trip
constexpr std::size_t kReads = 4;    // commands per lock

Error unreadable(const std::string& where) {
  return {Code::unreachable, "redis at " + where + ": a reply of an unexpected type",
          "check that a Redis server listens on this port"};
}

bool is_wrong_type(const Resp& answer) {
  return answer.type == Resp::Type::error && answer.text.starts_with("WRONGTYPE");
}

// The server does not have the key now: another node of the Cluster has it, or gets it.
bool is_elsewhere(const Resp& answer) {
  if (answer.type != Resp::Type::error) return false;
  const RedisErrorClass kind = classify_redis_error(answer.text).kind;
  return kind == RedisErrorClass::moved || kind == RedisErrorClass::ask ||
         kind == RedisErrorClass::tryagain;
}

// The first key of a command; "" when it has none.
std::string_view key_of(const std::vector<std::string>& command) {
  const std::size_t at = command.front().starts_with("EVAL") ? 3 : 1;
  return at < command.size() ? std::string_view(command[at]) : "";
}

Fields fields_of(const Resp& answer) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < answer.elements.size(); i += 2)
    fields[answer.elements[i].text] = answer.elements[i + 1].text;
  return fields;
}

// From the answers to GET and PTTL.
rules::ForeignKey foreign_key(KeyFormat format, const Resp& value, const Resp& life) {
  rules::ForeignKey key{.format = format};
  if (value.type == Resp::Type::text) key.value = value.text;
  if (life.integer >= 0) key.life = Millis(life.integer);
  return key;
}

}  // namespace

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

Result<RedisStore::Answers> RedisStore::send_all(const Commands& commands, TimePoint give_up,
                                                 WrongType wrong_type) {
  for (const auto& command : commands) {
    if (next_ && next_->asking) session_->send({"ASKING"}, Session::OnAnswer::discard);
    session_->send(command, Session::OnAnswer::keep);
  }
  session_->send({"TIME"}, Session::OnAnswer::keep);
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
        refusal = redis_error(
            classify_redis_error(answer->text), config_.login.where,
            with_refused_command(session_->redact(answer->text), commands[answers.size()].front(),
                                 key_of(commands[answers.size()])));
      }
      answers.push_back(std::move(*answer));
      continue;
    }
    if (Status waited = wait(give_up); !waited) return waited.error();
  }
}

template <class Read>
auto RedisStore::with_retries(TimePoint give_up, const Read& read) -> decltype(read()) {
  if (route_ == nullptr) return read();
  start_routed_call();
  for (;;) {
    auto result = read();
    const TimePoint now = boot_now();
    if (result || now >= give_up || !is_retried(now)) return result;
  }
}

Result<std::vector<LockView>> RedisStore::list(TimePoint give_up, std::size_t most) {
  return with_retries(give_up, [&] { return list_once(give_up, most); });
}

Result<LockView> RedisStore::show(const std::string& lock, TimePoint give_up) {
  return with_retries(give_up, [&] { return show_once(lock, give_up); });
}

Result<Revoked> RedisStore::revoke(const std::string& lock, TimePoint give_up) {
  return with_retries(give_up, [&] { return revoke_once(lock, give_up); });
}

Result<RedisStore::Answers> RedisStore::ask(const Commands& commands, TimePoint give_up) {
  return with_retries(give_up, [&]() -> Result<Answers> {
    if (Status opened = open(give_up); !opened) return opened.error();
    return send_all(commands, give_up);
  });
}

Result<std::vector<LockView>> RedisStore::list_once(TimePoint give_up, std::size_t most) {
  if (Status opened = open(give_up); !opened) return opened.error();
  std::vector<LockView> all;
  const std::string since = std::to_string((session_->server_time(boot_now()) - kIndexMemory).us);
  for (std::size_t from = 0; from < most; from += kBatch) {
    const std::size_t until = from + std::min(kBatch, most - from);
    // The newest first: `most` can cut off the others.
    auto names = send_all({{"ZRANGE", index_key(config_.key_prefix), "+inf", since, "BYSCORE",
                            "REV", "LIMIT", std::to_string(from), std::to_string(until - from)}},
                          give_up);
    if (!names) return names.error();
    const std::size_t read = names->front().elements.size();
    std::vector<std::string> locks;
    for (const Resp& name : names->front().elements)
      if (check_lock_name(name.text).ok()) locks.push_back(name.text);
    auto found = views(locks, give_up);
    if (!found) return found.error();
    std::move(found->begin(), found->end(), std::back_inserter(all));
    if (read < kBatch) break;
  }
  // The index is ordered by time and can change between two batches: sort, and keep each name once.
  std::sort(all.begin(), all.end(),
            [](const LockView& a, const LockView& b) { return a.lock < b.lock; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const LockView& a, const LockView& b) { return a.lock == b.lock; }),
            all.end());
  return all;
}

// Reads the time, then record, counters, waiting runs and further seats of each lock. The key of
// another program is not read: a user that may not read it can still list the locks.
RedisStore::Commands RedisStore::hash_reads(const std::vector<std::string>& locks) const {
  Commands commands = {{"TIME"}};
  const ServerTime now = session_->server_time(boot_now());
  for (const std::string& lock : locks) {
    commands.push_back({"HGETALL", record_key(config_.key_prefix, lock)});
    commands.push_back({"HGETALL", stats_key(config_.key_prefix, lock)});
    commands.push_back(encode_waiters(lock, config_.key_prefix, now));
    commands.push_back({"HGETALL", seats_key(config_.key_prefix, lock)});
  }
  return commands;
}

Result<std::vector<LockView>> RedisStore::views(const std::vector<std::string>& locks,
                                                TimePoint give_up) {
  std::vector<std::string> none_moved;
  return views_once(locks, give_up, none_moved);
}

Result<std::vector<LockView>> RedisStore::read_views(const std::vector<std::string>& locks,
                                                     TimePoint give_up,
                                                     std::vector<std::string>& moved) {
  std::vector<std::string> elsewhere;
  auto found = with_retries(give_up, [&]() -> Result<std::vector<LockView>> {
    elsewhere.clear();
    if (Status opened = open(give_up); !opened) return opened.error();
    return views_once(locks, give_up, elsewhere);
  });
  moved.insert(moved.end(), elsewhere.begin(), elsewhere.end());
  return found;
}

Result<std::vector<LockView>> RedisStore::views_once(const std::vector<std::string>& locks,
                                                     TimePoint give_up,
                                                     std::vector<std::string>& moved) {
  std::vector<LockView> found;
  if (locks.empty()) return found;
  auto answers = send_all(hash_reads(locks), give_up, WrongType::answer);
  if (!answers) return answers.error();
  const auto now = parse_time(answers->front());
  if (!now) return unreadable(config_.login.where);
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const Resp *const answer = &(*answers)[1 + kReads * i], &record = answer[0], &stats = answer[1],
                      &waiters = answer[2], &seats = answer[3];
    if (std::any_of(answer, answer + kReads, is_elsewhere)) {
      moved.push_back(locks[i]);
      continue;
    }
    const bool readable = std::none_of(answer, answer + kReads, is_wrong_type);
    if (readable && record.elements.empty() && stats.elements.empty()) continue;
    auto view = readable ? decode_view(locks[i], fields_of(record), fields_of(stats), *now,
                                       fields_of(seats))
                         : unreadable(config_.login.where);
    if (view) view->waiters = waiters.elements.size();
    // One damaged lock must not hide the others.
    found.push_back(view ? *view : LockView::of_damaged(locks[i], *now));
  }
  return found;
}

Result<LockView> RedisStore::show_once(const std::string& lock, TimePoint give_up) {
  if (Status opened = open(give_up); !opened) return opened.error();
  const auto shared = shared_key_of_lock(lock);
  Commands commands = hash_reads({lock});
  if (shared) commands.insert(commands.end(), {{"GET", shared->key}, {"PTTL", shared->key}});
  auto answers = send_all(commands, give_up);
  if (!answers) return answers.error();
  const auto now = parse_time(answers->front());
  if (!now) return unreadable(config_.login.where);
  if (next_ && next_->asking && (*answers)[1].elements.empty() != (*answers)[2].elements.empty()) {
    refusal_ = "TRYAGAIN one key of the lock has not moved yet";
    return redis_error(classify_redis_error(refusal_), config_.login.where, refusal_);
  }
  const Fields record = fields_of((*answers)[1]);
  auto view = decode_view(lock, record, fields_of((*answers)[2]), *now, fields_of((*answers)[4]));
  if (view) view->waiters = (*answers)[3].elements.size();
  if (!view || !shared) return view;
  const auto written = record.find("shared");
  if (!rules::show_foreign(*view, written == record.end() ? "" : written->second,
                           foreign_key(shared->format, (*answers)[5], (*answers)[6])))
    return redis_error(redis_error_row(RedisErrorClass::poisoned), config_.login.where,
                       shared->key + " value");
  return view;
}

Result<Revoked> RedisStore::revoke_once(const std::string& lock, TimePoint give_up) {
  if (Status opened = open(give_up); !opened) return opened.error();
  const ServerTime not_after = session_->server_time(give_up);
  auto answers = send_all({encode_revoke(lock, config_.key_prefix, not_after)}, give_up);
  failure_.reset();  // it may have been executed; a second one would report another result
  if (!answers) return answers.error();
  std::vector<std::string> texts;
  for (const Resp& element : answers->front().elements) texts.push_back(element.text);
  return decode_revoke(texts);
}

}  // namespace cronlatch::redis
