// SPDX-License-Identifier: Apache-2.0
// What an errno of the file system means for a run: whether a person has to do something, or time
// alone may help.
#pragma once

#include <string>

#include "base/result.h"

namespace cronlatch::file {

// `doing` is "open", "write", ...; the message reads "cannot open /dir/x.lock: Permission denied".
//   unreachable  disk full, out of descriptors or memory: may pass
//   config       permissions, read-only, not a directory, unsupported: will not
Error file_error(int error_number, const std::string& doing, const std::string& path);

}  // namespace cronlatch::file
