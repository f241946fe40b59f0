// SPDX-License-Identifier: Apache-2.0
// Files of credentials may be replaced while a run holds its lock. While one of them cannot be read
// or used (for example during the replacement), a store uses those of its last connection.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace cronlatch {

// Warns once for each reason. `applied`: of the credentials for the next connection; `last`: the
// reason of the last call, "" when they were applied; `warn` may be empty.
void warn_of_kept_credentials(const Status& applied, std::string& last,
                              const std::function<void(const LogLine&)>& warn);

}  // namespace cronlatch
