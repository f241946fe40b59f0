// SPDX-License-Identifier: Apache-2.0
// Negative controls: each defect violates a rule. `expected` are the possible beginnings of the
// report: the seed decides which of the rules finds the defect first.
#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "model/search/search.h"

namespace cronlatch::model {
namespace {

struct Control {
  const char* name;
  Defect defect;
  std::vector<const char*> expected;
};

void PrintTo(const Control& control, std::ostream* out) { *out << control.name; }

class Controls : public ::testing::TestWithParam<Control> {};

TEST_P(Controls, IsFound) {
  const Control& control = GetParam();
  const Found found = search({.first = 0, .count = 20'000}, control.defect,
                             std::max(2u, std::thread::hardware_concurrency()));
  std::printf("%llu schedules, seed %llu: %s\n", static_cast<unsigned long long>(found.schedules),
              static_cast<unsigned long long>(found.seed), found.violation.c_str());
  // The report begins with the number of the run.
  const std::size_t at = found.violation.find(": ");
  ASSERT_NE(at, std::string::npos) << "no violation";
  const std::string report = found.violation.substr(at + 2);
  EXPECT_TRUE(std::any_of(control.expected.begin(), control.expected.end(), [&](const char* start) {
    return report.starts_with(start);
  })) << report;
}

INSTANTIATE_TEST_SUITE_P(
    Model, Controls,
    ::testing::Values(
        Control{"ALeaseWithoutMargin", Defect::no_margin, {"D:", "S1:"}},
        Control{
            "ALeaseThatStartsAtTheReply", Defect::dated_at_reply, {"D:", "on-lost:", "exit code"}},
        Control{"ARunThatIgnoresALoss", Defect::ignores_loss, {"on-lost:"}},
        Control{"AReleaseOverLivingProcesses", Defect::ignores_leftovers, {"S5:"}},
        Control{"TermThatIsSwallowed", Defect::swallows_term, {"signals:"}},
        Control{"MaxRunWithoutKill", Defect::max_run_never_kills, {"max-run:"}},
        Control{"OnLostTermThatKills", Defect::kills_with_term, {"on-lost:"}},
        Control{"ALostRunThatExitsZero", Defect::lost_exits_zero, {"exit code 0"}},
        Control{"AWindowThatAnswersDoNotRenew", Defect::window_from_begin, {"L1: gives up"}},
        Control{"ASecondWindow", Defect::second_window, {"L1: is not decided"}},
        Control{"AMarkThatIsGivenUp", Defect::mark_given_up, {"R4:"}},
        Control{"AMarkOfAFailure", Defect::marks_failure, {"R4: marks"}},
        Control{"ACertificateThatEndsTheWait", Defect::tls_ends_waiting, {"exit code 77"}},
        Control{"CredentialsThatAreReadOnce", Defect::credentials_once, {"credentials:"}},
        Control{"AStoreThatExecutesLateRequests", Defect::executes_late, {"G5:"}},
        Control{"AReleaseWithoutOwnerCheck", Defect::releases_any_owner, {"S3:"}},
        Control{"ARenewalWithoutOwnerCheck", Defect::renews_any_owner, {"N1:"}},
        Control{"AnOlderRecordThatAnswersTaken", Defect::older_record_taken, {"N3:"}},
        Control{"ARepeatedAnswerWithoutTheGroup", Defect::forgets_group_in_reply, {"L5:"}},
        Control{"ARetryThatSkipsAfterItsWait", Defect::skips_after_wait, {"L5:", "exit code 0"}},
        Control{"AnUngatedRunWhoseGroupIsForgotten", Defect::forgets_ungated_group, {"L5:"}},
        Control{"ALeaseThatABackwardStepExtends", Defect::no_clamp, {"L2:"}},
        Control{"AMinHoldThatEndsWithACrash", Defect::no_min_hold_of_crash, {"L0: granted"}},
        Control{"ARevocationThatKeepsTheMinHold", Defect::revoke_keeps_min_hold, {"L0:"}},
        Control{"ADoneIdentityThatIsGranted", Defect::grants_done, {"K3:"}},
        Control{"ALateRequestThatReleasesItsGrant",
                Defect::releases_done_grant,
                {"AQ1:", "L0:", "S1:"}},
        Control{"AFreeLockForTheFirstRequest", Defect::no_queue, {"AQ6:", "Q2:"}},
        Control{"AWaiterThatPassesOthers", Defect::any_waiter_first, {"Q2:"}},
        Control{"AReservationThatNeverEnds", Defect::endless_reservation, {"L4:"}},
        Control{"OneHolderTooMany", Defect::one_holder_too_many, {"AQ1:", "S1:"}},
        Control{"AnIdentityInTwoSlots", Defect::identity_in_two_slots, {"K2:"}},
        Control{"AFenceAboveThatOfItsSlotOnly", Defect::fence_of_slot, {"S2:"}},
        Control{"ARunThatSetsNoKillTime", Defect::no_kill_time, {"D:", "S1:"}},
        Control{"AGuardianThatIgnoresDeath", Defect::guardian_ignores_death, {"guardian:", "D:"}},
        Control{"AGuardianThatIgnoresAStop", Defect::guardian_ignores_stop, {"D:", "S1:"}},
        Control{"AGuardianThatKillsTheMainProcessOnly",
                Defect::guardian_kills_main_only,
                {"guardian:", "D:"}}),
    [](const ::testing::TestParamInfo<Control>& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cronlatch::model
