// SPDX-License-Identifier: Apache-2.0
// The text of an error that a script returned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/redis/errors.h"

namespace cronlatch::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Error error_of(const std::string& text) {
  return redis_error(classify_redis_error(text), "127.0.0.1:6379", text);
}

TEST(RedisErrorText, OfADamagedRecordNamesKeyAndField) {
  const Error error = error_of("CRONLATCH_POISONED cronlatch:{a} fence");
  EXPECT_EQ(error.code, Code::config);
  EXPECT_THAT(error.message, HasSubstr("cronlatch:{a} fence"));
  EXPECT_THAT(error.hint, HasSubstr("key-prefix"));
}

// No key-prefix is part of that key (key-format, foreign-key).
TEST(RedisErrorText, OfTheKeyOfAnotherProgramNamesTheOptionsOfThatKey) {
  const Error error = error_of("CRONLATCH_FOREIGN_KEY cronlock.report");
  EXPECT_EQ(error.code, Code::config);
  EXPECT_EQ(error.message,
            "redis at 127.0.0.1:6379: the key of the other program has a value or a type that it "
            "cannot have written: cronlock.report");
  EXPECT_THAT(error.hint, HasSubstr("foreign-key and key-format"));
}

TEST(RedisErrorText, OfADamagedEpochIsThatOfARecord) {
  EXPECT_THAT(error_of("CRONLATCH_POISONED cronlatch:epoch type").hint, HasSubstr("key-prefix"));
  EXPECT_THAT(error_of("CRONLATCH_POISONED cronlatch:{a}:stats type").hint,
              Not(HasSubstr("foreign-key")));
}

}  // namespace
}  // namespace cronlatch::redis
