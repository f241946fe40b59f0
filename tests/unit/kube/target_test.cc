// SPDX-License-Identifier: Apache-2.0
#include "kube/target.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

TEST(Target, EscapesObjectNames) {
  EXPECT_EQ(request_target({.path = "/api/v1/namespaces/a?b/pods",
                            .query = {{"labelSelector", "x=y,z"}, {"continue", "a/b+c"}}}),
            "/api/v1/namespaces/a%3Fb/pods?labelSelector=x%3Dy%2Cz&continue=a%2Fb%2Bc");
}

}  // namespace
}  // namespace cronlatch::kube
