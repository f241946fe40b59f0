// SPDX-License-Identifier: Apache-2.0
// For verbs that read no cluster: the test fails if one runs kubectl.
#pragma once

#include <gtest/gtest.h>

#include "plugin/context.h"

namespace cronlatch::plugin {

struct NoKubectl final : Kubectl {
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>&) override {
    ADD_FAILURE() << "kubectl was run";
    return Error{Code::system, "no kubectl"};
  }
};
struct NoClock final : Clock {
  TimePoint now() const override { return {}; }
  WallTime wall() const override { return {}; }
};

}  // namespace cronlatch::plugin
