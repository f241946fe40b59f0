// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace cronlatch {

// Code::config unless the name has 1 to 200 characters of letters, digits, . _ - /
Status check_lock_name(std::string_view name);

}  // namespace cronlatch
