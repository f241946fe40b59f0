// SPDX-License-Identifier: Apache-2.0
// What an errno of the file system means for a run: whether the user must act, or a retry can help.
#pragma once

#include <string>

#include "base/result.h"

namespace cronlatch::file {

// `action` is "open", "write", ...; the message reads "cannot open /dir/x.lock: Permission denied".
//   unreachable  disk full, out of descriptors or memory: a retry can help
//   config       permissions, read-only, not a directory, unsupported: a retry does not help
Error file_error(int error_number, const std::string& action, const std::string& path);

}  // namespace cronlatch::file
