// SPDX-License-Identifier: Apache-2.0
// The exit codes of the released program when the server returns an error for one verb, for one
// class of each exit code (error_matrix_test.cc has all classes).
#include "process/gated.h"
#include "raising.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

struct CodeCase {
  const char* state;
  int code;
};
constexpr CodeCase kCodes[] = {
    {"53100", 69}, {"28P01", 77}, {"42501", 77}, {"42883", 78}, {"22021", 78}};

class PostgresErrorCodes : public Gated {
 protected:
  PostgresErrorCodes() {
    store = raising().server().url();
    raising().stop();
    raising().server()("TRUNCATE cronlatch.locks CASCADE");
  }
  ~PostgresErrorCodes() override { raising().stop(); }

  static ProgramSpec with_login(ProgramSpec spec) {
    spec.env.push_back("CRONLATCH_PASSWORD=secret");
    spec.env.push_back("CRONLATCH_TLS_CA=" + PostgresServer::certificates().ca());
    return spec;
  }
  ProgramSpec command(Words words) const {
    words.insert(words.begin(), binary());
    words.insert(words.end(), {"--store", store});
    return with_login({.argv = words});
  }
  // A run whose command waits for the file go() and ends with 3.
  ProgramSpec holder() const {
    return with_login(run({"--ttl", "5s", "--renew-every", "300ms", "--kill-after", "200ms"},
                          {"to", file(), "say", "ran", "await", go(), "exit", "3"}));
  }
  bool is_held() const {
    Program show(command({"show", "job", "-o", "json"}));
    EXPECT_EQ(show.exit_code(), 0) << show.err();
    return show.out().find("\"state\":\"held\"") != std::string::npos;
  }
};

TEST_F(PostgresErrorCodes, OfARunWhoseRequestFailsAreListedAndNothingIsStarted) {
  for (const CodeCase& expected : kCodes) {
    SCOPED_TRACE(expected.state);
    raising().raise("acquire", expected.state);
    Program refused(with_login(run({"--connect-timeout", "500ms"}, {"touch", file()})));
    EXPECT_EQ(refused.exit_code(), expected.code) << refused.err();
    EXPECT_FALSE(exists(file()));
  }
}

// Whatever the class: a command in progress is worth another renewal.
TEST_F(PostgresErrorCodes, OfARunWhoseRenewalFailsForATimeIsThatOfItsCommand) {
  for (const CodeCase& each : kCodes) {
    SCOPED_TRACE(each.state);
    std::remove(file().c_str());
    std::remove(go().c_str());
    Program program(holder());
    ASSERT_TRUE(told("ran")) << program.err();
    raising().raise("renew", each.state);
    EXPECT_TRUE(program.complains("renew")) << program.err();
    raising().stop();
    touch(go());
    EXPECT_EQ(program.exit_code(), 3) << program.err();
    EXPECT_FALSE(is_held());
  }
}

TEST_F(PostgresErrorCodes, OfARunWhoseRenewalsFailIs79AtTheEndOfItsLease) {
  for (const CodeCase& each : kCodes) {
    SCOPED_TRACE(each.state);
    std::remove(file().c_str());
    Program program(holder());
    ASSERT_TRUE(told("ran")) << program.err();
    raising().raise("renew", each.state);
    EXPECT_EQ(program.exit_code(), 79) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("could not be renewed"));
    raising().stop();
  }
}

TEST_F(PostgresErrorCodes, OfARunWhoseReleaseFailsIsThatOfItsCommandAndTheLeaseEndsAlone) {
  for (const CodeCase& each : kCodes) {
    SCOPED_TRACE(each.state);
    raising().stop();
    raising().server()("TRUNCATE cronlatch.locks CASCADE");
    raising().raise("release", each.state);
    Program program(with_login(run({"--ttl", "5s"}, {"exit", "3"})));
    EXPECT_EQ(program.exit_code(), 3) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("release"));
  }
}

TEST_F(PostgresErrorCodes, OfReleaseAndLsAndShowAreListed) {
  Program holding(holder());
  ASSERT_TRUE(told("ran")) << holding.err();
  for (const CodeCase& expected : kCodes) {
    SCOPED_TRACE(expected.state);
    raising().raise("revoke", expected.state);
    Program revoke(command({"release", "job", "--force", "--connect-timeout", "500ms"}));
    EXPECT_EQ(revoke.exit_code(), expected.code) << revoke.err();
    raising().raise("view", expected.state);
    Program ls(command({"ls", "--connect-timeout", "500ms"}));
    EXPECT_EQ(ls.exit_code(), expected.code) << ls.err();
    Program show(command({"show", "job", "--connect-timeout", "500ms"}));
    EXPECT_EQ(show.exit_code(), expected.code) << show.err();
  }
  raising().stop();
  EXPECT_TRUE(is_held());  // and not revoked
  touch(go());
  EXPECT_EQ(holding.exit_code(), 3) << holding.err();
}

}  // namespace
}  // namespace cronlatch::testing
