// SPDX-License-Identifier: Apache-2.0
// The JSON that kubectl prints with `-o json`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/json.h"
#include "plugin/kubectl.h"

namespace cronlatch::plugin {

// The List that a successful call printed. Code::config if it is not JSON; `what` is the name of
// its items for the message. The exit code is not read.
Result<kube::Json> parse_list(const KubectlResult& answer, std::string_view what);

}  // namespace cronlatch::plugin
