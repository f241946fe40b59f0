// SPDX-License-Identifier: Apache-2.0
// The Ledger face of RedisStore: blocking calls for people and for metrics, on the same connection,
// with a ppoll of their own. Reading writes nothing.
#include <algorithm>
#include <utility>

#include "store/redis/boot_clock.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"
#include "store/redis/wait.h"

namespace cronlatch::redis {
namespace {

constexpr std::size_t kBatch = 200;  // locks per round trip

Error unreadable(const std::string& where) {
  return {Code::unreachable, "redis at " + where + ": an answer of an unexpected kind",
          "is it a Redis server that listens there?"};
}

Fields fields_of(const Resp& answer) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < answer.elements.size(); i += 2)
    fields[answer.elements[i].text] = answer.elements[i + 1].text;
  return fields;
}

}  // namespace

// One turn: waits for the session's next event and lets it step.
Status RedisStore::wait(TimePoint give_up) {
  PollSet set;
  session_->watch(set);
  set.wake_by(give_up);
  wait_for_events(set);
  const TimePoint now = boot_now();
  session_->step(set, now);
  if (session_->failure()) {
    const Error error = session_->failure()->error;
    session_.reset();
    return error;
  }
  if (now < give_up) return Done{};
  Error error = session_->late();
  session_->blame_peer();
  session_.reset();
  return error;
}

Status RedisStore::open(TimePoint give_up) {
  drop_dead_session();
  if (session_ == nullptr) {
    connect(boot_now());
    session_->step(PollSet{}, boot_now());
  }
  while (!session_->is_ready())
    if (Status turn = wait(give_up); !turn) return turn;
  return Done{};
}

Result<RedisStore::Answers> RedisStore::converse(const Commands& commands, TimePoint give_up) {
  for (const auto& command : commands) session_->send(command, Session::Wants::answer);
  session_->flush();
  Answers answers;
  std::optional<Error> refusal;
  while (answers.size() < commands.size()) {
    if (auto answer = session_->take()) {
      if (answer->type == Resp::Type::error && !refusal)
        refusal = redis_error(classify_redis_error(answer->text), config_.greeting.where,
                              session_->redact(answer->text));
      answers.push_back(std::move(*answer));
      continue;
    }
    if (Status turn = wait(give_up); !turn) return turn.error();
  }
  if (refusal) return *refusal;
  return answers;
}

Result<std::vector<LockView>> RedisStore::list(TimePoint give_up, std::size_t most) {
  if (Status opened = open(give_up); !opened) return opened.error();
  std::vector<LockView> all;
  for (std::size_t from = 0; from < most; from += kBatch) {
    const std::size_t until = from + std::min(kBatch, most - from);
    // The newest first, as they are the ones to have when there are too many.
    auto names = converse({{"ZRANGE", index_key(config_.key_prefix), std::to_string(from),
                            std::to_string(until - 1), "REV"}},
                          give_up);
    if (!names) return names.error();
    std::vector<std::string> locks;
    for (const Resp& name : names->front().elements) locks.push_back(name.text);
    auto found = views(locks, give_up, Unknown::drop);
    if (!found) return found.error();
    std::move(found->begin(), found->end(), std::back_inserter(all));
    if (locks.size() < kBatch) break;
  }
  // The index is ordered by time and moves between two batches: sorted here, each name once.
  std::sort(all.begin(), all.end(),
            [](const LockView& a, const LockView& b) { return a.lock < b.lock; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const LockView& a, const LockView& b) { return a.lock == b.lock; }),
            all.end());
  return all;
}

Result<std::vector<LockView>> RedisStore::views(const std::vector<std::string>& locks,
                                                TimePoint give_up, Unknown unknown) {
  std::vector<LockView> found;
  if (locks.empty()) return found;
  Commands commands = {{"TIME"}};
  for (const std::string& lock : locks) {
    commands.push_back({"HGETALL", record_key(config_.key_prefix, lock)});
    commands.push_back({"HGETALL", stats_key(config_.key_prefix, lock)});
  }
  auto answers = converse(commands, give_up);
  if (!answers) return answers.error();
  const auto now = parse_time(answers->front());
  if (!now) return unreadable(config_.greeting.where);
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const Fields record = fields_of((*answers)[1 + 2 * i]);
    const Fields stats = fields_of((*answers)[2 + 2 * i]);
    if (record.empty() && stats.empty() && unknown == Unknown::drop) continue;
    auto view = decode_view(locks[i], record, stats, *now);
    if (!view) return view.error();
    found.push_back(std::move(view).value());
  }
  return found;
}

Result<LockView> RedisStore::show(const std::string& lock, TimePoint give_up) {
  if (Status opened = open(give_up); !opened) return opened.error();
  auto found = views({lock}, give_up, Unknown::keep);
  if (!found) return found.error();
  return std::move(found->front());
}

Result<Revoked> RedisStore::revoke(const std::string& lock, TimePoint give_up) {
  if (Status opened = open(give_up); !opened) return opened.error();
  const ServerTime not_after = session_->server_time(give_up);
  auto answers = converse({encode_revoke(lock, config_.key_prefix, not_after)}, give_up);
  if (!answers) return answers.error();
  std::vector<std::string> texts;
  for (const Resp& element : answers->front().elements) texts.push_back(element.text);
  return decode_revoke(texts);
}

}  // namespace cronlatch::redis
