// SPDX-License-Identifier: Apache-2.0
// The errors of a command that cannot be started.
#pragma once

#include <string>

#include "base/result.h"

namespace cronlatch {

// A call of this process failed; `why` is errno.
Error start_error(const char* call, int why);
// execve of the command failed. The codes of a shell and of env(1): 127 when the file or its
// interpreter is missing, else 126.
Error exec_error(const std::string& path, int why);

}  // namespace cronlatch
