// SPDX-License-Identifier: Apache-2.0
// The request target of RFC 9112: path and query, percent-encoded. Object names are input of
// tenants and must not be sent unescaped.
#pragma once

#include <string>

#include "kube/api.h"

namespace cronlatch::kube {

// "/apis/batch/v1/cronjobs?watch=1&resourceVersion=42"
std::string request_target(const Request& request);

}  // namespace cronlatch::kube
