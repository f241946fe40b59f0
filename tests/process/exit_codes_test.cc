// SPDX-License-Identifier: Apache-2.0
// The exit status: the command's own, 128+n for a signal, 126 and 127; and an end that leaves
// nothing held.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <memory>

#include "gated.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class ExitCodes : public Gated {};

TEST_F(ExitCodes, OfTheCommandArePassedThroughAll256) {
  for (int code = 0; code <= 255; ++code) {
    // Given
    Program program(run({}, {"exit", std::to_string(code)}));
    // When
    const auto got = program.exit_code();
    // Then
    EXPECT_EQ(got, code) << program.err();
  }
}

TEST_F(ExitCodes, OfACommandEndedBySignalNAre128PlusN) {
  for (int signo = 1; signo <= 64; ++signo) {
    const bool deadly = signo != SIGCHLD && signo != SIGCONT && signo != SIGURG &&
                        signo != SIGWINCH && signo != SIGSTOP && signo != SIGTSTP &&
                        signo != SIGTTIN && signo != SIGTTOU;
    if (!deadly) continue;
    // Given
    Program program(run({}, {"die", std::to_string(signo)}));
    // When
    const auto got = program.exit_code();
    // Then
    EXPECT_EQ(got, 128 + signo) << program.err();
  }
}

TEST_F(ExitCodes, Is137WhenTheCommandIsKilledByOthers) {
  // Given
  Program program(run({}, {"ids", "forever"}));
  ASSERT_TRUE(program.says("ids"));
  // When
  ::kill(program.pid_after("ids pid="), SIGKILL);
  // Then
  EXPECT_EQ(program.exit_code(), 137);
  EXPECT_TRUE(lock_is_free());
}

TEST_F(ExitCodes, Are127And126WithAReasonAndNothingStaysHeld) {
  // Given
  const std::string no_mode = dir.path("no-mode"), no_loader = dir.path("no-loader");
  touch(no_mode);
  std::ofstream(no_loader) << "#!/no/such/interpreter\n";
  ::chmod(no_loader.c_str(), 0755);
  const Words prefix = {binary(), "run", "--lock", "job", "--store", store, "--"};
  const auto with = [&prefix](const std::string& command) {
    Words words = prefix;
    words.push_back(command);
    return ProgramSpec{.argv = words};
  };
  // When
  Program missing(with("no-such-command")), denied(with(no_mode)), interpreter(with(no_loader));
  // Then
  EXPECT_EQ(missing.exit_code(), 127);
  EXPECT_THAT(missing.err(), HasSubstr("no-such-command"));
  EXPECT_EQ(denied.exit_code(), 126);
  EXPECT_THAT(denied.err(), HasSubstr(no_mode));
  EXPECT_EQ(interpreter.exit_code(), 127);
  EXPECT_THAT(interpreter.err(), HasSubstr("interpreter"));
  EXPECT_TRUE(lock_is_free());
}

TEST_F(ExitCodes, OnANoexecMountIs126AndTheMountIsNamed) {
  // Given
  const std::string mount = dir.path("mount");
  std::filesystem::create_directory(mount);
  const Words mounted = {"/usr/bin/unshare",
                         "-m",
                         "/bin/sh",
                         "-c",
                         "mount -t tmpfs -o noexec none " + mount + " && mkdir " + mount +
                             "/bin && cp /bin/true " + mount + "/bin/job && exec \"$@\"",
                         "sh"};
  Words trial = mounted;
  trial.push_back("/bin/true");
  if (Program({.argv = trial}).exit_code() != 0) GTEST_SKIP() << "NOT TESTED: not permitted here";
  const auto with = [&](const std::string& command, const std::string& path) {
    ProgramSpec spec{.argv = mounted, .env = {"PATH=" + path}};
    for (const std::string& word :
         Words{binary(), "run", "--lock", "job", "--store", store, "--", command})
      spec.argv.push_back(word);
    return spec;
  };
  // When
  Program by_path(with(mount + "/bin/job", "/usr/bin:/bin"));
  Program searched(with("job", "/usr/bin:/bin:" + mount + "/bin"));
  // Then
  for (Program* program : {&by_path, &searched}) {
    EXPECT_EQ(program->exit_code(), 126);
    EXPECT_THAT(program->err(), HasSubstr("is on " + mount + ", which is mounted noexec"));
    EXPECT_THAT(program->err(), ::testing::Not(HasSubstr("chmod")));
  }
}

TEST_F(ExitCodes, AreReturnedThoughTheOutcomeFileIsAFullFifo) {
  // Given: a reader that does not read
  const std::string fifo = dir.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  for (const std::string block(4'096, 'x'); ::write(reader, block.data(), block.size()) > 0;) {
  }
  // When
  Program program(run({"--outcome-file", fifo}, {"exit", "7"}));
  // Then
  EXPECT_EQ(program.exit_code(), 7) << program.err();
  EXPECT_THAT(program.err(), HasSubstr(fifo));
  EXPECT_TRUE(lock_is_free());
  ::close(reader);
}

class FewDescriptors : public GatedByRedis {
 protected:
  // From the smallest limit on, each run ends with a message that names the limit and starts
  // nothing, until the limit is large enough.
  void names_the_limit(const std::string& url, const Words& options) {
    constexpr int kSmallest = 5, kLargest = 16;
    std::map<int, std::unique_ptr<Program>> programs;
    const auto started = [this](int limit) { return dir.path("started" + std::to_string(limit)); };
    for (int limit = kSmallest; limit <= kLargest; ++limit) {
      const std::string number = std::to_string(limit);
      Words argv = {"/bin/sh", "-c", "ulimit -n " + number + " && exec \"$@\"", "sh"};
      argv.insert(argv.end(), {binary(), "run", "--lock", "job" + number, "--store", url});
      argv.insert(argv.end(), options.begin(), options.end());
      argv.insert(argv.end(), {"--", talking_child(), "touch", started(limit), "exit", "0"});
      programs[limit] = std::make_unique<Program>(ProgramSpec{.argv = argv});
    }
    bool succeeded = false;
    for (const auto& [limit, program] : programs) {
      succeeded = program->exit_code() == 0;
      EXPECT_EQ(exists(started(limit)), succeeded) << limit;
      if (succeeded) continue;
      EXPECT_THAT(program->err(), HasSubstr("Too many open files")) << limit;
      EXPECT_THAT(program->err(), HasSubstr("RLIMIT_NOFILE")) << limit;
    }
    EXPECT_NE(programs[kSmallest]->exit_code(), 0) << "the smallest limit is not too small";
    EXPECT_TRUE(succeeded) << "the largest limit is too small";
  }
};

TEST_F(FewDescriptors, AreNamedWhereANameIsLookedUp) {
  names_the_limit("redis://localhost:" + std::to_string(redis->port()), {});
}

TEST_F(FewDescriptors, AreNamedWhereCertificatesAreRead) {
  NEEDS_TLS_SERVER();
  const Certificates certificates;
  const auto tls = RedisServer::start_tls(certificates);
  names_the_limit("rediss://localhost:" + std::to_string(tls->tls_port()),
                  {"--tls-ca", certificates.ca()});
}

TEST_F(FewDescriptors, AreNamedWhereTheStoreIsADirectory) {
  names_the_limit("file://" + dir.path("locks"), {});
}

}  // namespace
}  // namespace cronlatch::testing
