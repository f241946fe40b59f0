// SPDX-License-Identifier: Apache-2.0
#include "fault_trial.h"

#include <thread>

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOpTimeout{400}, kRenewEvery{500};
constexpr milliseconds kLongestPause{900};  // of a run that waits

}  // namespace

std::string option_of(milliseconds time) { return std::to_string(time.count()) + "ms"; }

FaultTrial::FaultTrial(const RedisServer& redis, const FaultCase& c, int number,
                       const std::shared_ptr<SSL_CTX>& tls, const std::string& ca)
    : case_(c),
      redis_(redis.port()),
      redis_url_("redis://127.0.0.1:" + std::to_string(redis.port())),
      ca_(ca),
      prefix_("case-" + std::to_string(number) + ":") {
  if (c.waits) close_for(kLongestPause * (up_to_k() - 1) + milliseconds(300));
  proxy_ = std::make_unique<FaultProxy>(redis.port(), fault(), c.tls ? tls : nullptr);
  program_ = std::make_unique<Program>(ProgramSpec{.argv = argv()});
  if (!holds_while_it_runs()) return;
  EXPECT_TRUE(eventually([this] { return !read_file(dir_.path("told")).empty(); })) << c.name();
  rival_ = rival("wait");
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

Words FaultTrial::run_words(const std::string& url, const std::string& on_busy,
                            const std::string& outcome) const {
  Words words = {binary(), "run", "--store", url};
  for (const Words& option :
       {Words{"--lock", "job"}, Words{"--key-prefix", prefix_}, Words{"--ttl", "6s"},
        Words{"--connect-timeout", option_of(case_.connect_timeout)},
        Words{"--op-timeout", option_of(kOpTimeout)},
        Words{"--renew-every", option_of(kRenewEvery)}, Words{"--kill-after", "200ms"},
        Words{"--on-busy", on_busy}, Words{"--outcome-file", dir_.path(outcome)}})
    words.insert(words.end(), option.begin(), option.end());
  return words;
}

Words FaultTrial::argv() const {
  // Long enough for the renewals that are struck and one more, or for the lease to end.
  milliseconds length{50};
  if (case_.verb == RedisVerb::renew) length = kRenewEvery * (up_to_k() + 2);
  if (case_.exit_code == kLost) length = kPatience;
  Words words = run_words(proxy_->url(), case_.waits ? "wait" : "skip", "outcome");
  words.insert(words.end(), {"--on-store-down", case_.on_store_down});
  if (case_.tls) words.insert(words.end(), {"--tls-ca", ca_});
  if (!case_.once.empty()) words.insert(words.end(), {"--once-per", case_.once});
  words.insert(words.end(), {"--", talking_child(), "to", dir_.path("told"), "say", "start",
                             "beats", "first", std::to_string(length.count()), "say", "end", "exit",
                             std::to_string(case_.own_code)});
  return words;
}

std::unique_ptr<Program> FaultTrial::rival(const std::string& on_busy) const {
  Words words = run_words(redis_url_, on_busy, "rival-outcome");
  words.insert(words.end(), {"--", talking_child(), "to", dir_.path("told"), "beats", "second", "1",
                             "exit", "0"});
  return std::make_unique<Program>(ProgramSpec{.argv = words});
}

// A run that leaves the lock closed for a while after it has ended.
void FaultTrial::close_for(milliseconds time) {
  Words words = run_words(redis_url_, "skip", "earlier-outcome");
  words.insert(words.end(), {"--min-hold", option_of(time), "--", talking_child(), "exit", "0"});
  Program first({.argv = words});
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  closed_until_ = std::chrono::steady_clock::now() + time;
}

// The rival then waits beside the command.
bool FaultTrial::holds_while_it_runs() const {
  return case_.verb == RedisVerb::renew || case_.verb == RedisVerb::release;
}

void FaultTrial::judge() {
  SCOPED_TRACE(case_.name());
  const auto code = program_->exit_code();
  SCOPED_TRACE("standard error: " + program_->err());
  EXPECT_EQ(code, case_.exit_code);
  judge_outcome(code.value_or(-1));
  if (!case_.strikes_every()) {
    EXPECT_EQ(proxy_->struck(), static_cast<int>(case_.numbers.size())) << "of " << proxy_->seen();
  }
  // A late request is executed before the record is read.
  EXPECT_TRUE(eventually([this] { return proxy_->connections() == 0; }));
  if (rival_ == nullptr) {
    judge_record(0);
    std::this_thread::sleep_until(closed_until_);
    rival_ = rival("fail");
  }
  EXPECT_EQ(rival_->exit_code(), 0) << "the next run: " << rival_->err();
  judge_record(1);
  judge_lifetimes();
  judge_done_mark();
  judge_events(code.value_or(-1));
  judge_events_of_rival();
}

}  // namespace cronlatch::testing
