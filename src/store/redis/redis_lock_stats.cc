// SPDX-License-Identifier: Apache-2.0
// The LockStats interface of RedisStore: blocking calls on the same connection, for the subcommands
// and for metrics. Reading writes nothing. With a Route, a call is repeated within its deadline.
#include <algorithm>
#include <utility>

#include "core/lock_name.h"
#include "core/shared_key.h"
#include "store/redis/redis_call.h"
#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {
namespace {

constexpr std::size_t kBatch = 200;  // locks per round trip
constexpr std::size_t kReads = 4;    // commands per lock

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

Result<std::vector<LockView>> RedisStore::list(TimePoint give_up, std::size_t most) {
  return with_retries(give_up, [&] { return list_once(give_up, most); });
}

Result<LockView> RedisStore::show(const std::string& lock, TimePoint give_up) {
  return with_retries(give_up, [&] { return show_once(lock, give_up); });
}

Result<Revoked> RedisStore::revoke(const std::string& lock, TimePoint give_up) {
  return with_retries(give_up, [&] { return revoke_once(lock, give_up); });
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

// Reads the time, then record, counters, waiting runs and further slots of each lock. The key of
// another program is not read: a user that may not read it can still list the locks.
RedisStore::Commands RedisStore::hash_reads(const std::vector<std::string>& locks) const {
  Commands commands = {{"TIME"}};
  const ServerTime now = session_->server_time(boot_now());
  for (const std::string& lock : locks) {
    commands.push_back({"HGETALL", record_key(config_.key_prefix, lock)});
    commands.push_back({"HGETALL", stats_key(config_.key_prefix, lock)});
    commands.push_back(encode_waiters(lock, config_.key_prefix, now));
    commands.push_back({"HGETALL", slots_key(config_.key_prefix, lock)});
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
                      &waiters = answer[2], &slot_list = answer[3];
    if (std::any_of(answer, answer + kReads, is_elsewhere)) {
      moved.push_back(locks[i]);
      continue;
    }
    const bool readable = std::none_of(answer, answer + kReads, is_wrong_type);
    if (readable && record.elements.empty() && stats.elements.empty()) continue;
    auto view = readable ? decode_view(locks[i], fields_of(record), fields_of(stats), *now,
                                       fields_of(slot_list))
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
