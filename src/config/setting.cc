// SPDX-License-Identifier: Apache-2.0
// The one wording for unknown keys, wherever they were written.
#include "config/setting.h"

namespace cronlatch {

Error unknown_key(const std::string& what, std::string_view key,
                  std::string (*spell)(const Option&)) {
  const Option* const near = find_option(nearest_option(key));
  const std::string name = near == nullptr ? "" : spell(*near);
  return {Code::usage, what,
          name.empty() ? "`cronlatch config` lists all options" : "did you mean " + name + "?"};
}

}  // namespace cronlatch
