// SPDX-License-Identifier: Apache-2.0
#include "store/kept_credentials.h"

#include <utility>

namespace cronlatch {

void warn_of_kept_credentials(const Status& applied, std::string& last,
                              const std::function<void(const LogLine&)>& warn) {
  const std::string why = applied ? "" : applied.error().message;
  if (why == std::exchange(last, why) || why.empty() || !warn) return;
  warn({Level::warn,
        "credentials_kept",
        "credentials of the store: " + why + "; using those of the last connection",
        {},
        applied.error().hint});
}

}  // namespace cronlatch
