// SPDX-License-Identifier: Apache-2.0
// Only with the programs of PostgreSQL 12 in TEST_POSTGRES_BIN (scripts/servers.sh postgres-12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/gated.h"
#include "support/postgres_server.h"
#include "support/program.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

TEST(PostgresTooOld, IsRefusedByStoreInitAndByARun) {
  const auto server = PostgresServer::start_bare();
  const std::string url = "postgres://postgres@127.0.0.1:" + std::to_string(server->port()) +
                          "/postgres?sslmode=disable";
  const std::vector<std::vector<std::string>> commands = {
      {"store", "init", "--store", url},
      {"run", "--lock", "a", "--store", url, "--", "true"},
  };
  for (const auto& command : commands) {
    std::vector<std::string> argv = {binary()};
    argv.insert(argv.end(), command.begin(), command.end());
    Program program({.argv = argv});
    EXPECT_EQ(program.exit_code(), 78) << command[0];
    EXPECT_THAT(program.err(), HasSubstr("the server has version 12, which is too old"));
    EXPECT_THAT(program.err(), HasSubstr("cronlatch needs PostgreSQL 13 or newer"));
  }
}

}  // namespace
}  // namespace cronlatch::testing
