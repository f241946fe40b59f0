// SPDX-License-Identifier: Apache-2.0
// The real program and a real Redis, with a proxy between them that spoils one reply or request of
// one verb: whatever happens to it, the exit code, the outcome file and the counters agree with
// what the command did. FAULTS_UP_TO_K=<n> strikes the first n of each verb in turn (3 by default).
#include <algorithm>

#include "gated.h"
#include "store/redis/scripts.h"
#include "support/fault_proxy.h"

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr int kOwnCode = 7;
constexpr int kStoreDown = 69;
constexpr int kTryLater = 75;
constexpr int kLost = 79;
constexpr std::int64_t kTtlUs = 6'000'000;
constexpr milliseconds kConnectTimeout{4'000}, kOpTimeout{400}, kRenewEvery{500};
constexpr milliseconds kLongestPause{2'000};  // of a run that waits

constexpr FaultKind kKinds[] = {FaultKind::reply_lost,  FaultKind::reply_closed,
                                FaultKind::reply_cut,   FaultKind::reply_duplicated,
                                FaultKind::reply_late,  FaultKind::request_lost,
                                FaultKind::request_late};

// No answer comes, and nothing shows that none will come.
bool is_silent(FaultKind kind) {
  return kind == FaultKind::reply_lost || kind == FaultKind::reply_late ||
         kind == FaultKind::request_lost || kind == FaultKind::request_late;
}

bool is_before_start(RedisVerb verb) {
  return verb == RedisVerb::hello || verb == RedisVerb::time || verb == RedisVerb::acquire;
}

int up_to_k() {
  const char* given = std::getenv("FAULTS_UP_TO_K");
  return given == nullptr ? 3 : std::max(1, std::atoi(given));
}

std::set<int> one_to(int n) {
  std::set<int> numbers;
  for (int i = 1; i <= n; ++i) numbers.insert(i);
  return numbers;
}

std::string option_of(milliseconds time) { return std::to_string(time.count()) + "ms"; }

struct Case {
  RedisVerb verb = RedisVerb::acquire;
  FaultKind kind = FaultKind::reply_lost;
  std::set<int> numbers{1};
  int exit_code = kOwnCode;
  bool waits = false;  // the lock is closed at first, so that the run asks several times
  std::string name() const {
    return std::string(name_of(kind)) + " of number " + std::to_string(*numbers.begin()) + " to " +
           std::to_string(*numbers.rbegin()) + (waits ? ", waiting" : "");
  }
};

// One run of the program behind a proxy of its own, with keys and files of its own.
class Trial {
 public:
  Trial(const RedisServer& redis, const Case& c, int number)
      : case_(c),
        redis_(redis.port()),
        redis_url_("redis://127.0.0.1:" + std::to_string(redis.port())),
        prefix_("case-" + std::to_string(number) + ":") {
    if (c.waits) close_for(kLongestPause * (up_to_k() - 2) + milliseconds(500));
    proxy_ = std::make_unique<FaultProxy>(redis.port(), fault());
    program_ = std::make_unique<Program>(ProgramSpec{.argv = argv()});
  }

  void judge() {
    SCOPED_TRACE(case_.name());
    const auto code = program_->exit_code();
    SCOPED_TRACE("standard error: " + program_->err());
    EXPECT_EQ(code, case_.exit_code);
    judge_outcome(code.value_or(-1));
    if (!case_.numbers.contains(kEvery)) {
      EXPECT_EQ(proxy_->struck(), static_cast<int>(case_.numbers.size()))
          << "of " << proxy_->seen();
    }
    // A late request is executed before the counters are read.
    EXPECT_TRUE(eventually([this] { return proxy_->connections() == 0; }));
    judge_record();
  }

  static constexpr int kEvery = 100;  // in `numbers`: more than any run has

 private:
  Fault fault() const {
    const auto concerns = [verb = case_.verb](const Fault::Request& r) {
      return verb_of(r) == verb;
    };
    Fault fault{.kind = case_.kind, .concerns = concerns, .numbers = case_.numbers};
    fault.delay = is_before_start(case_.verb) ? kConnectTimeout + milliseconds(300)
                                              : kOpTimeout + milliseconds(200);
    // A connection for each question, so that there are several HELLOs and TIMEs.
    if (case_.waits && case_.verb != RedisVerb::acquire)
      fault.closes_after = [](const Fault::Request& r) { return verb_of(r) == RedisVerb::acquire; };
    return fault;
  }

  Words argv() const {
    // Long enough for the renewals that are struck and one more, or for the lease to end.
    milliseconds length{50};
    if (case_.verb == RedisVerb::renew) length = kRenewEvery * (up_to_k() + 2);
    if (case_.exit_code == kLost) length = kPatience;
    Words words = {binary(), "run", "--store", proxy_->url()};
    for (const Words& option :
         {Words{"--lock", "job"}, Words{"--key-prefix", prefix_}, Words{"--ttl", "6s"},
          Words{"--connect-timeout", option_of(kConnectTimeout)},
          Words{"--op-timeout", option_of(kOpTimeout)},
          Words{"--renew-every", option_of(kRenewEvery)}, Words{"--kill-after", "200ms"},
          Words{"--on-busy", case_.waits ? "wait" : "skip"},
          Words{"--outcome-file", dir_.path("outcome")}})
      words.insert(words.end(), option.begin(), option.end());
    words.insert(words.end(),
                 {"--", talking_child(), "to", dir_.path("told"), "say", "start", "sleep",
                  std::to_string(length.count()), "say", "end", "exit", std::to_string(kOwnCode)});
    return words;
  }

  // A run that leaves the lock closed for a while after it has ended.
  void close_for(milliseconds time) const {
    Program first({.argv = {binary(), "run", "--store", redis_url_, "--lock", "job", "--key-prefix",
                            prefix_, "--ttl", "6s", "--min-hold", option_of(time), "--",
                            talking_child(), "exit", "0"}});
    EXPECT_EQ(first.exit_code(), 0) << first.err();
  }

  void judge_outcome(int code) const {
    const std::string told = read_file(dir_.path("told"));
    const std::string outcome = read_file(dir_.path("outcome"));
    EXPECT_THAT(outcome, HasSubstr("\"exit_code\":" + std::to_string(code)));
    if (code == kOwnCode) {
      EXPECT_EQ(told, "start\nend\n");
      EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"ran\""));
    } else if (code == kLost) {
      EXPECT_EQ(told, "start\n");
      EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"lost\""));
    } else {
      EXPECT_EQ(told, "") << "the command was started";
      EXPECT_THAT(outcome, HasSubstr("\"outcome\":\"store_down\""));
    }
  }

  using Hash = std::map<std::string, std::string>;
  Hash hash_at(const std::string& key) {
    Hash hash;
    const RedisAnswer all = redis_({"HGETALL", key});
    for (std::size_t i = 0; i + 1 < all.elements.size(); i += 2)
      hash[all.elements[i].text] = all.elements[i + 1].text;
    return hash;
  }

  // Sums one counter over the jobs: fields are <counter>|<job>.
  static long sum(const Hash& stats, const std::string& counter) {
    long total = 0;
    for (const auto& [field, value] : stats)
      if (field.starts_with(counter + "|")) total += std::atol(value.c_str());
    return total;
  }

  void judge_record() {
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
    EXPECT_EQ(sum(stats, "acquired"), sum(stats, "released") + sum(stats, "stolen") +
                                          sum(stats, "revoked") + (open ? 1 : 0))
        << "acquired = released + stolen + revoked + open";
    // A release that was answered, at the latest after a retry, leaves the lock free.
    if (case_.verb == RedisVerb::release && case_.numbers.contains(kEvery)) return;
    EXPECT_FALSE(open);
    EXPECT_EQ(sum(stats, "runs_lost"), case_.exit_code == kLost ? 1 : 0);
    EXPECT_EQ(sum(stats, "runs_failed"), case_.exit_code == kOwnCode ? 1 : 0);
  }

  Case case_;
  RedisClient redis_;
  std::string redis_url_;  // past the proxy
  std::string prefix_;
  ScratchDir dir_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Program> program_;
};

struct NamedVerb {
  const char* name;
  RedisVerb verb;
};
void PrintTo(const NamedVerb& verb, std::ostream* out) { *out << verb.name; }

class StoreFaults : public ::testing::TestWithParam<NamedVerb> {
 protected:
  StoreFaults() {
    // So that no first request of a verb is answered by NOSCRIPT.
    for (const scripts::Script& script : {scripts::acquire, scripts::renew, scripts::release})
      EXPECT_FALSE(
          redis_command(redis->port(), {"SCRIPT", "LOAD", std::string(script.text)}).is_error());
  }

  // All at once: they wait much more than they compute.
  void judge(const std::vector<Case>& cases) const {
    std::vector<std::unique_ptr<Trial>> trials;
    for (const Case& c : cases)
      trials.push_back(std::make_unique<Trial>(*redis, c, static_cast<int>(trials.size())));
    for (const auto& trial : trials) trial->judge();
  }

  std::unique_ptr<RedisServer> redis = RedisServer::start();
};

// What the program does when its requests number `numbers` of `verb` are struck: a run that was not
// granted anything in time has not started its command, any other has run it to its end.
int expected_code(RedisVerb verb, FaultKind kind) {
  return is_before_start(verb) && is_silent(kind) ? kStoreDown : kOwnCode;
}

// Another request of the verb follows one that was struck.
bool is_repeated(RedisVerb verb, FaultKind kind) {
  if (verb == RedisVerb::index) return false;
  if (kind == FaultKind::reply_duplicated)
    return verb != RedisVerb::acquire && verb != RedisVerb::release;
  return !is_before_start(verb) || !is_silent(kind);
}

TEST_P(StoreFaults, InTheKthOfAVerbLeaveExitCodeOutcomeAndCountersTrue) {
  const RedisVerb verb = GetParam().verb;
  std::vector<Case> cases;
  for (const FaultKind kind : kKinds)
    for (int k = 1; k <= up_to_k(); ++k) {
      // A second release follows only a first one that was struck; a lock is new once.
      if ((verb == RedisVerb::release || verb == RedisVerb::index) && k > 1) break;
      Case c{.verb = verb, .kind = kind, .numbers = {k}, .exit_code = expected_code(verb, kind)};
      c.waits = is_before_start(verb) && k > 1;
      cases.push_back(c);
    }
  for (const FaultKind kind : kKinds)
    for (int k = 2; k <= 3 && is_repeated(verb, kind); ++k)
      cases.push_back({.verb = verb,
                       .kind = kind,
                       .numbers = one_to(k),
                       .exit_code = expected_code(verb, kind)});
  judge(cases);
}

TEST_P(StoreFaults, InEachOfAVerbLeaveExitCodeOutcomeAndCountersTrue) {
  const RedisVerb verb = GetParam().verb;
  std::vector<Case> cases;
  for (const FaultKind kind : kKinds) {
    Case c{.verb = verb, .kind = kind, .numbers = one_to(Trial::kEvery)};
    const bool is_answered = kind == FaultKind::reply_duplicated;
    if (verb == RedisVerb::renew && !is_answered) c.exit_code = kLost;
    // The second HELLO is taken for the answer to TIME, and the like; acquire takes the first.
    if (is_before_start(verb) && !(is_answered && verb == RedisVerb::acquire))
      c.exit_code = kStoreDown;
    cases.push_back(c);
  }
  judge(cases);
}

// A run of an attempt group that was granted once waits, and its wait must not end like a skip.
class GroupWaiter : public GatedByRedis, public ::testing::WithParamInterface<FaultKind> {
 protected:
  static bool is_last_question(const Fault::Request& request) {
    return verb_of(request) == RedisVerb::acquire &&
           std::find(request.begin(), request.end(), "timed_out") != request.end();
  }
};

TEST_P(GroupWaiter, WhoseLastReplyIsLostEndsWith75AndNotLikeASkip) {
  const FaultKind kind = GetParam();
  // Given: the group was granted once, and another run holds the lock
  Program first(run({"--attempt-group", "group", "--ttl", "6s"}, {"exit", "1"}));
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  Program holder(run({"--ttl", "6s"}, {"say", "up", "forever"}));
  ASSERT_TRUE(holder.says("up")) << holder.err();
  FaultProxy proxy(
      redis->port(),
      {.kind = kind, .concerns = is_last_question, .delay = kConnectTimeout + milliseconds(300)});
  store = proxy.url();
  // When
  Program waiter(
      run({"--attempt-group", "group", "--ttl", "6s", "--wait-timeout", "1s", "--connect-timeout",
           option_of(kConnectTimeout), "--outcome-file", dir.path("outcome")},
          {"touch", dir.path("started")}));
  const auto code = waiter.exit_code();
  // Then
  EXPECT_EQ(proxy.struck(), 1);
  if (is_silent(kind))
    EXPECT_THAT(code, ::testing::AnyOf(kTryLater, kStoreDown)) << waiter.err();
  else
    EXPECT_EQ(code, kTryLater) << waiter.err();
  EXPECT_THAT(read_file(dir.path("outcome")),
              HasSubstr("\"exit_code\":" + std::to_string(code.value_or(-1))));
  EXPECT_FALSE(exists(dir.path("started")));
}

INSTANTIATE_TEST_SUITE_P(Fault, GroupWaiter, ::testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(name_of(test.param)); });

INSTANTIATE_TEST_SUITE_P(Verb, StoreFaults,
                         ::testing::Values(NamedVerb{"hello", RedisVerb::hello},
                                           NamedVerb{"time", RedisVerb::time},
                                           NamedVerb{"acquire", RedisVerb::acquire},
                                           NamedVerb{"renew", RedisVerb::renew},
                                           NamedVerb{"release", RedisVerb::release},
                                           NamedVerb{"index", RedisVerb::index}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cronlatch::testing
