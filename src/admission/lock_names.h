// SPDX-License-Identifier: Apache-2.0
// The name of a lock in the store, from the annotation and the scope. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::op {

enum class LockScope { in_namespace, cluster };

// `name` is the annotation's value, or the CronJob's name for its own lock.
Result<std::string> full_lock_name(LockScope scope, const std::string& namespace_name,
                                   const std::string& name);

// Whether the text is a word for yes or no: such a word is never a lock's name.
bool is_yes_or_no(std::string_view text);

}  // namespace cronlatch::op
