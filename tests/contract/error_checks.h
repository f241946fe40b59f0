// SPDX-License-Identifier: Apache-2.0
// Checks one case of an error matrix for every verb.
#pragma once

#include "contract/error_cases.h"
#include "contract/redis_support.h"

namespace cronlatch::testing {

// The answer of a server that grants the lock.
inline const std::string kScriptedGrant =
    "*5\r\n$7\r\ngranted\r\n$16\r\n1800000000000000\r\n$1\r\n0\r\n$16\r\n1800000000000000\r\n$1\r\n"
    "0\r\n";

template <class Servers>
class ErrorChecks : public ::testing::TestWithParam<ErrorCase> {
 protected:
  void expect_listed_for_every_verb() {
    const ErrorCase& expected = GetParam();
    const Servers servers(expected.servers);
    StoreSpec spec = spec_of(servers.url());
    spec.max_ttl = {};  // the servers have just been started
    RedisProgram run(spec);
    for (Request request : {Request(run.program.acquire()), Request(run.program.renew(7)),
                            Request(run.program.release(7))}) {
      SCOPED_TRACE(request.index());
      // Long enough for a decision of each server, and the end of a request that is repeated.
      const Millis patience = expected.is_final ? kPatience : Millis(500);
      std::visit([&](auto& verb) { verb.give_up = boot_now() + patience; }, request);
      const auto reply = run(request);
      ASSERT_NE(unavailable_in(reply), nullptr) << reply_text(reply);
      expect_listed(unavailable_in(reply)->error);
      EXPECT_EQ(unavailable_in(reply)->transient, !expected.is_final) << reply_text(reply);
      if (expected.execution != Execution::any) {
        EXPECT_EQ(unavailable_in(reply)->unsent, expected.execution == Execution::none)
            << reply_text(reply);
      }
    }
    // Revocation, too.
    const auto revoked = run.program.backend().revoke(
        "shop/report", boot_now() + (expected.is_final ? kPatience : Millis(500)));
    ASSERT_FALSE(revoked.ok());
    expect_listed(revoked.error());
  }

 private:
  static void expect_listed(const Error& error) {
    EXPECT_EQ(error.code, GetParam().code) << error.message;
    EXPECT_THAT(error.message, ::testing::HasSubstr(GetParam().text));
    EXPECT_NE(error.hint, "") << error.message;
  }
};

}  // namespace cronlatch::testing
