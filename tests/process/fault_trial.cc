// SPDX-License-Identifier: Apache-2.0
#include "fault_trial.h"

#include <algorithm>
#include <map>

#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr std::int64_t kTtlUs = 6'000'000;
constexpr milliseconds kOpTimeout{400}, kRenewEvery{500};
constexpr milliseconds kLongestPause{2'000};  // of a run that waits

// Sums one counter over the jobs: fields are <counter>|<job>.
long sum(const std::map<std::string, std::string>& stats, const std::string& counter) {
  long total = 0;
  for (const auto& [field, value] : stats)
    if (field.starts_with(counter + "|")) total += std::atol(value.c_str());
  return total;
}

}  // namespace

bool is_silent(FaultKind kind) {
  return kind == FaultKind::reply_lost || kind == FaultKind::reply_late ||
         kind == FaultKind::request_lost || kind == FaultKind::request_late;
}

bool is_before_start(RedisVerb verb) {
  return verb == RedisVerb::hello || verb == RedisVerb::time || verb == RedisVerb::acquire;
}

std::string option_of(milliseconds time) { return std::to_string(time.count()) + "ms"; }

int up_to_k() { return is_long_run() ? 6 : 3; }

std::string FaultCase::name() const {
  return std::string(name_of(kind)) + " of number " + std::to_string(*numbers.begin()) + " to " +
         std::to_string(*numbers.rbegin()) + (waits ? ", waiting" : "");
}

FaultTrial::FaultTrial(const RedisServer& redis, const FaultCase& c, int number)
    : case_(c),
      redis_(redis.port()),
      redis_url_("redis://127.0.0.1:" + std::to_string(redis.port())),
      prefix_("case-" + std::to_string(number) + ":") {
  if (c.waits) close_for(kLongestPause * (up_to_k() - 2) + milliseconds(500));
  proxy_ = std::make_unique<FaultProxy>(redis.port(), fault());
  program_ = std::make_unique<Program>(ProgramSpec{.argv = argv()});
}

void FaultTrial::judge() {
  SCOPED_TRACE(case_.name());
  const auto code = program_->exit_code();
  SCOPED_TRACE("standard error: " + program_->err());
  EXPECT_EQ(code, case_.exit_code);
  judge_outcome(code.value_or(-1));
  if (!case_.numbers.contains(kEvery)) {
    EXPECT_EQ(proxy_->struck(), static_cast<int>(case_.numbers.size())) << "of " << proxy_->seen();
  }
  // A late request is executed before the counters are read.
  EXPECT_TRUE(eventually([this] { return proxy_->connections() == 0; }));
  judge_record();
}

Fault FaultTrial::fault() const {
  const auto concerns = [verb = case_.verb](const Fault::Request& r) { return verb_of(r) == verb; };
  Fault fault{.kind = case_.kind, .concerns = concerns, .numbers = case_.numbers};
  fault.delay = is_before_start(case_.verb) ? case_.connect_timeout + milliseconds(300)
                                            : kOpTimeout + milliseconds(200);
  // A connection for each question, so that there are several HELLOs and TIMEs.
  if (case_.waits && case_.verb != RedisVerb::acquire)
    fault.closes_after = [](const Fault::Request& r) { return verb_of(r) == RedisVerb::acquire; };
  return fault;
}

Words FaultTrial::argv() const {
  // Long enough for the renewals that are struck and one more, or for the lease to end.
  milliseconds length{50};
  if (case_.verb == RedisVerb::renew) length = kRenewEvery * (up_to_k() + 2);
  if (case_.exit_code == kLost) length = kPatience;
  Words words = {binary(), "run", "--store", proxy_->url()};
  for (const Words& option :
       {Words{"--lock", "job"}, Words{"--key-prefix", prefix_}, Words{"--ttl", "6s"},
        Words{"--connect-timeout", option_of(case_.connect_timeout)},
        Words{"--op-timeout", option_of(kOpTimeout)},
        Words{"--renew-every", option_of(kRenewEvery)}, Words{"--kill-after", "200ms"},
        Words{"--on-store-down", case_.on_store_down},
        Words{"--on-busy", case_.waits ? "wait" : "skip"},
        Words{"--outcome-file", dir_.path("outcome")}})
    words.insert(words.end(), option.begin(), option.end());
  if (!case_.once.empty()) words.insert(words.end(), {"--once-per", case_.once});
  words.insert(words.end(), {"--", talking_child(), "to", dir_.path("told"), "say", "start",
                             "sleep", std::to_string(length.count()), "say", "end", "exit",
                             std::to_string(case_.own_code)});
  return words;
}

// A run that leaves the lock closed for a while after it has ended.
void FaultTrial::close_for(milliseconds time) const {
  Program first(
      {.argv = {binary(), "run", "--store", redis_url_, "--lock", "job", "--key-prefix", prefix_,
                "--ttl", "6s", "--min-hold", option_of(time), "--", talking_child(), "exit", "0"}});
  EXPECT_EQ(first.exit_code(), 0) << first.err();
}

void FaultTrial::judge_outcome(int code) const {
  const std::string told = read_file(dir_.path("told"));
  const std::string outcome = read_file(dir_.path("outcome"));
  EXPECT_THAT(outcome, HasSubstr("\"exit_code\":" + std::to_string(code)));
  if (code == case_.own_code) {
    EXPECT_EQ(told, "start\nend\n");
    EXPECT_EQ(outcome.find("ungated") != std::string::npos, case_.ungated) << outcome;
    EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"ran\""));
  } else if (code == kLost) {
    EXPECT_EQ(told, "start\n");
    EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"lost\""));
  } else {
    EXPECT_EQ(told, "") << "the command was started";
    EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"store_down\""));
  }
}

FaultTrial::Hash FaultTrial::hash_at(const std::string& key) {
  Hash hash;
  const RedisAnswer all = redis_({"HGETALL", key});
  for (std::size_t i = 0; i + 1 < all.elements.size(); i += 2)
    hash[all.elements[i].text] = all.elements[i + 1].text;
  return hash;
}

void FaultTrial::judge_record() {
  Hash record = hash_at(prefix_ + "{job}");
  const Hash stats = hash_at(prefix_ + "{job}:stats");
  const RedisAnswer time = redis_({"TIME"});
  ASSERT_EQ(time.elements.size(), 2u);
  const std::int64_t now = std::atoll(time.elements[0].text.c_str()) * 1'000'000 +
                           std::atoll(time.elements[1].text.c_str());
  const bool open = record["state"] == "held";
  EXPECT_TRUE(open || record["state"] == "free" || record["state"].empty() ||
              (case_.waits && record["state"] == "cooling"))
      << record["state"];
  if (open) {
    EXPECT_LE(std::atoll(record["expires"].c_str()), now + kTtlUs);
  }
  EXPECT_EQ(sum(stats, "acquired"),
            sum(stats, "released") + sum(stats, "stolen") + sum(stats, "revoked") + (open ? 1 : 0))
      << "acquired = released + stolen + revoked + open";
  // A release that was answered, at the latest after a retry, leaves the lock free.
  if (case_.verb == RedisVerb::release && case_.numbers.contains(kEvery)) return;
  EXPECT_FALSE(open);
  judge_counters(stats);
}

void FaultTrial::judge_counters(const Hash& stats) {
  const bool ran = case_.exit_code == case_.own_code && !case_.ungated;
  EXPECT_EQ(sum(stats, "runs_lost"), case_.exit_code == kLost ? 1 : 0);
  EXPECT_EQ(sum(stats, "ungated"), case_.ungated ? 1 : 0);
  EXPECT_EQ(sum(stats, "runs_failed"), ran && case_.own_code != 0 ? 1 : 0);
  EXPECT_EQ(sum(stats, "runs_succeeded"),
            (ran && case_.own_code == 0 ? 1 : 0) + (case_.waits ? 1 : 0));
  if (!case_.once.empty() && case_.own_code == 0) {
    EXPECT_NE(redis_({"ZSCORE", prefix_ + "{job}:once", case_.once}).text, "") << "not marked done";
  }
}

}  // namespace cronlatch::testing
