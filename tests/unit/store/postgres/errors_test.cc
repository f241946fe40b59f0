// SPDX-License-Identifier: Apache-2.0
// The class of every SQLSTATE in state_cases.h. tests/postgres/error_matrix_test.cc has each of
// them for each verb, on a real server.
#include "store/postgres/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "state_cases.h"

namespace cronlatch::postgres {
namespace {

using ::testing::HasSubstr;
using testing::kStates;
using testing::Next;
using ::testing::Not;
using testing::StateCase;

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
