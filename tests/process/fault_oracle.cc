// SPDX-License-Identifier: Apache-2.0
// What must hold after a fault: the exit code and the outcome agree with what the command did, the
// lifetimes of two commands do not overlap, and the record and the counters agree with both. Redis
// is read with raw commands, by the names that are public.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "fault_events.h"
#include "fault_trial.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// Sums one counter over the jobs: fields are <counter>|<job>.
long sum(const std::map<std::string, std::string>& stats, const std::string& counter) {
  long total = 0;
  for (const auto& [field, value] : stats)
    if (field.starts_with(counter + "|")) total += std::atol(value.c_str());
  return total;
}

// The times after `name` in the lines that the commands wrote.
std::vector<std::int64_t> times_of(const std::string& told, const std::string& name) {
  std::vector<std::int64_t> times;
  std::istringstream lines(told);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + " ")) times.push_back(std::atoll(line.c_str() + name.size()));
  return times;
}

}  // namespace

std::int64_t FaultTrial::fence_of(const std::string& outcome) const {
  const std::string text = read_file(dir_.path(outcome)), key = "\"fence\":\"";
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + key.size());
}

void FaultTrial::judge_outcome(int code) const {
  const std::string outcome = read_file(dir_.path("outcome"));
  EXPECT_EQ(count(outcome, "\n"), 1u) << outcome;
  EXPECT_LE(outcome.size(), 1'024u);
  EXPECT_THAT(outcome, HasSubstr("{\"v\":1,"));
  EXPECT_THAT(outcome, HasSubstr("\"lock\":\"job\""));
  EXPECT_THAT(outcome, HasSubstr("\"exit_code\":" + std::to_string(code)));
  std::string result = R"("outcome":"store_down","reason":"unreachable")";
  if (case_.ran())
    result =
        std::string(R"("outcome":"ran","reason":")") + (case_.ungated() ? "ungated" : "") + '"';
  if (case_.exit_code == kLost) result = R"("outcome":"lost","reason":"expired")";
  EXPECT_THAT(outcome, HasSubstr(result));
}

// One lifetime of the command for a run that ends with its code, none for a run that was not
// granted the lock in time; the next lifetime begins after it.
void FaultTrial::judge_lifetimes() const {
  const std::string told = read_file(dir_.path("told"));
  const bool started = case_.exit_code != kStoreDown;
  EXPECT_EQ(count(told, "start\n"), started ? 1u : 0u) << told;
  EXPECT_EQ(count(told, "end\n"), case_.ran() ? 1u : 0u) << told;
  const auto first = times_of(told, "first"), second = times_of(told, "second");
  EXPECT_EQ(first.empty(), !started) << told;
  ASSERT_FALSE(second.empty()) << told;
  if (started) {
    EXPECT_LT(first.back(), second.front()) << "two commands at the same time";
  }
  if (started && !case_.ungated()) {
    EXPECT_LT(fence_of("outcome"), fence_of("rival-outcome"));
    EXPECT_GT(fence_of("outcome"), 0);
  }
}

FaultTrial::Hash FaultTrial::hash_at(const std::string& key) {
  Hash hash;
  const RedisAnswer all = redis_({"HGETALL", key});
  for (std::size_t i = 0; i + 1 < all.elements.size(); i += 2)
    hash[all.elements[i].text] = all.elements[i + 1].text;
  return hash;
}

// `rivals`: how many further runs have ended.
void FaultTrial::judge_record(long rivals) {
  Hash record = hash_at(prefix_ + "{job}");
  const Hash stats = hash_at(prefix_ + "{job}:stats");
  SCOPED_TRACE("after " + std::to_string(rivals) + " further runs");
  // Nothing is left of an owner that has ended.
  const std::string state = record["state"];
  EXPECT_TRUE(state == "free" || state.empty() || (case_.waits && state == "cooling")) << state;
  const long acquired = sum(stats, "acquired"), others = rivals + (case_.waits ? 1 : 0);
  const long stolen = case_.leaves_lease() ? 1 : 0;
  EXPECT_EQ(sum(stats, "stolen"), stolen);
  EXPECT_EQ(sum(stats, "revoked"), 0);
  EXPECT_EQ(sum(stats, "released"), acquired - stolen)
      << "acquired = released + stolen + revoked + open, and open is 0";
  EXPECT_LE(acquired, others + 1) << "one grant for one run";
  if (case_.exit_code != kStoreDown && !case_.ungated()) {
    EXPECT_EQ(acquired, others + 1);
  } else {
    EXPECT_GE(acquired, others);
  }
  judge_runs(stats, others);
}

// Each run is counted once, as what it was.
void FaultTrial::judge_runs(const Hash& stats, long others) const {
  const bool counted = case_.ran() && !case_.ungated() && !case_.leaves_lease();
  EXPECT_EQ(sum(stats, "runs_failed"), counted && case_.own_code != 0 ? 1 : 0);
  EXPECT_EQ(sum(stats, "runs_succeeded"), others + (counted && case_.own_code == 0 ? 1 : 0));
  EXPECT_EQ(sum(stats, "runs_lost"), case_.exit_code == kLost ? 1 : 0);
  EXPECT_EQ(sum(stats, "lost"), case_.exit_code == kLost ? 1 : 0);
  EXPECT_EQ(sum(stats, "ungated"), case_.ungated() ? 1 : 0);
  for (const char* none : {"runs_skipped", "skipped_held", "skipped_done", "runs_busy",
                           "wait_timeouts", "runs_timed_out", "runs_cannot_start", "restored"})
    EXPECT_EQ(sum(stats, none), 0) << none;
}

// An identity that is done is not run again.
void FaultTrial::judge_done_mark() {
  if (case_.once.empty()) return;
  EXPECT_NE(redis_({"ZSCORE", prefix_ + "{job}:once", case_.once}).text, "") << "not marked done";
  Words words = run_words(redis_url_, "fail", "again-outcome");
  words.insert(words.end(), {"--once-per", case_.once, "--", talking_child(), "to",
                             dir_.path("told"), "say", "start"});
  Program again({.argv = words});
  EXPECT_EQ(again.exit_code(), 0) << again.err();
  EXPECT_THAT(read_file(dir_.path("again-outcome")),
              HasSubstr(R"("outcome":"skipped","reason":"done")"));
  EXPECT_EQ(count(read_file(dir_.path("told")), "start\n"), 1u);
  expect_events(dir_.path("again-outcome"), 0,
                {{"Normal", "Skipped", "skipped because .*is already done"}}, "");
}

}  // namespace cronlatch::testing
