// SPDX-License-Identifier: Apache-2.0
#include "support/source_dir.h"

namespace cronlatch::testing {

std::string source_dir() { return CRONLATCH_SOURCE_DIR; }

}  // namespace cronlatch::testing
