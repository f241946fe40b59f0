// SPDX-License-Identifier: Apache-2.0
// From the settings of a store to a QuorumStore of Redis servers.
#pragma once

#include <memory>

#include "store/open.h"

namespace cronlatch::quorum {

Result<std::unique_ptr<Backend>> open_quorum(const StoreSpec& spec, const StoreUrl& url);

}  // namespace cronlatch::quorum
