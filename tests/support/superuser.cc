// SPDX-License-Identifier: Apache-2.0
#include "support/superuser.h"

#include "base/kernel_clock.h"

namespace cronlatch::testing {
namespace {

postgres::LinkConfig config(int port, const std::string& database) {
  postgres::LinkConfig config;
  config.target.hosts = {{"127.0.0.1", static_cast<std::uint16_t>(port)}};
  config.target.database = database;
  config.target.sslmode = SslMode::disable;
  config.user = "postgres";
  return config;
}

}  // namespace

Superuser::Superuser(int port, const std::string& database)
    : link_(config(port, database), postgres::Purpose::schema) {}

Result<std::vector<postgres::Row>> Superuser::operator()(const std::string& sql) {
  const auto answers =
      link_.execute([&] { return postgres::simple_query(sql); }, 1, boot_now() + Seconds(30));
  if (!answers) return answers.error();
  if (answers->front().error) return Error{Code::bug, answers->front().error->text};
  return answers->front().rows;
}

}  // namespace cronlatch::testing
