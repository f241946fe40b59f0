// SPDX-License-Identifier: Apache-2.0
// The class of every SQLSTATE that the documentation of PostgreSQL lists for the requests of a run:
// what the run reports, whether it retries, and whether it needs another connection.
#include "store/postgres/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cronlatch::postgres {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

enum class Next { same_request, same_connection, new_connection };

struct StateCase {
  const char* name;
  const char* state;
  Code code;
  bool transient;
  Next next;
};

constexpr bool kTransient = true, kFinal = false;

const StateCase kStates[] = {
    {"SerializationFailure", "40001", Code::unreachable, kTransient, Next::same_request},
    {"DeadlockDetected", "40P01", Code::unreachable, kTransient, Next::same_request},
    {"LockNotAvailable", "55P03", Code::unreachable, kTransient, Next::same_connection},
    {"QueryCanceled", "57014", Code::unreachable, kTransient, Next::same_connection},
    {"AdminShutdown", "57P01", Code::unreachable, kTransient, Next::new_connection},
    {"CrashShutdown", "57P02", Code::unreachable, kTransient, Next::new_connection},
    {"CannotConnectNow", "57P03", Code::unreachable, kTransient, Next::new_connection},
    {"ConnectionFailure", "08006", Code::unreachable, kTransient, Next::new_connection},
    {"ProtocolViolation", "08P01", Code::unreachable, kTransient, Next::new_connection},
    {"ReadOnly", "25006", Code::unreachable, kTransient, Next::new_connection},
    {"TooManyConnections", "53300", Code::unreachable, kTransient, Next::new_connection},
    {"DiskFull", "53100", Code::unreachable, kTransient, Next::new_connection},
    {"OutOfMemory", "53200", Code::unreachable, kTransient, Next::new_connection},
    {"UnknownStatement", "26000", Code::unreachable, kTransient, Next::new_connection},
    {"TooFewStandbys", "CL003", Code::unreachable, kTransient, Next::new_connection},
    {"InternalError", "XX000", Code::unreachable, kTransient, Next::new_connection},
    {"NoState", "", Code::unreachable, kTransient, Next::new_connection},
    {"NoPgHbaEntry", "28000", Code::auth, kFinal, Next::new_connection},
    {"WrongPassword", "28P01", Code::auth, kFinal, Next::new_connection},
    {"NoRight", "42501", Code::acl, kFinal, Next::new_connection},
    {"NoDatabase", "3D000", Code::config, kFinal, Next::new_connection},
    {"NoSchema", "3F000", Code::config, kFinal, Next::new_connection},
    {"NoFunction", "42883", Code::config, kFinal, Next::new_connection},
    {"NoTable", "42P01", Code::config, kFinal, Next::new_connection},
    {"NotSupported", "0A000", Code::config, kFinal, Next::new_connection},
    {"DuplicateObject", "42710", Code::config, kFinal, Next::same_connection},
    {"CharacterNotInRepertoire", "22021", Code::config, kFinal, Next::same_connection},
    {"UntranslatableCharacter", "22P05", Code::config, kFinal, Next::same_connection},
    {"CheckViolation", "23514", Code::config, kFinal, Next::same_connection},
    {"SchemaIsTooNew", "CL001", Code::config, kFinal, Next::same_connection},
    {"SchemaOfAnotherRole", "CL002", Code::config, kFinal, Next::same_connection},
    {"StandbysAreHidden", "CL004", Code::config, kFinal, Next::same_connection},
};

class SqlState : public ::testing::TestWithParam<StateCase> {};

TEST_P(SqlState, HasTheListedClass) {
  const StateCase& expected = GetParam();
  const SqlStateRow& row = sql_state_row(expected.state);
  EXPECT_EQ(row.code, expected.code);
  EXPECT_EQ(row.transient, expected.transient);
  EXPECT_EQ(row.drop, expected.next == Next::new_connection);
  EXPECT_EQ(row.again, expected.next == Next::same_request);
}

INSTANTIATE_TEST_SUITE_P(Classes, SqlState, ::testing::ValuesIn(kStates),
                         [](const auto& state) { return std::string(state.param.name); });

// So that a new row of the table is added here, too.
TEST(SqlStates, OfTheTableAreAllListed) {
  std::set<const SqlStateRow*> listed;
  for (const StateCase& state : kStates) listed.insert(&sql_state_row(state.state));
  for (const SqlStateRow& row : sql_state_table())
    EXPECT_TRUE(listed.contains(&row)) << "no case has the row of \"" << row.state << '"';
}

TEST(SqlStates, AreErrorsWithTheServerTheMeaningAndAHint) {
  for (const SqlStateRow& row : sql_state_table()) {
    const Error error =
        server_error({.state = std::string(row.state), .text = "text of the server"}, "db:5432");
    EXPECT_EQ(error.code, row.code) << row.state;
    EXPECT_THAT(error.message, HasSubstr("postgres at db:5432: " + std::string(row.meaning)));
    EXPECT_EQ(error.message.find("text of the server") != std::string::npos, row.quote);
    EXPECT_NE(error.hint, "") << row.state;
  }
}

// The text of any other error is shown without control characters.
TEST(SqlStates, OfARefusedPasswordDoNotShowTheTextOfTheServer) {
  EXPECT_THAT(server_error({.state = "28P01", .text = "hunter2-canary"}, "db:5432").message,
              Not(HasSubstr("hunter2")));
  EXPECT_THAT(server_error({.state = "XX000", .text = "a\x1b[31m"}, "db:5432").message,
              Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace cronlatch::postgres
