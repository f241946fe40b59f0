// SPDX-License-Identifier: Apache-2.0
// The header Retry-After of an HTTP server (RFC 9110, 10.2.3). Pure.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch {

// Seconds, a date, or the Unix time that Docker Hub sends. At most 6 h; 0 for any other text.
Millis retry_after(const std::string& header, WallTime now);

}  // namespace cronlatch
