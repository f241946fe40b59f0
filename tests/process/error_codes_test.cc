// SPDX-License-Identifier: Apache-2.0
// The exit codes of the released program for each error that a store of several servers, or the
// file store, can return before the command starts. tests/contract and tests/unit/store/file have
// the same cases for every verb.
#include <fcntl.h>
#include <sys/file.h>

#include "contract/cluster_error_cases.h"
#include "contract/quorum_error_cases.h"
#include "contract/sentinel_error_cases.h"
#include "gated.h"
#include "support/trials.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

std::string outcome_of(Code code) {
  if (code == Code::unreachable) return R"("outcome":"store_down","reason":"unreachable")";
  const char* const reason = code == Code::auth ? "auth" : code == Code::acl ? "acl" : "config";
  return std::string(R"("outcome":"refused","reason":")") + reason + '"';
}

// One run that is not granted the lock, because its store returns an error.
class ErrorTrial {
 public:
  ErrorTrial(const ErrorCase& error_case, std::unique_ptr<ErrorServers> servers)
      : case_(error_case), servers_(std::move(servers)) {
    ProgramSpec spec;
    spec.argv = {binary(), "run", "--lock", "job", "--connect-timeout", "700ms"};
    for (const Words& part :
         {Words{"--store", servers_->url()}, Words{"--outcome-file", dir_.path("outcome")},
          Words{"--", talking_child(), "to", dir_.path("told")},
          Words{"say", "started", "exit", "0"}})
      spec.argv.insert(spec.argv.end(), part.begin(), part.end());
    run_ = std::make_unique<Program>(spec);
  }
  void judge() {
    SCOPED_TRACE(case_.name);
    EXPECT_EQ(run_->exit_code(), case_.exit_code) << run_->err();
    EXPECT_THAT(run_->err(), HasSubstr(case_.text));
    EXPECT_FALSE(exists(dir_.path("told"))) << "the command was started";
    EXPECT_THAT(read_file(dir_.path("outcome")), HasSubstr(outcome_of(case_.code)));
  }

 private:
  ErrorCase case_;
  std::unique_ptr<ErrorServers> servers_;
  ScratchDir dir_;
  std::unique_ptr<Program> run_;
};

template <class Servers>
void expect_exit_codes(const std::vector<ErrorCase>& cases) {
  Trials<ErrorTrial> trials(20);
  for (const ErrorCase& each : cases) trials.start(each, std::make_unique<Servers>(each.servers));
  trials.judge_rest();
}

TEST(ErrorCodes, OfSentinelsAreListed) {
  expect_exit_codes<SentinelServers>(sentinel_error_cases());
}

TEST(ErrorCodes, OfAClusterAreListed) { expect_exit_codes<ClusterServers>(cluster_error_cases()); }

// A server that has just been started does not grant a lock by itself, so that two errors and one
// such server are three errors.
TEST(ErrorCodes, OfAQuorumAreListed) {
  std::vector<ErrorCase> cases = quorum_error_cases();
  std::erase_if(cases, [](const ErrorCase& each) {
    return std::any_of(each.servers.begin(), each.servers.end(),
                       [](const auto& script) { return !script; });
  });
  ASSERT_GT(cases.size(), 10u);
  expect_exit_codes<QuorumServers>(cases);
}

// ---- the file store ----

class FileErrorCodes : public Gated {
 protected:
  void expect_exit(int code, const std::string& text) {
    Program refused(run({"--connect-timeout", "500ms"}, {"touch", file()}));
    EXPECT_EQ(refused.exit_code(), code) << refused.err();
    EXPECT_THAT(refused.err(), HasSubstr(text));
    EXPECT_FALSE(exists(file()));
  }
  std::string locks(const std::string& name) const { return dir.path("locks/" + name); }
};

TEST_F(FileErrorCodes, OfWhatTheUserMustRepairIs78) {
  ASSERT_TRUE(lock_is_free());
  std::ofstream(locks("job.rec")) << "1234\n";
  expect_exit(kExitConfig, "is damaged");
  std::remove(locks("job.rec").c_str());
  std::remove(locks("job.lock").c_str());
  ASSERT_EQ(symlink("/dev/null", locks("job.lock").c_str()), 0);
  expect_exit(kExitConfig, "symbolic links");
  store = "file://" + dir.path("file");
  touch(dir.path("file"));
  expect_exit(kExitConfig, "is not a directory");
}

TEST_F(FileErrorCodes, OfWhatCanPassIs69) {
  ASSERT_TRUE(lock_is_free());
  const int mutex = open(locks("job.mutex").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(mutex, LOCK_EX | LOCK_NB), 0);
  expect_exit(kExitDown, "locked by other processes until the deadline");
  close(mutex);
  EXPECT_TRUE(lock_is_free());
}

}  // namespace
}  // namespace cronlatch::testing
