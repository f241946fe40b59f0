// SPDX-License-Identifier: Apache-2.0
// The token with which the plugin reads the status page (chart value metrics.auth: token).
#pragma once

#include <string_view>

namespace cronlatch {

// The audience of a token that is sent in the body of a request. The API server accepts no token of
// this audience as a login.
inline constexpr std::string_view kStatusAudience = "status.cronlatch.dev";

// Annotation of the Service of the page: the ServiceAccount whose token reads it.
inline constexpr std::string_view kStatusAccountAnnotation = "cronlatch.dev/status-account";

}  // namespace cronlatch
