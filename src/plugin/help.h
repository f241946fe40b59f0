// SPDX-License-Identifier: Apache-2.0
// What `kubectl cronlatch help` prints: every verb and flag of arguments.h.
#pragma once

#include <string>

namespace cronlatch::plugin {

std::string help_text();

}  // namespace cronlatch::plugin
