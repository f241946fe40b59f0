// SPDX-License-Identifier: Apache-2.0
// The two implementations of the rules.
#include "rules/lock.h"

#include <map>
#include <vector>

#include "support/script_bench.h"

namespace cronlatch::testing {
namespace {

class Rules : public Implementation {
 public:
  Reply execute(const Request& request, ServerTime now, ServerTime not_after) override {
    return std::visit(
        [&](const auto& verb) { return rules::decide(records_[verb.lock], verb, now, not_after); },
        request);
  }
  Revoked revoke(const std::string& lock, ServerTime now) override {
    return rules::revoke(records_[lock], now);
  }
  rules::Record record(const std::string& lock) override { return records_[lock]; }
  bool is_empty() override {
    for (const auto& [lock, record] : records_)
      if (record != rules::Record{}) return false;
    return true;
  }
  void lose_everything() override { records_.clear(); }
  void lose_grant(const std::string& lock) override {
    rules::Record& record = records_[lock];
    rules::Record rest;
    rest.jobs = record.jobs;
    rest.groups = record.groups;
    rest.once = record.once;
    rest.answers = record.answers;
    rest.queue = record.queue;
    rest.asked = record.asked;
    record = std::move(rest);
  }
  void lose_groups(const std::string& lock) override { records_[lock].groups.clear(); }
  void add_to_counter(const std::string& lock, const std::string& job, const std::string& name,
                      std::int64_t by) override {
    records_[lock].jobs[job].values[name] += by;
  }
  void add_groups(const std::string& lock,
                  const std::map<std::string, std::int64_t>& groups) override {
    records_[lock].groups.insert(groups.begin(), groups.end());
  }

 private:
  std::map<std::string, rules::Record> records_;
};

class Scripts : public Implementation {
 public:
  Scripts() { bench_.read_sets = false; }

  Reply execute(const Request& request, ServerTime now, ServerTime not_after) override {
    bench_.now = now;
    return bench_.send(request, not_after).reply;
  }
  Revoked revoke(const std::string& lock, ServerTime now) override {
    bench_.now = now;
    bench_.lock = lock;
    return bench_.revoke();
  }
  rules::Record record(const std::string& lock) override {
    bench_.lock = lock;
    return bench_.record();
  }
  bool is_empty() override { return bench_.client({"DBSIZE"}).integer == 0; }
  void lose_everything() override { bench_.client({"FLUSHALL"}); }
  void lose_grant(const std::string& lock) override { command({"DEL", key(lock, "")}); }
  void lose_groups(const std::string& lock) override { command({"DEL", key(lock, ":groups")}); }
  void add_to_counter(const std::string& lock, const std::string& job, const std::string& name,
                      std::int64_t by) override {
    command({"HINCRBY", key(lock, ":stats"), name + "|" + job, std::to_string(by)});
  }
  void add_groups(const std::string& lock,
                  const std::map<std::string, std::int64_t>& groups) override {
    std::vector<std::string> add{"ZADD", key(lock, ":groups")};
    for (const auto& [group, date] : groups) {
      add.push_back(std::to_string(date));
      add.push_back(group);
    }
    command(add);
  }

 private:
  std::string key(const std::string& lock, const std::string& suffix) {
    bench_.lock = lock;
    return bench_.key(suffix);
  }
  void command(const std::vector<std::string>& argv) {
    const RedisAnswer answer = bench_.client(argv);
    EXPECT_FALSE(answer.is_error()) << answer.text;
  }

  ScriptBench bench_;
};

Identity identity_of(const std::string& owner) { return {"pod-" + owner, "ns/" + owner, "", ""}; }

}  // namespace

std::unique_ptr<Implementation> make_implementation(DecidedBy by) {
  if (by == DecidedBy::rules) return std::make_unique<Rules>();
  return std::make_unique<Scripts>();
}

Acquire Lock::acquisition(const std::string& owner, std::uint32_t attempt) const {
  Acquire a;
  a.lock = name;
  a.claim = {owner, attempt};
  a.identity = identity_of(owner);
  a.ttl = ttl;
  a.once_ttl = std::chrono::hours(24);
  return a;
}

Renew Lock::renewal(const std::string& owner, std::uint32_t attempt) const {
  Renew r;
  r.lock = name;
  r.claim = {owner, attempt};
  r.identity = identity_of(owner);
  r.fence = record().fence;
  r.ttl = ttl;
  return r;
}

Release Lock::end(const std::string& owner, RunVerdict verdict, std::uint32_t attempt) const {
  Release r;
  r.lock = name;
  r.claim = {owner, attempt};
  r.identity = identity_of(owner);
  r.fence = record().fence;
  r.verdict = verdict;
  r.mark_done = verdict == RunVerdict::succeeded;
  r.once_ttl = std::chrono::hours(24);
  return r;
}

std::int64_t Lock::counted(const std::string& owner, std::string_view counter) const {
  const auto jobs = record().jobs;
  const auto at = jobs.find("ns/" + owner);
  return at == jobs.end() ? 0 : at->second.get(counter);
}

void Lock::add_groups(int n) {
  std::map<std::string, std::int64_t> groups;
  for (int i = 1; i <= n; ++i)
    groups["g" + std::to_string(i)] = (now + rules::kGroupAhead - 1min * (n + 1 - i)).us;
  implementation_->add_groups(name, groups);
}

}  // namespace cronlatch::testing
