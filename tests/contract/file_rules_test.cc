// SPDX-License-Identifier: Apache-2.0
// The file store: random requests of several programs get the replies of the rules (file_rules.h),
// with the exact time, and count what the rules count. Programs end without a release, records are
// lost, and the clock steps.
#include <array>

#include "contract/file_rules.h"
#include "contract/reply_words.h"
#include "scripts/random_requests.h"
#include "store/file/file_store.h"
#include "support/long_tests.h"
#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

constexpr std::size_t kPrograms = 4;

std::string with_times(const Reply& reply) {
  const auto* busy = std::get_if<Busy>(&reply);
  return text_of(reply) + (busy == nullptr
                               ? ""
                               : ", held for " + std::to_string(busy->held_for.count()) +
                                     " us, for another " + std::to_string(busy->remaining.count()));
}

class FileWalk {
 public:
  explicit FileWalk(std::uint64_t seed) : dice_(seed) {
    for (auto& program : programs_) program = world_.open();
  }
  std::map<std::string, int> occurred;

  void step() {
    move_time();
    if (dice_.one_in(20)) end_a_program();
    if (dice_.one_in(200)) lose_the_record();
    if (dice_.one_in(20)) return compare_revoke();
    compare_request();
    if (dice_.one_in(10)) {
      EXPECT_EQ(shown(), text_of(rules_.view(kLock)));
    }
  }

 private:
  static constexpr const char* kLock = "a/b";

  void move_time() {
    const Micros to_end = rules_.record().expires - world_.now;
    switch (dice_.below(10)) {
      case 0:
        return world_.pass(Millis(dice_.below(60'000)));
      case 1:
        if (to_end > 0us) world_.now = world_.now + to_end - dice_.of<Micros>({0us, 1us});
        return;
      case 2:
        if (dice_.one_in(8)) world_.pass(10min);
        return;
      case 3:
        if (dice_.one_in(40)) world_.pass(std::chrono::hours(24));
        return;
      case 4:
        if (dice_.one_in(20)) world_.pass(-Millis(dice_.below(4'000'000)));
        return;
      default:
        return world_.pass(Millis(dice_.below(8'000)));
    }
  }
  // Its descriptors are closed, as those of a killed process.
  void end_a_program() {
    const auto holder = rules_.holder();
    const std::size_t program = holder && dice_.one_in(2) ? *holder : dice_.below(kPrograms);
    if (holder == program) ++occurred["ended"];
    programs_[program] = world_.open();
    rules_.end_program(program);
  }
  void lose_the_record() {
    unlink((world_.path() + "/a+b.rec").c_str());
    rules_.lose_record();
  }
  // A claim is mostly that of one program.
  std::size_t program_of(const Request& request) {
    if (dice_.one_in(8)) return dice_.below(kPrograms);
    const std::string& owner = std::visit(
        [](const auto& verb) -> const std::string& { return verb.claim.owner; }, request);
    return static_cast<std::size_t>(owner.empty() ? 0 : owner[0]) % kPrograms;
  }
  void compare_request() {
    Request request = requests_.any();
    if (std::visit([](const auto& verb) { return verb.claim.owner.empty(); }, request)) return;
    const bool is_late = dice_.one_in(50);
    std::visit(
        [&](auto& verb) { verb.give_up = boot_now() + (is_late ? -Millis(1'000) : kPatience); },
        request);
    const std::size_t program = program_of(request);
    std::optional<Reply> reply = send_and_wait(*programs_[program], request);
    ASSERT_TRUE(reply);
    if (auto* granted = std::get_if<Granted>(&*reply)) granted->sent_at = {};
    if (auto* renewed = std::get_if<Renewed>(&*reply)) renewed->sent_at = {};
    const Reply wanted = rules_.execute(program, request, is_late);
    // All of the reply, also its times.
    EXPECT_EQ(*reply, wanted) << "file: " << with_times(*reply)
                              << "\nrules: " << with_times(wanted);
    ++occurred[first_word(text_of(reply))];
    if (const auto* granted = std::get_if<Granted>(&*reply); granted && granted->stole)
      ++occurred["stole"];
  }
  void compare_revoke() {
    const auto revoked = programs_[dice_.below(kPrograms)]->revoke(kLock, boot_now() + kPatience);
    if (rules_.is_locked()) {
      ASSERT_FALSE(revoked.ok());
      EXPECT_EQ(revoked.error().code, Code::usage) << revoked.error().message;
      return;
    }
    ASSERT_TRUE(revoked.ok()) << revoked.error().message;
    EXPECT_EQ(text_of(*revoked), text_of(rules_.revoke()));
    ++occurred[first_word(text_of(*revoked))];
  }
  std::string shown() {
    const auto view = programs_[dice_.below(kPrograms)]->show(kLock, boot_now() + kPatience);
    return view ? text_of(*view) : view.error().message;
  }

  FileWorld world_;
  Dice dice_;
  FileRules rules_{world_.now};
  RandomRequests requests_{dice_, rules_.record(), kLock, Seconds(1), false};
  std::array<std::unique_ptr<Backend>, kPrograms> programs_;
};

TEST(FileStoreRules, DecideRandomRequests) {
  const auto seed = from_environment("CRONLATCH_SEED", std::random_device{}());
  SCOPED_TRACE("seed " + std::to_string(seed));
  FileWalk walk(seed);
  const int steps = is_long_run() ? 100'000 : 5'000;
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    walk.step();
  }
  for (const char* each : {"granted", "stole", "busy", "renewed", "not", "released", "closed",
                           "too", "opened", "nothing", "ended"})
    EXPECT_GT(walk.occurred[each], 0) << each;
}

}  // namespace
}  // namespace cronlatch::testing
