// SPDX-License-Identifier: Apache-2.0
// The path of this program, to start it again.
#pragma once

#include <string>

#include "base/result.h"

namespace cronlatch {

// Code::system if /proc is not mounted.
Result<std::string> own_path();

}  // namespace cronlatch
