// SPDX-License-Identifier: Apache-2.0
// The store with a quorum: random requests get the replies of the rules, and each server counts
// what the rules count. Leases end and locks close, because the clocks of the servers step. What
// differs from one server:
//   - the fence of a grant is the highest that a server gave. It is above each earlier fence, and
//     each server has it;
//   - a run that waits keeps no place;
//   - the servers have the attempts of the run times 64.
// A server that is late gets no confirmation of a grant. The walk then goes on with another lock.
#include "contract/redis_support.h"
#include "contract/reply_words.h"
#include "scripts/random_requests.h"
#include "store/quorum/quorum_store.h"
#include "support/long_tests.h"
#include "support/quorum_group.h"

namespace cronlatch::testing {
namespace {

constexpr int kMaxTtl = 1;            // seconds
constexpr Seconds kUnit{100};         // much longer than a walk
constexpr int kStepsOfALock = 1'000;  // few enough that no key expires
constexpr Millis kGrace{150};         // less than a server may be late

class QuorumWalk {
 public:
  // The servers are those of the group; `down` of them are stopped.
  QuorumWalk(std::uint64_t seed, std::size_t servers, std::size_t down)
      : dice_(seed), group_(servers, /*has_clock=*/true) {
    EXPECT_TRUE(group_.run_for(kMaxTtl));
    for (std::size_t i = 0; i < down; ++i) group_[2 * i].kill_now();
    start_with_new_lock();
  }
  std::map<std::string, int> occurred;

  void step() {
    if (++steps_ > kStepsOfALock) start_with_new_lock();
    if (dice_.one_in(10)) step_clocks();
    const TimePoint start = boot_now();
    if (dice_.one_in(20))
      compare_revoke();
    else
      compare_request();
    if (boot_now() - start >= kGrace) {
      ++occurred["late"];
      start_with_new_lock();
    } else if (dice_.one_in(50)) {
      compare_views();
    }
  }

 private:
  StoreSpec spec(const std::string& url) const {
    StoreSpec spec = spec_of(url);
    spec.max_ttl = Seconds(kMaxTtl);
    return spec;
  }
  void open() {
    run_.emplace(spec(group_.url()));
    servers_.clear();
    for (std::size_t i = 0; i < group_.size(); ++i)
      if (group_[i].pid() != 0) servers_.emplace_back(spec(plain_url(group_[i])));
  }
  void start_with_new_lock() {
    requests_.lock = "lock-" + std::to_string(++locks_);
    requests_.calls = 0;
    record_ = {};
    steps_ = 0;
    open();
  }
  // A connection knows the clock of its server, so the program connects again. Not before the last
  // server has executed the last request: a renewal is decided by the first two.
  void step_clocks() {
    run_->program.show(requests_.lock);
    const Micros by = kUnit * dice_.of({1, 6, 40, 700});
    for (std::size_t i = 0; i < group_.size(); ++i) group_[i].step_clock(by.count());
    stepped_ += by;
    open();
  }
  // The servers read their clocks before this.
  ServerTime now_after(const std::optional<Reply>& reply) {
    const auto* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
    // A new grant contains its time: the fence is the microsecond.
    const bool is_new = granted != nullptr && granted->fence > record_.fence;
    const std::int64_t us = is_new ? static_cast<std::int64_t>(granted->fence)
                                   : (ServerTime{wall_now().us} + stepped_).us;
    now_.us = std::max(now_.us, us);
    return now_;
  }

  void compare_request() {
    Request request = requests_.any();
    if (std::visit([](const auto& verb) { return verb.claim.owner.empty(); }, request)) return;
    std::visit([](auto& verb) { verb.give_up = boot_now() + kPatience; }, request);
    const Fence before = record_.fence;
    const std::optional<Reply> reply = (*run_)(request);
    const ServerTime now = now_after(reply);
    const bool was_held = record_.state == rules::HoldState::held;
    const std::string owner = record_.claim.owner;
    const Reply wanted = std::visit([&](const auto& verb) { return decide(verb, now); }, request);
    ASSERT_EQ(text_of(reply), text_of(wanted)) << describe(request) << " of fence " << before;
    ++occurred[first_word(text_of(reply))];
    const auto* granted = std::get_if<Granted>(&*reply);
    if (granted == nullptr) return;
    if (granted->stole) ++occurred["stole"];
    // Without the rules: a new grant has a higher fence, a repeated one the same.
    const bool is_repeated = was_held && owner == record_.claim.owner && granted->fence == before;
    EXPECT_TRUE(is_repeated || granted->fence > before) << granted->fence << " after " << before;
  }
  static std::string describe(const Request& request) {
    const auto* renew = std::get_if<Renew>(&request);
    const auto* release = std::get_if<Release>(&request);
    return renew != nullptr     ? "renewal with fence " + std::to_string(renew->fence)
           : release != nullptr ? "release with fence " + std::to_string(release->fence)
                                : "acquire";
  }
  Reply decide(const Acquire& acquire, ServerTime now) {
    return rules::decide(record_, acquire, now, now + kPatience, rules::Expiry::lease,
                         rules::Waiting::unordered);
  }
  Reply decide(const Renew& renew, ServerTime now) {
    return rules::decide(record_, renew, now, now + kPatience);
  }
  Reply decide(const Release& release, ServerTime now) {
    return rules::decide(record_, release, now, now + kPatience, rules::Waiting::unordered);
  }
  void compare_revoke() {
    const auto revoked = run_->program.backend().revoke(requests_.lock, boot_now() + kPatience);
    ASSERT_TRUE(revoked.ok()) << revoked.error().message;
    const ServerTime now = now_after(std::nullopt);
    EXPECT_EQ(text_of(*revoked), text_of(rules::revoke(record_, now)));
    ++occurred[first_word(text_of(*revoked))];
  }
  // The quorum, and each server that is not stopped.
  void compare_views() {
    const ServerTime now = now_after(std::nullopt);
    const std::string wanted = text_of(rules::view(requests_.lock, record_, now));
    EXPECT_EQ(text_of(run_->program.show(requests_.lock)), wanted);
    for (RedisProgram& server : servers_) {
      LockView view = server.program.show(requests_.lock);
      EXPECT_EQ(view.attempt % quorum::QuorumStore::kRounds, 0u);
      view.attempt /= quorum::QuorumStore::kRounds;
      EXPECT_EQ(text_of(view), wanted) << "of one server";
    }
    ++occurred["compared"];
  }

  Dice dice_;
  QuorumGroup group_;
  std::optional<RedisProgram> run_;
  std::deque<RedisProgram> servers_;
  rules::Record record_;
  RandomRequests requests_{dice_, record_, "", kUnit, true};
  ServerTime now_{};
  Micros stepped_{0};
  int locks_ = 0, steps_ = 0;
};

struct Servers {
  const char* name;
  std::size_t all, down;
};

class QuorumStoreRules : public ::testing::TestWithParam<Servers> {};

TEST_P(QuorumStoreRules, DecideRandomRequests) {
  const auto seed = from_environment("CRONLATCH_SEED", std::random_device{}());
  SCOPED_TRACE("seed " + std::to_string(seed));
  QuorumWalk walk(seed, GetParam().all, GetParam().down);
  const int steps = is_long_run() ? 50'000 : 1'000;  // on each number of servers
  for (int i = 0; i < steps && !HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    walk.step();
  }
  for (const char* each : {"granted", "stole", "busy", "renewed", "not", "released", "closed",
                           "revoked", "opened", "nothing", "compared"})
    EXPECT_GT(walk.occurred[each], 0) << each;
  EXPECT_LT(walk.occurred["late"], steps / 20) << "a server is late only by chance";
}

INSTANTIATE_TEST_SUITE_P(All, QuorumStoreRules,
                         ::testing::Values(Servers{"Three", 3, 0}, Servers{"ThreeOfFive", 5, 2}),
                         [](const auto& servers) { return std::string(servers.param.name); });

}  // namespace
}  // namespace cronlatch::testing
