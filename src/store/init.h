// SPDX-License-Identifier: Apache-2.0
// What a store needs before its first use: objects that a run has no right to create.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/open.h"

namespace cronlatch {

// The text that init_store() executes; "" for a store without one.
std::string_view store_definition(std::string_view url);

// Creates the objects, or completes them; changes nothing when they are complete. Blocks up to
// `give_up`. Returns what was done. Code::usage for a store that needs no initialization.
Result<std::string> init_store(const StoreSpec& spec, TimePoint give_up);

}  // namespace cronlatch
