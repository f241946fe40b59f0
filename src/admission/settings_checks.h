// SPDX-License-Identifier: Apache-2.0
// The rules for values of the settings that their types do not express. Pure.
#pragma once

#include "admission/settings.h"

namespace cronlatch::op {

// The error's message starts with the key.
Status check_settings(const Settings& settings);
// Whether `defaults` may set that option, to that value.
Status check_default(const std::string& key, const std::string& value);

}  // namespace cronlatch::op
