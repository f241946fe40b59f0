// SPDX-License-Identifier: Apache-2.0
// The reason that an outcome, a metric or a page shows for an error of the store.
#pragma once

#include "base/result.h"
#include "core/outcome.h"

namespace cronlatch {

// unreachable, auth, tls, acl or config.
Reason reason_of(Code code);

}  // namespace cronlatch
