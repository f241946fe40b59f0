// SPDX-License-Identifier: Apache-2.0
#include "kube/exchange.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

TEST(Exchange, PausesAFastServerUntilTheReaderTakes) {
  Exchange exchange;
  int resumed = 0;
  exchange.set_status(200);
  const std::string much(2U << 20, 'x');

  EXPECT_TRUE(exchange.push("a", [] {}));
  EXPECT_FALSE(exchange.push(much, [&] { ++resumed; }));
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(exchange.take().size(), much.size() + 1);

  EXPECT_EQ(resumed, 1);
}

TEST(Exchange, ResumesAPausedServerWhenTheReaderGivesUp) {
  Exchange exchange;
  int resumed = 0;
  EXPECT_FALSE(exchange.push(std::string(2U << 20, 'x'), [&] { ++resumed; }));

  exchange.abandon();

  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(exchange.push(std::string(2U << 20, 'x'), [] {}));
}

}  // namespace
}  // namespace cronlatch::kube
