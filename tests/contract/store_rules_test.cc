// SPDX-License-Identifier: Apache-2.0
// The contract of every store with leases: random requests get the replies of the rules, and count
// what the rules count. No request depends on the time that passes during the test, which differs
// on the server: leases are long, and nothing waits or closes the lock. Those rules are compared by
// tests/scripts/property_test.cc, with the exact time of the server. quorum_rules_test.cc and
// file_rules_test.cc compare the stores that do not decide every request as one server does.
#include <random>

#include "contract/reply_words.h"
#include "contract/store_contract.h"
#include "scripts/random_requests.h"
#include "store/memory/memory_store.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

class RandomSteps {
 public:
  explicit RandomSteps(std::uint64_t seed) : dice_(seed) {}

  Request next() {
    record_ = rules_.record(kLock);
    Request request = requests_.any();
    std::visit([](auto& verb) { verb.give_up = boot_now() + kPatience; }, request);
    if (auto* acquire = std::get_if<Acquire>(&request)) {
      if (acquire->if_busy == IfBusy::wait) acquire->if_busy = IfBusy::skip;
      acquire->min_hold = {};
    } else if (auto* release = std::get_if<Release>(&request)) {
      release->min_hold = {};
    }
    return request;
  }
  // What the rules answer. A grant of the store contains its time: the fence is the microsecond.
  Reply wanted(const Request& request, const std::optional<Reply>& reply) {
    const auto* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
    const auto us = granted != nullptr ? static_cast<std::int64_t>(granted->fence) : wall_now().us;
    now_.us = std::max(now_.us, us);
    return rules_.execute(request, now_ + Seconds(10));
  }
  LockView view() const { return rules_.show(kLock); }

 private:
  static constexpr const char* kLock = "shop/report";  // that of program()

  Dice dice_;
  ServerTime now_{};
  MemoryServer rules_{[this] { return now_; }};
  rules::Record record_;
  RandomRequests requests_{dice_, record_, kLock, Seconds(100), true};
};

TEST_P(StoreContract, DecidesRandomRequestsAsTheRules) {
  ONLY_LEASED();
  if (GetParam().name == "Memory") GTEST_SKIP() << "it is the rules, with a time of its own";
  if (GetParam().name == "Quorum") GTEST_SKIP() << "quorum_rules_test.cc has its differences";
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const int steps = is_long_run() ? 100'000 : 1'000;
  RandomSteps random(seed);
  auto one = program("unused");
  std::map<std::string, int> occurred;
  for (int i = 0; i < steps; ++i) {
    const Request request = random.next();
    const std::optional<Reply> reply = one(request);
    const std::string text = text_of(reply);
    ASSERT_EQ(text, text_of(random.wanted(request, reply))) << "step " << i;
    ++occurred[first_word(text)];
    if (i % 50 == 0) {
      ASSERT_EQ(text_of(one.show()), text_of(random.view())) << "step " << i;
    }
  }
  for (const char* each : {"granted", "busy", "renewed", "not", "released", "closed"})
    EXPECT_GT(occurred[each], 0) << each;
}

}  // namespace
}  // namespace cronlatch::testing
